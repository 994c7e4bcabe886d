//! Random small semi-Markov chains, and dense versions of everything about them from the formulas.

use super::problems::{Enumerated, EnumeratedBlock};
use super::{dot, minus};
use maxmargin::Rng;
use maxmargin::model::segment::{Segment, SegmentChain, SegmentShape, Segmentations};
use proptest::prelude::*;

/// Attributes with their values.
type Attributes = Vec<(u32, f64)>;

/// A semi-Markov chain before it is built, in the simplest form.
#[derive(Debug, Clone)]
pub struct SegmentCase {
    pub shape: SegmentShape,
    pub normalised: bool,
    /// What a wrong token costs by its true label; 1 if there are none.
    pub label_weights: Vec<f64>,
    pub sequences: Vec<CaseSegments>,
}

#[derive(Debug, Clone)]
pub struct CaseSegments {
    pub weight: f64,
    pub tokens: Vec<Attributes>,
    /// First token, length, and attributes of segments.
    pub segments: Vec<(usize, usize, Attributes)>,
    pub truth: Vec<Segment>,
}

impl SegmentCase {
    pub fn build(&self) -> SegmentChain {
        let chain = SegmentChain::new(self.shape, self.data(), self.normalised).unwrap();
        chain.with_label_weights(self.label_weights.clone()).unwrap()
    }

    pub fn data(&self) -> Segmentations {
        let mut data = Segmentations::new();
        for sequence in &self.sequences {
            for token in &sequence.tokens {
                data.push_token(token.iter().copied()).unwrap();
            }
            for (start, length, attributes) in &sequence.segments {
                data.push_segment(*start, *length, attributes.iter().copied()).unwrap();
            }
            data.end_sequence(&sequence.truth, sequence.weight).unwrap();
        }
        data
    }

    /// All ways to cut a sequence into segments, with all labels.
    pub fn outputs(&self, i: usize) -> Vec<Vec<Segment>> {
        self.covers(self.sequences[i].tokens.len())
    }

    fn covers(&self, tokens: usize) -> Vec<Vec<Segment>> {
        if tokens == 0 {
            return vec![Vec::new()];
        }
        let mut all = Vec::new();
        for length in 1..=self.shape.longest.min(tokens) {
            for rest in self.covers(tokens - length) {
                for label in 0..self.shape.labels as u32 {
                    let mut y = rest.clone();
                    y.push(Segment { length: length as u32, label });
                    all.push(y);
                }
            }
        }
        all
    }

    /// The joint feature map φ(xᵢ, y), term by term from the formula.
    pub fn phi(&self, i: usize, y: &[Segment]) -> Vec<f64> {
        let SegmentShape { labels, token_attributes, segment_attributes, longest, firsts } =
            self.shape;
        let (of_segments, of_lengths) =
            (token_attributes * labels, (token_attributes + segment_attributes) * labels);
        let of_pairs = of_lengths + longest * labels;
        let of_firsts = of_pairs + labels * labels;
        let own = if firsts { token_attributes * labels } else { 0 };
        let mut phi = vec![0.0; of_firsts + own];
        let sequence = &self.sequences[i];
        let mut start = 0;
        for (at, segment) in y.iter().enumerate() {
            let (length, label) = (segment.length as usize, segment.label as usize);
            for &(a, value) in sequence.tokens[start..start + length].iter().flatten() {
                phi[a as usize * labels + label] += value;
            }
            for &(a, value) in sequence.tokens[start].iter().filter(|_| firsts) {
                phi[of_firsts + a as usize * labels + label] += value;
            }
            for (from, tokens, attributes) in &sequence.segments {
                for &(a, value) in attributes.iter().filter(|_| (*from, *tokens) == (start, length))
                {
                    phi[of_segments + a as usize * labels + label] += value;
                }
            }
            phi[of_lengths + (length - 1) * labels + label] += 1.0;
            if let Some(next) = y.get(at + 1) {
                phi[of_pairs + label * labels + next.label as usize] += 1.0;
            }
            start += length;
        }
        phi
    }

