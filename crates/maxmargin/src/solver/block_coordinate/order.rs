//! Which block is visited next.
//!
//! A method asks its [`Picker`] for the [`next`](Picker::next) block. Orders that follow gaps learn the gap of one
//! block from each oracle call ([`update`](Picker::update)) and those of all blocks from each exact pass
//! ([`refresh`](Picker::refresh)). Orders that follow curvatures learn these from oracle calls too
//! ([`note_curvature`](Picker::note_curvature)). Visits in batches [`hide`](Picker::hide) the blocks that are
//! already picked. A `Picker` is part of checkpoints, so new variants go last.
//!
//! No match here has a `_`, so that the compiler names every place where a new order has to say what it does.

mod curved;
mod gap;
mod lazy;
#[cfg(test)]
mod tests;
mod unvisited;

use crate::settings::Order;
use crate::solver::block_coordinate::sum_tree::Fold;
use crate::util::rng::Rng;
use curved::CurvedPicker;
use gap::GapPicker;
use lazy::LazyPicker;

/// An [`Order`] at work.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum Picker {
    /// `ahead` is drawn one visit early, so that `peek` can return it.
    Uniform {
        n: usize,
        ahead: Option<usize>,
    },
    /// `order[at..]` is what remains of the current pass.
    Permutation {
        order: Vec<u32>,
        at: usize,
    },
    Cyclic {
        n: usize,
        at: usize,
    },
    Lazy(LazyPicker),
    Gap(GapPicker),
    Curved(CurvedPicker),
}

impl Picker {
    /// `power` is the exponent on the gaps, for the orders that follow them.
    pub(crate) fn new(order: Order, n: usize, power: f64) -> Self {
        match order {
            Order::Uniform => Self::Uniform { n, ahead: None },
            Order::Permutation => Self::Permutation { order: (0..n as u32).collect(), at: n },
            Order::Cyclic => Self::Cyclic { n, at: 0 },
            Order::Lazy => Self::Lazy(LazyPicker::new(n)),
            Order::Gap => Self::Gap(GapPicker::new(n, Fold::Sum, power)),
            Order::MaxGap => Self::Gap(GapPicker::new(n, Fold::Max, power)),
            Order::Curvature => Self::Curved(CurvedPicker::new(n, false)),
            Order::GapCurvature => Self::Curved(CurvedPicker::new(n, true)),
        }
    }

    /// Whether this can be the picker of `n` blocks. A checkpoint that was changed may hold another one.
    pub(crate) fn fits(&self, n: usize) -> bool {
        match self {
            Self::Uniform { n: own, ahead } => *own == n && ahead.is_none_or(|i| i < n),
            Self::Permutation { order, at } => order.len() == n && are_blocks(order, n) && *at <= n,
            Self::Cyclic { n: own, at } => *own == n && *at < n,
            Self::Lazy(picker) => picker.fits(n),
            Self::Gap(picker) => picker.fits(n),
            Self::Curved(picker) => picker.fits(n),
        }
    }

    /// The block that [`next`](Self::next) will return, if it is known already.
    pub(crate) fn peek(&self) -> Option<usize> {
        match self {
            Self::Uniform { ahead, .. } => *ahead,
            Self::Permutation { order, at } => order.get(*at).map(|&i| i as usize),
            Self::Cyclic { at, .. } => Some(*at),
            Self::Lazy(picker) => picker.peek().map(|i| i as usize),
            Self::Gap(picker) => picker.peek().map(|i| i as usize),
            Self::Curved(picker) => picker.peek().map(|i| i as usize),
        }
    }

    /// The next block to visit. Returns `None` if all known gaps are zero, so that only an exact pass can
    /// tell where there is something to gain.
    pub(crate) fn next(&mut self, rng: &mut Rng) -> Option<usize> {
        match self {
            Self::Uniform { n, ahead } => {
                let i = ahead.take().unwrap_or_else(|| rng.below(*n));
                *ahead = Some(rng.below(*n));
                Some(i)
            }
            Self::Permutation { order, at } => {
                if *at == order.len() {
                    rng.shuffle(order);
                    *at = 0;
                }
                *at += 1;
                Some(order[*at - 1] as usize)
            }
            Self::Cyclic { n, at } => {
                let i = *at;
                *at = (i + 1) % *n;
                Some(i)
            }
            Self::Lazy(picker) => picker.next(rng),
            Self::Gap(picker) => picker.next(rng),
            Self::Curved(picker) => picker.next(rng),
        }
    }

