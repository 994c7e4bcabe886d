//! Marginals of a chain, in log space.
//!
//! A backward pass sums up, for each position and label, everything that can follow. It works with
//! logarithms, so that no score is too large. The pass also yields the probabilities of each label given
//! the one before it, and a forward pass over these yields marginals that agree with each other to the
//! last digits, even for large scores. This takes O(TK²) time for T positions and K labels.
//!
//! ```
//! use maxmargin::inference::algorithms::ForwardBackward;
//!
//! // Two positions with two labels; equal neighbours are twice as likely as others.
//! let mut chain = ForwardBackward::default();
//! let double = 2f64.ln();
//! let log_sum = chain.run(&[0.0; 4], &[double, 0.0, 0.0, double], 2);
//! assert!((log_sum - 6f64.ln()).abs() < 1e-15);
//! assert_eq!(chain.nodes(), [0.5; 4]);
//! assert!((chain.edges()[0] - 1.0 / 3.0).abs() < 1e-15);
//! ```

use crate::problem::expectations::softmax;

/// Computes the marginals of chains and keeps those of the last one. It reuses its memory.
#[derive(Debug, Clone, Default)]
pub struct ForwardBackward {
    nodes: Vec<f64>,
    edges: Vec<f64>,
    /// The scores of everything that may follow, by label.
    ahead: Vec<f64>,
}

impl ForwardBackward {
    /// Finds the marginals of p(path) ∝ exp(score of the path), and returns the logarithm of the sum
    /// of exp(score) over all paths.
    ///
    /// `scores` and `transitions` are as in [`viterbi`](super::viterbi::viterbi): one row of `labels`
    /// node scores per position, and the score of label `a` followed by label `b` at `a * labels + b`;
    /// the latter may be empty. Scores must be finite.
    ///
    /// # Panics
    /// If `scores` is empty or not a whole number of rows, or `transitions` has the wrong size.
    pub fn run(&mut self, scores: &[f64], transitions: &[f64], labels: usize) -> f64 {
        assert!(
            !scores.is_empty() && scores.len().is_multiple_of(labels),
            "scores must be whole rows"
        );
        self.nodes.clear();
        self.nodes.extend_from_slice(scores);
        self.edges.clear();
        if transitions.is_empty() {
            return self.nodes.chunks_exact_mut(labels).map(softmax).sum();
        }
        assert_eq!(transitions.len(), labels * labels, "one transition score per pair of labels");
        let last = scores.len() / labels - 1;
        self.edges.reserve(last * transitions.len());
        for _ in 0..last {
            self.edges.extend_from_slice(transitions);
        }
        self.backward(labels, last);
        let (first, _) = self.nodes.split_at_mut(labels);
        let log_sum = softmax(first);
        self.forward(labels, last);
        log_sum
    }

    /// Turns each row of edges into the probabilities of the next label, and adds the score of everything
    /// that can follow to each node.
    fn backward(&mut self, labels: usize, last: usize) {
        for t in (0..last).rev() {
            let (before, after) = self.nodes.split_at_mut((t + 1) * labels);
            self.ahead.clear();
            self.ahead.extend_from_slice(&after[..labels]);
            let table = &mut self.edges[t * labels * labels..][..labels * labels];
            let rows = table.chunks_exact_mut(labels);
            for (node, row) in before[t * labels..].iter_mut().zip(rows) {
                row.iter_mut().zip(&self.ahead).for_each(|(edge, ahead)| *edge += ahead);
                *node += softmax(row);
            }
        }
    }

    /// Turns probabilities of the next label into those of pairs and of labels. The first position has
    /// its probabilities already.
    fn forward(&mut self, labels: usize, last: usize) {
        for t in 0..last {
            let (before, after) = self.nodes.split_at_mut((t + 1) * labels);
            let next = &mut after[..labels];
            next.fill(0.0);
            let table = &mut self.edges[t * labels * labels..][..labels * labels];
            for (node, row) in before[t * labels..].iter().zip(table.chunks_exact_mut(labels)) {
                for (edge, next) in row.iter_mut().zip(next.iter_mut()) {
                    *edge *= node;
                    *next += *edge;
                }
            }
        }
    }

    /// The probability of every label at every position, one row per position.
    pub fn nodes(&self) -> &[f64] {
        &self.nodes
    }

    /// The probability of every pair of labels at every two neighbouring positions: one table per pair of
    /// positions, with the layout of the transitions. Empty if there were no transitions.
    pub fn edges(&self) -> &[f64] {
        &self.edges
    }
}
