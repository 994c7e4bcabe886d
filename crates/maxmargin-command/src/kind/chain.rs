//! Chains: sequences of labels.

mod draw;
mod predict;
mod tested;

use super::kernel::{kernel, weighted_name, with_kernel};
use super::options::{check, hamming};
use super::tested::{Look, Tested};
use super::texts::Texts;
use super::{
    Kind, Labelled, LargestWeights, Measures, PairWeights, Vocabulary, in_short, label_name,
    largest, of_kind, refuse_format,
};
use crate::args::{Group, ModelArgs, PredictArgs, TransitionScale};
use crate::tally;
use anyhow::{Result, bail};
use maxmargin::evaluate::{Tally, is_bio};
use maxmargin::model::chain::{ChainShape, FeatureGroups};
use maxmargin_io::{
    BuiltInTemplate, ChainSpec, DataError, Dataset, ErrorCounts, EvalData, Examples, Format,
    LabelRule, Lines, Model, Origin, ReadSequences, Source, Template, Training, Unknown,
    read_training_on, read_with,
};
use maxmargin_report::Section;
use serde_json::json;
use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;

/// The loss is the number of wrong labels unless told otherwise: a mistake then costs the same in a long
/// sequence as in a short one, which predicts better.
const NORMALISED: bool = false;

pub(super) const KNOWN: [&str; 10] = [
    "--template",
    "--label-column",
    "--min-count",
    "--without",
    "--loss",
    "--label-weight",
    "--lower",
    "--upper",
    "--kernel",
    "--transition-scale",
];

pub(super) fn training(
    source: &Source,
    format: Option<Format>,
    args: &ModelArgs,
    threads: usize,
) -> Result<Training> {
    check(args, "chain", &KNOWN)?;
    refuse_format(format, format.is_none_or(Format::is_sequences), "chain")?;
    let (template, label) = (args.template.as_deref(), args.label_column.as_deref());
    let reader = open_training(source, format, template, label)?;
    let data = frequent(read_training_on(reader, threads)?, source, args)?;
    if data.labels.len() < 2 {
        let label = in_short(data.labels.name(0));
        bail!("{source}: all tokens have the label `{label}`; there is nothing to learn");
    }
    let (mut shape, loss) = (shape(args, &data)?, hamming(args, &data.labels, NORMALISED)?);
    if let Some(TransitionScale::Value(value)) = args.transition_scale {
        shape.transition_scale = value;
    }
    let inputs = data.sequences.iter().flat_map(|sequence| sequence.tokens());
    let kernel = kernel(args, inputs, shape.attributes)?;
    let mut spec = ChainSpec { shape, loss, kernel, rescaling: args.rescaling };
    // All examples take part, those that will be held out, too: nothing is learned of their labels.
    if args.fits_transition_scale() {
        spec.fit_transition_scale(&data.sequences);
    }
    let origin = Origin::from(&data);
    Ok(Training { origin, examples: data.sequences.into(), spec: spec.into() })
}

/// The data with the attributes that `--min-count` leaves.
pub(crate) fn frequent(data: Dataset, source: &Source, args: &ModelArgs) -> Result<Dataset> {
    let (all, least) = (data.attributes.len(), args.min_count.unwrap_or(1));
    let data = data.with_min_count(least);
    if all > 0 && data.attributes.is_empty() {
        bail!("{source}: --min-count {least} leaves none of the {all} attributes");
    }
    Ok(data)
}

