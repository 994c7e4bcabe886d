//! Runs as series and as a table.

use super::runs::{Row, Run};
use crate::reproduce::claims::Findings;
use maxmargin_report::{Series, format_number};
use std::fmt::Write as _;

pub(super) fn series(run: &Run) -> Series {
    let rows = || run.rows.iter();
    let known = |x: f64| (!x.is_nan()).then_some(x);
    Series::new(run.name.as_str())
        .column("epochs", rows().map(|row| row.epochs))
        .column("seconds", rows().map(|row| row.seconds.max(1e-3)))
        .column("primal", rows().map(|row| row.primal))
        .column("dual", rows().map(|row| row.dual))
        .column("hard", rows().map(|row| known(row.hard)))
        .column("test", rows().map(|row| known(row.test)))
}

/// The least hard objective of all.
pub(super) fn best(runs: &[Run]) -> f64 {
    let hard = runs.iter().flat_map(|run| &run.rows).map(|row| row.hard);
    hard.filter(|hard| hard.is_finite()).fold(f64::INFINITY, f64::min)
}

/// Seconds until the hard objective is within a share of the best.
pub(super) fn seconds_to(run: &Run, best: f64, share: f64) -> Option<f64> {
    run.rows.iter().find(|row| row.hard <= best * (1.0 + share)).map(|row| row.seconds)
}

pub(super) fn last(run: &Run) -> Option<&Row> {
    run.rows.last()
}

pub(super) fn table(findings: &mut Findings, name: &str, runs: &[Run]) {
    let best = best(runs);
    let _ = write!(
        findings.details,
        "\n## {name}, best hard objective {}\n\n| Method | Time to 10 % | to 1 % | to 0.1 % | Own \
         objective | Hard objective | Test error | Micro F1 |\n|---|---|---|---|---|---|---|---|\n",
        format_number(best)
    );
    for run in runs {
        let to = |share| {
            seconds_to(run, best, share).map_or_else(|| "–".to_owned(), |s| format!("{s:.2} s"))
        };
        let Some(row) = last(run) else { continue };
        let _ = writeln!(
            findings.details,
            "| {} | {} | {} | {} | {} | {} | {:.2} % | {:.2} % |",
            run.name,
            to(0.1),
            to(0.01),
            to(0.001),
            row.primal.map_or_else(|| "–".to_owned(), format_number),
            format_number(row.hard),
            100.0 * row.test,
            100.0 * run.f1
        );
    }
}
