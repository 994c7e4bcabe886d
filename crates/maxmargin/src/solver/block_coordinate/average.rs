//! Averages of all iterates, at no cost per feature.
//!
//! A visit changes one block, so each block keeps its own running sum and updates it only when it moves.
//! The averaged w is rebuilt from the averaged blocks when it is wanted. The average is thus a dual point
//! with a true gap of its own. The usual way is to keep a second weight vector. Averaging in part space is cheaper,
//! and nothing cancels.

use crate::dual::{Block, DualPoint};
use crate::problem::SparseVec;
use crate::run::fits::Fitting;
use crate::settings::Average;

/// The average Σ t·μₜ / Σ t of the dual iterates, or Σ μₜ / k, block by block.
///
/// A block updates its sum only when it moves again, for all the visits in which it stood still. An update
/// costs the block's own non-zeros. All terms are non-negative, so nothing cancels.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Averager {
    sums: Vec<Block>,
    /// The first visit after which each block has its present value.
    since: Vec<u64>,
    average: Average,
    #[cfg_attr(feature = "serde", serde(skip))]
    scratch: Scratch,
}

/// Memory for a sum, what is added to it, and its bytes.
#[derive(Debug, Clone, Default)]
struct Scratch {
    sum: SparseVec,
    term: SparseVec,
    bytes: Vec<u8>,
}

impl Scratch {
    /// Adds `factor · term` to the parts of a block, and multiplies them by `scale` then.
    fn add(&mut self, to: &mut Block, factor: f64, term: &Block, scale: f64) {
        to.parts.unpack(&mut self.sum);
        self.sum.add_scaled(factor, term.parts.read(&mut self.term));
        if scale != 1.0 {
            self.sum.scale(scale);
        }
        to.parts.pack(&self.sum, &mut self.bytes);
    }
}

impl Averager {
    pub(crate) fn new(n: usize, average: Average) -> Self {
        let (sums, since) = (vec![Block::default(); n], vec![1; n]);
        Self { sums, since, average, scratch: Scratch::default() }
    }

    pub(crate) fn fits(&self, to: &Fitting<'_>) -> bool {
        to.are_of_blocks(&self.sums)
            && to.are_of_blocks(&self.since)
            && self.since.iter().all(|since| (1..=to.visits.saturating_add(1)).contains(since))
            && (0..self.sums.len()).all(|i| self.is_sum_of_points(i, to))
    }

    /// Whether the sum of block `i` is a point times the weight of the iterates that it covers, or empty if it covers
    /// none. Each sum is checked by itself: an average that leaves a sum out today uses it after the block's next move.
    fn is_sum_of_points(&self, i: usize, to: &Fitting<'_>) -> bool {
        let (sum, weight) = (&self.sums[i], self.weight_of(self.since[i] - 1));
        if weight == 0.0 {
            return sum.parts.is_empty() && sum.loss == 0.0;
        }
        if !sum.parts.is_normalised() {
            return false;
        }
        let mut parts = sum.parts.unpacked();
        parts.scale(1.0 / weight);
        to.is_point(i, &Block { parts: parts.into(), loss: sum.loss / weight })
    }

    /// The weight of the first k iterates together: 1 + 2 + … + k, or k.
    fn weight_of(&self, k: u64) -> f64 {
        match self.average {
            Average::Weighted => 0.5 * k as f64 * (k as f64 + 1.0),
            _ => k as f64,
        }
    }

    /// Called just before visit `k`, counted from 1, changes block `i` from `old`.
    pub(crate) fn before_change(&mut self, i: usize, k: u64, old: &Block) {
        let weight = self.weight_of(k - 1) - self.weight_of(self.since[i] - 1);
        if weight > 0.0 {
            self.scratch.add(&mut self.sums[i], weight, old, 1.0);
            self.sums[i].loss += weight * old.loss;
        }
        self.since[i] = k;
    }

    /// The average after visit `k`, where `blocks` are the iterate after that visit.
    pub(crate) fn point(&self, k: u64, blocks: &[Block]) -> DualPoint {
        if k == 0 {
            return DualPoint { blocks: blocks.to_vec() };
        }
        let total = self.weight_of(k);
        let (mut average, mut scratch) = (self.sums.clone(), Scratch::default());
        for (i, (sum, now)) in average.iter_mut().zip(blocks).enumerate() {
            let weight = total - self.weight_of(self.since[i] - 1);
            if weight == total {
                sum.clone_from(now);
                continue;
            }
            scratch.add(sum, weight, now, 1.0 / total);
            sum.loss = (sum.loss + weight * now.loss) / total;
        }
        DualPoint { blocks: average }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Problem;

    /// A changed checkpoint may put anything into a sum, also into one that the average of today leaves out.
    #[test]
    fn sums_that_no_points_add_up_to_are_rejected() {
        let problem = crate::doc::toy();
        let blocks = DualPoint::at_truth(&problem).blocks;
        let (n, dim) = (blocks.len(), problem.dim());
        let to = Fitting { problem: &problem, n, dim, passes: 1, visits: 4 };
        let fits_with = |averager: &Averager, change: &dyn Fn(&mut Averager)| {
            let mut changed = averager.clone();
            change(&mut changed);
            changed.fits(&to)
        };
        for average in [Average::Uniform, Average::Weighted] {
            let mut averager = Averager::new(n, average);
            assert!(averager.fits(&to));
            assert!(!fits_with(&averager, &|with| with.sums[0].loss = 1.0));
            assert!(!fits_with(&averager, &|with| with.sums[0] = blocks[0].clone()));
            averager.before_change(0, 3, &blocks[0]);
            assert!(averager.fits(&to));
            assert!(!fits_with(&averager, &|with| with.since[0] = 1));
            assert!(!fits_with(&averager, &|with| with.since[0] = 4));
            assert!(!fits_with(&averager, &|with| with.sums[0].loss = f64::NAN));
            let elsewhere = SparseVec::from_iter([(u64::MAX, 1.0)]);
            assert!(!fits_with(&averager, &|with| with.sums[0].parts = (&elsewhere).into()));
        }
    }
}
