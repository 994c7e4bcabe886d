//! Factor graphs: variables with any numbers of states, and factors over any sets of variables.
//!
//! The score of a labelling y of the variables is a sum over factors c, each of which has attributes x_c,
//! a set of variables, and a *template* t that says which weights score it:
//!
//! ```text
//! ⟨w, φ(x, y)⟩ = Σ_c ⟨w_{t(c)}[y_c], x_c⟩
//! ```
//!
//! where y_c is the joint state of its variables. A template has one weight per attribute and joint
//! state, shared by all factors that use it; or fewer, if joint states share weights (see [`Tie`]).
//!
//! A factor over many variables may be given by a few *patterns* of states instead: it has one weight per attribute and
//! pattern, for the patterns that y_c fits, and its joint states are never listed.
//!
//! The parts are the states of variables, and the joint states or patterns of factors over two or more variables. A
//! block of the dual is kept as their marginals. [`Inference`](crate::inference::Inference) says how a
//! graph is decoded and therefore what the gap proves: if a graph has cycles and is too large to be
//! enumerated, training uses the LP relaxation, whose corners may be fractional.
//!
//! [`Graphs`] hold the data, [`GraphShape`] says which weights there are, [`StateLoss`] is the loss;
//! together they make a [`FactorGraph`], the problem to train.

mod compiled;
mod expectations;
mod gram;
mod graphs;
mod loss;
mod problem;
mod ranking;
mod shape;
mod tie;

pub use crate::inference::labelling::Labelling;
#[cfg(feature = "unstable")]
pub use crate::inference::patterns::{Counting, PatternError, Patterns};
pub(crate) use compiled::check_fit;
pub use graphs::{Factor, Graph, Graphs};
pub use loss::StateLoss;
pub use problem::FactorGraph;
pub use shape::{GraphShape, Template};
pub use tie::Tie;
pub(crate) use tie::Weighting;
