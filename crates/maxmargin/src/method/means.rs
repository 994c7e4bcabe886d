//! The mean of all corners that each example has seen: a point of the dual.

use crate::dual::{Block, DualPoint, Shares};
use crate::problem::Problem;
use crate::sparse::SparseVec;

/// Sums of corners, example by example.
///
/// Where every example has been visited k times, the subgradient method's w = 1/(λt) Σ n·cᵢ/C·ψ is Aα
/// of these means: that is what makes its gap a true one. Whatever the visits, the means are a
/// feasible point, and their value is a bound.
#[derive(Debug)]
pub(super) struct Means {
    sums: Vec<Block>,
    counts: Vec<u32>,
}

impl Means {
    pub(super) fn new(n: usize) -> Self {
        Self { sums: vec![Block::default(); n], counts: vec![0; n] }
    }

    pub(super) fn add(&mut self, i: usize, parts: &SparseVec, loss: f64) {
        self.sums[i].parts.add_scaled(1.0, parts);
        self.sums[i].loss += loss;
        self.counts[i] += 1;
    }

    /// The expected loss ℓ = Σᵢ cᵢ/C·L of the means.
    pub(super) fn loss(&self, shares: &Shares) -> f64 {
        let means = self.sums.iter().zip(&self.counts);
        let mean = |(sum, &count): (&Block, &u32)| sum.loss / f64::from(count.max(1));
        shares.iter().zip(means).map(|(share, at)| share * mean(at)).sum()
    }

    /// The means as a point of the dual; the truth where nothing was seen.
    pub(super) fn point<P: Problem>(&self, problem: &P) -> DualPoint {
        let mean = |(i, (sum, &count)): (usize, (&Block, &u32))| {
            let mut block = sum.clone();
            if count == 0 {
                problem.truth_parts(i, &mut block.parts);
                return block;
            }
            let factor = 1.0 / f64::from(count);
            block.parts.scale(factor);
            block.loss *= factor;
            block
        };
        let sums = self.sums.iter().zip(&self.counts).enumerate();
        DualPoint { blocks: sums.map(mean).collect() }
    }
}
