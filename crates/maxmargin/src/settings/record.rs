//! Settings as files, the command line and Python write them: one name and one value each.
//!
//! A record can hold any combination. [`SettingsRecord::settings`] turns it into [`Settings`], which hold
//! only combinations with a meaning, or names the two choices that exclude each other.

use super::method::DEFAULT_RATE;
use super::{
    Average, BlockStep, Caching, Direction, Method, OracleAccuracy, Order, Reuse, Settings,
    SettingsError, Solver, Step,
};

/// [`Settings`] by name, as in settings files and model files: every choice of every solver has a field.
/// Unknown names in a file are refused.
///
/// ```
/// use maxmargin::{Order, SettingsRecord, Solver};
///
/// let record: SettingsRecord = serde_json::from_str(r#"{"solver": "bcfw", "order": "gap"}"#)?;
/// assert_eq!((record.solver, record.order), (Solver::BlockCoordinate, Order::Gap));
/// assert!(record.settings().is_ok());
///
/// let wrong = SettingsRecord { solver: Solver::FrankWolfe, ..record };
/// assert_eq!(
///     wrong.settings().unwrap_err().to_string(),
///     "order gap cannot be combined with solver fw: batch Frank-Wolfe moves all blocks at once"
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct SettingsRecord {
    /// See [`Settings::lambda`].
    pub lambda: Option<f64>,
    /// The training method.
    pub solver: Solver,
    /// See [`BlockCoordinate::order`](crate::BlockCoordinate::order).
    pub order: Order,
    /// The direction of [`BlockCoordinate::step`](crate::BlockCoordinate::step).
    pub direction: Direction,
    /// See [`BlockCoordinate::gap_power`](crate::BlockCoordinate::gap_power).
    pub gap_power: f64,
    /// See [`BlockCoordinate::cache`](crate::BlockCoordinate::cache).
    pub cache: Caching,
    /// See [`Reuse::factor`].
    pub cache_factor: f64,
    /// See [`Reuse::nu`].
    pub cache_nu: f64,
    /// See [`Reuse::bytes`].
    pub cache_bytes: u64,
    /// See [`Reuse::corners`].
    pub cache_corners: usize,
    /// See [`BlockCoordinate::batch`](crate::BlockCoordinate::batch). Without a number, the default of
    /// the solver.
    pub batch: Option<usize>,
    /// See [`BlockCoordinate::gap_steps`](crate::BlockCoordinate::gap_steps).
    pub gap_steps: bool,
    /// ν of [`OracleAccuracy::Share`]. Default: 1, which asks for the maximum.
    pub oracle_share: f64,
    /// δ of [`OracleAccuracy::Schedule`]. Default: 0, which asks for the maximum.
    pub oracle_slack: f64,
    /// The size of Frank-Wolfe steps.
    pub step: Step,
    /// Whether the returned weights are an average over all steps.
    pub average: Average,
    /// See [`Method::AdaGrad`].
    pub rate: f64,
    /// See [`Settings::tolerance`].
    pub tolerance: f64,
    /// See [`Settings::relative_tolerance`].
    pub relative_tolerance: f64,
    /// See [`Settings::max_passes`].
    pub max_passes: u64,
    /// See [`Settings::max_oracle_calls`].
    pub max_oracle_calls: Option<u64>,
    /// See [`Settings::max_seconds`].
    pub max_seconds: Option<f64>,
    /// See [`Settings::patience`].
    pub patience: Option<u64>,
    /// See [`Settings::gap_every`].
    pub gap_every: u64,
    /// See [`Settings::seed`].
    pub seed: u64,
    /// See [`Settings::threads`].
    pub threads: usize,
    /// See [`Settings::block_gaps`].
    pub block_gaps: bool,
    /// See [`Settings::diagnose`].
    pub diagnose: bool,
}

impl Default for SettingsRecord {
    fn default() -> Self {
        Settings::default().record()
    }
}

impl From<Settings> for SettingsRecord {
    fn from(settings: Settings) -> Self {
        settings.record()
    }
}

impl TryFrom<SettingsRecord> for Settings {
    type Error = SettingsError;
    fn try_from(record: SettingsRecord) -> Result<Self, SettingsError> {
        record.settings()
    }
}

