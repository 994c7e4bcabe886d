//! Matchings: links between rows and columns, such as the words of a sentence and those of its
//! translation.
//!
//! An example is a *pair* of two lists, R rows and C columns, with features for every link that is
//! possible between them (its *candidates*). An output is a set of candidates, with a limited number of
//! links per row and per column. Unmatched rows and columns have the score 0. The score is a sum over
//! links,
//!
//! ```text
//! ⟨w, φ(x, y)⟩ = Σ_{(r,c) ∈ y} ⟨w, x_rc⟩
//! ```
//!
//! so the best output is an [assignment](crate::inference::Assignment). The loss is a sum over links as
//! well: each wrong link and each missing *sure* link has a cost, and *possible* links cost nothing,
//! whether they are present or not. A block of the dual is the share μ_rc of each link.
//!
//! The truth may exceed the limits, because people link one word to many. It is then an additional output
//! of training, whose oracle stays exact. Predictions keep the limits.
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
pub use matcher::Matcher;
#[cfg(feature = "unstable")]
pub use matcher::ScoredLinks;
pub use pairs::{Gold, Pair, Pairs};
pub use problem::Matching;
pub use shape::MatchingShape;
