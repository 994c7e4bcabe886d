//! Expectations of chains, by a forward and a backward pass.
//!
//! There is one potential for each label at each position, followed by one for each pair of labels. All
//! positions share the potentials of pairs, as they share the weights of transitions.

use super::parts::{edge, node};
use super::problem::{Chain, ChainWorkspace};
use crate::problem::expectations::Expectations;
use crate::problem::sparse::SparseVec;

impl Expectations<ChainWorkspace> for Chain {
    fn potentials(&self, i: usize) -> usize {
        self.data().sequence(i).len() * self.shape().labels + self.shape().transition().len()
    }

    fn add_values(
        &self,
        i: usize,
        w: &[f64],
        workspace: &ChainWorkspace,
        scale: f64,
        theta: &mut [f64],
    ) {
        let (k, sequence) = (self.shape().labels, self.data().sequence(i));
        let (nodes, edges) = theta.split_at_mut(sequence.len() * k);
        let rows = nodes.chunks_exact_mut(k).zip(workspace.scores.nodes.chunks_exact(k));
        let truths = sequence.labels().iter().zip(self.costs(sequence));
        for ((theta, scores), (&truth, cost)) in rows.zip(truths) {
            for (label, (theta, score)) in (0..).zip(theta.iter_mut().zip(scores)) {
                let loss = if label == truth { 0.0 } else { cost };
                *theta += scale * (loss + score);
            }
        }
        let scale = scale * self.shape().transition_scale;
        for (theta, weight) in edges.iter_mut().zip(&w[self.shape().transition()]) {
            *theta += scale * weight;
        }
    }

    fn expect(
        &self,
        i: usize,
        theta: &[f64],
        workspace: &mut ChainWorkspace,
        parts: &mut SparseVec,
    ) -> f64 {
        let (k, sequence) = (self.shape().labels, self.data().sequence(i));
        let (nodes, edges) = theta.split_at(sequence.len() * k);
        let marginals = &mut workspace.marginals;
        marginals.run(nodes, edges, k);
        let mut tables = marginals.edges().chunks_exact(k * k);
        let truths = sequence.labels().iter().zip(self.costs(sequence));
        let mut loss = 0.0;
        for (t, (row, (&truth, cost))) in marginals.nodes().chunks_exact(k).zip(truths).enumerate()
        {
            for (label, &mass) in (0..).zip(row).filter(|(_, mass)| **mass > 0.0) {
                parts.push(node(t, label), mass);
                if label != truth {
                    loss += cost * mass;
                }
            }
            let pairs = tables.next().unwrap_or_default().iter().enumerate();
            for (pair, &mass) in pairs.filter(|(_, mass)| **mass > 0.0) {
                parts.push(edge(t, (pair / k) as u32, (pair % k) as u32), mass);
            }
        }
        loss
    }
}
