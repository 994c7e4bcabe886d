//! Why a run ended.
//!
//! A limit that is reached is a status, not an error: the result always has its true gap, which costs one
//! more pass after the limit, unless there is no time for that pass.

use std::fmt;

/// Why a run ended. No status is an error: each comes with the current model and its true gap, or with
/// [what is known of it](crate::Quality::Unfinished) if there was no time to compute it.
///
/// A run whose final gap is within the tolerance counts as converged, even if something else ended it.
///
/// ```
/// # use maxmargin::doc::toy;
/// use maxmargin::{Settings, Status, train};
///
/// let short = Settings { max_passes: 1, tolerance: 1e-9, ..Settings::default() };
/// let status = train(&toy(), &short)?.status;
/// assert_eq!((status, status.to_string().as_str()), (Status::MaxPasses, "max-passes"));
/// # Ok::<(), maxmargin::TrainError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Status {
    /// The duality gap is at most the tolerance.
    Converged,
    /// The last known gaps of the blocks sum to at most the tolerance, and the run trusts them. This is
    /// how training at a breakpoint of a heuristic path ends. The exact gap may be larger.
    Estimated,
    /// The maximum number of passes is done.
    MaxPasses,
    /// The maximum number of oracle calls is reached.
    MaxOracleCalls,
    /// The wall-clock budget is spent.
    MaxSeconds,
    /// The validation error no longer improved: for as many checks as
    /// [patience](crate::Settings::patience) allows, or until the gap was within the tolerance. The
    /// result is the model with the least error, and its gap may be larger than the tolerance.
    Patience,
    /// An observer asked to stop.
    Stopped,
    /// The run was interrupted from outside (ctrl-C).
    Interrupted,
}

impl Status {
    /// The name used in files and machine-readable output, which is also what it prints as.
    pub fn name(self) -> &'static str {
        match self {
            Self::Converged => "converged",
            Self::Estimated => "estimated",
            Self::MaxPasses => "max-passes",
            Self::MaxOracleCalls => "max-oracle-calls",
            Self::MaxSeconds => "max-seconds",
            Self::Patience => "patience",
            Self::Stopped => "stopped",
            Self::Interrupted => "interrupted",
        }
    }

    /// A short explanation for people.
    ///
    /// ```
    /// assert_eq!(maxmargin::Status::MaxSeconds.explain(), "the time budget is spent");
    /// ```
    pub fn explain(self) -> &'static str {
        match self {
            Self::Converged => "the duality gap is within the tolerance",
            Self::Estimated => "the last known gaps of the blocks sum to at most the tolerance",
            Self::MaxPasses => "the maximum number of passes is done",
            Self::MaxOracleCalls => "the maximum number of oracle calls is reached",
            Self::MaxSeconds => "the time budget is spent",
            Self::Patience => "the validation error no longer improved",
            Self::Stopped => "an observer asked to stop",
            Self::Interrupted => "the run was interrupted",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
