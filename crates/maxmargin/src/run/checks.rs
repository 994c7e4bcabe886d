//! Exact checks: the gap of what would be returned, the best bound so far, and the validation error.
//!
//! w is rebuilt from its blocks *before* each exact pass, not after it, so that the certificate belongs to
//! exactly the w = Aα that is returned. The drift that the rebuild finds is recorded.

use super::{Check, Run};
use crate::certificate::{Certificate, exact_pass, from_readings};
use crate::dual::{Block, Drift, DualPoint, DualState, length_sq};
use crate::error::TrainError;
use crate::problem::Quality;
use std::time::Instant;

/// Oracle calls that take longer are handed out one by one, however few there are.
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
    fn note(&mut self, dual: f64, blocks: &[Block]) {
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
    /// returned, the caller also [validates](Self::validate) it.
    pub(crate) fn check(&mut self) -> Result<Check, TrainError> {
        let begin = Instant::now();
        let drift = self.rebuild();
        let certificate = self.certify(None)?;
        self.note_check_seconds(begin);
        let second = self.second_objective(None);
        let drift = Some(drift);
        Ok(Check { certificate, drift, second, average_dual: None, validation: None })
    }

    /// As [`check`](Self::check), for another dual point such as an average, which becomes a state. The
    /// gap is that of the point's own weights, or of `weights`, for which the point is only a bound.
    pub(crate) fn check_other(
        &mut self,
        point: DualPoint,
        weights: Option<Vec<f64>>,
    ) -> Result<(Check, DualState<'p>), TrainError> {
        let begin = Instant::now();
        let other = self.state_with(point, weights);
        let certificate = self.certify(Some(&other))?;
        self.note_check_seconds(begin);
        let second = self.second_objective(Some(&other));
        let average_dual = Some(other.dual);
        Ok((Check { certificate, drift: None, second, average_dual, validation: None }, other))
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
        let kept = self.settings.patience.map(|_| state);
        self.judge.note(error, self.totals.passes, check.certificate, kept);
        Ok(Check { validation: Some(error), ..check })
    }

    /// Takes note of how long a check has taken since `begin`, so that the last one can be planned for.
    fn note_check_seconds(&mut self, begin: Instant) {
        let seconds = begin.elapsed().as_secs_f64();
        self.totals.gap_seconds += seconds;
        self.check_seconds = Some(self.check_seconds.map_or(seconds, |most| most.max(seconds)));
    }

    /// The certificate of the current iterate, or of another state, by exact oracles.
    fn certify(&mut self, other: Option<&DualState<'p>>) -> Result<Certificate, TrainError> {
        let begin = Instant::now();
        if self.undisturbed_call() > LONG_CALL {
            self.workers.hand_out_singly();
        }
        let state = other.unwrap_or(&self.state);
        let readings = &mut self.readings;
        exact_pass(
            self.problem,
            &mut self.workers,
            &state.shares,
            &state.blocks,
            &state.w,
            readings,
        );
        self.oracle_timer.add(begin.elapsed().as_secs_f64());
        self.totals.oracle_calls += readings.len() as u64;
        self.totals.oracle_failures += readings.iter().filter(|r| r.failed).count() as u64;
        self.certificate_of_readings(other)
    }

    /// The certificate of the current iterate, or of another state, from the last readings of its blocks,
    /// with the best dual point so far.
    pub(crate) fn certificate_of_readings(
        &mut self,
        other: Option<&DualState<'p>>,
    ) -> Result<Certificate, TrainError> {
        let (quality, state) = (self.quality(), other.unwrap_or(&self.state));
        let (shares, lambda, norm_sq) = (&state.shares, state.lambda, state.norm_sq);
        let own = from_readings(quality, shares, lambda, norm_sq, state.dual, &self.readings)?;
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
