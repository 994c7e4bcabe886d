//! How large a difference rounding can explain.

/// Rounding errors of scores are below this share of the losses and scores they are made of.
pub(crate) const ROUNDING: f64 = 1e-9;
