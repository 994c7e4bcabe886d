//! Multi-label classification: sets of labels, with weights for pairs of labels that are on together.
//!
//! The score of a set y of labels for the input x is
//!
//! ```text
//! ⟨w, φ(x, y)⟩ = Σ_{k ∈ y} ⟨w_k, x⟩ + Σ_{j, k ∈ y} w_jk
//! ```
//!
//! with one weight per attribute and label, and one weight per pair of labels: for all pairs, for the
//! pairs of a tree, or for none, in which case labels are independent.
//!
//! The parts are the labels that are on and the pairs of labels that are both on. If the pairs form a
//! tree, max-sum finds the best set. For up to twenty labels, all sets are tried. Otherwise training uses
//! the LP relaxation, which is solved by [roof duality](crate::inference::Inference::RoofDuality) and in
//! whose corners labels may be half on.
//!
//! [`LabelledRows`](crate::model::LabelledRows) hold the data, [`MultilabelShape`] says which weights
//! there are, [`Hamming`] is the loss; together they make a [`Multilabel`], the problem to train.

#[cfg(feature = "unstable")]
mod by_loss;
mod check;
mod expectations;
mod labels;
mod problem;
mod search;
mod sets;
mod shape;

pub use crate::model::chain::Hamming;
pub(crate) use check::check;
pub use labels::LabelSet;
pub use problem::Multilabel;
pub(crate) use problem::MultilabelWorkspace;
#[cfg(feature = "unstable")]
pub use sets::SetScores;
pub use shape::MultilabelShape;
