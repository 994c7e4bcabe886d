//! Segments: sequences that are cut into pieces with a label each.
//!
//! Data are those of chains; their tags tell the segments (`maxmargin_io::SegmentTags`).

mod predict;
mod tested;

use super::chain::{frequent, open_training};
use super::options::{check, hamming};
use super::tested::{Look, Tested};
use super::texts::Texts;
use super::{
    Kind, Labelled, LargestWeights, Measures, PairWeights, Vocabulary, features_from_elsewhere,
    largest, of_kind, refuse_format,
};
use crate::args::{Group, ModelArgs, PredictArgs};
use crate::tally;
use anyhow::{Context as _, Result, bail};
use maxmargin::evaluate::Tally;
use maxmargin::model::chain::Hamming;
use maxmargin::model::segment::{SegmentShape, Segmentations};
use maxmargin_io::{
    CONSTANT, EvalData, Examples, Format, LabelRule, Model, Origin, SegmentDataset, SegmentSpec,
    Source, Training, Unknown, cut_into_segments, read_training_on, read_with, segment_fingerprint,
};
use serde_json::json;
use std::fmt::Write as _;
use std::io::Write;

/// The loss is the number of wrong tokens unless told otherwise, as in chains.
const NORMALISED: bool = false;

pub(super) const KNOWN: [&str; 9] = [
    "--template",
    "--label-column",
    "--min-count",
    "--longest",
    "--without",
    "--loss",
    "--label-weight",
    "--lower",
    "--upper",
];

pub(super) fn training(
    source: &Source,
    format: Option<Format>,
    args: &ModelArgs,
    threads: usize,
) -> Result<Training> {
    check(args, "segment", &KNOWN)?;
    if args.without.iter().any(|group| *group != Group::First) {
        bail!("--without: of segments only `first` can be left out, the weights of first tokens");
    }
    refuse_format(format, format.is_none_or(Format::is_sequences), "segment")?;
    let (template, label) = (args.template.as_deref(), args.label_column.as_deref());
    let reader = open_training(source, format, template, label)?;
    let data = frequent(read_training_on(reader, threads)?, source, args)?;
    let SegmentDataset { segments, labels, attributes, tags } =
        SegmentDataset::of(&data).with_context(|| source.to_string())?;
    let longest = args.longest.unwrap_or_else(|| segments.longest());
    if segments.longest() > longest {
        bail!(
            "{source}: there is a segment of {} tokens, and --longest is {longest}\n\
             hint: leave --longest out, and it is that of the data",
            segments.longest()
        );
    }
    let shape = SegmentShape {
        labels: labels.len(),
        token_attributes: attributes.len(),
        segment_attributes: 0,
        longest,
        firsts: !args.without.contains(&Group::First),
    };
    let Hamming { normalised, label_weights } = hamming(args, &labels, NORMALISED)?;
    let spec = SegmentSpec { shape, normalised, label_weights, tags, rescaling: args.rescaling };
    let origin = Origin {
        labels,
        attributes,
        format: data.format,
        fingerprint: segment_fingerprint(&segments),
        template: data.template,
    };
    Ok(Training { origin, examples: Examples::Segments(segments), spec: spec.into() })
}

/// The sequences of a model of this kind.
fn segments_of(examples: &Examples) -> Result<&Segmentations> {
    of_kind(if let Examples::Segments(data) = examples { Some(data) } else { None })
}

/// Refuses a model whose features of segments no file has.
fn need_tokens_only(spec: &SegmentSpec) -> Result<()> {
    match spec.shape.segment_attributes {
        0 => Ok(()),
        _ => Err(features_from_elsewhere()),
    }
}

impl Kind for SegmentSpec {
    fn read(
        &self,
        names: &Vocabulary<'_>,
        data: &str,
        format: Option<Format>,
        rule: LabelRule,
    ) -> Result<Labelled> {
        need_tokens_only(self)?;
        let tags = self.tag_names(names.labels);
        let mut texts = Texts::default();
        let reader = texts.listen(names.open_sequences(data, format)?);
        let EvalData { sequences, unknown, .. } =
            read_with(reader, tags.names(), names.attributes, rule)?;
        let segments = cut_into_segments(&sequences, &tags, names.attributes.get(CONSTANT))
            .with_context(|| data.to_owned())?;
        let fingerprint = segment_fingerprint(&segments);
        Ok(Labelled { examples: Examples::Segments(segments), unknown, fingerprint, texts })
    }

