//! Trees of parts, each with a kind and a place: pictorial structures, and plain trees of labels.
//!
//! Every node v of one tree, the same for all examples, has a state: a kind kᵥ (a mixture type) and a
//! place (xᵥ, yᵥ) on a grid, which may have a single place. The score of all states is
//!
//! ```text
//! Σᵥ ⟨w_unary[v, kᵥ], mapsᵥ(xᵥ, yᵥ)⟩ + w_bias[v, kᵥ]
//!  + Σ_{v with parent p} w_table[v, kᵥ, k_p]
//!       − ⟨w_deformation[v, kᵥ], (δx², δy², δx, δy)⟩,     δ = (placeᵥ − place_p − anchor[v, kᵥ]) / unit
//! ```
//!
//! Maps say how much each place looks like the part. The best states are found exactly by max-sum;
//! quadratic costs of deformation take linear time by the
//! [generalized distance transform](crate::inference::DistanceTransform), and the model keeps their
//! weights ≥ 0. The n best are found exactly too ([`Tree::n_best`]).
//!
//! The loss is the mean over nodes of min(1, ‖Δ‖²/s²), with Δ the way from the true place, weighted by
//! node, and, where kinds are what matters, a cost for wrong ones ([`TreeLoss`]).

mod examples;
mod expectations;
mod feasible;
mod n_best;
mod parts;
mod problem;
mod search;
mod shape;

pub use examples::{State, TreeExampleError, TreeExamples};
pub use n_best::ScoredStates;
pub use problem::{Tree, TreeError, TreeLoss};
pub use shape::{TreeNode, TreeShape, TreeShapeError};
