//! The search for labellings, with each of the inference methods.

use super::inference::PottsInference;
use super::labels::NodeLabels;
use super::relaxation::Relaxation;
use crate::inference::local_search::LocalSearch;
use crate::inference::lp::SolveLp;
use crate::inference::max_flow::{MaxFlow, Quantum};
use crate::inference::max_product::MaxProduct;
use crate::inference::roof_duality::RoofDuality;
use crate::inference::topology::{Topology, argmax};

/// The largest number of rounds in which labels take turns.
const MOST_ROUNDS: usize = 100;

/// A graph with scores and costs. The task is to maximise Σ scores − Σ costs of edges whose ends
/// disagree.
#[derive(Debug, Clone, Copy)]
pub(super) struct Task<'a> {
    /// Number of labels.
    pub(super) labels: usize,
    /// One row of scores per node.
    pub(super) scores: &'a [f64],
    pub(super) edges: &'a [(u32, u32)],
    /// One cost per edge.
    pub(super) costs: &'a [f64],
}

impl Task<'_> {
    pub(super) fn nodes(&self) -> usize {
        self.scores.len() / self.labels
    }

    pub(super) fn value(&self, y: &[u32]) -> f64 {
        let rows = self.scores.chunks_exact(self.labels);
        let own: f64 = rows.zip(y).map(|(row, &label)| row[label as usize]).sum();
        let disagree = |&(a, b): &(u32, u32)| y[a as usize] != y[b as usize];
        let edges = self.edges.iter().zip(self.costs).filter(|(ends, _)| disagree(ends));
        own - edges.map(|(_, cost)| cost).sum::<f64>()
    }

    /// The value of a fractional corner.
    pub(super) fn relaxed_value(&self, y: &NodeLabels) -> f64 {
        let value = |at: usize| match at.checked_sub(self.scores.len()) {
            None => self.scores[at],
            Some(edge) => -self.costs[edge],
        };
        y.masses.entries().iter().map(|&(at, mass)| mass * value(at as usize)).sum()
    }

    /// Assigns to every node its best label, as if there were no edges.
    fn start(&self, y: &mut Vec<u32>) {
        y.clear();
        y.extend(self.scores.chunks_exact(self.labels).map(|row| argmax(row).0 as u32));
    }

    /// Writes the tables of a factor graph: first the scores of nodes, then a table for each edge.
    pub(super) fn tables(&self, into: &mut Vec<f64>) {
        into.clear();
        into.extend_from_slice(self.scores);
        let k = self.labels;
        for cost in self.costs {
            into.extend((0..k * k).map(|pair| if pair / k == pair % k { 0.0 } else { -cost }));
        }
    }
}

/// The structure that max-product and local search work on.
pub(super) fn topology(nodes: usize, labels: usize, edges: &[(u32, u32)]) -> Option<Topology> {
    let states = std::iter::repeat_n(labels, nodes);
    Topology::new(states, edges.iter().map(|&(a, b)| [a, b])).ok()
}

/// The network of an example, which keeps the flow of the last call.
#[derive(Debug, Default)]
pub(super) struct Network {
    flow: MaxFlow,
    /// The quantum of the numbers in the network. `None` before the first call.
    quantum: Option<Quantum>,
}

impl Network {
    /// Finds the minimum cut of a network with these ties (to the source if positive, otherwise to the
    /// sink) and capacities. Returns `false` if the numbers are not finite or too large.
    pub(super) fn cut(
        &mut self,
        ties: &[f64],
        edges: &[(u32, u32)],
        capacities: &[(f64, f64)],
        is_warm: bool,
    ) -> bool {
        let all = capacities.iter().map(|(there, back)| there + back);
        let total = ties.iter().map(|tie| tie.abs()).sum::<f64>() + all.sum::<f64>();
        if !total.is_finite() {
            return false;
        }
        // Round all numbers to multiples of a quantum, so that the flow is exact.
        let quantum = Quantum::of(total);
        let before = self.quantum.replace(quantum);
        // Build the network in the first call; afterwards only its capacities change.
        if before.is_none() {
            self.flow.reset(ties.len());
            for &(a, b) in edges {
                self.flow.connect(a as usize, b as usize, 0.0, 0.0);
            }
        }
        for (v, tie) in ties.iter().enumerate() {
            let tie = quantum.round(*tie);
            self.flow.set_tie(v, tie.max(0.0), (-tie).max(0.0));
        }
        for (e, &(there, back)) in capacities.iter().enumerate() {
            self.flow.set_edge(e, quantum.round(there), quantum.round(back));
        }
        // The old flow must be in the same quanta.
        if before != Some(quantum) || !is_warm {
            self.flow.forget_flow();
        }
        self.flow.solve();
        true
    }

