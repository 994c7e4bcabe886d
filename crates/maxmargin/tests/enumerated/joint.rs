//! Problems with a joint kernel: all outputs of all examples, compared with each other.

use crate::common::problems::{Enumerated, EnumeratedBlock};
use crate::instance::{entry_of, factor};
use crate::truth::Explicit;
use maxmargin::kernel::{JointKernel, Kernel};

/// The outputs of a problem, of which −ψ(y) says what they are like.
#[derive(Debug, Clone)]
pub(crate) struct JointCase {
    pub(crate) inner: Enumerated,
    pub(crate) kernel: Kernel,
}

impl JointCase {
    /// The place of an output among those of all examples.
    fn place(&self, (i, y): (usize, usize)) -> usize {
        self.inner.blocks[..i].iter().map(|block| block.corners.len()).sum::<usize>() + y
    }

    /// Features of all outputs whose products are the kernel.
    pub(crate) fn explicit(&self) -> Explicit {
        let corners = self.inner.blocks.iter().flat_map(|block| &block.corners);
        let all: Vec<&[f64]> = corners.map(|(psi, _)| &psi[..]).collect();
        let rows = factor(all.len(), |a, b| entry_of(self.kernel, all[a], all[b]));
        Explicit { rows, labels: 1 }
    }

    /// The same problem in these features.
    pub(crate) fn enumerate(&self) -> Enumerated {
        let rows = self.explicit().rows;
        let block = |(i, block): (usize, &EnumeratedBlock)| {
            let truth = &rows[self.place((i, self.truth(i)))];
            let corner = |(y, (_, loss)): (usize, &(Vec<f64>, f64))| {
                let own = &rows[self.place((i, y))];
                (truth.iter().zip(own).map(|(t, x)| t - x).collect(), *loss)
            };
            let corners = block.corners.iter().enumerate().map(corner).collect();
            EnumeratedBlock { weight: block.weight, corners }
        };
        let blocks = self.inner.blocks.iter().enumerate().map(block).collect();
        Enumerated { dim: rows.len(), blocks }
    }
}

impl JointKernel for JointCase {
    fn examples(&self) -> usize {
        self.inner.blocks.len()
    }
    fn outputs(&self, i: usize) -> usize {
        self.inner.blocks[i].corners.len()
    }
    fn truth(&self, i: usize) -> usize {
        let is_truth = |corner: &(Vec<f64>, f64)| corner.1 == 0.0;
        self.inner.blocks[i].corners.iter().position(is_truth).expect("one output is true")
    }
    fn loss(&self, i: usize, y: usize) -> f64 {
        self.inner.blocks[i].corners[y].1
    }
    fn kernel(&self, a: (usize, usize), b: (usize, usize)) -> f64 {
        let corner = |(i, y): (usize, usize)| &self.inner.blocks[i].corners[y].0;
        entry_of(self.kernel, corner(a), corner(b))
    }
    fn weight(&self, i: usize) -> f64 {
        self.inner.blocks[i].weight
    }
}
