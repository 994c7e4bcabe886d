//! Reports to observers after each pass, and the end of a run.

use super::{Check, Finished, Known, Run, Solution};
use crate::certificate::{Certificate, first_misfit};
use crate::dual::DualState;
use crate::error::TrainError;
use crate::observe::{Control, End, Event, Record, Status};
use crate::problem::Quality;
use crate::settings::Average;

impl<'p> Run<'p, '_> {
    /// Tells the observers about a pass. Returns a status if the run ends with it.
    pub(crate) fn end_pass(&mut self, check: Option<&Check>) -> Option<Status> {
        let (seconds, oracle_seconds) = self.seconds();
        let record = Record {
            pass: self.totals.passes,
            visits: self.totals.visits,
            oracle_calls: self.totals.oracle_calls,
            effective_passes: self.totals.oracle_calls as f64 / self.examples() as f64,
            seconds,
            oracle_seconds,
            gap_seconds: self.totals.gap_seconds,
            dual: match (check, &self.bound) {
                (Some(check), _) => check.certificate.dual,
                (None, Some(bound)) => bound.dual,
                (None, None) => self.state.dual,
            },
            iterate_dual: self.bound.as_ref().map(|_| self.state.dual),
            average_dual: check
                .and_then(|c| c.average_dual)
                .filter(|_| self.settings.average != Average::None),
            primal: check.map(|c| c.certificate.primal),
            gap: check.map(|c| c.certificate.gap),
            bound: check.and_then(|_| self.gap_bound()),
            pairwise_gap: self.pairwise_gap.take().filter(|_| check.is_some()),
            second: check.and_then(|c| c.second),
            estimate: self.estimate.take().filter(|_| check.is_none()),
            validation: check.and_then(|c| c.validation),
            steps: std::mem::take(&mut self.steps),
            drift: check.and_then(|c| c.drift),
            cache: self.totals.cache,
        };
        let block_gaps: Option<Vec<f64>> =
            (check.is_some() && self.settings.block_gaps).then(|| self.readings.gaps().to_vec());
        let control = self.emit(Event::Pass { record: &record, block_gaps: block_gaps.as_deref() });
        self.verdict(check).or((control == Control::Stop).then_some(Status::Stopped))
    }

    /// The status with which the run ends if `check` shows that it has reached its aim.
    pub(crate) fn verdict(&self, check: Option<&Check>) -> Option<Status> {
        let check = check?;
        if self.is_converged(&check.certificate) {
            return Some(Status::Converged);
        }
        self.judge.is_out_of_patience(self.settings.patience).then_some(Status::Patience)
    }

    fn is_converged(&self, certificate: &Certificate) -> bool {
        self.settings.is_converged(certificate.gap, certificate.dual)
    }

    /// Ends the run. Its solution is `result`, with the certificate of `check`, unless a better model was
    /// kept.
    pub(crate) fn finish(
        mut self,
        status: Status,
        check: Check,
        result: Option<DualState<'p>>,
    ) -> Result<Finished, TrainError> {
        // The certificate: that of the best model if one was kept, with the best bound.
        let validation = self.judge.validation();
        let best = std::mem::take(&mut self.judge).into_best();
        // A result whose check was cut has not converged, and was not validated.
        let is_whole = self.cut.is_none() || best.is_some();
        let validation = validation.filter(|_| is_whole);
        let mut certificate = best.as_ref().map_or(check.certificate, |best| best.certificate);
        // The oracle may have failed after the best weights were found.
        certificate.quality = certificate.quality.max(self.quality());
        if best.is_some() && self.problem.quality() == Quality::Heuristic {
            // The best model has a point of its own, with which its hinges were found.
            self.bound = None;
        }
        if let Some(bound) = &self.bound {
            certificate = certificate.with_bound(bound.dual)?;
        }
        if self.is_resumed {
            // The method may have kept corners in the checkpoint whose losses belong to another problem. They show
            // in the point only now.
            let blocks = match (&self.bound, &best, &result) {
                (Some(bound), _, _) => &bound.blocks,
                (None, Some(best), _) => &best.blocks,
                (None, None, Some(result)) => &result.blocks,
                (None, None, None) => &self.state.blocks,
            };
            if let Some((example, why)) = first_misfit(self.problem, &mut self.workers, blocks) {
                let why = format!("in example {example}, {why}");
                return Err(TrainError::Resume { why });
            }
        }
        let status = match status {
            _ if is_whole && self.is_converged(&certificate) => Status::Converged,
            // The last weights have converged, but earlier ones were better at predicting.
            Status::Converged => Status::Patience,
            other => other,
        };
        // Tell the observers.
        (self.totals.seconds, self.totals.oracle_seconds) = self.seconds();
        let end = End { status, certificate, totals: self.totals, validation };
        self.emit(Event::End(&end));
        let theory = self.theory();
        let (lambda, totals, choice) = (self.state.lambda, self.totals, self.choice);
        // The weights and the dual point.
        let (weights, mut dual) = match best {
            Some(best) => best.into_point(),
            None => result.unwrap_or(self.state).into_point(),
        };
        if let Some(bound) = self.bound {
            dual.blocks = bound.blocks;
        }
        let known = self.known.unwrap_or_else(|| Known {
            block_gaps: self.readings.into_gaps(),
            calls: totals.oracle_calls,
            seconds: totals.seconds,
        });
        let warnings = self.warnings;
        let solution = Solution {
            weights,
            dual,
            lambda,
            certificate,
            status,
            totals,
            choice,
            validation,
            warnings,
            theory,
        };
        Ok(Finished { solution, known })
    }

    pub(super) fn emit(&mut self, event: Event<'_>) -> Control {
        let observers = &mut self.hooks.observers;
        self.clock.exclude(|| {
            let mut control = Control::Continue;
            for observer in observers.iter_mut() {
                if observer.event(event) == Control::Stop {
                    control = Control::Stop;
                }
            }
            control
        })
    }
}
