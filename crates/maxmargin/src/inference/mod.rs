//! Decoding algorithms, which take scores and return the best structure. They do not depend on features
//! or solvers.
//!
//! [`viterbi`], [`n_best`] and [`max_marginals`] are for chains, [`Assignment`] and [`DegreeBounded`] for
//! [matchings](crate::model::matching), [`DistanceTransform`] for [trees of parts](crate::model::tree),
//! [`MaxFlow`] for [labelled graphs](crate::model::potts). Factor graphs have a [`Topology`], and
//! [`Decoder`] labels them with any of the methods in [`Inference`]: max-sum and enumeration are exact,
//! roof duality and linear programs ([`SolveLp`]) solve relaxations, and max-product is a heuristic.

pub(crate) mod assignment;
pub(crate) mod distance_transform;
pub(crate) mod enumerate;
pub(crate) mod forward_backward;
pub(crate) mod labelling;
pub(crate) mod local_polytope;
pub(crate) mod local_search;
pub(crate) mod lp;
pub(crate) mod max_flow;
pub(crate) mod max_marginals;
pub(crate) mod max_product;
pub(crate) mod max_sum;
pub(crate) mod message_bound;
pub(crate) mod n_best;
pub(crate) mod pattern_flow;
pub(crate) mod pattern_search;
pub(crate) mod patterns;
pub(crate) mod polytope_repair;
pub(crate) mod roof_duality;
mod short_lines;
pub(crate) mod subsets;
pub(crate) mod sum_product;
pub(crate) mod topology;
pub(crate) mod topology_error;
pub(crate) mod viterbi;

pub(crate) mod decoder;

pub use decoder::Inference;

#[cfg(feature = "unstable")]
pub use assignment::{
    Assignment, AssignmentError, DegreeBounded, LinkSet, Nulls, ScoredAssignment,
    n_best_assignments, n_best_links,
};
#[cfg(feature = "unstable")]
pub use decoder::{Decoder, Unsuitable};
#[cfg(feature = "unstable")]
pub use distance_transform::{Cost, DistanceTransform};
#[cfg(feature = "unstable")]
pub use labelling::Labelling;
#[cfg(feature = "unstable")]
pub use lp::{LinearProgram, LpError, SimplexMethod, SolveLp};
#[cfg(feature = "unstable")]
pub use max_flow::MaxFlow;
#[cfg(feature = "unstable")]
pub use max_marginals::max_marginals;
#[cfg(feature = "unstable")]
pub use n_best::{ScoredPath, n_best};
#[cfg(feature = "unstable")]
pub use topology::Topology;
#[cfg(feature = "unstable")]
pub use topology_error::TopologyError;
#[cfg(feature = "unstable")]
pub use viterbi::viterbi;

/// The algorithms behind [`Decoder`] and the models, one by one, for the tests of this project.
#[cfg(feature = "unstable")]
pub mod algorithms {
    pub use super::enumerate::Enumerate;
    pub use super::forward_backward::ForwardBackward;
    pub use super::local_polytope::{LocalPolytope, check_consistency, dual_bound};
    pub use super::local_search::LocalSearch;
    pub use super::max_flow::Quantum;
    pub use super::max_product::MaxProduct;
    pub use super::max_sum::MaxSum;
    pub use super::message_bound::MessageBound;
    pub use super::roof_duality::{RoofDuality, both_on};
    pub use super::subsets::{MOST_VARIABLES, Subsets};
    pub use super::sum_product::SumProduct;
}
