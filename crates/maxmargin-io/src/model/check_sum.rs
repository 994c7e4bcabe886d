//! The check sum of a model or path file.
//!
//! It is the last entry of our metadata. It covers the rest of the metadata and all tensors: their names, types,
//! shapes and bytes. Other programs can still read such a file. A file without a check sum was written by an
//! earlier version, and is read without this check.

use super::ModelError;
use maxmargin::sort;
use safetensors::tensor::{Dtype, SafeTensors};
use xxhash_rust::xxh3::Xxh3;

/// The text before and after the digits.
const BEFORE: &str = ",\"check_sum\":\"";
const AFTER: &str = "\"}";
const DIGITS: usize = 16;

/// The key as it stands in JSON. Within a text, a backslash comes before the last quotation mark.
const KEY: &str = "\"check_sum\"";

/// Calls a function with all bytes of something, piece by piece.
pub(super) type Pieces<'a> = Box<dyn Fn(&mut dyn FnMut(&[u8])) + 'a>;

/// The properties of a tensor that the sum covers.
pub(super) struct Summed<'a> {
    pub(super) name: &'a str,
    pub(super) dtype: Dtype,
    pub(super) shape: &'a [usize],
    /// The number of its bytes.
    pub(super) length: usize,
    /// Calls a function with its bytes, piece by piece.
    pub(super) each_piece: Pieces<'a>,
}

/// The metadata, an object in JSON, with the check sum as its last entry.
pub(super) fn sealed<'a>(meta: &str, tensors: impl IntoIterator<Item = Summed<'a>>) -> String {
    let sum = sum_of(meta, tensors);
    let inside = meta.strip_suffix('}').unwrap_or(meta);
    format!("{inside}{BEFORE}{sum:016x}{AFTER}")
}

/// The metadata without the check sum. If there is a check sum, it must be right.
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
    let tensors = tensors.iter().map(|(name, view)| Summed {
        name,
        dtype: view.dtype(),
        shape: view.shape(),
        length: view.data().len(),
        each_piece: Box::new(|take| take(view.data())),
    });
    let found = sum_of(&meta, tensors);
    match u64::from_str_radix(digits, 16) == Ok(found) {
        true => Ok(meta),
        false => Err(ModelError::content(
            "its check sum is wrong, so it was damaged or changed after it was written",
        )),
    }
}

/// The sum over metadata and tensors. It does not depend on the order of the tensors.
fn sum_of<'a>(meta: &str, tensors: impl IntoIterator<Item = Summed<'a>>) -> u64 {
    let mut tensors: Vec<Summed<'_>> = tensors.into_iter().collect();
    sort::by(&mut tensors, |a, b| a.name.cmp(b.name));
    let mut sum = Xxh3::new();
    // The length of each item comes before it, so bytes cannot move from one item to the next unnoticed.
    let add = |sum: &mut Xxh3, bytes: &[u8]| {
        sum.update(&(bytes.len() as u64).to_le_bytes());
        sum.update(bytes);
    };
    add(&mut sum, meta.as_bytes());
    for Summed { name, dtype, shape, length, each_piece } in tensors {
        add(&mut sum, name.as_bytes());
        add(&mut sum, format!("{dtype:?} {shape:?}").as_bytes());
        sum.update(&(length as u64).to_le_bytes());
        each_piece(&mut |piece| sum.update(piece));
    }
    sum.digest()
}
