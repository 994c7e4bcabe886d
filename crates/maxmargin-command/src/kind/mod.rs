//! The kinds of models, as the commands see them: everything that depends on the structure is behind
//! [`Kind`], so that a verb is written once for all of them.
//!
//! [`kind_of`] finds the kind of a specification, [`options_of`] the options that a kind knows, and [`read_training`]
//! the kind that goes with data and options. A new kind is named in all three.

mod binary;
mod chain;
pub(crate) mod draw;
mod factor_graph;
mod json_lines;
pub(crate) mod kernel;
mod loading;
mod matching;
mod multiclass;
mod multilabel;
mod options;
mod potts;
mod rows;
mod segment;
mod soft;
pub(crate) mod tested;
mod texts;
mod tree;

pub(crate) use loading::{load, load_for};
pub(crate) use multilabel::pairs_in_words;

use crate::args::{ConvertArgs, ModelArgs, ModelName, PredictArgs};
use anyhow::{Context as _, Result, bail};
use maxmargin::GroupBounds;
use maxmargin::sort;
use maxmargin_io::{
    Examples, Fingerprint, Format, LabelRule, Model, Names, Origin, PathFile, ReadSequences,
    Source, Spec, Template, Training, Unknown,
};
use maxmargin_report::Section;
use serde_json::Value;
use std::borrow::Cow;
use std::io::Write;
use tested::{Look, Tested};
use texts::Texts;

/// A kind of model: its specification, as commands see it.
pub(crate) trait Kind {
    /// Reads labelled data for a model.
    fn read(
        &self,
        names: &Vocabulary<'_>,
        data: &str,
        format: Option<Format>,
        rule: LabelRule,
    ) -> Result<Labelled>;

    /// Predicts, and writes the answers in the order of the data; returns what the model did not know.
    fn write_predictions(
        &self,
        model: &Model,
        args: &PredictArgs,
        out: &mut (dyn Write + Send),
    ) -> Result<Unknown>;

    /// The measures of the field; predicts on so many threads.
    fn measure(&self, model: &Model, data: &Examples, threads: usize) -> Result<Measures>;

    /// The weights largest in size.
    fn largest_weights(&self, model: &Model, top: usize) -> LargestWeights;

    /// What it is, in a few words.
    fn describe(&self) -> String;

    /// The labels that have colours in a report.
    fn coloured(&self, model: &Model) -> Vec<String> {
        tested::label_names(model)
    }

    /// Pictures of the model, beyond its heaviest weights.
    fn draw(&self, _model: &Model) -> Vec<Section> {
        Vec::new()
    }

    /// Whether pictures of the model show its weights better than bars.
    fn draws_weights(&self, _model: &Model) -> bool {
        false
    }

