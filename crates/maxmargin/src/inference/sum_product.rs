//! Marginals of a factor graph without cycles, in log space.
//!
//! As in [max-sum](super::max_sum), each factor sends its parent variable a message about the subtree
//! beyond, but the message is the logarithm of a sum and not a maximum. Then, from the roots back, every
//! factor distributes the probability of each state of its parent among its joint states.

use super::topology::Topology;
use crate::problem::expectations::softmax;

/// Computes the marginals of factor graphs and keeps those of the last one. It reuses its memory.
///
/// ```
/// use maxmargin::inference::algorithms::SumProduct;
/// use maxmargin::inference::Topology;
///
/// let tree = Topology::new([2, 2], [[0, 1]])?;
/// let mut scores = vec![0.0; tree.size()];
/// scores[tree.table(0)].copy_from_slice(&[2f64.ln(), 0.0, 0.0, 2f64.ln()]); // neighbours like to agree
/// let mut sums = SumProduct::default();
/// let log_sum = sums.run(&tree, &scores);
/// assert!((log_sum - 6f64.ln()).abs() < 1e-15);
/// assert!((sums.marginals()[tree.table(0)][3] - 1.0 / 3.0).abs() < 1e-15);
/// # Ok::<(), maxmargin::inference::TopologyError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct SumProduct {
    /// Beliefs of variables and values of joint states on the way to the roots, and probabilities on the
    /// way back.
    marginals: Vec<f64>,
    /// Sums by state of the parent of a factor.
    sums: Vec<f64>,
    largest: Vec<f64>,
    reached: Vec<bool>,
}

impl SumProduct {
    /// Finds the marginals of p(labelling) ∝ exp(score), and returns the logarithm of the sum of
    /// exp(score) over all labellings. Scores are laid out as [`Topology`] says, and must be finite.
    ///
    /// # Panics
    /// If the graph is not a [forest](Topology::is_forest), if a factor is given by patterns, or if there are too few
    /// scores.
    pub fn run(&mut self, graph: &Topology, scores: &[f64]) -> f64 {
        assert!(!graph.has_patterns(), "sum-product needs tables of joint states");
        let forest = graph.forest().expect("sum-product needs a graph without cycles");
        self.marginals.clear();
        self.marginals.extend_from_slice(&scores[..graph.size()]);
        for link in forest.iter().rev() {
            self.send(graph, link.factor as usize, link.slot as usize);
        }
        self.reached.clear();
        self.reached.resize(graph.variables(), false);
        let mut log_sum = 0.0;
        for link in forest {
            let (factor, slot) = (link.factor as usize, link.slot as usize);
            log_sum += self.begin(graph, graph.scope(factor)[slot] as usize);
            self.share_out(graph, factor, slot);
        }
        log_sum + (0..graph.variables()).map(|v| self.begin(graph, v)).sum::<f64>()
    }

    /// The probability of every state of every variable, and of every joint state of every factor, in
    /// the layout of scores.
    pub fn marginals(&self) -> &[f64] {
        &self.marginals
    }

    /// Computes the probabilities of a root, unless it has them already.
    fn begin(&mut self, graph: &Topology, variable: usize) -> f64 {
        match std::mem::replace(&mut self.reached[variable], true) {
            true => 0.0,
            false => softmax(&mut self.marginals[graph.node(variable)]),
        }
    }

    /// Turns the table of a factor into the probabilities of its joint states given the state of its
    /// parent, and adds the logarithms of the normalising constants to the beliefs of the parent.
    fn send(&mut self, graph: &Topology, factor: usize, parent: usize) {
        let scope = graph.scope(factor);
        let (beliefs, tables) = self.marginals.split_at_mut(graph.node_size());
        let first = graph.node_size();
        for (slot, &variable) in scope.iter().enumerate().filter(|(slot, _)| *slot != parent) {
            let beliefs = &beliefs[graph.node(variable as usize)];
            graph.for_each_state(factor, slot, |at, state| tables[at - first] += beliefs[state]);
        }
        let beliefs = &mut beliefs[graph.node(scope[parent] as usize)];
        self.largest.clear();
        self.largest.resize(beliefs.len(), f64::NEG_INFINITY);
        graph.for_each_state(factor, parent, |at, state| {
            self.largest[state] = self.largest[state].max(tables[at - first]);
        });
        self.sums.clear();
        self.sums.resize(beliefs.len(), 0.0);
        graph.for_each_state(factor, parent, |at, state| {
            let value = &mut tables[at - first];
            *value = (*value - self.largest[state]).exp();
            self.sums[state] += *value;
        });
        graph.for_each_state(factor, parent, |at, state| tables[at - first] /= self.sums[state]);
        for ((belief, largest), sum) in beliefs.iter_mut().zip(&self.largest).zip(&self.sums) {
            *belief += largest + sum.ln();
        }
    }

    /// Distributes the probabilities of the parent's states, which yields those of the other variables,
    /// since this factor reaches them first.
    fn share_out(&mut self, graph: &Topology, factor: usize, parent: usize) {
        let scope = graph.scope(factor);
        let (nodes, tables) = self.marginals.split_at_mut(graph.node_size());
        let first = graph.node_size();
        let own = &nodes[graph.node(scope[parent] as usize)];
        graph.for_each_state(factor, parent, |at, state| tables[at - first] *= own[state]);
        for (slot, &variable) in scope.iter().enumerate().filter(|(slot, _)| *slot != parent) {
            self.reached[variable as usize] = true;
            let node = &mut nodes[graph.node(variable as usize)];
            node.fill(0.0);
            graph.for_each_state(factor, slot, |at, state| node[state] += tables[at - first]);
        }
    }
}
