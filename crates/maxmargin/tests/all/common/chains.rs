//! Random small chains, and dense versions of everything about them from the formulas.

use super::problems::{Enumerated, EnumeratedBlock};
use super::{add_scaled, dot, minus};
use maxmargin::model::chain::{Chain, ChainShape, FeatureGroups, Hamming, Sequences};
use proptest::collection::vec;
use proptest::prelude::*;

/// A chain before it is built, in the simplest form.
#[derive(Debug, Clone)]
pub struct ChainCase {
    pub labels: usize,
    pub attributes: usize,
    pub groups: FeatureGroups,
    /// The value of constant features.
    pub scale: f64,
    pub loss: Hamming,
    pub sequences: Vec<CaseSequence>,
}

#[derive(Debug, Clone)]
pub struct CaseSequence {
    pub weight: f64,
    pub tokens: Vec<CaseToken>,
}

#[derive(Debug, Clone)]
pub struct CaseToken {
    pub attributes: Vec<(u32, f64)>,
    pub label: u32,
    /// The cost of a mistake at this token.
    pub cost: f64,
}

impl ChainCase {
    pub fn build(&self) -> Chain {
        let mut data = Sequences::new();
        for sequence in &self.sequences {
            for token in &sequence.tokens {
                let attributes = token.attributes.iter().copied();
                data.push_weighted_token(attributes, token.label, token.cost).unwrap();
            }
            data.end_sequence(sequence.weight).unwrap();
        }
        let (labels, attributes, groups) = (self.labels, self.attributes, self.groups);
        let shape = ChainShape { labels, attributes, groups, transition_scale: self.scale };
        Chain::new(shape, data, &self.loss).unwrap()
    }

    pub fn truth(&self, i: usize) -> Vec<u32> {
        self.sequences[i].tokens.iter().map(|token| token.label).collect()
    }

    /// The first index of each group: emission, transition, bias, first, last, and the end of all.
    pub fn offsets(&self) -> [usize; 6] {
        let (k, g) = (self.labels, &self.groups);
        let sizes = [
            if g.emission { self.attributes * k } else { 0 },
            if g.transition { k * k } else { 0 },
            if g.bias { k } else { 0 },
            if g.first { k } else { 0 },
            if g.last { k } else { 0 },
        ];
        let mut offsets = [0; 6];
        for (at, size) in sizes.into_iter().enumerate() {
            offsets[at + 1] = offsets[at] + size;
        }
        offsets
    }

    pub fn dim(&self) -> usize {
        self.offsets()[5]
    }

    /// The joint feature map φ(xᵢ, y), term by term from the formula.
    pub fn phi(&self, i: usize, y: &[u32]) -> Vec<f64> {
        let [emission, transition, bias, first, last, end] = self.offsets();
        let (k, g, tokens) = (self.labels, &self.groups, &self.sequences[i].tokens);
        assert_eq!(tokens.len(), y.len());
        let mut phi = vec![0.0; end];
        for (t, token) in tokens.iter().enumerate() {
            let label = y[t] as usize;
            if g.emission {
                for &(a, value) in &token.attributes {
                    phi[emission + a as usize * k + label] += value;
                }
            }
            if g.bias {
                phi[bias + label] += self.scale;
            }
            if g.transition && t + 1 < y.len() {
                phi[transition + label * k + y[t + 1] as usize] += self.scale;
            }
        }
        if g.first {
            phi[first + y[0] as usize] += self.scale;
        }
        if g.last {
            phi[last + y[y.len() - 1] as usize] += self.scale;
        }
        phi
    }

    /// ψᵢ(y) = φ(xᵢ, yᵢ) − φ(xᵢ, y).
    pub fn psi(&self, i: usize, y: &[u32]) -> Vec<f64> {
        minus(&self.phi(i, &self.truth(i)), &self.phi(i, y))
    }

    /// The loss, from the formula in its documentation.
    pub fn loss(&self, i: usize, y: &[u32]) -> f64 {
        let truth = self.truth(i);
        let cost = |label: u32| match self.loss.label_weights.get(label as usize) {
            Some(&weight) => weight,
            None => 1.0,
        };
        let tokens = &self.sequences[i].tokens;
        let wrong = tokens.iter().zip(y).filter(|(token, b)| token.label != **b);
        let sum: f64 = wrong.map(|(token, _)| cost(token.label) * token.cost).sum();
        if self.loss.normalised { sum / truth.len() as f64 } else { sum }
    }

    /// Hᵢ(y; w).
    pub fn augmented(&self, i: usize, y: &[u32], w: &[f64]) -> f64 {
        self.loss(i, y) - dot(w, &self.psi(i, y))
    }

    /// All labellings of example `i`, in the order in which decoding prefers them at ties: the last label
    /// changes slowest.
    pub fn labellings(&self, i: usize) -> Vec<Vec<u32>> {
        let mut all = vec![Vec::new()];
        for _ in &self.sequences[i].tokens {
            let longer = |label: u32| {
                all.iter().map(move |y| y.iter().copied().chain([label]).collect()).collect()
            };
            all = (0..self.labels as u32)
                .flat_map(|label| -> Vec<Vec<u32>> { longer(label) })
                .collect();
        }
        all
    }

