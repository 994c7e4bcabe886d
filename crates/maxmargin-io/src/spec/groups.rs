//! The groups of weights.

use super::{BinarySpec, FactorGraphSpec, PottsSpec, SegmentSpec, Spec};
use std::ops::Range;

/// A group of weights: it is a separate tensor in a model file, and it can have bounds.
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
    /// The groups of weights, in their order. Some may be empty.
    pub fn groups(&self) -> Vec<WeightGroup> {
        let mut groups = self.linear_groups();
        if let (Some(_), Some(first)) = (self.kernel(), groups.first_mut()) {
            // These weights belong to inputs and labels instead of attributes and labels.
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
                        if template.dim() > template.attributes {
                            size.extend(&template.states);
                            size.extend((template.patterns > 0).then_some(template.patterns));
                        }
                        group(&format!("template.{t}"), shape.block(t), size)
                    };
                shape.templates.iter().enumerate().map(template).collect()
            }
            Self::Potts(PottsSpec { shape, .. }) => {
                let named = shape.named_groups().into_iter();
                named.map(|(name, range)| group(name, range.clone(), vec![range.len()])).collect()
            }
            Self::Segment(SegmentSpec { shape, .. }) => {
                let k = shape.labels;
                vec![
                    group("tokens", shape.tokens(), vec![shape.token_attributes, k]),
                    group("segments", shape.segments(), vec![shape.segment_attributes, k]),
                    group("lengths", shape.lengths(), vec![shape.longest, k]),
                    group("transition", shape.transitions(), vec![k, k]),
                    group("first", shape.firsts(), vec![shape.token_attributes, k]),
                ]
            }
            Self::Tree(_) | Self::Matching(_) => {
                vec![group("weights", 0..self.dim(), vec![self.dim()])]
            }
        }
    }
}
