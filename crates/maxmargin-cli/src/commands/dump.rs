//! `maxmargin dump`

use crate::args::DumpArgs;
use crate::chain;
use anyhow::Result;
use maxmargin::Solver;
use maxmargin_io::Model;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::process::ExitCode;

pub(super) fn run(args: &DumpArgs) -> Result<ExitCode> {
    let model = chain::load(&args.model)?;
    let weights = LargestWeights::of(&model, args.top);
    match args.json {
        true => super::print_json(&to_json(&model, &weights))?,
        false => super::print(&to_text(&model, &weights))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The weights largest in size: attributes for each label, and pairs of neighbouring labels.
struct LargestWeights<'m> {
    labels: Vec<(&'m str, Vec<(String, f64)>)>,
    transitions: Vec<(&'m str, &'m str, f64)>,
}

/// Keeps the `top` largest in size; of equals, the first.
fn largest<T>(mut items: Vec<(T, f64)>, top: usize) -> Vec<(T, f64)> {
    items.retain(|(_, weight)| *weight != 0.0);
    items.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    items.truncate(top);
    items
}

impl<'m> LargestWeights<'m> {
    fn of(model: &'m Model, top: usize) -> Self {
        let (shape, w) = (&model.meta.shape, &model.weights);
        let k = shape.labels;
        let labels = model.labels.iter().enumerate().map(|(y, label)| {
            let rows = w[shape.emission()].chunks_exact(k).enumerate();
            let named = |(a, row): (usize, &[f64])| (Feature::Attribute(a as u32), row[y]);
            let mut features: Vec<(Feature, f64)> = rows.map(named).collect();
            for (range, feature) in [
                (shape.bias(), Feature::Bias),
                (shape.first(), Feature::First),
                (shape.last(), Feature::Last),
            ] {
                features.extend(w[range].get(y).map(|&weight| (feature, weight)));
            }
            let top = largest(features, top);
            (label, top.into_iter().map(|(f, weight)| (f.name(model), weight)).collect())
        });
        let pairs = w[shape.transition()].iter().enumerate();
        let pairs = pairs.map(|(at, &weight)| ((at / k, at % k), weight)).collect();
        let name = |y: usize| model.labels.name(y as u32);
        let transitions = largest(pairs, top.saturating_mul(2)).into_iter();
        Self {
            labels: labels.collect(),
            transitions: transitions.map(|((y, z), v)| (name(y), name(z), v)).collect(),
        }
    }
}

#[derive(Clone, Copy)]
enum Feature {
    Attribute(u32),
    Bias,
    First,
    Last,
}

impl Feature {
    fn name(self, model: &Model) -> String {
        match self {
            Self::Attribute(a) => model.attributes.name(a).to_owned(),
            Self::Bias => "(bias)".to_owned(),
            Self::First => "(first)".to_owned(),
            Self::Last => "(last)".to_owned(),
        }
    }
}

fn to_text(model: &Model, weights: &LargestWeights<'_>) -> String {
    let (meta, c, t) = (&model.meta, &model.meta.certificate, &model.meta.totals);
    let mut text = String::new();
    let mut row = |what: &str, value: String| {
        let _ = writeln!(text, "{what:<14}{value}");
    };
    row("model", format!("{} (layout {}, maxmargin {})", meta.kind, meta.layout, meta.version));
    row("labels", meta.shape.labels.to_string());
    row("attributes", meta.shape.attributes.to_string());
    row("features", meta.d.to_string());
    row("examples", meta.n.to_string());
    row("data", format!("{} ({})", meta.fingerprint, meta.format));
    row("lambda", c.lambda.to_string());
    row("status", format!("{}: {}", meta.status, meta.status.explain()));
    row("primal", c.primal.to_string());
    row("dual", c.dual.to_string());
    row("gap", c.gap.to_string());
    if let Some(v) = &meta.validation {
        row("validation", format!("error {} after pass {}, {} checks", v.error, v.pass, v.checks));
    }
    if let Some(out) = &meta.held_out {
        row("held out", format!("one sequence in {} of the data, seed {}", out.one_in, out.seed));
    }
    row("effort", format!("{} oracle calls, {:.3} s", t.oracle_calls, t.seconds));
    row("dual point", if model.dual.is_some() { "kept" } else { "left out" }.to_owned());
    let s = &meta.settings;
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
                Solver::Auto => String::new(),
            },
            s.average,
            s.tolerance,
            s.seed
        ),
    );
    if let Some(choice) = &meta.choice {
        let _ = writeln!(text, "{:<14}{}", "chosen", choice.reason);
    }
    for (label, features) in &weights.labels {
        let _ = writeln!(text, "\nlabel {label}");
        for (name, weight) in features {
            let _ = writeln!(text, "{weight:>12.6}  {name}");
        }
    }
    if !weights.transitions.is_empty() {
        let _ = writeln!(text, "\ntransitions");
        for (from, to, weight) in &weights.transitions {
            let _ = writeln!(text, "{weight:>12.6}  {from} → {to}");
        }
    }
    text
}

fn to_json(model: &Model, weights: &LargestWeights<'_>) -> Value {
    let labels: Vec<Value> = weights
        .labels
        .iter()
        .map(|(label, features)| {
            let features: Vec<Value> =
                features.iter().map(|(name, w)| json!({"feature": name, "weight": w})).collect();
            json!({"label": label, "weights": features})
        })
        .collect();
    let transitions: Vec<Value> = weights
        .transitions
        .iter()
        .map(|(from, to, w)| json!({"from": from, "to": to, "weight": w}))
        .collect();
    json!({
        "meta": model.meta, "has_dual": model.dual.is_some(),
        "labels": labels, "transitions": transitions,
    })
}
