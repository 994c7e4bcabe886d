//! Small tools that do not depend on problems or solvers.

pub(crate) mod best_first;
pub(crate) mod names;
pub(crate) mod prefetch;
pub(crate) mod rng;
pub(crate) mod room;
pub(crate) mod rounding;
pub mod sort;
