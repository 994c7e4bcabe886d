//! All settings of a run, in one place.
//!
//! `choices` and `solver` hold the enumerations with their names. [`Method`] holds, for each solver, the
//! choices that it has. [`SettingsRecord`] is the same by name, for files, the command line and Python;
//! `combinations` turns names into a method. [`Settings::check`] judges the numbers, and only checked
//! settings can be trained with.

mod choices;
mod combinations;
mod method;
mod record;
mod solver;

pub use choices::{Average, Caching, Direction, Order, Step};
pub use method::{
    Auto, BlindOrder, BlockAverage, BlockCoordinate, BlockStep, Method, OracleAccuracy, PassOrder,
    Reuse,
};
pub use record::SettingsRecord;
pub use solver::Solver;

use std::ops::Deref;
use std::time::Duration;
use thiserror::Error;

/// The settings of a training run.
///
/// Write `..Settings::default()` at the end: fields may be added. Wrong combinations of choices cannot be
/// written, since each [`Method`] has its own; [`check`](Self::check) is the one place where numbers are
/// judged. Files, the command line and Python have a [`SettingsRecord`], and serde writes that.
///
/// ```
/// use maxmargin::Settings;
///
/// let settings = Settings { lambda: Some(0.01), tolerance: 1e-3, ..Settings::default() };
/// assert!(settings.check().is_ok());
///
/// let wrong = Settings { lambda: Some(-1.0), ..Settings::default() };
/// assert_eq!(wrong.check().unwrap_err().to_string(),
///            "lambda is -1; it must be a positive finite number");
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "SettingsRecord", into = "SettingsRecord"))]
pub struct Settings {
    /// Regularization strength λ > 0. Default: 1/n.
    pub lambda: Option<f64>,
    /// The training method with its choices. Default: `auto`.
    pub method: Method,
    /// Stop when the duality gap is at most this (absolute). With 0 the gap never ends the run. Default:
    /// 0.01.
    pub tolerance: f64,
    /// Stop, too, when the duality gap is at most this share of the objective, such as 0.01 for 1 %. Where
    /// both tolerances are positive, the larger one counts. Default: 0, which never ends the run.
    pub relative_tolerance: f64,
    /// Stop after this many passes (n block visits each). Default: 1000.
    pub max_passes: u64,
    /// Stop after this many oracle calls, those of gap passes included. A batch that has begun is finished.
    /// Default: no limit.
    pub max_oracle_calls: Option<u64>,
    /// Stop after this many seconds. Training reserves time for the last exact pass, so that the certificate
    /// should be ready in time. Default: no limit.
    pub max_seconds: Option<f64>,
    /// Stop when the validation error has not improved in this many exact gap passes in a row. The result
    /// is the model with the least error, even if something else ends the run. Needs a
    /// [validator](crate::Trainer::validate). Default: no early stopping.
    pub patience: Option<u64>,
    /// Compute the exact duality gap after every `gap_every`-th pass. Default: 10.
    pub gap_every: u64,
    /// Seed of all random choices. Default: 1.
    pub seed: u64,
    /// Number of threads for batches and gap passes; 0 means all cores. The result does not depend on it.
    /// Default: 0.
    pub threads: usize,
    /// Whether events of gap passes carry the gap of every block. Default: no.
    pub block_gaps: bool,
    /// Whether the constants of the rate theorems are measured, and what they promise is reported beside the gap:
    /// see [`Theory`](crate::observe::Theory). This takes oracle calls of its own, which do not count, and changes
    /// nothing else. Default: no.
    pub diagnose: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            lambda: None,
            method: Method::default(),
            tolerance: 0.01,
            relative_tolerance: 0.0,
            max_passes: 1000,
            max_oracle_calls: None,
            max_seconds: None,
            patience: None,
            gap_every: 10,
            seed: 1,
            threads: 0,
            block_gaps: false,
            diagnose: false,
        }
    }
}

