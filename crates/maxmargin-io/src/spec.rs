//! What kind of model a file holds, and where its weights lie.

mod kernel;
mod soft;

pub use kernel::KernelSpec;
pub use soft::{FactorTraining, SoftSpec};

use crate::alignment::AlignmentFeatures;
use crate::graph::GraphNames;
use crate::model::ModelError;
use crate::names::Names;
use crate::pose::{PoseKinds, PoseSimulation};
use maxmargin::inference::Inference;
use maxmargin::model::binary::BinaryShape;
use maxmargin::model::chain::{ChainShape, Hamming};
use maxmargin::model::factor_graph::{GraphShape, Hamming as GraphHamming};
use maxmargin::model::graph::{GraphInference, NodeLoss, PottsShape};
use maxmargin::model::matching::{LinkLoss, MatchingShape};
use maxmargin::model::multiclass::{ClassLoss, MulticlassShape};
use maxmargin::model::multilabel::MultilabelShape;
use maxmargin::model::tree::{TreeLoss, TreeShape};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The kind of structure that a model predicts: the shape of its weights, and the loss and inference
/// it was trained with. Enough to build the problem again, given the data.
///
/// ```
/// use maxmargin::model::chain::{ChainShape, Hamming};
/// use maxmargin_io::{ChainSpec, Spec};
///
/// let shape = ChainShape::new(3, 10);
/// let spec = Spec::from(ChainSpec { shape, loss: Hamming::default(), kernel: None });
/// assert_eq!((spec.kind(), spec.dim()), ("chain", 3 * 10 + 3 * 3 + 3 * 3));
/// assert_eq!(spec.groups()[1].name, "transition");
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Spec {
    /// Sequences of labels.
    Chain(ChainSpec),
    /// One of two labels.
    Binary(BinarySpec),
    /// One of several labels.
    Multiclass(MulticlassSpec),
    /// Sets of labels.
    Multilabel(MultilabelSpec),
    /// States of the variables of factor graphs.
    FactorGraph(FactorGraphSpec),
    /// Labels of the nodes of graphs.
    Graph(GraphSpec),
    /// Places of the parts of trees.
    Tree(Box<TreeSpec>),
    /// Links between the items of two lists.
    Matching(Box<MatchingSpec>),
}

