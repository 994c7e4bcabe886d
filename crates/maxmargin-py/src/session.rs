//! A training, and its rounds where constraints are soft.

use crate::examples::Examples;
use crate::problem::{UseProblem, text, with_problem};
use crate::supervise::Reporter;
use maxmargin::kernel::Support;
use maxmargin::model::soft::{DlpwRow, DlpwSettings, SoftGraph, dlpw_watched};
use maxmargin::observe::{Control, Event, Record, StepSizes, Totals};
use maxmargin::{
    Certificate, DualPoint, GroupBounds, Interrupt, Problem, Quality, Settings, Solution, Status,
    Trainer,
};
use maxmargin_io::{Beside, Model as ModelFile, SoftSpec, Spec};

/// Multipliers are done when variables and factors agree so well.
const CLOSE: f64 = 1e-6;

/// The dual point to start from, for a problem whose λ is `lambda`: at a smaller λ the weights are
/// kept, at a larger one the dual variables.
pub(crate) fn start_at<P: Problem>(
    problem: &P,
    (old, point): (f64, DualPoint),
    lambda: Option<f64>,
) -> DualPoint {
    let lambda = lambda.unwrap_or(1.0 / problem.examples() as f64);
    match lambda < old {
        true => point.rescaled(problem, lambda / old),
        false => point,
    }
}

/// The error of the weights of a problem on some data.
pub(crate) type ErrorOf<'a> = Box<dyn FnMut(&[f64], Beside<'_>) -> f64 + Send + 'a>;

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

/// What a training has come to.
pub(crate) struct Outcome {
    /// With the weights as the model keeps them.
    pub(crate) solution: Solution,
    pub(crate) rows: Vec<Record>,
    /// The inputs that the weights belong to, if there is a kernel.
    support: Option<Support>,
    soft: Option<SoftOutcome>,
}

/// What soft training has come to: what a model says of it, and its messages with the multipliers.
struct SoftOutcome {
    note: SoftSpec,
    messages: Vec<f64>,
}

impl UseProblem for &mut Session<'_> {
    type Result = Outcome;

    fn go_with<P: Problem>(self, problem: &P, beside: Beside<'_>) -> Result<Outcome, String> {
        if self.exact && !problem.quality().is_exact() {
            return Err(format!(
                "training=\"exact\" needs a decoder that is never wrong, and here {}; \
                 training=\"soft\" and training=\"lp\" go over a relaxation",
                problem.quality().explain()
            ));
        }
        if let Beside::Dlpw(problem, temperature) = beside {
            return train_dlpw(
                problem,
                temperature,
                &self.settings,
                &self.interrupt,
                self.reporter,
            );
        }
        let mut rows = Vec::new();
        let reporter = self.reporter;
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
        let mut trainer =
            Trainer::new(settings).interrupt(self.interrupt.clone()).observe(&mut watch);
        if let Some(error) = &mut error {
            trainer = trainer.validate(error);
        }
        if let Some(start) = self.start.take() {
            let start = start_at(problem, start, lambda);
            trainer = trainer.start_from(match beside {
                Beside::Soft(soft) if start.blocks.len() == soft.examples() => {
                    soft.with_losses(&start)
                }
                _ => start,
            });
        }
        let mut solution = trainer.train(problem).map_err(text)?;
        let support = beside.inputs().map(|inputs| {
            let (support, weights) = inputs.keep(&solution.weights);
            solution.weights = weights;
            support
        });
        let soft = match beside {
            Beside::Soft(problem) => {
                let mut note = SoftSpec::new(problem.rho());
                note.note(problem, &solution.weights);
                Some(SoftOutcome { note, messages: problem.messages(&solution.weights) })
            }
            _ => None,
        };
        Ok(Outcome { solution, rows, support, soft })
    }
}

/// Trains by DLPW. There is no dual point and no proof: all that is known is the objective.
fn train_dlpw(
    problem: &SoftGraph,
    temperature: Option<f64>,
    settings: &Settings,
    interrupt: &Interrupt,
    reporter: &Reporter,
) -> Result<Outcome, String> {
    let (epochs, max_seconds) = (settings.max_passes, settings.max_seconds);
    let own = DlpwSettings { epochs, max_seconds, temperature, seed: settings.seed };
    let (mut rows, mut stopped) = (Vec::new(), false);
    let found = dlpw_watched(problem, &own, |row| {
        let row = record(row);
        stopped = reporter.tell(&row) == Control::Stop;
        rows.push(row);
        if stopped || interrupt.is_raised() { Control::Stop } else { Control::Continue }
    });
    let found = found.map_err(text)?;
    let last = found.history.last().ok_or("DLPW has not made a single pass")?;
    let (lambda, primal) = (problem.lambda(), last.hard_objective);
    let certificate =
        Certificate { lambda, primal, dual: 0.0, gap: primal, quality: Quality::UpperBound };
    let solution = Solution {
        weights: found.weights,
        dual: DualPoint { blocks: Vec::new() },
        lambda,
        certificate,
        status: match last.epoch < epochs {
            false => Status::MaxPasses,
            true if interrupt.is_raised() => Status::Interrupted,
            true if stopped => Status::Stopped,
            true => Status::MaxSeconds,
        },
        totals: Totals { passes: last.epoch, seconds: last.seconds, ..Totals::default() },
        choice: None,
        validation: None,
    };
    Ok(Outcome { solution, rows, support: None, soft: None })
}

