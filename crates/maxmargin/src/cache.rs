//! Remembering what oracles have said.

use crate::atoms::Atoms;
use crate::names::named_enum;
use serde::{Deserialize, Serialize};

named_enum! {
    /// Whether corners that oracles have found are kept and used again.
    #[derive(Default)]
    Caching("cache") {
        /// Every visit calls its oracle.
        #[default]
        Off = "off",
        /// A visit uses a remembered corner if that promises enough: at least a share F of the
        /// block's gap at its last oracle call, and ν/n of the last exact gap.
        On = "on",
    }
}

/// How a cache has done so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheStats {
    /// Visits that were served by a remembered corner.
    pub hits: u64,
    /// Visits that called the oracle.
    pub misses: u64,
    /// Corners remembered now, those that carry mass included.
    pub corners: u64,
    /// Bytes they take.
    pub bytes: u64,
}

/// Corners a block remembers at most, besides those that carry mass: looking through more of them
/// would take longer than it saves.
const MOST_PER_BLOCK: usize = 100;

/// The rules of remembering.
#[derive(Debug, Clone)]
pub(crate) struct Cache {
    /// Whether corners without mass are kept at all.
    enabled: bool,
    factor: f64,
    nu: f64,
    most_bytes: usize,
    /// The gap that the last oracle call has found in each block.
    last_gaps: Vec<f64>,
    /// The last exact gap of all blocks together.
    full_gap: f64,
    pub(crate) stats: CacheStats,
}

impl Cache {
    pub(crate) fn new(caching: Caching, n: usize, factor: f64, nu: f64, most_bytes: usize) -> Self {
        Self {
            enabled: caching == Caching::On,
            factor,
            nu,
            most_bytes,
            // Nothing is known of a block until its first oracle call, so nothing can be a hit.
            last_gaps: vec![f64::INFINITY; n],
            full_gap: f64::INFINITY,
            stats: CacheStats::default(),
        }
    }

    /// Whether a remembered corner with this gap will do for block `i`.
    pub(crate) fn is_hit(&self, i: usize, gap: f64) -> bool {
        let n = self.last_gaps.len() as f64;
        let enough = (self.factor * self.last_gaps[i]).max(self.nu / n * self.full_gap);
        self.enabled && gap > 0.0 && gap >= enough
    }

    /// Takes note of what an oracle call has found.
    pub(crate) fn note_oracle(&mut self, i: usize, gap: f64) {
        self.last_gaps[i] = gap.max(0.0);
    }

    /// Takes note of an exact pass.
    pub(crate) fn note_exact(&mut self, gaps: impl Iterator<Item = f64>) {
        self.full_gap = 0.0;
        for (last, gap) in self.last_gaps.iter_mut().zip(gaps) {
            *last = gap.max(0.0);
            self.full_gap += gap;
        }
    }

    /// Takes note of a corner that was added.
    pub(crate) fn note_added(&mut self, bytes: usize) {
        self.stats.corners += 1;
        self.stats.bytes += bytes as u64;
    }

    /// Forgets corners without mass: all of them without a cache, else those of the lowest value
    /// until the bounds are kept. Corners with mass are never touched.
    pub(crate) fn tidy(&mut self, atoms: &mut Atoms) {
        loop {
            let idle = atoms.list.iter().enumerate().filter(|(_, atom)| atom.mass == 0.0);
            let (mut count, mut lowest): (usize, Option<(usize, f64)>) = (0, None);
            for (at, atom) in idle {
                count += 1;
                if lowest.is_none_or(|(_, value)| atom.value < value) {
                    lowest = Some((at, atom.value));
                }
            }
            let full = count > MOST_PER_BLOCK || self.stats.bytes > self.most_bytes as u64;
            let Some((at, _)) = lowest.filter(|_| full || !self.enabled) else { return };
            let bytes = atoms.remove(at).bytes() as u64;
            self.stats.corners -= 1;
            self.stats.bytes = self.stats.bytes.saturating_sub(bytes);
        }
    }
}