/// Opens data to train on, with the template that is asked for or that goes with them.
pub(crate) fn open_training(
    source: &Source,
    format: Option<Format>,
    template: Option<&str>,
    label: Option<&str>,
) -> Result<Box<dyn ReadSequences + Send>> {
    if let Some(format) = format.filter(|format| !format.is_columns()) {
        for (given, option) in [
            (template.is_some(), "--template makes attributes from columns"),
            (label.is_some(), "--label-column is about columns"),
        ] {
            if given {
                bail!("{option}, which --format {format} does not have");
            }
        }
    }
    let built_in = template.map(str::parse::<BuiltInTemplate>).transpose();
    Ok(match (template, built_in) {
        (None, _) if label.is_none() && format.is_none() => source.open(format)?,
        (_, Ok(built_in)) => match format {
            Some(format) if !format.is_columns() => source.open(Some(format))?,
            format => source.open_labelled_columns(format, built_in, label)?,
        },
        (file, Err(unknown)) => {
            let file = file.unwrap_or_default();
            if !file.contains(std::path::is_separator) && !Path::new(file).exists() {
                bail!("--template {file}: there is no such file\nhint: {unknown}");
            }
            if format == Some(Format::Conllu) || label.is_some() {
                bail!(
                    "--template {file} takes columns between blanks, with the label last\n\
                     hint: CoNLL-U and --label-column go with the templates that are built in \
                     ({})",
                    BuiltInTemplate::list()
                );
            }
            source.open_columns(Template::read(Lines::open(file)?)?)?
        }
    })
}

/// The shape of a chain over the names of a data set.
fn shape(args: &ModelArgs, data: &Dataset) -> Result<ChainShape> {
    let has = |group| !args.without.contains(&group);
    let groups = FeatureGroups {
        emission: has(Group::Emission),
        transition: has(Group::Transition)
            && data.template.as_ref().is_none_or(Template::has_transitions),
        bias: has(Group::Bias),
        first: has(Group::First),
        last: has(Group::Last),
    };
    let shape = ChainShape { groups, ..ChainShape::new(data.labels.len(), data.attributes.len()) };
    if shape.dim() == 0 {
        bail!("--without: no features are left\nhint: leave out fewer groups");
    }
    Ok(shape)
}

impl Vocabulary<'_> {
    /// Opens sequences: in the format given, or in the one they evidently have, or in that of the
    /// training data. Standard input cannot be looked at twice, so there the evidence is not asked.
    pub(super) fn open_sequences(
        &self,
        data: &str,
        format: Option<Format>,
    ) -> Result<Box<dyn ReadSequences + Send>> {
        let source = Source::resolve(data)?;
        if let Some(opened) = self.open_columns(&source, format) {
            return Ok(opened?);
        }
        let implied = || source.open(Some(self.format));
        let opened = match (format, &source) {
            (None, Source::Stdin) => implied(),
            _ => match source.open(format) {
                Err(DataError::UnclearFormat { .. }) => implied(),
                // The model knows attributes, of which columns have none.
                Ok(reader) if format.is_none() && reader.format().is_columns() => implied(),
                opened => opened,
            },
        };
        Ok(opened?)
    }

    /// Opens columns for a model that was trained on columns, unless the user says that they are none.
    pub(super) fn open_columns(
        &self,
        source: &Source,
        format: Option<Format>,
    ) -> Option<Result<Box<dyn ReadSequences + Send>, DataError>> {
        if !self.format.is_columns() || format.is_some_and(|format| !format.is_columns()) {
            return None;
        }
        if let Some(template) = self.template {
            return Some(source.open_columns(template.clone()));
        }
        // A model from the time when there was one template: it takes other formats, if evident.
        let is_other = format.is_none()
            && matches!(source.format(), Ok(Some(evident)) if !evident.is_columns());
        (!is_other).then(|| source.open_chunking())
    }
}

impl Kind for ChainSpec {
    fn read(
        &self,
        names: &Vocabulary<'_>,
        data: &str,
        format: Option<Format>,
        rule: LabelRule,
    ) -> Result<Labelled> {
        let mut texts = Texts::default();
        let reader = texts.listen(names.open_sequences(data, format)?);
        let EvalData { sequences, unknown, fingerprint, .. } =
            read_with(reader, names.labels, names.attributes, rule)?;
        Ok(Labelled { examples: sequences.into(), unknown, fingerprint, texts })
    }

    fn write_predictions(
        &self,
        model: &Model,
        args: &PredictArgs,
        out: &mut (dyn Write + Send),
    ) -> Result<Unknown> {
        predict::predict(model, self, args, out)
    }

