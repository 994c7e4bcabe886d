//! `maxmargin dump`

use crate::args::DumpArgs;
use crate::kind::kernel::{in_words, support_size};
use crate::kind::{self, LargestWeights, kind_of};
use crate::screen::harmless_name;
use anyhow::Result;
use maxmargin::Solver;
use maxmargin_io::Model;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::process::ExitCode;

pub(super) fn run(args: &DumpArgs) -> Result<ExitCode> {
    let model = kind::load(&args.model)?;
    let weights = kind_of(&model.meta.spec)?.largest_weights(&model, args.top);
    match args.json {
        true => super::print_json(&to_json(&model, &weights))?,
        false => super::print(&to_text(&model, &weights))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn to_text(model: &Model, weights: &LargestWeights) -> String {
    let (meta, c, t) = (&model.meta, &model.meta.certificate, &model.meta.totals);
    let mut text = String::new();
    let mut row = |what: &str, value: String| {
        let _ = writeln!(text, "{what:<14}{}", harmless_name(&value));
    };
    row(
        "model",
        format!("{} (layout {}, maxmargin {})", meta.spec.kind(), meta.layout, meta.version),
    );
    // Trees and matchings have no labels, and trees no attributes, that could be counted.
    for (what, names) in [("labels", &model.labels), ("attributes", &model.attributes)] {
        if !names.is_empty() {
            row(what, names.len().to_string());
        }
    }
    row("features", meta.d.to_string());
    if let (Some(own), Some(size)) = (meta.spec.kernel(), support_size(model)) {
        row("kernel", in_words(&own.kernel));
        row("support", format!("{} inputs, {} parts", size.inputs, size.parts));
    }
    if let Some(training) = meta.spec.training().filter(|training| !training.is_decoding()) {
        row("training", training.name().to_owned());
    }
    if let Some(soft) = meta.spec.soft() {
        let rounds = if soft.multipliers.is_empty() { "" } else { ", with multipliers" };
        row("soft", format!("{}, {} messages{rounds}", soft.rho_in_words(), soft.messages));
        row("hard", format!("{}, violation {}", soft.hard_objective, soft.violation.0));
    }
    row("examples", meta.n.to_string());
    row("data", format!("{} ({})", meta.fingerprint, meta.format));
    row("lambda", c.lambda.to_string());
    row("status", format!("{}: {}", meta.status, meta.status.explain()));
    row("problem", model.solved_problem());
    row("primal", c.primal.to_string());
    row("dual", c.dual.to_string());
    row("gap", c.gap.to_string());
    row("quality", format!("{}: {}", c.quality, c.quality.explain()));
    if let Some(missed) = c.missed {
        row("missed", format!("at most {missed}: the true gap is at most {}", c.gap + missed));
    }
    if let Some(v) = &meta.validation {
        row("validation", format!("error {} after pass {}, {} checks", v.error, v.pass, v.checks));
    }
    if let Some(out) = &meta.held_out {
        row("held out", format!("one example in {} of the data, seed {}", out.one_in, out.seed));
    }
    if let Some(from) = &meta.from_path {
        row("taken out of", from.to_string());
        row("proven", format!("the gap is the bound of the path at lambda {}", c.lambda));
    }
    if let Some(pruning) = &meta.pruned {
        let (before, cost) = (pruning.primal, c.primal - pruning.primal);
        let (kept, below) = (pruning.kept, pruning.below);
        row("pruned", format!("{kept} weights kept; others, below {below}, were set to zero"));
        row("pruning costs", format!("{cost} above the primal {before} of before"));
    }
    row("effort", format!("{} oracle calls, {:.3} s", t.oracle_calls, t.seconds));
    row("dual point", if model.dual.is_some() { "kept" } else { "left out" }.to_owned());
    let s = &meta.settings.record();
    row(
        "settings",
        format!(
            "solver {}{}, average {}, tolerance {}, seed {}",
            s.solver,
            match s.solver {
                Solver::BlockCoordinate => format!(
                    ", order {}, direction {}, cache {}, step {}",
                    s.order, s.direction, s.cache, s.step
                ),
                Solver::FrankWolfe => format!(", step {}", s.step),
                Solver::Subgradient | Solver::Perceptron | Solver::ExponentiatedGradient => {
                    format!(", order {}", s.order)
                }
                Solver::AdaGrad => format!(", order {}, rate {}", s.order, s.rate),
                _ => String::new(),
            },
            s.average,
            s.tolerance_text(),
            s.seed
        ),
    );
    if let Some(choice) = &meta.choice {
        let _ = writeln!(text, "{:<14}{}", "chosen", harmless_name(&choice.reason));
    }
    for (label, features) in &weights.labels {
        let _ = writeln!(text, "\n{} {}", weights.heading, harmless_name(label));
        for (name, weight) in features {
            let _ = writeln!(text, "{weight:>12.6}  {}", harmless_name(name));
        }
    }
    if let Some(pairs) = weights.pairs.as_ref().filter(|pairs| !pairs.weights.is_empty()) {
        let _ = writeln!(text, "\n{}", pairs.name);
        for (from, to, weight) in &pairs.weights {
            let (from, to) = (harmless_name(from), harmless_name(to));
            let _ = writeln!(text, "{weight:>12.6}  {from} {} {to}", pairs.between);
        }
    }
    text
}

fn to_json(model: &Model, weights: &LargestWeights) -> Value {
    let labels: Vec<Value> = weights
        .labels
        .iter()
        .map(|(label, features)| {
            let features: Vec<Value> =
                features.iter().map(|(name, w)| json!({"feature": name, "weight": w})).collect();
            json!({"label": label, "weights": features})
        })
        .collect();
    let mut json = json!({
        "meta": model.meta, "problem": model.solved_problem(),
        "quality": model.meta.certificate.quality, "has_dual": model.dual.is_some(), (format!("{}s", weights.heading.trim_end_matches('s'))): labels,
    });
    if let Some(pairs) = &weights.pairs {
        let entries = pairs.weights.iter();
        let entries = entries.map(|(from, to, w)| json!({"from": from, "to": to, "weight": w}));
        json[pairs.name] = entries.collect::<Vec<Value>>().into();
    }
    json
}
