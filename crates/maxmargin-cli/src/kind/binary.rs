//! Binary models: one of two labels.

use super::options::{bias, check, find};
use super::rows::{self, ScoreLabels, Scorer, check_one_label};
use super::{
    Kind, Labelled, LargestWeights, Measures, Nouns, Training, UseProblem, Vocabulary, go_within,
};
use crate::args::{ModelArgs, Pictures, PredictArgs};
use anyhow::{Result, bail};
use maxmargin::evaluate::SequenceErrors;
use maxmargin::model::LabelledRows;
use maxmargin::model::binary::{Binary, BinaryShape};
use maxmargin::{Bounds, SlackRescaled};
use maxmargin_io::{
    BinarySpec, Format, LabelRule, Model, Origin, Rescaling, RowData, SeenNames, Unknown,
};
use maxmargin_report::Report;
use std::io::Write;

pub(crate) struct BinaryKind;

pub(super) fn training(
    data: RowData,
    name: &str,
    args: &ModelArgs,
) -> Result<Training<BinaryKind>> {
    check(args, "binary", &["--positive", "--bias", "--rescaling", "--lower", "--upper"])?;
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
    Ok(Training { origin: Origin::from(&data), examples: data.rows, spec })
}

impl ScoreLabels for BinarySpec {
    fn scorer<'a>(&'a self, w: &'a [f64]) -> Scorer<'a> {
        Box::new(|row, scores| {
            let score = self.shape.score(w, row);
            scores.clear();
            scores.resize(2, -score);
            scores[self.positive as usize] = score;
        })
    }
}

impl Kind for BinaryKind {
    type Spec = BinarySpec;
    type Examples = LabelledRows;
    const NOUNS: Nouns = Nouns { labels: "labels", examples: "rows" };

    fn read(
        names: &Vocabulary<'_>,
        _spec: &BinarySpec,
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
        spec: &BinarySpec,
        examples: LabelledRows,
        bounds: Option<Bounds>,
        user: U,
    ) -> Result<U::Result> {
        let problem = Binary::new(spec.shape, examples, spec.positive)?;
        match spec.rescaling {
            Rescaling::Margin => go_within(problem, bounds, user),
            Rescaling::Slack => go_within(SlackRescaled::new(problem), bounds, user),
        }
    }

    fn errors(spec: &BinarySpec, w: &[f64], examples: &LabelledRows) -> SequenceErrors {
        rows::errors(spec, w, examples)
    }

    fn predict(
        model: &Model,
        spec: &BinarySpec,
        args: &PredictArgs,
        out: &mut dyn Write,
    ) -> Result<Unknown> {
        rows::write_labels(model, spec, args, out)
    }

    fn measure(model: &Model, spec: &BinarySpec, data: &LabelledRows) -> Measures {
        rows::measure(model, spec, data)
    }

    fn largest_weights(model: &Model, spec: &BinarySpec, top: usize) -> LargestWeights {
        let w = &model.weights;
        let bias = w.get(spec.shape.attributes).copied();
        let weights = rows::largest_attributes(model, top, |a| w[a], bias);
        let positive = model.labels.name(spec.positive).to_owned();
        LargestWeights { heading: "label", labels: vec![(positive, weights)], pairs: None }
    }

    fn describe(_spec: &BinarySpec) -> String {
        "Binary model".to_owned()
    }

    fn draw(
        model: &Model,
        spec: &BinarySpec,
        test: Option<&LabelledRows>,
        _: &Pictures,
        report: Report,
    ) -> Report {
        rows::draw(model, spec, test, report)
    }
}
