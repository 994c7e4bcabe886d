//! Chains on the command line: from data to a problem, and from a model to predictions.

use anyhow::{Context as _, Result, anyhow, bail};
use maxmargin::GroupBounds;
use maxmargin::evaluate::SequenceErrors;
use maxmargin::model::chain::{
    Chain, ChainScores, ChainShape, FeatureGroups, Hamming, Sequence, Sequences,
};
use maxmargin_io::{
    DataError, Dataset, EvalData, Format, LabelRule, Lines, Model, Names, PathFile, ReadSequences,
    Source, Template, UNKNOWN_LABEL, read_training, read_with,
};

use std::path::Path;

use crate::args::{Group, Loss, ModelArgs};

/// Reads a model.
pub(crate) fn load(path: &Path) -> Result<Model> {
    Model::load(path).map_err(|error| {
        let hint = match PathFile::load(path) {
            Ok(_) => "`maxmargin pick PATH --lambda NUMBER -o MODEL` takes a model out of it",
            Err(_) => "a model is a file that `maxmargin train DATA -o MODEL` has written",
        };
        anyhow!("{error}\nhint: {hint}")
    })
}

/// The template for chunking that is built in.
const CHUNKING: &str = "chunking";

/// Reads training data.
pub(crate) fn read_train(data: &str, format: Option<Format>, args: &ModelArgs) -> Result<Dataset> {
    let source = Source::resolve(data)?;
    let is_columns = format.is_none_or(|format| format == Format::Conll);
    let reader = match args.template.as_deref() {
        None => source.open(format),
        Some(_) if !is_columns => bail!(
            "--template makes attributes from columns, which --format {} does not have",
            format.map_or("", Format::name)
        ),
        Some(CHUNKING) => source.open(Some(Format::Conll)),
        Some(file) => source.open_columns(Template::read(Lines::open(file)?)?),
    };
    let dataset = read_training(reader?)?.with_min_count(args.min_count);
    if dataset.labels.len() < 2 {
        let label = dataset.labels.name(0);
        bail!("{data}: all tokens have the label `{label}`; there is nothing to learn");
    }
    Ok(dataset)
}

/// What is needed to read data for a model: its names, and the format it was trained on, which is
/// taken for granted where neither the user nor the data say otherwise.
pub(crate) struct Vocabulary<'a> {
    pub(crate) labels: &'a Names,
    pub(crate) attributes: &'a Names,
    pub(crate) format: Format,
    pub(crate) template: Option<&'a Template>,
}

impl<'a> Vocabulary<'a> {
    pub(crate) fn of(model: &'a Model) -> Self {
        let (format, template) = (model.meta.format, model.meta.template.as_ref());
        Self { labels: &model.labels, attributes: &model.attributes, format, template }
    }

    pub(crate) fn of_data(data: &'a Dataset) -> Self {
        let (format, template) = (data.format, data.template.as_ref());
        Self { labels: &data.labels, attributes: &data.attributes, format, template }
    }

    /// Opens data: in the format given, or in the one they evidently have, or in that of the
    /// training data. Standard input cannot be looked at twice, so there the evidence is not asked.
    pub(crate) fn open(
        &self,
        data: &str,
        format: Option<Format>,
    ) -> Result<Box<dyn ReadSequences + Send>> {
        let source = Source::resolve(data)?;
        let is_columns = format.is_none_or(|format| format == Format::Conll);
        if let Some(template) = self.template.filter(|_| is_columns) {
            return Ok(source.open_columns(template.clone())?);
        }
        let implied = || source.open(Some(self.format));
        let opened = match (format, &source) {
            (None, Source::Stdin) => implied(),
            _ => match source.open(format) {
                Err(DataError::UnclearFormat { .. }) => implied(),
                opened => opened,
            },
        };
        Ok(opened?)
    }

    /// Reads data whole.
    pub(crate) fn read(
        &self,
        data: &str,
        format: Option<Format>,
        rule: LabelRule,
    ) -> Result<EvalData> {
        Ok(read_with(self.open(data, format)?, self.labels, self.attributes, rule)?)
    }
}