macro_rules! specs {
    ($($(#[$doc:meta])* $variant:ident($name:ident) { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* })*) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
            #[serde(deny_unknown_fields)]
            pub struct $name {
                $($(#[$field_doc])* pub $field: $type,)*
            }

            impl From<$name> for Spec {
                fn from(spec: $name) -> Self {
                    Self::$variant(spec)
                }
            }

            /// Back, if it is of this kind; the whole is given back if not.
            impl TryFrom<Spec> for $name {
                type Error = Spec;

                fn try_from(spec: Spec) -> Result<Self, Spec> {
                    match spec {
                        Spec::$variant(own) => Ok(own),
                        other => Err(other),
                    }
                }
            }
        )*
    };
}

specs! {
    /// A chain: see [`maxmargin::model::chain`].
    ///
    /// ```
    /// use maxmargin::model::chain::{ChainShape, Hamming};
    /// use maxmargin_io::ChainSpec;
    ///
    /// let shape = ChainShape::new(2, 5);
    /// let spec = ChainSpec { shape, loss: Hamming::default(), kernel: None };
    /// assert!(spec.loss.normalised);
    /// ```
    Chain(ChainSpec) {
        /// The shape of the weights.
        shape: ChainShape,
        /// The loss it was trained for.
        loss: Hamming,
        /// The kernel, if it has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kernel: Option<KernelSpec>,
    }
    /// A binary model: see [`maxmargin::model::binary`].
    ///
    /// ```
    /// use maxmargin::model::binary::BinaryShape;
    /// use maxmargin_io::{BinarySpec, Rescaling};
    ///
    /// let shape = BinaryShape::new(5);
    /// let spec = BinarySpec { shape, positive: 1, rescaling: Rescaling::Margin };
    /// assert_eq!(spec.positive, 1);
    /// ```
    Binary(BinarySpec) {
        /// The shape of the weights.
        shape: BinaryShape,
        /// The label with positive scores; the other one has negative ones.
        positive: u32,
        /// How the loss enters.
        rescaling: Rescaling,
    }
    /// A multiclass model: see [`maxmargin::model::multiclass`].
    ///
    /// ```
    /// use maxmargin::model::multiclass::{ClassLoss, MulticlassShape};
    /// use maxmargin_io::{MulticlassSpec, Rescaling};
    ///
    /// let (shape, loss) = (MulticlassShape::new(3, 5), ClassLoss::ZeroOne);
    /// let spec = MulticlassSpec { shape, loss, rescaling: Rescaling::Slack, kernel: None };
    /// assert_eq!(spec.shape.classes, 3);
    /// ```
    Multiclass(MulticlassSpec) {
        /// The shape of the weights.
        shape: MulticlassShape,
        /// The loss it was trained for.
        loss: ClassLoss,
        /// How the loss enters.
        rescaling: Rescaling,
        /// The kernel, if it has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kernel: Option<KernelSpec>,
    }
    /// A multi-label model: see [`maxmargin::model::multilabel`].
    ///
    /// ```
    /// use maxmargin::inference::Inference;
    /// use maxmargin::model::chain::Hamming;
    /// use maxmargin::model::multilabel::MultilabelShape;
    /// use maxmargin_io::{MultilabelSpec, Rescaling};
    ///
    /// let (shape, loss) = (MultilabelShape::complete(4, 5), Hamming::default());
    /// let (inference, rescaling) = (Inference::Auto, Rescaling::Margin);
    /// let (partial, kernel, training) = (false, None, Default::default());
    /// let spec = MultilabelSpec { shape, loss, inference, partial, rescaling, kernel, training };
    /// assert_eq!(spec.shape.pairs.len(), 6);
    /// ```
    Multilabel(MultilabelSpec) {
        /// The shape of the weights.
        shape: MultilabelShape,
        /// The loss it was trained for.
        loss: Hamming,
        /// How sets of labels are found.
        inference: Inference,
        /// Whether rows may have other labels besides, which are left out.
        partial: bool,
        /// How the loss enters.
        rescaling: Rescaling,
        /// The kernel, if it has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kernel: Option<KernelSpec>,
        /// How its weights are found.
        #[serde(default, skip_serializing_if = "FactorTraining::is_decoding")]
        training: FactorTraining,
    }
    /// A factor graph: see [`maxmargin::model::factor_graph`].
    ///
    /// ```
    /// use maxmargin::inference::Inference;
    /// use maxmargin::model::factor_graph::{GraphShape, Hamming};
    /// use maxmargin_io::FactorGraphSpec;
    ///
    /// let (shape, loss) = (GraphShape::default(), Hamming::default());
    /// let (inference, training, rescaling) = (Inference::Lp, Default::default(), Default::default());
    /// let spec = FactorGraphSpec { shape, loss, inference, training, rescaling };
    /// assert_eq!(spec.shape.dim(), 0);
    /// ```
    FactorGraph(FactorGraphSpec) {
        /// The shape of the weights.
        shape: GraphShape,
        /// The loss it was trained for.
        loss: GraphHamming,
        /// How states are found.
        inference: Inference,
        /// How its weights are found.
        #[serde(default, skip_serializing_if = "FactorTraining::is_decoding")]
        training: FactorTraining,
        /// How the loss enters.
        #[serde(default)]
        rescaling: Rescaling,
    }
}

/// Labels of the nodes of graphs: see [`maxmargin::model::graph`].
///
/// ```
/// use maxmargin::model::graph::{GraphInference, NodeLoss, PottsShape};
/// use maxmargin_io::{GraphSpec, Spec};
///
/// let (shape, loss) = (PottsShape::new(2, 45, 5), NodeLoss::default());
/// let inference = GraphInference::Auto;
/// let widths = Some(vec![Some(0.1), None]); // none inside is infinite
/// let spec = Spec::from(GraphSpec { shape, loss, inference, widths });
/// assert_eq!((spec.kind(), spec.attributes()), ("graph", 50));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GraphSpec {
    /// The shape of the weights.
    pub shape: PottsShape,
    /// The loss it was trained for.
    pub loss: NodeLoss,
    /// How labels are found.
    pub inference: GraphInference,
    /// The widths of [`SuperpixelFeatures`](crate::SuperpixelFeatures), of which none stands for
    /// infinity; nothing if the features were made elsewhere, so that no file of ours can give them.
    pub widths: Option<Vec<Option<f64>>>,
}

/// Trees of joints on simulated score maps: see [`maxmargin::model::tree`].
///
/// ```
/// use maxmargin_io::{Lines, PoseKinds, PoseSimulation, Spec, TreeSpec, read_poses};
///
/// let text = "a\t0,0,0\t10,30,0\nb\t0,0,0\t-10,30,0\n";
/// let people = read_poses(Lines::from_reader("people.tsv", text.as_bytes())?)?;
/// let simulation = PoseSimulation::default();
/// let kinds = PoseKinds::fit(&people, &[None, Some(0)], 2, &simulation);
/// let (shape, loss) = (kinds.shape(4.0), Default::default());
/// let (kinds, simulation) = (Some(kinds), Some(simulation));
/// let spec = Spec::from(TreeSpec { shape, loss, kinds, simulation });
/// assert_eq!(spec.kind(), "tree");
/// # Ok::<(), maxmargin_io::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TreeSpec {
    /// The shape of the weights.
    pub shape: TreeShape,
    /// The loss it was trained for.
    pub loss: TreeLoss,
    /// The kinds of each joint, of trees of joints.
    pub kinds: Option<PoseKinds>,
    /// How score maps are simulated; nothing if they were made elsewhere, so that no file of ours can
    /// give them.
    pub simulation: Option<PoseSimulation>,
}

/// Links between words: see [`maxmargin::model::matching`].
///
/// ```
/// use maxmargin::model::matching::{LinkLoss, MatchingShape};
/// use maxmargin_io::{AlignmentFeatures, MatchingSpec, Spec};
///
/// let features = AlignmentFeatures::default();
/// let (shape, loss) = (MatchingShape::new(features.attributes()), LinkLoss::default());
/// let features = Some(features);
/// let spec = Spec::from(MatchingSpec { shape, loss, features });
/// assert_eq!((spec.kind(), spec.dim()), ("matching", 27));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MatchingSpec {
    /// The shape of the weights.
    pub shape: MatchingShape,
    /// The loss it was trained for.
    pub loss: LinkLoss,
    /// How attributes are made of words; nothing if they were made elsewhere, so that no file of ours
    /// can give them.
    pub features: Option<AlignmentFeatures>,
}

