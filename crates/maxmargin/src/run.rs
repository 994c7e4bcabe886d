//! What every method shares: the state, the clock, the limits, the events and the certificate.

mod oracles;
mod resume;

use crate::average::Average;
use crate::certificate::{BlockReading, Certificate, exact_pass, from_readings};
use crate::checkpoint::{CertificateByPlace, Keeper};
use crate::clock::{CallTimer, Clock};
use crate::crew::Crew;
use crate::dual::{Block, Drift, DualPoint, DualState};
use crate::error::{TrainError, check_problem};
use crate::observe::{
    Choice, Control, End, Event, Observer, Record, Start, StepSizes, Totals, WarmStart,
};
use crate::point::take_over;
use crate::problem::Blocks;
use crate::quality::Quality;
use crate::settings::CheckedSettings;
use crate::status::Status;
use crate::sums::length_sq;
use crate::trainer::{Interrupt, Solution};
use crate::validate::{Judge, Validator};
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// A run in progress.
pub(crate) struct Run<'p, 'o> {
    pub(crate) problem: &'p dyn Blocks,
    pub(crate) settings: CheckedSettings,
    pub(crate) state: DualState<'p>,
    pub(crate) totals: Totals,
    crew: Crew<'p>,
    clock: Clock,
    oracle_timer: CallTimer,
    company: Company<'o>,
    /// Whether an observer asked to stop where it was not looked at at once.
    stopped: bool,
    pub(crate) choice: Option<Choice>,
    steps: StepSizes,
    judge: Judge,
    /// The best bound so far, where the dual point of the result need not be the last one.
    bound: Option<Bound>,
    warnings: Vec<String>,
    /// Of the problem, once a checkpoint has asked for it.
    signature: Option<u64>,
    /// Of the last exact pass.
    pub(crate) readings: Vec<BlockReading>,
    /// What was known at the start.
    pub(crate) block_gaps: Option<Vec<f64>>,
    pub(crate) trusting: bool,
    /// What a method knew that has trusted it.
    known: Option<Known>,
    /// Of the primal, for the next row.
    pub(crate) estimate: Option<f64>,
}

/// What a run can be told at its start.
#[derive(Debug, Default)]
pub(crate) struct Beginning {
    /// The dual point to start from, instead of the truth.
    pub(crate) point: Option<DualPoint>,
    /// The gap of every block there, as far as it is known, so that not every block has to be
    /// visited first.
    pub(crate) block_gaps: Option<Vec<f64>>,
    /// Whether known gaps within the tolerance are trusted: they end the run, and the exact pass
    /// after that is none of the method's.
    pub(crate) trusting: bool,
    /// Whether the point comes from a run on the same problem, so that it need not be checked, and the
    /// dual point of the result must be the one that its weights are made of.
    pub(crate) follows_own_run: bool,
    /// Whether the problem is checked first, which takes a few oracle calls.
    pub(crate) is_checked: bool,
}

/// The point with the largest dual value so far, which is a lower bound of every primal value.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Bound {
    dual: f64,
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

/// What is known when a method ends.
#[derive(Debug, Clone)]
pub(crate) struct Known {
    /// The gap of every block: exact, unless the method has trusted those it knew.
    pub(crate) block_gaps: Vec<f64>,
    /// Oracle calls and seconds so far.
    pub(crate) calls: u64,
    pub(crate) seconds: f64,
}

/// What a run has come to.
pub(crate) struct Finished {
    pub(crate) solution: Solution,
    pub(crate) known: Known,
}

/// Those who take part in a run from outside.
#[derive(Default)]
pub(crate) struct Company<'o> {
    pub(crate) observers: Vec<&'o mut dyn Observer>,
    pub(crate) interrupt: Interrupt,
    pub(crate) validator: Option<&'o mut dyn Validator>,
    pub(crate) keeper: Option<Keeper<'o>>,
}

/// An exact reading of the gap, the drift that the rebuild before it has found, and the validation
/// error of the weights.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Check {
    #[serde(with = "CertificateByPlace")]
    pub(crate) certificate: Certificate,
    pub(crate) drift: Option<Drift>,
    /// Only watched, so checkpoints do without.
    #[serde(skip)]
    pub(crate) second: Option<f64>,
    /// The dual value of an average.
    pub(crate) average_dual: Option<f64>,
    pub(crate) validation: Option<f64>,
}