    pub(super) fn is_on_source_side(&self, node: usize) -> bool {
        self.flow.is_on_source_side(node)
    }
}

/// The inference method and what it needs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Means<'a> {
    pub(super) way: PottsInference,
    /// The structure of the graph. `None` for methods that only need cuts.
    pub(super) structure: Option<&'a Topology>,
    pub(super) is_warm: bool,
    pub(super) solver: &'a dyn SolveLp,
}

/// The memory of searches, which is reused.
#[derive(Debug, Default)]
pub(super) struct Search {
    ties: Vec<f64>,
    capacities: Vec<(f64, f64)>,
    candidate: Vec<u32>,
    tables: Vec<f64>,
    local: LocalSearch,
    max_product: MaxProduct,
    relaxation: Relaxation,
    roof: RoofDuality,
    products: Vec<f64>,
    on: Vec<f64>,
    masses: Vec<f64>,
}

impl Search {
    /// Writes a labelling or a fractional corner to `y`. Returns whether it is what the method promises.
    pub(super) fn run(
        &mut self,
        means: Means<'_>,
        task: Task<'_>,
        network: &mut Network,
        y: &mut NodeLabels,
    ) -> bool {
        y.masses.clear();
        task.start(&mut y.labels);
        if task.labels < 2 || task.edges.is_empty() {
            return true;
        }
        match means.way {
            PottsInference::Icm => self.improve(means, task, &mut y.labels),
            PottsInference::MaxProduct => self.pass_messages(means, task, &mut y.labels),
            PottsInference::RoofDuality => self.relax_two(task, y),
            PottsInference::Lp => {
                self.relaxation.maximise(means.solver, task, network, y)
                    || self.replace(means, task, network, y)
            }
            PottsInference::MaxFlow if task.labels == 2 => {
                self.two_labels(task, network, means.is_warm, &mut y.labels)
                    && self.repair(task, &mut y.labels)
            }
            _ => self.expand(task, network, &mut y.labels) && self.repair(task, &mut y.labels),
        }
    }

    /// Improves the labels of a fractional corner: by expansion if neighbours attract each other,
    /// otherwise node by node.
    pub(super) fn round(
        &mut self,
        means: Means<'_>,
        task: Task<'_>,
        network: &mut Network,
        y: &mut NodeLabels,
    ) {
        if task.costs.iter().all(|cost| *cost >= 0.0) {
            self.expand(task, network, &mut y.labels);
        } else {
            self.improve(means, task, &mut y.labels);
        }
    }

    /// Uses a heuristic because the solver has failed. Returns `false`, because the result is not what
    /// was promised.
    fn replace(
        &mut self,
        means: Means<'_>,
        task: Task<'_>,
        network: &mut Network,
        y: &mut NodeLabels,
    ) -> bool {
        if !self.pass_messages(means, task, &mut y.labels) {
            self.expand(task, network, &mut y.labels);
        }
        false
    }

    fn improve(&mut self, means: Means<'_>, task: Task<'_>, y: &mut [u32]) -> bool {
        let Some(structure) = means.structure else { return false };
        task.tables(&mut self.tables);
        self.local.improve(structure, &self.tables, y);
        true
    }

    fn pass_messages(&mut self, means: Means<'_>, task: Task<'_>, y: &mut Vec<u32>) -> bool {
        let Some(structure) = means.structure else { return false };
        task.tables(&mut self.tables);
        self.max_product.maximise(structure, &self.tables, y);
        true
    }

