//! Decoding algorithms, free of features and solvers: scores in, the best structure out.
//!
//! [`viterbi`], [`n_best`] and [`max_marginals`] are for chains, [`assignment`] is for
//! [matchings](crate::model::matching), [`distance_transform`] for
//! [trees of parts](crate::model::tree), [`max_flow`] for [labelled graphs](crate::model::graph). All
//! else is for [factor graphs](topology): [`max_sum`] and
//! [`enumerate`] are exact, [`roof_duality`] (on [`max_flow`]) and [`local_polytope`] (on [`lp`])
//! solve relaxations, [`max_product`] and [`local_search`] are heuristics; [`Decoder`] is one door to
//! all of them, and [`Inference`] the name of each. [`forward_backward`] and [`sum_product`] find
//! marginals of chains and of factor graphs without cycles, where all structures count and not the best.

pub mod assignment;
pub mod distance_transform;
pub mod enumerate;
pub mod forward_backward;
pub mod labelling;
pub mod local_polytope;
pub mod local_search;
pub mod lp;
pub mod max_flow;
pub mod max_marginals;
pub mod max_product;
pub mod max_sum;
pub mod n_best;
pub mod roof_duality;
pub mod subsets;
pub mod sum_product;
pub mod topology;
pub mod viterbi;

mod decoder;

pub use decoder::{Decoder, Inference, Unsuitable};
