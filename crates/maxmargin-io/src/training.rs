//! Training: from a specification and examples to a model, in one round or in several.

use crate::examples::Examples;
use crate::lambda::LambdaSource;
use crate::model::Model;
use crate::origin::Origin;
use crate::outcome::{Outcome, SoftRounds};
use crate::problem::ProblemError;
use crate::problem_role::ProblemRole;
use crate::spec::Spec;
use crate::standardise::Scaling;
use maxmargin::observe::Totals;
use maxmargin::{Blocks, DualPoint, GroupBounds, Settings, Solution, Status};

/// Examples to learn from, their origin, and the specification of the model.
///
/// ```
/// use maxmargin::model::chain::{ChainShape, Hamming};
/// use maxmargin::{Settings, Trainer};
/// use maxmargin_io::{
///     ChainSpec, Examples, Format, Lines, Origin, Training, TrainingPlan, open_reader, read_training,
/// };
///
/// let lines = Lines::from_reader("pets.txt", "noun\tcat\nverb\tpurrs\n".as_bytes())?;
/// let data = read_training(open_reader(lines, Some(Format::Crfsuite))?)?;
/// let (shape, loss) = (ChainShape::new(2, data.attributes.len()), Hamming::default());
/// let spec = ChainSpec { shape, loss, kernel: None, rescaling: Default::default() }.into();
/// let origin = Origin::from(&data);
/// let training = Training { spec, examples: Examples::from(data.sequences), origin };
///
/// let settings = Settings::default();
/// let model = training.train(&TrainingPlan::default(), &settings, |round| {
///     let trained = Trainer::new(settings.clone()).train(round.problem);
///     trained.map_err(Box::<dyn std::error::Error>::from)
/// })?;
/// assert!(model.meta.certificate.gap <= 0.01);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Training {
    /// The specification of the model.
    pub spec: Spec,
    /// The examples.
    pub examples: Examples,
    /// Where they come from.
    pub origin: Origin,
}

/// How a model is trained, besides the settings of the solver.
///
/// ```
/// assert!(maxmargin_io::TrainingPlan::default().start.is_none());
/// ```
#[derive(Debug, Clone, Default)]
pub struct TrainingPlan {
    /// Bounds on groups of weights.
    pub bounds: GroupBounds,
    /// The rounds, if constraints are soft.
    pub rounds: SoftRounds,
    /// The λ and the dual point of a model to start from.
    pub start: Option<(f64, DualPoint)>,
    /// Where the λ of the settings comes from. The model states it.
    pub lambda_source: Option<LambdaSource>,
    /// The scaling that was applied to the attributes of the examples. The model has weights for attributes without
    /// it.
    pub scaling: Option<Scaling>,
}

/// A round of training that is about to begin; see [`Training::train`].
pub struct Round<'a> {
    /// Its number, from 1.
    pub number: usize,
    /// The specification of the model.
    pub spec: &'a Spec,
    /// The settings of the training, with the time and the oracle calls that earlier rounds have left.
    pub settings: Settings,
    /// The problem.
    pub problem: &'a dyn Blocks,
    /// The relation between the weights of the problem and those of its model.
    pub role: ProblemRole<'a>,
    /// The dual point to start from, if there is one.
    pub start: Option<DualPoint>,
}

impl Training {
    /// Sets the λ of a specification whose problem is made for one λ: that of the settings, or 1/n, which is then
    /// written to the settings.
    pub fn fix_lambda(&mut self, settings: &mut Settings) {
        let lambda = settings.lambda.unwrap_or(1.0 / self.examples.len().max(1) as f64);
        if self.spec.fix_lambda(lambda) {
            settings.lambda = Some(lambda);
        }
    }

    /// Trains in one round or in several, and makes a model of the result. `run` carries out each round. If a round
    /// is interrupted or stopped, or if the time or the oracle calls of the training are used up, no other round follows.
    ///
    /// # Errors
    /// If examples or bounds do not fit the specification, and the errors of `run`.
    pub fn train<E: From<ProblemError>>(
        self,
        plan: &TrainingPlan,
        settings: &Settings,
        mut run: impl FnMut(Round<'_>) -> Result<Solution, E>,
    ) -> Result<Model, E> {
        let Self { mut spec, examples, origin } = self;
        let n = examples.len();
        // The λ and the dual point at the end of the last round.
        let mut reached: Option<(f64, DualPoint)> = None;
        let (mut examples, mut totals, mut number) = (Some(examples), Totals::default(), 1);
        loop {
            // There is only one copy of the data, unless later rounds may need the data too.
            let is_last = spec.soft().is_none() || plan.rounds.is_last(number);
            let own = if is_last { examples.take() } else { examples.clone() };
            let own = own.expect("no round follows the last one");
            let built = spec.problem(own, &plan.bounds)?;
            let (problem, role) = (built.blocks(), built.role());
            let start = reached.as_ref().or(plan.start.as_ref());
            let start =
                start.map(|(lambda, point)| role.start(problem, settings.lambda, *lambda, point));
            // The first round gets the limit as it is, so that an invalid limit is refused.
            let left = |most: f64| match number {
                1 => most,
                _ => (most - totals.seconds).max(f64::MIN_POSITIVE),
            };
            let max_seconds = settings.max_seconds.map(left);
            // A round that begins has calls left.
            let unused = |most: u64| most.saturating_sub(totals.oracle_calls);
            let max_oracle_calls = settings.max_oracle_calls.map(unused);
            let own = Settings { max_seconds, max_oracle_calls, ..settings.clone() };
            let round = Round { number, spec: &spec, settings: own, problem, role, start };
            let mut outcome = Outcome::new(run(round)?, role);
            totals = totals.and(&outcome.solution.totals);
            let is_over = |status| {
                matches!(status, Status::Interrupted | Status::Stopped | Status::MaxSeconds)
            };
            let are_calls_left =
                settings.max_oracle_calls.is_none_or(|most| totals.oracle_calls < most);
            let may_go_on = are_calls_left && !is_over(outcome.solution.status);
            if let (Some(own), Some(soft)) = (spec.soft_mut(), outcome.soft())
                && may_go_on
                && let Some(next) = plan.rounds.next(number, own, soft)
            {
                reached = Some((own.lambda, outcome.solution.dual));
                *own = next;
                number += 1;
                continue;
            }
            outcome.solution.totals = totals;
            let Solution { status, weights, certificate, .. } = &mut outcome.solution;
            if !matches!(status, Status::Interrupted | Status::MaxSeconds) {
                built.state_missed(certificate, weights, settings.threads);
            }
            let mut model = outcome.into_model(origin, spec, settings.clone());
            model.meta.n = n;
            model.meta.bounds = plan.bounds.clone();
            model.meta.lambda_source = plan.lambda_source.clone();
            if let Some(scaling) = &plan.scaling {
                scaling.to_raw(&model.meta.spec, &mut model.weights);
                model.meta.scaling = Some(scaling.clone());
            }
            return Ok(model);
        }
    }
}

#[cfg(test)]
mod tests;