impl<'p, 'o> Run<'p, 'o> {
    /// Begins a run at a point of the dual, or at the truth.
    pub(crate) fn start(
        problem: &'p dyn Blocks,
        settings: CheckedSettings,
        company: Company<'o>,
        beginning: Beginning,
    ) -> Result<Self, TrainError> {
        check_problem(problem)?;
        let Beginning { point, block_gaps, trusting, follows_own_run, is_checked } = beginning;
        let broken = if is_checked { problem.check_quickly() } else { Vec::new() };
        let clock = Clock::start_at(0.0);
        let lambda = settings.lambda_for(problem.examples());
        let mut crew = Crew::new(problem, settings.thread_count());
        let (point, warm_start) = match point {
            None => (DualPoint::at_truth(problem), None),
            Some(point) if follows_own_run => (point, None),
            Some(point) => {
                let (point, taken) = take_over(problem, &mut crew, point)?;
                (point, Some(taken))
            }
        };
        let state = DualState::new(problem, lambda, point, &mut crew);
        let keeps_bound = !(follows_own_run || settings.weights_from_dual());
        let mut run = Self::new(problem, settings, company, state, crew, clock)?;
        run.bound =
            keeps_bound.then(|| Bound { dual: run.state.dual, blocks: run.state.blocks.clone() });
        (run.block_gaps, run.trusting) = (block_gaps, trusting);
        run.announce(None, warm_start);
        for law in &broken {
            run.warn(law.to_string());
        }
        Ok(run)
    }

    fn new(
        problem: &'p dyn Blocks,
        settings: CheckedSettings,
        mut company: Company<'o>,
        state: DualState<'p>,
        crew: Crew<'p>,
        clock: Clock,
    ) -> Result<Self, TrainError> {
        if settings.patience.is_some() && company.validator.is_none() {
            return Err(TrainError::NoValidator);
        }
        if let Some(keeper) = &mut company.keeper {
            keeper.begin(clock.seconds())?;
        }
        Ok(Self {
            problem,
            settings,
            state,
            totals: Totals::default(),
            crew,
            clock,
            oracle_timer: CallTimer::default(),
            company,
            stopped: false,
            choice: None,
            steps: StepSizes::default(),
            judge: Judge::default(),
            bound: None,
            warnings: Vec::new(),
            signature: None,
            readings: Vec::new(),
            block_gaps: None,
            trusting: false,
            known: None,
            estimate: None,
        })
    }

    /// Tells the observers that the run begins, after so many passes if it is resumed.
    fn announce(&mut self, resumed: Option<u64>, warm_start: Option<WarmStart>) {
        let start = Start {
            n: self.examples(),
            d: self.problem.dim(),
            lambda: self.state.lambda,
            quality: self.problem.quality(),
            settings: (*self.settings).clone(),
            validates: self.company.validator.is_some(),
            resumed,
            warm_start,
        };
        self.stopped = self.emit(Event::Start(&start)) == Control::Stop;
    }

    /// Takes note of something that is wrong with the problem, and tells the observers.
    fn warn(&mut self, message: String) {
        self.stopped |= self.emit(Event::Warning { message: &message }) == Control::Stop;
        self.warnings.push(message);
    }

    /// Whether no pass may follow.
    pub(crate) fn is_last_pass(&self) -> bool {
        self.totals.passes >= self.settings.max_passes
    }

    pub(crate) fn examples(&self) -> usize {
        self.problem.examples()
    }

    /// Takes note of a step.
    pub(crate) fn note_step(&mut self, gamma: f64, longest: f64) {
        self.steps.add(gamma, longest);
    }

    /// Takes note of what `auto` has chosen, and tells the observers.
    pub(crate) fn choose(&mut self, choice: Choice) {
        self.stopped |= self.emit(Event::Choice(&choice)) == Control::Stop;
        self.choice = Some(choice);
    }

    /// Tells the observers what the gap is taken for, if they want to know of the gaps of blocks.
    pub(crate) fn estimate(&mut self, gap: Option<f64>) {
        if let Some(gap) = gap.filter(|_| self.settings.block_gaps) {
            self.stopped |= self.emit(Event::Estimate { gap }) == Control::Stop;
        }
    }

