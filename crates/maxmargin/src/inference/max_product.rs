//! Max-product message passing: a heuristic for good labellings of factor graphs with cycles.
//!
//! On a forest the messages of max-sum converge to the true values. With cycles they may not converge at
//! all. So they are damped and passed for a limited number of rounds, and the labelling that they suggest
//! in each round is improved by [local search](super::local_search). The best labelling of all rounds is
//! the answer.

use super::local_search::LocalSearch;
use super::pattern_search::PatternScratch;
use super::topology::{Topology, argmax};

/// The largest number of rounds of messages.
const MOST_ROUNDS: usize = 50;

/// The share of the old message that is kept.
const DAMPING: f64 = 0.5;

/// Messages that change by less than this share of the largest score have converged.
const AT_REST: f64 = 1e-9;

/// Runs max-product. It reuses its memory. (The product is one of exponentials; scores are added.)
///
/// ```
/// use maxmargin::inference::algorithms::MaxProduct;
/// use maxmargin::inference::Topology;
///
/// let triangle = Topology::new([2; 3], [[0, 1], [1, 2], [0, 2]])?;
/// let mut scores = vec![0.0; triangle.size()];
/// scores[triangle.node(1)][1] = 0.5;
/// for factor in 0..3 {
///     scores[triangle.table(factor)].copy_from_slice(&[0.0, -1.0, -1.0, 0.0]);
/// }
/// let mut labelling = Vec::new();
/// assert_eq!(MaxProduct::default().maximise(&triangle, &scores, &mut labelling), 0.5);
/// assert_eq!(labelling, [1, 1, 1]);
/// # Ok::<(), maxmargin::inference::TopologyError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct MaxProduct {
    /// Messages from factors to variables: one number per factor, variable and state.
    messages: Vec<f64>,
    /// Messages from variables to the current factor.
    incoming: Vec<f64>,
    /// The best values of the current factor, by variable and state.
    outgoing: Vec<f64>,
    totals: Vec<f64>,
    beliefs: Vec<f64>,
    candidate: Vec<u32>,
    search: LocalSearch,
    patterns: PatternScratch,
}

impl MaxProduct {
    /// Writes a good labelling to `labelling`, and returns its score. The same scores give the same
    /// labelling.
    ///
    /// # Panics
    /// If there are too few scores.
    pub fn maximise(&mut self, graph: &Topology, scores: &[f64], labelling: &mut Vec<u32>) -> f64 {
        let scale = scores.iter().fold(0.0f64, |most, score| most.max(score.abs()));
        self.messages.clear();
        self.messages.resize(graph.messages_size(), 0.0);
        let mut best = f64::NEG_INFINITY;
        labelling.clear();
        for _ in 0..MOST_ROUNDS {
            self.collect_beliefs(graph, scores);
            let value = self.look(graph, scores);
            if value > best || labelling.is_empty() {
                best = value;
                labelling.clone_from(&self.candidate);
            }
            let mut change = 0.0f64;
            for factor in 0..graph.factors() {
                change = change.max(self.pass(graph, scores, factor));
            }
            if change <= AT_REST * scale {
                break;
            }
        }
        self.collect_beliefs(graph, scores);
        let value = self.look(graph, scores);
        if value > best {
            best = value;
            labelling.clone_from(&self.candidate);
        }
        best
    }

    /// Adds up the messages to each state.
    fn collect_beliefs(&mut self, graph: &Topology, scores: &[f64]) {
        self.beliefs.clear();
        self.beliefs.extend_from_slice(&scores[..graph.node_size()]);
        for factor in 0..graph.factors() {
            for (slot, &v) in graph.scope(factor).iter().enumerate() {
                let messages = &self.messages[graph.message(factor, slot)];
                let beliefs = &mut self.beliefs[graph.node(v as usize)];
                beliefs.iter_mut().zip(messages).for_each(|(belief, message)| *belief += message);
            }
        }
    }

