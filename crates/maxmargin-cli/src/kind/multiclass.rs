//! Multiclass models: one of several labels.

use super::kernel::{kernel, kernelised, with_kernel};
use super::options::{bias, check, find};
use super::rows::{self, ScoreLabels, Scorer, check_one_label};
use super::{
    Kind, Labelled, LargestWeights, Measures, Nouns, ProblemRole, Training, UseProblem, Vocabulary,
    go_within,
};
use crate::args::{ModelArgs, Pictures, PredictArgs};
use anyhow::{Context as _, Result, bail};
use maxmargin::evaluate::SequenceErrors;
use maxmargin::model::LabelledRows;
use maxmargin::model::multiclass::{ClassLoss, CostMatrix, Multiclass, MulticlassShape};
use maxmargin::{Bounds, SlackRescaled};
use maxmargin_io::{
    Format, LabelRule, Model, MulticlassSpec, Names, Origin, Rescaling, RowData, SeenNames, Unknown,
};
use maxmargin_report::Report;
use std::io::Write;
use std::path::Path;

pub(crate) struct MulticlassKind;

const KNOWN: [&str; 6] = ["--costs", "--bias", "--rescaling", "--kernel", "--lower", "--upper"];

pub(super) fn training(
    data: RowData,
    name: &str,
    args: &ModelArgs,
) -> Result<Training<MulticlassKind>> {
    check(args, "multiclass", &KNOWN)?;
    let (classes, attributes) = (data.labels.len(), data.attributes.len());
    if classes < 2 {
        let label = data.labels.name(0);
        bail!("{name}: all rows have the label `{label}`; there is nothing to learn");
    }
    check_one_label(&data.rows, name)?;
    let shape = MulticlassShape { classes, attributes, bias: bias(args) };
    let loss = match &args.costs {
        Some(file) => ClassLoss::Costs(read_costs(file, &data.labels)?),
        None => ClassLoss::ZeroOne,
    };
    let kernel = kernel(args, data.rows.iter().map(|(row, _)| row), attributes)?;
    let spec = MulticlassSpec { shape, loss, rescaling: args.rescaling, kernel };
    Ok(Training { origin: Origin::from(&data), examples: data.rows, spec })
}

/// Reads costs: lines `TRUTH PREDICTED COST`; what is not named costs 1.
fn read_costs(file: &Path, labels: &Names) -> Result<CostMatrix> {
    let name = file.display();
    let text = std::fs::read_to_string(file).with_context(|| name.to_string())?;
    let mut costs: Vec<Vec<f64>> = (0..labels.len())
        .map(|truth| (0..labels.len()).map(|y| if y == truth { 0.0 } else { 1.0 }).collect())
        .collect();
    for (at, line) in (1..).zip(text.lines()) {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [truth, predicted, cost] = fields[..] else {
            if fields.is_empty() || line.starts_with('#') {
                continue;
            }
            bail!("{name}:{at}: expected `TRUTH PREDICTED COST`, found {} fields", fields.len());
        };
        let label = |label| find(labels, label, "--costs").with_context(|| format!("{name}:{at}"));
        let number = cost.parse().ok().filter(|cost: &f64| *cost >= 0.0 && cost.is_finite());
        let Some(number) = number else {
            bail!("{name}:{at}: the cost is `{cost}`; a finite number ≥ 0 is needed");
        };
        costs[label(truth)? as usize][label(predicted)? as usize] = number;
    }
    CostMatrix::new(costs).with_context(|| name.to_string())
}

impl ScoreLabels for MulticlassSpec {
    fn scorer<'a>(&'a self, w: &'a [f64]) -> Scorer<'a> {
        let Some(own) = &self.kernel else {
            return Box::new(|row, scores| self.shape.score(w, row, scores));
        };
        let (shape, mut expander) = (self.scoring_shape(), own.expander());
        Box::new(move |row, scores| shape.score(w, expander.expand(row), scores))
    }
}

impl Kind for MulticlassKind {
    type Spec = MulticlassSpec;
    type Examples = LabelledRows;
    const NOUNS: Nouns = Nouns { labels: "labels", examples: "rows" };

    fn read(
        names: &Vocabulary<'_>,
        _spec: &MulticlassSpec,
        data: &str,
        format: Option<Format>,
        rule: LabelRule,
    ) -> Result<Labelled<LabelledRows>> {
        names.read_rows(data, format, rule)
    }

    fn count(examples: &LabelledRows) -> usize {
        examples.len()
    }

    fn select(examples: &LabelledRows, keep: &dyn Fn(usize) -> bool) -> LabelledRows {
        examples.select(keep)
    }

    fn seen_names(examples: &LabelledRows) -> Option<SeenNames> {
        Some(SeenNames::in_rows(examples))
    }

    fn with_problem<U: UseProblem>(
        spec: &MulticlassSpec,
        examples: LabelledRows,
        bounds: Option<Bounds>,
        user: U,
    ) -> Result<U::Result> {
        let problem = Multiclass::new(spec.shape, examples, spec.loss.clone())?;
        if let Some(own) = &spec.kernel {
            let problem = kernelised(problem, own)?;
            return user.go_with(&problem, ProblemRole::Kernel(&problem));
        }
        match spec.rescaling {
            Rescaling::Margin => go_within(problem, bounds, user),
            Rescaling::Slack => go_within(SlackRescaled::new(problem), bounds, user),
        }
    }

    fn errors(spec: &MulticlassSpec, w: &[f64], examples: &LabelledRows) -> SequenceErrors {
        rows::errors(spec, w, examples)
    }

    fn predict(
        model: &Model,
        spec: &MulticlassSpec,
        args: &PredictArgs,
        out: &mut dyn Write,
    ) -> Result<Unknown> {
        rows::write_labels(model, spec, args, out)
    }

    fn measure(model: &Model, spec: &MulticlassSpec, data: &LabelledRows) -> Measures {
        rows::measure(model, spec, data)
    }

    fn largest_weights(model: &Model, spec: &MulticlassSpec, top: usize) -> LargestWeights {
        let (shape, w) = (&spec.scoring_shape(), &model.weights);
        let weights = model.labels.iter().enumerate().map(|(y, label)| {
            let bias = w[shape.bias_weights()].get(y).copied();
            let weight = |a| w[shape.feature(a, y)];
            (label.to_owned(), rows::largest_attributes(model, top, weight, bias))
        });
        LargestWeights { heading: "label", labels: weights.collect(), pairs: None }
    }

    fn describe(spec: &MulticlassSpec) -> String {
        let kernel = with_kernel(spec.kernel.as_ref());
        format!("Multiclass model of {} labels{kernel}", spec.shape.classes)
    }

    fn draw(
        model: &Model,
        spec: &MulticlassSpec,
        test: Option<&LabelledRows>,
        _: &Pictures,
        report: Report,
    ) -> Report {
        rows::draw(model, spec, test, report)
    }
}