    fn measure(&self, model: &Model, data: &Examples, threads: usize) -> Result<Measures> {
        let name = |&label: &u32| label_name(&model.labels, label);
        let mut errors = ErrorCounts::new(model.meta.spec.nouns());
        let mut labels = Tally::default();
        // Only where the labels are BIO tags.
        let mut chunks = is_bio(model.labels.iter()).then(Tally::default);
        let sequences = of_kind(data.sequences())?;
        let predicted = self.predict(&model.weights, sequences, threads);
        for (sequence, predicted) in sequences.iter().zip(&predicted) {
            errors.add_labels(sequence.labels(), predicted);
            let truth: Vec<&str> = sequence.labels().iter().map(name).collect();
            let predicted: Vec<&str> = predicted.iter().map(name).collect();
            labels.add_labels(&truth, &predicted);
            if let Some(chunks) = &mut chunks {
                chunks.add_chunks(&truth, &predicted);
            }
        }
        let mut text = String::new();
        let ErrorCounts { parts: tokens, examples: sequences } = &errors;
        let _ = writeln!(text, "labels     {:>8}   error {:.4}", tokens.all, tokens.share());
        let _ = writeln!(text, "sequences  {:>8}   error {:.4}", sequences.all, sequences.share());
        tally::table(&mut text, "label", &labels);
        if let Some(chunks) = &chunks {
            tally::table(&mut text, "chunk", chunks);
        }
        let json = json!({
            "hamming": tokens.share(), "zero_one": sequences.share(),
            "tokens": tokens.all, "sequences": sequences.all,
            "labels": tally::to_json(&labels),
            "chunks": chunks.as_ref().map(tally::to_json),
        });
        Ok(Measures { text, json })
    }

    fn largest_weights(&self, model: &Model, top: usize) -> LargestWeights {
        // What is added to scores.
        let (shape, w) = (&self.scoring_shape(), &model.scoring_weights());
        let k = shape.labels;
        let labels = model.labels.iter().enumerate().map(|(y, label)| {
            let rows = w[shape.emission()].chunks_exact(k).enumerate();
            let mut features: Vec<(Feature, f64)> =
                rows.map(|(a, row)| (Feature::Attribute(a as u32), row[y])).collect();
            for (range, name) in
                [(shape.bias(), "(bias)"), (shape.first(), "(first)"), (shape.last(), "(last)")]
            {
                features.extend(w[range].get(y).map(|&weight| (Feature::Other(name), weight)));
            }
            let top = largest(features, top).into_iter();
            let named = top.map(|(feature, weight)| (feature.name(model), weight));
            (label.to_owned(), named.collect())
        });
        let pairs = w[shape.transition()].iter().enumerate();
        let pairs = pairs.map(|(at, &weight)| ((at / k, at % k), weight)).collect();
        let name = |y: usize| model.labels.name(y as u32).to_owned();
        let transitions = largest(pairs, top.saturating_mul(2)).into_iter();
        let transitions = transitions.map(|((y, z), weight)| (name(y), name(z), weight));
        let weights = transitions.collect();
        let pairs = PairWeights { name: "transitions", between: '→', weights };
        LargestWeights { heading: "label", labels: labels.collect(), pairs: Some(pairs) }
    }

    fn describe(&self) -> String {
        format!("Chain over {} labels{}", self.shape.labels, with_kernel(self.kernel.as_ref()))
    }

    fn draw(&self, model: &Model) -> Vec<Section> {
        draw::draw(model, self)
    }

    fn draws_weights(&self, model: &Model) -> bool {
        draw::has_templates(model, self)
    }

    fn tested(&self, model: &Model, test: &Labelled, look: &Look<'_>) -> Result<Tested> {
        tested::tested(model, self, test, look)
    }
}

#[derive(Clone, Copy)]
enum Feature {
    Attribute(u32),
    Other(&'static str),
}

impl Feature {
    fn name(self, model: &Model) -> String {
        match self {
            Self::Attribute(a) => weighted_name(model, a),
            Self::Other(name) => name.to_owned(),
        }
    }
}
