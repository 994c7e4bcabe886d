//! Random small multi-label problems, and dense versions of everything about them.

use super::factor_graphs::{CaseGraph, CaseTemplate, GraphCase};
use super::problems::{Enumerated, EnumeratedBlock};
use super::{dot, minus};
use maxmargin::Rng;
use maxmargin::inference::Inference;
use maxmargin::model::InputError;
use maxmargin::model::LabelledRows;
use maxmargin::model::factor_graph::Tie;
use maxmargin::model::multilabel::{Hamming, Multilabel, MultilabelShape};
use proptest::prelude::*;

/// Attributes, labels, weight.
pub type CaseRow = (Vec<(u32, f64)>, Vec<u32>, f64);

#[derive(Debug, Clone)]
pub struct LabelCase {
    pub shape: MultilabelShape,
    pub loss: Hamming,
    pub rows: Vec<CaseRow>,
}

impl LabelCase {
    pub fn build(&self, inference: Inference) -> Multilabel {
        self.try_build(inference).unwrap()
    }

    pub fn try_build(&self, inference: Inference) -> Result<Multilabel, InputError> {
        let mut data = LabelledRows::new();
        for (attributes, labels, weight) in &self.rows {
            data.push(attributes.iter().copied(), labels, *weight).unwrap();
        }
        Multilabel::new(self.shape.clone(), data, &self.loss, inference)
    }

    /// All sets of labels.
    pub fn sets(&self) -> Vec<Vec<u32>> {
        let n = self.shape.labels as u32;
        (0..1u32 << n).map(|bits| (0..n).filter(|k| bits >> k & 1 == 1).collect()).collect()
    }

    /// φ(xᵢ, y), term by term from the formula.
    pub fn phi(&self, i: usize, y: &[u32]) -> Vec<f64> {
        let (labels, attributes) = (self.shape.labels, self.shape.attributes);
        let mut phi = vec![0.0; labels * attributes + self.shape.pairs.len()];
        for &k in y {
            for &(a, value) in &self.rows[i].0 {
                phi[a as usize * labels + k as usize] += value;
            }
        }
        for (p, (j, k)) in self.shape.pairs.iter().enumerate() {
            if y.contains(j) && y.contains(k) {
                phi[labels * attributes + p] += 1.0;
            }
        }
        phi
    }

    pub fn psi(&self, i: usize, y: &[u32]) -> Vec<f64> {
        minus(&self.phi(i, &self.rows[i].1), &self.phi(i, y))
    }

    /// The weighted share, or number, of wrong labels.
    pub fn loss(&self, i: usize, y: &[u32]) -> f64 {
        let wrong = |k: &u32| self.rows[i].1.contains(k) != y.contains(k);
        let weight = |k: u32| self.loss.label_weights.get(k as usize).copied().unwrap_or(1.0);
        let sum: f64 = (0..self.shape.labels as u32).filter(wrong).map(weight).sum();
        if self.loss.normalised { sum / self.shape.labels as f64 } else { sum }
    }

    pub fn augmented(&self, i: usize, y: &[u32], w: &[f64]) -> f64 {
        self.loss(i, y) - dot(w, &self.psi(i, y))
    }

    pub fn enumerate(&self) -> Enumerated {
        let block = |i: usize| {
            let corners = self.sets().iter().map(|y| (self.psi(i, y), self.loss(i, y))).collect();
            EnumeratedBlock { weight: self.rows[i].2, corners }
        };
        let dim = self.shape.attributes * self.shape.labels + self.shape.pairs.len();
        Enumerated { dim, blocks: (0..self.rows.len()).map(block).collect() }
    }

    /// The same problem as a factor graph: one template per label, with a state that has features
    /// and one that has none, and one per pair. (Weights of states without features stay 0.)
    pub fn as_graphs(&self) -> GraphCase {
        let n = self.shape.labels;
        let (tie, attributes) = (Tie::Free, self.shape.attributes);
        let label =
            |variant| CaseTemplate { states: vec![2], variant, attributes, tie, patterns: None };
        let pair = |variant| CaseTemplate {
            states: vec![2, 2],
            variant,
            attributes: 1,
            tie,
            patterns: None,
        };
        let templates = (0..n).map(label).chain((0..self.shape.pairs.len()).map(pair)).collect();
        let graph = |i: usize| {
            let (attributes, labels, weight) = &self.rows[i];
            let cost = |k: usize| self.loss.label_weights.get(k).copied().unwrap_or(1.0);
            let scale = if self.loss.normalised { 1.0 / n as f64 } else { 1.0 };
            let variables =
                (0..n).map(|k| (2, u32::from(labels.contains(&(k as u32))), scale * cost(k)));
            let own = (0..n).map(|k| (k, vec![k as u32], attributes.clone()));
            let pairs = self.shape.pairs.iter().enumerate();
            let pairs = pairs.map(|(p, &(j, k))| (n + p, vec![j, k], vec![(0, 1.0)]));
            CaseGraph {
                weight: *weight,
                variables: variables.collect(),
                factors: own.chain(pairs).collect(),
            }
        };
        GraphCase {
            normalised: false,
            templates,
            graphs: (0..self.rows.len()).map(graph).collect(),
        }
    }
}

/// Any small multi-label problem: with no pairs, some or all; with weighted examples, weighted labels,
/// ties, and rows without attributes or labels.
pub fn any_labels() -> impl Strategy<Value = LabelCase> {
    (1usize..=6, 1usize..=3, 0usize..3, any::<u64>()).prop_map(
        |(labels, attributes, density, seed)| {
            let mut rng = Rng::new(seed);
            let mut shape = MultilabelShape::complete(labels, attributes);
            shape.pairs.retain(|_| rng.below(2) < density);
            shape.pairs.iter_mut().for_each(|pair| {
                if rng.below(2) == 0 {
                    *pair = (pair.1, pair.0);
                }
            });
            let weights = (0..labels).map(|_| [0.0, 0.5, 1.0, 2.0][rng.below(4)]).collect();
            let label_weights = if rng.below(2) == 0 { weights } else { Vec::new() };
            let loss = Hamming { normalised: rng.below(2) == 0, label_weights };
            let weighted = rng.below(3) == 0;
            let whole = rng.below(2) == 0;
            let mut row = || {
                let attributes =
                    (0..attributes as u32).filter(|_| rng.below(4) > 0).collect::<Vec<_>>();
                let mut value = || match whole {
                    true => rng.below(3) as f64 - 1.0,
                    false => 4.0 * rng.unit_f64() - 2.0,
                };
                let attributes = attributes.into_iter().map(|a| (a, value())).collect();
                let on = (0..labels as u32).filter(|_| rng.below(2) == 0).collect();
                (attributes, on, if weighted { 0.2 + rng.unit_f64() } else { 1.0 })
            };
            let rows = (0..1 + seed as usize % 4).map(|_| row()).collect();
            LabelCase { shape, loss, rows }
        },
    )
}
