//! The result of a run, and a handle to end a run from outside.

use crate::certificate::Certificate;
use crate::dual::DualPoint;
use crate::observe::{Choice, Status, Theory, Totals, Validation};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How long the exact pass that proves a result may go on after a run was asked to end.
const GRACE: Duration = Duration::from_secs(1);

/// A handle that ends a run from outside, from a signal handler or another thread.
///
/// The result is proven by an exact pass, which may go on for a while after the run was asked to end: for one
/// second, or for the time that [`with_grace`](Self::with_grace) sets. The same holds for the time limit
/// [`max_seconds`](crate::Settings::max_seconds). An exact pass that takes longer is cut, and the certificate
/// of the result is [unfinished](crate::Quality::Unfinished).
///
/// Clones are handles to the same flag, which stays raised once it is.
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
#[derive(Debug, Clone)]
pub struct Interrupt {
    /// When it was raised, in nanoseconds since `start`; 0 if it was not.
    raised: Arc<AtomicU64>,
    start: Instant,
    grace: Duration,
}

impl Default for Interrupt {
    fn default() -> Self {
        Self::with_grace(GRACE)
    }
}

impl Interrupt {
    /// A handle that has not been raised.
    pub fn new() -> Self {
        Self::default()
    }

    /// A handle that gives the last exact pass this much time to finish. With [`Duration::MAX`], the pass is
    /// never cut.
    ///
    /// ```
    /// # use maxmargin::doc::toy;
    /// use maxmargin::{Interrupt, Quality, Settings, Trainer};
    /// use std::time::Duration;
    ///
    /// let interrupt = Interrupt::with_grace(Duration::ZERO);
    /// interrupt.raise();
    /// let proof = Trainer::new(Settings::default()).interrupt(interrupt).train(&toy())?.certificate;
    /// assert_eq!(proof.quality, Quality::Unfinished); // the true gap may be larger
    /// # Ok::<(), maxmargin::TrainError>(())
    /// ```
    pub fn with_grace(grace: Duration) -> Self {
        Self { raised: Arc::default(), start: Instant::now(), grace }
    }

    /// Asks the run to end after the current visit or batch of visits.
    ///
    /// ```
    /// let interrupt = maxmargin::Interrupt::new();
    /// let handle = interrupt.clone();
    /// std::thread::spawn(move || handle.raise()).join().unwrap();
    /// assert!(interrupt.is_raised());
    /// ```
    pub fn raise(&self) {
        let now = self.start.elapsed().as_nanos();
        let now = u64::try_from(now).unwrap_or(u64::MAX).max(1);
        // The first call counts.
        let _ = self.raised.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Whether it has been raised.
    pub fn is_raised(&self) -> bool {
        self.raised.load(Ordering::Relaxed) > 0
    }

    /// Whether it was raised so long ago that an exact pass is to be cut.
    pub(super) fn is_overdue(&self) -> bool {
        let raised = self.raised.load(Ordering::Relaxed);
        let since = || self.start.elapsed().saturating_sub(Duration::from_nanos(raised));
        raised > 0 && since() >= self.grace
    }

    /// How long an exact pass may go on after a run was asked to end.
    pub(super) fn grace(&self) -> Duration {
        self.grace
    }
}

/// A trained model: the weights, the dual point behind them, and the proof.
///
/// ```
/// # use maxmargin::doc::toy;
/// use maxmargin::{Problem, ProblemExt, Settings, train};
///
/// let problem = toy();
/// let solution = train(&problem, &Settings::default())?;
///
/// // The prediction for example 0 is its true labelling.
/// let (mut workspace, mut labels) = (problem.workspace(), Vec::new());
/// problem.prepare(0, &solution.weights, &mut workspace);
/// problem.decode(0, &solution.weights, &mut workspace, &mut labels);
/// assert_eq!(labels, problem.data().sequence(0).labels());
/// # Ok::<(), maxmargin::TrainError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Solution {
    /// The weights w, one per feature. They are Aα of the dual point, unless the method has [weights of
    /// its own](crate::Settings::weights_from_dual).
    pub weights: Vec<f64>,
    /// The dual point α. It is always feasible, so its value is a bound.
    pub dual: DualPoint,
    /// The regularization strength λ in force.
    pub lambda: f64,
    /// Primal, dual and gap of exactly these weights and this dual point, from an exact pass. Its
    /// [quality](Certificate::quality) says whether that pass was cut.
    pub certificate: Certificate,
    /// Why the run ended.
    pub status: Status,
    /// What it took.
    pub totals: Totals,
    /// What the solver `auto` has chosen, and why.
    pub choice: Option<Choice>,
    /// How well it does on the held-out data, if there are any.
    pub validation: Option<Validation>,
    /// Laws that the problem was found to break when the run
    /// [began](crate::problem::Abilities::is_trusted), in words. With any of these, the certificate may
    /// prove nothing.
    pub warnings: Vec<String>,
    /// The constants of the rate theorems, if they were [asked for](crate::Settings::diagnose).
    pub theory: Option<Theory>,
}

impl Solution {
    /// A solution that was found in another way than by a run, with a certificate of its own.
    ///
    /// ```
    /// # use maxmargin::doc::toy;
    /// use maxmargin::{DualPoint, Problem, Solution, Status, audit};
    ///
    /// let (weights, truth) = (vec![0.0; toy().dim()], DualPoint::at_truth(&toy()));
    /// let certificate = audit(&toy(), 0.1, &weights, &truth, 1e-9, 1)?.certificate;
    /// let solution = Solution::new(weights, truth, certificate, Status::Stopped);
    /// assert_eq!((solution.lambda, solution.totals.passes), (0.1, 0));
    /// # Ok::<(), maxmargin::TrainError>(())
    /// ```
    pub fn new(
        weights: Vec<f64>,
        dual: DualPoint,
        certificate: Certificate,
        status: Status,
    ) -> Self {
        Self {
            weights,
            dual,
            lambda: certificate.lambda,
            certificate,
            status,
            totals: Totals::default(),
            choice: None,
            validation: None,
            warnings: Vec::new(),
            theory: None,
        }
    }
}
