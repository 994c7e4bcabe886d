//! The report of a comparison, and its figures.

use super::curves::{AtLambda, COLUMNS, by_lambda};
use super::runner::Results;
use super::summary::{LambdaSummary, Summary};
use crate::report::{command, time_bar};
use maxmargin_report::{
    Bars, Figure, Plot, Prose, Report, Section, Series, Table, XAxis, YAxis, format_number,
};
use std::fmt::Write as _;

/// The page, with one set of sections for each λ.
pub(super) fn page(summary: &Summary, results: &Results, line: &[String]) -> Report {
    let title = format!("Methods compared on {}", command::file_name(&summary.conditions.data));
    let mut report = Report::new(title)
        .footer(format!("maxmargin {}", env!("CARGO_PKG_VERSION")))
        .with(Prose::new("How").paragraph(summary.how()));
    sections(summary, results, "").into_iter().for_each(|section| report.push(section));
    if let Some(command) = command::section(line, &command::date()) {
        report.push(command);
    }
    report
}

/// What a comparison has found, for a page of its own or a part of one whose headings say `where_`.
pub fn sections(summary: &Summary, results: &Results, where_: &str) -> Vec<Section> {
    let mut sections = Vec::new();
    for (at, told) in by_lambda(results).iter().zip(&summary.lambdas) {
        let place = format!("{where_}λ = {}", format_number(at.lambda));
        let mut words = Prose::new(format!("Who wins at {place}"));
        for line in told.in_words() {
            words = words.paragraph(line);
        }
        sections.push(words.into());
        sections.push(convergence(at, &format!("Convergence at {place}")).into());
        sections.push(table(told, &format!("Figures at {place}")).into());
        sections.push(time(at, &format!("Where the time went at {place}")).into());
    }
    for (method, why) in &summary.skipped {
        let text = format!("{where_}{method}: {why}.");
        sections.push(Prose::new("Left out").paragraph(text).into());
    }
    sections
}

/// Curves over the seeds: medians, and bands from the least to the largest.
pub fn convergence(at: &AtLambda<'_>, heading: &str) -> Plot {
    let off = at.off_scale();
    let mut note =
        "Lines are medians over the seeds, bands go from the least to the largest.".to_owned();
    if !off.is_empty() {
        let names: Vec<String> = off.iter().map(|name| format!("`{name}`")).collect();
        let _ = write!(
            note,
            " Off the scale and switched off: {}; the legend switches them on.",
            names.join(", ")
        );
    }
    let mut plot = Plot::new(heading)
        .note(note)
        .x(XAxis::new("passes", "Effective passes").log())
        .x(XAxis::new("own_passes", "Effective passes without gap checks").log())
        .x(XAxis::new("seconds", "Seconds").log())
        .x(XAxis::new("own_seconds", "Seconds without gap checks").log())
        .y(YAxis::new("gap", "Duality gap").log())
        .y(YAxis::new("subopt", "Primal objective above the best dual seen").log())
        .y(YAxis::new("primal", "Primal objective"))
        .y(YAxis::new("dual", "Dual objective"));
    for (column, label) in [("train", "Train error"), ("test", "Test error")] {
        if at.groups.iter().any(|group| group.last(column).is_some()) {
            plot = plot.y(YAxis::new(column, label));
        }
    }
    for group in &at.groups {
        let mut series = Series::new(group.method);
        for column in COLUMNS {
            let spreads = group.column(column);
            series = series.column(column, spreads.iter().map(|s| s.map(|s| s.median)));
            if group.runs.len() > 1 {
                let low = spreads.iter().map(|s| s.map(|s| s.min));
                series = series.band(column, low, spreads.iter().map(|s| s.map(|s| s.max)));
            }
        }
        let is_off = off.contains(&group.method);
        plot = plot.series(if is_off { series.switched_off() } else { series });
    }
    plot
}

fn table(told: &LambdaSummary, heading: &str) -> Table {
    let mut table = Table::new(heading)
        .note("Medians over the seeds; – where not all of them got there within their budget.");
    for (at, head) in told.heads().into_iter().enumerate() {
        table = if at == 0 { table.text_column(head) } else { table.number_column(head) };
    }
    for method in &told.methods {
        table = table.row(told.cells(method));
    }
    table
}

fn time(at: &AtLambda<'_>, heading: &str) -> Bars {
    let mut bars = Bars::new(heading).unit("s").note("Of the first seed.");
    for run in at.groups.iter().filter_map(|group| group.runs.first()) {
        bars = bars.bar(time_bar(&run.method, &run.end.totals));
    }
    bars
}

/// Still pictures of the curves, each with a name for its file.
pub fn figures(results: &Results) -> Vec<Figure> {
    let mut figures = Vec::new();
    for at in by_lambda(results) {
        let plot = convergence(&at, &format!("λ = {}", format_number(at.lambda)));
        for (y, axis) in plot.y.iter().enumerate() {
            let Some(curve) = axis.curves.first() else { continue };
            for (x, name) in [(0, "passes"), (2, "seconds")] {
                let name = format!("{}-{name}_lambda-{:e}", curve.column, at.lambda);
                figures.push(Figure::new(name, &plot, x, y));
            }
        }
    }
    figures
}
