//! DLPW, which is no Frank-Wolfe method: no dual point and no proof, only an objective.

use super::train::on_ctrl_c;
use crate::report::Trace;
use crate::screen::Screen;
use anyhow::{Context as _, Result};
use maxmargin::model::soft::{SoftGraph, train_dlpw};
use maxmargin::observe::{Control, End, Event, JsonLines, Observer as _, Record, Start};
use maxmargin::{Certificate, Problem as _, Quality, Settings, Solution};
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
    let interrupt = on_ctrl_c(screen)?;
    let mut lines = lines.map(JsonLines::new);
    let mut write = |event: Event<'_>| {
        if let Some(lines) = &mut lines {
            lines.event(event);
        }
    };
    write(Event::Start(&start(problem, settings)));
    screen.say(format!("{:>7} {:>14} {:>9}", "pass", "hard objective", "seconds"));
    let say = |row: &Record| {
        let (pass, seconds, objective) = (row.pass, row.seconds, row.second.unwrap_or(f64::NAN));
        screen.say(format!("{pass:>7} {objective:>14.6} {seconds:>8.2}s"));
    };
    let (mut next, mut unsaid) = (1.0, None);
    let solution = train_dlpw(problem, temperature, settings, &interrupt, |row| {
        write(Event::Pass { record: row, block_gaps: None });
        trace.push(row.clone());
        unsaid = Some(row.clone());
        if row.pass as f64 >= next {
            unsaid.take().iter().for_each(say);
            next = (row.pass as f64 * GROWTH).max(row.pass as f64 + 1.0);
        }
        Control::Continue
    })?;
    unsaid.iter().for_each(say);
    let Solution { status, certificate, totals, .. } = solution;
    write(Event::End(&End { status, certificate, totals, validation: None }));
    if let Some(lines) = lines {
        lines.finish().context("the trace could not be written")?;
    }
    Ok(solution)
}

fn start(problem: &SoftGraph, settings: &Settings) -> Start {
    Start {
        n: problem.examples(),
        d: problem.weights(&vec![0.0; problem.dim()]).len(),
        lambda: problem.lambda(),
        quality: Quality::UpperBound,
        settings: settings.clone(),
        validates: false,
        warm_start: None,
        resumed: None,
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