    /// The same problem with every ψ and loss written out.
    pub fn enumerate(&self) -> Enumerated {
        let block = |i: usize| EnumeratedBlock {
            weight: self.sequences[i].weight,
            corners: self.labellings(i).iter().map(|y| (self.psi(i, y), self.loss(i, y))).collect(),
        };
        Enumerated { dim: self.dim(), blocks: (0..self.sequences.len()).map(block).collect() }
    }

    /// Σ c · φ(xᵢ, y) over pairs (c, y).
    pub fn combine(&self, i: usize, terms: &[(f64, Vec<u32>)]) -> Vec<f64> {
        let mut sum = vec![0.0; self.dim()];
        for (factor, y) in terms {
            add_scaled(&mut sum, *factor, &self.phi(i, y));
        }
        sum
    }
}

fn groups() -> impl Strategy<Value = FeatureGroups> {
    any::<[bool; 5]>().prop_map(|[emission, transition, bias, first, last]| FeatureGroups {
        emission,
        transition,
        bias,
        first,
        last,
    })
}

/// The value of constant features: often 1, as in the papers. Subgradients take many more passes if it is far from
/// the values of attributes.
fn scale() -> impl Strategy<Value = f64> {
    prop_oneof![2 => Just(1.0), 1 => Just(2.0), 2 => 0.5..2.0f64]
}

fn loss(labels: usize) -> impl Strategy<Value = Hamming> {
    let weight = prop_oneof![1 => Just(0.0), 4 => 0.1..3.0f64];
    let weights = prop_oneof![Just(Vec::new()), vec(weight, labels)];
    (any::<bool>(), weights)
        .prop_map(|(normalised, label_weights)| Hamming { normalised, label_weights })
}

fn value(ones: bool) -> BoxedStrategy<f64> {
    match ones {
        true => Just(1.0).boxed(),
        false => prop_oneof![Just(1.0), Just(-1.0), Just(0.0), -2.0..2.0f64, -2.0..2.0f64].boxed(),
    }
}

fn token(labels: usize, attributes: usize, ones: bool) -> impl Strategy<Value = CaseToken> {
    let list = match attributes {
        0 => Just(Vec::new()).boxed(),
        _ => vec((0..attributes as u32, value(ones)), 0..=5).boxed(),
    };
    let cost = prop_oneof![6 => Just(1.0), 1 => Just(0.0), 1 => 0.1..3.0f64];
    (list, 0..labels as u32, cost).prop_map(|(attributes, label, cost)| CaseToken {
        attributes,
        label,
        cost,
    })
}

/// Any small chain: short and empty sequences of attributes, repeated attributes, ties, unused
/// labels, weighted examples, every loss, every group on or off.
pub fn any_chain() -> impl Strategy<Value = ChainCase> {
    (2usize..=5, 0usize..=6, groups(), any::<[bool; 2]>())
        .prop_flat_map(|(labels, attributes, groups, [ones, weighted])| {
            let weight = if weighted { (0.1..3.0f64).boxed() } else { Just(1.0).boxed() };
            let sequence = (weight, vec(token(labels, attributes, ones), 1..=5))
                .prop_map(|(weight, tokens)| CaseSequence { weight, tokens });
            (Just((labels, attributes, groups)), scale(), loss(labels), vec(sequence, 1..=4))
        })
        .prop_map(|((labels, attributes, groups), scale, loss, sequences)| {
            let mut case = ChainCase { labels, attributes, groups, scale, loss, sequences };
            case.groups.bias |= case.dim() == 0;
            case
        })
}

/// Small chains with real values in every token and a cost of every mistake. Two labellings have the same
/// score only if their labels are interchangeable, so iterates can be compared.
pub fn tieless_chain() -> impl Strategy<Value = ChainCase> {
    (2usize..=3, 2usize..=4, groups(), any::<bool>())
        .prop_flat_map(|(labels, attributes, groups, normalised)| {
            let list = vec((0..attributes as u32, -2.0..2.0f64), 1..=3);
            let token = (list, 0..labels as u32).prop_map(|(attributes, label)| CaseToken {
                attributes,
                label,
                cost: 1.0,
            });
            let sequence = (0.2..2.0f64, vec(token, 1..=4))
                .prop_map(|(weight, tokens)| CaseSequence { weight, tokens });
            let costs = vec(0.5..2.0f64, labels);
            let shape = (Just((labels, attributes, groups, normalised)), scale());
            (shape, costs, vec(sequence, 1..=4))
        })
        .prop_map(
            |(((labels, attributes, groups, normalised), scale), label_weights, sequences)| {
                let groups = FeatureGroups { emission: true, ..groups };
                let loss = Hamming { normalised, label_weights };
                ChainCase { labels, attributes, groups, scale, loss, sequences }
            },
        )
}
