//! What a training has come to, and rounds of it where constraints are soft.

use crate::model::Model;
use crate::origin::Origin;
use crate::problem_role::ProblemRole;
use crate::spec::{SoftSpec, Spec};
use maxmargin::kernel::Support;
use maxmargin::model::soft::SoftGraph;
use maxmargin::{Settings, Solution};

/// What a training has come to, on a problem of any type.
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
    /// The inputs that they belong to, if there is a kernel.
    support: Option<Support>,
    soft: Option<SoftOutcome>,
}

impl Outcome {
    /// What a solution comes to, given the role of its problem.
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

    /// What soft training has come to, if it was such.
    pub fn soft(&self) -> Option<&SoftOutcome> {
        self.soft.as_ref()
    }

    /// The model that it makes.
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

/// What soft training has come to: what a model says of it, and its messages.
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
    /// What the weights of a problem have come to.
    pub fn new(problem: &SoftGraph, weights: &[f64]) -> Self {
        let mut found = SoftSpec::new(problem.rho());
        found.note(problem, weights);
        Self { found, messages: problem.messages(weights) }
    }

    /// Takes note of it.
    pub fn note(&self, spec: &mut SoftSpec) {
        let SoftSpec { blocks, messages, hard_objective, violation, .. } = self.found;
        *spec = SoftSpec { blocks, messages, hard_objective, violation, ..spec.clone() };
    }
}

/// Rounds of soft training, each from where the last one ended.
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
    /// One ρ after the other.
    pub rhos: Vec<f64>,
    /// How many rounds with multipliers there may be.
    pub most: usize,
}

impl SoftRounds {
    /// Multipliers are done when variables and factors agree so well.
    pub const CLOSE: f64 = 1e-6;

    /// How many there may be.
    pub fn count(&self) -> usize {
        self.rhos.len().max(self.most).max(1)
    }

    /// Whether no round can follow after `done` ones.
    pub fn is_last(&self, done: usize) -> bool {
        done >= self.count()
    }

    /// The soft constraints of the round after `done` ones, if one follows.
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
