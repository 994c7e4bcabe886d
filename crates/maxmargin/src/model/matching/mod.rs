//! Matchings: which rows go with which columns, words of a sentence with those of its translation.
//!
//! An example is a *pair* of two lists, R rows and C columns, with features for every link that may be
//! between them (its *candidates*). An output is a set of these links, with at most so many per row
//! and per column; all else stays unmatched, at the score 0. The score is a sum over links,
//!
//! ```text
//! ⟨w, φ(x, y)⟩ = Σ_{(r,c) ∈ y} ⟨w, x_rc⟩
//! ```
//!
//! so that the best output is an [assignment](crate::inference::Assignment), and the loss is one too:
//! each link that is wrong costs something, each sure one that is missing too, and *possible* links
//! cost nothing either way. A block of the dual is the share μ_rc of each link.
//!
//! The truth need not keep the bounds: people link one word to many. Then it is an output besides
//! those that do, so that training is the same as ever, with an exact oracle; predictions keep them.
//!
//! [`Pairs`] hold the data, [`MatchingShape`] says how many attributes there are and how many links
//! are allowed, [`LinkLoss`] what mistakes cost; together they make a [`Matching`], the problem to
//! train. [`Matcher`] predicts.

mod feasible;
mod loss;
mod matcher;
mod pairs;
mod problem;
mod shape;

pub use loss::LinkLoss;
pub use matcher::{Matcher, ScoredLinks};
pub use pairs::{Gold, Pair, PairError, Pairs};
pub use problem::{Matching, MatchingError};
pub use shape::MatchingShape;
