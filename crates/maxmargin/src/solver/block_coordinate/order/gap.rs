//! The orders `gap` and `max-gap`: blocks are drawn by their gaps (Osokin et al., 2016, Algorithm 2).

use super::unvisited::Unvisited;
use crate::solver::block_coordinate::sum_tree::{Fold, SumTree};
use crate::util::rng::Rng;

/// Follows the last known gaps.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct GapPicker {
    tree: SumTree,
    n: usize,
    fold: Fold,
    power: f64,
    /// Blocks whose gap is not known yet. They are visited before all others, the last of them next.
    unvisited: Unvisited,
    /// With many blocks, the next one is drawn one visit early, so that `peek` can return it.
    ahead: Option<u32>,
}

/// With at least this many blocks, it does not matter that an early draw does not know the outcome of the current
/// visit.
const MANY_BLOCKS: usize = 256;

fn weight(gap: f64, power: f64) -> f64 {
    // Rounding can make a gap a little negative.
    let gap = gap.max(0.0);
    if power == 1.0 { gap } else { gap.powf(power) }
}

impl GapPicker {
    pub(super) fn new(n: usize, fold: Fold, power: f64) -> Self {
        let unvisited = Unvisited::all(n);
        Self { tree: SumTree::new(n, fold), n, fold, power, unvisited, ahead: None }
    }

    pub(super) fn next(&mut self, rng: &mut Rng) -> Option<usize> {
        if let Some(i) = self.unvisited.next(rng) {
            return Some(i);
        }
        match self.fold {
            _ if self.tree.root() <= 0.0 => None,
            Fold::Sum if self.n >= MANY_BLOCKS => {
                let drawn = self.tree.draw(rng.unit_f64());
                let next = self.ahead.replace(drawn as u32);
                Some(next.map_or(drawn, |i| i as usize))
            }
            Fold::Sum => Some(self.tree.draw(rng.unit_f64())),
            Fold::Max => Some(self.tree.largest()),
        }
    }

    /// See [`Picker::fits`](super::Picker::fits).
    pub(super) fn fits(&self, n: usize) -> bool {
        let ahead = self.ahead.is_none_or(|i| (i as usize) < n);
        self.n == n && ahead && self.unvisited.fits(n) && self.tree.fits(n, self.fold)
    }

    pub(super) fn peek(&self) -> Option<u32> {
        self.unvisited.peek().or(self.ahead)
    }

    /// Whether the tree has the gaps themselves, and those of all blocks.
    fn knows_gaps(&self) -> bool {
        self.unvisited.blocks().is_empty() && self.power == 1.0
    }

    pub(super) fn known_gap(&self) -> Option<f64> {
        let largest = self.tree.root();
        let sum = if self.fold == Fold::Sum { largest } else { self.n as f64 * largest };
        self.knows_gaps().then_some(sum)
    }

    pub(super) fn known_gaps(&self) -> Option<&[f64]> {
        self.knows_gaps().then(|| self.tree.leaves(self.n))
    }

    pub(super) fn update(&mut self, i: usize, gap: f64) {
        self.tree.set(i, weight(gap, self.power));
    }

    pub(super) fn refresh(&mut self, gaps: impl Iterator<Item = f64>) {
        self.unvisited.clear();
        self.ahead = None;
        self.tree.set_all(gaps.map(|gap| weight(gap, self.power)));
    }

    pub(super) fn hide(&mut self, i: usize) -> f64 {
        self.tree.replace(i, 0.0)
    }

    pub(super) fn show(&mut self, i: usize, weight: f64) {
        self.tree.set(i, weight);
    }
}
