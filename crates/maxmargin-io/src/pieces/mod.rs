//! Reads on all cores: the input is cut into pieces, threads parse them, and the results are joined in the order of
//! the file.
//!
//! The result does not depend on the pieces. Pieces are cut where a sequence or a row ends, so each can be read
//! independently. Each piece has its own names, numbered from 0. When the pieces are joined in order, every name
//! gets the number that it would have if one thread had read the whole file. A piece with an error ends the reading
//! when it is joined, so the first error of the file is reported.
//!
//! Some pieces depend on those before them: the labels so far may decide whether a line is a comment or a token,
//! and the number of a sequence may have occurred before. Such a piece is read, or read again, when all pieces
//! before it are joined.

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
