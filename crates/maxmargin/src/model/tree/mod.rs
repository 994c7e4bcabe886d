//! Trees of parts, each with a kind and a place: pictorial structures, and plain trees of labels.
//!
//! All examples share one tree. Every node v has a state: a kind kᵥ (a mixture type) and a place (xᵥ, yᵥ)
//! on a grid, which may have a single place. The score of all states is
//!
//! ```text
//! Σᵥ ⟨w_unary[v, kᵥ], mapsᵥ(xᵥ, yᵥ)⟩ + w_bias[v, kᵥ]
//!  + Σ_{v with parent p} w_table[v, kᵥ, k_p]
//!       − ⟨w_deformation[v, kᵥ], (δx², δy², δx, δy)⟩,     δ = (placeᵥ − place_p − anchor[v, kᵥ]) / unit
//! ```
//!
//! Maps say how much each place looks like the part. Max-sum finds the best states exactly. The
//! [generalized distance transform](crate::inference::DistanceTransform) handles quadratic costs of
//! deformation in linear time; the model keeps their weights ≥ 0. The n best outputs are exact, too
//! ([`Tree::n_best`]).
//!
//! The loss is the weighted mean over nodes of min(1, ‖Δ‖²/s²), where Δ is the displacement from the true
//! place. If kinds matter, wrong kinds have a cost as well ([`TreeLoss`]).

mod examples;
mod expectations;
mod feasible;
mod n_best;
mod parts;
mod problem;
mod search;
mod shape;

pub use examples::{State, TreeExamples};
pub use n_best::ScoredStates;
pub use problem::{Tree, TreeLoss};
pub use shape::{TreeNode, TreeShape};
