//! Counts the weights of a model without overflow, because anyone may have written the files and data that shapes
//! come from.

use super::{SegmentSpec, Spec};
use crate::model::ModelError;
use crate::problem::ProblemError;

/// Models with more weights are refused. A run stores several numbers for each weight, so this many weights take
/// more than ten gigabytes.
const MOST_WEIGHTS: u128 = 1 << 29;

/// A product of counts, or the largest number if it overflows.
fn product(counts: impl IntoIterator<Item = usize>) -> u128 {
    counts.into_iter().fold(1, |product: u128, count| product.saturating_mul(count as u128))
}

impl Spec {
    /// Number of weights; the largest number if there is no such number.
    fn counted_weights(&self) -> u128 {
        let own = match self {
            Self::Chain(spec) => {
                let (shape, groups) = (spec.scoring_shape(), spec.shape.groups);
                let k = shape.labels;
                let singles = [groups.bias, groups.first, groups.last];
                let singles = singles.into_iter().filter(|is_there| *is_there).count();
                product([usize::from(groups.emission), shape.attributes, k])
                    .saturating_add(product([usize::from(groups.transition), k, k]))
                    .saturating_add(product([singles, k]))
            }
            Self::Binary(spec) => spec.shape.attributes as u128 + 1,
            Self::Multiclass(spec) => {
                let shape = spec.scoring_shape();
                product([shape.classes, shape.attributes]).saturating_add(shape.classes as u128)
            }
            Self::Multilabel(spec) => {
                let attributes = spec
                    .kernel
                    .as_ref()
                    .map_or(spec.shape.attributes, |kernel| kernel.support.len());
                product([spec.shape.labels, attributes])
                    .saturating_add(spec.shape.pairs.len() as u128)
            }
            Self::FactorGraph(spec) => {
                // Joint states that share weights count too, because a table of them is kept.
                let templates = spec.shape.templates.iter().map(|template| {
                    let patterns = (template.patterns > 0).then_some(template.patterns);
                    let joint = template.states.iter().copied().chain(patterns);
                    product(joint.chain([template.attributes]))
                });
                templates.fold(0, u128::saturating_add)
            }
            Self::Potts(spec) => product([spec.shape.labels, spec.shape.node_attributes])
                .saturating_add(spec.shape.edge_attributes as u128),
            Self::Tree(spec) => spec.shape.dim() as u128,
            Self::Matching(spec) => spec.shape.attributes as u128,
            Self::Segment(SegmentSpec { shape, .. }) => {
                let k = shape.labels;
                let firsts = if shape.firsts { shape.token_attributes } else { 0 };
                let tokens = shape.token_attributes;
                let counts = [tokens, shape.segment_attributes, shape.longest, k, firsts];
                counts.map(|count| product([count, k])).into_iter().fold(0, u128::saturating_add)
            }
        };
        let messages = self.training().map_or(0, |training| training.messages() as u128);
        own.saturating_add(messages)
    }

    /// Number of named attributes; the largest number if there is no such number.
    fn counted_attributes(&self) -> u128 {
        match self {
            Self::FactorGraph(spec) => {
                let templates = spec.shape.templates.iter();
                templates.fold(0, |sum, t| sum + t.attributes as u128)
            }
            Self::Potts(spec) => {
                spec.shape.node_attributes as u128 + spec.shape.edge_attributes as u128
            }
            Self::Segment(SegmentSpec { shape, .. }) => {
                shape.token_attributes as u128 + shape.segment_attributes as u128
            }
            _ => self.attributes() as u128,
        }
    }

    /// Refuses a model with too many weights, before anything is reserved for them.
    pub(crate) fn check_size(&self) -> Result<(), ProblemError> {
        let count = self.counted_weights();
        if count <= MOST_WEIGHTS && usize::try_from(self.counted_attributes()).is_ok() {
            return Ok(());
        }
        let advice = match self {
            Self::Chain(_) => {
                "use fewer labels, or leave out transitions (--without transition) or rare attributes (--min-count)"
            }
            Self::Multilabel(_) => {
                "use fewer labels (--frequent-labels), fewer pairs (--pairs tree) or fewer attributes (--min-count)"
            }
            Self::FactorGraph(_) => "use templates with fewer states or fewer attributes",
            _ => "use fewer labels, or leave out rare attributes (--min-count)",
        };
        Err(ProblemError::TooManyWeights { count, most: MOST_WEIGHTS, advice })
    }

    /// Like [`check_size`](Self::check_size), for a shape in a file.
    pub(crate) fn check_stated_size(&self) -> Result<(), ModelError> {
        self.check_size().map_err(|error| ModelError::content(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use crate::{ChainSpec, FactorGraphSpec, SegmentSpec, Spec};
    use maxmargin::inference::Inference;
    use maxmargin::model::chain::{ChainShape, Hamming};
    use maxmargin::model::factor_graph::{GraphShape, StateLoss, Template};
    use maxmargin::model::segment::SegmentShape;

    fn chain(labels: usize, attributes: usize) -> Spec {
        let shape = ChainShape::new(labels, attributes);
        Spec::from(ChainSpec {
            shape,
            loss: Hamming::default(),
            kernel: None,
            rescaling: Default::default(),
        })
    }

    #[test]
    fn weights_are_counted_as_the_shape_counts_them() {
        for spec in [chain(3, 10), chain(1, 0), chain(22, 300_000)] {
            assert_eq!(spec.counted_weights(), spec.dim() as u128);
            assert!(spec.check_size().is_ok());
        }
        let mut spec = chain(3, 10);
        if let Spec::Chain(own) = &mut spec {
            (own.shape.groups.transition, own.shape.groups.first) = (false, false);
        }
        assert_eq!(spec.counted_weights(), spec.dim() as u128);
        let shape = SegmentShape {
            labels: 3,
            token_attributes: 7,
            segment_attributes: 2,
            longest: 5,
            firsts: true,
        };
        let spec = Spec::from(SegmentSpec::new(shape));
        assert_eq!(spec.counted_weights(), spec.dim() as u128);
        let shape = SegmentShape { longest: usize::MAX, ..shape };
        assert!(Spec::from(SegmentSpec::new(shape)).check_size().is_err());
    }

    #[test]
    fn too_many_weights_are_refused_with_advice() {
        let text = chain(30_000, 3).check_size().unwrap_err().to_string();
        assert!(text.starts_with("too many weights: 900180000; at most 536870912"), "{text}");
        assert!(text.contains("--without transition"), "{text}");
        for (labels, attributes) in [(usize::MAX, usize::MAX), (1 << 60, 1), (2, 1 << 63)] {
            assert!(chain(labels, attributes).check_size().is_err());
        }
    }

    #[test]
    fn states_that_multiply_beyond_all_numbers_are_refused() {
        let templates = vec![Template {
            states: vec![usize::MAX; 9],
            attributes: usize::MAX,
            ..Template::default()
        }];
        let (loss, inference) = (StateLoss::default(), Inference::Auto);
        let (shape, training, rescaling) =
            (GraphShape { templates }, Default::default(), Default::default());
        let (states, labels) = (Vec::new(), Vec::new());
        let spec = FactorGraphSpec { shape, loss, inference, training, rescaling, states, labels };
        let spec = Spec::from(spec);
        assert_eq!(spec.counted_weights(), u128::MAX);
        assert!(spec.check_size().is_err());
    }
}
