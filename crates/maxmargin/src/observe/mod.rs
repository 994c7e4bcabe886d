//! One typed stream of events, from which tables, logs, progress bars and reports are made.

mod cache_stats;
#[cfg(feature = "serde")]
mod jsonl;
mod status;
mod table;
mod validation;

pub use cache_stats::CacheStats;
#[cfg(feature = "serde")]
pub use jsonl::JsonLines;
pub use status::Status;
pub use table::Table;
pub use validation::Validation;

use crate::certificate::Certificate;
use crate::dual::Drift;
use crate::problem::Quality;
use crate::settings::{Caching, Direction, Order, SettingsRecord};

/// What happens in a run.
///
/// A run sends one `Start`, then a `Pass` after each pass, then one `End`; with the solver `auto`, a
/// `Choice` comes before the first `Pass`. Each `Warning` follows the `Start`. The last `Pass` carries
/// the gap of the last weights, which are the result unless validation has found better ones before. A
/// run that ends while its gap is unknown sends one more row with the gap. A run that fails sends no
/// `End`. A resumed run sends a `Start` and its `Choice` again, and then continues where its checkpoint
/// was.
///
/// ```
/// # use maxmargin::doc::toy;
/// use maxmargin::observe::{Control, Event};
/// use maxmargin::{Settings, Trainer};
///
/// let mut log = Vec::new();
/// let mut watch = |event: Event<'_>| {
///     log.push(match event {
///         Event::Start(start) => format!("{} examples", start.n),
///         Event::Pass { record, .. } => format!("pass {}", record.pass),
///         Event::Choice(choice) => format!("order {}", choice.order),
///         Event::End(end) => end.status.to_string(),
///         _ => "something new".to_owned(),
///     });
///     Control::Continue
/// };
/// let settings = Settings { max_passes: 2, tolerance: 0.0, ..Settings::default() };
/// Trainer::new(settings).observe(&mut watch).train(&toy())?;
/// assert_eq!(log, ["4 examples", "order gap", "pass 1", "pass 2", "max-passes"]);
/// # Ok::<(), maxmargin::TrainError>(())
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The run begins.
    Start(&'a Start),
    /// A pass is done.
    Pass {
        /// The state after it, with the duality gap when that was due.
        record: &'a Record,
        /// With the gap, the gap of every block, if the settings ask for it.
        block_gaps: Option<&'a [f64]>,
    },
    /// An exact pass is due, and the settings ask for the gaps of blocks: this is the gap that an order
    /// which follows block gaps assumes until then.
    Estimate {
        /// The sum of the last known gaps of all blocks.
        gap: f64,
    },
    /// The solver `auto` has decided, after the first pass.
    Choice(&'a Choice),
    /// The problem breaks one of the [laws](crate::problem::Law) that certificates rest on. A
    /// [look](crate::problem::Abilities::is_trusted) at a few examples has found that.
    Warning {
        /// Which law is broken and how, in words.
        message: &'a str,
    },
    /// The run is over.
    End(&'a End),
}

/// What is known when a run begins.
///
/// ```
/// # use maxmargin::doc::toy;
/// use maxmargin::observe::{Control, Event};
/// use maxmargin::{Settings, Trainer};
///
/// let mut lambda = 0.0;
/// let mut watch = |event: Event<'_>| {
///     if let Event::Start(start) = event { lambda = start.lambda; }
///     Control::Continue
/// };
/// Trainer::new(Settings::default()).observe(&mut watch).train(&toy())?;
/// assert_eq!(lambda, 0.25); // 1/n, as none was set
/// # Ok::<(), maxmargin::TrainError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Start {
    /// Number of examples.
    pub n: usize,
    /// Number of features.
    pub d: usize,
    /// The regularization strength λ in force.
    pub lambda: f64,
    /// What the oracle promises, and so what kind of bound the gaps of this run are. It is written to
    /// files only if it is not exact.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Quality::is_exact"))]
    pub quality: Quality,
    /// All settings by name, with what `auto` starts with filled in.
    pub settings: SettingsRecord,
    /// Whether a validation error comes with every gap.
    #[cfg_attr(feature = "serde", serde(default))]
    pub validates: bool,
    /// The passes that were done before, if a checkpoint is resumed.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub resumed: Option<u64>,
    /// How much of the dual point to start from was taken over.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub warm_start: Option<WarmStart>,
}

/// How much of the dual point to [start from](crate::Trainer::start_from) was taken over.
///
/// A block is taken over if it is a point of the problem that is trained. Other blocks, for instance
/// those of a relaxation of the problem, start at the truth.
///
/// ```
/// # use maxmargin::doc::toy;
/// use maxmargin::observe::{Control, Event};
/// use maxmargin::{Settings, Trainer, train};
///
/// let first = train(&toy(), &Settings::default())?;
/// let mut taken = None;
/// let mut watch = |event: Event<'_>| {
///     if let Event::Start(start) = event { taken = start.warm_start.clone(); }
///     Control::Continue
/// };
/// Trainer::new(Settings::default()).start_from(first.dual).observe(&mut watch).train(&toy())?;
/// assert_eq!(taken.unwrap().refused, 0);
/// # Ok::<(), maxmargin::TrainError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct WarmStart {
    /// Blocks that were taken over, not counting those that are at the truth anyway.
    pub taken: u64,
    /// Blocks that start at the truth because they are not points of the problem.
    pub refused: u64,
    /// Why the first of these was refused.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub reason: Option<String>,
}

