//! How large a difference rounding can explain.

/// Rounding errors of scores are below this share of the losses and scores they are made of.
pub(crate) const ROUNDING: f64 = 1e-9;

/// Where nothing can be learnt, rounding errors are all there is, and have nothing to be relative to.
pub(crate) const LEAST_ROUNDING: f64 = f64::EPSILON;
