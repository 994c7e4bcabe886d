//! What all methods share: the state, the clock, the limits, the events and the certificate.
//!
//! `drive` is the outer loop and `session` puts a run and its `Method` into it. The other files add one
//! concern each to [`Run`]: `oracles` calls and counts, `checks` certifies, `report` tells observers and
//! ends the run, `keep`, `resume` and `checkpoint` save and restore it, `warm_start` checks a point to start
//! from, `early_stopping` keeps the best model, `theory` measures the constants of theorems, `clock` measures
//! time, `deadline` cuts exact passes.

#[cfg_attr(not(feature = "checkpoint"), allow(dead_code))]
pub(crate) mod bytes;
#[cfg_attr(not(feature = "checkpoint"), allow(dead_code, unreachable_pub))]
pub(crate) mod checkpoint;
mod checks;
mod clock;
mod deadline;
pub(crate) mod drive;
pub(crate) mod early_stopping;
pub(crate) mod fits;
mod keep;
mod oracles;
mod report;
#[cfg(feature = "checkpoint")]
mod resume;
pub(crate) mod session;
mod solution;
mod theory;
mod warm_start;

#[cfg(feature = "checkpoint")]
pub(crate) use resume::Resumed;
pub(crate) use session::run_method;
pub use solution::{Interrupt, Solution};

use crate::certificate::{Answer, Certificate, ExactCorner, Readings, check_problem};
use crate::dual::{Block, Drift, DualPoint, DualState, Workers};
use crate::error::TrainError;
use crate::observe::{
    Choice, Control, Event, Observer, Start, Status, StepSizes, Totals, WarmStart,
};
use crate::problem::Blocks;
use crate::settings::CheckedSettings;
use checkpoint::Keeper;
use checks::Bound;
use clock::{CallTimer, Clock};
use deadline::Cut;
use early_stopping::{Judge, Validator};
use theory::Measured;
use warm_start::take_over;

/// A run in progress.
pub(crate) struct Run<'p, 'o> {
    pub(crate) problem: &'p dyn Blocks,
    pub(crate) settings: CheckedSettings,
    pub(crate) state: DualState<'p>,
    pub(crate) totals: Totals,
    workers: Workers<'p>,
    clock: Clock,
    oracle_timer: CallTimer,
    hooks: RunHooks<'o>,
    /// Whether an observer has asked to stop at an event whose answer the loop does not look at immediately.
    stopped: bool,
    pub(crate) choice: Option<Choice>,
    steps: StepSizes,
    judge: Judge,
    /// The best bound so far, if the dual point of the result need not be the last one.
    bound: Option<Bound>,
    warnings: Vec<String>,
    /// Whether the run goes on from a checkpoint, whose points the problem has not seen.
    is_resumed: bool,
    /// The signature of the problem, once a checkpoint has asked for it.
    signature: Option<u64>,
    /// The seconds that the longest exact pass so far has taken.
    check_seconds: Option<f64>,
    /// The last check, if it was cut.
    cut: Option<Cut>,
    /// What the last exact pass has read.
    pub(crate) readings: Readings,
    /// The corners that the last exact pass of the iterate has found, if the settings ask for
    /// [steps](crate::BlockCoordinate::gap_steps) towards them. They are empty if they do not belong to the present w.
    answers: Vec<Answer>,
    /// Whether exact passes of the iterate are to keep the corners of blocks with a gap, and these corners.
    pub(crate) keeps_corners: bool,
    corners: Vec<ExactCorner>,
    /// The block gaps that were known at the start.
    pub(crate) block_gaps: Option<Vec<f64>>,
    pub(crate) trusting: bool,
    /// Whether the run makes no exact passes.
    unproven: bool,
    /// What the method knew when it trusted its block gaps.
    known: Option<Known>,
    /// An estimate of the primal, for the next row.
    pub(crate) estimate: Option<f64>,
    /// What the constants of the theorems are computed from, if the run is to tell them.
    measured: Option<Measured>,
    /// The pairwise gap, for the next row.
    pub(crate) pairwise_gap: Option<f64>,
}

/// How a run begins.
#[derive(Debug, Default)]
pub(crate) struct Beginning {
    /// The dual point to start from, instead of the truth.
    pub(crate) point: Option<DualPoint>,
    /// The gap of every block there, if known, so that not every block has to be visited first.
    pub(crate) block_gaps: Option<Vec<f64>>,
    /// Whether known gaps within the tolerance are trusted: they end the run, and the exact pass after
    /// that does not count as the method's work.
    pub(crate) trusting: bool,
    /// Whether the point comes from a run on the same problem. Then it need not be checked, and the dual
    /// point of the result must be the one that its weights are made of.
    pub(crate) follows_own_run: bool,
    /// Whether the problem is checked first, which takes a few oracle calls.
    pub(crate) is_checked: bool,
    /// Whether the run makes no exact passes, and so ends at the first that is due.
    pub(crate) unproven: bool,
}

