//! Expectations over classes. There is one potential for each class.

use super::problem::{Multiclass, MulticlassWorkspace};
use crate::problem::expectations::{Expectations, softmax};
use crate::problem::simplices::Simplices;
use crate::problem::sparse::SparseVec;

impl Expectations<MulticlassWorkspace> for Multiclass {
    fn potentials(&self, _i: usize) -> usize {
        self.shape().classes
    }

    fn add_values(
        &self,
        i: usize,
        _w: &[f64],
        workspace: &MulticlassWorkspace,
        scale: f64,
        theta: &mut [f64],
    ) {
        for (class, (theta, score)) in (0..).zip(theta.iter_mut().zip(&workspace.scores)) {
            *theta += scale * (Simplices::loss(self, i, class) + score);
        }
    }

    fn expect(
        &self,
        i: usize,
        theta: &[f64],
        workspace: &mut MulticlassWorkspace,
        parts: &mut SparseVec,
    ) -> f64 {
        let masses = &mut workspace.masses;
        masses.clear();
        masses.extend_from_slice(theta);
        softmax(masses);
        let mut loss = 0.0;
        for (class, &mass) in (0..).zip(masses.iter()).filter(|(_, mass)| **mass > 0.0) {
            parts.push(class, mass);
            loss += mass * Simplices::loss(self, i, class);
        }
        loss
    }
}
