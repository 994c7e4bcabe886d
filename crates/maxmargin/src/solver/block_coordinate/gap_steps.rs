//! A batch Frank-Wolfe step with every gap pass (Lacoste-Julien et al., 2013, Section 8).
//!
//! An exact pass calls all oracles at one w and so finds the direction of batch Frank-Wolfe. A line search along it
//! costs no oracle call and never lowers the dual. The certificate of the pass belongs to the point before the step,
//! so the step is taken when the next pass begins, if there is one.

use crate::error::TrainError;
use crate::run::Run;
use crate::solver::batch::{BatchStep, direction_room};

/// The steps that go with gap passes.
#[derive(Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct GapSteps {
    /// Whether the corners of the last exact pass have not been used yet.
    is_pending: bool,
    /// The direction of w.
    #[cfg_attr(feature = "serde", serde(skip))]
    direction: Vec<f64>,
}

impl GapSteps {
    /// Takes note of an exact pass at the present w, whose corners are kept with the run.
    pub(super) fn note_pass(&mut self) {
        self.is_pending = true;
    }

    /// Moves all blocks towards the corners of the last exact pass. Returns false if the run is to end before they are
    /// known.
    pub(super) fn take(&mut self, run: &mut Run<'_, '_>) -> Result<bool, TrainError> {
        if !self.is_pending {
            return Ok(true);
        }
        // A checkpoint does not hold the corners. Their calls were counted before.
        if !run.has_answers() && !run.ask_again()? {
            return Ok(false);
        }
        self.is_pending = false;
        let answers = run.take_answers();
        direction_room(&mut self.direction, run.problem.dim());
        let step = BatchStep::LineSearch.take(run, &answers, &mut self.direction)?;
        run.note_step(step.gamma, 1.0);
        Ok(true)
    }
}