    /// Seconds so far, and those of them in oracles.
    pub(crate) fn seconds(&self) -> (f64, f64) {
        let all = self.clock.seconds();
        // One call in sixteen may stand for its neighbours, and be the one that was disturbed.
        (all, self.oracle_timer.seconds().min(all))
    }

    /// Seconds that an oracle call takes if nothing disturbs it.
    pub(crate) fn undisturbed_call(&self) -> f64 {
        self.oracle_timer.undisturbed()
    }

    /// Whether a limit is reached that can end a run in the middle of a pass.
    pub(crate) fn limit(&self) -> Option<Status> {
        if self.stopped {
            return Some(Status::Stopped);
        }
        if self.company.interrupt.is_raised() {
            return Some(Status::Interrupted);
        }
        if self.settings.max_oracle_calls.is_some_and(|most| self.totals.oracle_calls >= most) {
            return Some(Status::MaxOracleCalls);
        }
        let late = |most: f64| self.oracle_timer.is_due() && self.clock.seconds() >= most;
        if self.settings.max_seconds.is_some_and(late) {
            return Some(Status::MaxSeconds);
        }
        None
    }

    /// Takes note of what is known where that is all the method asks for; what comes after does not
    /// count as its work.
    pub(crate) fn trust(&mut self, gaps: &[f64]) {
        let (calls, seconds) = (self.totals.oracle_calls, self.clock.seconds());
        self.known = Some(Known { block_gaps: gaps.to_vec(), calls, seconds });
    }

    /// Rebuilds w from its blocks, and takes note of the drift.
    pub(crate) fn rebuild(&mut self) -> Drift {
        let drift = self.state.rebuild(&mut self.crew);
        self.totals.drift = self.totals.drift.max(drift);
        drift
    }

    /// Rebuilds w from its blocks and computes the exact gap of the current iterate. What is to be
    /// returned has to be [validated](Self::validate) besides.
    pub(crate) fn check(&mut self) -> Result<Check, TrainError> {
        let begin = Instant::now();
        let drift = self.rebuild();
        let certificate = self.certify(None)?;
        self.totals.gap_seconds += begin.elapsed().as_secs_f64();
        let second = self.second_objective(None);
        let drift = Some(drift);
        Ok(Check { certificate, drift, second, average_dual: None, validation: None })
    }

    /// As [`check`](Self::check), of another dual point (an average), which becomes a state; of its own
    /// weights, or of others, for which it is only a bound.
    pub(crate) fn check_other(
        &mut self,
        point: DualPoint,
        weights: Option<Vec<f64>>,
    ) -> Result<(Check, DualState<'p>), TrainError> {
        let begin = Instant::now();
        let mut other = self.state_at(point);
        if let Some(weights) = weights {
            other.norm_sq = length_sq(self.problem, &weights);
            other.w = weights;
        }
        let certificate = self.certify(Some(&other))?;
        self.totals.gap_seconds += begin.elapsed().as_secs_f64();
        let second = self.second_objective(Some(&other));
        let average_dual = Some(other.dual);
        Ok((Check { certificate, drift: None, second, average_dual, validation: None }, other))
    }

    /// The other objective of the problem, of the current iterate or of another state. It is watched, so
    /// its time does not count.
    pub(crate) fn second_objective(&mut self, other: Option<&DualState<'p>>) -> Option<f64> {
        let w = &other.unwrap_or(&self.state).w;
        self.clock.exclude(|| self.problem.second_objective(w))
    }

