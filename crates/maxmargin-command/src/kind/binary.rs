//! Binary models: one of two labels.

use super::options::{bias, check, find};
use super::rows::{self, check_one_label};
use super::tested::{Look, Tested};
use super::{Kind, Labelled, LargestWeights, Measures, Vocabulary};
use crate::args::{ModelArgs, PredictArgs};
use anyhow::{Result, bail};
use maxmargin::model::binary::BinaryShape;
use maxmargin_io::{
    BinarySpec, Examples, Format, LabelRule, Model, Origin, RowData, Training, Unknown,
};
use std::io::Write;

pub(super) const KNOWN: [&str; 4] = ["--positive", "--bias", "--lower", "--upper"];

pub(super) fn training(data: RowData, name: &str, args: &ModelArgs) -> Result<Training> {
    check(args, "binary", &KNOWN)?;
    if data.labels.len() != 2 {
        bail!(
            "{name}: a binary model needs two labels, and there are {}\n\
             hint: --model multiclass takes any number of them",
            data.labels.len()
        );
    }
    check_one_label(&data.rows, name)?;
    let positive = match &args.positive {
        Some(label) => find(&data.labels, label, "--positive")?,
        None => 1,
    };
    let shape = BinaryShape { attributes: data.attributes.len(), bias: bias(args) };
    let spec = BinarySpec { shape, positive, rescaling: args.rescaling };
    let origin = Origin::from(&data);
    let mut training = Training { origin, examples: data.rows.into(), spec: spec.into() };
    if args.fits_bias() {
        training.fit_bias();
    }
    Ok(training)
}

impl Kind for BinarySpec {
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
        let w = &model.weights;
        let value = self.shape.bias.unwrap_or_default();
        let bias = w.get(self.shape.attributes).map(|weight| weight * value);
        let weights = rows::largest_attributes(model, top, |a| w[a], bias);
        let positive = model.labels.name(self.positive).to_owned();
        LargestWeights { heading: "label", labels: vec![(positive, weights)], pairs: None }
    }

    fn describe(&self) -> String {
        "Binary model".to_owned()
    }

    fn tested(&self, model: &Model, test: &Labelled, look: &Look<'_>) -> Result<Tested> {
        let prefers = |a: usize, label: u32, _: u32| {
            let weight = model.weights[a];
            if label == self.positive { weight } else { -weight }
        };
        rows::tested(model, test, look, Some(&prefers))
    }
}