/// A setting, or a combination of settings, that makes no sense.
///
/// ```
/// use maxmargin::{Order, SettingsRecord, Solver};
///
/// let (solver, order) = (Solver::FrankWolfe, Order::Cyclic);
/// assert_eq!(
///     SettingsRecord { solver, order, ..SettingsRecord::default() }.settings().unwrap_err().to_string(),
///     "order cyclic cannot be combined with solver fw: batch Frank-Wolfe moves all blocks at once"
/// );
/// ```
#[derive(Debug, Error, Clone, PartialEq)]
#[non_exhaustive]
pub enum SettingsError {
    /// A number outside its range.
    #[error("{name} is {value}; it must be {expected}")]
    Range {
        /// Name of the setting.
        name: &'static str,
        /// Its value.
        value: f64,
        /// What would have been accepted.
        expected: &'static str,
    },
    /// Two settings that exclude each other.
    #[error("{first} cannot be combined with {second}: {why}")]
    Combination {
        /// The first setting, with its value.
        first: String,
        /// The second setting, with its value.
        second: String,
        /// Why not.
        why: &'static str,
    },
}

impl Settings {
    /// Judges every value; only checked settings can be trained with.
    ///
    /// ```
    /// use maxmargin::Settings;
    ///
    /// assert!(Settings::default().check().is_ok());
    /// let error = Settings { max_passes: 0, ..Settings::default() }.check().unwrap_err();
    /// assert_eq!(error.to_string(), "max_passes is 0; it must be at least 1");
    /// ```
    ///
    /// # Errors
    /// The first setting that is out of range or does not fit another.
    pub fn check(&self) -> Result<(), SettingsError> {
        self.checked().map(|_| ())
    }

    /// The settings by name, if every value makes sense.
    pub(crate) fn checked(&self) -> Result<CheckedSettings, SettingsError> {
        let record = self.record();
        let positive = |name, value: f64| {
            let expected = "a positive finite number";
            if value > 0.0 && value.is_finite() {
                Ok(())
            } else {
                Err(SettingsError::Range { name, value, expected })
            }
        };
        let nonzero = |name, value: u64| {
            let expected = "at least 1";
            if value > 0 {
                Ok(())
            } else {
                Err(SettingsError::Range { name, value: 0.0, expected })
            }
        };
        if let Some(lambda) = self.lambda {
            positive("lambda", lambda)?;
        }
        positive("rate", record.rate)?;
        if !(self.tolerance >= 0.0 && self.tolerance.is_finite()) {
            return Err(SettingsError::Range {
                name: "tolerance",
                value: self.tolerance,
                expected: "a finite number, at least 0",
            });
        }
        if !(0.0..1.0).contains(&self.relative_tolerance) {
            return Err(SettingsError::Range {
                name: "relative_tolerance",
                value: self.relative_tolerance,
                expected: "a share of the objective, at least 0 and less than 1",
            });
        }
        for (name, value) in [
            ("gap_power", record.gap_power),
            ("cache_factor", record.cache_factor),
            ("cache_nu", record.cache_nu),
            ("oracle_slack", record.oracle_slack),
        ] {
            if !(value >= 0.0 && value.is_finite()) {
                let expected = "a finite number, at least 0";
                return Err(SettingsError::Range { name, value, expected });
            }
        }
        if !(record.oracle_share > 0.0 && record.oracle_share <= 1.0) {
            return Err(SettingsError::Range {
                name: "oracle_share",
                value: record.oracle_share,
                expected: "a share of block gaps, more than 0 and at most 1",
            });
        }
        nonzero("max_passes", self.max_passes)?;
        nonzero("gap_every", self.gap_every)?;
        if let Some(calls) = self.max_oracle_calls {
            nonzero("max_oracle_calls", calls)?;
        }
        if let Some(patience) = self.patience {
            nonzero("patience", patience)?;
        }
        if let Some(seconds) = self.max_seconds {
            positive("max_seconds", seconds)?;
        }
        Ok(CheckedSettings(record))
    }

