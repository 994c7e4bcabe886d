//! A page about a training.

use maxmargin::Status;
use maxmargin::observe::Record;
use maxmargin_io::{Model, Spec};
use maxmargin_report::{
    Fact, Facts, Heatmap, Plot, Prose, Report, Series, Tone, XAxis, YAxis, format_number,
    format_seconds,
};

/// A heat-map of more labels would be unreadable.
const MOST_HEATMAP_LABELS: usize = 64;

pub(crate) fn page(model: &Model, rows: &[Record], title: &str) -> String {
    let meta = &model.meta;
    let mut report = Report::new(title)
        .subtitle(format!(
            "{} model, {} features; solver {}, λ = {}",
            meta.spec.kind(),
            format_number(meta.d as f64),
            meta.settings.solver,
            format_number(meta.certificate.lambda)
        ))
        .footer(format!("maxmargin {}; training data {}", meta.version, meta.fingerprint))
        .with(certificate(model))
        .with(facts(model));
    if !rows.is_empty() {
        report.push(convergence(model, rows));
    }
    if let Spec::Chain(spec) = &meta.spec
        && spec.shape.groups.transition
        && spec.shape.labels <= MOST_HEATMAP_LABELS
    {
        let labels = || model.labels.iter().map(str::to_owned);
        let weights = model.weights[spec.scoring_shape().transition()].to_vec();
        report.push(
            Heatmap::new("Transition weights", labels(), labels(), weights)
                .axes("label", "next label"),
        );
    }
    report.to_html()
}

fn certificate(model: &Model) -> Prose {
    let (meta, c) = (&model.meta, &model.meta.certificate);
    let prose = Prose::new("Certificate")
        .paragraph(format!("Training ended because {}.", meta.status.explain()))
        .paragraph(format!(
            "The objective is {:.6}, its lower bound {:.6}, their distance {:.3e}; {}.",
            c.primal,
            c.dual,
            c.gap,
            c.quality.explain()
        ));
    match &meta.choice {
        Some(choice) => prose.paragraph(format!("Chosen by auto: {}.", choice.reason)),
        None => prose,
    }
}

fn facts(model: &Model) -> Facts {
    let (meta, c, t) = (&model.meta, &model.meta.certificate, &model.meta.totals);
    let reached = matches!(meta.status, Status::Converged | Status::Patience);
    let tone = if reached { Tone::Good } else { Tone::Warning };
    let mut facts = Facts::new("Result")
        .fact(Fact::new("Status", meta.status.name()).hint(meta.status.explain()).tone(tone))
        .fact(Fact::new("Duality gap", format_number(c.gap)).tone(tone));
    for (name, value) in [
        ("Primal objective", c.primal),
        ("Dual objective", c.dual),
        ("λ", c.lambda),
        ("Examples", meta.n as f64),
        ("Features", meta.d as f64),
        ("Passes", t.passes as f64),
        ("Oracle calls", t.oracle_calls as f64),
    ] {
        facts = facts.fact((name, format_number(value).as_str()));
    }
    facts.fact(("Time", format_seconds(t.seconds).as_str()))
}

fn convergence(model: &Model, rows: &[Record]) -> Plot {
    let rows = || rows.iter();
    let series = Series::new(model.meta.settings.solver.name())
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
    let plot = match model.meta.validation {
        Some(_) => plot.y(YAxis::new("validation", "Validation error")),
        None => plot,
    };
    plot.series(series)
}
