//! When blocks work on what they remember: steps of all blocks together after each pass (`extrapolation/`), rounds of
//! exhausting with the cache rule `exhaust` (`exhaust.rs`), and the corners of exact passes, which are known anyway.

use super::exhaust::Exhaustion;
use super::extrapolation::Extrapolation;
use super::{BlockCoordinate, Mode};
use crate::error::TrainError;
use crate::problem::Blocks;
use crate::run::Run;
use crate::run::fits::Fitting;
use crate::settings::{Caching, Direction, SettingsRecord, Step};

/// A pass has this many rounds of oracle calls. More of them save few calls and take more time.
const ROUNDS: usize = 4;

/// Remembered corners are exhausted when they promise at most this share of the gap that oracles have found, or
/// of the tolerance. (With 0.1, poses take 5 % fewer calls, and shortest paths up to half as much time again.)
const ENOUGH_OF_GAP: f64 = 0.15;

/// The most sweeps over remembered corners in a round, joint steps included. (Fifty are too few at small λ: they take up to four times
/// the oracle calls, and more time.)
const MOST_SWEEPS: usize = 1000;

/// Work on remembered corners, and when it is due.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct MemoryRounds {
    exhaustion: Exhaustion,
    /// The round of the present pass.
    round: usize,
    /// Whether visits move mass between all corners of a block, with line searches. Only runs with
    /// such visits do the work of this module.
    is_corrective: bool,
    /// Steps of all blocks together after each pass, if lengths and inner products of weights are what they seem.
    extrapolation: Option<Extrapolation>,
}

impl MemoryRounds {
    pub(super) fn new(settings: &SettingsRecord, problem: &dyn Blocks) -> Self {
        let is_corrective = matches!(settings.direction, Direction::Corrective | Direction::Staged)
            && settings.step == Step::LineSearch;
        let extrapolation = is_corrective.then(|| Extrapolation::for_problem(problem)).flatten();
        Self { exhaustion: Exhaustion::default(), round: 0, is_corrective, extrapolation }
    }

    pub(super) fn fits(&self, to: &Fitting<'_>) -> bool {
        let extrapolates = |extrapolation: &Extrapolation| extrapolation.fits(to);
        self.exhaustion.fits(to) && self.extrapolation.as_ref().is_none_or(extrapolates)
    }
}

impl BlockCoordinate {
    /// Begins to work on remembered corners, if that is due after so many visits of a pass.
    pub(super) fn begin_memory_round(&mut self, run: &mut Run<'_, '_>, visits: usize) {
        let Self { mode: Mode::Remembering(sets), memory, averager, .. } = self else { return };
        let round = visits * ROUNDS / run.examples() % ROUNDS;
        let is_over = std::mem::replace(&mut memory.round, round) != round;
        if !is_over {
            return;
        }
        match &mut memory.extrapolation {
            _ if sets.cache.rule() == Caching::Exhaust => self.exhaust_memory(run),
            Some(extrapolation) if round == 0 => extrapolation.step(run, sets, averager.as_mut()),
            _ => {}
        }
    }

    /// Begins to work on remembered corners.
    fn exhaust_memory(&mut self, run: &Run<'_, '_>) {
        let Self { mode: Mode::Remembering(sets), memory, .. } = self else { return };
        // Until every block has had an oracle call, the few blocks that had one would pull w towards themselves.
        let known = sets.cache.known_gap();
        if known.is_finite() {
            let dual = run.state.dual;
            let target = ENOUGH_OF_GAP * known.max(run.settings.tolerance_at(dual));
            memory.exhaustion.begin(target, dual, MOST_SWEEPS);
        }
    }

    /// Whether an exact pass is to keep its corners, because blocks can use them.
    pub(super) fn uses_exact_corners(&self) -> bool {
        let Self { mode: Mode::Remembering(sets), memory, .. } = self else { return false };
        memory.is_corrective && sets.cache.rule() != Caching::Off
    }

    /// Lets all blocks remember the corners that an exact pass has found at the present w.
    pub(super) fn learn_exact_corners(&mut self, run: &mut Run<'_, '_>) {
        let corners = run.take_corners();
        if corners.is_empty() {
            return;
        }
        if let Mode::Remembering(sets) = &mut self.mode {
            sets.learn_exact(run, corners);
            if sets.cache.rule() == Caching::Exhaust {
                self.exhaust_memory(run);
            }
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
