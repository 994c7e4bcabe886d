//! Errors of building a problem from a specification and examples.

use maxmargin::BoundsError;
use maxmargin::kernel::KernelError;
use maxmargin::model::InputError;
use maxmargin::model::soft::SoftError;
use maxmargin::problem::SlackSearchError;
use thiserror::Error;

/// Why a specification and examples do not make a problem.
///
/// ```
/// use maxmargin::GroupBounds;
/// use maxmargin::model::LabelledRows;
/// use maxmargin::model::chain::{ChainShape, Hamming};
/// use maxmargin_io::{ChainSpec, Examples, Spec};
///
/// let (shape, loss) = (ChainShape::new(2, 3), Hamming::default());
/// let spec = Spec::from(ChainSpec { shape, loss, kernel: None, rescaling: Default::default() });
/// let rows = Examples::from(LabelledRows::new());
/// let error = spec.problem(rows, &GroupBounds::default()).unwrap_err();
/// assert_eq!(error.to_string(), "these data do not fit a model of the kind chain");
/// ```
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ProblemError {
    /// Examples of another kind than the specification is for.
    #[error("these data do not fit a model of the kind {kind}")]
    OtherKind {
        /// The kind of the specification.
        kind: &'static str,
    },
    /// Examples of another tree than the specification is for.
    #[error("these data are for another tree")]
    OtherTree,
    /// More weights than a machine is expected to have memory for.
    #[error("too many weights: {count}; at most {most} are possible; {advice}")]
    TooManyWeights {
        /// How many there would be.
        count: u128,
        /// How many there may be.
        most: u128,
        /// What to do about it.
        advice: &'static str,
    },
    /// Bounds that do not fit the weights.
    #[error(transparent)]
    Bounds(#[from] BoundsError),
    /// Examples that do not fit the specification.
    #[error(transparent)]
    Model(#[from] InputError),
    /// A kernel that the problem cannot have.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// A problem that slack rescaling cannot search in.
    #[error("slack rescaling: {0}; choose an inference that finds outputs")]
    SlackSearch(SlackSearchError),
    /// Slack rescaling together with something that excludes it.
    #[error("slack rescaling does not go with {0}")]
    SlackBeside(&'static str),
    /// Soft constraints that the problem cannot have.
    #[error(transparent)]
    Soft(#[from] SoftError),
}
