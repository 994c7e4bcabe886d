//! Starting a run, and what comes out of it.

use crate::dual::DualPoint;
use crate::error::TrainError;
use crate::observe::Observer;
use crate::problem::Blocks;
#[cfg(feature = "checkpoint")]
use crate::run::Resumed;
#[cfg(feature = "checkpoint")]
use crate::run::checkpoint::{Checkpoint, CheckpointEvery, Keeper};
use crate::run::drive::Stage;
use crate::run::early_stopping::Validator;
use crate::run::{Beginning, Finished, Interrupt, Run, RunHooks, Solution, run_method};
use crate::settings::Settings;
use crate::solver;
#[cfg(feature = "checkpoint")]
use std::io;

/// A run about to be started.
///
/// ```
/// # use maxmargin::doc::toy;
/// use maxmargin::observe::Table;
/// use maxmargin::{Settings, Trainer};
///
/// let mut table = Table::new(std::io::stderr());
/// let solution = Trainer::new(Settings { lambda: Some(0.1), ..Settings::default() })
///     .observe(&mut table)
///     .train(&toy())?;
/// println!("within {} of the optimum", solution.certificate.gap);
/// # Ok::<(), maxmargin::TrainError>(())
/// ```
#[derive(Default)]
pub struct Trainer<'a> {
    settings: Settings,
    hooks: RunHooks<'a>,
    start: Option<DualPoint>,
    follows_own_run: bool,
    #[cfg(feature = "checkpoint")]
    checkpoint: Option<Checkpoint<'static>>,
}

impl<'a> Trainer<'a> {
    /// A run with these settings, which [`train`](Self::train) checks.
    pub fn new(settings: Settings) -> Self {
        Self { settings, ..Self::default() }
    }

