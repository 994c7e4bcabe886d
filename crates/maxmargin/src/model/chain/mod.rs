//! Chains: sequences of labels, decoded by Viterbi.
//!
//! The score of a labelling y of tokens x₁ … x_T is
//!
//! ```text
//! ⟨w, φ(x, y)⟩ = Σₜ ⟨w_emission[yₜ], xₜ⟩ + κ · (Σₜ w_bias[yₜ]  +  Σₜ w_transition[yₜ, yₜ₊₁]
//!              + w_first[y₁] + w_last[y_T])
//! ```
//!
//! where κ, the [`transition_scale`](ChainShape::transition_scale), is 1 by default.
//!
//! Its parts are the nodes (t, yₜ) and the edges (t, yₜ, yₜ₊₁). A block of the dual is kept as the
//! marginals of these parts, most of which are zero. Since a chain is a tree, node and edge marginals
//! that are locally consistent make a feasible dual point.
//!
//! [`Sequences`] hold the data, [`ChainShape`] says which features there are, [`Hamming`] is the
//! loss; together they make a [`Chain`], the problem to train. [`ChainScores`] predicts, and a
//! [`ChainDecoder`] also finds n-best lists, margins, and labellings that keep [`Rules`].

#[cfg(feature = "unstable")]
mod by_loss;
mod decoder;
mod enumerate;
mod expectations;
mod feasible;
mod gram;
mod loss;
mod parts;
mod problem;
mod rules;
mod scores;
mod sequences;
mod shape;

pub use decoder::ChainDecoder;
pub use loss::Hamming;
pub use problem::Chain;
pub(crate) use problem::ChainWorkspace;
#[cfg(feature = "unstable")]
pub use rules::Rules;
#[cfg(feature = "unstable")]
pub use scores::ChainScores;
#[cfg(feature = "unstable")]
pub use sequences::SequenceColumns;
pub use sequences::{Sequence, Sequences};
pub use shape::{ChainShape, FeatureGroups};
