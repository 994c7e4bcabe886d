//! A training, and its rounds where constraints are soft.

use crate::examples::Examples;
use crate::problem::{UseProblem, text, with_problem};
use crate::supervise::Reporter;
use maxmargin::observe::{Control, Event, Record, Totals};
use maxmargin::{
    DualPoint, GroupBounds, Interrupt, LambdaChoice, Problem, Settings, Status, Trainer,
    choose_lambda,
};
use maxmargin_io::{Model as ModelFile, Origin, Outcome, ProblemRole, SoftRounds, Spec};

/// The error of the weights of a problem on some data.
pub(crate) type ErrorOf<'a> = Box<dyn FnMut(&[f64], ProblemRole<'_>) -> f64 + Send + 'a>;

/// A training about to begin, on whatever problem.
pub(crate) struct Session<'a> {
    pub(crate) settings: Settings,
    pub(crate) start: Option<(f64, DualPoint)>,
    pub(crate) error: Option<ErrorOf<'a>>,
    pub(crate) interrupt: Interrupt,
    pub(crate) reporter: &'a Reporter,
    /// Whether a decoder that may be wrong is refused.
    pub(crate) exact: bool,
}

impl UseProblem for &mut Session<'_> {
    type Result = (Outcome, Vec<Record>);

    fn go_with<P: Problem>(
        self,
        problem: &P,
        beside: ProblemRole<'_>,
    ) -> Result<Self::Result, String> {
        if self.exact && !problem.quality().is_exact() {
            return Err(format!(
                "training=\"exact\" needs a decoder that is never wrong, and here {}; \
                 training=\"soft\" and training=\"lp\" go over a relaxation",
                problem.quality().explain()
            ));
        }
        let (reporter, interrupt) = (self.reporter, &self.interrupt);
        let mut rows = Vec::new();
        let mut watch = |event: Event<'_>| match event {
            Event::Pass { record, .. } => {
                rows.push(record.clone());
                reporter.tell(record)
            }
            _ => Control::Continue,
        };
        let mut error = self.error.as_mut().map(|error| move |w: &[f64]| error(w, beside));
        let settings = self.settings.clone();
        let lambda = settings.lambda;
        let mut trainer = Trainer::new(settings).interrupt(interrupt.clone()).observe(&mut watch);
        if let Some(error) = &mut error {
            trainer = trainer.validate(error);
        }
        if let Some((old, point)) = self.start.take() {
            trainer = trainer.start_from(beside.start(problem, lambda, old, &point));
        }
        let solution = trainer.train(problem).map_err(text)?;
        Ok((Outcome::new(solution, beside), rows))
    }
}

/// A search for λ about to begin, on whatever problem.
pub(crate) struct Search<'a> {
    /// Of these, the seed and the number of threads matter.
    pub(crate) settings: &'a Settings,
    pub(crate) lowest: f64,
    pub(crate) error: ErrorOf<'a>,
    pub(crate) interrupt: &'a Interrupt,
}

impl UseProblem for Search<'_> {
    type Result = LambdaChoice;

    fn go_with<P: Problem>(
        self,
        problem: &P,
        beside: ProblemRole<'_>,
    ) -> Result<LambdaChoice, String> {
        let Self { settings, lowest, mut error, interrupt } = self;
        choose_lambda(problem, settings, lowest, interrupt, |_, w| error(w, beside)).map_err(text)
    }
}

/// Trains in one round or several, and makes a model of what it has come to.
pub(crate) fn run_rounds(
    mut session: Session<'_>,
    rounds: &SoftRounds,
    mut spec: Spec,
    examples: Examples,
    bounds: &GroupBounds,
    origin: Origin,
) -> Result<(ModelFile, Vec<Record>), String> {
    // There is one copy of the data, unless rounds may follow that need them too.
    let mut kept = Some(examples);
    let (mut rows, mut totals) = (Vec::new(), Totals::default());
    for done in 1.. {
        let is_last = spec.soft().is_none() || rounds.is_last(done);
        let examples = if is_last { kept.take() } else { kept.clone() };
        let examples = examples.ok_or("there is no round after the last one")?;
        let (mut outcome, own) = with_problem(&spec, examples, bounds, &mut session)?;
        rows.extend(own);
        totals = totals.and(&outcome.solution.totals);
        let may_go_on = !matches!(outcome.solution.status, Status::Interrupted | Status::Stopped);
        if let (Some(own), Some(soft)) = (spec.soft_mut(), outcome.soft())
            && may_go_on
            && let Some(next) = rounds.next(done, own, soft)
        {
            session.start = Some((own.lambda, outcome.solution.dual));
            *own = next;
            continue;
        }
        outcome.solution.totals = totals;
        return Ok((outcome.into_model(origin, spec, session.settings), rows));
    }
    Err("rounds come to an end".to_owned())
}
