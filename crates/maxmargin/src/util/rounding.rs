//! How large a difference rounding can explain.

/// Rounding errors of scores are below this share of the losses and scores they are made of.
pub(crate) const ROUNDING: f64 = 1e-9;

/// The least rounding error. If nothing can be learnt, scores consist of rounding errors only, and there is no
/// number to which these could be relative.
pub(crate) const LEAST_ROUNDING: f64 = f64::EPSILON;
