//! Small tools that know nothing of problems and solvers.

pub(crate) mod best_first;
pub(crate) mod names;
pub(crate) mod prefetch;
pub(crate) mod rng;
pub(crate) mod room;
pub(crate) mod rounding;
pub mod sort;
