//! An upper bound of the score of every labelling, by message passing: the dual of the
//! [LP relaxation](super::local_polytope), lowered step by step.
//!
//! The dual is a bound at any δ, so the steps can stop at any time. A step takes one factor c. It pulls the scores of
//! its variables into the table of the factor, and pushes them back as evenly as possible:
//!
//! ```text
//! two variables     B(y, z) = θ_c(y, z) + a_u(y) + a_v(z)        a: scores of a variable without what c has sent
//!                   p_u(y) = ½ max_z B(y, z)
//!                   p_v(z) = max_y B(y, z) − p_u(y)
//!                   p_u(y) ← p_u(y) + max_z (B(y, z) − p_u(y) − p_v(z))
//! k variables       p_v(y) = 1/k · max over the joint states with y_v = y of θ_c + Σ a
//! ```
//!
//! where p are the new scores of the variables, δ = p − a. A step never raises the bound. The resulting bound is
//! close to the least one. A linear program finds the least bound, but takes minutes; these steps take as long as a
//! few rounds of max-product.

use super::local_polytope::dual_bound;
use super::pattern_search::PatternScratch;
use super::topology::Topology;

/// The largest number of sweeps over all factors.
const MOST_SWEEPS: usize = 60;

/// The bound is computed each time after this number of sweeps.
const SWEEPS: usize = 10;

/// The sweeps end when the last [`SWEEPS`] of them have gained at most this share of the whole gain so far.
const LEAST_GAIN: f64 = 0.01;

/// Computes bounds. It reuses its memory.
///
/// ```
/// use maxmargin::inference::algorithms::MessageBound;
/// use maxmargin::inference::Topology;
///
/// // A chain, on which the bound is tight: both like state 1, and one of them likes state 0 a little.
/// let graph = Topology::new([2, 2], [[0, 1]])?;
/// let scores = [0.5, 0.0,  0.0, 1.0,  0.0, 0.0, 0.0, 2.0];
/// assert!((MessageBound::default().bound(&graph, &scores) - 3.0).abs() < 1e-12);
/// # Ok::<(), maxmargin::inference::TopologyError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct MessageBound {
    /// Scores of states, including all that factors have sent.
    nodes: Vec<f64>,
    /// What factors have sent: one number per factor, variable and state.
    deltas: Vec<f64>,
    /// The scores of the variables of the current factor, without what this factor has sent, one variable after the
    /// other.
    incoming: Vec<f64>,
    /// The new scores of these variables.
    outgoing: Vec<f64>,
    joint: Vec<f64>,
    patterns: PatternScratch,
}

impl MessageBound {
    /// An upper bound of the score of every labelling, and of the value of the LP relaxation. The same scores give the
    /// same bound. If a score is not finite, it is +∞.
    ///
    /// # Panics
    /// If there are too few scores.
    pub fn bound(&mut self, graph: &Topology, scores: &[f64]) -> f64 {
        if scores[..graph.size()].iter().any(|score| !score.is_finite()) {
            return f64::INFINITY;
        }
        self.deltas.clear();
        self.deltas.resize(graph.messages_size(), 0.0);
        self.nodes.clear();
        self.nodes.extend_from_slice(&scores[..graph.node_size()]);
        let first = dual_bound(graph, scores, &self.deltas);
        let mut best = first;
        for sweep in 1..=MOST_SWEEPS {
            let factors = graph.factors();
            for at in 0..factors {
                // Sweeps alternate in direction, so that information from one end reaches the other in one sweep.
                let factor = if sweep % 2 == 1 { at } else { factors - 1 - at };
                self.step(graph, scores, factor);
            }
            if sweep % SWEEPS == 0 {
                let now = dual_bound(graph, scores, &self.deltas);
                let is_slow = best - now <= LEAST_GAIN * (first - now);
                best = best.min(now);
                if is_slow {
                    break;
                }
            }
        }
        best
    }

    fn step(&mut self, graph: &Topology, scores: &[f64], factor: usize) {
        let (table, scope) = (&scores[graph.table(factor)], graph.scope(factor));
        self.incoming.clear();
        for (slot, &v) in scope.iter().enumerate() {
            let nodes = &self.nodes[graph.node(v as usize)];
            let deltas = &self.deltas[graph.message(factor, slot)];
            self.incoming.extend(nodes.iter().zip(deltas).map(|(node, delta)| node - delta));
        }
        self.outgoing.clear();
        self.outgoing.resize(self.incoming.len(), f64::NEG_INFINITY);
        match (graph.patterns(factor), scope) {
            (Some(patterns), _) => {
                let outgoing = &mut self.outgoing;
                patterns.max_marginals(&self.incoming, table, &mut self.patterns, outgoing);
                let share = 1.0 / scope.len() as f64;
                outgoing.iter_mut().for_each(|best| *best *= share);
            }
            (None, [_, _]) => self.share_of_pair(table, graph.message(factor, 0).len()),
            _ => self.share_of_many(graph, scores, factor),
        }
        let first = graph.message(factor, 0).start;
        for (slot, &v) in scope.iter().enumerate() {
            let range = graph.message(factor, slot);
            let own = range.start - first..range.end - first;
            self.nodes[graph.node(v as usize)].copy_from_slice(&self.outgoing[own.clone()]);
            let pairs = self.outgoing[own.clone()].iter().zip(&self.incoming[own]);
            let deltas = self.deltas[range].iter_mut().zip(pairs);
            deltas.for_each(|(delta, (new, before))| *delta = new - before);
        }
    }

    /// Distributes a table between two variables.
    fn share_of_pair(&mut self, table: &[f64], states: usize) {
        let (left, right) = self.incoming.split_at(states);
        let (of_left, of_right) = self.outgoing.split_at_mut(states);
        let columns = right.len();
        self.joint.clear();
        for (row, from_left) in table.chunks_exact(columns).zip(left) {
            let sums =
                row.iter().zip(right).map(|(score, from_right)| score + from_left + from_right);
            self.joint.extend(sums);
        }
        for (row, own) in self.joint.chunks_exact(columns).zip(&mut *of_left) {
            *own = 0.5 * row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            row.iter().zip(&mut *of_right).for_each(|(sum, best)| *best = best.max(sum - *own));
        }
        for (row, own) in self.joint.chunks_exact(columns).zip(of_left) {
            let rest = row.iter().zip(&*of_right).map(|(sum, gone)| sum - *own - gone);
            *own += rest.fold(f64::NEG_INFINITY, f64::max);
        }
    }

    /// Distributes a table among any number of variables.
    fn share_of_many(&mut self, graph: &Topology, scores: &[f64], factor: usize) {
        let (table, scope) = (graph.table(factor), graph.scope(factor));
        let first = graph.message(factor, 0).start;
        self.joint.clear();
        self.joint.extend_from_slice(&scores[table.clone()]);
        for slot in 0..scope.len() {
            let from = graph.message(factor, slot).start - first;
            graph.for_each_state(factor, slot, |at, y| {
                self.joint[at - table.start] += self.incoming[from + y];
            });
        }
        for slot in 0..scope.len() {
            let from = graph.message(factor, slot).start - first;
            graph.for_each_state(factor, slot, |at, y| {
                let (best, sum) = (&mut self.outgoing[from + y], self.joint[at - table.start]);
                *best = best.max(sum);
            });
        }
        let share = 1.0 / scope.len() as f64;
        self.outgoing.iter_mut().for_each(|best| *best *= share);
    }
}
