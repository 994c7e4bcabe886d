//! The kinds of models, as the commands see them: everything that depends on the structure is behind
//! [`Kind`], so that a verb is written once for all of them.

mod binary;
pub(crate) mod chain;
mod draw;
mod factor_graph;
pub(crate) mod kernel;
mod loading;
mod matching;
mod multiclass;
mod multilabel;
mod options;
mod potts;
mod rows;
mod soft;
mod tree;

pub(crate) use binary::BinaryKind;
pub(crate) use chain::ChainKind;
pub(crate) use factor_graph::FactorGraphKind;
pub(crate) use loading::{load, load_for};
pub(crate) use matching::MatchingKind;
pub(crate) use multiclass::MulticlassKind;
pub(crate) use multilabel::MultilabelKind;
pub(crate) use potts::PottsKind;
pub(crate) use tree::TreeKind;

pub(crate) use maxmargin_io::ProblemRole;

use crate::args::{ModelArgs, ModelName, Pictures, PredictArgs};
use anyhow::{Context as _, Result, bail};
use maxmargin::evaluate::SequenceErrors;
use maxmargin::{Bounded, Bounds, GroupBounds, Problem};
use maxmargin_io::{
    Fingerprint, Format, LabelRule, Model, Names, Origin, PathFile, SeenNames, Source, Spec,
    Template, Unknown,
};
use maxmargin_report::Report;
use serde_json::Value;
use std::io::Write;

/// A kind of model.
pub(crate) trait Kind {
    /// What a model file says of it.
    type Spec: Clone + Into<Spec> + TryFrom<Spec>;
    /// Labelled examples in index form.
    type Examples: Clone;
    /// What its examples are called.
    const NOUNS: Nouns;

    /// Reads labelled data for a model.
    fn read(
        names: &Vocabulary<'_>,
        spec: &Self::Spec,
        data: &str,
        format: Option<Format>,
        rule: LabelRule,
    ) -> Result<Labelled<Self::Examples>>;

    /// Number of examples.
    fn count(examples: &Self::Examples) -> usize;

    /// The examples that are marked.
    fn select(examples: &Self::Examples, keep: &dyn Fn(usize) -> bool) -> Self::Examples;

    /// The names that occur in examples, of kinds that are read by the names of a model.
    fn seen_names(_: &Self::Examples) -> Option<SeenNames> {
        None
    }

    /// Builds the problem, for `user` to work on.
    fn with_problem<U: UseProblem>(
        spec: &Self::Spec,
        examples: Self::Examples,
        bounds: Option<Bounds>,
        user: U,
    ) -> Result<U::Result>;

    /// The errors of weights on examples.
    fn errors(spec: &Self::Spec, w: &[f64], examples: &Self::Examples) -> SequenceErrors;

    /// Predicts, example by example; returns what the model did not know.
    fn predict(
        model: &Model,
        spec: &Self::Spec,
        args: &PredictArgs,
        out: &mut dyn Write,
    ) -> Result<Unknown>;

    /// The measures of the field.
    fn measure(model: &Model, spec: &Self::Spec, data: &Self::Examples) -> Measures;

    /// The weights largest in size.
    fn largest_weights(model: &Model, spec: &Self::Spec, top: usize) -> LargestWeights;

    /// What it is, in a few words.
    fn describe(spec: &Self::Spec) -> String;

    /// Pictures of the model and of what it does on test data.
    fn draw(
        model: &Model,
        spec: &Self::Spec,
        test: Option<&Self::Examples>,
        pictures: &Pictures,
        report: Report,
    ) -> Report;
}

/// What examples and their parts are called.
pub(crate) struct Nouns {
    /// What is predicted in each example.
    pub(crate) labels: &'static str,
    /// The examples.
    pub(crate) examples: &'static str,
}

/// What is to be done with a problem, whatever its type.
pub trait UseProblem {
    /// What comes of it.
    type Result;

    /// Works on a problem whose weights are those of its model.
    fn go<P: Problem>(self, problem: &P) -> Result<Self::Result>
    where
        Self: Sized,
    {
        self.go_with(problem, ProblemRole::Plain)
    }

