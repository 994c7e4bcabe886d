//! Visits to blocks that remember their corners.

use super::active_set::{Outcome, Room, Visited};
use super::aim::{check_loss, note_curvature};
use super::atoms::Atoms;
use super::{BlockCoordinate, Mode};
use crate::dual::{DualState, Pace, Scratch};
use crate::error::TrainError;
use crate::problem::Blocks;
use crate::run::Run;

impl BlockCoordinate {
    /// Takes a remembered corner if it promises enough, otherwise the oracle's (2016, Alg. 5), and steps
    /// in a direction that knows all remembered corners (2016, Alg. 3 and 4).
    pub(super) fn visit_remembering(
        &mut self,
        run: &mut Run<'_, '_>,
        i: usize,
    ) -> Result<(), TrainError> {
        let Self { picker, mode: Mode::Remembering(sets), accuracies, .. } = self else {
            return Ok(());
        };
        let (problem, k) = (run.problem, run.totals.visits);
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
            sets.cache.count_hit(i);
        } else {
            // The oracle's corner joins the others.
            sets.cache.count_miss(i, remembered);
            if accuracies.allow_less() {
                sets.refresh(problem, i, &mut run.state.blocks[i]);
            }
            accuracies.call(run, i, k);
            note_curvature(picker, run, i);
            let (state, scratch) = run.state_and_scratch();
            let remembered = remembered.unwrap_or_else(|| sets.look(i, state, &*scratch.worker));
            let Learned { gap, has_failed } =
                sets.learn((problem, &*state), i, remembered, scratch)?;
            let has_failed = has_failed && !accuracies.allow_less();
            run.totals.oracle_failures += u64::from(has_failed);
            picker.update(i, gap);
            sets.cache.note_oracle(i, gap);
        }

        let outcome = self.step_remembering(run, i, pace)?;
        run.note_step(outcome.gamma, outcome.longest);
        Ok(())
    }

    /// Steps between the corners that block `i` remembers, whose values at the present w are known.
    pub(super) fn step_remembering(
        &mut self,
        run: &mut Run<'_, '_>,
        i: usize,
        pace: Pace,
    ) -> Result<Outcome, TrainError> {
        let Self { averager, mode: Mode::Remembering(sets), .. } = self else {
            return Ok(Outcome::default());
        };
        let (problem, direction) = (run.problem, run.settings.direction);
        // The average takes in the block as it was, and then the block moves.
        let (state, scratch) = run.state_and_scratch();
        if let Some(averager) = averager {
            sets.refresh(problem, i, &mut state.blocks[i]);
            averager.before_change(i, pace.k + 1, &state.blocks[i]);
        }
        let at = Visited { i, state, worker: &mut *scratch.worker };
        let outcome = sets.step(at, direction, pace);
        sets.cache.stats.drops += u64::from(outcome.is_some_and(|outcome| outcome.is_drop));
        sets.tidy(i);
        run.totals.cache = Some(sets.cache.stats);
        outcome.ok_or(TrainError::NotFinite { example: i })
    }
}

/// What the oracle's corner tells about a block.
pub(super) struct Learned {
    pub(super) gap: f64,
    /// Whether the oracle has found less than what was known.
    pub(super) has_failed: bool,
}

/// Adds the corner in the scratch to the atoms of block `i`, whose best one has the gap `remembered`. If an
/// inexact oracle has found less than the truth, the truth takes its place.
pub(super) fn learn(
    (problem, state): (&dyn Blocks, &DualState<'_>),
    (i, atoms): (usize, &mut Atoms),
    remembered: f64,
    scratch: &mut Scratch<'_>,
    room: &mut Room,
) -> Result<Learned, TrainError> {
    check_loss(problem, i, scratch.corner.loss)?;
    let mut add = |scratch: &Scratch<'_>| {
        let corner = (&scratch.corner.parts, scratch.corner.loss);
        let score = |parts: &_| scratch.worker.score(i, &state.w, parts);
        room.add(problem, (i, &mut *atoms), corner, score)
    };
    let mut added = add(scratch);
    let mut has_failed = added.ahead < -added.rounding;
    if !problem.quality().is_exact() && added.value < -added.rounding {
        scratch.fall_back_to_truth(problem, i);
        added = add(scratch);
        has_failed = true;
    }
    Ok(Learned { gap: (state.shares.of(i) * added.ahead).max(remembered), has_failed })
}
