//! How models are trained if their decoding is hard.

use super::{Spec, WeightGroup};
use crate::model::ModelError;
use maxmargin::Problem as _;
use maxmargin::model::soft::{RhoScale, SoftError, SoftGraph};
use serde::{Deserialize, Serialize};

/// How the weights of a multi-label model, a factor graph or a labelled graph are found. A model file states it,
/// because it changes which weights are optimal.
///
/// ```
/// use maxmargin_io::{FactorTraining, SoftSpec};
///
/// let soft = FactorTraining::from(SoftSpec { messages: 12, ..SoftSpec::new(1.0) });
/// assert_eq!((soft.name(), soft.messages()), ("soft", 12));
/// assert!(FactorTraining::default().is_decoding());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum FactorTraining {
    /// With the decoder as the oracle, whether it is exact or relaxed.
    #[default]
    Decoding,
    /// Through soft constraints: see [`maxmargin::model::soft`].
    Soft(Box<SoftSpec>),
}

/// Soft constraints, and the results of training with them.
///
/// ```
/// use maxmargin_io::SoftSpec;
///
/// let spec = SoftSpec::new(0.5);
/// assert_eq!((spec.rho, spec.smoothing, spec.blocks), (0.5, None, 0));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SoftSpec {
    /// The parameter ρ. The larger it is, the softer the constraints are.
    pub rho: f64,
    /// Whether the penalty is inside the mean over examples or beside it. In files without this entry it is beside
    /// the mean, because earlier versions had no other choice.
    #[serde(default = "beside")]
    pub rho_scale: RhoScale,
    /// The λ for which the problem is built. It is 0 before it is known.
    pub lambda: f64,
    /// How smooth every maximum is, if maxima are smoothed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smoothing: Option<f64>,
    /// Number of blocks: of variables and factors of all examples.
    pub blocks: usize,
    /// Number of weights after those of the model: messages, and the weights that smoothing adds.
    pub messages: usize,
    /// The hard objective g(w, δ), without ρ/2·‖δ‖²: an upper bound of the optimum over the LP
    /// relaxation.
    pub hard_objective: f64,
    /// The disagreement of variables and factors: the largest, and the root of the mean of squares.
    pub violation: (f64, f64),
    /// The multipliers of the augmented Lagrangian, or none if they are all 0. They are a separate tensor in a
    /// model file.
    #[serde(skip)]
    pub multipliers: Vec<f64>,
}

const fn beside() -> RhoScale {
    RhoScale::Sum
}

impl SoftSpec {
    /// Creates the soft constraints of a problem that is not trained yet.
    pub fn new(rho: f64) -> Self {
        Self {
            rho,
            rho_scale: RhoScale::default(),
            lambda: 0.0,
            smoothing: None,
            blocks: 0,
            messages: 0,
            hard_objective: 0.0,
            violation: (0.0, 0.0),
            multipliers: Vec::new(),
        }
    }

    /// ρ in words: `rho 1`, or `rho 1 (sum)` if the penalty is beside the mean over examples.
    ///
    /// ```
    /// assert_eq!(maxmargin_io::SoftSpec::new(0.5).rho_in_words(), "rho 0.5");
    /// ```
    pub fn rho_in_words(&self) -> String {
        match self.rho_scale {
            RhoScale::Example => format!("rho {}", self.rho),
            RhoScale::Sum => format!("rho {} (sum)", self.rho),
        }
    }

    /// Records the results for the weights of a problem.
    ///
    /// ```
    /// # use maxmargin::doc::soft_pictures;
    /// use maxmargin::Problem as _;
    /// use maxmargin_io::SoftSpec;
    ///
    /// let soft = soft_pictures(0.05);
    /// let mut spec = SoftSpec::new(1.0);
    /// spec.note(&soft, &vec![0.0; soft.dim()]);
    /// assert_eq!((spec.blocks, spec.violation), (soft.examples(), (0.0, 0.0)));
    /// ```
    pub fn note(&mut self, problem: &SoftGraph, weights: &[f64]) {
        self.blocks = problem.examples();
        self.messages = weights.len() - problem.weights(weights).len();
        self.hard_objective = problem.hard_objective(weights);
        self.violation = problem.violation(weights);
    }
}

impl From<SoftSpec> for FactorTraining {
    fn from(soft: SoftSpec) -> Self {
        Self::Soft(Box::new(soft))
    }
}

impl FactorTraining {
    /// Whether it is the usual training.
    pub fn is_decoding(&self) -> bool {
        *self == Self::Decoding
    }

