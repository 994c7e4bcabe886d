//! Observers: who sees the events of a run.

use super::Event;

/// Whether a run continues, as the answer of an [`Observer`] to an event.
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
    /// Handles an event, and says whether the run continues. Called on the thread that trains.
    fn event(&mut self, event: Event<'_>) -> Control;
}

impl<F: FnMut(Event<'_>) -> Control> Observer for F {
    fn event(&mut self, event: Event<'_>) -> Control {
        self(event)
    }
}

/// Passes on every n-th row, every row with a gap, and all other events.
///
/// ```
/// # use maxmargin::doc::toy;
/// use maxmargin::observe::{Control, Event, Every};
/// use maxmargin::{Settings, Solver, Trainer};
///
/// let mut rows = Vec::new();
/// let mut watch = Every::new(5, |event: Event<'_>| {
///     if let Event::Pass { record, .. } = event { rows.push(record.pass); }
///     Control::Continue
/// });
/// let method = Solver::BlockCoordinate.into();
/// let settings = Settings { method, tolerance: 0.0, max_passes: 16, gap_every: 8, ..Settings::default() };
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

/// Passes on rows with a gap less and less often: the next one when the number of passes has grown by
/// `factor`. All other events are passed on. So a long run makes a short table.
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
/// let passes = text.lines().filter_map(|line| line.split_whitespace().next()?.parse::<u64>().ok());
/// assert_eq!(passes.skip(1).take(7).collect::<Vec<_>>(), [1, 2, 4, 8, 16, 32, 64]);
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