/// The shape of a chain over the names of a data set.
pub(crate) fn shape(args: &ModelArgs, data: &Dataset) -> Result<ChainShape> {
    let has = |group| !args.without.contains(&group);
    let groups = FeatureGroups {
        emission: has(Group::Emission),
        transition: has(Group::Transition)
            && data.template.as_ref().is_none_or(Template::has_transitions),
        bias: has(Group::Bias),
        first: has(Group::First),
        last: has(Group::Last),
    };
    let shape = ChainShape { labels: data.labels.len(), attributes: data.attributes.len(), groups };
    if shape.dim() == 0 {
        bail!("--without: no features are left\nhint: leave out fewer groups");
    }
    Ok(shape)
}

/// The bounds on weights that are asked for.
pub(crate) fn bounds(args: &ModelArgs, shape: &ChainShape) -> Result<GroupBounds> {
    // A bound that is infinite on its own side is none.
    let collect = |bounds: &[(String, f64)], none: f64| {
        bounds.iter().filter(|(_, bound)| *bound != none).cloned().collect()
    };
    let bounds = GroupBounds {
        lower: collect(&args.lower, f64::NEG_INFINITY),
        upper: collect(&args.upper, f64::INFINITY),
    };
    bounds.resolve(&shape.named_groups(), shape.dim()).context("--lower, --upper")?;
    Ok(bounds)
}

/// A chain over sequences, with bounds on its weights.
pub(crate) fn build(
    shape: ChainShape,
    sequences: Sequences,
    loss: &Hamming,
    bounds: &GroupBounds,
) -> Result<Chain> {
    let bounds = bounds.resolve(&shape.named_groups(), shape.dim())?;
    Ok(Chain::new(shape, sequences, loss)?.with_bounds(bounds))
}

/// The loss over the labels of a data set.
pub(crate) fn loss(args: &ModelArgs, labels: &Names) -> Result<Hamming> {
    let mut label_weights = Vec::new();
    for (name, weight) in &args.label_weight {
        let label = labels.get(name).with_context(|| {
            let known: Vec<&str> = labels.iter().take(30).collect();
            format!(
                "--label-weight: the data have no label `{name}`\nhint: there are {}{}",
                known.join(", "),
                if labels.len() > known.len() { ", …" } else { "" }
            )
        })?;
        label_weights.resize(labels.len(), 1.0);
        label_weights[label as usize] = *weight;
    }
    Ok(Hamming { normalised: args.loss == Loss::NormalisedHamming, label_weights })
}

/// The name of a label, or a stand-in for a gold label that the model does not know.
pub(crate) fn label_name(model: &Model, label: u32) -> &str {
    match label {
        UNKNOWN_LABEL => "(unknown)",
        known => model.labels.name(known),
    }
}

/// A model at work.
pub(crate) struct Predictor<'m> {
    model: &'m Model,
    scores: ChainScores,
    labels: Vec<u32>,
}

impl<'m> Predictor<'m> {
    pub(crate) fn new(model: &'m Model) -> Self {
        Self { model, scores: ChainScores::default(), labels: Vec::new() }
    }

    /// The best labels of a sequence.
    pub(crate) fn predict(&mut self, sequence: Sequence<'_>) -> &[u32] {
        let (shape, weights) = (&self.model.meta.shape, &self.model.weights);
        self.scores.fill(shape, weights, sequence);
        self.scores.decode(shape, weights, &mut self.labels);
        &self.labels
    }
}

/// The errors of a model on labelled data.
pub(crate) fn errors(model: &Model, data: &EvalData) -> SequenceErrors {
    errors_of(&model.meta.shape, &model.weights, data)
}

/// The errors of weights on labelled data.
pub(crate) fn errors_of(shape: &ChainShape, weights: &[f64], data: &EvalData) -> SequenceErrors {
    let (mut scores, mut labels) = (ChainScores::default(), Vec::new());
    let mut errors = SequenceErrors::default();
    for sequence in data.sequences.iter() {
        scores.fill(shape, weights, sequence);
        scores.decode(shape, weights, &mut labels);
        errors.add(sequence.labels(), &labels);
    }
    errors
}
