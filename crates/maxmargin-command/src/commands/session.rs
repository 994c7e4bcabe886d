//! A training: what takes part in it, and its rounds.

use super::resume::Saver;
use super::soft;
use crate::report::Trace;
use crate::screen::{Screen, on_ctrl_c};
use anyhow::{Context as _, Result};
use maxmargin::observe::{Control, Event, JsonLines, Observer, Table, Thinned};
use maxmargin::{Checkpoint, Settings, Solution, Trainer};
use maxmargin_io::{Examples, Model, ProblemRole, Round, Spec, Training, TrainingPlan};
use std::io::{LineWriter, Write};

/// The table shows a row when the passes have grown by this factor; the trace has them all.
const TABLE_GROWTH: f64 = 1.25;

/// The error of the weights of a problem on some data.
pub(super) type ErrorOf<'a> = &'a dyn Fn(&[f64], ProblemRole<'_>) -> f64;

/// The share of parts that the weights of a problem get wrong; not a number if data do not fit.
pub(super) fn error_of(
    spec: &Spec,
    role: ProblemRole<'_>,
    w: &[f64],
    examples: &Examples,
    threads: usize,
) -> f64 {
    spec.errors_in(role, w, examples, threads).map_or(f64::NAN, |errors| errors.parts.share())
}

/// What takes part in a training, all of it optional.
#[derive(Default)]
pub(super) struct SessionIo<'a> {
    /// A file for JSON lines.
    pub(super) lines: Option<&'a mut dyn Write>,
    /// The error of weights on validation data.
    pub(super) error: Option<ErrorOf<'a>>,
    pub(super) saver: Option<&'a mut Saver>,
    /// Where to go on from.
    pub(super) checkpoint: Option<Checkpoint<'static>>,
}

impl SessionIo<'_> {
    /// For one round; what is there once goes with the first.
    fn for_round(&mut self) -> SessionIo<'_> {
        SessionIo {
            lines: self.lines.as_mut().map(|lines| &mut **lines as &mut dyn Write),
            error: self.error,
            saver: self.saver.as_deref_mut(),
            checkpoint: self.checkpoint.take(),
        }
    }
}

/// Trains, watched by the screen, the trace, and whoever else takes part.
pub(super) fn train(
    data: Training,
    plan: &TrainingPlan,
    settings: &Settings,
    screen: &Screen,
    trace: &mut Trace,
    mut io: SessionIo<'_>,
) -> Result<Model> {
    screen.busy("preparing the training");
    data.train(plan, settings, |round| {
        if let Some(own) = round.spec.soft() {
            soft::announce(&plan.rounds, round.number, own, screen);
        }
        train_round(round, settings, screen, trace, io.for_round())
    })
}

fn train_round(
    round: Round<'_>,
    settings: &Settings,
    screen: &Screen,
    trace: &mut Trace,
    io: SessionIo<'_>,
) -> Result<Solution> {
    let SessionIo { lines, error, saver, checkpoint } = io;
    let mut error = error.map(|error| move |w: &[f64]| error(w, round.role));
    // Fragments of a line would each go above the live line.
    let lines_of_table = LineWriter::new(screen.clone());
    let mut table = Thinned::new(TABLE_GROWTH, Table::new(lines_of_table));
    let mut bar = screen.clone();
    let mut lines = lines.map(|to| AsAsked { observer: JsonLines::new(to), settings });
    let block_gaps = settings.block_gaps || trace.wants_blocks();
    let mut trainer = Trainer::new(Settings { block_gaps, ..round.settings })
        .interrupt(on_ctrl_c(screen)?)
        .observe(trace)
        .observe(&mut bar)
        .observe(&mut table);
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
    if let Some(point) = round.start {
        trainer = trainer.start_from(point);
    }
    let solution = trainer.train(round.problem);
    screen.done();
    let solution = solution?;
    if let Some(lines) = lines {
        lines.observer.finish().context("the trace could not be written")?;
    }
    Ok(solution)
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
                let mut start = start.clone();
                start.settings = self.settings.record();
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
