//! The head of a converted file.

use crate::fingerprint::Fingerprint;
use crate::format::Format;
use crate::template::Template;
use serde::{Deserialize, Serialize};

/// The first bytes of every converted file. The version of the layout follows.
pub(super) const MAGIC: &[u8; 15] = b"maxmargin data\0";

pub(super) const VERSION: u8 = 1;

/// Bytes before the header.
pub(super) const FIRST: usize = 32;

/// Arrays begin at multiples of this many bytes.
pub(super) const ALIGNMENT: usize = 64;

/// The header of a converted file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header {
    pub(super) format: Format,
    pub(super) fingerprint: Fingerprint,
    pub(super) template: Option<Template>,
    pub(super) arrays: Vec<Array>,
}

/// An array: its name, the width of its items, and its place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Array {
    pub(super) name: String,
    /// Bytes of an item.
    pub(super) width: usize,
    /// First byte, counted from the end of the header.
    pub(super) start: usize,
    /// Number of bytes.
    pub(super) length: usize,
    /// Check sum, in hexadecimal digits.
    pub(super) sum: String,
}

/// `length`, rounded up to a place at which an array may begin. `None` if there is no such number.
pub(super) fn aligned(length: usize) -> Option<usize> {
    length.checked_next_multiple_of(ALIGNMENT)
}

/// The check sum of some bytes, as a header writes it.
pub(super) fn sum_of(bytes: &[u8]) -> String {
    format!("{:016x}", xxhash_rust::xxh3::xxh3_64(bytes))
}