    /// Adds an observer. All observers see every event, in the order they were added; the run stops
    /// if one of them asks for it.
    ///
    /// ```
    /// # use maxmargin::doc::toy;
    /// use maxmargin::observe::{JsonLines, Table};
    /// use maxmargin::{Settings, Trainer};
    ///
    /// let (mut table, mut trace) = (Table::new(Vec::new()), JsonLines::new(Vec::new()));
    /// Trainer::new(Settings::default()).observe(&mut table).observe(&mut trace).train(&toy())?;
    /// assert!(!table.finish()?.is_empty() && !trace.finish()?.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn observe(mut self, observer: &'a mut dyn Observer) -> Self {
        self.hooks.observers.push(observer);
        self
    }

    /// Uses `interrupt` to end the run from outside: keep a clone of it. See [`Interrupt`].
    #[must_use]
    pub fn interrupt(mut self, interrupt: Interrupt) -> Self {
        self.hooks.interrupt = interrupt;
        self
    }

    /// Measures the error of the weights on data held out at every exact gap pass. The figures are in
    /// the [events](crate::observe::Record::validation); with [`Settings::patience`] they end the run,
    /// and the result is the best model with its own certificate. See [`Validator`].
    #[must_use]
    pub fn validate(mut self, validator: &'a mut dyn Validator) -> Self {
        self.hooks.validator = Some(validator);
        self
    }

    /// Hands a [`Checkpoint`] to `sink` at the end of passes, as often as `every` says, and when the run
    /// ends without an error. That does not change the run, and its time does not count.
    ///
    /// An error of the sink ends the run. A sink that prefers to go on without checkpoints keeps its
    /// errors to itself.
    ///
    /// ```
    /// # use maxmargin::doc::toy;
    /// use maxmargin::{Checkpoint, CheckpointEvery, Settings, Trainer};
    ///
    /// let mut full = |_: &Checkpoint<'_>| Err(std::io::Error::other("the disk is full"));
    /// let trainer = Trainer::new(Settings::default());
    /// let error = trainer.checkpoint(CheckpointEvery::Seconds(0.0), &mut full).train(&toy());
    /// let told = error.unwrap_err().to_string();
    /// assert_eq!(told, "the checkpoint could not be kept: the disk is full");
    /// ```
    #[cfg(feature = "checkpoint")]
    #[must_use]
    pub fn checkpoint(
        mut self,
        every: CheckpointEvery,
        sink: &'a mut dyn FnMut(&Checkpoint<'_>) -> io::Result<()>,
    ) -> Self {
        self.hooks.keeper = Some(Keeper::new(every, sink));
        self
    }

    /// Goes on from a [`Checkpoint`] of the same problem with the same settings, to the very bits of
    /// a run that was never stopped. Where that [started](Self::start_from) no longer matters.
    ///
    /// Limits may change: the tolerance, the most passes, oracle calls and seconds, the checks of
    /// patience. So a run that has reached a limit can be taken further. The number of threads may change
    /// too.
    ///
    /// ```
    /// # use maxmargin::doc::toy;
    /// use maxmargin::{Checkpoint, CheckpointEvery, Settings, Trainer, train};
    ///
    /// let short = Settings { tolerance: 0.0, max_passes: 5, ..Settings::default() };
    /// let long = Settings { max_passes: 20, ..short.clone() };
    /// let mut last = Vec::new();
    /// let mut keep = |checkpoint: &Checkpoint<'_>| { last = checkpoint.to_bytes(""); Ok(()) };
    /// Trainer::new(short).checkpoint(CheckpointEvery::Passes(100), &mut keep).train(&toy())?;
    ///
    /// let further = Trainer::new(long.clone()).resume(Checkpoint::from_bytes(&last)?).train(&toy())?;
    /// assert_eq!(further.weights, train(&toy(), &long)?.weights);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "checkpoint")]
    #[must_use]
    pub fn resume(mut self, checkpoint: Checkpoint<'static>) -> Self {
        self.checkpoint = Some(checkpoint);
        self
    }

    /// Starts from a dual point instead of the truth: that of an earlier solution, at the same λ or,
    /// [rescaled](DualPoint::rescaled), at a smaller one. At a larger λ the point can be taken as it
    /// is, and its weights shrink.
    ///
    /// Every block is checked, since the dual value of a point bounds the optimum of its own problem
    /// only. A block that is not a point of the problem, for instance because it comes from a relaxation
    /// or from another rescaling, starts at the truth; [`WarmStart`](crate::observe::WarmStart) tells
    /// how many do. A start is refused if that is all that is left of it, or if a block has parts or a
    /// loss that no point of the problem has.
    ///
    /// ```
    /// # use maxmargin::doc::toy;
    /// use maxmargin::{Settings, Trainer, train};
    ///
    /// let problem = toy();
    /// let settings = Settings { tolerance: 0.001, ..Settings::default() };
    /// let first = train(&problem, &settings)?;
    /// let again = Trainer::new(settings).start_from(first.dual).train(&problem)?;
    /// assert!(again.totals.oracle_calls <= first.totals.oracle_calls);
    /// # Ok::<(), maxmargin::TrainError>(())
    /// ```
    #[must_use]
    pub fn start_from(mut self, point: DualPoint) -> Self {
        self.start = Some(point);
        self
    }

    /// As [`start_from`](Self::start_from), for the result of a run on the same problem, which needs no
    /// check.
    pub(crate) fn follow(mut self, point: DualPoint) -> Self {
        (self.start, self.follows_own_run) = (Some(point), true);
        self
    }

    /// Trains, from w = 0 unless it [starts](Self::start_from) or [resumes](Self::resume) elsewhere,
    /// until the gap is within the tolerance or a limit is reached.
    ///
    /// A problem of your own is [checked](crate::problem::Abilities::is_trusted) on a few examples first,
    /// unless the run starts or resumes elsewhere. What is wrong with it is in the
    /// [events](crate::observe::Event::Warning) and in [`Solution::warnings`].
    ///
    /// The same problem, settings and seed give the same bits, on any number of threads, unless
    /// time, an observer or an interrupt ends the run.
    ///
    /// ```
    /// # use maxmargin::doc::toy;
    /// use maxmargin::{Settings, Status, Trainer};
    ///
    /// let solution = Trainer::new(Settings::default()).train(&toy())?;
    /// assert_eq!(solution.status, Status::Converged);
    /// # Ok::<(), maxmargin::TrainError>(())
    /// ```
    ///
    /// # Errors
    /// Settings or a problem that make no sense, or numbers that are not finite. Running out of
    /// passes, calls or time is not an error.
    pub fn train(mut self, problem: &dyn Blocks) -> Result<Solution, TrainError> {
        let (point, follows_own_run) = (self.start.take(), self.follows_own_run);
        let is_checked = point.is_none() && problem.is_checked_at_start();
        let beginning = Beginning { point, follows_own_run, is_checked, ..Beginning::default() };
        Ok(self.run(problem, beginning)?.solution)
    }

    /// As [`train`](Self::train), but without any exact pass: nobody is going to ask how good the weights
    /// provably are. The certificate is [unfinished](crate::Quality::Unfinished).
    pub(crate) fn train_unproven(mut self, problem: &dyn Blocks) -> Result<Solution, TrainError> {
        let (point, follows_own_run) = (self.start.take(), self.follows_own_run);
        let beginning =
            Beginning { point, follows_own_run, unproven: true, ..Beginning::default() };
        Ok(self.run(problem, beginning)?.solution)
    }

    /// Trains from a given beginning.
    pub(crate) fn run(
        self,
        problem: &dyn Blocks,
        beginning: Beginning,
    ) -> Result<Finished, TrainError> {
        let settings = self.settings.checked()?.resolved(problem.simplices().is_some());
        let kind = settings.solver;
        solver::check_suited(problem, kind)?;
        if settings.asks_for_less() && !problem.has_accuracy() {
            let why = "cannot ask the oracles of this problem for less than the maximum: they have no accuracy";
            return Err(TrainError::Unsuited { solver: kind, why });
        }
        if beginning.point.is_some() && !kind.starts_anywhere() {
            let why = "cannot start from a dual point; fw, bcfw and cutting planes can";
            return Err(TrainError::Unsuited { solver: kind, why });
        }
        #[cfg(feature = "checkpoint")]
        if let Some(checkpoint) = self.checkpoint {
            let Resumed { mut run, stage, method } =
                Run::resume(problem, settings, self.hooks, checkpoint)?;
            let method = solver::method(&mut run, Some(&method))?;
            return run_method(run, method, stage);
        }
        let mut run = Run::start(problem, settings, self.hooks, beginning)?;
        let method = solver::method(&mut run, None)?;
        run_method(run, method, Stage::START)
    }
}

/// Trains without observers: the short form of [`Trainer`].
///
/// ```
/// # use maxmargin::doc::toy;
/// use maxmargin::{Settings, train};
///
/// let solution = train(&toy(), &Settings { lambda: Some(0.1), ..Settings::default() })?;
/// assert!(solution.certificate.gap <= 0.01); // the default tolerance
/// # Ok::<(), maxmargin::TrainError>(())
/// ```
///
/// # Errors
/// As [`Trainer::train`].
pub fn train(problem: &dyn Blocks, settings: &Settings) -> Result<Solution, TrainError> {
    Trainer::new(settings.clone()).train(problem)
}
