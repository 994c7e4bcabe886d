//! Chains with a kernel.

use crate::kernel::NodeInputs;
use crate::model::Row;
use crate::model::chain::{Chain, ChainWorkspace};

impl NodeInputs for Chain {
    fn labels(&self) -> usize {
        self.shape().labels
    }

    fn nodes(&self, i: usize) -> usize {
        self.data().sequence(i).len()
    }

    fn input(&self, i: usize, node: usize) -> Row<'_> {
        self.data().sequence(i).token(node)
    }

    fn rest(&self) -> usize {
        self.shape().emission().end
    }

    fn renumbered(self, numbers: &[u32], count: usize, product: &dyn Fn(u32, u32) -> f64) -> Self {
        self.with_inputs(numbers, count, product)
    }

    fn prepare_with(
        &self,
        i: usize,
        w: &[f64],
        workspace: &mut ChainWorkspace,
        add: &mut dyn FnMut(&mut [f64]),
    ) {
        let length = self.data().sequence(i).len();
        workspace.scores.fill_with(self.shape(), w, length, add);
    }
}
