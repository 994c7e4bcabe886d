//! Starting a run, and what comes out of it.

use crate::certificate::Certificate;
use crate::driver;
use crate::dual::DualPoint;
use crate::error::TrainError;
use crate::method;
use crate::observe::{Observer, Totals};
use crate::problem::Problem;
use crate::run::Run;
use crate::settings::{Settings, Solver};
use crate::status::Status;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A handle that ends a run from outside, from a signal handler or another thread.
///
/// ```
/// # use maxmargin::doc::toy;
/// use maxmargin::{Interrupt, Settings, Status, Trainer};
///
/// let interrupt = Interrupt::new();
/// interrupt.raise(); // usually from elsewhere
/// let solution = Trainer::new(Settings::default()).interrupt(interrupt).train(&toy())?;
/// assert_eq!(solution.status, Status::Interrupted);
/// assert!(solution.certificate.gap > 0.0); // still the true gap
/// # Ok::<(), maxmargin::TrainError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// A handle that has not been raised.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks the run to end after the current block.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it has been raised.
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A trained model: the weights, the dual point behind them, and the proof.
#[derive(Debug, Clone, PartialEq)]
pub struct Solution {
    /// The weights w, which are Aα of the dual point.
    pub weights: Vec<f64>,
    /// The dual point α.
    pub dual: DualPoint,
    /// The regularization strength λ in force.
    pub lambda: f64,
    /// Primal, dual and gap of exactly these weights and this dual point, from an exact pass.
    pub certificate: Certificate,
    /// Why the run ended.
    pub status: Status,
    /// What it took.
    pub totals: Totals,
}

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
    observers: Vec<&'a mut dyn Observer>,
    interrupt: Interrupt,
}

impl<'a> Trainer<'a> {
    /// A run with these settings.
    pub fn new(settings: Settings) -> Self {
        Self { settings, ..Self::default() }
    }

    /// Adds an observer. All observers see every event, in the order they were added.
    #[must_use]
    pub fn observe(mut self, observer: &'a mut dyn Observer) -> Self {
        self.observers.push(observer);
        self
    }

    /// Uses `interrupt` to end the run from outside.
    #[must_use]
    pub fn interrupt(mut self, interrupt: Interrupt) -> Self {
        self.interrupt = interrupt;
        self
    }

    /// Trains.
    ///
    /// # Errors
    /// Settings or a problem that make no sense, or numbers that are not finite. Running out of
    /// passes, calls or time is not an error.
    pub fn train<P: Problem>(self, problem: &P) -> Result<Solution, TrainError> {
        let settings = self.settings.check()?;
        let solver = settings.solver;
        let run = Run::start(problem, settings, self.observers, self.interrupt)?;
        match solver {
            Solver::BlockCoordinate => driver::run(run),
            Solver::FrankWolfe => method::batch::run(run),
        }
    }
}

/// Trains without observers: the short form of [`Trainer`].
///
/// # Errors
/// As [`Trainer::train`].
pub fn train<P: Problem>(problem: &P, settings: &Settings) -> Result<Solution, TrainError> {
    Trainer::new(settings.clone()).train(problem)
}
