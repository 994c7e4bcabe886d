//! The order `lazy`: blocks without a gap rest.

use super::are_blocks;
use crate::util::rng::Rng;

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

/// With at least this many blocks, the list of a sweep gives its memory back when the sweep ends.
const MANY_IN_A_SWEEP: usize = 1 << 18;

impl LazyPicker {
    pub(super) fn new(n: usize) -> Self {
        let (gaps, resting) = (vec![f64::INFINITY; n], vec![false; n]);
        Self { gaps, resting, wake_at: 0.0, sweep: Vec::new() }
    }

    pub(super) fn next(&mut self, rng: &mut Rng) -> Option<usize> {
        if self.sweep.is_empty() {
            self.begin_sweep();
            rng.shuffle(&mut self.sweep);
        }
        let next = self.sweep.pop();
        if self.sweep.is_empty() && self.gaps.len() >= MANY_IN_A_SWEEP {
            // Exact passes come between sweeps, and can use this memory then.
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

    /// See [`Picker::fits`](super::Picker::fits).
    pub(super) fn fits(&self, n: usize) -> bool {
        self.gaps.len() == n && self.resting.len() == n && are_blocks(&self.sweep, n)
    }

    pub(super) fn peek(&self) -> Option<u32> {
        self.sweep.last().copied()
    }

    pub(super) fn ends_sweep(&self) -> bool {
        self.sweep.is_empty()
    }

    /// The last known gaps, which are of about the same age after a sweep.
    pub(super) fn known_gaps(&self) -> Option<&[f64]> {
        self.sweep.is_empty().then_some(&self.gaps)
    }

    pub(super) fn update(&mut self, i: usize, gap: f64) {
        self.gaps[i] = gap;
        self.resting[i] = gap <= 0.0;
    }

    pub(super) fn refresh(&mut self, gaps: impl Iterator<Item = f64>) {
        for (i, gap) in gaps.enumerate() {
            self.update(i, gap.max(0.0));
        }
        self.wake_at = WAKE_SHARE * self.gaps.iter().sum::<f64>();
    }
}
