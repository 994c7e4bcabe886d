//! Options that say what is learned.

use super::parse::named;
use super::{KernelArgs, SoftArgs};
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{Args, ValueEnum};
use maxmargin::inference::Inference;
use maxmargin::model::factor_graph::Tie;
use maxmargin::model::potts::PottsInference;
use maxmargin_io::Rescaling;
use std::path::PathBuf;

/// What is learned.
#[derive(Debug, Args)]
#[command(next_help_heading = "Model")]
pub struct ModelArgs {
    /// Kind of structure [default: what the format holds; of rows, binary or multiclass by the
    /// number of labels]
    #[arg(long, value_enum, value_name = "NAME")]
    pub(crate) model: Option<ModelName>,
    /// How attributes are made from columns: `words` (for word, label), `words+pos` (for word, POS, …,
    /// label), `chunking` (for word, POS, chunk), or a template file in CRF++'s syntax [default: what
    /// goes with the columns]
    #[arg(long, value_name = "NAME|FILE")]
    pub(crate) template: Option<String>,
    /// The column that is the label, by its number from 1 or by its name in CoNLL-U or in a header
    /// [default: the last; UPOS in CoNLL-U]
    #[arg(long, value_name = "N|NAME")]
    pub(crate) label_column: Option<String>,
    /// Leave out attributes that occur less often in the training data [default: 1]; of matchings,
    /// pairs of words that are linked less often have no weight of their own [default: 3]
    #[arg(long, value_name = "N")]
    pub(crate) min_count: Option<u64>,
    /// Tokens of a segment at most [default: those of the longest segment in the training data]
    #[arg(long, value_parser = at_least_one, value_name = "N")]
    pub(crate) longest: Option<usize>,
    /// Groups of features of a chain to leave out; of segments `first`, the weights of first tokens
    #[arg(long, value_enum, value_delimiter = ',', value_name = "GROUP,…")]
    pub(crate) without: Vec<Group>,
    /// Loss: the share of wrong labels in an example, or their number
    /// [default: hamming of chains and segments, balanced of graphs, else normalised-hamming]
    #[arg(long, value_enum)]
    pub(crate) loss: Option<Loss>,
    /// Least value of weights, of all or of a group (of a chain: emission, transition, bias, first,
    /// last)
    #[arg(long, value_name = "NUMBER|GROUP=NUMBER,…", value_parser = group_bound)]
    #[arg(value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) lower: Vec<(String, f64)>,
    /// Largest value of weights, of all or of a group
    #[arg(long, value_name = "NUMBER|GROUP=NUMBER,…", value_parser = group_bound)]
    #[arg(value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) upper: Vec<(String, f64)>,
    /// Cost of missing a label, 1 unless given; may be repeated
    #[arg(long, value_name = "LABEL=COST", value_parser = label_weight)]
    pub(crate) label_weight: Vec<(String, f64)>,
    /// Joint states of a factor-graph template that share a weight: agree, differ, diagonal or free; may be repeated
    #[arg(long, value_name = "TEMPLATE=NAME", value_parser = tie)]
    pub(crate) tie: Vec<(String, Tie)>,
    /// Costs of confusions, for multiclass models: lines `TRUTH PREDICTED COST`; all others cost 1
    #[arg(long, value_name = "FILE")]
    pub(crate) costs: Option<PathBuf>,
    /// How the loss enters: larger margins for larger losses, or larger weights. Where outputs cannot all be tried,
    /// slack rescaling searches with the decoder, and the certificate says how much it may have missed
    #[arg(long, value_parser = rescaling_parser(), default_value = "margin", value_name = "NAME")]
    pub(crate) rescaling: Rescaling,
    /// The label of a binary model that has positive scores [default: the second]
    #[arg(long, value_name = "LABEL", allow_hyphen_values = true)]
    pub(crate) positive: Option<String>,
    /// The value of a constant attribute of each row, for binary, multiclass and multi-label models, 0 for none: the
    /// larger it is, the less lambda holds the bias back [default: the length of attributes; 1 with a kernel or
    /// bounds and for multi-label models, 0 for those with all pairs and a kernel]
    #[arg(long, allow_negative_numbers = true, value_parser = finite, value_name = "NUMBER")]
    pub(crate) bias: Option<f64>,
    /// Divide attributes of rows and tokens by their typical size before training; weights stay in the units of
    /// the data [default: auto, which does so with dense rows whose attributes differ tenfold in size; with dense rows
    /// and tokens that have attributes far from 0, whose means are subtracted; and where a few attributes are so large
    /// that they hide others]
    #[arg(long, value_enum, value_name = "WHEN", num_args = 0..=1, default_missing_value = "always")]
    pub(crate) standardise: Option<Standardise>,
    /// The value of the constant features of a chain (transitions, biases, first and last labels), by which their
    /// weights are multiplied: the larger it is, the less lambda holds them back against attributes. `auto`
    /// follows the length of attributes; papers have 1 [default: auto; 1 with a kernel]
    #[arg(long, value_parser = transition_scale, value_name = "auto|NUMBER")]
    pub(crate) transition_scale: Option<TransitionScale>,
    /// Pairs of labels that have a weight, in multi-label models [default: complete up to 15 labels,
    /// tree up to 100, else none]
    #[arg(long, value_enum, value_name = "NAME")]
    pub(crate) pairs: Option<Pairs>,
    /// How multi-label models and factor graphs are decoded [default: auto]
    #[arg(long, value_parser = named::<Inference>(Inference::NAMES), value_name = "NAME")]
    pub(crate) inference: Option<Inference>,
    /// Keep only so many labels, those with the most rows (multi-label models)
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) frequent_labels: Option<usize>,
    /// How graphs are labelled [default: auto]
    #[arg(long, value_parser = named::<PottsInference>(PottsInference::NAMES), value_name = "NAME")]
    pub(crate) graph_inference: Option<PottsInference>,
    /// Colour distances at which boundaries between superpixels lose their weight, `inf` for never
    /// [default: 0.05,0.1,0.2,0.4,inf]
    #[arg(long, value_delimiter = ',', value_parser = width, value_name = "NUMBER,…")]
    pub(crate) widths: Option<Vec<f64>>,
    /// Let the weights of edges be negative: labels are then found by a heuristic or a relaxation
    #[arg(long)]
    pub(crate) free_pairs: bool,
    /// Links that a word may have in a matching [default: 1]
    #[arg(long, value_parser = at_least_one, value_name = "N")]
    pub(crate) links: Option<usize>,
    /// Cost of a missing link, where a wrong one costs 1 [default: 1]
    #[arg(long, value_parser = finite, value_name = "NUMBER")]
    pub(crate) missing_cost: Option<f64>,
    /// Kinds of each joint of a tree [default: 3]
    #[arg(long, value_parser = at_least_one, value_name = "N")]
    pub(crate) joint_kinds: Option<usize>,
    /// Give the joints of a tree maps that are read at their parent: kinds are then types of arcs
    #[arg(long)]
    pub(crate) arc_maps: bool,
    #[command(flatten)]
    pub(crate) kernel: KernelArgs,
    #[command(flatten)]
    pub(crate) soft: SoftArgs,
}

