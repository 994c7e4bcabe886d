//! The check sum of a model or path file.
//!
//! It is the last entry of our metadata, and covers the rest of the metadata and all tensors: their names, types,
//! shapes and bytes. Other programs read such a file as before. A file without a check sum was written by an
//! earlier version, and is read as it is.

use super::ModelError;
use safetensors::tensor::{SafeTensors, TensorView};
use xxhash_rust::xxh3::Xxh3;

/// What comes before and after the digits.
const BEFORE: &str = ",\"check_sum\":\"";
const AFTER: &str = "\"}";
const DIGITS: usize = 16;

/// The key as it stands in JSON. Within a text, a backslash comes before the last quotation mark.
const KEY: &str = "\"check_sum\"";

/// The metadata, an object in JSON, with the check sum as its last entry.
pub(super) fn sealed<'a>(
    meta: &str,
    tensors: impl IntoIterator<Item = (&'a str, &'a TensorView<'a>)>,
) -> String {
    let sum = sum_of(meta, tensors);
    let inside = meta.strip_suffix('}').unwrap_or(meta);
    format!("{inside}{BEFORE}{sum:016x}{AFTER}")
}

/// The metadata without the check sum, which has to be right if there is one.
pub(super) fn opened(text: &str, file: &SafeTensors<'_>) -> Result<String, ModelError> {
    let digits =
        text.strip_suffix(AFTER).and_then(|rest| rest.get(rest.len().checked_sub(DIGITS)?..));
    let inside = digits
        .and_then(|digits| text.strip_suffix(AFTER)?.strip_suffix(digits)?.strip_suffix(BEFORE));
    let (Some(digits), Some(inside)) = (digits, inside) else {
        return match text.contains(KEY) {
            true => Err(ModelError::content(
                "its check sum is not where it was written, so another program has changed it",
            )),
            false => Ok(text.to_owned()),
        };
    };
    let meta = format!("{inside}}}");
    let tensors: Vec<_> = file.iter().collect();
    let found = sum_of(&meta, tensors.iter().map(|(name, view)| (*name, view)));
    match u64::from_str_radix(digits, 16) == Ok(found) {
        true => Ok(meta),
        false => Err(ModelError::content(
            "its check sum is wrong, so it was damaged or changed after it was written",
        )),
    }
}

/// The sum over metadata and tensors, whatever the order of these.
fn sum_of<'a>(meta: &str, tensors: impl IntoIterator<Item = (&'a str, &'a TensorView<'a>)>) -> u64 {
    let mut tensors: Vec<_> = tensors.into_iter().collect();
    tensors.sort_by_key(|(name, _)| *name);
    let mut sum = Xxh3::new();
    let mut add = |bytes: &[u8]| {
        // With its length, so that nothing can pass from one item to the next.
        sum.update(&(bytes.len() as u64).to_le_bytes());
        sum.update(bytes);
    };
    add(meta.as_bytes());
    for (name, view) in tensors {
        add(name.as_bytes());
        add(format!("{:?} {:?}", view.dtype(), view.shape()).as_bytes());
        add(view.data());
    }
    sum.digest()
}
