//! Decoding algorithms, free of features and solvers.

pub mod viterbi;
