//! When checkpoints are due, and where they go.

use super::Checkpoint;
use crate::error::TrainError;
use crate::settings::SettingsError;
use std::io;

/// How often a run hands out a checkpoint. Checkpoints are made at the end of a pass, and once more when
/// the run ends without an error.
///
/// ```
/// # use maxmargin::doc::toy;
/// use maxmargin::{Checkpoint, CheckpointEvery, Settings, Trainer};
///
/// let mut passes = Vec::new();
/// let mut keep = |checkpoint: &Checkpoint<'_>| {
///     passes.push(checkpoint.totals().passes);
///     Ok(())
/// };
/// let settings = Settings { tolerance: 0.0, max_passes: 8, ..Settings::default() };
/// Trainer::new(settings).checkpoint(CheckpointEvery::Passes(3), &mut keep).train(&toy())?;
/// assert_eq!(passes, [3, 6, 8]);
/// # Ok::<(), maxmargin::TrainError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum CheckpointEvery {
    /// After this many passes, at least one.
    Passes(u64),
    /// After this many seconds of training.
    Seconds(f64),
}

impl CheckpointEvery {
    fn check(self) -> Result<(), SettingsError> {
        let name = "checkpoint_every";
        match self {
            Self::Passes(0) => {
                Err(SettingsError::Range { name, value: 0.0, expected: "at least 1" })
            }
            Self::Seconds(value) if !(value >= 0.0 && value.is_finite()) => {
                let expected = "a finite number of seconds, at least 0";
                Err(SettingsError::Range { name, value, expected })
            }
            _ => Ok(()),
        }
    }
}

/// Where checkpoints go. The sink must store them before it returns.
pub(crate) type Sink<'a> = &'a mut dyn FnMut(&Checkpoint<'_>) -> io::Result<()>;

/// Hands out checkpoints when they are due.
pub(crate) struct Keeper<'a> {
    every: CheckpointEvery,
    sink: Sink<'a>,
    /// The seconds of training at the last checkpoint.
    last: f64,
}

impl<'a> Keeper<'a> {
    pub(crate) fn new(every: CheckpointEvery, sink: Sink<'a>) -> Self {
        Self { every, sink, last: 0.0 }
    }

    /// Checks the interval. A resumed run counts on from `seconds`.
    pub(crate) fn begin(&mut self, seconds: f64) -> Result<(), SettingsError> {
        self.last = seconds;
        self.every.check()
    }

    /// Whether a checkpoint is due after this many passes and seconds.
    pub(crate) fn is_due(&self, passes: u64, seconds: f64) -> bool {
        match self.every {
            CheckpointEvery::Passes(n) => passes.is_multiple_of(n),
            CheckpointEvery::Seconds(most) => seconds - self.last >= most,
        }
    }

    pub(crate) fn keep(&mut self, checkpoint: &Checkpoint<'_>) -> Result<(), TrainError> {
        self.last = checkpoint.totals.seconds;
        (self.sink)(checkpoint).map_err(|error| TrainError::Checkpoint { why: error.to_string() })
    }
}