    /// The largest duality gap with which a run has converged, at a point with this dual value D: the larger
    /// one of both tolerances.
    ///
    /// A gap P − D is at most the share r of the objective P exactly if it is at most r/(1 − r) · D.
    ///
    /// ```
    /// use maxmargin::Settings;
    ///
    /// let settings = Settings { tolerance: 0.001, relative_tolerance: 0.2, ..Settings::default() };
    /// assert_eq!(settings.tolerance_at(4.0), 1.0); // the objective is then 5 at most
    /// assert_eq!(settings.tolerance_at(0.0), 0.001);
    /// ```
    pub fn tolerance_at(&self, dual: f64) -> f64 {
        larger_tolerance(self.tolerance, self.relative_tolerance, dual)
    }

    /// Subtracts time that was already spent from the time limit, if there is one. At least a tiny limit is left, at
    /// which a run ends at once.
    ///
    /// ```
    /// use maxmargin::Settings;
    /// use std::time::Duration;
    ///
    /// let mut settings = Settings { max_seconds: Some(60.0), ..Settings::default() };
    /// settings.spend(Duration::from_secs(20));
    /// assert_eq!(settings.max_seconds, Some(40.0));
    /// ```
    pub fn spend(&mut self, spent: Duration) {
        if let Some(seconds) = &mut self.max_seconds {
            *seconds = (*seconds - spent.as_secs_f64()).max(seconds.min(1e-3));
        }
    }

    /// Whether the weights of a run are those of its dual point, w = Aα.
    ///
    /// Primal methods (`adagrad`, `perceptron`, averages and uniform draws of `ssg`) come with a dual point too, which
    /// bounds how far they are from the optimum, but their weights are not made of it.
    ///
    /// ```
    /// use maxmargin::{Settings, Solver};
    ///
    /// let with = |solver: Solver| Settings { method: solver.into(), ..Settings::default() };
    /// assert!(with(Solver::Subgradient).weights_from_dual());
    /// assert!(!with(Solver::AdaGrad).weights_from_dual());
    /// ```
    pub fn weights_from_dual(&self) -> bool {
        self.record().weights_from_dual()
    }
}

/// The larger one of an absolute tolerance and of a share r of the objective, at a dual value.
fn larger_tolerance(tolerance: f64, r: f64, dual: f64) -> f64 {
    tolerance.max(r / (1.0 - r) * dual.max(0.0))
}

impl SettingsRecord {
    /// See [`Settings::tolerance_at`].
    pub(crate) fn tolerance_at(&self, dual: f64) -> f64 {
        larger_tolerance(self.tolerance, self.relative_tolerance, dual)
    }

    /// Whether a run has converged with this gap and this dual value. Without any tolerance it never has.
    pub(crate) fn is_converged(&self, gap: f64, dual: f64) -> bool {
        let never = self.tolerance <= 0.0 && self.relative_tolerance <= 0.0;
        !never && gap <= self.tolerance_at(dual)
    }

    /// The tolerance as the command line writes it: a gap, a share of the objective in percent, or both.
    ///
    /// ```
    /// use maxmargin::SettingsRecord;
    ///
    /// assert_eq!(SettingsRecord::default().tolerance_text(), "0.01");
    /// let relative = SettingsRecord { tolerance: 0.0, relative_tolerance: 0.01, ..Default::default() };
    /// assert_eq!(relative.tolerance_text(), "1%");
    /// ```
    pub fn tolerance_text(&self) -> String {
        let percent = || {
            // Eight digits hide that a percentage has no exact share, and show what was asked for.
            let text = format!("{:.8}", 100.0 * self.relative_tolerance);
            format!("{}%", text.trim_end_matches('0').trim_end_matches('.'))
        };
        match (self.tolerance > 0.0, self.relative_tolerance > 0.0) {
            (false, true) => percent(),
            (true, true) => format!("{} or {}", self.tolerance, percent()),
            (_, false) => self.tolerance.to_string(),
        }
    }

    /// See [`Settings::weights_from_dual`].
    pub(crate) fn weights_from_dual(&self) -> bool {
        match self.solver {
            Solver::AdaGrad | Solver::Perceptron => false,
            // Without whole passes, the corners of some examples count more than others.
            Solver::Subgradient if self.order == Order::Uniform => false,
            _ => self.average == Average::None,
        }
    }
}

