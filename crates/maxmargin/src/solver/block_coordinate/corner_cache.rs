//! When a remembered corner saves an oracle call.
//!
//! A visit without an oracle call scores only the places at which remembered corners differ from the truth. So it costs
//! little even where oracles are cheap, and the cache pays for chains too. By default a block keeps at most ten idle
//! corners (the code of Osokin et al. keeps 100): more of them took time to look at and saved no calls.

use crate::observe::CacheStats;
use crate::run::fits::{Fitting, is_count};
use crate::settings::{Caching, SettingsRecord};
use crate::solver::block_coordinate::atoms::Atoms;

/// The rules of remembering.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Cache {
    rule: Caching,
    /// With the rule `auto`, whether oracles rest now, and the dual that the last pass of oracle calls
    /// gained per second.
    resting: bool,
    oracle_rate: f64,
    factor: f64,
    nu: f64,
    most_bytes: u64,
    /// The most idle corners of a block.
    most_corners: usize,
    /// The gap that the last oracle call found in each block.
    last_gaps: Vec<f64>,
    /// The last exact gap of all blocks together.
    full_gap: f64,
    pub(crate) stats: CacheStats,
}

impl Cache {
    pub(crate) fn new(settings: &SettingsRecord, n: usize) -> Self {
        Self {
            rule: settings.cache,
            resting: false,
            oracle_rate: 0.0,
            factor: settings.cache_factor,
            nu: settings.cache_nu,
            most_bytes: settings.cache_bytes,
            most_corners: settings.cache_corners,
            // Nothing is known of a block before its first oracle call, so nothing can be a hit.
            last_gaps: vec![f64::INFINITY; n],
            full_gap: f64::INFINITY,
            stats: CacheStats::default(),
        }
    }

    pub(crate) fn fits(&self, to: &Fitting<'_>) -> bool {
        let counts = [self.stats.hits, self.stats.misses];
        to.are_of_blocks(&self.last_gaps) && counts.into_iter().all(is_count)
    }

    pub(crate) fn rule(&self) -> Caching {
        self.rule
    }

    /// Changes the rule from now on.
    pub(crate) fn set_rule(&mut self, rule: Caching) {
        self.rule = rule;
    }

    /// Keeps at most so many idle corners of a block from now on.
    pub(crate) fn remember_at_most(&mut self, corners: usize) {
        self.most_corners = self.most_corners.min(corners);
    }

    /// The sum of the gaps that the last oracle call of each block has found. It tends to be too large, and it is
    /// infinite until every block has had its first call.
    pub(crate) fn known_gap(&self) -> f64 {
        self.last_gaps.iter().sum()
    }

    /// Decides for the rule `auto` whether the next pass calls oracles, after a pass that gained `rate`
    /// dual per second. Oracles rest while passes over remembered corners gain more than the last pass of
    /// oracle calls did.
    pub(crate) fn choose_turn(&mut self, rate: f64) {
        if self.rule != Caching::Auto {
            return;
        }
        if self.resting {
            self.resting = rate > self.oracle_rate;
        } else {
            (self.resting, self.oracle_rate) = (true, rate);
        }
    }

    /// Whether a remembered corner may serve block `i`, so that it pays to look for one.
    pub(crate) fn may_hit(&self, i: usize) -> bool {
        match self.rule {
            Caching::Off | Caching::Exhaust => false,
            Caching::Auto => self.resting,
            Caching::On => self.last_gaps[i].is_finite(),
        }
    }

    /// Whether a remembered corner with this gap is good enough for block `i`.
    pub(crate) fn is_hit(&self, i: usize, gap: f64) -> bool {
        match self.rule {
            Caching::Off | Caching::Exhaust => false,
            Caching::Auto => self.resting,
            Caching::On => {
                let (local, global) = self.thresholds(i);
                gap > 0.0 && gap >= local.max(global)
            }
        }
    }

    /// Counts a visit that a remembered corner has served, under the stricter of the two criteria.
    pub(crate) fn count_hit(&mut self, i: usize) {
        self.stats.hits += 1;
        let (local, global) = self.thresholds(i);
        self.stats.local_hits += u64::from(self.rule == Caching::On && local >= global);
    }

    /// Counts a visit that has called the oracle. If its best remembered corner was looked at, `remembered` is the
    /// gap of that corner, and the criterion that it has failed is counted too.
    pub(crate) fn count_miss(&mut self, i: usize, remembered: Option<f64>) {
        self.stats.misses += 1;
        let Some(gap) = remembered.filter(|_| self.rule == Caching::On) else { return };
        let (local, global) = self.thresholds(i);
        match (gap >= local, gap >= global) {
            (false, true) => self.stats.local_misses += 1,
            (true, false) => self.stats.global_misses += 1,
            _ => {}
        }
    }

    /// What a remembered corner of block `i` must promise: the share F of the block's gap at its last oracle call,
    /// and ν/n of the last exact gap.
    fn thresholds(&self, i: usize) -> (f64, f64) {
        let n = self.last_gaps.len() as f64;
        // Before the first exact pass the gap of all blocks is infinite, and infinity times 0 would be NaN.
        let global = if self.nu > 0.0 { self.nu / n * self.full_gap } else { 0.0 };
        (self.factor * self.last_gaps[i], global)
    }

    /// Records the gap that an oracle call has found.
    pub(crate) fn note_oracle(&mut self, i: usize, gap: f64) {
        self.last_gaps[i] = gap.max(0.0);
    }

    /// Records the gaps of an exact pass.
    pub(crate) fn note_exact(&mut self, gaps: impl Iterator<Item = f64>) {
        self.full_gap = 0.0;
        for (last, gap) in self.last_gaps.iter_mut().zip(gaps) {
            *last = gap.max(0.0);
            self.full_gap += gap;
        }
    }

    /// Updates the statistics for a block whose memory has changed.
    pub(crate) fn note_size(&mut self, before: Size, now: Size) {
        // The size before may come from a checkpoint, which may have been changed.
        let changed =
            |all: u64, now: u64, before: u64| all.saturating_add(now).saturating_sub(before);
        self.stats.corners = changed(self.stats.corners, now.corners, before.corners);
        self.stats.active = changed(self.stats.active, now.active, before.active);
        self.stats.bytes = changed(self.stats.bytes, now.bytes, before.bytes);
    }

    /// Forgets idle corners: all of them without a cache, otherwise those of the lowest value until the
    /// limits are kept. Corners with mass are never touched.
    pub(crate) fn tidy(&mut self, atoms: &mut Atoms, mut before: Size) {
        loop {
            let now = Size::of(atoms);
            self.note_size(before, now);
            before = now;
            let (lowest, idle) = atoms.worst_idle();
            let full = idle > self.most_corners || self.stats.bytes > self.most_bytes;
            let Some(at) = lowest.filter(|_| full || self.rule == Caching::Off) else { return };
            atoms.remove(at);
        }
    }
}

/// What a block's memory takes.
#[derive(Debug, Clone, Copy, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Size {
    corners: u64,
    active: u64,
    bytes: u64,
}

impl Size {
    pub(crate) fn of(atoms: &Atoms) -> Self {
        let active = atoms.active().count() as u64;
        Self { corners: atoms.len() as u64, active, bytes: atoms.bytes() as u64 }
    }
}
