//! When blocks work on what they remember, with the cache rule `exhaust`.

use super::exhaust::Exhaustion;
use super::{BlockCoordinate, Mode};
use crate::error::TrainError;
use crate::run::Run;
use crate::run::fits::Fitting;
use crate::settings::Caching;

/// A pass has this many rounds of oracle calls. More of them save few calls and take more time.
const ROUNDS: usize = 4;

/// Remembered corners are exhausted when they promise at most this share of the gap that oracles have found, or
/// of the tolerance. (With 0.1, poses take 5 % fewer calls, and shortest paths up to half as much time again.)
const ENOUGH_OF_GAP: f64 = 0.15;

/// The most sweeps over remembered corners in a round. (Fifty are too few at small λ: they take up to four times
/// the oracle calls, and more time.)
const MOST_SWEEPS: usize = 1000;

/// Work on remembered corners, and when it is due.
#[derive(Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct MemoryRounds {
    exhaustion: Exhaustion,
    /// The round of the present pass.
    round: usize,
}

impl MemoryRounds {
    pub(super) fn fits(&self, to: &Fitting<'_>) -> bool {
        self.exhaustion.fits(to)
    }
}

impl BlockCoordinate {
    /// Begins to work on remembered corners, if that is due after so many visits of a pass.
    pub(super) fn begin_memory_round(&mut self, run: &Run<'_, '_>, visits: usize) {
        let Self { mode: Mode::Remembering(sets), memory, .. } = self else { return };
        let round = visits * ROUNDS / run.examples() % ROUNDS;
        let is_over = std::mem::replace(&mut memory.round, round) != round;
        if !is_over || sets.cache.rule() != Caching::Exhaust {
            return;
        }
        // Until every block has had an oracle call, the few blocks that had one would pull w towards themselves.
        let known = sets.cache.known_gap();
        if known.is_finite() {
            let dual = run.state.dual;
            let target = ENOUGH_OF_GAP * known.max(run.settings.tolerance_at(dual));
            memory.exhaustion.begin(target, dual, MOST_SWEEPS);
        }
    }

    /// Works on remembered corners, if that has begun. Returns false if a limit comes before the end.
    pub(super) fn finish_memory_round(
        &mut self,
        run: &mut Run<'_, '_>,
    ) -> Result<bool, TrainError> {
        match self {
            Self { mode: Mode::Remembering(sets), memory, averager, .. } => {
                memory.exhaustion.go_on(run, sets, averager.as_mut())
            }
            _ => Ok(true),
        }
    }
}
