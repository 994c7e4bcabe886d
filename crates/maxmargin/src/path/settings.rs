//! The settings of a path and of a grid.

use crate::settings::Average;
use crate::settings::{Settings, SettingsError};
use crate::util::names::named_enum;

/// The default share of ε to which breakpoints are solved: on a guaranteed path, and on a heuristic path,
/// whose stale gaps are a little too small.
const KAPPA: f64 = 0.9;
const KAPPA_HEURISTIC: f64 = 0.7;

/// A heuristic path trains to this share of κε.
const HEURISTIC_SHARE: f64 = 0.8;

/// The settings of a regularization path.
///
/// ```
/// use maxmargin::PathSettings;
///
/// let settings = PathSettings::default();
/// assert_eq!((settings.epsilon, settings.kappa()), (0.1, 0.9));
/// assert_eq!(PathSettings { heuristic: true, ..settings.clone() }.kappa(), 0.7);
/// assert!(PathSettings { kappa: Some(1.5), ..settings }.check().is_err());
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct PathSettings {
    /// The duality gap that is guaranteed at every λ. Default: 0.1.
    pub epsilon: f64,
    /// The share κ of ε to which each breakpoint is solved. A smaller share makes fewer but more
    /// expensive breakpoints. Default: 0.9, or 0.7 on a heuristic path.
    pub kappa: Option<f64>,
    /// The λ at which the path may end, unless a solution is ε-good for all smaller λ before. Default:
    /// 1e-5.
    pub lambda_min: f64,
    /// Whether to trust the last known gaps of the blocks and skip the exact passes that would confirm
    /// them: fewer oracle calls, and no guarantee. The true gap of each breakpoint is still computed, but
    /// only reported. Default: no.
    pub heuristic: bool,
    /// How each breakpoint is trained. Its λ and tolerance are replaced.
    pub training: Settings,
}

impl Default for PathSettings {
    fn default() -> Self {
        Self {
            epsilon: 0.1,
            kappa: None,
            lambda_min: 1e-5,
            heuristic: false,
            training: Settings::default(),
        }
    }
}

impl PathSettings {
    /// The κ in force.
    ///
    /// ```
    /// use maxmargin::PathSettings;
    ///
    /// assert_eq!(PathSettings { kappa: Some(0.5), ..PathSettings::default() }.kappa(), 0.5);
    /// ```
    pub fn kappa(&self) -> f64 {
        self.kappa.unwrap_or(if self.heuristic { KAPPA_HEURISTIC } else { KAPPA })
    }

    /// The gap κε to which each breakpoint is solved. A heuristic path goes on to 0.8·κε, as in the paper, because it
    /// stops by block gaps that are out of date.
    ///
    /// ```
    /// use maxmargin::PathSettings;
    ///
    /// let settings = PathSettings { epsilon: 0.5, kappa: Some(0.5), ..PathSettings::default() };
    /// assert_eq!(settings.tolerance(), 0.25);
    /// ```
    pub fn tolerance(&self) -> f64 {
        let share = if self.heuristic { HEURISTIC_SHARE } else { 1.0 };
        share * self.kappa() * self.epsilon
    }

    /// Checks that every setting is in range.
    ///
    /// ```
    /// use maxmargin::{Order, PathSettings, Settings, Solver};
    ///
    /// let training = Settings { method: Solver::BlockCoordinate.into(), ..Settings::default() };
    /// let path = PathSettings { heuristic: true, training, ..PathSettings::default() };
    /// assert_eq!(
    ///     path.check().unwrap_err().to_string(),
    ///     "a heuristic path cannot be combined with order permutation: \
    ///      it stops on the block gaps that the orders gap, max-gap and lazy keep"
    /// );
    /// ```
    ///
    /// # Errors
    /// Names the first setting that is out of range, or that a heuristic path does not allow.
    pub fn check(&self) -> Result<(), SettingsError> {
        positive("epsilon", self.epsilon)?;
        let kappa = self.kappa();
        if !(kappa > 0.0 && kappa < 1.0) {
            let (name, expected) = ("kappa", "between 0 and 1");
            return Err(SettingsError::Range { name, value: kappa, expected });
        }
        positive("lambda_min", self.lambda_min)?;
        let training = at(&self.training, 1.0, self.tolerance()).checked()?;
        if !training.solver.starts_anywhere() {
            return Err(SettingsError::Combination {
                first: "a path".to_owned(),
                second: format!("solver {}", training.solver),
                why: "every breakpoint starts from the dual point of the one before",
            });
        }
        if !self.heuristic {
            return Ok(());
        }
        // A heuristic path needs block gaps that an order keeps.
        let refuse = |second: String, why| {
            Err(SettingsError::Combination { first: "a heuristic path".to_owned(), second, why })
        };
        let training = training.resolved(false);
        if training.solver.is_batch() {
            let second = format!("solver {}", training.solver);
            return refuse(second, "every step of it knows the exact gap already");
        }
        if !training.order.keeps_gaps() {
            let why = "it stops on the block gaps that the orders gap, max-gap and lazy keep";
            return refuse(format!("order {}", training.order), why);
        }
        if training.gap_power != 1.0 {
            let why = "the order keeps powers of the gaps, not the gaps";
            return refuse(format!("gap_power {}", training.gap_power), why);
        }
        if training.average != Average::None {
            let why = "the block gaps are not those of the average";
            return refuse(format!("average {}", training.average), why);
        }
        Ok(())
    }
}