    pub fn psi(&self, i: usize, y: &[Segment]) -> Vec<f64> {
        minus(&self.phi(i, &self.sequences[i].truth), &self.phi(i, y))
    }

    /// The loss, from the labels of tokens and from where segments begin.
    pub fn loss(&self, i: usize, y: &[Segment]) -> f64 {
        let tags = |y: &[Segment]| -> Vec<(u32, bool)> {
            let tags = |s: &Segment| (0..s.length).map(|t| (s.label, t == 0)).collect::<Vec<_>>();
            y.iter().flat_map(tags).collect()
        };
        let (truth, found) = (tags(&self.sequences[i].truth), tags(y));
        let cost = |label: u32| self.label_weights.get(label as usize).copied().unwrap_or(1.0);
        let wrong = truth.iter().zip(&found).filter(|(a, b)| a != b);
        let wrong: f64 = wrong.map(|(truth, _)| cost(truth.0)).sum();
        if self.normalised { wrong / truth.len() as f64 } else { wrong }
    }

    /// Hᵢ(y; w).
    pub fn augmented(&self, i: usize, y: &[Segment], w: &[f64]) -> f64 {
        self.loss(i, y) - dot(w, &self.psi(i, y))
    }

    /// The same problem with every ψ and loss written out.
    pub fn enumerate(&self) -> Enumerated {
        let block = |i: usize| EnumeratedBlock {
            weight: self.sequences[i].weight,
            corners: self.outputs(i).iter().map(|y| (self.psi(i, y), self.loss(i, y))).collect(),
        };
        let blocks = (0..self.sequences.len()).map(block).collect();
        Enumerated { dim: self.shape.dim(), blocks }
    }
}

/// Small semi-Markov chains of sequences of up to `most` tokens.
pub fn any_segments(most: usize) -> impl Strategy<Value = SegmentCase> {
    (1usize..=3, 0usize..=3, 0usize..=2, 1usize..=3, any::<bool>(), any::<u64>()).prop_map(
        move |(labels, token_attributes, segment_attributes, longest, normalised, seed)| {
            let mut rng = Rng::new(seed);
            let firsts = rng.below(2) == 0;
            let shape =
                SegmentShape { labels, token_attributes, segment_attributes, longest, firsts };
            let sequences = 1 + rng.below(3);
            let sequences = (0..sequences).map(|_| any_sequence(shape, most, &mut rng)).collect();
            // Some have weights of labels.
            let weights = if rng.below(2) == 0 { 0 } else { labels };
            let label_weights = (0..weights).map(|_| 3.0 * rng.unit_f64()).collect();
            SegmentCase { shape, normalised, label_weights, sequences }
        },
    )
}

fn any_sequence(shape: SegmentShape, most: usize, rng: &mut Rng) -> CaseSegments {
    let tokens = 1 + rng.below(most);
    let draw = |rng: &mut Rng, attributes: usize| -> Attributes {
        let some = (0..attributes as u32).filter(|_| rng.below(2) == 0).collect::<Vec<_>>();
        some.into_iter().map(|a| (a, 4.0 * rng.unit_f64() - 2.0)).collect()
    };
    let rows = (0..tokens).map(|_| draw(rng, shape.token_attributes)).collect();
    let mut segments = Vec::new();
    for start in 0..tokens {
        for length in 1..=tokens - start {
            // Some segments with attributes are longer than any output has them.
            if rng.below(2) == 0 {
                segments.push((start, length, draw(rng, shape.segment_attributes)));
            }
        }
    }
    rng.shuffle(&mut segments);
    let (mut truth, mut left) = (Vec::new(), tokens);
    while left > 0 {
        let length = 1 + rng.below(shape.longest.min(left));
        truth.push(Segment { length: length as u32, label: rng.below(shape.labels) as u32 });
        left -= length;
    }
    let weight = if rng.below(2) == 0 { 1.0 } else { 0.1 + 2.0 * rng.unit_f64() };
    CaseSegments { weight, tokens: rows, segments, truth }
}
