//! Reading on all cores: the input is cut into pieces, threads parse them, and the results are put together in the
//! order of the file.
//!
//! Nothing of this shows in the result. Pieces are cut where a sequence or a row ends, so that each can be read by
//! itself. Each piece has names of its own, numbered from 0; when the pieces are joined in order, every name gets
//! the number that it would have had if one thread had read the whole file. A piece with an error ends the reading
//! when its turn comes, so that the first error of the file is the one that is reported.
//!
//! Some pieces depend on those before them: a line may be a comment or a token by the labels so far, and the number
//! of a sequence may have come before. Such a piece is read, or read once more, when its turn comes.

mod crfsuite;
mod cut;
mod gather;
mod rows;
mod run;
mod sequences;
#[cfg(test)]
mod tests;

pub use cut::Pieces;
pub(crate) use cut::{Cut, Known};
pub(crate) use gather::{Gathered, read_in_order, read_in_pieces};
pub(crate) use rows::NamedRows;
pub(crate) use sequences::NamedSequences;
