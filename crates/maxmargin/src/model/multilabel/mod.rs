//! Multi-label classification: any set of labels, and pairs of them that go together or do not.
//!
//! The score of a set y of labels for the input x is
//!
//! ```text
//! ⟨w, φ(x, y)⟩ = Σ_{k ∈ y} ⟨w_k, x⟩ + Σ_{j, k ∈ y} w_jk
//! ```
//!
//! with one weight per attribute and label, and one per pair of labels that may be on together: all
//! pairs, those of a tree, or none, in which case every label is on its own.
//!
//! Its parts are the labels that are on and the pairs that are both on. Up to some twenty labels the
//! best set is found by trying all of them; on a tree, by max-sum; else training goes over the LP
//! relaxation, by [roof duality](crate::inference::Inference::RoofDuality), whose corners have labels that are
//! half on.
//!
//! [`LabelledRows`](crate::model::LabelledRows) hold the data, [`MultilabelShape`] says which weights
//! there are, [`Hamming`] is the loss; together they make a [`Multilabel`], the problem to train.

mod error;
mod expectations;
mod labels;
mod problem;
mod search;
mod sets;
mod shape;

pub use crate::model::chain::Hamming;
pub use error::MultilabelError;
pub(crate) use error::check;
pub use labels::LabelSet;
pub use problem::Multilabel;
pub(crate) use problem::MultilabelWorkspace;
pub use sets::SetScores;
pub use shape::MultilabelShape;
