//! Expectations of factor graphs without cycles, by sum-product. Potentials have the same layout as
//! scores.

use super::problem::{FactorGraph, FactorGraphWorkspace};
use crate::problem::expectations::Expectations;
use crate::problem::sparse::SparseVec;

impl Expectations<FactorGraphWorkspace> for FactorGraph {
    fn potentials(&self, i: usize) -> usize {
        self.structure(i).size()
    }

    fn add_values(
        &self,
        i: usize,
        _w: &[f64],
        workspace: &FactorGraphWorkspace,
        scale: f64,
        theta: &mut [f64],
    ) {
        for (theta, score) in theta.iter_mut().zip(&workspace.scores) {
            *theta += scale * score;
        }
        // All wrong states cost the same, so subtract the cost from the right states instead.
        self.for_each_right(i, |place, cost| theta[place] -= scale * cost);
    }

    fn expect(
        &self,
        i: usize,
        theta: &[f64],
        workspace: &mut FactorGraphWorkspace,
        parts: &mut SparseVec,
    ) -> f64 {
        workspace.marginals.run(self.structure(i), theta);
        let masses = (0..).zip(workspace.marginals.marginals());
        for (id, &mass) in masses.filter(|(_, mass)| **mass > 0.0) {
            parts.push(id, mass);
        }
        self.loss_of(i, parts)
    }
}