impl From<GraphSpec> for Spec {
    fn from(spec: GraphSpec) -> Self {
        Self::Graph(spec)
    }
}

impl From<TreeSpec> for Spec {
    fn from(spec: TreeSpec) -> Self {
        Self::Tree(Box::new(spec))
    }
}

impl From<MatchingSpec> for Spec {
    fn from(spec: MatchingSpec) -> Self {
        Self::Matching(Box::new(spec))
    }
}

impl TryFrom<Spec> for GraphSpec {
    type Error = Spec;

    fn try_from(spec: Spec) -> Result<Self, Spec> {
        if let Spec::Graph(own) = spec { Ok(own) } else { Err(spec) }
    }
}

impl TryFrom<Spec> for TreeSpec {
    type Error = Spec;

    fn try_from(spec: Spec) -> Result<Self, Spec> {
        if let Spec::Tree(own) = spec { Ok(*own) } else { Err(spec) }
    }
}

impl TryFrom<Spec> for MatchingSpec {
    type Error = Spec;

    fn try_from(spec: Spec) -> Result<Self, Spec> {
        if let Spec::Matching(own) = spec { Ok(*own) } else { Err(spec) }
    }
}

/// How the loss enters the structured hinge.
///
/// ```
/// use maxmargin_io::Rescaling;
/// assert_eq!(Rescaling::default(), Rescaling::Margin);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rescaling {
    /// max L(y) − ⟨w, ψ(y)⟩: outputs with a larger loss must lie further away.
    #[default]
    Margin,
    /// max L(y)·(1 − ⟨w, ψ(y)⟩): see [`maxmargin::SlackRescaled`].
    Slack,
}

/// A group of weights: a tensor of its own in a model file, and a group that bounds can be put on.
///
/// ```
/// use maxmargin::model::binary::BinaryShape;
/// use maxmargin_io::{BinarySpec, Rescaling, Spec};
///
/// let shape = BinaryShape { attributes: 4, bias: Some(1.0) };
/// let spec = Spec::from(BinarySpec { shape, positive: 1, rescaling: Rescaling::Margin });
/// let groups = spec.groups();
/// assert_eq!((groups[0].name.as_str(), groups[0].range.clone()), ("weights", 0..4));
/// assert_eq!((groups[1].name.as_str(), groups[1].range.clone()), ("bias", 4..5));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WeightGroup {
    /// Its name.
    pub name: String,
    /// Its place among the weights.
    pub range: Range<usize>,
    /// Its shape as a tensor.
    pub shape: Vec<usize>,
}

