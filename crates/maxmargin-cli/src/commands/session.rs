//! A training: what takes part in it, and its rounds.

use super::resume::Saver;
use super::soft;
use super::train::on_ctrl_c;
use crate::kind::{self, Kind, ProblemRole, Training, UseProblem};
use crate::report::Trace;
use crate::screen::Screen;
use anyhow::{Context as _, Result, anyhow};
use maxmargin::evaluate::SequenceErrors;
use maxmargin::observe::{Control, Event, JsonLines, Observer, Start, Table, Thinned, Totals};
use maxmargin::{Checkpoint, DualPoint, GroupBounds, Problem, Settings, Status, Trainer};
use maxmargin_io::{Model, Outcome, SoftRounds, Spec};
use std::borrow::Cow;
use std::io::Write;

/// The table shows a row when the passes have grown by this factor; the trace has them all.
const TABLE_GROWTH: f64 = 1.25;

/// Tells a problem that is made for one λ which one it is.
pub(super) fn fix_lambda<K: Kind>(data: &mut Training<K>, settings: &mut Settings) -> Result<()> {
    let mut spec: Spec = data.spec.clone().into();
    let lambda = settings.lambda.unwrap_or(1.0 / K::count(&data.examples).max(1) as f64);
    if !spec.fix_lambda(lambda) {
        return Ok(());
    }
    settings.lambda = Some(lambda);
    data.spec = K::Spec::try_from(spec).map_err(|_| anyhow!("the model is of another kind"))?;
    Ok(())
}

/// How a model is learned from data.
#[derive(Default)]
pub(super) struct Task {
    /// Where constraints are soft.
    pub(super) rounds: SoftRounds,
    pub(super) bounds: GroupBounds,
    /// The λ and the dual point of a model to start from.
    pub(super) start: Option<(f64, DualPoint)>,
}

/// The error of the weights of a problem on some data.
pub(super) type ErrorOf<'a> = &'a dyn Fn(&[f64], ProblemRole<'_>) -> f64;

/// The errors of the weights of a problem.
pub(super) fn errors_of<K: Kind>(
    spec: &K::Spec,
    w: &[f64],
    beside: ProblemRole<'_>,
    examples: &K::Examples,
) -> SequenceErrors {
    let Some(inputs) = beside.inputs() else { return K::errors(spec, w, examples) };
    let (support, weights) = inputs.keep(w);
    let mut whole: Spec = spec.clone().into();
    if let Some(own) = whole.kernel_mut() {
        own.support = support;
    }
    match K::Spec::try_from(whole) {
        Ok(spec) => K::errors(&spec, &weights, examples),
        Err(_) => unreachable!("it was of this kind before"),
    }
}

/// What a trained model says of itself, which is more than was known before.
pub(super) fn spec_of<K: Kind>(model: &Model) -> Result<K::Spec> {
    let spec = K::Spec::try_from(model.meta.spec.clone());
    spec.map_err(|_| anyhow!("the model is of another kind"))
}

/// What takes part in a training, all of it optional.
#[derive(Default)]
pub(super) struct Company<'a> {
    /// A file for JSON lines.
    pub(super) lines: Option<&'a mut dyn Write>,
    /// The error of weights on validation data.
    pub(super) error: Option<ErrorOf<'a>>,
    pub(super) saver: Option<&'a mut Saver>,
    /// Where to go on from.
    pub(super) checkpoint: Option<Checkpoint<'static>>,
}

impl Company<'_> {
    /// For one round; what is there once goes with the first.
    fn borrow(&mut self) -> Company<'_> {
        Company {
            lines: self.lines.as_mut().map(|lines| &mut **lines as &mut dyn Write),
            error: self.error,
            saver: self.saver.as_deref_mut(),
            checkpoint: self.checkpoint.take(),
        }
    }
}

