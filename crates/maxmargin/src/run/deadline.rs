//! When an exact pass is cut, and what remains of it.
//!
//! An exact pass calls every oracle once, which can take minutes where oracles are slow. The time limit plans
//! for the last one (`Run::limit`), but an interrupt comes unannounced, and plans can fail. So every exact pass
//! watches its deadline. A pass that is cut does not influence the run: the order and the cache learn nothing
//! from it, and a checkpoint holds the state before the check. The certificate of the result then claims only
//! what is known; see [`Quality::Unfinished`](crate::Quality::Unfinished).

use super::{Check, Finished, Interrupt, Run};
use crate::certificate::from_some_readings;
use crate::dual::DualState;
use crate::error::TrainError;
use crate::observe::{Status, Totals};
use crate::problem::Quality;
use std::time::{Duration, Instant};

/// The moment at which an exact pass is cut.
pub(super) struct Deadline {
    /// Whether no exact pass is to be made at all.
    unproven: bool,
    interrupt: Interrupt,
    /// The end of the time limit and of the grace after it.
    end: Option<Instant>,
}

impl Deadline {
    /// Why the pass is to be cut now, if it is.
    pub(super) fn passed(&self) -> Option<Status> {
        if self.interrupt.is_overdue() || self.unproven && self.interrupt.is_raised() {
            return Some(Status::Interrupted);
        }
        if self.unproven {
            return Some(Status::MaxPasses);
        }
        self.end.is_some_and(|end| Instant::now() >= end).then_some(Status::MaxSeconds)
    }
}

/// An exact pass that was cut.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cut {
    pub(super) status: Status,
    /// How long the check has taken up to then.
    pub(super) seconds: f64,
    pub(super) calls: u64,
    pub(super) failures: u64,
}

impl<'p> Run<'p, '_> {
    /// The deadline of an exact pass that begins now.
    pub(super) fn deadline(&self) -> Deadline {
        let interrupt = self.hooks.interrupt.clone();
        let end = self.settings.max_seconds.and_then(|most| {
            let left = Duration::try_from_secs_f64((most - self.clock.seconds()).max(0.0)).ok()?;
            Instant::now().checked_add(left.checked_add(interrupt.grace())?)
        });
        Deadline { unproven: self.unproven, interrupt, end }
    }

    /// Sets the totals back to those of before a check that was cut, since a resumed run makes all of the
    /// check. What the check has counted is added again if the run ends here.
    pub(super) fn set_totals_back(&mut self, before: Totals) {
        if let Some(cut) = &mut self.cut {
            cut.calls += self.totals.oracle_calls - before.oracle_calls;
            cut.failures += self.totals.oracle_failures - before.oracle_failures;
            cut.seconds += self.totals.gap_seconds - before.gap_seconds;
        }
        // The weights stay rebuilt, so the drift that the rebuild has found cannot be found again.
        self.totals = Totals { drift: self.totals.drift, ..before };
    }

    /// Ends the run after a check that was cut. Its solution is `result`, or its own state, unless a better
    /// model was kept.
    pub(super) fn finish_cut(
        mut self,
        result: Option<DualState<'p>>,
    ) -> Result<Finished, TrainError> {
        let status = match self.cut {
            Some(Cut { status, seconds, calls, failures }) => {
                self.totals.gap_seconds += seconds;
                self.totals.oracle_calls += calls;
                self.totals.oracle_failures += failures;
                status
            }
            None => Status::Interrupted,
        };
        let (lambda, quality) = (self.state.lambda, self.quality());
        let state = result.as_ref().unwrap_or(&self.state);
        // The readings of a heuristic are those of the best point (see `certify`).
        let is_read_with_bound = self.problem.quality() == Quality::Heuristic && result.is_some();
        let bound = self.bound.as_ref().filter(|_| is_read_with_bound);
        let dual = bound.map_or(state.dual, |bound| bound.dual);
        let certificate = from_some_readings(quality, lambda, dual, &self.readings)?;
        // The point of the result is the one with the best bound.
        if let Some(bound) = &mut self.bound {
            bound.note(state.dual, &state.blocks);
        }
        let check =
            Check { certificate, drift: None, second: None, average_dual: None, validation: None };
        self.end_pass(None);
        self.finish(status, check, result)
    }
}
