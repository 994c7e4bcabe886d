//! Expectations by sum-product, if the pairs of labels form a forest. There is one potential for every
//! label that is on, and one for every pair of labels that are both on.

use super::problem::{Multilabel, MultilabelWorkspace};
use crate::problem::expectations::Expectations;
use crate::problem::sparse::SparseVec;

impl Expectations<MultilabelWorkspace> for Multilabel {
    fn potentials(&self, _: usize) -> usize {
        self.shape().labels + self.shape().pairs.len()
    }

    fn add_values(
        &self,
        i: usize,
        w: &[f64],
        workspace: &MultilabelWorkspace,
        scale: f64,
        theta: &mut [f64],
    ) {
        let (labels, pairs) = theta.split_at_mut(self.shape().labels);
        for ((theta, score), cost) in labels.iter_mut().zip(&workspace.scores).zip(&self.costs) {
            *theta += scale * (score + cost);
        }
        // A true label costs if it is off. Up to a constant this is a gain if it is on.
        for &k in self.data().labels(i) {
            labels[k as usize] -= 2.0 * scale * self.costs[k as usize];
        }
        for (theta, weight) in pairs.iter_mut().zip(&w[self.shape().pair_weights()]) {
            *theta += scale * weight;
        }
    }

    fn expect(
        &self,
        i: usize,
        theta: &[f64],
        workspace: &mut MultilabelWorkspace,
        parts: &mut SparseVec,
    ) -> f64 {
        let (linear, quadratic) = theta.split_at(self.shape().labels);
        workspace.search.expect(&self.plan, linear, quadratic, parts);
        self.loss_of(i, parts)
    }
}
