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
            && self.sums.iter().all(|sum| sum.parts.is_normalised())
            && to.are_points(&self.point(to.visits, to.blocks).blocks)
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
