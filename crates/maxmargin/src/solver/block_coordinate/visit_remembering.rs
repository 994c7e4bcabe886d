//! Visits to blocks that remember their corners.

use super::active_set::Visited;
use super::{BlockCoordinate, Mode, check_loss};
use crate::dual::{Pace, Scratch};
use crate::error::TrainError;
use crate::run::Run;

impl BlockCoordinate {
    /// Takes a remembered corner if it promises enough, otherwise the oracle's (2016, Alg. 5), and steps
    /// in a direction that knows all remembered corners (2016, Alg. 3 and 4).
    pub(super) fn visit_remembering(
        &mut self,
        run: &mut Run<'_, '_>,
        i: usize,
    ) -> Result<(), TrainError> {
        let Self { picker, averager, mode: Mode::Remembering(sets), .. } = self else {
            return Ok(());
        };
        let (problem, k) = (run.problem, run.totals.visits);
        let direction = run.settings.direction;
        let pace = Pace { rule: run.settings.step, k, blocks: run.examples() };
        run.totals.visits += 1;

        // The best remembered corner, if the cache may answer this visit.
        let mut remembered = None;
        if sets.cache.may_hit(i) {
            let (state, scratch) = run.state_and_scratch();
            sets.prepare(i, state, &mut *scratch.worker);
            remembered = Some(sets.look(i, state, &*scratch.worker));
        }
        if remembered.is_some_and(|gap| sets.cache.is_hit(i, gap)) {
            sets.cache.stats.hits += 1;
        } else {
            // The oracle's corner joins the others.
            sets.cache.stats.misses += 1;
            run.oracle(i);
            let (state, scratch) = run.state_and_scratch();
            let remembered = remembered.unwrap_or_else(|| sets.look(i, state, &*scratch.worker));
            check_loss(problem, i, scratch.corner.loss)?;
            let mut add = |scratch: &Scratch<'_>| {
                let corner = (&scratch.corner.parts, scratch.corner.loss);
                let score = |parts: &_| scratch.worker.score(i, &state.w, parts);
                sets.add(problem, i, corner, score)
            };
            let mut added = add(scratch);
            let mut failed = added.ahead < -added.rounding;
            if !problem.quality().is_exact() && added.value < -added.rounding {
                scratch.fall_back_to_truth(problem, i);
                added = add(scratch);
                failed = true;
            }
            let gap = (state.shares.of(i) * added.ahead).max(remembered);
            run.totals.oracle_failures += u64::from(failed);
            picker.update(i, gap);
            sets.cache.note_oracle(i, gap);
        }

        // The average takes in the block as it was, and then the block moves.
        let (state, scratch) = run.state_and_scratch();
        if let Some(averager) = averager {
            sets.refresh(problem, i, &mut state.blocks[i]);
            averager.before_change(i, k + 1, &state.blocks[i]);
        }
        let at = Visited { i, state, worker: &mut *scratch.worker };
        let outcome = sets.step(at, direction, pace);
        sets.tidy(i);
        run.totals.cache = Some(sets.cache.stats);
        let outcome = outcome.ok_or(TrainError::NotFinite { example: i })?;
        run.note_step(outcome.gamma, outcome.longest);
        Ok(())
    }
}