/// A pass of DLPW as a row of the history.
fn record(row: &DlpwRow) -> Record {
    Record {
        pass: row.epoch,
        visits: 0,
        oracle_calls: 0,
        effective_passes: row.epoch as f64,
        seconds: row.seconds,
        oracle_seconds: 0.0,
        gap_seconds: 0.0,
        dual: 0.0,
        primal: Some(row.hard_objective),
        gap: None,
        estimate: None,
        second: None,
        validation: None,
        steps: StepSizes::default(),
        drift: None,
        cache: None,
    }
}

/// Rounds of soft training, each from where the last one ended.
#[derive(Default)]
pub(crate) struct Rounds {
    /// One ρ after the other.
    pub(crate) rhos: Vec<f64>,
    /// How many rounds with multipliers there may be.
    pub(crate) most: usize,
}

impl Rounds {
    /// Whether no round can follow after `done` ones.
    fn is_last(&self, done: usize) -> bool {
        done >= self.rhos.len().max(self.most).max(1)
    }

    /// The soft constraints of the round after `done` ones, if one follows.
    fn next(&self, done: usize, spec: &SoftSpec, last: &SoftOutcome) -> Option<SoftSpec> {
        if self.is_last(done) || (self.most > 0 && last.note.violation.0 <= CLOSE) {
            return None;
        }
        let rho = self.rhos.get(done).copied().unwrap_or(spec.rho);
        let multipliers = if self.most > 0 { last.messages.clone() } else { Vec::new() };
        Some(SoftSpec { rho, multipliers, ..spec.clone() })
    }
}

/// Trains in one round or several; `finish` makes a model of what it has come to.
pub(crate) fn run_rounds(
    mut session: Session<'_>,
    rounds: &Rounds,
    mut spec: Spec,
    examples: Examples,
    bounds: &GroupBounds,
    finish: impl FnOnce(Spec, Settings, Solution) -> ModelFile,
) -> Result<(ModelFile, Vec<Record>), String> {
    // There is one copy of the data, unless rounds may follow that need them too.
    let mut kept = Some(examples);
    let (mut rows, mut totals) = (Vec::new(), Totals::default());
    for done in 1.. {
        let is_last = spec.soft().is_none() || rounds.is_last(done);
        let examples = if is_last { kept.take() } else { kept.clone() };
        let examples = examples.ok_or("there is no round after the last one")?;
        let outcome = with_problem(&spec, examples, bounds, &mut session)?;
        let Outcome { mut solution, rows: own, support, soft } = outcome;
        rows.extend(own);
        totals = together(&totals, &solution.totals);
        let may_go_on = !matches!(solution.status, Status::Interrupted | Status::Stopped);
        if let (Some(own), Some(soft)) = (spec.soft_mut(), &soft) {
            if may_go_on && let Some(next) = rounds.next(done, own, soft) {
                session.start = Some((own.lambda, solution.dual));
                *own = next;
                continue;
            }
            let SoftSpec { blocks, messages, hard_objective, violation, .. } = soft.note;
            *own = SoftSpec { blocks, messages, hard_objective, violation, ..own.clone() };
        }
        solution.totals = totals;
        let is_proven = !solution.dual.blocks.is_empty();
        let mut model = finish(spec, session.settings, solution);
        model.dual = model.dual.filter(|_| is_proven);
        let model = match support {
            Some(support) => model.with_support(support),
            None => model,
        };
        return Ok((model, rows));
    }
    Err("rounds come to an end".to_owned())
}

/// What two rounds took.
fn together(a: &Totals, b: &Totals) -> Totals {
    Totals {
        passes: a.passes + b.passes,
        visits: a.visits + b.visits,
        oracle_calls: a.oracle_calls + b.oracle_calls,
        seconds: a.seconds + b.seconds,
        oracle_seconds: a.oracle_seconds + b.oracle_seconds,
        gap_seconds: a.gap_seconds + b.gap_seconds,
        ..*b
    }
}
