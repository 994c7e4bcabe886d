//! The report of a path.

use super::words::Outcome;
use crate::report::command;
use maxmargin::{Breakpoint, Path, PathKind};
use maxmargin_report::{
    Facts, Plot, Prose, Report, Series, Table, XAxis, YAxis, format_number, format_seconds,
};

/// The page of a path, or a grid, over `data`.
pub(super) fn page(outcome: &Outcome, data: &str, line: &[String]) -> Report {
    let title = match outcome.path.kind {
        PathKind::Exact => "Regularization path",
        PathKind::Heuristic => "Heuristic regularization path",
        PathKind::GridCold => "Grid, each λ cold,",
        PathKind::GridWarmPrimal => "Grid, weights kept from λ to λ,",
        PathKind::GridWarmDual => "Grid, dual point kept from λ to λ,",
    };
    let mut report = Report::new(format!("{title} of {}", command::file_name(data)))
        .footer(format!("maxmargin {}", env!("CARGO_PKG_VERSION")))
        .with(Prose::new("In words").paragraph(outcome.in_words()))
        .with(facts(outcome));
    plots(outcome).into_iter().for_each(|plot| report.push(plot));
    report.push(table(outcome));
    if let Some(command) = command::section(line, &command::date()) {
        report.push(command);
    }
    report
}

/// What the entries of a path are called.
fn points(kind: PathKind) -> &'static str {
    if kind.is_grid() { "Values of λ" } else { "Breakpoints" }
}

fn facts(outcome: &Outcome) -> Facts {
    let path = &outcome.path;
    let last = path.breakpoints.last();
    let number = |value: f64| format_number(value);
    let mut facts = Facts::new("Result")
        .fact((points(path.kind), path.breakpoints.len().to_string().as_str()))
        .fact((
            if path.is_guaranteed() { "Guaranteed gap" } else { "Gap aimed at" },
            number(path.epsilon).as_str(),
        ))
        .fact(("Largest true gap", number(path.largest_gap()).as_str()))
        .fact(("Goes down to λ", number(path.lowest).as_str()));
    if let Some(last) = last {
        facts = facts
            .fact(("Oracle calls", number(last.oracle_calls as f64).as_str()))
            .fact(("Time", format_seconds(last.seconds).as_str()));
    }
    if path.kind == PathKind::Heuristic {
        let calls = number(path.audit_calls as f64);
        facts = facts.fact(("Oracle calls for the true gaps", calls.as_str()));
    }
    if let Some(error) = outcome.least_error() {
        facts = facts
            .fact(("Best λ", number(outcome.best().certificate.lambda).as_str()))
            .fact(("Least validation error", format!("{:.2} %", 100.0 * error).as_str()));
    }
    facts
}

/// One row of the plot: a breakpoint, or the end of its piece, where only the gap is known anew.
#[derive(Default)]
struct Row {
    lambda: f64,
    gap: f64,
    estimate: Option<f64>,
    calls: Option<f64>,
    seconds: Option<f64>,
    error: Option<f64>,
}

fn rows(outcome: &Outcome) -> Vec<Row> {
    let path = &outcome.path;
    let mut rows = Vec::new();
    for (at, b) in path.breakpoints.iter().enumerate() {
        rows.push(Row {
            lambda: b.certificate.lambda,
            gap: b.certificate.gap,
            estimate: Some(b.estimated_gap),
            calls: Some(b.oracle_calls as f64),
            seconds: Some(b.seconds),
            error: outcome.error(at),
        });
        let end = path.end_of(at);
        if end > 0.0 && end < b.certificate.lambda {
            rows.push(Row { lambda: end, gap: path.gap_at_end(at), ..Row::default() });
        }
    }
    rows
}

/// Gap, validation error and work against λ, each in a plot of its own, so that all can be seen at
/// once, on paper too.
fn plots(outcome: &Outcome) -> Vec<Plot> {
    let Path { kind, epsilon, .. } = outcome.path;
    let rows = rows(outcome);
    let series = Series::new(kind.name())
        .column("lambda", rows.iter().map(|row| row.lambda))
        .column("gap", rows.iter().map(|row| row.gap))
        .column("estimate", rows.iter().map(|row| row.estimate))
        .column("calls", rows.iter().map(|row| row.calls))
        .column("seconds", rows.iter().map(|row| row.seconds))
        .column("error", rows.iter().map(|row| row.error));
    let plot = |heading: &str| {
        Plot::new(heading).x(XAxis::new("lambda", "λ").log()).series(series.clone())
    };
    let gap = match kind {
        PathKind::Heuristic => YAxis::together(
            "Duality gap",
            [("gap", "True gap"), ("estimate", "What the solver took it for")],
        ),
        _ => YAxis::new("gap", "Duality gap"),
    };
    let note = match kind {
        PathKind::Exact => {
            "Between two breakpoints the weights stay the same, and their gap grows as λ falls; where \
             it reaches ε, new weights take over. The path runs from right to left."
        }
        PathKind::Heuristic => {
            "Between two breakpoints the weights stay the same, and their gap grows as λ falls; where \
             it is thought to reach ε, new weights take over. The path runs from right to left."
        }
        PathKind::GridCold | PathKind::GridWarmPrimal | PathKind::GridWarmDual => {
            "At each λ of the grid, which runs from right to left."
        }
    };
    let gap = plot("Duality gap").y(gap.guide("ε", epsilon)).note(note);
    let work = plot("Work")
        .y(YAxis::new("calls", "Oracle calls so far"))
        .y(YAxis::new("seconds", "Seconds so far"));
    let error = outcome
        .errors
        .is_some()
        .then(|| plot("Validation error").y(YAxis::new("error", "Share of wrong labels")));
    error.into_iter().chain([gap, work]).collect()
}

fn table(outcome: &Outcome) -> Table {
    let mut table = Table::new(points(outcome.path.kind))
        .number_column("λ")
        .number_column("Gap")
        .number_column("Oracle calls")
        .number_column("Seconds")
        .text_column("Status");
    if outcome.errors.is_some() {
        table = table.number_column("Validation error");
    }
    for (at, b) in outcome.path.breakpoints.iter().enumerate() {
        let mut cells = row(b);
        cells.extend(outcome.error(at).map(|error| format!("{:.2} %", 100.0 * error)));
        table = table.row(cells);
    }
    table
}

fn row(b: &Breakpoint) -> Vec<String> {
    vec![
        format_number(b.certificate.lambda),
        format_number(b.certificate.gap),
        format_number(b.oracle_calls as f64),
        format!("{:.2}", b.seconds),
        b.status.to_string(),
    ]
}
