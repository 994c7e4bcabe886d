//! Multiclass problems with a kernel.

use crate::kernel::NodeInputs;
use crate::model::Row;
use crate::model::multiclass::Multiclass;

impl NodeInputs for Multiclass {
    fn labels(&self) -> usize {
        self.shape().classes
    }

    fn nodes(&self, _i: usize) -> usize {
        1
    }

    fn input(&self, i: usize, _node: usize) -> Row<'_> {
        self.data().row(i)
    }

    fn rest(&self) -> usize {
        self.shape().bias_weights().start
    }

    fn renumbered(self, numbers: &[u32], count: usize, product: &dyn Fn(u32, u32) -> f64) -> Self {
        let bias = self.shape().bias.unwrap_or_default();
        let norms = numbers.iter().map(|&number| product(number, number) + bias * bias).collect();
        self.with_inputs(numbers, count, norms)
    }

    fn prepare_with(
        &self,
        _i: usize,
        w: &[f64],
        workspace: &mut Self::Workspace,
        add: &mut dyn FnMut(&mut [f64]),
    ) {
        let scores = workspace.scores_mut();
        self.shape().score_bias(w, scores);
        add(scores);
    }
}
