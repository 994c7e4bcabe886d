//! Exact checks: the gap of what would be returned, the best bound so far, and the validation error.
//!
//! w is rebuilt from its blocks *before* each exact pass, not after it, so that the certificate belongs to
//! exactly the w = Aα that is returned. The drift that the rebuild finds is recorded.

use super::deadline::Cut;
use super::{Check, Run};
use crate::certificate::{
    Answer, Certificate, ExactCorner, Readings, exact_pass_until, from_readings, read_answers,
};
use crate::dual::{Block, Drift, DualPoint, DualState, length_sq};
use crate::error::TrainError;
use crate::observe::Status;
use crate::problem::Quality;
use std::time::Instant;

/// Oracle calls that take longer than this are handed to threads one by one, however few there are.
const LONG_CALL: f64 = 20e-6;

/// The point with the largest dual value so far, which is a lower bound of every primal value.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Bound {
    pub(super) dual: f64,
    pub(crate) blocks: Vec<Block>,
}

impl Bound {
    /// Keeps a point if it is better than the best so far.
    pub(super) fn note(&mut self, dual: f64, blocks: &[Block]) {
        if dual > self.dual {
            self.dual = dual;
            self.blocks.clear();
            self.blocks.extend_from_slice(blocks);
        }
    }
}

impl<'p> Run<'p, '_> {
    /// Rebuilds w from its blocks, and records the drift.
    pub(crate) fn rebuild(&mut self) -> Drift {
        let drift = self.state.rebuild(&mut self.workers);
        self.totals.drift = self.totals.drift.max(drift);
        drift
    }

    /// Rebuilds w from its blocks and computes the exact gap of the current iterate. If it is to be
    /// returned, the caller also [validates](Self::validate) it. Returns `None` if the exact pass was cut.
    pub(crate) fn check(&mut self) -> Result<Option<Check>, TrainError> {
        let begin = Instant::now();
        let drift = self.rebuild();
        let Some(certificate) = self.certify(None, begin)? else { return Ok(None) };
        self.note_check_seconds(begin);
        let second = self.second_objective(None);
        let drift = Some(drift);
        Ok(Some(Check { certificate, drift, second, average_dual: None, validation: None }))
    }

    /// As [`check`](Self::check), for another dual point such as an average, which becomes a state. The
    /// gap is that of the point's own weights, or of `weights`, for which the point is only a bound.
    pub(crate) fn check_other(
        &mut self,
        point: DualPoint,
        weights: Option<Vec<f64>>,
    ) -> Result<Option<(Check, DualState<'p>)>, TrainError> {
        let begin = Instant::now();
        let other = self.state_with(point, weights);
        let Some(certificate) = self.certify(Some(&other), begin)? else { return Ok(None) };
        self.note_check_seconds(begin);
        let second = self.second_objective(Some(&other));
        let average_dual = Some(other.dual);
        let check = Check { certificate, drift: None, second, average_dual, validation: None };
        Ok(Some((check, other)))
    }

    /// The other objective of the problem, for the current iterate or another state. It is only watched,
    /// so its time does not count.
    pub(crate) fn second_objective(&mut self, other: Option<&DualState<'p>>) -> Option<f64> {
        let w = &other.unwrap_or(&self.state).w;
        self.clock.exclude(|| self.problem.second_objective(w))
    }

    /// Another point of the dual as a state, with its own weights or with `weights`.
    pub(crate) fn state_with(
        &mut self,
        point: DualPoint,
        weights: Option<Vec<f64>>,
    ) -> DualState<'p> {
        let mut other = self.state_at(point);
        if let Some(weights) = weights {
            other.norm_sq = length_sq(self.problem, &weights);
            other.w = weights;
        }
        other
    }

    /// Another point of the dual, as a state.
    pub(crate) fn state_at(&mut self, point: DualPoint) -> DualState<'p> {
        DualState::new(self.problem, self.state.lambda, point, &mut self.workers)
    }

    /// Measures the validation error of what has been checked, the iterate or another state, and keeps it
    /// if it is the best so far.
    pub(crate) fn validate(
        &mut self,
        check: Check,
        other: Option<&DualState<'p>>,
    ) -> Result<Check, TrainError> {
        let Some(validator) = &mut self.hooks.validator else { return Ok(check) };
        let state = other.unwrap_or(&self.state);
        let error = self.clock.exclude(|| validator.error(&state.w));
        if !error.is_finite() {
            return Err(TrainError::Validation { error });
        }
        // What a heuristic has found belongs to the point that it was read with.
        let bound = self.bound.as_ref().filter(|_| self.problem.quality() == Quality::Heuristic);
        let blocks = bound.map_or(&state.blocks, |bound| &bound.blocks);
        let kept = self.settings.patience.map(|_| (&*state.w, &**blocks));
        self.judge.note(error, self.totals.passes, check.certificate, kept);
        Ok(Check { validation: Some(error), ..check })
    }

    /// Takes note of how long a check has taken since `begin`, so that the last one can be planned for.
    fn note_check_seconds(&mut self, begin: Instant) {
        let seconds = begin.elapsed().as_secs_f64();
        self.totals.gap_seconds += seconds;
        self.check_seconds = Some(self.check_seconds.map_or(seconds, |most| most.max(seconds)));
    }

    /// The certificate of the current iterate, or of another state, by exact oracles. Returns `None` if the
    /// exact pass was cut; what it has read up to then is kept with the readings. The check has begun at
    /// `check_begin`.
    fn certify(
        &mut self,
        other: Option<&DualState<'p>>,
        check_begin: Instant,
    ) -> Result<Option<Certificate>, TrainError> {
        let begin = Instant::now();
        let deadline = self.deadline();
        if self.undisturbed_call() > LONG_CALL {
            self.workers.hand_out_singly();
        }
        let state = other.unwrap_or(&self.state);
        let mut blocks = &*state.blocks;
        if let (Quality::Heuristic, Some(_), Some(bound)) =
            (self.problem.quality(), other, &mut self.bound)
        {
            // What a heuristic finds is compared with a dual point, and the result comes with this one.
            bound.note(state.dual, &state.blocks);
            blocks = &bound.blocks;
        }
        let (at, readings) = ((&state.shares, blocks, &*state.w), &mut self.readings);
        let is_over = || deadline.passed().is_some();
        let (problem, workers, is_iterate) = (self.problem, &mut self.workers, other.is_none());
        let is_whole = if self.settings.gap_steps && is_iterate {
            read_answers(problem, workers, at, (&mut self.answers, readings), &is_over)
        } else if self.keeps_corners && is_iterate {
            read_answers(problem, workers, at, (&mut self.corners, readings), &is_over)
        } else {
            exact_pass_until(problem, workers, at, readings, &is_over)
        };
        self.oracle_timer.add(begin.elapsed().as_secs_f64());
        let (calls, failures) = (readings.calls(), readings.failures());
        if !is_whole {
            // A resumed run makes all of this pass, so its calls are counted only if this run ends here.
            let status = deadline.passed().unwrap_or(Status::Interrupted);
            let seconds = check_begin.elapsed().as_secs_f64();
            self.cut = Some(Cut { status, seconds, calls, failures });
            return Ok(None);
        }
        self.totals.oracle_calls += calls;
        self.totals.oracle_failures += failures;
        self.measure();
        self.certificate_of_readings(other).map(Some)
    }

    /// Calls all oracles at the present w once more, without counting them, to find their corners again. Returns
    /// false if the run is to end before all have answered.
    pub(crate) fn ask_again(&mut self) -> Result<bool, TrainError> {
        let deadline = self.deadline();
        let at = (&self.state.shares, &*self.state.blocks, &*self.state.w);
        let mut readings = Readings::default();
        let found = (&mut self.answers, &mut readings);
        let is_over = || deadline.passed().is_some();
        let is_whole = read_answers(self.problem, &mut self.workers, at, found, &is_over);
        readings.check()?;
        Ok(is_whole)
    }

    /// Whether the corners of the last exact pass are kept.
    pub(crate) fn has_answers(&self) -> bool {
        !self.answers.is_empty()
    }

    /// The corners of the last exact pass, which belong to the present w.
    pub(crate) fn take_answers(&mut self) -> Vec<Answer> {
        std::mem::take(&mut self.answers)
    }

    /// The corners that the last exact pass has found, if it was asked to [keep](Self::keeps_corners) them.
    pub(crate) fn take_corners(&mut self) -> Vec<ExactCorner> {
        std::mem::take(&mut self.corners)
    }

    /// Forgets what a check has read before it was cut, because it belongs to other weights than those that
    /// will be returned.
    pub(crate) fn forget_readings(&mut self) {
        self.readings.clear();
    }

    /// The certificate of the current iterate, or of another state, from the last readings of its blocks,
    /// with the best dual point so far.
    pub(crate) fn certificate_of_readings(
        &mut self,
        other: Option<&DualState<'p>>,
    ) -> Result<Certificate, TrainError> {
        let (quality, state) = (self.quality(), other.unwrap_or(&self.state));
        let (lambda, norm_sq) = (state.lambda, state.norm_sq);
        let own = from_readings(quality, lambda, norm_sq, state.dual, &self.readings)?;
        let Some(bound) = &mut self.bound else { return Ok(own) };
        bound.note(state.dual, &state.blocks);
        own.with_bound(bound.dual)
    }

    /// Records the dual value of the current iterate, which has just been rebuilt.
    pub(crate) fn note_bound(&mut self) {
        if let Some(bound) = &mut self.bound {
            bound.note(self.state.dual, &self.state.blocks);
        }
    }

    /// The quality of the oracle, lowered by its failures.
    pub(super) fn quality(&self) -> Quality {
        self.problem.quality().after_failures(self.totals.oracle_failures)
    }
}
