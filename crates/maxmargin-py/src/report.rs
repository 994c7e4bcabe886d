//! A page about a training.

use crate::error::file_error;
use maxmargin::observe::{Choice, Record, Totals};
use maxmargin::{Certificate, Solver, Status, Validation};
use maxmargin_io::{Model, SaveError, Spec, atomic_write};
use maxmargin_report::{
    Fact, Facts, Heatmap, Plot, Prose, Report, Series, Tone, XAxis, YAxis, format_number,
    format_seconds, format_significant,
};
use pyo3::PyResult;
use serde::Deserialize;
use std::path::Path;

/// A heat-map of more labels would be unreadable.
const MOST_HEATMAP_LABELS: usize = 64;

/// What every training has come to.
#[derive(Deserialize)]
pub(crate) struct Result {
    certificate: Certificate,
    status: Status,
    totals: Totals,
    choice: Option<Choice>,
    validation: Option<Validation>,
    solver: Solver,
    examples: usize,
    features: usize,
}

/// The page of a model.
pub(crate) fn page(model: &Model, rows: &[Record], title: &str) -> String {
    let meta = &model.meta;
    let result = Result {
        certificate: meta.certificate,
        status: meta.status,
        totals: meta.totals,
        choice: meta.choice.clone(),
        validation: meta.validation,
        solver: meta.settings.method.solver(),
        examples: meta.n,
        features: meta.d,
    };
    let footer = format!("maxmargin {}; training data {}", meta.version, meta.fingerprint);
    let mut report = begin(&result, meta.spec.kind(), rows, title).footer(footer);
    if let Spec::Chain(spec) = &meta.spec
        && spec.shape.groups.transition
        && spec.shape.labels <= MOST_HEATMAP_LABELS
    {
        let labels = || model.labels.iter().map(str::to_owned);
        let weights = model.scoring_weights()[spec.scoring_shape().transition()].to_vec();
        report.push(
            Heatmap::new("Transition weights", labels(), labels(), weights)
                .axes("label", "next label"),
        );
    }
    report.to_html()
}

/// The page of a structure that is defined in Python.
pub(crate) fn structure_page(result: &Result, rows: &[Record], title: &str) -> String {
    let footer = format!("maxmargin {}", env!("CARGO_PKG_VERSION"));
    begin(result, "structured", rows, title).footer(footer).to_html()
}

/// Writes a page to a file.
pub(crate) fn write(path: &Path, page: &str) -> PyResult<()> {
    let failed = |reason| SaveError { path: path.into(), reason };
    atomic_write(path, |to| to.write_all(page.as_bytes()).map_err(failed)).map_err(file_error)
}

/// What all pages begin with.
fn begin(result: &Result, kind: &str, rows: &[Record], title: &str) -> Report {
    let mut report = Report::new(title)
        .subtitle(format!(
            "{kind} model, {} features; solver {}, λ = {}",
            format_number(result.features as f64),
            result.solver,
            format_number(result.certificate.lambda)
        ))
        .with(certificate(result))
        .with(facts(result));
    if !rows.is_empty() {
        report.push(convergence(result, rows));
    }
    report
}

fn certificate(result: &Result) -> Prose {
    let c = &result.certificate;
    let prose = Prose::new("Certificate")
        .paragraph(format!("Training ended because {}.", result.status.explain()))
        .paragraph(format!(
            "The objective is {:.6}, its lower bound {:.6}, their distance {}; {}.",
            c.primal,
            c.dual,
            format_significant(c.gap, 4),
            c.quality.explain()
        ));
    match &result.choice {
        Some(choice) => prose.paragraph(format!("Chosen by auto: {}.", choice.reason)),
        None => prose,
    }
}

fn facts(result: &Result) -> Facts {
    let (c, t) = (&result.certificate, &result.totals);
    let reached = matches!(result.status, Status::Converged | Status::Patience);
    let tone = if reached { Tone::Good } else { Tone::Warning };
    let mut facts = Facts::new("Result")
        .fact(Fact::new("Status", result.status.name()).hint(result.status.explain()).tone(tone))
        .fact(Fact::new("Duality gap", format_number(c.gap)).hint(c.quality.name()).tone(tone));
    for (name, value) in [
        ("Primal objective", c.primal),
        ("Dual objective", c.dual),
        ("λ", c.lambda),
        ("Examples", result.examples as f64),
        ("Features", result.features as f64),
        ("Passes", t.passes as f64),
        ("Oracle calls", t.oracle_calls as f64),
    ] {
        facts = facts.fact((name, format_number(value).as_str()));
    }
    facts.fact(("Time", format_seconds(t.seconds).as_str()))
}

fn convergence(result: &Result, rows: &[Record]) -> Plot {
    let rows = || rows.iter();
    let series = Series::new(result.solver.name())
        .column("passes", rows().map(|r| r.effective_passes))
        .column("seconds", rows().map(|r| r.seconds))
        .column("gap", rows().map(|r| r.gap))
        .column("primal", rows().map(|r| r.primal))
        .column("dual", rows().map(|r| r.dual))
        .column("validation", rows().map(|r| r.validation));
    let plot = Plot::new("Convergence")
        .x(XAxis::new("passes", "Effective passes"))
        .x(XAxis::new("seconds", "Seconds"))
        .y(YAxis::new("gap", "Duality gap").log())
        .y(YAxis::together("Primal and dual objective", [("primal", "Primal"), ("dual", "Dual")]));
    let plot = match result.validation {
        Some(_) => plot.y(YAxis::new("validation", "Validation error")),
        None => plot,
    };
    plot.series(series)
}
