//! Expectations over two labels. The only potential belongs to the wrong label.

use super::problem::{Binary, BinaryWorkspace, WRONG};
use crate::problem::expectations::Expectations;
use crate::problem::sparse::SparseVec;

impl Expectations<BinaryWorkspace> for Binary {
    fn potentials(&self, _i: usize) -> usize {
        1
    }

    fn add_values(
        &self,
        i: usize,
        _w: &[f64],
        workspace: &BinaryWorkspace,
        scale: f64,
        theta: &mut [f64],
    ) {
        let sign = if self.is_positive(i) { 1.0 } else { -1.0 };
        theta[0] += scale * (1.0 - sign * workspace.score);
    }

    fn expect(
        &self,
        _i: usize,
        theta: &[f64],
        _workspace: &mut BinaryWorkspace,
        parts: &mut SparseVec,
    ) -> f64 {
        let mass = 1.0 / (1.0 + (-theta[0]).exp());
        parts.push(WRONG, mass);
        mass
    }
}
