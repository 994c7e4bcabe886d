//! The kind of model in a file, and the layout of its weights.
//!
//! A specification has everything that predictions need, besides weights and names. `kinds!` below lists all kinds
//! with their names in files. `specs!` declares the structs of most of them. Those that also define how features
//! are made are in `spec/structures.rs`.

mod count;
mod groups;
mod json;
mod kernel;
mod soft;
mod structures;
mod template_names;

pub use groups::WeightGroup;
pub use kernel::KernelSpec;
pub use soft::{FactorTraining, SoftSpec};
pub use structures::{MatchingSpec, PottsSpec, TreeSpec};

use crate::model::ModelError;
use crate::names::Names;
use crate::segments::{SegmentTags, TagNames};
use crate::transition_scale::is_scale;
use maxmargin::inference::Inference;
use maxmargin::model::binary::BinaryShape;
use maxmargin::model::chain::{ChainShape, Hamming};
use maxmargin::model::factor_graph::{GraphShape, StateLoss};
use maxmargin::model::multiclass::{ClassLoss, MulticlassShape};
use maxmargin::model::multilabel::MultilabelShape;
use maxmargin::model::segment::SegmentShape;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Makes [`Spec`] and everything that depends on the names of its kinds, so that every list of them is complete.
macro_rules! kinds {
    (
        $(#[$doc:meta])*
        pub enum Spec {
            $($(#[$variant_doc:meta])* $variant:ident($fields:ty) = $name:literal,)*
        }
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum Spec {
            $($(#[$variant_doc])* $variant($fields),)*
        }

        /// The names of all kinds.
        const KINDS: &[&str] = &[$($name),*];

        impl Spec {
            #[doc = concat!("The name of the kind:" $(, " `", $name, "`")*, ".")]
            pub const fn kind(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $name,)*
                }
            }

            /// The specification of a kind with these fields, or `None` if no kind has that name.
            fn from_fields(kind: &str, fields: Value) -> Option<Result<Self, serde_json::Error>> {
                Some(match kind {
                    $($name => serde_json::from_value(fields).map(Self::$variant),)*
                    _ => return None,
                })
            }

            /// The fields of the specification, without its kind.
            fn to_fields(&self) -> Result<Value, serde_json::Error> {
                match self {
                    $(Self::$variant(own) => serde_json::to_value(own),)*
                }
            }
        }
    };
}

kinds! {
    /// The kind of structure that a model predicts: the shape of its weights, and the loss and inference of its
    /// training. It is enough to build the problem again from the data.
    ///
    /// ```
    /// use maxmargin::model::chain::{ChainShape, Hamming};
    /// use maxmargin_io::{ChainSpec, Spec};
    ///
    /// let shape = ChainShape::new(3, 10);
    /// let spec = Spec::from(ChainSpec { shape, loss: Hamming::default(), kernel: None, rescaling: Default::default() });
    /// assert_eq!((spec.kind(), spec.dim()), ("chain", 3 * 10 + 3 * 3 + 3 * 3));
    /// assert_eq!(spec.groups()[1].name, "transition");
    /// ```
    pub enum Spec {
        /// Sequences of labels.
        Chain(ChainSpec) = "chain",
        /// One of two labels.
        Binary(BinarySpec) = "binary",
        /// One of several labels.
        Multiclass(MulticlassSpec) = "multiclass",
        /// Sets of labels.
        Multilabel(MultilabelSpec) = "multilabel",
        /// States of the variables of factor graphs.
        FactorGraph(FactorGraphSpec) = "factor-graph",
        /// Labels of the nodes of graphs.
        Potts(PottsSpec) = "graph",
        /// Places of the parts of trees.
        Tree(Box<TreeSpec>) = "tree",
        /// Links between the items of two lists.
        Matching(Box<MatchingSpec>) = "matching",
        /// Segments of sequences.
        Segment(SegmentSpec) = "segment",
    }
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

            /// Converts it back if it is of this kind; otherwise returns it unchanged.
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
    /// let spec = ChainSpec { shape, loss: Hamming::default(), kernel: None, rescaling: Default::default() };
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
        /// How the loss is used. Slack rescaling searches with the decoder: see [`maxmargin::SlackRescaled`].
        #[serde(default, skip_serializing_if = "Rescaling::is_margin")]
        rescaling: Rescaling,
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
        /// How the loss is used.
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
        /// How the loss is used.
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
        /// Whether rows may have additional labels, which are left out.
        partial: bool,
        /// How the loss is used.
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
    /// use maxmargin::model::factor_graph::{GraphShape, StateLoss};
    /// use maxmargin_io::FactorGraphSpec;
    ///
    /// let (shape, loss) = (GraphShape::default(), StateLoss::default());
    /// let (inference, training, rescaling) = (Inference::Lp, Default::default(), Default::default());
    /// let (states, labels) = (Vec::new(), Vec::new());
    /// let spec = FactorGraphSpec { shape, loss, inference, training, rescaling, states, labels };
    /// assert_eq!(spec.shape.dim(), 0);
    /// ```
    FactorGraph(FactorGraphSpec) {
        /// The shape of the weights.
        shape: GraphShape,
        /// The loss it was trained for.
        loss: StateLoss,
        /// How states are found.
        inference: Inference,
        /// How its weights are found.
        #[serde(default, skip_serializing_if = "FactorTraining::is_decoding")]
        training: FactorTraining,
        /// How the loss is used.
        #[serde(default)]
        rescaling: Rescaling,
        /// The names of the states, if all variables have the same ones and these have names.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        states: Vec<String>,
        /// The label of each state, if the loss compares labels and some of them have several states.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        labels: Vec<u32>,
    }
    /// A semi-Markov chain: see [`maxmargin::model::segment`].
    ///
    /// ```
    /// use maxmargin::model::segment::SegmentShape;
    /// use maxmargin_io::{SegmentSpec, Spec};
    ///
    /// let shape =
    ///     SegmentShape { labels: 2, token_attributes: 3, longest: 4, ..SegmentShape::default() };
    /// let spec = Spec::from(SegmentSpec::new(shape));
    /// assert_eq!((spec.kind(), spec.dim()), ("segment", 3 * 2 + 4 * 2 + 2 * 2));
    /// ```
    Segment(SegmentSpec) {
        /// The shape of the weights.
        shape: SegmentShape,
        /// Whether the loss is divided by the number of tokens.
        normalised: bool,
        /// The cost of a wrong token, by its true label. Empty if all costs are 1.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        label_weights: Vec<f64>,
        /// How segments are written in files.
        #[serde(default, skip_serializing_if = "SegmentTags::is_default")]
        tags: SegmentTags,
        /// How the loss is used. Slack rescaling searches with the decoder: see [`maxmargin::SlackRescaled`].
        #[serde(default, skip_serializing_if = "Rescaling::is_margin")]
        rescaling: Rescaling,
    }
}

impl SegmentSpec {
    /// A chain of segments with the share of wrong tokens as its loss, in files with BIO tags.
    ///
    /// ```
    /// use maxmargin::model::segment::SegmentShape;
    /// assert!(maxmargin_io::SegmentSpec::new(SegmentShape::default()).normalised);
    /// ```
    pub fn new(shape: SegmentShape) -> Self {
        let (label_weights, tags) = (Vec::new(), SegmentTags::default());
        Self { shape, normalised: true, label_weights, tags, rescaling: Rescaling::Margin }
    }

    /// The tags of segments in files, for a model with these labels.
    ///
    /// ```
    /// use maxmargin::model::segment::SegmentShape;
    /// use maxmargin_io::SegmentSpec;
    ///
    /// let shape = SegmentShape { labels: 1, longest: 2, ..SegmentShape::default() };
    /// let tags = SegmentSpec::new(shape).tag_names(&["NP"].into_iter().collect());
    /// assert!(tags.names().get("I-NP").is_some());
    /// ```
    pub fn tag_names(&self, labels: &Names) -> TagNames {
        TagNames::new(self.tags, labels)
    }
}

/// How the loss is used in the structured hinge.
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

impl Rescaling {
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
    const fn is_margin(&self) -> bool {
        matches!(self, Self::Margin)
    }
}

impl Spec {
    /// Number of weights.
    pub fn dim(&self) -> usize {
        match self {
            Self::Chain(spec) => spec.scoring_shape().dim(),
            Self::Binary(spec) => spec.shape.dim(),
            Self::Multiclass(spec) => spec.scoring_shape().dim(),
            Self::Multilabel(spec) => spec.scoring_shape().dim() + spec.training.messages(),
            Self::FactorGraph(spec) => spec.shape.dim() + spec.training.messages(),
            Self::Potts(spec) => spec.shape.dim() + spec.training.messages(),
            Self::Tree(spec) => spec.shape.dim(),
            Self::Matching(spec) => spec.shape.dim(),
            Self::Segment(spec) => spec.shape.dim(),
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
            Self::Potts(spec) => spec.shape.labels,
            Self::Tree(_) | Self::Matching(_) => 0,
            Self::Segment(spec) => spec.shape.labels,
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
            Self::Potts(spec) => spec.shape.node_attributes + spec.shape.edge_attributes,
            Self::Tree(_) => 0,
            Self::Matching(spec) => spec.shape.attributes,
            Self::Segment(spec) => spec.shape.token_attributes + spec.shape.segment_attributes,
        }
    }

    /// Whether the model sets bounds on some of its weights itself, in addition to those of the user. Graphs whose
    /// neighbours attract each other and trees that deform do.
    ///
    /// ```
    /// use maxmargin::model::potts::{PottsInference, NodeLoss, PottsShape};
    /// use maxmargin_io::{PottsSpec, Spec};
    ///
    /// let bounds_weights = |shape| {
    ///     let (loss, inference, widths) = (NodeLoss::default(), PottsInference::Auto, None);
    ///     let training = Default::default();
    ///     Spec::from(PottsSpec { shape, loss, inference, widths, training, rescaling: Default::default() }).bounds_weights()
    /// };
    /// assert!(bounds_weights(PottsShape::new(2, 3, 1)));
    /// assert!(!bounds_weights(PottsShape::new(2, 3, 1).free()));
    /// ```
    pub fn bounds_weights(&self) -> bool {
        match self {
            Self::Potts(spec) => spec.shape.bounds(None).is_ok_and(|bounds| bounds.is_some()),
            Self::Tree(spec) => {
                let nodes = 0..spec.shape.nodes().len();
                nodes.into_iter().any(|node| !spec.shape.deformation(node).is_empty())
            }
            Self::Chain(_)
            | Self::Binary(_)
            | Self::Multiclass(_)
            | Self::Multilabel(_)
            | Self::FactorGraph(_)
            | Self::Matching(_)
            | Self::Segment(_) => false,
        }
    }

    /// The inference method, for changes, if the model allows several methods.
    ///
    /// ```
    /// use maxmargin::inference::Inference;
    /// use maxmargin::model::factor_graph::{GraphShape, StateLoss};
    /// use maxmargin_io::{FactorGraphSpec, Spec};
    ///
    /// let (shape, loss) = (GraphShape::default(), StateLoss::default());
    /// let (inference, training, rescaling) = (Inference::Lp, Default::default(), Default::default());
    /// let (states, labels) = (Vec::new(), Vec::new());
    /// let spec = FactorGraphSpec { shape, loss, inference, training, rescaling, states, labels };
    /// let mut spec = Spec::from(spec);
    /// *spec.inference_mut().unwrap() = Inference::MaxProduct;
    /// ```
    pub fn inference_mut(&mut self) -> Option<&mut Inference> {
        match self {
            Self::Multilabel(spec) => Some(&mut spec.inference),
            Self::FactorGraph(spec) => Some(&mut spec.inference),
            _ => None,
        }
    }

    /// Refuses a specification that no model can have, such as one with a label that does not exist.
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
            Self::Chain(ChainSpec { shape, .. }) if !is_scale(shape.transition_scale) => {
                let scale = shape.transition_scale;
                Err(ModelError::content(format!("transitions are multiplied by {scale}")))
            }
            Self::FactorGraph(FactorGraphSpec { training, labels, .. })
                if !labels.is_empty() && !training.is_decoding() =>
            {
                Err(ModelError::content("soft training knows no latent states"))
            }
            Self::Tree(spec) => spec.check(),
            _ => Ok(()),
        }
    }
}