/// Kinds of structures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModelName {
    Chain,
    Binary,
    Multiclass,
    Multilabel,
    FactorGraph,
    #[value(name = "graph")]
    Potts,
    Tree,
    Matching,
    Segment,
}

/// Pairs of labels that have a weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Pairs {
    None,
    Tree,
    Complete,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Group {
    Emission,
    Transition,
    Bias,
    First,
    Last,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Loss {
    NormalisedHamming,
    Hamming,
    /// Of graphs: all labels of the truth count the same, and nodes by their area
    Balanced,
}

fn rescaling_parser() -> impl clap::builder::TypedValueParser<Value = Rescaling> {
    PossibleValuesParser::new(["margin", "slack"]).map(|name| match name.as_str() {
        "slack" => Rescaling::Slack,
        _ => Rescaling::Margin,
    })
}

fn finite(text: &str) -> Result<f64, &'static str> {
    let finite = text.parse().ok().filter(|number: &f64| number.is_finite());
    finite.ok_or("a finite number is needed, such as 1 or 0.5")
}

fn width(text: &str) -> Result<f64, &'static str> {
    let width = text.parse().ok().filter(|width: &f64| *width > 0.0);
    width.ok_or("a positive number is needed, or inf")
}

pub(super) fn at_least_one(text: &str) -> Result<usize, &'static str> {
    text.parse().ok().filter(|number| *number > 0).ok_or("a whole number is needed, 1 or more")
}

fn group_bound(text: &str) -> Result<(String, f64), String> {
    let (group, bound) = text.rsplit_once('=').unwrap_or(("all", text));
    let number: f64 = bound.parse().map_err(|_| format!("`{bound}` is not a number"))?;
    if number.is_nan() {
        return Err("the bound is not a number".to_owned());
    }
    Ok((group.to_owned(), number))
}

fn label_weight(text: &str) -> Result<(String, f64), String> {
    let (label, cost) = text.rsplit_once('=').ok_or("expected LABEL=COST")?;
    let number: f64 = cost.parse().map_err(|_| format!("`{cost}` is not a number"))?;
    if !(number >= 0.0 && number.is_finite()) {
        return Err(format!("the cost is {cost}; a finite number ≥ 0 is needed"));
    }
    Ok((label.to_owned(), number))
}

fn tie(text: &str) -> Result<(String, Tie), String> {
    let (template, name) = text.rsplit_once('=').ok_or("expected TEMPLATE=NAME")?;
    let tie = name.parse::<Tie>().map_err(|error| error.to_string())?;
    Ok((template.to_owned(), tie))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn label_weights_are_parsed_at_the_last_equals_sign() {
        assert_eq!(label_weight("a=b=2"), Ok(("a=b".to_owned(), 2.0)));
        assert!(label_weight("a").is_err() && label_weight("a=x").is_err());
        assert!(label_weight("a=-1").is_err() && label_weight("a=nan").is_err());
    }
}

/// When attributes are divided by their typical size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Standardise {
    Auto,
    Always,
    Never,
}

impl ModelArgs {
    /// Whether the bias of rows gets the value that fits the length of attributes. Bounds are bounds of weights, and
    /// would have other units then.
    pub(crate) fn fits_bias(&self) -> bool {
        self.bias.is_none() && self.lower.is_empty() && self.upper.is_empty()
    }

    /// Whether constant features get the value that fits the length of attributes.
    pub(crate) fn fits_transition_scale(&self) -> bool {
        matches!(self.transition_scale, None | Some(TransitionScale::Auto))
    }
}

/// The value of the constant features of a chain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum TransitionScale {
    /// By the length of attributes.
    Auto,
    Value(f64),
}

fn transition_scale(text: &str) -> Result<TransitionScale, String> {
    match text.parse::<f64>() {
        _ if text == "auto" => Ok(TransitionScale::Auto),
        Ok(value) if value > 0.0 && value.is_finite() => Ok(TransitionScale::Value(value)),
        _ => Err("it must be `auto` or a positive number".to_owned()),
    }
}