    /// Whether the order follows block gaps.
    pub(crate) fn follows_gaps(&self) -> bool {
        match self {
            Self::Uniform { .. } | Self::Permutation { .. } | Self::Cyclic { .. } => false,
            Self::Lazy(_) | Self::Gap(_) | Self::Curved(_) => true,
        }
    }

    /// Whether the order asks for [curvatures](Self::note_curvature).
    pub(crate) fn follows_curvature(&self) -> bool {
        match self {
            Self::Uniform { .. } | Self::Permutation { .. } | Self::Cyclic { .. } => false,
            Self::Lazy(_) | Self::Gap(_) => false,
            Self::Curved(_) => true,
        }
    }

    /// Records the curvature that goes with a corner which the oracle of block `i` has found. The largest counts.
    pub(crate) fn note_curvature(&mut self, i: usize, curvature: f64) {
        match self {
            Self::Uniform { .. } | Self::Permutation { .. } | Self::Cyclic { .. } => {}
            Self::Lazy(_) | Self::Gap(_) => {}
            Self::Curved(picker) => picker.note_curvature(i, curvature),
        }
    }

    /// Whether a sweep over all blocks that are awake ends here, after `visits` visits of a pass.
    pub(crate) fn ends_sweep(&self, n: usize, visits: usize) -> bool {
        match self {
            Self::Lazy(picker) => picker.ends_sweep(),
            Self::Uniform { .. } | Self::Permutation { .. } | Self::Cyclic { .. } => visits == n,
            Self::Gap(_) | Self::Curved(_) => visits == n,
        }
    }

    /// The sum of the last known gaps of all blocks, or something larger. Returns `None` until every
    /// block has been visited; the order `lazy` returns it only after a sweep.
    pub(crate) fn known_gap(&self) -> Option<f64> {
        match self {
            Self::Uniform { .. } | Self::Permutation { .. } | Self::Cyclic { .. } => None,
            Self::Lazy(picker) => picker.known_gaps().map(|gaps| gaps.iter().sum()),
            Self::Gap(picker) => picker.known_gap(),
            Self::Curved(_) => None,
        }
    }

    /// The last known gap of every block. Returns `None` if [`known_gap`](Self::known_gap) does.
    pub(crate) fn known_gaps(&self) -> Option<&[f64]> {
        match self {
            Self::Uniform { .. } | Self::Permutation { .. } | Self::Cyclic { .. } => None,
            Self::Lazy(picker) => picker.known_gaps(),
            Self::Gap(picker) => picker.known_gaps(),
            Self::Curved(_) => None,
        }
    }

    /// Records the gap that an oracle call has found in block `i`.
    pub(crate) fn update(&mut self, i: usize, gap: f64) {
        match self {
            Self::Uniform { .. } | Self::Permutation { .. } | Self::Cyclic { .. } => {}
            Self::Lazy(picker) => picker.update(i, gap.max(0.0)),
            Self::Gap(picker) => picker.update(i, gap),
            Self::Curved(picker) => picker.update(i, gap.max(0.0)),
        }
    }

    /// Makes sure that an order that draws by a weight does not draw block `i` until it is
    /// [updated](Self::update) or [shown](Self::show). Returns what `show` needs.
    pub(crate) fn hide(&mut self, i: usize) -> f64 {
        match self {
            Self::Uniform { .. } | Self::Permutation { .. } | Self::Cyclic { .. } => 0.0,
            Self::Lazy(_) => 0.0,
            Self::Gap(picker) => picker.hide(i),
            Self::Curved(picker) => picker.hide(i),
        }
    }

    /// Undoes [`hide`](Self::hide).
    pub(crate) fn show(&mut self, i: usize, weight: f64) {
        match self {
            Self::Uniform { .. } | Self::Permutation { .. } | Self::Cyclic { .. } => {}
            Self::Lazy(_) => {}
            Self::Gap(picker) => picker.show(i, weight),
            Self::Curved(picker) => picker.show(i, weight),
        }
    }

    /// Records the gaps of all blocks from an exact pass.
    pub(crate) fn refresh(&mut self, gaps: impl Iterator<Item = f64>) {
        match self {
            Self::Uniform { .. } | Self::Permutation { .. } | Self::Cyclic { .. } => {}
            Self::Lazy(picker) => picker.refresh(gaps),
            Self::Gap(picker) => picker.refresh(gaps),
            Self::Curved(picker) => picker.refresh(gaps),
        }
    }
}

/// Whether these are numbers of blocks.
fn are_blocks(list: &[u32], n: usize) -> bool {
    list.iter().all(|&i| (i as usize) < n)
}
