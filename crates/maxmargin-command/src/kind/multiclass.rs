//! Multiclass models: one of several labels.

use super::kernel::{kernel, with_kernel};
use super::options::{bias, check, find};
use super::rows::{self, check_one_label};
use super::tested::{Look, Tested};
use super::{Kind, Labelled, LargestWeights, Measures, Vocabulary, in_short};
use crate::args::{ModelArgs, PredictArgs};
use anyhow::{Context as _, Result, bail};
use maxmargin::model::multiclass::{ClassLoss, CostMatrix, MulticlassShape};
use maxmargin_io::{
    Examples, Format, LabelRule, Model, MulticlassSpec, Names, Origin, RowData, Training, Unknown,
};
use std::collections::HashMap;
use std::io::Write;
use std::path::Path;

pub(super) const KNOWN: [&str; 5] = ["--costs", "--bias", "--kernel", "--lower", "--upper"];

pub(super) fn training(data: RowData, name: &str, args: &ModelArgs) -> Result<Training> {
    check(args, "multiclass", &KNOWN)?;
    let (classes, attributes) = (data.labels.len(), data.attributes.len());
    if classes < 2 {
        let label = in_short(data.labels.name(0));
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
    let origin = Origin::from(&data);
    let mut training = Training { origin, examples: data.rows.into(), spec: spec.into() };
    if args.fits_bias() {
        training.fit_bias();
    }
    Ok(training)
}

/// Reads costs: lines `TRUTH PREDICTED COST`; what is not named costs 1.
fn read_costs(file: &Path, labels: &Names) -> Result<CostMatrix> {
    let name = file.display();
    let text = std::fs::read_to_string(file).with_context(|| name.to_string())?;
    let mut costs: Vec<Vec<f64>> = (0..labels.len())
        .map(|truth| (0..labels.len()).map(|y| if y == truth { 0.0 } else { 1.0 }).collect())
        .collect();
    let mut given = HashMap::new();
    for (at, line) in (1..).zip(text.lines()) {
        let fields: Vec<&str> = line.split_whitespace().collect();
        // A label may begin with a hash, too.
        let is_comment = |first: &&str| line.starts_with('#') && labels.get(first).is_none();
        if fields.first().is_none_or(is_comment) {
            continue;
        }
        let [truth, predicted, cost] = fields[..] else {
            bail!("{name}:{at}: expected `TRUTH PREDICTED COST`, found {} fields", fields.len());
        };
        let label = |label| find(labels, label, "--costs").with_context(|| format!("{name}:{at}"));
        let number = cost.parse().ok().filter(|cost: &f64| *cost >= 0.0 && cost.is_finite());
        let Some(number) = number else {
            bail!("{name}:{at}: the cost is `{cost}`; a finite number ≥ 0 is needed");
        };
        let pair = (label(truth)? as usize, label(predicted)? as usize);
        if let Some(before) = given.insert(pair, at) {
            bail!(
                "{name}:{at}: expected one cost for `{truth}` and `{predicted}`, which line {before} has given"
            );
        }
        costs[pair.0][pair.1] = number;
    }
    CostMatrix::new(costs).with_context(|| name.to_string())
}

impl Kind for MulticlassSpec {
    fn read(
        &self,
        names: &Vocabulary<'_>,
        data: &str,
        format: Option<Format>,
        rule: LabelRule,
    ) -> Result<Labelled> {
        Ok(names.read_rows(data, format, rule)?.into())
    }

    fn write_predictions(
        &self,
        model: &Model,
        args: &PredictArgs,
        out: &mut (dyn Write + Send),
    ) -> Result<Unknown> {
        rows::write_labels(model, args, out)
    }

    fn measure(&self, model: &Model, data: &Examples, threads: usize) -> Result<Measures> {
        rows::measure(model, data, threads)
    }

    fn largest_weights(&self, model: &Model, top: usize) -> LargestWeights {
        let (shape, w) = (&self.scoring_shape(), &model.weights);
        let value = shape.bias.unwrap_or_default();
        let weights = model.labels.iter().enumerate().map(|(y, label)| {
            let bias = w[shape.bias_weights()].get(y).map(|weight| weight * value);
            let weight = |a| w[shape.feature(a, y)];
            (label.to_owned(), rows::largest_attributes(model, top, weight, bias))
        });
        LargestWeights { heading: "label", labels: weights.collect(), pairs: None }
    }

    fn describe(&self) -> String {
        let kernel = with_kernel(self.kernel.as_ref());
        format!("Multiclass model of {} labels{kernel}", self.shape.classes)
    }

    fn tested(&self, model: &Model, test: &Labelled, look: &Look<'_>) -> Result<Tested> {
        let prefers = |a: usize, label: u32, other: u32| {
            let weight = |label: u32| model.weights[self.shape.feature(a, label as usize)];
            weight(label) - weight(other)
        };
        rows::tested(model, test, look, self.kernel.is_none().then_some(&prefers))
    }
}