    /// What a report tells of test data.
    fn tested(&self, model: &Model, test: &Labelled, look: &Look<'_>) -> Result<Tested>;
}

/// The kind of a model.
pub(crate) fn kind_of(spec: &Spec) -> Result<&dyn Kind> {
    Ok(match spec {
        Spec::Chain(own) => own,
        Spec::Binary(own) => own,
        Spec::Multiclass(own) => own,
        Spec::Multilabel(own) => own,
        Spec::FactorGraph(own) => own,
        Spec::Potts(own) => own,
        Spec::Tree(own) => &**own,
        Spec::Matching(own) => &**own,
        Spec::Segment(own) => own,
        other => bail!("models of the kind {} are not known here", other.kind()),
    })
}

/// The examples that a kind of model has, which those read for it are.
fn of_kind<T>(examples: Option<&T>) -> Result<&T> {
    examples.context("the data are of another kind than the model")
}

/// Labelled data for a model.
#[derive(Clone)]
pub(crate) struct Labelled {
    pub(crate) examples: Examples,
    pub(crate) unknown: Unknown,
    pub(crate) fingerprint: Fingerprint,
    /// Tokens as they stand in the data, of sequences of words.
    pub(crate) texts: Texts,
}

impl Labelled {
    /// Data whose examples have no words.
    pub(crate) fn new(examples: Examples, unknown: Unknown, fingerprint: Fingerprint) -> Self {
        Self { examples, unknown, fingerprint, texts: Texts::default() }
    }
}

/// How well a model does, for people and for machines.
pub(crate) struct Measures {
    pub(crate) text: String,
    /// An object.
    pub(crate) json: Value,
}

/// Weights under headings, largest first, each with its name.
pub(crate) struct LargestWeights {
    /// What the headings are: labels, unless they are templates.
    pub(crate) heading: &'static str,
    /// Headings, and weights by name.
    pub(crate) labels: Vec<(String, Vec<(String, f64)>)>,
    pub(crate) pairs: Option<PairWeights>,
}

/// Weights of pairs of labels.
pub(crate) struct PairWeights {
    /// What they are called.
    pub(crate) name: &'static str,
    /// What is written between the two.
    pub(crate) between: char,
    pub(crate) weights: Vec<(String, String, f64)>,
}

/// Keeps the `top` largest in size; of equals, the first.
pub(crate) fn largest<T>(mut items: Vec<(T, f64)>, top: usize) -> Vec<(T, f64)> {
    items.retain(|(_, weight)| *weight != 0.0);
    if top > 0 && items.len() / 2 > top {
        // Sorting millions of weights for the sake of a few takes seconds.
        let mut sizes: Vec<f64> = items.iter().map(|(_, weight)| weight.abs()).collect();
        let (_, least, _) = sizes.select_nth_unstable_by(top - 1, |a, b| b.total_cmp(a));
        let least = *least;
        items.retain(|(_, weight)| weight.abs().total_cmp(&least).is_ge());
    }
    sort::by(&mut items, |a, b| b.1.abs().total_cmp(&a.1.abs()));
    items.truncate(top);
    items
}

/// What is needed to read data for a model: its names, and the format it was trained on, which is
/// taken for granted where neither the user nor the data say otherwise.
#[derive(Clone, Copy)]
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

    pub(crate) fn of_origin(origin: &'a Origin) -> Self {
        let Origin { labels, attributes, format, template, .. } = origin;
        Self { labels, attributes, format: *format, template: template.as_ref() }
    }

    pub(crate) fn of_path(file: &'a PathFile) -> Self {
        let (format, template) = (file.meta.format, file.meta.template.as_ref());
        Self { labels: &file.labels, attributes: &file.attributes, format, template }
    }
}

/// The options that a kind of model knows, of those that not all of them know. `--kernel` and `--training` stand for
/// their options as well.
pub(crate) fn options_of(name: ModelName) -> &'static [&'static str] {
    match name {
        ModelName::Chain => &chain::KNOWN,
        ModelName::Binary => &binary::KNOWN,
        ModelName::Multiclass => &multiclass::KNOWN,
        ModelName::Multilabel => &multilabel::KNOWN,
        ModelName::FactorGraph => &factor_graph::KNOWN,
        ModelName::Potts => &potts::KNOWN,
        ModelName::Tree => &tree::KNOWN,
        ModelName::Matching => &matching::KNOWN,
        ModelName::Segment => &segment::KNOWN,
    }
}

/// Opens sequences or rows as they are, to keep them.
pub(crate) fn open_data(args: &ConvertArgs) -> Result<Box<dyn ReadSequences + Send>> {
    let source = Source::resolve(&args.data)?;
    let (template, label) = (args.template.as_deref(), args.label_column.as_deref());
    let implied = match args.format {
        None if template.is_none() => source.format()?,
        format => format,
    };
    match implied {
        Some(format) if !format.is_sequences() && !format.is_rows() => bail!(
            "{source} holds {} (the format {format}), which cannot be converted\n\
             hint: sequences and single rows can",
            format.content()
        ),
        Some(format) if format.is_rows() && template.is_none() && label.is_none() => {
            Ok(source.open_rows(args.format)?)
        }
        _ => chain::open_training(&source, args.format, template, label),
    }
}

