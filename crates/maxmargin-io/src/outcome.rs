//! The outcome of a training, and the rounds of a training with soft constraints.

use crate::model::Model;
use crate::origin::Origin;
use crate::problem_role::ProblemRole;
use crate::spec::{SoftSpec, Spec};
use maxmargin::kernel::Support;
use maxmargin::model::soft::SoftGraph;
use maxmargin::{Settings, Solution};

/// The outcome of a training on a problem of any type.
///
/// ```
/// # use maxmargin::doc::toy;
/// use maxmargin::{Settings, train};
/// use maxmargin_io::{ProblemRole, Outcome};
///
/// let solution = train(&toy(), &Settings::default())?;
/// let outcome = Outcome::new(solution, ProblemRole::Plain);
/// assert!(outcome.soft().is_none());
/// # Ok::<(), maxmargin::TrainError>(())
/// ```
#[derive(Debug)]
pub struct Outcome {
    /// The solution, with the weights as the model keeps them.
    pub solution: Solution,
    /// The inputs that the weights belong to, if there is a kernel.
    support: Option<Support>,
    soft: Option<SoftOutcome>,
}

impl Outcome {
    /// Creates the outcome from a solution, given the role of its problem.
    pub fn new(mut solution: Solution, role: ProblemRole<'_>) -> Self {
        let support = role.inputs().map(|inputs| {
            let (support, weights) = inputs.keep(&solution.weights);
            solution.weights = weights;
            support
        });
        let soft = match role {
            ProblemRole::Soft(problem) => Some(SoftOutcome::new(problem, &solution.weights)),
            _ => None,
        };
        Self { solution, support, soft }
    }

    /// The outcome of soft training, if the constraints are soft.
    pub fn soft(&self) -> Option<&SoftOutcome> {
        self.soft.as_ref()
    }

    /// Creates the model with these weights.
    pub fn into_model(self, origin: Origin, mut spec: Spec, settings: Settings) -> Model {
        if let (Some(own), Some(soft)) = (spec.soft_mut(), &self.soft) {
            soft.note(own);
        }
        let model = Model::new(origin, spec, settings, self.solution);
        match self.support {
            Some(support) => model.with_support(support),
            None => model,
        }
    }
}

/// The outcome of soft training: its record in the model, and its messages.
///
/// ```
/// # use maxmargin::doc::soft_pictures;
/// use maxmargin::Problem as _;
/// use maxmargin_io::{SoftOutcome, SoftSpec};
///
/// let soft = soft_pictures(0.05);
/// let mut spec = SoftSpec::new(0.5);
/// SoftOutcome::new(&soft, &vec![0.0; soft.dim()]).note(&mut spec);
/// assert_eq!((spec.rho, spec.blocks), (0.5, soft.examples()));
/// ```
#[derive(Debug)]
pub struct SoftOutcome {
    found: SoftSpec,
    /// The messages, with the multipliers.
    messages: Vec<f64>,
}

impl SoftOutcome {
    /// Computes the outcome for the weights of a problem.
    pub fn new(problem: &SoftGraph, weights: &[f64]) -> Self {
        let mut found = SoftSpec::new(problem.rho());
        found.note(problem, weights);
        Self { found, messages: problem.messages(weights) }
    }

    /// Records the outcome in a specification.
    pub fn note(&self, spec: &mut SoftSpec) {
        let SoftSpec { blocks, messages, hard_objective, violation, .. } = self.found;
        *spec = SoftSpec { blocks, messages, hard_objective, violation, ..spec.clone() };
    }
}

/// Rounds of soft training. Each starts where the last one ended.
///
/// ```
/// # use maxmargin::doc::soft_pictures;
/// use maxmargin::Problem as _;
/// use maxmargin_io::{SoftOutcome, SoftRounds, SoftSpec};
///
/// let rounds = SoftRounds { rhos: vec![1.0, 0.1], most: 0 };
/// let soft = soft_pictures(0.05);
/// let last = SoftOutcome::new(&soft, &vec![0.0; soft.dim()]);
/// let next = rounds.next(1, &SoftSpec::new(1.0), &last);
/// assert_eq!(next.map(|spec| spec.rho), Some(0.1));
/// assert_eq!((rounds.count(), rounds.is_last(2)), (2, true));
/// ```
#[derive(Debug, Clone, Default)]
pub struct SoftRounds {
    /// The values of ρ, one for each round.
    pub rhos: Vec<f64>,
    /// The largest number of rounds with multipliers.
    pub most: usize,
}

impl SoftRounds {
    /// The rounds with multipliers end when variables and factors agree up to this difference.
    pub const CLOSE: f64 = 1e-6;

    /// The largest number of rounds.
    pub fn count(&self) -> usize {
        self.rhos.len().max(self.most).max(1)
    }

    /// Whether no round can follow after `done` rounds.
    pub fn is_last(&self, done: usize) -> bool {
        done >= self.count()
    }

    /// The soft constraints of the round after `done` rounds, if one follows.
    pub fn next(&self, done: usize, spec: &SoftSpec, last: &SoftOutcome) -> Option<SoftSpec> {
        if self.is_last(done) || (self.most > 0 && last.found.violation.0 <= Self::CLOSE) {
            return None;
        }
        let mut next = spec.clone();
        next.rho = self.rhos.get(done).copied().unwrap_or(spec.rho);
        if self.most > 0 {
            next.multipliers.clone_from(&last.messages);
        }
        Some(next)
    }
}