/// One row of the trace: the state after a pass.
///
/// `primal` and `gap` are known only where an exact gap pass was due. They belong to the weights that
/// would be returned at this point: with averaging, the average. `dual` is the largest lower bound that
/// is proven by a point which the run still has. It never falls.
///
/// ```
/// # use maxmargin::doc::toy;
/// use maxmargin::observe::{Control, Event};
/// use maxmargin::{Settings, Trainer};
///
/// let mut known = Vec::new();
/// let mut watch = |event: Event<'_>| {
///     if let Event::Pass { record, .. } = event { known.push(record.gap.is_some()); }
///     Control::Continue
/// };
/// let settings = Settings { tolerance: 0.0, max_passes: 4, gap_every: 2, ..Settings::default() };
/// Trainer::new(settings).observe(&mut watch).train(&toy())?;
/// assert_eq!(known, [false, true, false, true]);
/// # Ok::<(), maxmargin::TrainError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Record {
    /// Passes done: n block visits each, or fewer if a pass ended early.
    pub pass: u64,
    /// Block visits done.
    pub visits: u64,
    /// Oracle calls done, those of gap passes included.
    pub oracle_calls: u64,
    /// Oracle calls divided by n.
    pub effective_passes: f64,
    /// Seconds since the start, observers excluded.
    pub seconds: f64,
    /// Seconds of these spent in oracles.
    pub oracle_seconds: f64,
    /// Seconds of these spent in exact gap passes, their oracles included.
    pub gap_seconds: f64,
    /// The best bound so far: the largest dual objective of a point that the run has kept. It never
    /// falls.
    pub dual: f64,
    /// The dual objective of the current iterate, if `dual` may belong to another point.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub iterate_dual: Option<f64>,
    /// The dual objective of the average of all iterates, if the run averages and the gap is known.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub average_dual: Option<f64>,
    /// The primal objective, if it is known.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub primal: Option<f64>,
    /// The duality gap, if it is known.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub gap: Option<f64>,
    /// The [other objective](crate::problem::SecondObjective) of the problem, if it has one and the gap
    /// is known.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub second: Option<f64>,
    /// An estimate of the primal objective if that is not known, from the oracle calls of the pass alone:
    /// each call reveals the hinge of its example at the weights of that moment. Only methods that visit
    /// every example once in a pass make it. Minus the dual it estimates the gap, but does not bound it.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub estimate: Option<f64>,
    /// The validation error, if there is a [validator](crate::Validator) and the gap is known.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub validation: Option<f64>,
    /// The step sizes since the last row.
    pub steps: StepSizes,
    /// How far w had drifted from the sum of its blocks, if it was rebuilt.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub drift: Option<Drift>,
    /// How remembered corners have done, where blocks remember them.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub cache: Option<CacheStats>,
}

/// A summary of the step sizes of some visits, or of some steps of a batch method.
///
/// ```
/// # use maxmargin::doc::toy;
/// use maxmargin::observe::{Control, Event};
/// use maxmargin::{Settings, Trainer};
///
/// let mut watch = |event: Event<'_>| {
///     if let Event::Pass { record, .. } = event {
///         let steps = record.steps;
///         assert!(steps.count <= 4); // at most one for each of the four blocks
///         assert!((0.0..=1.0).contains(&steps.mean) && steps.zero + steps.full <= steps.count);
///     }
///     Control::Continue
/// };
/// Trainer::new(Settings::default()).observe(&mut watch).train(&toy())?;
/// # Ok::<(), maxmargin::TrainError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct StepSizes {
    /// How many there were.
    pub count: u64,
    /// Their mean, or 0 without steps.
    pub mean: f64,
    /// How many were 0, because there was nothing to gain.
    pub zero: u64,
    /// How many went as far as the direction allows.
    pub full: u64,
}

