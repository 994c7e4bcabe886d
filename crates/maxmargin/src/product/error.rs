//! What can go wrong in the general method.

use thiserror::Error;

/// Why [`minimise`](super::minimise) has no result.
///
/// ```
/// use maxmargin::product::{LeastSquares, ProductSettings, Simplex, minimise};
///
/// let mut f = LeastSquares::distance_to(vec![f64::NAN; 2]);
/// let error = minimise(&mut f, &mut [Simplex::new(2).into()], &ProductSettings::default());
/// assert_eq!(error.unwrap_err().to_string(), "the gradient of block 0 is not finite");
/// ```
#[derive(Debug, Error, Clone, PartialEq)]
#[non_exhaustive]
pub enum ProductError {
    /// There is nothing to minimise over.
    #[error("there are no blocks")]
    NoBlocks,
    /// A block without coordinates.
    #[error("block {block} has no coordinates")]
    EmptyBlock {
        /// Which block.
        block: usize,
    },
    /// A setting out of range.
    #[error("{name} is {value}; it must be {expected}")]
    Range {
        /// The setting.
        name: &'static str,
        /// Its value.
        value: f64,
        /// What would have been accepted.
        expected: &'static str,
    },
    /// NaN or infinity in a gradient, a corner or a value.
    #[error("the {what} of block {block} is not finite")]
    NotFinite {
        /// What is not finite.
        what: &'static str,
        /// Which block.
        block: usize,
    },
    /// Exact steps were asked for, and f does not know its curvature.
    #[error(
        "exact steps need the curvature of f, which it does not tell; use backtracking or fixed steps"
    )]
    NoCurvature,
    /// f curves downwards.
    #[error("f is not convex: its curvature along block {block} is {curvature}")]
    NotConvex {
        /// Which block.
        block: usize,
        /// What was found there.
        curvature: f64,
    },
}
