//! The page of runs side by side.

use super::run_file::{RunFile, differ};
use crate::commands::compare::curves::Spread;
use crate::commands::compare::runner::Row;
use crate::report::{command, time_bar};
use maxmargin_report::{
    Bars, Plot, Prose, Report, Series, Table, XAxis, YAxis, format_number, format_seconds,
};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// A gap that is so many times that at which half of the runs begin is off the scale. It is larger than that of
/// comparisons, since these runs were asked for one by one.
const OFF_SCALE: f64 = 30.0;

/// Settings that are columns of the table already, or that have no part in the result.
const SHOWN: [&str; 3] = ["lambda", "seed", "threads"];

pub(super) fn page(runs: &[RunFile], line: &[String]) -> Report {
    let title = match runs {
        [run] => run.name.clone(),
        _ => format!("{} runs side by side", runs.len()),
    };
    let mut report = Report::new(title)
        .footer(format!("maxmargin {}", env!("CARGO_PKG_VERSION")))
        .with(in_words(runs))
        .with(table(runs))
        .with(convergence(runs));
    let ends = runs.iter().filter_map(|run| Some((run, run.end.as_ref()?)));
    let bars = ends.fold(Bars::new("Where the time went").unit("s"), |bars, (run, end)| {
        bars.bar(time_bar(&run.name, &end.totals))
    });
    report.push(bars);
    if let Some(table) = differences(runs) {
        report.push(table);
    }
    if let Some(command) = command::section(line, &command::date()) {
        report.push(command);
    }
    report
}

/// Who is ahead; and why that may mean little.
fn in_words(runs: &[RunFile]) -> Prose {
    let mut prose = Prose::new("In words");
    let first = |value: &dyn Fn(&RunFile) -> Option<f64>| {
        let known = runs.iter().filter_map(|run| Some((run, value(run)?)));
        known.min_by(|a, b| a.1.total_cmp(&b.1))
    };
    if let Some((run, gap)) = first(&RunFile::gap) {
        prose = prose.paragraph(match runs.len() {
            1 => format!("The run ends with a gap of {}.", format_number(gap)),
            _ => format!("The smallest gap is that of `{}`: {}.", run.name, format_number(gap)),
        });
    }
    if let (Some((run, error)), true) = (first(&validation), runs.len() > 1) {
        let share = format!("{:.2} %", 100.0 * error);
        prose = prose
            .paragraph(format!("The least validation error is that of `{}`: {share}.", run.name));
    }
    if differ(runs.iter().map(|run| run.size)) {
        prose = prose.paragraph(
            "The runs are on data of different sizes: neither their objectives nor their gaps compare.",
        );
    } else if differ(runs.iter().map(|run| run.lambda)) {
        prose = prose.paragraph("The runs have different λ: their objectives do not compare.");
    }
    let cut: Vec<&str> =
        runs.iter().filter(|run| run.end.is_none()).map(|run| run.name.as_str()).collect();
    if !cut.is_empty() {
        let names = cut.join(", ");
        prose = prose
            .paragraph(format!("Not over, or cut short, and so without a certificate: {names}."));
    }
    prose
}

fn validation(run: &RunFile) -> Option<f64> {
    run.rows.iter().filter_map(|row| row.record.validation).min_by(f64::total_cmp)
}

fn table(runs: &[RunFile]) -> Table {
    let mut table = Table::new("Runs").text_column("Run").text_column("Method");
    for head in ["λ", "Seed", "Passes", "Oracle calls", "Time", "Gap", "Objective"] {
        table = table.number_column(head);
    }
    let (validated, tested) = (
        runs.iter().any(|run| validation(run).is_some()),
        runs.iter().any(|run| test(run).is_some()),
    );
    if validated {
        table = table.number_column("Validation error");
    }
    if tested {
        table = table.number_column("Test error");
    }
    table = table.text_column("Status");
    for run in runs {
        let or_dash = |text: Option<String>| text.unwrap_or_else(|| "–".to_owned());
        let number = |value: Option<f64>| or_dash(value.map(format_number));
        let percent = |error: Option<f64>| or_dash(error.map(|e| format!("{:.2} %", 100.0 * e)));
        let last = run.rows.last().map(|row| &row.record);
        let mut cells = vec![
            run.name.clone(),
            run.method.clone(),
            number(run.lambda),
            run.settings.get("seed").map_or_else(|| "–".to_owned(), Value::to_string),
            number(last.map(|last| last.pass as f64)),
            number(last.map(|last| last.oracle_calls as f64)),
            or_dash(last.map(|last| format_seconds(last.seconds))),
            number(run.gap()),
            number(run.primal()),
        ];
        if validated {
            cells.push(percent(validation(run)));
        }
        if tested {
            cells.push(percent(test(run)));
        }
        cells.push(run.end.as_ref().map_or("cut short", |end| end.status.name()).to_owned());
        table = table.row(cells);
    }
    table
}