impl StepSizes {
    /// Adds a step of size `gamma`, of which `longest` was possible.
    pub(crate) fn add(&mut self, gamma: f64, longest: f64) {
        self.count += 1;
        self.mean += (gamma - self.mean) / self.count as f64;
        self.zero += u64::from(gamma == 0.0);
        self.full += u64::from(gamma > 0.0 && gamma == longest);
    }
}

/// What the solver `auto` has chosen, and why.
///
/// ```
/// # use maxmargin::doc::toy;
/// use maxmargin::{Direction, Settings, train};
///
/// let choice = train(&toy(), &Settings::default())?.choice.unwrap();
/// assert_eq!(choice.direction, Direction::Staged);
/// println!("{}", choice.reason);
/// # Ok::<(), maxmargin::TrainError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Choice {
    /// The order of blocks.
    pub order: Order,
    /// The direction of steps.
    pub direction: Direction,
    /// Whether corners are kept and used again.
    pub cache: Caching,
    /// Why, in words.
    pub reason: String,
}

/// What is known when a run is over: the [`Solution`](crate::Solution) without its vectors.
///
/// ```
/// # use maxmargin::doc::toy;
/// use maxmargin::observe::{Control, Event};
/// use maxmargin::{Settings, Trainer};
///
/// let mut last = None;
/// let mut watch = |event: Event<'_>| {
///     if let Event::End(end) = event { last = Some(end.clone()); }
///     Control::Continue
/// };
/// let solution = Trainer::new(Settings::default()).observe(&mut watch).train(&toy())?;
/// let end = last.unwrap();
/// assert_eq!((end.status, end.certificate), (solution.status, solution.certificate));
/// # Ok::<(), maxmargin::TrainError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct End {
    /// Why it ended.
    pub status: Status,
    /// The certificate of the result.
    pub certificate: Certificate,
    /// What it took.
    pub totals: Totals,
    /// How the result has done on the data held out, if there were any.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub validation: Option<Validation>,
}

/// What a run took. Seconds differ from run to run; the rest does not, unless time ends the run.
///
/// ```
/// # use maxmargin::doc::toy;
/// use maxmargin::{Settings, Solver, train};
///
/// let (solver, tolerance) = (Solver::BlockCoordinate, 0.0);
/// let method = solver.into();
/// let settings = Settings { method, tolerance, max_passes: 20, ..Settings::default() };
/// let totals = train(&toy(), &settings)?.totals;
/// assert_eq!((totals.passes, totals.visits), (20, 80));
/// assert_eq!(totals.oracle_calls, 88); // two gap passes over four examples
/// # Ok::<(), maxmargin::TrainError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Totals {
    /// Passes begun: n block visits each, or fewer if a pass ended early.
    pub passes: u64,
    /// Block visits.
    pub visits: u64,
    /// Oracle calls, those of gap passes included.
    pub oracle_calls: u64,
    /// Seconds, observers excluded.
    pub seconds: f64,
    /// Seconds of these spent in oracles.
    pub oracle_seconds: f64,
    /// Seconds of these spent in exact gap passes, their oracles included.
    pub gap_seconds: f64,
    /// Corners that scored below the truth or the block's own point, which an exact oracle never
    /// returns.
    pub oracle_failures: u64,
    /// The largest drift that was found.
    pub drift: Drift,
    /// How remembered corners have done, where blocks remember them.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub cache: Option<CacheStats>,
}

impl Totals {
    /// What this run and the `next` one took together. Drift and cache statistics are those of the `next`
    /// one.
    ///
    /// ```
    /// use maxmargin::observe::Totals;
    ///
    /// let (mut a, mut b) = (Totals::default(), Totals::default());
    /// (a.passes, b.passes) = (2, 3);
    /// assert_eq!(a.and(&b).passes, 5);
    /// ```
    #[must_use]
    pub fn and(&self, next: &Self) -> Self {
        Self {
            passes: self.passes + next.passes,
            visits: self.visits + next.visits,
            oracle_calls: self.oracle_calls + next.oracle_calls,
            seconds: self.seconds + next.seconds,
            oracle_seconds: self.oracle_seconds + next.oracle_seconds,
            gap_seconds: self.gap_seconds + next.gap_seconds,
            oracle_failures: self.oracle_failures + next.oracle_failures,
            ..*next
        }
    }
}

/// Whether a run goes on: what an [`Observer`] answers to an event.
///
/// ```
/// use maxmargin::observe::{Control, Event};
///
/// /// Stops as soon as the primal objective is below 0.5.
/// fn good_enough(event: Event<'_>) -> Control {
///     match event {
///         Event::Pass { record, .. } if record.primal.is_some_and(|p| p < 0.5) => Control::Stop,
///         _ => Control::Continue,
///     }
/// }
/// # let mut watch = good_enough;
/// # let settings = maxmargin::Settings { tolerance: 0.0, max_passes: 9, ..Default::default() };
/// # maxmargin::Trainer::new(settings).observe(&mut watch).train(&maxmargin::doc::toy())?;
/// # Ok::<(), maxmargin::TrainError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// Go on.
    Continue,
    /// Stop now, and return the current model with its true gap. Without effect once the run is
    /// over.
    Stop,
}

