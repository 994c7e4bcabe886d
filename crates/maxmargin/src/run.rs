//! What every method shares: the state, the clock, the limits, the events and the certificate.

use crate::certificate::{BlockReading, Certificate, check_start, exact_pass, from_readings};
use crate::clock::{CallTimer, Clock};
use crate::crew::{Crew, Scratch};
use crate::dual::{Drift, DualPoint, DualState};
use crate::error::{TrainError, check_problem};
use crate::observe::{Choice, Control, End, Event, Observer, Record, Start, StepSizes, Totals};
use crate::problem::Problem;
use crate::settings::CheckedSettings;
use crate::status::Status;
use crate::trainer::{Interrupt, Solution};
use std::time::Instant;

/// A run in progress.
pub(crate) struct Run<'p, 'o, P: Problem> {
    pub(crate) problem: &'p P,
    pub(crate) settings: CheckedSettings,
    pub(crate) state: DualState<'p, P>,
    pub(crate) totals: Totals,
    crew: Crew<P>,
    clock: Clock,
    oracle_timer: CallTimer,
    observers: Vec<&'o mut dyn Observer>,
    interrupt: Interrupt,
    /// Whether an observer asked to stop where it was not looked at at once.
    stopped: bool,
    pub(crate) choice: Option<Choice>,
    steps: StepSizes,
    /// Of the last exact pass.
    pub(crate) readings: Vec<BlockReading>,
}

/// An exact reading of the gap, and the drift that the rebuild before it has found.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Check {
    pub(crate) certificate: Certificate,
    pub(crate) drift: Option<Drift>,
}

impl<'p, 'o, P: Problem> Run<'p, 'o, P> {
    pub(crate) fn start(
        problem: &'p P,
        settings: CheckedSettings,
        observers: Vec<&'o mut dyn Observer>,
        interrupt: Interrupt,
        start: Option<DualPoint>,
    ) -> Result<Self, TrainError> {
        check_problem(problem)?;
        let point = match start {
            None => DualPoint::at_truth(problem),
            Some(point) => check_start(problem, point)?,
        };
        let clock = Clock::start();
        let lambda = settings.lambda_for(problem.examples());
        let mut crew = Crew::new(problem, settings.thread_count());
        let mut run = Self {
            problem,
            state: DualState::new(problem, lambda, point, &mut crew),
            totals: Totals::default(),
            crew,
            settings,
            clock,
            oracle_timer: CallTimer::default(),
            observers,
            interrupt,
            stopped: false,
            choice: None,
            steps: StepSizes::default(),
            readings: Vec::new(),
        };
        let start = Start {
            n: problem.examples(),
            d: problem.dim(),
            lambda,
            quality: problem.quality(),
            settings: (*run.settings).clone(),
        };
        run.stopped = run.emit(Event::Start(&start)) == Control::Stop;
        Ok(run)
    }

    pub(crate) fn examples(&self) -> usize {
        self.problem.examples()
    }

    /// Calls the oracle of block `i` at the current w, timed and counted; the corner is in the
    /// scratch.
    pub(crate) fn oracle(&mut self, i: usize) {
        let scratch = self.crew.scratch();
        self.oracle_timer.time(|| scratch.find_corner(self.problem, i, &self.state.w));
        self.totals.oracle_calls += 1;
        scratch.describe_corner(self.problem, i);
    }

    /// Prepares the sequential scratch for block `i` at the current w.
    pub(crate) fn prepare(&mut self, i: usize) {
        self.problem.prepare(i, &self.state.w, &mut self.crew.scratch().workspace);
    }

    /// As [`oracle`](Self::oracle), for a block that has been prepared.
    pub(crate) fn oracle_of_prepared(&mut self, i: usize) {
        let Scratch { workspace, corner, .. } = self.crew.scratch();
        let w = &self.state.w;
        self.oracle_timer.time(|| self.problem.oracle(i, w, workspace, &mut corner.y));
        self.totals.oracle_calls += 1;
        self.crew.scratch().describe_corner(self.problem, i);
    }

    /// The state and the scratch of the sequential thread, side by side.
    pub(crate) fn state_and_scratch(&mut self) -> (&mut DualState<'p, P>, &mut Scratch<P>) {
        (&mut self.state, self.crew.scratch())
    }

