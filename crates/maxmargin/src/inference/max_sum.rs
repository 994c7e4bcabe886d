//! The best labelling of a factor graph without cycles, exactly.
//!
//! Each factor sends its parent variable, for every state, the best score of the subtree beyond. Then,
//! from the roots back, every factor looks up the joint state that reached this score. Each score is read
//! once, also for factors over many variables.

use super::pattern_search::PatternScratch;
use super::patterns::Patterns;
use super::topology::{Topology, argmax};

/// Runs max-sum. It reuses its memory.
///
/// ```
/// use maxmargin::inference::algorithms::MaxSum;
/// use maxmargin::inference::Topology;
///
/// let tree = Topology::new([2, 2, 2], [[0, 1], [1, 2]])?;
/// let mut scores = vec![0.0; tree.size()];
/// scores[tree.node(0)].copy_from_slice(&[0.0, 1.0]);
/// for factor in 0..2 {
///     scores[tree.table(factor)].copy_from_slice(&[0.0, -9.0, -9.0, 0.0]); // neighbours agree
/// }
/// let mut labelling = Vec::new();
/// assert_eq!(MaxSum::default().maximise(&tree, &scores, &mut labelling), 1.0);
/// assert_eq!(labelling, [1, 1, 1]);
/// # Ok::<(), maxmargin::inference::TopologyError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct MaxSum {
    /// For each variable and state, the sum of its score and those of its subtrees.
    beliefs: Vec<f64>,
    /// For each factor, by state of its parent: the best value, and its joint state if it has a table.
    best: Vec<(f64, usize)>,
    patterns: PatternScratch,
    /// Beliefs of the variables of a factor, and the best values of their states.
    own: Vec<f64>,
    values: Vec<f64>,
}

impl MaxSum {
    /// Writes a labelling with the highest score to `labelling`, and returns that score. At ties, it is
    /// always the same labelling.
    ///
    /// # Panics
    /// If the graph is not a [forest](Topology::is_forest), or if there are too few scores.
    pub fn maximise(&mut self, graph: &Topology, scores: &[f64], labelling: &mut Vec<u32>) -> f64 {
        let forest = graph.forest().expect("max-sum needs a graph without cycles");
        self.beliefs.clear();
        self.beliefs.extend_from_slice(&scores[..graph.node_size()]);
        self.best.clear();
        self.best.resize(graph.messages_size(), (f64::NEG_INFINITY, 0));
        // From the leaves to the roots: collect the best scores.
        for link in forest.iter().rev() {
            self.send(graph, scores, link.factor as usize, link.slot as usize);
        }
        // From the roots to the leaves: look up the states that reached them.
        labelling.clear();
        labelling.resize(graph.variables(), u32::MAX);
        let mut total = 0.0;
        for link in forest {
            let (factor, slot) = (link.factor as usize, link.slot as usize);
            let parent = graph.scope(factor)[slot] as usize;
            if labelling[parent] == u32::MAX {
                total += self.choose(graph, parent, labelling);
            }
            let state = labelling[parent] as usize;
            if let Some(patterns) = graph.patterns(factor) {
                self.look_up(graph, scores, factor, patterns, (slot, state), labelling);
                continue;
            }
            let joint = self.best[graph.message(factor, slot).start + state].1;
            graph.touch(graph.table(factor).start + joint, labelling);
        }
        for variable in 0..graph.variables() {
            if labelling[variable] == u32::MAX {
                total += self.choose(graph, variable, labelling);
            }
        }
        total
    }

    /// Gives a root its best state.
    fn choose(&self, graph: &Topology, root: usize, labelling: &mut [u32]) -> f64 {
        let (state, value) = argmax(&self.beliefs[graph.node(root)]);
        labelling[root] = state as u32;
        value
    }

    /// Gives the variables of a factor the best states, given that of its parent.
    fn look_up(
        &mut self,
        graph: &Topology,
        scores: &[f64],
        factor: usize,
        patterns: &Patterns,
        parent: (usize, usize),
        labelling: &mut [u32],
    ) {
        self.collect(graph, factor, parent.0);
        let (scope, table) = (graph.scope(factor), &scores[graph.table(factor)]);
        patterns.maximise(&self.own, table, Some(parent), &mut self.patterns, |slot, state| {
            labelling[scope[slot] as usize] = state;
        });
    }

    /// Lists the beliefs of the variables of a factor, 0 for its parent.
    fn collect(&mut self, graph: &Topology, factor: usize, parent: usize) {
        self.own.clear();
        for (slot, &v) in graph.scope(factor).iter().enumerate() {
            let beliefs = &self.beliefs[graph.node(v as usize)];
            self.own.extend(beliefs.iter().map(|b| if slot == parent { 0.0 } else { *b }));
        }
    }

    /// Adds the best scores of the factor and of everything beyond it to the beliefs of the parent.
    fn send(&mut self, graph: &Topology, scores: &[f64], factor: usize, parent: usize) {
        if let Some(patterns) = graph.patterns(factor) {
            self.collect(graph, factor, parent);
            self.values.resize(self.own.len(), 0.0);
            let (table, scratch) = (&scores[graph.table(factor)], &mut self.patterns);
            patterns.max_marginals(&self.own, table, scratch, &mut self.values);
            let node = graph.node(graph.scope(factor)[parent] as usize);
            let values = &self.values[patterns.start(parent)..];
            self.beliefs[node].iter_mut().zip(values).for_each(|(belief, best)| *belief += best);
            return;
        }
        let scope = graph.scope(factor);
        let message = graph.message(factor, parent);
        let table = &scores[graph.table(factor)];
        let best = &mut self.best[message];
        let parent_stride = graph.stride(factor, parent);
        // Factors over two variables are the most common ones, so they have their own loop.
        if let [first, second] = *scope {
            let other = if parent == 0 { second } else { first } as usize;
            let beliefs = &self.beliefs[graph.node(other)];
            let other_stride = graph.stride(factor, 1 - parent);
            for (state, best) in best.iter_mut().enumerate() {
                for (y, belief) in beliefs.iter().enumerate() {
                    let joint = state * parent_stride + y * other_stride;
                    take_better(best, table[joint] + belief, joint);
                }
            }
        } else {
            for (joint, score) in table.iter().enumerate() {
                let (mut rest, mut value, mut state) = (joint, *score, 0);
                for (slot, &variable) in scope.iter().enumerate().rev() {
                    let states = graph.states(variable as usize);
                    let y = rest % states;
                    rest /= states;
                    if slot == parent {
                        state = y;
                    } else {
                        value += self.beliefs[graph.node(variable as usize).start + y];
                    }
                }
                take_better(&mut best[state], value, joint);
            }
        }
        let beliefs = &mut self.beliefs[graph.node(scope[parent] as usize)];
        beliefs.iter_mut().zip(best).for_each(|(belief, best)| *belief += best.0);
    }
}

/// Keeps the better of two values. As in [`argmax`], NaN is better than any number.
#[inline]
fn take_better(best: &mut (f64, usize), value: f64, joint: usize) {
    if value > best.0 || value.is_nan() && !best.0.is_nan() {
        *best = (value, joint);
    }
}
