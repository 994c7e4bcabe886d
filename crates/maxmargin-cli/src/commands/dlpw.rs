//! DLPW, which is no Frank-Wolfe method: no dual point and no proof, only an objective.

use super::train::on_ctrl_c;
use crate::report::Trace;
use crate::screen::Screen;
use anyhow::{Context as _, Result, bail};
use maxmargin::model::soft::{DlpwRow, DlpwSettings, SoftGraph, dlpw_watched};
use maxmargin::observe::{
    Control, End, Event, JsonLines, Observer as _, Record, Start, StepSizes, Totals,
};
use maxmargin::{Certificate, DualPoint, Problem as _, Quality, Settings, Solution, Status};
use std::io::Write;

/// Rows of the table get rarer by this factor.
const GROWTH: f64 = 1.25;

/// Trains by DLPW. All that is known is the hard objective, which rows of the trace have as `second`,
/// like those of soft training.
pub(super) fn train(
    problem: &SoftGraph,
    temperature: Option<f64>,
    settings: &Settings,
    screen: &Screen,
    trace: &mut Trace,
    lines: Option<&mut dyn Write>,
) -> Result<Solution> {
    let (epochs, max_seconds) = (settings.max_passes, settings.max_seconds);
    let own = DlpwSettings { epochs, max_seconds, temperature, seed: settings.seed };
    let interrupt = on_ctrl_c(screen)?;
    let mut lines = lines.map(JsonLines::new);
    let mut write = |event: Event<'_>| {
        if let Some(lines) = &mut lines {
            lines.event(event);
        }
    };
    write(Event::Start(&start(problem, settings)));
    screen.say(format!("{:>7} {:>14} {:>9}", "pass", "hard objective", "seconds"));
    let say = |row: &DlpwRow| {
        let DlpwRow { epoch, seconds, hard_objective } = row;
        screen.say(format!("{epoch:>7} {hard_objective:>14.6} {seconds:>8.2}s"));
    };
    let (mut next, mut said) = (1.0, 0);
    let found = dlpw_watched(problem, &own, |row| {
        let record = record(row);
        write(Event::Pass { record: &record, block_gaps: None });
        trace.push(record);
        if row.epoch as f64 >= next {
            say(row);
            next = (row.epoch as f64 * GROWTH).max(row.epoch as f64 + 1.0);
            said = row.epoch;
        }
        if interrupt.is_raised() { Control::Stop } else { Control::Continue }
    })?;
    found.history.last().filter(|last| last.epoch != said).iter().for_each(|last| say(last));
    let Some(last) = found.history.last() else { bail!("DLPW has not made a single pass") };
    let status = match last.epoch < epochs {
        false => Status::MaxPasses,
        true if interrupt.is_raised() => Status::Interrupted,
        true => Status::MaxSeconds,
    };
    let (primal, lambda, quality) = (last.hard_objective, problem.lambda(), Quality::UpperBound);
    let certificate = Certificate { lambda, primal, dual: 0.0, gap: primal, quality };
    let totals = Totals { passes: last.epoch, seconds: last.seconds, ..Totals::default() };
    write(Event::End(&End { status, certificate, totals, validation: None }));
    if let Some(lines) = lines {
        lines.finish().context("the trace could not be written")?;
    }
    Ok(Solution {
        weights: found.weights,
        dual: DualPoint { blocks: Vec::new() },
        lambda,
        certificate,
        status,
        totals,
        choice: None,
        validation: None,
    })
}

fn start(problem: &SoftGraph, settings: &Settings) -> Start {
    Start {
        n: problem.examples(),
        d: problem.weights(&vec![0.0; problem.dim()]).len(),
        lambda: problem.lambda(),
        quality: Quality::UpperBound,
        settings: settings.clone(),
        validates: false,
        resumed: None,
    }
}

/// A pass as a row of a trace.
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
        primal: None,
        gap: None,
        estimate: None,
        second: Some(row.hard_objective),
        validation: None,
        steps: StepSizes::default(),
        drift: None,
        cache: None,
    }
}

/// What is known afterwards, for people.
pub(super) fn in_words(c: &Certificate) -> String {
    format!(
        "The hard objective, over the LP relaxation, is at most {:.6}. How far that is from the\n\
         optimum is not known: this training has no certificate.\n",
        c.primal
    )
}