    /// Runs `work` on every block in parallel, counted and timed as oracle calls.
    pub(crate) fn all_oracles<T: Send>(
        &mut self,
        results: &mut [T],
        work: impl Fn(&P, &DualState<'p, P>, usize, &mut Scratch<P>, &mut T) + Sync,
    ) {
        let begin = Instant::now();
        let (problem, state) = (self.problem, &self.state);
        self.crew.for_each(results, |i, scratch, result| {
            work(problem, state, i, scratch, result);
        });
        self.oracle_timer.add(begin.elapsed().as_secs_f64());
        self.totals.oracle_calls += results.len() as u64;
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

    /// Seconds so far, and those of them in oracles.
    pub(crate) fn seconds(&self) -> (f64, f64) {
        (self.clock.seconds(), self.oracle_timer.seconds())
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
        if self.interrupt.is_raised() {
            return Some(Status::Interrupted);
        }
        if self.settings.max_oracle_calls.is_some_and(|most| self.totals.oracle_calls >= most) {
            return Some(Status::MaxOracleCalls);
        }
        if self.settings.max_seconds.is_some_and(|most| self.clock.seconds() >= most) {
            return Some(Status::MaxSeconds);
        }
        None
    }

    /// Rebuilds w from its blocks, and takes note of the drift.
    pub(crate) fn rebuild(&mut self) -> Drift {
        let drift = self.state.rebuild(&mut self.crew);
        self.totals.drift = self.totals.drift.max(drift);
        drift
    }

    /// Rebuilds w from its blocks and computes the exact gap of the current iterate.
    pub(crate) fn check(&mut self) -> Result<Check, TrainError> {
        let begin = Instant::now();
        let drift = self.rebuild();
        let certificate = self.certify(None)?;
        self.totals.gap_seconds += begin.elapsed().as_secs_f64();
        Ok(Check { certificate, drift: Some(drift) })
    }

    /// As [`check`](Self::check), of another dual point (an average), which becomes a state.
    pub(crate) fn check_other(
        &mut self,
        point: DualPoint,
    ) -> Result<(Check, DualState<'p, P>), TrainError> {
        let begin = Instant::now();
        let other = DualState::new(self.problem, self.state.lambda, point, &mut self.crew);
        let certificate = self.certify(Some(&other))?;
        self.totals.gap_seconds += begin.elapsed().as_secs_f64();
        Ok((Check { certificate, drift: None }, other))
    }

    /// The certificate of the current iterate, or of another state, by exact oracles.
    fn certify(&mut self, other: Option<&DualState<'p, P>>) -> Result<Certificate, TrainError> {
        let begin = Instant::now();
        let state = other.unwrap_or(&self.state);
        let readings = &mut self.readings;
        exact_pass(self.problem, &mut self.crew, &state.shares, &state.blocks, &state.w, readings);
        self.oracle_timer.add(begin.elapsed().as_secs_f64());
        self.totals.oracle_calls += readings.len() as u64;
        self.totals.oracle_failures += readings.iter().filter(|r| r.failed).count() as u64;
        let quality = self.problem.quality();
        from_readings(quality, &state.shares, state.lambda, state.norm_sq, state.dual, readings)
    }

    /// Tells the observers about a pass; a status if the run ends with it.
    pub(crate) fn end_pass(&mut self, check: Option<&Check>) -> Option<Status> {
        let record = Record {
            pass: self.totals.passes,
            visits: self.totals.visits,
            oracle_calls: self.totals.oracle_calls,
            effective_passes: self.totals.oracle_calls as f64 / self.examples() as f64,
            seconds: self.clock.seconds(),
            oracle_seconds: self.oracle_timer.seconds(),
            gap_seconds: self.totals.gap_seconds,
            dual: check.map_or(self.state.dual, |c| c.certificate.dual),
            primal: check.map(|c| c.certificate.primal),
            gap: check.map(|c| c.certificate.gap),
            steps: std::mem::take(&mut self.steps),
            drift: check.and_then(|c| c.drift),
            cache: self.totals.cache,
        };
        let block_gaps: Option<Vec<f64>> = (check.is_some() && self.settings.block_gaps)
            .then(|| self.readings.iter().map(|r| r.gap).collect());
        let control = self.emit(Event::Pass { record: &record, block_gaps: block_gaps.as_deref() });
        if check.is_some_and(|c| self.is_converged(c)) {
            return Some(Status::Converged);
        }
        (control == Control::Stop).then_some(Status::Stopped)
    }

    pub(crate) fn is_converged(&self, check: &Check) -> bool {
        self.settings.tolerance > 0.0 && check.certificate.gap <= self.settings.tolerance
    }

    /// Ends the run with `result` as its solution, of which `check` is the certificate.
    pub(crate) fn finish(
        mut self,
        status: Status,
        check: Check,
        result: Option<DualState<'p, P>>,
    ) -> Solution {
        let status = if self.is_converged(&check) { Status::Converged } else { status };
        self.totals.seconds = self.clock.seconds();
        self.totals.oracle_seconds = self.oracle_timer.seconds();
        let end = End { status, certificate: check.certificate, totals: self.totals };
        self.emit(Event::End(&end));
        let lambda = self.state.lambda;
        let (weights, dual) = result.unwrap_or(self.state).into_point();
        let (certificate, totals, choice) = (check.certificate, self.totals, self.choice);
        Solution { weights, dual, lambda, certificate, status, totals, choice }
    }

    fn emit(&mut self, event: Event<'_>) -> Control {
        let observers = &mut self.observers;
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