fn test(run: &RunFile) -> Option<f64> {
    run.last(|row| row.test_error)
}

/// Runs that end with a gap far above that at which half of them begin; none if all do.
fn off_scale(runs: &[RunFile]) -> Vec<bool> {
    let first = runs.iter().filter_map(|run| run.rows.iter().find_map(|row| row.record.gap));
    let usual = Spread::of(first).map_or(f64::INFINITY, |gap| gap.median);
    let off: Vec<bool> =
        runs.iter().map(|run| run.gap().is_some_and(|gap| gap > OFF_SCALE * usual)).collect();
    if off.iter().all(|off| *off) { vec![false; runs.len()] } else { off }
}

fn convergence(runs: &[RunFile]) -> Plot {
    let off = off_scale(runs);
    let mut plot = Plot::new("Convergence")
        .x(XAxis::new("passes", "Effective passes").log())
        .x(XAxis::new("calls", "Oracle calls").log())
        .x(XAxis::new("seconds", "Seconds").log())
        .y(YAxis::new("gap", "Duality gap").log())
        .y(YAxis::new("primal", "Primal objective"))
        .y(YAxis::new("dual", "Dual objective"));
    let knows = |value: fn(&Row) -> Option<f64>| {
        runs.iter().any(|run| run.rows.iter().any(|row| value(row).is_some()))
    };
    if knows(|row| row.record.validation) {
        plot = plot.y(YAxis::new("validation", "Validation error"));
    }
    if knows(|row| row.test_error) {
        plot = plot.y(YAxis::new("test", "Test error"));
    }
    let mut hidden = Vec::new();
    for (run, off) in runs.iter().zip(off) {
        let records = || run.rows.iter().map(|row| &row.record);
        let series = Series::new(run.name.clone())
            .column("passes", records().map(|row| row.effective_passes))
            .column("calls", records().map(|row| row.oracle_calls as f64))
            .column("seconds", records().map(|row| row.seconds))
            .column("gap", records().map(|row| row.gap))
            .column("primal", records().map(|row| row.primal))
            .column("dual", records().map(|row| row.dual))
            .column("validation", records().map(|row| row.validation))
            .column("test", run.rows.iter().map(|row| row.test_error));
        if off {
            hidden.push(format!("`{}`", run.name));
        }
        plot = plot.series(if off { series.switched_off() } else { series });
    }
    let mut note = "An effective pass is as many oracle calls as there are examples.".to_owned();
    if !hidden.is_empty() {
        let names = hidden.join(", ");
        let _ =
            write!(note, " Off the scale and switched off: {names}; the legend switches them on.");
    }
    plot.note(note)
}

/// The settings in which the runs differ, a column for each run.
fn differences(runs: &[RunFile]) -> Option<Table> {
    let mut keys: BTreeSet<&String> = BTreeSet::new();
    keys.extend(runs.iter().flat_map(|run| run.settings.keys()));
    let keys = keys.into_iter().filter(|key| !SHOWN.contains(&key.as_str()));
    let differing: Vec<&String> =
        keys.filter(|key| differ(runs.iter().map(|run| run.settings.get(*key)))).collect();
    if differing.is_empty() {
        return None;
    }
    let mut table = Table::new("Settings in which they differ").text_column("Run");
    for key in &differing {
        table = table.text_column(key.replace('_', "-"));
    }
    for run in runs {
        let cell = |key: &&String| match run.settings.get(*key) {
            None | Some(Value::Null) => "–".to_owned(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        };
        let cells = std::iter::once(run.name.clone()).chain(differing.iter().map(cell));
        table = table.row(cells);
    }
    Some(table)
}
