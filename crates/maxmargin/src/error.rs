//! What can go wrong before or during training.

use crate::problem::bounds::BoundsError;
use crate::settings::SettingsError;
use crate::settings::Solver;
use thiserror::Error;

/// Why a run could not be carried out. Running out of passes or time is not among these: see
/// [`Status`](crate::Status).
///
/// ```
/// use maxmargin::model::chain::{Chain, ChainShape, Hamming, Sequences};
/// use maxmargin::{Settings, TrainError, train};
///
/// let nothing = Chain::new(ChainShape::new(2, 3), Sequences::new(), &Hamming::default())?;
/// let error = train(&nothing, &Settings::default()).unwrap_err();
/// assert_eq!(error, TrainError::NoExamples);
/// assert_eq!(error.to_string(), "the problem has no examples");
/// # Ok::<(), maxmargin::model::InputError>(())
/// ```
#[derive(Debug, Error, Clone, PartialEq)]
#[non_exhaustive]
pub enum TrainError {
    /// A setting that makes no sense.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// There is nothing to train on.
    #[error("the problem has no examples")]
    NoExamples,
    /// There is nothing to learn.
    #[error("the problem has no features")]
    NoFeatures,
    /// An example weight that is not a positive finite number.
    #[error("example {example} has the weight {weight}; a positive finite number is needed")]
    ExampleWeight {
        /// Index of the example.
        example: usize,
        /// Its weight.
        weight: f64,
    },
    /// Example weights whose sum is not a positive finite number.
    #[error("the example weights sum to {0}; a positive finite number is needed")]
    TotalWeight(f64),
    /// Scores, losses or features of an example that are NaN or infinite, or too large to square.
    #[error(
        "the scores, losses or features of example {example} are not finite numbers, or too large"
    )]
    NotFinite {
        /// Index of the example.
        example: usize,
    },
    /// A negative loss of an output that the oracle returned.
    #[error("an output of example {example} has the loss {loss}; losses must not be negative")]
    Loss {
        /// Index of the example.
        example: usize,
        /// The loss.
        loss: f64,
    },
    /// A loss of the true output that is not 0.
    #[error("the true output of example {example} has the loss {loss}; it must be 0")]
    TruthLoss {
        /// Index of the example.
        example: usize,
        /// The loss.
        loss: f64,
    },
    /// Objective values beyond the range of numbers.
    #[error(
        "the objective is too large to be a number; are the features or losses scaled sensibly?"
    )]
    Overflow,
    /// A shard that cannot do what was asked of it.
    #[error("{why}")]
    Shard {
        /// Why.
        why: String,
    },
    /// A dual value above the primal one by more than rounding. A problem that keeps its laws never has
    /// one.
    #[error(
        "the dual value {dual} lies above the primal value {primal}, which is impossible: the problem \
         breaks one of its laws, or the dual point belongs to another problem; check that psi, parts, \
         score, norm_sq and scatter agree, that the truth has the loss 0, and that the oracle returns \
         the maximum (maxmargin::problem::check does, check_structure in Python)"
    )]
    Contradiction {
        /// The primal value.
        primal: f64,
        /// The dual value.
        dual: f64,
    },
    /// A weight that is NaN or infinite.
    #[error("weight {feature} is not a finite number")]
    Weight {
        /// Index of the feature.
        feature: usize,
    },
    /// A weight that does not keep the bounds of the problem.
    #[error("weight {feature} is {weight}, which is out of bounds")]
    OutOfBounds {
        /// Index of the feature.
        feature: usize,
        /// Its weight.
        weight: f64,
    },
    /// A point to start from that is not a point of the problem's dual, or of which no block is.
    #[error("the point to start from is not feasible: in example {example}, {why}")]
    Start {
        /// Index of the example.
        example: usize,
        /// What is wrong with it.
        why: String,
    },
    /// Bounds that do not fit the problem.
    #[error(transparent)]
    Bounds(#[from] BoundsError),
    /// Bounds on weights whose squared length is not the sum of their squares
    /// ([`OwnLength`](crate::problem::OwnLength)), as with a kernel.
    #[error(
        "the weights have bounds, and a length that is not the root of the sum of their squares, as \
         with a kernel; the two do not go together"
    )]
    BoundedLength,
    /// Bounds that exclude 0, where the regularization path begins.
    #[error("the path begins at w = 0, which the bounds of weight {feature} exclude")]
    BoundsWithoutZero {
        /// The first such weight.
        feature: usize,
    },
    /// A checkpoint that could not be put away.
    #[error("the checkpoint could not be kept: {why}")]
    Checkpoint {
        /// The error of the sink.
        why: String,
    },
    /// A checkpoint of another problem.
    #[error("the checkpoint is not of this problem: {why}")]
    Resume {
        /// What does not fit.
        why: String,
    },
    /// A checkpoint of a run that was begun with other settings.
    #[error("the run was begun {} and cannot go on {}", with(name, then), with("", now))]
    ResumeSetting {
        /// Name of the setting.
        name: String,
        /// Its value when the run was begun, if it had one.
        then: Option<String>,
        /// The value it was to go on with.
        now: Option<String>,
    },
    /// A solver that cannot do what was asked of it.
    #[error("solver {solver} {why}")]
    Unsuited {
        /// The solver.
        solver: Solver,
        /// What it cannot do, or what it needs.
        why: &'static str,
    },
    /// Patience without a validator.
    #[error("patience is set, but there is nothing to validate on")]
    NoValidator,
    /// A validation error that is NaN or infinite.
    #[error("the validation error is {error}; a finite number is needed")]
    Validation {
        /// The value that the validator returned.
        error: f64,
    },
    /// Something of the wrong size.
    #[error("{found} {what} were given, the problem has {expected}")]
    Size {
        /// What was given.
        what: &'static str,
        /// How many of them.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
}

fn with(name: &str, value: &Option<String>) -> String {
    let words = match value {
        Some(value) => ["with", name, value],
        None => ["without", name, if name.is_empty() { "it" } else { "" }],
    };
    words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}
