//! The mean of all corners that each example has seen: a point of the dual.

use crate::dual::{Block, DualPoint, Shares};
use crate::problem::bounds::bounds_in_force;
use crate::problem::{Blocks, SparseVec};
use crate::run::Run;
use crate::run::fits::Fitting;

/// Sums of corners, example by example.
///
/// If every example has been visited k times, the subgradient method's w = 1/(λt) Σ n·cᵢ/C·ψ is Aα of
/// these means: that makes its gap a true one. After any visits the means are a feasible point, and their
/// value is a bound.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Means {
    sums: Vec<Block>,
    counts: Vec<u32>,
    /// Scratch memory for a sum and its bytes.
    #[cfg_attr(feature = "serde", serde(skip))]
    scratch: (SparseVec, Vec<u8>),
}

/// How far to go from the truth towards a point with the expected loss ℓ and λ/2 ‖Aα‖² = `length`, and
/// the value sℓ − s²·`length` there, which is no less than at either end.
pub(super) fn best_share(loss: f64, length: f64) -> (f64, f64) {
    let share = if loss >= 2.0 * length { 1.0 } else { (0.5 * loss / length).max(0.0) };
    (share, share * (loss - share * length))
}

impl Means {
    pub(super) fn new(n: usize) -> Self {
        Self { sums: vec![Block::default(); n], counts: vec![0; n], scratch: Default::default() }
    }

    pub(super) fn fits(&self, to: &Fitting<'_>) -> bool {
        let is_sum = |(sum, count): (&Block, &u32)| {
            sum.parts.is_normalised() && (*count > 0 || (sum.parts.is_empty() && sum.loss == 0.0))
        };
        to.are_of_blocks(&self.sums)
            && to.are_of_blocks(&self.counts)
            && self.counts.iter().all(|count| *count < u32::MAX / 2)
            && self.sums.iter().zip(&self.counts).all(is_sum)
            && to.are_points(&self.point(to.problem).blocks)
    }

    pub(super) fn add(&mut self, i: usize, parts: &SparseVec, loss: f64) {
        let (sum, (point, bytes)) = (&mut self.sums[i], &mut self.scratch);
        sum.parts.unpack(point);
        point.add_scaled(1.0, parts);
        sum.parts.pack(point, bytes);
        sum.loss += loss;
        self.counts[i] += 1;
    }

    /// The expected loss ℓ = Σᵢ cᵢ/C·L of the means.
    pub(super) fn loss(&self, shares: &Shares) -> f64 {
        let means = self.sums.iter().zip(&self.counts);
        let mean = |(sum, &count): (&Block, &u32)| sum.loss / f64::from(count.max(1));
        shares.iter().zip(means).map(|(share, at)| share * mean(at)).sum()
    }

    /// The best point of the dual between the truth and the means, as a bound for weights that do not belong to it.
    pub(super) fn bound(&self, run: &mut Run<'_, '_>) -> DualPoint {
        let problem = run.problem;
        let means = run.state_at(self.point(problem));
        let length = 0.5 * means.lambda * means.norm_sq;
        let (share, _) = best_share(means.dual + length, length);
        let (_, point) = means.into_point();
        // With bounds the dual is not a parabola between the two.
        match share < 1.0 && bounds_in_force(problem).is_none() {
            true => point.rescaled(problem, share),
            false => point,
        }
    }

    /// The means as a point of the dual, with the truth for examples that were never visited.
    pub(super) fn point(&self, problem: &dyn Blocks) -> DualPoint {
        let mean = |(i, (sum, &count)): (usize, (&Block, &u32))| {
            let mut block = sum.clone();
            if count == 0 {
                let mut truth = SparseVec::new();
                problem.truth_parts(i, &mut truth);
                block.parts.assign(&truth);
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

#[cfg(test)]
mod tests {
    use super::best_share;

    #[test]
    fn the_best_point_is_no_worse_than_both_ends() {
        assert_eq!(best_share(1.0, 2.0), (0.25, 0.125)); // 1/4 − 2/16
        assert_eq!(best_share(1.0, 0.25), (1.0, 0.75));
        assert_eq!(best_share(-1.0, 2.0), (0.0, 0.0));
        assert_eq!(best_share(0.0, 0.0), (1.0, 0.0));
    }
}