fn group(name: &str, range: Range<usize>, shape: Vec<usize>) -> WeightGroup {
    WeightGroup { name: name.to_owned(), range, shape }
}

impl Spec {
    /// The name of the kind: `chain`, `binary`, `multiclass`, `multilabel`, `factor-graph`, `graph`,
    /// `tree` or `matching`.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Chain(_) => "chain",
            Self::Binary(_) => "binary",
            Self::Multiclass(_) => "multiclass",
            Self::Multilabel(_) => "multilabel",
            Self::FactorGraph(_) => "factor-graph",
            Self::Graph(_) => "graph",
            Self::Tree(_) => "tree",
            Self::Matching(_) => "matching",
        }
    }

    /// Number of weights.
    pub fn dim(&self) -> usize {
        match self {
            Self::Chain(spec) => spec.scoring_shape().dim(),
            Self::Binary(spec) => spec.shape.dim(),
            Self::Multiclass(spec) => spec.scoring_shape().dim(),
            Self::Multilabel(spec) => spec.scoring_shape().dim() + spec.training.messages(),
            Self::FactorGraph(spec) => spec.shape.dim() + spec.training.messages(),
            Self::Graph(spec) => spec.shape.dim(),
            Self::Tree(spec) => spec.shape.dim(),
            Self::Matching(spec) => spec.shape.dim(),
        }
    }

    /// Number of labels that have names; the templates of a factor graph.
    pub fn labels(&self) -> usize {
        match self {
            Self::Chain(spec) => spec.shape.labels,
            Self::Binary(_) => 2,
            Self::Multiclass(spec) => spec.shape.classes,
            Self::Multilabel(spec) => spec.shape.labels,
            Self::FactorGraph(spec) => spec.shape.templates.len(),
            Self::Graph(spec) => spec.shape.labels,
            Self::Tree(_) | Self::Matching(_) => 0,
        }
    }

    /// Number of attributes that have names; in a factor graph, over all templates.
    pub fn attributes(&self) -> usize {
        match self {
            Self::Chain(spec) => spec.shape.attributes,
            Self::Binary(spec) => spec.shape.attributes,
            Self::Multiclass(spec) => spec.shape.attributes,
            Self::Multilabel(spec) => spec.shape.attributes,
            Self::FactorGraph(spec) => spec.shape.templates.iter().map(|t| t.attributes).sum(),
            Self::Graph(spec) => spec.shape.node_attributes + spec.shape.edge_attributes,
            Self::Tree(_) => 0,
            Self::Matching(spec) => spec.shape.attributes,
        }
    }

    /// The groups of weights, in their order. Some may be empty.
    pub fn groups(&self) -> Vec<WeightGroup> {
        let mut groups = self.linear_groups();
        if let (Some(_), Some(first)) = (self.kernel(), groups.first_mut()) {
            // Of inputs and labels, in place of weights of attributes and labels.
            first.name = "coefficients".to_owned();
        }
        let dim = groups.last().map_or(0, |group| group.range.end);
        groups.extend(self.training().and_then(|training| training.group(dim)));
        groups
    }

    fn linear_groups(&self) -> Vec<WeightGroup> {
        match self {
            Self::Chain(spec) => {
                let shape = spec.scoring_shape();
                let k = shape.labels;
                let sizes = [vec![shape.attributes, k], vec![k, k], vec![k], vec![k], vec![k]];
                let named = shape.named_groups().into_iter().zip(sizes);
                named.map(|((name, range), size)| group(name, range, size)).collect()
            }
            Self::Binary(BinarySpec { shape, .. }) => {
                let (d, all) = (shape.attributes, shape.dim());
                vec![group("weights", 0..d, vec![d]), group("bias", d..all, vec![all - d])]
            }
            Self::Multiclass(spec) => {
                let shape = spec.scoring_shape();
                let (k, bias) = (shape.classes, shape.bias_weights());
                let size = vec![bias.len()];
                let weights = group("weights", 0..bias.start, vec![shape.attributes, k]);
                vec![weights, group("bias", bias, size)]
            }
            Self::Multilabel(spec) => {
                let shape = spec.scoring_shape();
                let single = vec![shape.attributes, shape.labels];
                let pairs = vec![shape.pairs.len()];
                vec![
                    group("single", shape.single(), single),
                    group("pairs", shape.pair_weights(), pairs),
                ]
            }
            Self::FactorGraph(FactorGraphSpec { shape, .. }) => {
                let template =
                    |(t, template): (usize, &maxmargin::model::factor_graph::Template)| {
                        let mut size = vec![template.attributes];
                        size.extend(&template.states);
                        group(&format!("template.{t}"), shape.block(t), size)
                    };
                shape.templates.iter().enumerate().map(template).collect()
            }
            Self::Graph(GraphSpec { shape, .. }) => {
                let named = shape.named_groups().into_iter();
                named.map(|(name, range)| group(name, range.clone(), vec![range.len()])).collect()
            }
            Self::Tree(_) | Self::Matching(_) => {
                vec![group("weights", 0..self.dim(), vec![self.dim()])]
            }
        }
    }

    /// Refuses what cannot be a model, such as a label that does not exist.
    pub(crate) fn check(&self) -> Result<(), ModelError> {
        if let Some(own) = self.kernel() {
            own.kernel.check().map_err(|error| ModelError::content(error.to_string()))?;
            let (attributes, bound) = (self.attributes(), own.support.attribute_bound());
            if bound > attributes {
                let last = bound - 1;
                return Err(ModelError::content(format!(
                    "an input has the attribute {last}, where {attributes} are stated"
                )));
            }
        }
        self.training().map_or(Ok(()), FactorTraining::check)?;
        match self {
            Self::Binary(spec) if spec.positive > 1 => {
                Err(ModelError::content(format!("label {} of 2 is positive", spec.positive)))
            }
            Self::Multilabel(spec) => {
                let labels = spec.shape.labels as u32;
                match spec.shape.pairs.iter().find(|(a, b)| a >= b || *b >= labels) {
                    Some((a, b)) => Err(ModelError::content(format!("a pair of labels {a}, {b}"))),
                    None => Ok(()),
                }
            }
            Self::Tree(spec) if spec.kinds.is_some() != spec.simulation.is_some() => {
                Err(ModelError::content("kinds of joints and simulation come together"))
            }
            Self::Tree(spec) => match &spec.kinds {
                Some(kinds) if kinds.try_shape(spec.shape.unit()).as_ref() != Some(&spec.shape) => {
                    Err(ModelError::content("the kinds of joints are not those of the tree"))
                }
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }
}

impl FactorGraphSpec {
    /// The names of templates and of their attributes, from those that a model file keeps.
    ///
    /// ```
    /// use maxmargin::inference::Inference;
    /// use maxmargin::model::factor_graph::Hamming;
    /// use maxmargin_io::{FactorGraphSpec, GraphReader, Lines, Origin, read_graphs};
    ///
    /// let text = r#"{"variables": [{"states": 2, "truth": 1}], "factors": [{"template": "unary", "variables": [0], "attributes": {"x": 2}}]}"#;
    /// let lines = Lines::from_reader("pets.jsonl", text.as_bytes())?;
    /// let data = read_graphs(GraphReader::new(lines))?;
    /// let spec = FactorGraphSpec {
    ///     shape: data.names.shape(),
    ///     loss: Hamming::default(),
    ///     inference: Inference::Auto,
    ///     training: Default::default(),
    ///     rescaling: Default::default(),
    /// };
    /// let origin = Origin::from(&data);
    /// assert_eq!(origin.attributes.name(0), "unary:x");
    /// assert_eq!(spec.names(&origin.labels, &origin.attributes), Some(data.names));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn names(&self, templates: &Names, attributes: &Names) -> Option<GraphNames> {
        let mut all = attributes.iter();
        let mut own = Vec::new();
        for (name, template) in templates.iter().zip(&self.shape.templates) {
            let strip =
                |full: &str| Some(full.strip_prefix(name)?.strip_prefix(SEPARATOR)?.to_owned());
            let names: Option<Vec<String>> =
                all.by_ref().take(template.attributes).map(strip).collect();
            own.push(Names::from_iter(names?));
        }
        let states = self.shape.templates.iter().map(|template| template.states.clone()).collect();
        Some(GraphNames { templates: templates.clone(), attributes: own, states })
    }
}

/// Between the name of a template and that of its attribute.
const SEPARATOR: char = ':';

impl GraphNames {
    /// The names of all attributes, each with its template's before it.
    pub(crate) fn full_names(&self) -> Names {
        let own = self.templates.iter().zip(&self.attributes);
        own.flat_map(|(t, names)| names.iter().map(move |a| format!("{t}{SEPARATOR}{a}"))).collect()
    }
}
