//! Which block is visited next.
//!
//! A method asks its [`Picker`] for the [`next`](Picker::next) block. Orders that follow gaps learn the gap of one
//! block from each oracle call ([`update`](Picker::update)) and those of all blocks from each exact pass
//! ([`refresh`](Picker::refresh)). Orders that follow curvatures learn these from oracle calls too
//! ([`note_curvature`](Picker::note_curvature)). Visits in batches [`hide`](Picker::hide) the blocks that are
//! already picked. A `Picker` is part of checkpoints, so new variants go last.
//!
//! Many matches here have a `_` for the orders that need nothing done, so the compiler does not list all of them when
//! an order is added; CONTRIBUTING.md does.

#[cfg(test)]
mod tests;

use crate::settings::Order;
use crate::solver::block_coordinate::sum_tree::{Fold, SumTree};
use crate::util::rng::Rng;

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
        let are_blocks = |list: &[u32]| list.iter().all(|&i| (i as usize) < n);
        match self {
            Self::Uniform { n: own, ahead } => *own == n && ahead.is_none_or(|i| i < n),
            Self::Permutation { order, at } => order.len() == n && are_blocks(order) && *at <= n,
            Self::Cyclic { n: own, at } => *own == n && *at < n,
            Self::Lazy(LazyPicker { gaps, resting, sweep, .. }) => {
                gaps.len() == n && resting.len() == n && are_blocks(sweep)
            }
            Self::Gap(picker) => {
                let ahead = picker.ahead.is_none_or(|i| (i as usize) < n);
                picker.n == n
                    && ahead
                    && are_blocks(&picker.unvisited)
                    && picker.tree.fits(n, picker.fold)
            }
            Self::Curved(CurvedPicker { tree, gaps, curvatures, unvisited, .. }) => {
                gaps.len() == n
                    && curvatures.len() == n
                    && are_blocks(unvisited)
                    && tree.fits(n, Fold::Sum)
            }
        }
    }

    /// The block that [`next`](Self::next) will return, if it is known already.
    pub(crate) fn peek(&self) -> Option<usize> {
        match self {
            Self::Uniform { ahead, .. } => *ahead,
            Self::Permutation { order, at } => order.get(*at).map(|&i| i as usize),
            Self::Cyclic { at, .. } => Some(*at),
            Self::Lazy(picker) => picker.sweep.last().map(|&i| i as usize),
            Self::Gap(picker) => {
                picker.unvisited.last().copied().or(picker.ahead).map(|i| i as usize)
            }
            Self::Curved(picker) => picker.unvisited.last().map(|&i| i as usize),
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
        matches!(self, Self::Gap(_) | Self::Lazy(_) | Self::Curved(_))
    }

    /// Whether the order asks for [curvatures](Self::note_curvature).
    pub(crate) fn follows_curvature(&self) -> bool {
        matches!(self, Self::Curved(_))
    }

    /// Records the curvature that goes with a corner which the oracle of block `i` has found. The largest counts.
    pub(crate) fn note_curvature(&mut self, i: usize, curvature: f64) {
        if let Self::Curved(picker) = self {
            picker.note_curvature(i, curvature);
        }
    }

    /// Whether a sweep over all blocks that are awake ends here, after `visits` visits of a pass.
    pub(crate) fn ends_sweep(&self, n: usize, visits: usize) -> bool {
        match self {
            Self::Lazy(picker) => picker.sweep.is_empty(),
            _ => visits == n,
        }
    }

    /// The sum of the last known gaps of all blocks, or something larger. Returns `None` until every
    /// block has been visited; the order `lazy` returns it only after a sweep.
    pub(crate) fn known_gap(&self) -> Option<f64> {
        match self {
            Self::Gap(GapPicker { tree, fold, power, unvisited, n, .. })
                if unvisited.is_empty() && *power == 1.0 =>
            {
                Some(if *fold == Fold::Sum { tree.root() } else { *n as f64 * tree.root() })
            }
            Self::Lazy(picker) if picker.sweep.is_empty() => Some(picker.gaps.iter().sum()),
            _ => None,
        }
    }

    /// The last known gap of every block. Returns `None` if [`known_gap`](Self::known_gap) does.
    pub(crate) fn known_gaps(&self) -> Option<&[f64]> {
        match self {
            Self::Gap(picker) if self.known_gap().is_some() => Some(picker.tree.leaves(picker.n)),
            Self::Lazy(picker) if self.known_gap().is_some() => Some(&picker.gaps),
            _ => None,
        }
    }

    /// Records the gap that an oracle call has found in block `i`.
    pub(crate) fn update(&mut self, i: usize, gap: f64) {
        match self {
            Self::Gap(picker) => picker.tree.set(i, weight(gap, picker.power)),
            Self::Lazy(picker) => picker.update(i, gap.max(0.0)),
            Self::Curved(picker) => picker.update(i, gap.max(0.0)),
            _ => {}
        }
    }

    /// Makes sure that an order that follows gaps does not draw block `i` until it is
    /// [updated](Self::update) or [shown](Self::show). Returns what `show` needs.
    pub(crate) fn hide(&mut self, i: usize) -> f64 {
        let (tree, n) = match self {
            Self::Gap(picker) => (&mut picker.tree, picker.n),
            Self::Curved(picker) => (&mut picker.tree, picker.gaps.len()),
            _ => return 0.0,
        };
        let weight = tree.leaves(n)[i];
        tree.set(i, 0.0);
        weight
    }

    /// Undoes [`hide`](Self::hide).
    pub(crate) fn show(&mut self, i: usize, weight: f64) {
        match self {
            Self::Gap(picker) => picker.tree.set(i, weight),
            Self::Curved(picker) => picker.tree.set(i, weight),
            _ => {}
        }
    }

    /// Records the gaps of all blocks from an exact pass.
    pub(crate) fn refresh(&mut self, gaps: impl Iterator<Item = f64>) {
        match self {
            Self::Gap(picker) => {
                let power = picker.power;
                picker.unvisited.clear();
                picker.started = true;
                picker.ahead = None;
                picker.tree.set_all(gaps.map(|gap| weight(gap, power)));
            }
            Self::Lazy(picker) => picker.refresh(gaps),
            Self::Curved(picker) => picker.refresh(gaps),
            _ => {}
        }
    }
}