/// Settings that passed [`Settings::check`], by name; they can be read but not changed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CheckedSettings(SettingsRecord);

impl Deref for CheckedSettings {
    type Target = SettingsRecord;
    fn deref(&self) -> &SettingsRecord {
        &self.0
    }
}

impl CheckedSettings {
    /// Sets another tolerance. With 0, the gap never ends the run.
    pub(crate) fn set_tolerance(&mut self, tolerance: f64) {
        self.0.tolerance = tolerance;
    }

    /// What `auto` starts with; other solvers stay as they are.
    ///
    /// Where blocks are simplices, visits cost so little that sampling does not pay, and corrective steps
    /// leave many blocks without a gap. Elsewhere corners are kept: that saves most oracle calls, and a
    /// visit without an oracle call takes no longer.
    pub(crate) fn resolved(mut self, simplices: bool) -> Self {
        if self.solver == Solver::Auto {
            self.0.order = if simplices { Order::Lazy } else { Order::Gap };
            self.0.direction = if simplices { Direction::Corrective } else { Direction::Staged };
            self.0.cache = if simplices { Caching::Off } else { Caching::On };
        }
        self
    }

    /// The λ to train n ≥ 1 examples with: the one that was set, or 1/n.
    pub(crate) fn lambda_for(&self, n: usize) -> f64 {
        self.lambda.unwrap_or(1.0 / n as f64)
    }

    /// The number of threads to use on this machine, at least 1. A run uses fewer if there are too
    /// few examples to keep them busy.
    pub(crate) fn thread_count(&self) -> usize {
        match self.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            t => t,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(change: impl FnOnce(&mut Settings)) -> String {
        let mut settings = Settings::default();
        change(&mut settings);
        settings.check().unwrap_err().to_string()
    }

    #[test]
    fn values_out_of_range_are_rejected_by_name() {
        for lambda in [0.0, -0.5, f64::NAN, f64::INFINITY] {
            assert!(refusal(|s| s.lambda = Some(lambda)).starts_with("lambda is "));
        }
        assert!(refusal(|s| s.tolerance = f64::NAN).contains("tolerance is NaN"));
        for share in [-0.1, 1.0, f64::NAN] {
            assert!(
                refusal(|s| s.relative_tolerance = share).starts_with("relative_tolerance is ")
            );
        }
        assert_eq!(refusal(|s| s.max_passes = 0), "max_passes is 0; it must be at least 1");
        assert!(refusal(|s| s.gap_every = 0).contains("gap_every"));
        assert!(refusal(|s| s.max_oracle_calls = Some(0)).contains("max_oracle_calls"));
        assert!(refusal(|s| s.max_seconds = Some(0.0)).contains("max_seconds"));
        assert!(refusal(|s| s.patience = Some(0)).contains("patience"));
    }

    #[test]
    fn defaults_are_those_of_the_number_of_examples_and_cores() {
        let checked = Settings::default().checked().unwrap();
        assert_eq!(checked.lambda_for(4), 0.25);
        assert!(checked.thread_count() >= 1);
        let set = Settings { lambda: Some(0.1), threads: 3, ..Settings::default() };
        let checked = set.checked().unwrap();
        assert_eq!((checked.lambda_for(4), checked.thread_count()), (0.1, 3));
    }

    #[test]
    fn files_round_trip_and_unknown_names_are_rejected() {
        let settings = Settings { lambda: Some(0.1), ..Settings::default() };
        let text = serde_json::to_string(&settings).unwrap();
        assert_eq!(serde_json::from_str::<Settings>(&text).unwrap(), settings);
        let error = serde_json::from_str::<Settings>(r#"{"lamda": 1}"#).unwrap_err().to_string();
        assert!(error.contains("unknown field `lamda`"), "{error}");
        let error = serde_json::from_str::<Settings>(r#"{"order": "best"}"#).unwrap_err();
        assert!(error.to_string().contains("unknown order \"best\"; known are uniform"), "{error}");
    }
}
