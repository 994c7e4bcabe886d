//! Decoding algorithms, free of features and solvers: scores in, the best structure out.

pub mod viterbi;
