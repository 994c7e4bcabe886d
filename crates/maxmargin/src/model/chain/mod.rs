//! Chains: label sequences, decoded by Viterbi.

mod sequences;

pub use sequences::{Sequence, SequenceError, Sequences, Token};