    /// Another point of the dual, as a state.
    pub(crate) fn state_at(&mut self, point: DualPoint) -> DualState<'p> {
        DualState::new(self.problem, self.state.lambda, point, &mut self.crew)
    }

    /// Measures the validation error of what has been checked, the iterate or another state, and
    /// keeps it if it is the best so far.
    pub(crate) fn validate(
        &mut self,
        check: Check,
        other: Option<&DualState<'p>>,
    ) -> Result<Check, TrainError> {
        let Some(validator) = &mut self.company.validator else { return Ok(check) };
        let state = other.unwrap_or(&self.state);
        let error = self.clock.exclude(|| validator.error(&state.w));
        if !error.is_finite() {
            return Err(TrainError::Validation { error });
        }
        let kept = self.settings.patience.map(|_| state);
        self.judge.note(error, self.totals.passes, check.certificate, kept);
        Ok(Check { validation: Some(error), ..check })
    }

    /// The certificate of the current iterate, or of another state, by exact oracles.
    fn certify(&mut self, other: Option<&DualState<'p>>) -> Result<Certificate, TrainError> {
        let begin = Instant::now();
        let state = other.unwrap_or(&self.state);
        let readings = &mut self.readings;
        exact_pass(self.problem, &mut self.crew, &state.shares, &state.blocks, &state.w, readings);
        self.oracle_timer.add(begin.elapsed().as_secs_f64());
        self.totals.oracle_calls += readings.len() as u64;
        self.totals.oracle_failures += readings.iter().filter(|r| r.failed).count() as u64;
        self.certificate_of_readings(other)
    }

    /// The certificate of the current iterate, or of another state, whose blocks were read last: of its
    /// weights, and of the best dual point so far.
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

    /// Takes note of the dual value of the current iterate, which has just been rebuilt.
    pub(crate) fn note_bound(&mut self) {
        if let Some(bound) = &mut self.bound {
            bound.note(self.state.dual, &self.state.blocks);
        }
    }

    /// What the oracle promises, as far as it has kept its promise.
    fn quality(&self) -> Quality {
        self.problem.quality().after_failures(self.totals.oracle_failures)
    }

    /// Tells the observers about a pass; a status if the run ends with it.
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
            second: check.and_then(|c| c.second),
            estimate: self.estimate.take().filter(|_| check.is_none()),
            validation: check.and_then(|c| c.validation),
            steps: std::mem::take(&mut self.steps),
            drift: check.and_then(|c| c.drift),
            cache: self.totals.cache,
        };
        let block_gaps: Option<Vec<f64>> = (check.is_some() && self.settings.block_gaps)
            .then(|| self.readings.iter().map(|r| r.gap).collect());
        let control = self.emit(Event::Pass { record: &record, block_gaps: block_gaps.as_deref() });
        self.verdict(check).or((control == Control::Stop).then_some(Status::Stopped))
    }

    /// Whether the run has reached what it was to reach.
    pub(crate) fn verdict(&self, check: Option<&Check>) -> Option<Status> {
        let check = check?;
        if self.is_converged(&check.certificate) {
            return Some(Status::Converged);
        }
        self.judge.is_out_of_patience(self.settings.patience).then_some(Status::Patience)
    }

    fn is_converged(&self, certificate: &Certificate) -> bool {
        self.settings.tolerance > 0.0 && certificate.gap <= self.settings.tolerance
    }

    /// Ends the run with `result` as its solution, of which `check` is the certificate, unless a
    /// better one was kept.
    pub(crate) fn finish(
        mut self,
        status: Status,
        check: Check,
        result: Option<DualState<'p>>,
    ) -> Result<Finished, TrainError> {
        let validation = self.judge.validation();
        let best = std::mem::take(&mut self.judge).into_best();
        let mut certificate = best.as_ref().map_or(check.certificate, |best| best.certificate);
        // The oracle may have failed after the best weights were found.
        certificate.quality = certificate.quality.max(self.quality());
        if let Some(bound) = &self.bound {
            certificate = certificate.with_bound(bound.dual)?;
        }
        let status = match status {
            _ if self.is_converged(&certificate) => Status::Converged,
            // The last weights have converged, but those before them were better at predicting.
            Status::Converged => Status::Patience,
            other => other,
        };
        (self.totals.seconds, self.totals.oracle_seconds) = self.seconds();
        let end = End { status, certificate, totals: self.totals, validation };
        self.emit(Event::End(&end));
        let (lambda, totals, choice) = (self.state.lambda, self.totals, self.choice);
        let (weights, mut dual) = match best {
            Some(best) => best.into_point(),
            None => result.unwrap_or(self.state).into_point(),
        };
        if let Some(bound) = self.bound {
            dual.blocks = bound.blocks;
        }
        let known = self.known.unwrap_or_else(|| Known {
            block_gaps: self.readings.iter().map(|reading| reading.gap).collect(),
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
        };
        Ok(Finished { solution, known })
    }

    fn emit(&mut self, event: Event<'_>) -> Control {
        let observers = &mut self.company.observers;
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
