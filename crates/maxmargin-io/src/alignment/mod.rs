//! Word alignments: reading, writing, and the features of links between words.

mod counts;
mod examples;
mod features;
mod reader;
mod similarity;

pub use counts::WordCounts;
pub use examples::Alignments;
pub use features::AlignmentFeatures;
pub use reader::{
    AlignmentReader, RawAlignment, alignment_fingerprint, read_alignments, write_alignment,
};

#[cfg(test)]
mod tests;