/// Something that watches a run. Any closure `FnMut(Event<'_>) -> Control` is one.
///
/// The time an observer takes does not count as training time.
///
/// ```
/// # use maxmargin::doc::toy;
/// use maxmargin::observe::{Control, Event};
/// use maxmargin::{Settings, Status, Trainer};
///
/// let mut passes = 0;
/// let mut watch = |event: Event<'_>| {
///     if let Event::Pass { .. } = event { passes += 1; }
///     if passes < 3 { Control::Continue } else { Control::Stop }
/// };
/// let settings = Settings { tolerance: 0.0, ..Settings::default() };
/// let solution = Trainer::new(settings).observe(&mut watch).train(&toy())?;
/// assert_eq!(solution.status, Status::Stopped);
/// # Ok::<(), maxmargin::TrainError>(())
/// ```
pub trait Observer {
    /// Takes note of an event, and says whether the run goes on. Called on the thread that trains.
    fn event(&mut self, event: Event<'_>) -> Control;
}

impl<F: FnMut(Event<'_>) -> Control> Observer for F {
    fn event(&mut self, event: Event<'_>) -> Control {
        self(event)
    }
}

/// Passes only every n-th row on, and every row with a gap; starts and ends always.
///
/// ```
/// # use maxmargin::doc::toy;
/// use maxmargin::observe::{Control, Event, Every};
/// use maxmargin::{Settings, Trainer};
///
/// let mut rows = Vec::new();
/// let mut watch = Every::new(5, |event: Event<'_>| {
///     if let Event::Pass { record, .. } = event { rows.push(record.pass); }
///     Control::Continue
/// });
/// let settings = Settings { tolerance: 0.0, max_passes: 16, gap_every: 8, ..Settings::default() };
/// Trainer::new(settings).observe(&mut watch).train(&toy())?;
/// assert_eq!(rows, [5, 8, 10, 15, 16]);
/// # Ok::<(), maxmargin::TrainError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Every<O> {
    n: u64,
    observer: O,
}

impl<O: Observer> Every<O> {
    /// Thins out what `observer` sees. `n` = 0 passes on only the rows with a gap.
    pub fn new(n: u64, observer: O) -> Self {
        Self { n, observer }
    }

    /// The observer inside.
    pub fn into_inner(self) -> O {
        self.observer
    }
}

impl<O: Observer> Observer for Every<O> {
    fn event(&mut self, event: Event<'_>) -> Control {
        match event {
            Event::Pass { record: row, .. }
                if row.gap.is_none() && (self.n == 0 || row.pass % self.n != 0) =>
            {
                Control::Continue
            }
            _ => self.observer.event(event),
        }
    }
}

/// Passes on rows with a gap, ever more rarely: the next one when the number of passes has grown by
/// `factor`. Starts and ends are always passed on. So a long run makes a short table.
///
/// ```
/// # use maxmargin::doc::toy;
/// use maxmargin::observe::{Table, Thinned};
/// use maxmargin::{Settings, Trainer};
///
/// let mut table = Thinned::new(2.0, Table::new(Vec::new()));
/// let settings = Settings { tolerance: 0.0, max_passes: 100, gap_every: 1, ..Settings::default() };
/// Trainer::new(settings).observe(&mut table).train(&toy())?;
/// let text = String::from_utf8(table.into_inner().finish()?)?;
/// assert_eq!(text.lines().count(), 4 + 1 + 7 + 2); // passes 1, 2, 4, 8, 16, 32, 64
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Thinned<O> {
    factor: f64,
    last: u64,
    observer: O,
}

impl<O: Observer> Thinned<O> {
    /// Thins out what `observer` sees. With a `factor` of 1 or less it sees every row with a gap.
    pub fn new(factor: f64, observer: O) -> Self {
        Self { factor, last: 0, observer }
    }

    /// The observer inside.
    pub fn into_inner(self) -> O {
        self.observer
    }
}

impl<O: Observer> Observer for Thinned<O> {
    fn event(&mut self, event: Event<'_>) -> Control {
        if let Event::Pass { record, .. } = event {
            let due = record.pass as f64 >= self.factor * self.last as f64;
            if record.gap.is_none() || !due {
                return Control::Continue;
            }
            self.last = record.pass;
        }
        self.observer.event(event)
    }
}