    /// Works on a problem that is known to be something special.
    fn go_with<P: Problem>(self, problem: &P, beside: ProblemRole<'_>) -> Result<Self::Result>;
}

/// Data to train on, with the model that is to be trained.
pub(crate) struct Training<K: Kind> {
    pub(crate) examples: K::Examples,
    pub(crate) origin: Origin,
    pub(crate) spec: K::Spec,
}

/// Labelled data for a model.
#[derive(Clone)]
pub(crate) struct Labelled<E> {
    pub(crate) examples: E,
    pub(crate) unknown: Unknown,
    pub(crate) fingerprint: Fingerprint,
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
    items.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
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

/// Data to train on, of any kind.
pub(crate) enum AnyTraining {
    Chain(Training<ChainKind>),
    Binary(Training<BinaryKind>),
    Multiclass(Training<MulticlassKind>),
    Multilabel(Training<MultilabelKind>),
    FactorGraph(Training<FactorGraphKind>),
    Potts(Training<PottsKind>),
    Tree(Training<TreeKind>),
    Matching(Training<MatchingKind>),
}

/// Works on a problem with bounds, if there are any, where it has no place for them itself.
fn go_within<P: Problem, U: UseProblem>(
    problem: P,
    bounds: Option<Bounds>,
    user: U,
) -> Result<U::Result> {
    match bounds {
        None => user.go(&problem),
        Some(bounds) => user.go(&Bounded::new(problem, bounds)),
    }
}

/// Does the same with training data of any kind.
macro_rules! with_training {
    ($any:expr, $training:ident => $body:expr) => {
        match $any {
            $crate::kind::AnyTraining::Chain($training) => $body,
            $crate::kind::AnyTraining::Binary($training) => $body,
            $crate::kind::AnyTraining::Multiclass($training) => $body,
            $crate::kind::AnyTraining::Multilabel($training) => $body,
            $crate::kind::AnyTraining::FactorGraph($training) => $body,
            $crate::kind::AnyTraining::Potts($training) => $body,
            $crate::kind::AnyTraining::Tree($training) => $body,
            $crate::kind::AnyTraining::Matching($training) => $body,
        }
    };
}
pub(crate) use with_training;

/// Does the same with a model of any kind, whose type is `$kind` in the body.
macro_rules! with_kind {
    ($spec:expr, $kind:ident, $own:ident => $body:expr) => {
        match $spec {
            maxmargin_io::Spec::Chain($own) => {
                type $kind = $crate::kind::ChainKind;
                $body
            }
            maxmargin_io::Spec::Binary($own) => {
                type $kind = $crate::kind::BinaryKind;
                $body
            }
            maxmargin_io::Spec::Multiclass($own) => {
                type $kind = $crate::kind::MulticlassKind;
                $body
            }
            maxmargin_io::Spec::Multilabel($own) => {
                type $kind = $crate::kind::MultilabelKind;
                $body
            }
            maxmargin_io::Spec::FactorGraph($own) => {
                type $kind = $crate::kind::FactorGraphKind;
                $body
            }
            maxmargin_io::Spec::Potts($own) => {
                type $kind = $crate::kind::PottsKind;
                $body
            }
            maxmargin_io::Spec::Tree(own) => {
                type $kind = $crate::kind::TreeKind;
                let $own = &**own;
                $body
            }
            maxmargin_io::Spec::Matching(own) => {
                type $kind = $crate::kind::MatchingKind;
                let $own = &**own;
                $body
            }
            other => anyhow::bail!("models of the kind {} are not known here", other.kind()),
        }
    };
}
pub(crate) use with_kind;

/// Reads training data for the model that is asked for, or that goes with their format.
pub(crate) fn read_training(
    data: &str,
    format: Option<Format>,
    args: &ModelArgs,
) -> Result<AnyTraining> {
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
    let read_rows = || rows::read_training(&source, format);
    Ok(match name {
        Some(ModelName::Chain) => AnyTraining::Chain(chain::training(&source, format, args)?),
        Some(ModelName::Binary) => AnyTraining::Binary(binary::training(read_rows()?, data, args)?),
        Some(ModelName::Multiclass) => {
            AnyTraining::Multiclass(multiclass::training(read_rows()?, data, args)?)
        }
        Some(ModelName::Multilabel) => {
            AnyTraining::Multilabel(multilabel::training(read_rows()?, args)?)
        }
        Some(ModelName::FactorGraph) => {
            AnyTraining::FactorGraph(factor_graph::training(&source, format, args)?)
        }
        Some(ModelName::Potts) => AnyTraining::Potts(potts::training(data, format, args)?),
        Some(ModelName::Tree) => AnyTraining::Tree(tree::training(data, format, args)?),
        Some(ModelName::Matching) => AnyTraining::Matching(matching::training(data, format, args)?),
        None => {
            let rows = read_rows()?;
            match rows.labels.len() {
                // Binary models have no kernels; multiclass ones do as well.
                2 if args.kernel.kernel.is_none() => {
                    AnyTraining::Binary(binary::training(rows, data, args)?)
                }
                _ => AnyTraining::Multiclass(multiclass::training(rows, data, args)?),
            }
        }
    })
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
    resolve(&bounds, spec).context("--lower, --upper")?;
    Ok(bounds)
}

/// Bounds on the weights one by one.
pub(crate) fn resolve(bounds: &GroupBounds, spec: &Spec) -> Result<Option<Bounds>> {
    Ok(spec.resolve_bounds(bounds)?)
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

/// The names of labels, with a stand-in for those that the model does not know.
pub(crate) fn label_name(names: &Names, label: u32) -> &str {
    if (label as usize) < names.len() { names.name(label) } else { "(unknown)" }
}
