//! Converts paths to text and back, including paths that are not UTF-8.
//!
//! DATA arguments are text: `-`, a built-in name, `FILE:PART`, or a path. On Unix a path can contain any bytes.
//! Each byte that is not UTF-8 becomes a character for private use, so that the text can be converted back to the
//! path.

use std::ffi::OsStr;
use std::path::PathBuf;

/// This number plus a byte that is not UTF-8 is the character for the byte.
const PRIVATE: u32 = 0x10_ff00;

/// An argument as text.
///
/// ```
/// use maxmargin_io::{path_of, path_text};
///
/// assert_eq!(path_text("data.txt".as_ref()), "data.txt");
/// # #[cfg(unix)] {
/// use std::os::unix::ffi::OsStrExt as _;
/// let name = std::ffi::OsStr::from_bytes(b"caf\xe9.txt"); // Latin-1
/// assert_eq!(path_of(&path_text(name)), name);
/// # }
/// ```
pub fn path_text(argument: &OsStr) -> String {
    let mut text = String::new();
    for chunk in argument.as_encoded_bytes().utf8_chunks() {
        text.push_str(chunk.valid());
        let private = |byte: &u8| char::from_u32(PRIVATE + u32::from(*byte));
        text.extend(chunk.invalid().iter().filter_map(private));
    }
    text
}

/// The path that a text represents.
pub fn path_of(text: &str) -> PathBuf {
    #[cfg(unix)]
    if text.chars().any(|c| byte_of(c).is_some()) {
        use std::os::unix::ffi::OsStringExt as _;
        let mut bytes = Vec::new();
        for c in text.chars() {
            match byte_of(c) {
                Some(byte) => bytes.push(byte),
                None => bytes.extend(c.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        return PathBuf::from(std::ffi::OsString::from_vec(bytes));
    }
    PathBuf::from(text)
}

/// The byte that a character represents. Bytes below 0x80 are always UTF-8.
#[cfg(unix)]
fn byte_of(c: char) -> Option<u8> {
    u8::try_from((c as u32).checked_sub(PRIVATE)?).ok().filter(|byte| *byte >= 0x80)
}
