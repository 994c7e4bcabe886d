//! Multi-label problems with a kernel.

use crate::kernel::NodeInputs;
use crate::model::Row;
use crate::model::multilabel::{Multilabel, MultilabelWorkspace};

impl NodeInputs for Multilabel {
    fn labels(&self) -> usize {
        self.shape().labels
    }

    fn nodes(&self, _i: usize) -> usize {
        1
    }

    fn input(&self, i: usize, _node: usize) -> Row<'_> {
        self.data().row(i)
    }

    fn rest(&self) -> usize {
        self.shape().single().end
    }

    fn renumbered(self, numbers: &[u32], count: usize, product: &dyn Fn(u32, u32) -> f64) -> Self {
        let norms = numbers.iter().map(|&number| product(number, number)).collect();
        self.with_inputs(numbers, count, norms)
    }

    fn prepare_with(
        &self,
        _i: usize,
        _w: &[f64],
        workspace: &mut MultilabelWorkspace,
        add: &mut dyn FnMut(&mut [f64]),
    ) {
        self.score_with(workspace, add);
    }
}
