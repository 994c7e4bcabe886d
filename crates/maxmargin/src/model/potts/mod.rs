//! Labelled graphs: every node has a label, and neighbours tend to agree.
//!
//! The score of a labelling y of a graph with node attributes x and edge attributes z ≥ 0 is
//!
//! ```text
//! ⟨w, φ(x, z, y)⟩ = Σᵥ ⟨w_unary[yᵥ], xᵥ⟩  −  Σ_{(u,v)} [y_u ≠ y_v]·⟨w_pairwise, z_uv⟩
//! ```
//!
//! up to a factor (one over the number of nodes by default; see [`mean`](PottsShape::mean)). So the
//! pairwise weights are the costs of neighbours that disagree (Potts' model). With two labels and
//! w_pairwise ≥ 0, which the model enforces by [bounds](crate::Problem::bounds), the best labelling is a
//! minimum cut and is found [exactly](PottsInference::MaxFlow). More labels, or weights of either sign,
//! need a heuristic or a [relaxation](PottsInference::Lp), whose answers may be [fractional](NodeLabels),
//! and the [certificate](crate::Certificate) then says so.
//!
//! The parts are nodes with labels and edges that disagree, relative to the truth. A labelling that is
//! almost right has few parts.
//!
//! [`PottsGraphs`] hold the data, [`PottsShape`] says how many weights there are, [`NodeLoss`] is
//! the loss; together they make [`Potts`], the problem to train, which also predicts.
//! [`PottsDecoder`] labels a graph by scores, without features or weights.
//! [`grid_edges`] makes a graph of the pixels of an image.

mod check;
mod decoder;
mod feasible;
mod graphs;
mod grid;
mod inference;
mod labels;
mod loss;
mod problem;
mod relaxation;
mod search;
mod shape;

pub use decoder::PottsDecoder;
pub use graphs::{PottsGraph, PottsGraphs};
pub use grid::{contrasts, grid_edges};
pub use inference::PottsInference;
pub use labels::NodeLabels;
pub use loss::NodeLoss;
pub use problem::Potts;
pub use shape::PottsShape;