/// Lets blocks without a gap rest.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct LazyPicker {
    /// The last known gaps.
    gaps: Vec<f64>,
    resting: Vec<bool>,
    /// All blocks wake when the known gaps sum to this or less.
    wake_at: f64,
    /// The blocks that are left in the current sweep. The last of them is visited next.
    sweep: Vec<u32>,
}

/// Resting blocks wake when the known gaps have fallen to this share of what they were.
const WAKE_SHARE: f64 = 0.1;

/// The list of so many blocks is made anew for every sweep.
const MANY_IN_A_SWEEP: usize = 1 << 18;

impl LazyPicker {
    fn new(n: usize) -> Self {
        let (gaps, resting) = (vec![f64::INFINITY; n], vec![false; n]);
        Self { gaps, resting, wake_at: 0.0, sweep: Vec::new() }
    }

    fn next(&mut self, rng: &mut Rng) -> Option<usize> {
        if self.sweep.is_empty() {
            self.begin_sweep();
            rng.shuffle(&mut self.sweep);
        }
        let next = self.sweep.pop();
        if self.sweep.is_empty() && self.gaps.len() >= MANY_IN_A_SWEEP {
            // Exact passes, which come between sweeps, have this memory then.
            self.sweep = Vec::new();
        }
        next.map(|i| i as usize)
    }

    fn begin_sweep(&mut self) {
        let known: f64 = self.gaps.iter().sum();
        if known <= self.wake_at {
            self.resting.fill(false);
        }
        let awake = (0..).zip(&self.resting).filter(|(_, resting)| !**resting).map(|(i, _)| i);
        self.sweep.extend(awake);
        if self.sweep.len() == self.gaps.len() {
            self.wake_at = WAKE_SHARE * known;
        }
    }

