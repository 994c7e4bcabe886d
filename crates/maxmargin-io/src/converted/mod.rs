//! Data sets in a compact binary file, which can be used without being parsed.
//!
//! A text file is read anew for every training. A converted file holds the same sequences or rows in the form in
//! which they are used, with their names and their fingerprint. Its arrays are mapped into memory and used where
//! they are, so that the operating system brings in what is needed, and data may be larger than memory.
//!
//! ```text
//! 16 bytes   "maxmargin data", 0, and the version of the layout
//!  8 bytes   length of the header
//!  8 bytes   check sum of the header (XXH3)
//!            the header: JSON, filled up with spaces; it lists the arrays with their places and check sums
//!            the arrays, each at a multiple of 64 bytes from the end of the header
//! ```
//!
//! All numbers are little-endian. A file is checked as a whole when it is opened: lengths and places with overflow
//! checks against the length of the file before anything is reserved, check sums, and that all numbers in the
//! arrays lie in their ranges.

mod file;
mod header;
mod reader;
#[cfg(test)]
mod tests;

pub use file::save_converted;
pub(crate) use file::{is_converted, open_converted};
pub(crate) use reader::ConvertedReader;

/// What stands for an absent label among the names of labels: no text has this character.
pub(crate) const ABSENT: &str = "\0";
