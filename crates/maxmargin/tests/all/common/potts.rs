//! Random small labelled graphs, and dense versions of everything about them.

use super::graphs::Structure;
use super::problems::{Enumerated, EnumeratedBlock};
use super::{dot, minus};
use maxmargin::Rng;
use maxmargin::model::InputError;
use maxmargin::model::potts::{NodeLoss, Potts, PottsGraphs, PottsInference, PottsShape};
use proptest::prelude::*;

/// A node: attributes, label, weight.
pub type CaseNode = (Vec<f64>, u32, f64);

#[derive(Debug, Clone)]
pub struct PottsCase {
    pub shape: PottsShape,
    pub loss: NodeLoss,
    pub graphs: Vec<CaseGraph>,
}

#[derive(Debug, Clone)]
pub struct CaseGraph {
    pub weight: f64,
    pub nodes: Vec<CaseNode>,
    pub edges: Vec<(u32, u32, Vec<f64>)>,
}

impl PottsCase {
    pub fn data(&self) -> PottsGraphs {
        let pairs = |values: &[f64]| (0..).zip(values.to_vec()).filter(|(_, v)| *v != 0.0);
        let mut data = PottsGraphs::new();
        for graph in &self.graphs {
            for (attributes, label, weight) in &graph.nodes {
                data.push_node(pairs(attributes), *label, *weight).unwrap();
            }
            for (a, b, attributes) in &graph.edges {
                data.push_edge(*a, *b, pairs(attributes)).unwrap();
            }
            data.end_graph(graph.weight).unwrap();
        }
        data
    }

    pub fn build(&self, inference: PottsInference) -> Potts {
        self.try_build(inference).unwrap()
    }

    pub fn try_build(&self, inference: PottsInference) -> Result<Potts, InputError> {
        Potts::new(self.shape, self.data(), self.loss, inference)
    }

    pub fn truth(&self, i: usize) -> Vec<u32> {
        self.graphs[i].nodes.iter().map(|node| node.1).collect()
    }

    pub fn labellings(&self, i: usize) -> Vec<Vec<u32>> {
        let mut all = vec![Vec::new()];
        for _ in &self.graphs[i].nodes {
            let longer = |y: &Vec<u32>| {
                let y = y.clone();
                (0..self.shape.labels as u32).map(move |label| {
                    let mut y = y.clone();
                    y.push(label);
                    y
                })
            };
            all = all.iter().flat_map(longer).collect();
        }
        all
    }

    /// φ(xᵢ, y), term by term from the formula.
    pub fn phi(&self, i: usize, y: &[u32]) -> Vec<f64> {
        let k = self.shape.labels;
        let mut phi = vec![0.0; self.shape.dim()];
        for ((attributes, _, _), &label) in self.graphs[i].nodes.iter().zip(y) {
            for (a, value) in attributes.iter().enumerate() {
                phi[a * k + label as usize] += value;
            }
        }
        for (a, b, attributes) in &self.graphs[i].edges {
            if y[*a as usize] != y[*b as usize] {
                for (z, value) in attributes.iter().enumerate().take(self.shape.edge_attributes) {
                    phi[self.shape.node_attributes * k + z] -= value;
                }
            }
        }
        if self.shape.mean {
            phi.iter_mut().for_each(|value| *value /= y.len() as f64);
        }
        phi
    }

    pub fn psi(&self, i: usize, y: &[u32]) -> Vec<f64> {
        minus(&self.phi(i, &self.truth(i)), &self.phi(i, y))
    }

    pub fn loss(&self, i: usize, y: &[u32]) -> f64 {
        let nodes = &self.graphs[i].nodes;
        let weight = |v: usize| if self.loss.weighted { nodes[v].2 } else { 1.0 };
        let share = |among: &dyn Fn(usize) -> bool| {
            let all: f64 = (0..nodes.len()).filter(|&v| among(v)).map(weight).sum();
            let wrong = (0..nodes.len()).filter(|&v| among(v) && nodes[v].1 != y[v]);
            let wrong: f64 = wrong.map(weight).sum();
            (all > 0.0).then(|| wrong / all)
        };
        let shares: Vec<f64> = match self.loss.balanced {
            false => share(&|_| true).into_iter().collect(),
            true => (0..self.shape.labels as u32)
                .filter_map(|label| share(&|v| nodes[v].1 == label))
                .collect(),
        };
        if shares.is_empty() { 0.0 } else { shares.iter().sum::<f64>() / shares.len() as f64 }
    }

    pub fn augmented(&self, i: usize, y: &[u32], w: &[f64]) -> f64 {
        self.loss(i, y) - dot(w, &self.psi(i, y))
    }