    fn update(&mut self, i: usize, gap: f64) {
        self.gaps[i] = gap;
        self.resting[i] = gap <= 0.0;
    }

    fn refresh(&mut self, gaps: impl Iterator<Item = f64>) {
        for (i, gap) in gaps.enumerate() {
            self.update(i, gap.max(0.0));
        }
        self.wake_at = WAKE_SHARE * self.gaps.iter().sum::<f64>();
    }
}

/// Follows the last known gaps.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct GapPicker {
    tree: SumTree,
    n: usize,
    fold: Fold,
    power: f64,
    /// Blocks whose gap is not known yet. They are visited before all others, the last of them next.
    unvisited: Vec<u32>,
    started: bool,
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
    fn new(n: usize, fold: Fold, power: f64) -> Self {
        let unvisited = (0..n as u32).collect();
        Self { tree: SumTree::new(n, fold), n, fold, power, unvisited, started: false, ahead: None }
    }

    fn next(&mut self, rng: &mut Rng) -> Option<usize> {
        if !self.started {
            rng.shuffle(&mut self.unvisited);
            self.started = true;
        }
        if let Some(i) = self.unvisited.pop() {
            return Some(i as usize);
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
}

/// Draws blocks by their curvatures, or by what a step is sure to gain.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct CurvedPicker {
    tree: SumTree,
    by_gain: bool,
    /// The last known gaps, and the largest curvatures that were seen.
    gaps: Vec<f64>,
    curvatures: Vec<f64>,
    /// Blocks whose curvature is not known. They are visited before all others, the last of them next.
    unvisited: Vec<u32>,
    started: bool,
}

impl CurvedPicker {
    fn new(n: usize, by_gain: bool) -> Self {
        let (gaps, curvatures) = (vec![0.0; n], vec![0.0; n]);
        let unvisited = (0..n as u32).collect();
        let tree = SumTree::new(n, Fold::Sum);
        Self { tree, by_gain, gaps, curvatures, unvisited, started: false }
    }

    fn next(&mut self, rng: &mut Rng) -> Option<usize> {
        if !self.started {
            rng.shuffle(&mut self.unvisited);
            self.started = true;
        }
        if let Some(i) = self.unvisited.pop() {
            return Some(i as usize);
        }
        (self.tree.root() > 0.0).then(|| self.tree.draw(rng.unit_f64()))
    }

    /// The weight with which block `i` is drawn. A Frank-Wolfe step of size γ gains at least γg − γ²C/2.
    fn weight(&self, i: usize) -> f64 {
        let (g, c) = (self.gaps[i], self.curvatures[i]);
        match self.by_gain {
            false => c,
            true if g <= c => {
                if c > 0.0 {
                    0.5 * g * g / c
                } else {
                    0.0
                }
            }
            true => g - 0.5 * c,
        }
    }

    fn note_curvature(&mut self, i: usize, curvature: f64) {
        self.curvatures[i] = self.curvatures[i].max(curvature);
        self.tree.set(i, self.weight(i));
    }

    fn update(&mut self, i: usize, gap: f64) {
        self.gaps[i] = gap;
        self.tree.set(i, self.weight(i));
    }

    fn refresh(&mut self, gaps: impl Iterator<Item = f64>) {
        let mut is_waiting = vec![false; self.gaps.len()];
        self.unvisited.iter().for_each(|&i| is_waiting[i as usize] = true);
        for (i, gap) in gaps.enumerate() {
            self.gaps[i] = gap.max(0.0);
            // A block whose oracle has found nothing but the truth has no curvature, and would never be drawn.
            let forgotten = self.curvatures[i] == 0.0 && self.gaps[i] > 0.0;
            if forgotten && !is_waiting[i] {
                self.unvisited.push(i as u32);
            }
        }
        let weights: Vec<f64> = (0..self.gaps.len()).map(|i| self.weight(i)).collect();
        self.tree.set_all(weights.into_iter());
    }
}