impl Task {
    /// Trains, watched by the screen, the trace, and whoever comes along.
    pub(super) fn train<K: Kind>(
        &self,
        data: Training<K>,
        settings: &Settings,
        screen: &Screen,
        trace: &mut Trace,
        company: Company<'_>,
    ) -> Result<Model> {
        let Training { examples, origin, spec } = data;
        let (n, mut spec) = (K::count(&examples), spec);
        let bounds = kind::resolve(&self.bounds, &spec.clone().into())?;
        let mut start = Cow::Borrowed(&self.start);
        // There is one copy of the data, unless rounds may follow that need them too.
        let mut kept = Some(examples);
        let (mut company, mut totals) = (company, Totals::default());
        for done in 1.. {
            let mut whole: Spec = spec.clone().into();
            if let Some(own) = whole.soft() {
                soft::announce(&self.rounds, done - 1, own, screen);
            }
            let start_from = start.as_ref().as_ref();
            let company = company.borrow();
            let session = Session { start: start_from, settings, screen, trace, company };
            let is_last = whole.soft().is_none() || self.rounds.is_last(done);
            let examples = if is_last { kept.take() } else { kept.clone() };
            let examples = examples.context("there is no round after the last one")?;
            let mut outcome = K::with_problem(&spec, examples, bounds.clone(), session)?;
            totals = totals.and(&outcome.solution.totals);
            let interrupted = outcome.solution.status == Status::Interrupted;
            if let (Some(own), Some(soft)) = (whole.soft_mut(), outcome.soft())
                && !interrupted
                && let Some(next) = self.rounds.next(done, own, soft)
            {
                start = Cow::Owned(Some((own.lambda, outcome.solution.dual)));
                *own = next;
                spec = K::Spec::try_from(whole).map_err(|_| anyhow!("another kind"))?;
                continue;
            }
            outcome.solution.totals = totals;
            let mut model = outcome.into_model(origin, whole, settings.clone());
            model.meta.n = n;
            model.meta.bounds = self.bounds.clone();
            return Ok(model);
        }
        unreachable!("rounds come to an end")
    }
}

/// A training about to begin, on whatever problem.
struct Session<'a, 'c> {
    start: Option<&'a (f64, DualPoint)>,
    settings: &'a Settings,
    screen: &'a Screen,
    trace: &'a mut Trace,
    company: Company<'c>,
}

impl UseProblem for Session<'_, '_> {
    type Result = Outcome;

    fn go_with<P: Problem>(self, problem: &P, beside: ProblemRole<'_>) -> Result<Outcome> {
        let Self { start, settings, screen, trace, company } = self;
        let Company { lines, error, saver, checkpoint } = company;
        let mut error = error.map(|error| move |w: &[f64]| error(w, beside));
        let mut table = Thinned::new(TABLE_GROWTH, Table::new(screen.clone()));
        let mut bar = screen.clone();
        let mut lines = lines.map(|to| AsAsked { observer: JsonLines::new(to), settings });
        let block_gaps = settings.block_gaps || trace.wants_blocks();
        let mut trainer = Trainer::new(Settings { block_gaps, ..settings.clone() })
            .interrupt(on_ctrl_c(screen)?)
            .observe(trace)
            .observe(&mut table)
            .observe(&mut bar);
        if let Some(lines) = &mut lines {
            trainer = trainer.observe(lines);
        }
        if let Some(error) = &mut error {
            trainer = trainer.validate(error);
        }
        let every = saver.as_ref().map(|saver| saver.every);
        let mut kept = saver
            .as_ref()
            .map(|saver| AsAsked { observer: JsonLines::new(saver.lines.clone()), settings });
        let mut save = saver.map(|saver| |checkpoint: &Checkpoint<'_>| saver.save(checkpoint));
        if let (Some(every), Some(kept), Some(save)) = (every, &mut kept, &mut save) {
            trainer = trainer.observe(kept).checkpoint(every, save);
        }
        if let Some(checkpoint) = checkpoint {
            trainer = trainer.resume(checkpoint);
        }
        if let Some((old, point)) = start {
            trainer = trainer.start_from(beside.start(problem, settings.lambda, *old, point));
        }
        let solution = trainer.train(problem);
        screen.done();
        let solution = solution?;
        if let Some(lines) = lines {
            lines.observer.finish().context("the trace could not be written")?;
        }
        Ok(Outcome::new(solution, beside))
    }
}

/// Shows a run as it was asked for: block gaps that are there for the report alone are not seen.
struct AsAsked<'s, O> {
    observer: O,
    settings: &'s Settings,
}

impl<O: Observer> Observer for AsAsked<'_, O> {
    fn event(&mut self, event: Event<'_>) -> Control {
        match event {
            Event::Start(start) => {
                let start = Start { settings: self.settings.clone(), ..start.clone() };
                self.observer.event(Event::Start(&start))
            }
            Event::Pass { record, block_gaps } => {
                let block_gaps = block_gaps.filter(|_| self.settings.block_gaps);
                self.observer.event(Event::Pass { record, block_gaps })
            }
            Event::Estimate { .. } if !self.settings.block_gaps => Control::Continue,
            other => self.observer.event(other),
        }
    }
}
