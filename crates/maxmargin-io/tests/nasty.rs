//! Files as they come: cut, empty, binary, huge. Errors name the file and the spot.
#![allow(clippy::unwrap_used, reason = "in a test, a panic is a report")]

use std::fs;
use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use maxmargin_io::{DataError, Dataset, Format, RowData, Source, read_rows, read_training};

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Source {
        let path = self.0.path().join(name);
        fs::write(&path, bytes).unwrap();
        Source::resolve(path.to_str().unwrap()).unwrap()
    }

    /// Reads `bytes` as a file called `name`; an error comes without the folder in front.
    fn read(&self, name: &str, bytes: &[u8], format: Option<Format>) -> Result<Dataset, String> {
        let opened = self.write(name, bytes).open(format);
        opened.and_then(read_training).map_err(|error| self.message(&error))
    }

    /// The same for rows.
    fn rows(&self, name: &str, bytes: &[u8], format: Option<Format>) -> Result<RowData, String> {
        let opened = self.write(name, bytes).open_rows(format);
        opened.and_then(read_rows).map_err(|error| self.message(&error))
    }

    fn message(&self, error: &DataError) -> String {
        let message = error.to_string();
        let folder = format!("{}{}", self.0.path().display(), std::path::MAIN_SEPARATOR);
        message.strip_prefix(&folder).unwrap_or_else(|| panic!("no file in: {message}")).to_owned()
    }

    fn error(&self, bytes: &[u8], format: Option<Format>) -> String {
        self.read("d", bytes, format).unwrap_err()
    }
}

fn zip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// All formats of sequences, and none given.
fn sequence_formats() -> impl Iterator<Item = Option<Format>> {
    Format::ALL.into_iter().filter(|format| !format.is_rows()).map(Some).chain([None])
}

#[test]
fn empty_and_blank_files() {
    let folder = Folder::new();
    for format in sequence_formats() {
        assert_eq!(folder.error(b"", format), "d: no sequences (the input is empty)");
        assert_eq!(folder.error(&zip(b""), format), "d: no sequences (the input is empty)");
        assert_eq!(folder.error(b"\n", format), "d: no sequences in 1 line");
        assert_eq!(folder.error(b"\r\n\r\n\n\n", format), "d: no sequences in 4 lines");
    }
    assert_eq!(folder.error(b"# a\n#b", Some(Format::SvmHmm)), "d: no sequences in 2 lines");
    assert_eq!(folder.error(b"# a\n#b", Some(Format::Ocr)), "d: no sequences in 2 lines");
}

#[test]
fn binary_files() {
    let folder = Folder::new();
    let nul = "d:1:2: expected text, found a NUL byte";
    let byte = "d:1:1: expected UTF-8 text, found the byte 0x89";
    for format in sequence_formats() {
        assert_eq!(folder.error(b"A\0\tb\n", format), nul);
        assert_eq!(folder.error(b"\x89PNG\r\n\x1a\n", format), byte);
    }
}

#[test]
fn cut_gzip_files() {
    let folder = Folder::new();
    let text: String = (0..5000).map(|i| format!("A\tw={}\n", i * 7919 % 10007)).collect();
    let packed = zip(text.as_bytes());
    assert_eq!(folder.read("whole", &packed, None).unwrap().sequences.tokens(), 5000);
    for length in [2, 10, packed.len() / 2, packed.len() - 8, packed.len() - 1] {
        let error = folder.error(&packed[..length], Some(Format::Crfsuite));
        let start = "d: the gzip data breaks off or is damaged after line ";
        assert!(error.starts_with(start), "{length}: {error}");
    }
    let mut damaged = packed;
    let last = damaged.len() - 5;
    damaged[last] ^= 1;
    assert!(folder.read("damaged", &damaged, None).is_err());
}

#[test]
fn the_name_of_a_file_says_nothing_about_its_compression() {
    let folder = Folder::new();
    let (plain, packed) = (b"A\tw=a\n", zip(b"A\tw=a\n"));
    let a = folder.read("plain.gz", plain, None).unwrap();
    let b = folder.read("packed.txt", &packed, None).unwrap();
    assert_eq!(a, b);
}

#[test]
fn a_line_of_a_million_attributes() {
    let folder = Folder::new();
    let mut line = String::from("A");
    for i in 0..1_000_000 {
        line.push_str(&format!("\t{}=", i % 1000));
    }
    let data = folder.read("d", line.as_bytes(), Some(Format::Crfsuite)).unwrap();
    assert_eq!((data.sequences.sequence(0).entries(), data.attributes.len()), (1_000_000, 1000));
}

#[test]
fn long_findings_are_shortened_and_made_visible() {
    let folder = Folder::new();
    let line = format!("A\ta:\u{1b}{}", "9".repeat(1000));
    let shown = format!("\\u{{1b}}{}…", "9".repeat(39));
    let error = folder.error(line.as_bytes(), Some(Format::Crfsuite));
    assert!(error.ends_with(&format!("found `{shown}`")), "{error}");
}

#[test]
fn a_folder_is_no_file() {
    let folder = Folder::new();
    let path = folder.0.path().to_str().unwrap();
    let error = Source::resolve(path).and_then(|source| source.open(None)).err().unwrap();
    assert!(error.to_string().starts_with(&format!("{path}: cannot be read: ")), "{error}");
    assert!(Path::new(path).is_dir());
}

#[test]
fn rows_are_no_sequences() {
    let folder = Folder::new();
    let text = b"+1 1:0.5\n";
    let message = "d: expected sequences, found single rows (the format libsvm)";
    assert_eq!(folder.error(text, None), message);
    assert_eq!(folder.error(text, Some(Format::Libsvm)), message);
    assert!(folder.error(b"1,2 1:1\n", None).ends_with("(the format multilabel)"));
}

#[test]
fn nasty_rows() {
    let folder = Folder::new();
    for format in [Some(Format::Libsvm), Some(Format::Multilabel), None] {
        let error = |bytes: &[u8]| folder.rows("d", bytes, format).unwrap_err();
        assert_eq!(error(b""), "d: no rows (the input is empty)");
        assert_eq!(error(&zip(b"")), "d: no rows (the input is empty)");
        assert_eq!(error(b"\r\n\n"), "d: no rows in 2 lines");
        assert_eq!(error(b"1\0 1:1\n"), "d:1:2: expected text, found a NUL byte");
        assert_eq!(error(b"1 1:1\n\xff"), "d:2:1: expected UTF-8 text, found the byte 0xff");
    }
    // A cut file, and one whose name says nothing.
    let text: String = (1..5000).map(|i| format!("{} {}:0.5\n", i % 3, i)).collect();
    let packed = zip(text.as_bytes());
    let whole = folder.rows("whole.txt", &packed, None).unwrap();
    assert_eq!((whole.rows.len(), whole.attributes.len()), (4999, 4999));
    assert_eq!(whole, folder.rows("plain.gz", text.as_bytes(), None).unwrap());
    let error = folder.rows("d", &packed[..packed.len() / 2], Some(Format::Libsvm)).unwrap_err();
    assert!(error.starts_with("d: the gzip data breaks off or is damaged after line "), "{error}");
}

#[test]
fn a_row_of_a_million_features() {
    let folder = Folder::new();
    let mut line = String::from("1");
    for i in 1..=1_000_000u64 {
        line.push_str(&format!(" {}:1", i * i));
    }
    let data = folder.rows("d", line.as_bytes(), None).unwrap();
    assert_eq!((data.rows.entries(), data.attributes.len()), (1_000_000, 1_000_000));
    assert_eq!(data.attributes.name(999_999), "1000000000000");
}