impl Settings {
    /// The settings by name. Choices that the method does not have are at their defaults.
    ///
    /// ```
    /// use maxmargin::{Settings, SettingsRecord, Solver};
    ///
    /// let record = Settings { method: Solver::NSlack.into(), ..Settings::default() }.record();
    /// assert_eq!(record, SettingsRecord { solver: Solver::NSlack, ..SettingsRecord::default() });
    /// ```
    pub fn record(&self) -> SettingsRecord {
        let (mut order, mut step) = (Order::default(), BlockStep::default());
        let (mut gap_power, mut cache, mut reuse) = (1.0, Caching::default(), Reuse::default());
        let (mut rate, mut batch) = (DEFAULT_RATE, None);
        let (mut gap_steps, mut accuracy) = (false, OracleAccuracy::Exact);
        match &self.method {
            Method::Auto(auto) => {
                (gap_power, reuse) = (auto.gap_power, auto.reuse);
                batch = Some(auto.batch).filter(|size| *size != default_batch(Solver::Auto));
            }
            Method::BlockCoordinate(chosen) => {
                (order, step, cache) = (chosen.order, chosen.step, chosen.cache);
                (gap_power, reuse) = (chosen.gap_power, chosen.reuse);
                (gap_steps, accuracy) = (chosen.gap_steps, chosen.accuracy);
                let usual = default_batch(Solver::BlockCoordinate);
                batch = Some(chosen.batch).filter(|size| *size != usual);
            }
            Method::FrankWolfe { step: size } => step = BlockStep::FrankWolfe(*size),
            Method::Subgradient { order: own, .. } => order = (*own).into(),
            Method::AdaGrad { order: own, rate: chosen, .. } => {
                (order, rate) = ((*own).into(), *chosen);
            }
            Method::Perceptron { order: own } | Method::ExponentiatedGradient { order: own } => {
                order = (*own).into();
            }
            Method::NSlack | Method::OneSlack => {}
        }
        let (direction, step) = step.direction_and_size();
        let (oracle_share, oracle_slack) = accuracy.share_and_slack();
        SettingsRecord {
            lambda: self.lambda,
            solver: self.method.solver(),
            order,
            direction,
            gap_power,
            cache,
            cache_factor: reuse.factor,
            cache_nu: reuse.nu,
            cache_bytes: reuse.bytes,
            cache_corners: reuse.corners,
            batch,
            gap_steps,
            oracle_share,
            oracle_slack,
            step,
            average: self.method.average(),
            rate,
            tolerance: self.tolerance,
            relative_tolerance: self.relative_tolerance,
            max_passes: self.max_passes,
            max_oracle_calls: self.max_oracle_calls,
            max_seconds: self.max_seconds,
            patience: self.patience,
            gap_every: self.gap_every,
            seed: self.seed,
            threads: self.threads,
            block_gaps: self.block_gaps,
            diagnose: self.diagnose,
        }
    }
}

/// The size of batches of a solver, if none is given: `auto` finds one.
fn default_batch(solver: Solver) -> usize {
    usize::from(solver != Solver::Auto)
}

impl SettingsRecord {
    /// The size of batches, or 0 if it adapts.
    pub(crate) fn batch_size(&self) -> usize {
        self.batch.unwrap_or_else(|| default_batch(self.solver))
    }

    /// Whether oracles are asked for less than the maximum.
    pub(crate) fn asks_for_less(&self) -> bool {
        self.oracle_share < 1.0 || self.oracle_slack > 0.0
    }

    /// The settings that the names say.
    ///
    /// # Errors
    /// Two choices that exclude each other. [`Settings::check`] judges the numbers.
    pub fn settings(&self) -> Result<Settings, SettingsError> {
        Ok(Settings {
            lambda: self.lambda,
            method: self.method()?,
            tolerance: self.tolerance,
            relative_tolerance: self.relative_tolerance,
            max_passes: self.max_passes,
            max_oracle_calls: self.max_oracle_calls,
            max_seconds: self.max_seconds,
            patience: self.patience,
            gap_every: self.gap_every,
            seed: self.seed,
            threads: self.threads,
            block_gaps: self.block_gaps,
            diagnose: self.diagnose,
        })
    }
}