    fn write_predictions(
        &self,
        model: &Model,
        args: &PredictArgs,
        out: &mut (dyn Write + Send),
    ) -> Result<Unknown> {
        need_tokens_only(self)?;
        predict::predict(model, self, args, out)
    }

    fn measure(&self, model: &Model, data: &Examples, threads: usize) -> Result<Measures> {
        let errors = model.meta.spec.errors(&model.weights, data, threads)?;
        let (tags, segments) = (self.tag_names(&model.labels), segments_of(data)?);
        let mut tally = Tally::default();
        for (i, predicted) in self.predict(&model.weights, segments, threads)?.iter().enumerate() {
            tags.count(segments.truth(i), predicted, &mut tally);
        }
        let (tokens, sequences) = (&errors.parts, &errors.examples);
        let mut text = String::new();
        let _ = writeln!(text, "tokens     {:>8}   error {:.4}", tokens.all, tokens.share());
        let _ = writeln!(text, "sequences  {:>8}   error {:.4}", sequences.all, sequences.share());
        tally::table(&mut text, "segment", &tally);
        let json = json!({
            "hamming": tokens.share(), "zero_one": sequences.share(),
            "tokens": tokens.all, "sequences": sequences.all,
            "chunks": tally::to_json(&tally),
        });
        Ok(Measures { text, json })
    }

    fn largest_weights(&self, model: &Model, top: usize) -> LargestWeights {
        let (shape, w) = (&self.shape, &model.weights);
        let k = shape.labels;
        let labels = model.labels.iter().enumerate().map(|(y, label)| {
            let attributes = w[..shape.segments().end].chunks_exact(k).enumerate();
            let lengths = w[shape.lengths()].chunks_exact(k).enumerate();
            let firsts = w[shape.firsts()].chunks_exact(k).enumerate();
            let features = attributes.map(|(a, row)| (Feature::Attribute(a as u32), row[y]));
            let lengths = lengths.map(|(at, row)| (Feature::Length(at + 1), row[y]));
            let firsts = firsts.map(|(a, row)| (Feature::First(a as u32), row[y]));
            let top = largest(features.chain(lengths).chain(firsts).collect(), top).into_iter();
            let named = top.map(|(feature, weight)| (feature.name(model), weight));
            (label.to_owned(), named.collect())
        });
        let pairs = w[shape.transitions()].iter().enumerate();
        let pairs = pairs.map(|(at, &weight)| ((at / k, at % k), weight)).collect();
        let name = |y: usize| model.labels.name(y as u32).to_owned();
        let transitions = largest(pairs, top.saturating_mul(2)).into_iter();
        let weights = transitions.map(|((y, z), weight)| (name(y), name(z), weight)).collect();
        let pairs = PairWeights { name: "transitions", between: '→', weights };
        LargestWeights { heading: "label", labels: labels.collect(), pairs: Some(pairs) }
    }

    fn describe(&self) -> String {
        let SegmentShape { labels, longest, .. } = self.shape;
        format!("Segments of up to {longest} tokens over {labels} labels")
    }

    fn tested(&self, model: &Model, test: &Labelled, look: &Look<'_>) -> Result<Tested> {
        tested::tested(model, self, test, look)
    }
}

#[derive(Clone, Copy)]
enum Feature {
    Attribute(u32),
    /// Of the first token of a segment.
    First(u32),
    Length(usize),
}

impl Feature {
    fn name(self, model: &Model) -> String {
        match self {
            Self::Attribute(a) => model.attributes.name(a).to_owned(),
            Self::First(a) => format!("(first) {}", model.attributes.name(a)),
            Self::Length(length) => format!("(length {length})"),
        }
    }
}