    /// Solves the relaxation for two labels. If x is the mass of label 1, an edge costs c·(xₐ + x_b −
    /// 2·xₐx_b), and roof duality relaxes the product.
    fn relax_two(&mut self, task: Task<'_>, y: &mut NodeLabels) -> bool {
        self.ties.clear();
        self.ties.extend(task.scores.chunks_exact(2).map(|row| row[1] - row[0]));
        self.products.clear();
        for (&(a, b), cost) in task.edges.iter().zip(task.costs) {
            self.ties[a as usize] -= cost;
            self.ties[b as usize] -= cost;
            self.products.push(2.0 * cost);
        }
        let total: f64 = self.ties.iter().chain(&self.products).map(|number| number.abs()).sum();
        if !total.is_finite() {
            return false;
        }
        self.roof.maximise(&self.ties, task.edges, &self.products, &mut self.on);
        self.masses.clear();
        self.masses.extend(self.on.iter().flat_map(|&x| [1.0 - x, x]));
        y.assign(task, &self.masses);
        true
    }

    /// Finds the best of two labels for each node. Nodes on the source's side have label 1.
    fn two_labels(
        &mut self,
        task: Task<'_>,
        network: &mut Network,
        is_warm: bool,
        y: &mut [u32],
    ) -> bool {
        self.ties.clear();
        self.ties.extend(task.scores.chunks_exact(2).map(|row| row[1] - row[0]));
        self.capacities.clear();
        self.capacities.extend(task.costs.iter().map(|cost| (cost.max(0.0), cost.max(0.0))));
        if !network.cut(&self.ties, task.edges, &self.capacities, is_warm) {
            return false;
        }
        for (v, label) in y.iter_mut().enumerate() {
            *label = u32::from(network.is_on_source_side(v));
        }
        true
    }

    /// Lets labels take over nodes in turn, until no label gains.
    fn expand(&mut self, task: Task<'_>, network: &mut Network, y: &mut Vec<u32>) -> bool {
        let mut value = task.value(y);
        let mut idle = 0;
        for label in (0..MOST_ROUNDS).flat_map(|_| 0..task.labels as u32) {
            if !self.cut_for(label, task, network, y) {
                return false;
            }
            self.candidate.clone_from(y);
            for (v, own) in self.candidate.iter_mut().enumerate() {
                if network.is_on_source_side(v) {
                    *own = label;
                }
            }
            // Accept the expansion only if it raises the value.
            let found = task.value(&self.candidate);
            if found > value {
                value = found;
                std::mem::swap(y, &mut self.candidate);
                idle = 0;
            } else {
                idle += 1;
                if idle == task.labels {
                    break;
                }
            }
        }
        true
    }

    /// Finds the nodes that `label` should take over. They are on the source's side of the cut.
    fn cut_for(&mut self, label: u32, task: Task<'_>, network: &mut Network, y: &[u32]) -> bool {
        let rows = task.scores.chunks_exact(task.labels);
        self.ties.clear();
        self.ties.extend(rows.zip(y).map(|(row, &own)| row[label as usize] - row[own as usize]));
        self.capacities.clear();
        for (&(a, b), cost) in task.edges.iter().zip(task.costs) {
            let (a, b, cost) = (a as usize, b as usize, cost.max(0.0));
            let price = |differs: bool| if differs { cost } else { 0.0 };
            // With x = 1 for nodes that are taken over, the cost of the edge is stay + (only_a − stay)·xₐ
            // − only_a·x_b + (only_b + only_a − stay)·(1 − xₐ)·x_b.
            let (stay, only_a, only_b) =
                (price(y[a] != y[b]), price(y[b] != label), price(y[a] != label));
            self.ties[a] -= only_a - stay;
            self.ties[b] += only_a;
            self.capacities.push((0.0, (only_a + only_b - stay).max(0.0)));
        }
        network.cut(&self.ties, task.edges, &self.capacities, false)
    }

    /// Improves a labelling node by node if some costs are negative, because cuts ignore these. Returns
    /// `false` then, because the result is not what was promised.
    fn repair(&mut self, task: Task<'_>, y: &mut [u32]) -> bool {
        if task.costs.iter().all(|cost| *cost >= 0.0) {
            return true;
        }
        if let Some(structure) = topology(task.nodes(), task.labels, task.edges) {
            task.tables(&mut self.tables);
            self.local.improve(&structure, &self.tables, y);
        }
        false
    }
}
