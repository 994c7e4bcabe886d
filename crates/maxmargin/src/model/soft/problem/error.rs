//! Why a soft problem is refused.

use crate::error::TrainError;
use crate::model::InputError;
use crate::problem::bounds::BoundsError;
use thiserror::Error;

/// Why a soft problem is refused.
///
/// ```
/// use maxmargin::model::factor_graph::{GraphShape, Graphs, StateLoss};
/// use maxmargin::model::soft::SoftGraph;
///
/// let shape = GraphShape::default();
/// let error = SoftGraph::of_graphs(&shape, &Graphs::new(), StateLoss::default(), 0.1, 0.0);
/// assert_eq!(error.unwrap_err().to_string(), "rho is 0; a positive finite number is needed");
/// ```
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SoftError {
    /// A number that is not positive, or not finite.
    #[error("{name} is {value}; a positive finite number is needed")]
    NotPositive {
        /// The name of the number.
        name: &'static str,
        /// Its value.
        value: f64,
    },
    /// Graphs or labels that do not fit the shape.
    #[error(transparent)]
    Model(#[from] InputError),
    /// The values of an attribute of an example do not have a finite sum.
    #[error("the values of attribute {attribute} add up to {value}")]
    NotFinite {
        /// The attribute.
        attribute: u32,
        /// The sum.
        value: f64,
    },
    /// The multipliers do not fit.
    #[error("{found} multipliers are given, where {needed} finite numbers are needed")]
    Multipliers {
        /// The number of messages.
        needed: usize,
        /// The number of multipliers.
        found: usize,
    },
    /// Smoothing of a factor that is given by patterns, whose joint states are not listed.
    #[error("maxima over factors that are given by patterns cannot be smoothed")]
    SmoothPatterns,
    /// The bounds do not fit.
    #[error(transparent)]
    Bounds(#[from] BoundsError),
    /// Training refused the problem or the settings.
    #[error(transparent)]
    Train(#[from] TrainError),
}

/// Refuses a number that is not positive and finite.
pub(super) fn positive(name: &'static str, value: f64) -> Result<(), SoftError> {
    match value > 0.0 && value.is_finite() {
        true => Ok(()),
        false => Err(SoftError::NotPositive { name, value }),
    }
}
