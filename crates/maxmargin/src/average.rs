//! Weighted averages of all iterates, at no cost per feature.

use crate::dual::{Block, DualPoint};
use crate::names::named_enum;
use serde::{Deserialize, Serialize};

named_enum! {
    /// Whether the result is the last iterate or an average of all of them. Either way the
    /// certificate is that of the result.
    ///
    /// ```
    /// use maxmargin::Average;
    ///
    /// assert_eq!("weighted".parse::<Average>()?, Average::Weighted);
    /// assert_eq!(Average::default().to_string(), "none");
    /// # Ok::<(), maxmargin::UnknownName>(())
    /// ```
    #[derive(Default)]
    Average("average") {
        /// The last iterate.
        #[default]
        None = "none",
        /// w̄ₖ = 2/(k(k+1)) Σ t·wₜ over the block visits t = 1 … k: later iterates count more.
        /// Often better at prediction when a run is stopped early. Not for batch Frank-Wolfe.
        Weighted = "weighted",
    }
}

/// The weighted average Σ t·μₜ / Σ t of the dual iterates, block by block.
///
/// A visit changes one block, so each block keeps the sum over the visits in which it stood still
/// only when it moves again: an update costs the block's own non-zeros, never O(d), and the average
/// of w is rebuilt from the averaged blocks when it is wanted. All terms are non-negative, so
/// nothing cancels, and the average is a point of the dual with a true gap of its own.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Averager {
    sums: Vec<Block>,
    /// The first visit since which each block has stood as it is.
    since: Vec<u64>,
}

/// 1 + 2 + … + k.
fn triangle(k: u64) -> f64 {
    0.5 * k as f64 * (k as f64 + 1.0)
}

impl Averager {
    pub(crate) fn new(n: usize) -> Self {
        Self { sums: vec![Block::default(); n], since: vec![1; n] }
    }

    /// To be called just before visit `k` (counted from 1) changes block `i` from `old`.
    pub(crate) fn before_change(&mut self, i: usize, k: u64, old: &Block) {
        let weight = triangle(k - 1) - triangle(self.since[i] - 1);
        if weight > 0.0 {
            self.sums[i].parts.add_scaled(weight, &old.parts);
            self.sums[i].loss += weight * old.loss;
        }
        self.since[i] = k;
    }

    /// The average after visit `k`, where `blocks` are the iterate after that visit.
    pub(crate) fn point(&self, k: u64, blocks: &[Block]) -> DualPoint {
        if k == 0 {
            return DualPoint { blocks: blocks.to_vec() };
        }
        let total = triangle(k);
        let mut average = self.sums.clone();
        for (i, (sum, now)) in average.iter_mut().zip(blocks).enumerate() {
            let weight = total - triangle(self.since[i] - 1);
            if weight == total {
                sum.clone_from(now);
                continue;
            }
            sum.parts.add_scaled(weight, &now.parts);
            sum.parts.scale(1.0 / total);
            sum.loss = (sum.loss + weight * now.loss) / total;
        }
        DualPoint { blocks: average }
    }
}
