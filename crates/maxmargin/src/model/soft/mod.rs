//! Training factor graphs through soft constraints (Meshi, Srebro and Hazan, 2015).
//!
//! If exact decoding is hard, training uses the LP relaxation, but solving a linear program in every
//! oracle call is slow. Here each variable and each factor of an example is a separate block with a
//! simple maximum over its states. Messages δ softly enforce that variables and factors agree:
//!
//! ```text
//! g_ρ(w, δ) = λ/2·‖w‖² + 1/M Σ_m [ Σ_i max_y (θ_i(y) + Σ_{c∋i} δ_ci(y))
//!                                  + Σ_c max_y (θ_c(y) − Σ_{i∈c} δ_ci(y_i)) + ρ/2·‖δ_m‖² ]
//! ```
//!
//! At the optimum δ_m = (μ_c − μ_i)/ρ. The paper prints the penalty beside the mean, with (μ_c − μ_i)/(ρM), but its
//! Algorithm 1 has no M; [`RhoScale`] names both.
//!
//! For the engine this is an ordinary structured SVM: with ρ_m the price ρ/M of the messages of an example, v =
//! √(ρ_m/λ)·δ appended to the weights and ±√(λ/ρ_m) appended to the features, λ/2·‖(w, v)‖² is the whole regularizer,
//! and every block is a simplex whose oracle takes a few additions. So all orders, directions, steps, limits and
//! certificates apply unchanged. The gap is that of the soft problem.
//!
//! A factor over many variables that is given by a few patterns is one block as well. Its dual is kept as compact
//! variables, the masses of its patterns and of the states of its variables.
//!
//! [`SoftGraph`] is the problem. [`anneal`] decreases ρ step by step, and [`train_augmented`] finds
//! multipliers with which the constraints hold at any ρ.
//!
//! A [`SoftGraph`] is made from data. [`Bounded`](crate::Bounded) can wrap it, but a problem with bounds,
//! a kernel or slack rescaling cannot be put inside:
//!
//! ```compile_fail,E0308
//! # use maxmargin::{Bounded, Bounds, doc::rings, model::soft::SoftGraph};
//! # let (graphs, loss) = (rings(), Default::default());
//! # let shape = graphs.shape().clone();
//! let inside = Bounded::new(graphs, Bounds::none(12));
//! let soft = SoftGraph::of_graphs(&shape, &inside, loss, 0.1, 1.0);
//! ```

mod blocks;
mod joint;
mod layout;
mod outer;
mod penalty;
mod problem;

#[doc(hidden)]
pub use blocks::{Meeting, SoftBlocks};
pub use outer::{Augmented, anneal, train_augmented};
pub use penalty::RhoScale;
pub use problem::{SoftError, SoftGraph};
