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
    /// A block without points.
    #[error("block {block} is empty: {why}")]
    NoPoints {
        /// Which block.
        block: usize,
        /// Why.
        why: String,
    },
    /// A function of another number of coordinates than the blocks have.
    #[error("f is a function of {expected} coordinates, and the blocks have {found}")]
    Size {
        /// The coordinates of f.
        expected: usize,
        /// Those of all blocks.
        found: usize,
    },
    /// A corner that is worse than the point itself, so that no gap can be told.
    #[error("the corner of block {block} is not the least: the point itself lies below it")]
    NotLeast {
        /// Which block.
        block: usize,
    },
    /// f(x) is no number.
    #[error("the value of f is {0}, where a finite number is needed")]
    Value(f64),
    /// A checkpoint that cannot be kept, or that the run cannot go on from.
    #[error("the checkpoint cannot be used: {why}")]
    Checkpoint {
        /// What is wrong.
        why: String,
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
