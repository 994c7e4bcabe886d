//! The errors of the general method.

use crate::settings::Order;
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
    /// There are no blocks.
    #[error("there are no blocks")]
    NoBlocks,
    /// A block has no coordinates.
    #[error("block {block} has no coordinates")]
    EmptyBlock {
        /// The block.
        block: usize,
    },
    /// A block has no points.
    #[error("block {block} is empty: {why}")]
    NoPoints {
        /// The block.
        block: usize,
        /// Why it has no points.
        why: String,
    },
    /// The function has another number of coordinates than the blocks.
    #[error("f is a function of {expected} coordinates, and the blocks have {found}")]
    Size {
        /// Number of coordinates of f.
        expected: usize,
        /// Number of coordinates of all blocks.
        found: usize,
    },
    /// The order needs the lengths of corners, which blocks do not provide.
    #[error("order {order} draws blocks by the lengths of their corners, which are not known here")]
    Order {
        /// The order.
        order: Order,
    },
    /// A corner is worse than the current point, so there is no valid gap.
    #[error("the corner of block {block} is not a minimum: the current point is better")]
    NotLeast {
        /// The block.
        block: usize,
    },
    /// f(x) is not finite.
    #[error("the value of f is {0}; a finite number is needed")]
    Value(f64),
    /// A checkpoint cannot be written, or the run cannot continue from it.
    #[error("the checkpoint cannot be used: {why}")]
    Checkpoint {
        /// What is wrong.
        why: String,
    },
    /// A setting is out of range.
    #[error("{name} is {value}; it must be {expected}")]
    Range {
        /// The setting.
        name: &'static str,
        /// Its value.
        value: f64,
        /// The values that are accepted.
        expected: &'static str,
    },
    /// A gradient, a corner or a value has an entry that is NaN or infinite.
    #[error("the {what} of block {block} is not finite")]
    NotFinite {
        /// What is not finite.
        what: &'static str,
        /// The block.
        block: usize,
    },
    /// Exact steps are set, but f does not have a curvature.
    #[error(
        "exact steps need the curvature of f, which it does not provide; use backtracking or fixed steps"
    )]
    NoCurvature,
    /// f is not convex.
    #[error("f is not convex: its curvature along block {block} is {curvature}")]
    NotConvex {
        /// The block.
        block: usize,
        /// The curvature.
        curvature: f64,
    },
}