    /// Its name: `decoding` or `soft`.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Decoding => "decoding",
            Self::Soft(_) => "soft",
        }
    }

    /// Number of weights after those of the model.
    pub fn messages(&self) -> usize {
        if let Self::Soft(soft) = self { soft.messages } else { 0 }
    }

    /// The soft problem, if training uses one. `build` makes it from λ and ρ.
    ///
    /// # Errors
    /// If `build` fails, or if the numbers do not make a problem.
    ///
    /// ```
    /// # use maxmargin::doc::soft_pictures;
    /// use maxmargin_io::{FactorTraining, SoftSpec};
    ///
    /// let soft = FactorTraining::from(SoftSpec { lambda: 0.05, ..SoftSpec::new(0.5) });
    /// let problem = soft.problem(|lambda, rho| soft_pictures(lambda).with_rho(rho))?;
    /// assert_eq!(problem.map(|problem| problem.rho()), Some(0.5));
    /// # Ok::<(), maxmargin::model::soft::SoftError>(())
    /// ```
    pub fn problem(
        &self,
        build: impl FnOnce(f64, f64) -> Result<SoftGraph, SoftError>,
    ) -> Result<Option<SoftGraph>, SoftError> {
        match self {
            Self::Decoding => Ok(None),
            Self::Soft(own) => {
                let mut problem = build(own.lambda, own.rho)?.with_rho_scale(own.rho_scale);
                if let Some(smoothing) = own.smoothing {
                    problem = problem.smoothed(smoothing)?;
                }
                if !own.multipliers.is_empty() {
                    problem = problem.with_multipliers(own.multipliers.clone())?;
                }
                Ok(Some(problem))
            }
        }
    }

    /// Refuses numbers that do not make a problem.
    pub(super) fn check(&self) -> Result<(), ModelError> {
        let Self::Soft(soft) = self else { return Ok(()) };
        let positive = |value: f64| value > 0.0 && value.is_finite();
        if !positive(soft.rho) || !soft.smoothing.is_none_or(positive) {
            let reason = "rho or smoothing is not a positive number";
            return Err(ModelError::content(reason));
        }
        if !soft.multipliers.iter().all(|multiplier| multiplier.is_finite()) {
            return Err(ModelError::content("a multiplier is not a finite number"));
        }
        Ok(())
    }

    /// The group of these weights, if there are any, after `dim` others.
    pub(super) fn group(&self, dim: usize) -> Option<WeightGroup> {
        let range = dim..dim + self.messages();
        let shape = vec![range.len()];
        (!range.is_empty()).then(|| WeightGroup { name: "messages".to_owned(), range, shape })
    }
}

impl Spec {
    /// How it is trained, if there is a choice.
    pub fn training(&self) -> Option<&FactorTraining> {
        match self {
            Self::Multilabel(spec) => Some(&spec.training),
            Self::FactorGraph(spec) => Some(&spec.training),
            Self::Potts(spec) => Some(&spec.training),
            _ => None,
        }
    }

    /// Its soft constraints, if it is trained with soft constraints.
    pub fn soft(&self) -> Option<&SoftSpec> {
        if let Some(FactorTraining::Soft(soft)) = self.training() { Some(soft) } else { None }
    }

    /// Its soft constraints, for changes.
    pub fn soft_mut(&mut self) -> Option<&mut SoftSpec> {
        if let Some(FactorTraining::Soft(soft)) = self.training_mut() { Some(soft) } else { None }
    }

    /// How it is trained, for changes.
    pub fn training_mut(&mut self) -> Option<&mut FactorTraining> {
        match self {
            Self::Multilabel(spec) => Some(&mut spec.training),
            Self::FactorGraph(spec) => Some(&mut spec.training),
            Self::Potts(spec) => Some(&mut spec.training),
            _ => None,
        }
    }

    /// Sets the λ of a specification whose problem is made for one λ. Returns whether it is such a specification.
    ///
    /// ```
    /// use maxmargin::inference::Inference;
    /// use maxmargin::model::chain::Hamming;
    /// use maxmargin::model::multilabel::MultilabelShape;
    /// use maxmargin_io::{FactorTraining, MultilabelSpec, Rescaling, SoftSpec, Spec};
    ///
    /// let (shape, loss) = (MultilabelShape::complete(4, 5), Hamming::default());
    /// let (inference, rescaling) = (Inference::Auto, Rescaling::Margin);
    /// let training = FactorTraining::from(SoftSpec::new(1.0));
    /// let (partial, kernel) = (false, None);
    /// let spec = MultilabelSpec { shape, loss, inference, partial, rescaling, kernel, training };
    /// assert!(Spec::Multilabel(spec.clone()).fix_lambda(0.1));
    /// let decoding = MultilabelSpec { training: FactorTraining::Decoding, ..spec };
    /// assert!(!Spec::Multilabel(decoding).fix_lambda(0.1)); // the decoder serves any λ
    /// ```
    pub fn fix_lambda(&mut self, lambda: f64) -> bool {
        match self.training_mut() {
            Some(FactorTraining::Soft(soft)) => {
                soft.lambda = lambda;
                true
            }
            _ => false,
        }
    }

    /// Number of dual blocks of `n` examples.
    pub(crate) fn blocks(&self, n: usize) -> usize {
        self.soft().map_or(n, |soft| soft.blocks)
    }
}
