//! Numbers: the state after a pass, and the totals of a run.

use super::CacheStats;
use crate::dual::Drift;

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
    /// What the best gap so far is bounded by in expectation, if the run [diagnoses](crate::Settings::diagnose) itself,
    /// the gap is known, and a theorem applies to the method: batch Frank-Wolfe, or block steps in uniform order.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub bound: Option<f64>,
    /// The pairwise gap Σᵢ cᵢ/C·(max Hᵢ − min Hᵢ over the corners with mass), if the run
    /// [diagnoses](crate::Settings::diagnose) itself, the gap is known, and blocks remember corners. Pairwise steps
    /// gain by it; it is no less than the gap.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub pairwise_gap: Option<f64>,
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
/// use maxmargin::{Settings, Solver, Trainer};
///
/// let mut watch = |event: Event<'_>| {
///     if let Event::Pass { record, .. } = event {
///         let steps = record.steps;
///         assert!(steps.count <= 4); // at most one for each of the four blocks
///         assert!((0.0..=1.0).contains(&steps.mean) && steps.zero + steps.full <= steps.count);
///     }
///     Control::Continue
/// };
/// let settings = Settings { method: Solver::BlockCoordinate.into(), ..Settings::default() };
/// Trainer::new(settings).observe(&mut watch).train(&toy())?;
/// # Ok::<(), maxmargin::TrainError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct StepSizes {
    /// The number of steps.
    pub count: u64,
    /// Their mean, or 0 if there were none.
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

/// The totals of a run. Seconds differ from run to run; the other numbers do not, unless time ends the
/// run.
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
    /// The sum of the totals of this run and the `next` one. Drift and cache statistics are those of the
    /// `next` run.
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
