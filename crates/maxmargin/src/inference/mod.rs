//! Decoding algorithms, free of features and solvers: scores in, the best structure out.

pub mod max_marginals;
pub mod n_best;
pub mod viterbi;