    pub fn enumerate(&self) -> Enumerated {
        let block = |i: usize| {
            let all = self.labellings(i);
            let corners = all.iter().map(|y| (self.psi(i, y), self.loss(i, y))).collect();
            EnumeratedBlock { weight: self.graphs[i].weight, corners }
        };
        let blocks = (0..self.graphs.len()).map(block).collect();
        Enumerated { dim: self.shape.dim(), blocks }
    }

    /// The graph as variables with states and factors between them, without scores.
    pub fn structure(&self, i: usize) -> Structure {
        let graph = &self.graphs[i];
        let edges = if self.shape.edge_attributes > 0 { graph.edges.as_slice() } else { &[] };
        Structure {
            states: vec![self.shape.labels; graph.nodes.len()],
            factors: edges.iter().map(|edge| vec![edge.0, edge.1]).collect(),
        }
    }

    /// φ of each mass of a graph's local polytope, and its loss.
    pub fn columns(&self, i: usize) -> Vec<(Vec<f64>, f64)> {
        let (graph, k) = (&self.graphs[i], self.shape.labels);
        let share = if self.shape.mean { 1.0 / graph.nodes.len() as f64 } else { 1.0 };
        let mut all = Vec::new();
        for (v, node) in graph.nodes.iter().enumerate() {
            for label in 0..k {
                let mut phi = vec![0.0; self.shape.dim()];
                let at = |attribute: usize| attribute * k + label;
                node.0.iter().enumerate().for_each(|(a, x)| phi[at(a)] = share * x);
                let mut y = self.truth(i);
                y[v] = label as u32;
                all.push((phi, self.loss(i, &y)));
            }
        }
        for edge in graph.edges.iter().filter(|_| self.shape.edge_attributes > 0) {
            for pair in 0..k * k {
                let mut phi = vec![0.0; self.shape.dim()];
                if pair / k != pair % k {
                    let own = &mut phi[self.shape.pairwise()];
                    own.iter_mut().zip(&edge.2).for_each(|(phi, z)| *phi = -share * z);
                }
                all.push((phi, 0.0));
            }
        }
        all
    }

    /// Weights that training could reach: pairwise weights are ≥ 0 if they must be.
    pub fn weights(&self, mut w: Vec<f64>) -> Vec<f64> {
        if self.shape.attractive {
            w[self.shape.pairwise()].iter_mut().for_each(|w| *w = w.abs());
        }
        w
    }
}

/// Any small graphs: with and without edges, weights and ties; with any loss.
pub fn any_potts(labels: std::ops::RangeInclusive<usize>) -> impl Strategy<Value = PottsCase> {
    let sizes = (labels, 1usize..=3, 0usize..=2, 1usize..=5);
    (sizes, any::<bool>(), any::<bool>(), any::<u64>()).prop_map(
        |((labels, node_attributes, edge_attributes, most), weighted, balanced, seed)| {
            let mut rng = Rng::new(seed);
            let whole = rng.below(2) == 0;
            let mut graph = || {
                let n = 1 + rng.below(most);
                let mut number = |least: f64| match whole {
                    true => rng.below(3) as f64 + least,
                    false => 3.0 * rng.unit_f64() + least,
                };
                let rows: Vec<Vec<f64>> =
                    (0..n).map(|_| (0..node_attributes).map(|_| number(-1.0)).collect()).collect();
                let edges: Vec<Vec<f64>> = (0..n * n)
                    .map(|_| (0..edge_attributes).map(|_| number(0.0)).collect())
                    .collect();
                let label = |_| rng.below(labels) as u32;
                let truth: Vec<u32> = (0..n).map(label).collect();
                let weights: Vec<f64> = (0..n).map(|_| [0.0, 1.0, 2.5][rng.below(3)]).collect();
                let nodes = rows.into_iter().zip(truth).zip(weights);
                let pairs = edges.into_iter().enumerate();
                let edges = pairs
                    .map(|(at, row)| ((at / n) as u32, (at % n) as u32, row))
                    .filter(|(a, b, _)| a != b && rng.below(3) == 0)
                    .collect();
                let nodes = nodes.map(|((row, label), weight)| (row, label, weight)).collect();
                CaseGraph { weight: 0.5 + rng.unit_f64(), nodes, edges }
            };
            let graphs = (0..1 + seed as usize % 3).map(|_| graph()).collect();
            let mut shape = PottsShape::new(labels, node_attributes, edge_attributes);
            shape.mean = rng.below(2) == 0;
            PottsCase { shape, loss: NodeLoss { weighted, balanced }, graphs }
        },
    )
}
