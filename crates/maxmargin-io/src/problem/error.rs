//! Why a specification and examples make no problem.

use maxmargin::BoundsError;
use maxmargin::kernel::KernelError;
use maxmargin::model::binary::BinaryError;
use maxmargin::model::chain::ChainError;
use maxmargin::model::factor_graph::FactorGraphError;
use maxmargin::model::matching::MatchingError;
use maxmargin::model::multiclass::MulticlassError;
use maxmargin::model::multilabel::MultilabelError;
use maxmargin::model::potts::PottsError;
use maxmargin::model::segment::SegmentError;
use maxmargin::model::soft::SoftError;
use maxmargin::model::tree::TreeError;
use thiserror::Error;

/// Why a specification and examples make no problem.
///
/// ```
/// use maxmargin::GroupBounds;
/// use maxmargin::model::LabelledRows;
/// use maxmargin::model::chain::{ChainShape, Hamming};
/// use maxmargin_io::{ChainSpec, Examples, Spec};
///
/// let (shape, loss) = (ChainShape::new(2, 3), Hamming::default());
/// let spec = Spec::from(ChainSpec { shape, loss, kernel: None });
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
    /// More weights than any machine is expected to hold.
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
    /// Examples that make no chain.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// Examples that make no binary problem.
    #[error(transparent)]
    Binary(#[from] BinaryError),
    /// Examples that make no multiclass problem.
    #[error(transparent)]
    Multiclass(#[from] MulticlassError),
    /// Examples that make no multi-label problem.
    #[error(transparent)]
    Multilabel(#[from] MultilabelError),
    /// Examples that make no problem over factor graphs.
    #[error(transparent)]
    FactorGraph(#[from] FactorGraphError),
    /// Segments that do not fit.
    #[error(transparent)]
    Segment(#[from] SegmentError),
    /// Examples that make no problem over graphs with labelled nodes.
    #[error(transparent)]
    Potts(#[from] PottsError),
    /// Examples that make no problem over trees.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// Examples that make no problem over matchings.
    #[error(transparent)]
    Matching(#[from] MatchingError),
    /// A kernel that the problem cannot have.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// Soft constraints that the problem cannot have.
    #[error(transparent)]
    Soft(#[from] SoftError),
}