named_enum! {
    /// Where the training of each λ of a grid starts.
    ///
    /// ```
    /// use maxmargin::GridStart;
    ///
    /// assert_eq!("warm-dual".parse::<GridStart>()?, GridStart::WarmDual);
    /// assert_eq!(GridStart::default().to_string(), "cold");
    /// # Ok::<(), maxmargin::UnknownName>(())
    /// ```
    #[derive(Default)]
    #[non_exhaustive]
    GridStart("grid") {
        /// From w = 0, each λ on its own.
        #[default]
        Cold = "cold",
        /// From the solution at the λ before, with its weights: the dual variables are
        /// [rescaled](crate::DualPoint::rescaled).
        WarmPrimal = "warm-primal",
        /// From the solution at the λ before, with its dual variables: the weights grow as λ falls.
        WarmDual = "warm-dual",
    }
}

/// The settings of a grid: the baseline that a regularization path competes with.
///
/// ```
/// use maxmargin::GridSettings;
///
/// let lambdas = GridSettings::default().lambdas();
/// assert_eq!(lambdas.len(), 31);
/// assert_eq!((lambdas[0], lambdas[30]), (32768.0, 1.0 / 32768.0));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct GridSettings {
    /// The duality gap to which each λ is solved. Default: 0.1.
    pub epsilon: f64,
    /// The largest λ. Default: 2¹⁵.
    pub lambda_max: f64,
    /// No λ is smaller than this. Default: 2⁻¹⁵.
    pub lambda_min: f64,
    /// Where each training starts. Default: `cold`.
    pub start: GridStart,
    /// How each λ is trained. λ and the tolerance are replaced.
    pub training: Settings,
}

impl Default for GridSettings {
    fn default() -> Self {
        Self {
            epsilon: 0.1,
            lambda_max: 32768.0,
            lambda_min: 1.0 / 32768.0,
            start: GridStart::default(),
            training: Settings::default(),
        }
    }
}

impl GridSettings {
    /// The values of λ: from the largest down, each half of the one before.
    ///
    /// ```
    /// use maxmargin::GridSettings;
    ///
    /// let grid = GridSettings { lambda_max: 1.0, lambda_min: 0.2, ..GridSettings::default() };
    /// assert_eq!(grid.lambdas(), [1.0, 0.5, 0.25]);
    /// ```
    pub fn lambdas(&self) -> Vec<f64> {
        let halved = |&lambda: &f64| Some(0.5 * lambda);
        let all = std::iter::successors(Some(self.lambda_max), halved);
        all.take_while(|&lambda| lambda > 0.0 && lambda >= self.lambda_min).collect()
    }

    /// Checks that every setting is in range.
    ///
    /// ```
    /// use maxmargin::GridSettings;
    ///
    /// let grid = GridSettings { lambda_min: 2.0, lambda_max: 1.0, ..GridSettings::default() };
    /// assert_eq!(
    ///     grid.check().unwrap_err().to_string(),
    ///     "lambda_max is 1; it must be at least lambda_min"
    /// );
    /// ```
    ///
    /// # Errors
    /// Names the first setting that is out of range.
    pub fn check(&self) -> Result<(), SettingsError> {
        positive("epsilon", self.epsilon)?;
        positive("lambda_min", self.lambda_min)?;
        positive("lambda_max", self.lambda_max)?;
        if self.lambda_max < self.lambda_min {
            let (name, expected) = ("lambda_max", "at least lambda_min");
            return Err(SettingsError::Range { name, value: self.lambda_max, expected });
        }
        at(&self.training, 1.0, self.epsilon).check()
    }
}

/// Training settings for one λ.
pub(super) fn at(training: &Settings, lambda: f64, tolerance: f64) -> Settings {
    Settings { lambda: Some(lambda), tolerance, relative_tolerance: 0.0, ..training.clone() }
}

fn positive(name: &'static str, value: f64) -> Result<(), SettingsError> {
    match value > 0.0 && value.is_finite() {
        true => Ok(()),
        false => Err(SettingsError::Range { name, value, expected: "a positive finite number" }),
    }
}