    /// Gives every variable its best state, and improves the labelling by local search.
    fn look(&mut self, graph: &Topology, scores: &[f64]) -> f64 {
        self.candidate.clear();
        let states = (0..graph.variables()).map(|v| argmax(&self.beliefs[graph.node(v)]).0 as u32);
        self.candidate.extend(states);
        self.search.improve(graph, scores, &mut self.candidate)
    }

    /// Updates the messages that a factor sends, and returns the largest change.
    fn pass(&mut self, graph: &Topology, scores: &[f64], factor: usize) -> f64 {
        let (table, scope) = (graph.table(factor), graph.scope(factor));
        let first = graph.message(factor, 0).start;
        let own = first..graph.message(factor, scope.len() - 1).end;
        // Messages from the variables: their beliefs without this factor's own messages.
        self.incoming.clear();
        for (slot, &v) in scope.iter().enumerate() {
            let beliefs = &self.beliefs[graph.node(v as usize)];
            let messages = &self.messages[graph.message(factor, slot)];
            self.incoming.extend(beliefs.iter().zip(messages).map(|(b, m)| b - m));
        }
        self.outgoing.clear();
        self.outgoing.resize(own.len(), f64::NEG_INFINITY);
        match (graph.patterns(factor), scope) {
            (Some(patterns), _) => {
                let (incoming, outgoing) = (&self.incoming, &mut self.outgoing);
                patterns.max_marginals(incoming, &scores[table], &mut self.patterns, outgoing);
                outgoing.iter_mut().zip(incoming).for_each(|(best, incoming)| *best -= incoming);
            }
            (None, [_, _]) => self.best_of_pair(&scores[table], graph.message(factor, 0).len()),
            _ => self.best_of_many(graph, scores, factor),
        }
        let mut change = 0.0f64;
        for (slot, &v) in scope.iter().enumerate() {
            // Normalise to a largest entry of 0, and damp.
            let range = graph.message(factor, slot);
            let best = &mut self.outgoing[range.start - first..range.end - first];
            let most = best.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let beliefs = &mut self.beliefs[graph.node(v as usize)];
            for ((old, best), belief) in self.messages[range].iter_mut().zip(best).zip(beliefs) {
                let new = DAMPING * *old + (1.0 - DAMPING) * (*best - most);
                change = change.max((new - *old).abs());
                *belief += new - *old;
                *old = new;
            }
        }
        change
    }

    /// The best value of each state of two variables, without what the variable itself brings in.
    fn best_of_pair(&mut self, table: &[f64], states: usize) {
        let (left, right) = self.incoming.split_at(states);
        let (of_left, of_right) = self.outgoing.split_at_mut(states);
        for ((row, from_left), best) in table.chunks_exact(right.len()).zip(left).zip(of_left) {
            for ((score, from_right), other) in row.iter().zip(right).zip(&mut *of_right) {
                *best = best.max(score + from_right);
                *other = other.max(score + from_left);
            }
        }
    }

    /// The same for any number of variables: adds up the value of each joint state, finds the best value
    /// of each state, and subtracts what the state brings in.
    fn best_of_many(&mut self, graph: &Topology, scores: &[f64], factor: usize) {
        let (table, scope) = (graph.table(factor), graph.scope(factor));
        let first = graph.message(factor, 0).start;
        self.totals.clear();
        self.totals.extend_from_slice(&scores[table.clone()]);
        for slot in 0..scope.len() {
            let from = graph.message(factor, slot).start - first;
            graph.for_each_state(factor, slot, |at, y| {
                self.totals[at - table.start] += self.incoming[from + y];
            });
        }
        for slot in 0..scope.len() {
            let from = graph.message(factor, slot).start - first;
            graph.for_each_state(factor, slot, |at, y| {
                let (best, total) = (&mut self.outgoing[from + y], self.totals[at - table.start]);
                *best = best.max(total);
            });
        }
        let own = self.outgoing.iter_mut().zip(&self.incoming);
        own.for_each(|(best, incoming)| *best -= incoming);
    }
}