/// What is known when a method ends.
#[derive(Debug, Clone)]
pub(crate) struct Known {
    /// The gap of every block: exact, unless the method has trusted the gaps it knew.
    pub(crate) block_gaps: Vec<f64>,
    /// Oracle calls and seconds so far.
    pub(crate) calls: u64,
    pub(crate) seconds: f64,
}

/// The result of a run.
pub(crate) struct Finished {
    pub(crate) solution: Solution,
    pub(crate) known: Known,
}

/// The hooks with which callers watch, stop, validate or checkpoint a run.
#[derive(Default)]
pub(crate) struct RunHooks<'o> {
    pub(crate) observers: Vec<&'o mut dyn Observer>,
    pub(crate) interrupt: Interrupt,
    pub(crate) validator: Option<&'o mut dyn Validator>,
    pub(crate) keeper: Option<Keeper<'o>>,
}

/// An exact reading of the gap, the drift that the rebuild before it has found, and the validation
/// error of the weights.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Check {
    #[cfg_attr(feature = "serde", serde(with = "crate::run::checkpoint::CertificateByPlace"))]
    pub(crate) certificate: Certificate,
    pub(crate) drift: Option<Drift>,
    /// The second objective. It is only watched, so checkpoints leave it out.
    #[cfg_attr(feature = "serde", serde(skip))]
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
        hooks: RunHooks<'o>,
        beginning: Beginning,
    ) -> Result<Self, TrainError> {
        check_problem(problem)?;
        let Beginning { point, block_gaps, trusting, follows_own_run, is_checked, unproven } =
            beginning;
        let broken = if is_checked { problem.check_quickly() } else { Vec::new() };
        let clock = Clock::start_at(0.0);
        let lambda = settings.lambda_for(problem.examples());
        let mut workers = Workers::new(problem, settings.thread_count());
        let (point, warm_start) = match point {
            None => (DualPoint::at_truth(problem), None),
            Some(point) if follows_own_run => (point, None),
            Some(point) => {
                let (point, taken) = take_over(problem, &mut workers, point)?;
                (point, Some(taken))
            }
        };
        let state = DualState::new(problem, lambda, point, &mut workers);
        let keeps_bound = !(follows_own_run || settings.weights_from_dual());
        let mut run = Self::new(problem, settings, hooks, state, workers, clock)?;
        run.bound =
            keeps_bound.then(|| Bound { dual: run.state.dual, blocks: run.state.blocks.clone() });
        (run.block_gaps, run.trusting, run.unproven) = (block_gaps, trusting, unproven);
        run.announce(None, warm_start);
        for law in &broken {
            run.warn(law.to_string());
        }
        Ok(run)
    }

    fn new(
        problem: &'p dyn Blocks,
        settings: CheckedSettings,
        mut hooks: RunHooks<'o>,
        state: DualState<'p>,
        workers: Workers<'p>,
        clock: Clock,
    ) -> Result<Self, TrainError> {
        if settings.patience.is_some() && hooks.validator.is_none() {
            return Err(TrainError::NoValidator);
        }
        if let Some(keeper) = &mut hooks.keeper {
            keeper.begin(clock.seconds())?;
        }
        Ok(Self {
            problem,
            settings,
            state,
            totals: Totals::default(),
            workers,
            clock,
            oracle_timer: CallTimer::default(),
            hooks,
            stopped: false,
            choice: None,
            steps: StepSizes::default(),
            judge: Judge::default(),
            bound: None,
            warnings: Vec::new(),
            is_resumed: false,
            signature: None,
            check_seconds: None,
            cut: None,
            readings: Readings::default(),
            answers: Vec::new(),
            keeps_corners: false,
            corners: Vec::new(),
            block_gaps: None,
            trusting: false,
            unproven: false,
            known: None,
            estimate: None,
            measured: None,
            pairwise_gap: None,
        })
    }

    /// Tells the observers that the run begins; a resumed one after `resumed` passes.
    fn announce(&mut self, resumed: Option<u64>, warm_start: Option<WarmStart>) {
        let start = Start {
            n: self.examples(),
            d: self.problem.dim(),
            lambda: self.state.lambda,
            quality: self.problem.quality(),
            settings: (*self.settings).clone(),
            validates: self.hooks.validator.is_some(),
            resumed,
            warm_start,
        };
        self.stopped = self.emit(Event::Start(&start)) == Control::Stop;
    }

    /// Records something that is wrong with the problem, and tells the observers.
    fn warn(&mut self, message: String) {
        self.stopped |= self.emit(Event::Warning { message: &message }) == Control::Stop;
        self.warnings.push(message);
    }

    pub(crate) fn examples(&self) -> usize {
        self.problem.examples()
    }

    /// Records a step.
    pub(crate) fn note_step(&mut self, gamma: f64, longest: f64) {
        self.steps.add(gamma, longest);
    }

    /// Records what `auto` has chosen, and tells the observers.
    pub(crate) fn announce_choice(&mut self, choice: Choice) {
        self.stopped |= self.emit(Event::Choice(&choice)) == Control::Stop;
        self.choice = Some(choice);
    }

    /// Tells the observers the gap that the method assumes, if they asked for the gaps of blocks.
    pub(crate) fn estimate(&mut self, gap: Option<f64>) {
        if let Some(gap) = gap.filter(|_| self.settings.block_gaps) {
            self.stopped |= self.emit(Event::Estimate { gap }) == Control::Stop;
        }
    }

    /// Seconds so far, and the part of them spent in oracles.
    pub(crate) fn seconds(&self) -> (f64, f64) {
        let all = self.clock.seconds();
        // One call in sixteen may stand for its neighbours, and something may have disturbed just that
        // one.
        (all, self.oracle_timer.seconds().min(all))
    }

    /// Seconds that an oracle call takes if nothing disturbs it.
    pub(crate) fn undisturbed_call(&self) -> f64 {
        self.oracle_timer.undisturbed()
    }

    /// As [`limit`](Self::limit), after work that took a while without an oracle call.
    pub(crate) fn limit_after_work(&mut self) -> Option<Status> {
        self.oracle_timer.make_due();
        self.limit()
    }

    /// Whether a limit is reached that can end a run in the middle of a pass.
    pub(crate) fn limit(&self) -> Option<Status> {
        if self.stopped {
            return Some(Status::Stopped);
        }
        if self.hooks.interrupt.is_raised() {
            return Some(Status::Interrupted);
        }
        if self.settings.max_oracle_calls.is_some_and(|most| self.totals.oracle_calls >= most) {
            return Some(Status::MaxOracleCalls);
        }
        let late = |most: f64| {
            self.oracle_timer.is_due() && self.clock.seconds() + self.reserve(most) >= most
        };
        if self.settings.max_seconds.is_some_and(late) {
            return Some(Status::MaxSeconds);
        }
        None
    }

    /// The seconds out of `most` that are reserved for the last exact pass: as many as it is going to take, but at most
    /// half of `most`. A pass that takes longer than `most` cannot be finished anyway, so nothing is reserved for it.
    fn reserve(&self, most: f64) -> f64 {
        let as_before = self.check_seconds;
        let pass = as_before.unwrap_or_else(|| {
            let calls = self.totals.oracle_calls.max(1) as f64;
            let one = self.oracle_timer.seconds() / calls;
            one * self.problem.examples() as f64 / self.workers.count() as f64
        });
        if pass > most { 0.0 } else { pass.min(0.5 * most) }
    }

    /// Records what the method knows when it trusts its block gaps. What comes after does not count as
    /// its work.
    pub(crate) fn trust(&mut self, gaps: &[f64]) {
        let (calls, seconds) = (self.totals.oracle_calls, self.clock.seconds());
        self.known = Some(Known { block_gaps: gaps.to_vec(), calls, seconds });
    }

    /// The state and the counts as they are now.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let DualState { blocks, dual, norm_sq, .. } = &self.state;
        let (blocks, sum) = (blocks.clone(), self.state.sum().to_vec());
        let (dual, norm_sq) = (*dual, *norm_sq);
        Snapshot { blocks, sum, dual, norm_sq, totals: self.totals, steps: self.steps }
    }

    /// Goes back to a snapshot, bit by bit.
    pub(crate) fn roll_back(&mut self, snapshot: Snapshot) {
        let Snapshot { blocks, sum, dual, norm_sq, totals, steps } = snapshot;
        self.state.blocks = blocks;
        self.state.restore(sum, dual, norm_sq);
        (self.totals, self.steps) = (totals, steps);
    }
}

/// What a part of a run changes and a roll-back restores.
pub(crate) struct Snapshot {
    blocks: Vec<Block>,
    sum: Vec<f64>,
    dual: f64,
    norm_sq: f64,
    totals: Totals,
    steps: StepSizes,
}