/// Reads training data for the model that is asked for, or that goes with their format, on so many threads, or on
/// one per core if that is 0.
pub(crate) fn read_training(
    data: &str,
    format: Option<Format>,
    args: &ModelArgs,
    threads: usize,
) -> Result<Training> {
    let (source, part) = Source::resolve_part(data)?;
    let implied = match (args.model, format) {
        (None, None) if args.template.is_none() => source.format()?,
        _ => format,
    };
    let name = args.model.or(match implied {
        Some(Format::Libsvm) => None,
        Some(Format::Multilabel) => Some(ModelName::Multilabel),
        Some(Format::FactorGraph) => Some(ModelName::FactorGraph),
        Some(Format::Superpixels) => Some(ModelName::Potts),
        Some(Format::Alignment) => Some(ModelName::Matching),
        Some(Format::Pose) => Some(ModelName::Tree),
        _ => Some(ModelName::Chain),
    });
    let has_parts = [ModelName::Potts, ModelName::Matching, ModelName::Tree];
    let source = match part {
        Some(_) if !name.is_some_and(|name| has_parts.contains(&name)) => Source::resolve(data)?,
        _ => source,
    };
    let read_rows = || rows::read_training(&source, format, threads);
    match name {
        Some(ModelName::Chain) => chain::training(&source, format, args, threads),
        Some(ModelName::Binary) => binary::training(read_rows()?, data, args),
        Some(ModelName::Multiclass) => multiclass::training(read_rows()?, data, args),
        Some(ModelName::Multilabel) => multilabel::training(read_rows()?, data, args),
        Some(ModelName::FactorGraph) => factor_graph::training(&source, format, args),
        Some(ModelName::Potts) => potts::training(data, format, args),
        Some(ModelName::Tree) => tree::training(data, format, args),
        Some(ModelName::Matching) => matching::training(data, format, args, threads),
        Some(ModelName::Segment) => segment::training(&source, format, args, threads),
        None => {
            let rows = read_rows()?;
            match rows.labels.len() {
                // Binary models have no kernels; multiclass ones do as well.
                2 if args.kernel.kernel.is_none() => binary::training(rows, data, args),
                _ => multiclass::training(rows, data, args),
            }
        }
    }
}

/// The bounds on weights that are asked for.
pub(crate) fn bounds(args: &ModelArgs, spec: &Spec) -> Result<GroupBounds> {
    // A bound that is infinite on its own side is none.
    let collect = |bounds: &[(String, f64)], none: f64| {
        bounds.iter().filter(|(_, bound)| *bound != none).cloned().collect()
    };
    let bounds = GroupBounds {
        lower: collect(&args.lower, f64::NEG_INFINITY),
        upper: collect(&args.upper, f64::INFINITY),
    };
    spec.resolve_bounds(&bounds).context("--lower, --upper")?;
    Ok(bounds)
}

/// Refuses data that are to be read in a format that holds something else.
pub(crate) fn refuse_format(format: Option<Format>, fits: bool, model: &str) -> Result<()> {
    match format {
        Some(format) if !fits => {
            bail!(
                "--format {format} holds {}, which --model {model} cannot learn from",
                format.content()
            )
        }
        _ => Ok(()),
    }
}

/// Why data cannot be read for a model whose features were not made from files.
pub(crate) fn features_from_elsewhere() -> anyhow::Error {
    anyhow::anyhow!(
        "the model was trained on features that are made from no file\n\
         hint: use it where it was trained, say in Python (maxmargin.load)"
    )
}

/// The most characters of a name that a message shows.
const SHOWN: usize = 40;

/// A name for a message: not all of one that is very long, as a line without blanks may be.
fn in_short(name: &str) -> Cow<'_, str> {
    match name.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &name[..end]).into(),
        None => name.into(),
    }
}

/// The names of labels, with a stand-in for those that the model does not know.
pub(crate) fn label_name(names: &Names, label: u32) -> &str {
    if (label as usize) < names.len() { names.name(label) } else { "(unknown)" }
}

#[cfg(test)]
mod tests {
    use super::largest;

    #[test]
    fn the_largest_are_those_that_sorting_finds() {
        let mut rng = maxmargin::Rng::new(5);
        for count in [0, 1, 7, 40, 300] {
            // Many equal ones, of which the first count.
            let weight = |at: usize, rng: &mut maxmargin::Rng| (at, rng.below(9) as f64 - 4.0);
            let items: Vec<(usize, f64)> = (0..count).map(|at| weight(at, &mut rng)).collect();
            let mut sorted: Vec<(usize, f64)> =
                items.iter().copied().filter(|(_, weight)| *weight != 0.0).collect();
            sorted.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
            for top in [0, 1, 5, 500] {
                let expected = &sorted[..top.min(sorted.len())];
                assert_eq!(largest(items.clone(), top), expected, "{top} of {count}");
            }
        }
    }
}
