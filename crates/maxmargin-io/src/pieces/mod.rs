//! Reading on all cores: the input is cut into pieces, threads parse them, and the results are put together in the
//! order of the file.
//!
//! Nothing of this shows in the result. Pieces are cut where a sequence or a row ends, so that each can be read by
//! itself. Each piece has names of its own, numbered from 0; when the pieces are joined in order, every name gets
//! the number that it would have had if one thread had read the whole file. A piece with an error ends the reading
//! when its turn comes, so that the first error of the file is the one that is reported.

mod crfsuite;
mod cut;
mod rows;
mod run;
mod sequences;
#[cfg(test)]
mod tests;

pub(crate) use cut::Cut;
pub use cut::Pieces;
pub(crate) use rows::{JoinedRows, read_rows_in_pieces};
pub(crate) use sequences::{JoinedSequences, read_training_in_pieces};
