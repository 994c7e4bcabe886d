//! Batches: the oracles of several blocks run side by side at one w; then the blocks step one after another.
//!
//! A corner that was found at an older w is still a corner, and every step has its own exact line search at
//! the w of its moment. So the dual never falls, whatever the size of a batch. Everything that does not need
//! the newest w happens side by side: the oracle, the direction, its length, and its features. What is left
//! to do in turn is one inner product with w and one sparse update of w.
//!
//! The size of batches does not depend on the number of threads, so the same seed gives the same bits on any number of
//! threads. An adaptive size follows the share of the promised slopes that is left when the steps are taken. That share
//! does not depend on the clock either.

mod slot;

use super::crew::Crew;
use super::{BlockCoordinate, Mode};
use crate::dual::{Pace, has_own_length};
use crate::error::TrainError;
use crate::run::Run;
use crate::run::fits::Fitting;
use slot::Slot;
use std::time::Instant;

/// The first and the largest size of adaptive batches.
const FIRST_SIZE: usize = 8;
const LARGEST_SIZE: usize = 64;

/// An adaptive batch takes at most one in this many of all blocks. The first one takes one in this many of the blocks
/// that were visited before.
const LARGEST_SHARE: usize = 8;

/// When the size of batches changes.
#[derive(Debug, Clone, Copy)]
struct Growth {
    /// Batches grow if at least the first share of the promised slopes is left when steps are taken, and shrink if less
    /// than the second share is left.
    to_grow: f64,
    to_shrink: f64,
    /// How often that is looked at in a pass.
    looks: usize,
}

/// Where calls are short, every further call costs about as much as threads can save.
const CAREFUL: Growth = Growth { to_grow: 0.9, to_shrink: 0.8, looks: 1 };

/// Where calls take very long, larger batches pay on several threads although they need more calls. (On 2000 poses, this
/// takes 1.08 times the calls, in batches of up to 16 instead of 4. On chunks, whose calls are short, it takes 1.16 times
/// the calls and 1.2 times as long on one thread, with four looks in a pass both times.)
const EAGER: Growth = Growth { to_grow: 0.7, to_shrink: 0.5, looks: 4 };

/// The size is adapted after at least so many visits, or at the end of a pass.
const LEAST_VISITS: usize = 64;

/// Threads get at least so many seconds of oracle calls at once, as far as the first calls tell.
const LEAST_WORK: f64 = 20e-6;

/// A direction is found anew if less than this share of its slope is left when the step is taken.
const FRESH_SHARE: f64 = 0.9;

/// The size of batches, and how well the last ones went.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Batches {
    size: usize,
    adapts: bool,
    /// Whether calls take so long that larger batches are worth some more of them.
    is_eager: bool,
    /// What steps promised when their directions were found, and what was left of it when they were taken, since the size
    /// was last adapted; and the number of visits since then.
    promised: f64,
    left: f64,
    visits: usize,
    /// Whether only the problem itself can compute scores, as with a kernel.
    has_own_scores: bool,
    #[cfg_attr(feature = "serde", serde(skip))]
    slots: Vec<Slot>,
    /// Chooses how many threads work on a batch. It is made with the first batch.
    #[cfg_attr(feature = "serde", serde(skip))]
    crew: Option<Crew>,
}

impl Batches {
    /// Batches of a fixed size, or of an adaptive size if `size` is 0. With an adaptive size, the first pass begins
    /// block by block, because everything still changes with every step.
    pub(super) fn new(size: usize, has_own_scores: bool) -> Self {
        let (adapts, size) = (size == 0, size.max(1));
        Self {
            size,
            adapts,
            is_eager: false,
            promised: 0.0,
            left: 0.0,
            visits: 0,
            has_own_scores,
            slots: Vec::new(),
            crew: None,
        }
    }

    pub(super) fn fits(&self, to: &Fitting<'_>) -> bool {
        let has_own_scores = has_own_length(to.problem);
        self.size <= u32::MAX as usize && self.has_own_scores == has_own_scores
    }

    /// Whether batches may begin early, after exactly this many visits of the first pass.
    pub(super) fn may_begin_after(&self, visits: usize) -> bool {
        self.wait() && visits == LARGEST_SHARE * FIRST_SIZE
    }

    /// Whether batches are still to begin.
    pub(super) fn wait(&self) -> bool {
        self.adapts && self.size == 1
    }

    /// Begins with batches, which grow eagerly where calls take very long.
    pub(super) fn begin(&mut self, is_eager: bool) {
        (self.size, self.is_eager) = (FIRST_SIZE, is_eager);
    }

    /// Whether the size is 1 for good.
    pub(super) fn is_single(&self) -> bool {
        self.size == 1 && !self.adapts
    }

    /// Visits blocks one by one from now on.
    pub(super) fn stay_single(&mut self) {
        (self.size, self.adapts) = (1, false);
    }

    /// The size of the next batch, out of `n` blocks, with `rest` visits left in the pass.
    pub(super) fn next_size(&self, n: usize, rest: usize) -> usize {
        let most = if self.adapts { n / LARGEST_SHARE } else { n };
        self.size.min(most).min(rest).max(1)
    }

    /// Counts visits to some of `n` blocks, and adapts the size if that is due within a pass.
    fn note_visits(&mut self, visits: usize, n: usize) {
        self.visits = self.visits.saturating_add(visits);
        let looks = self.growth().looks;
        if looks > 1 && self.visits >= LEAST_VISITS.max(n / looks) {
            self.adapt();
        }
    }

    /// Adapts the size, as at the end of a pass.
    pub(super) fn adapt(&mut self) {
        self.visits = 0;
        let share = std::mem::take(&mut self.left) / std::mem::take(&mut self.promised);
        if !self.adapts || self.wait() {
            return;
        }
        if share >= self.growth().to_grow {
            self.size = (2 * self.size).min(LARGEST_SIZE);
        } else if share < self.growth().to_shrink {
            self.size = (self.size / 2).max(2);
        }
    }

    fn growth(&self) -> Growth {
        if self.is_eager { EAGER } else { CAREFUL }
    }
}

impl BlockCoordinate {
    /// The size of the next batch, after so many `visits` of a pass over `n` blocks.
    pub(super) fn batch_size(&self, n: usize, visits: usize) -> usize {
        match self.mode {
            Mode::Simplices(_) => 1,
            _ => self.batches.next_size(n, n - visits),
        }
    }

    /// Visits up to `size` different blocks as one batch. Returns how many.
    pub(super) fn visit_batch(
        &mut self,
        run: &mut Run<'_, '_>,
        size: usize,
    ) -> Result<usize, TrainError> {
        let begin = Instant::now();
        let mut slots = std::mem::take(&mut self.batches.slots);
        slots.resize_with(size.max(slots.len()), Slot::default);
        let picked = self.pick(&mut slots[..size]);
        self.find_directions(run, &mut slots[..picked]);
        let mut outcome = Ok(picked);
        for (at, slot) in slots[..picked].iter_mut().enumerate() {
            let settled = match slot.error.take() {
                Some(error) => Err(error),
                None => self.settle(run, slot, at > 0),
            };
            if let (Err(error), Ok(_)) = (settled, &outcome) {
                outcome = Err(error);
            }
        }
        self.batches.slots = slots;
        self.batches.note_visits(picked, run.examples());
        if let Some(crew) = &mut self.batches.crew {
            crew.note(picked, begin.elapsed().as_secs_f64());
        }
        outcome
    }

    /// Picks different blocks. Returns how many.
    fn pick(&mut self, slots: &mut [Slot]) -> usize {
        let mut picked = 0;
        for _ in 0..2 * slots.len() {
            if picked == slots.len() {
                break;
            }
            let Some(i) = self.picker.next(&mut self.rng) else { break };
            if slots[..picked].iter().all(|slot| slot.i != i) {
                slots[picked].i = i;
                // Hide the block, so that it is drawn once. Its visit brings back what is known of its gap.
                slots[picked].hidden = self.picker.hide(i);
                slots[picked].asks_curvature = self.picker.follows_curvature();
                picked += 1;
            }
        }
        picked
    }

    /// Finds a direction for every block, side by side, at the present w.
    fn find_directions(&mut self, run: &mut Run<'_, '_>, slots: &mut [Slot]) {
        let direction = run.settings.direction;
        let crew = self.batches.crew.get_or_insert_with(|| Crew::new(run.threads()));
        // A thread that gets less work than this is not worth waking. That changes no bit.
        let work = run.undisturbed_call() * slots.len() as f64;
        let threads = crew.threads().min((work / LEAST_WORK) as usize).max(1);
        match &mut self.mode {
            Mode::Remembering(sets) => {
                slots.iter_mut().for_each(|slot| slot.atoms = sets.lend(slot.i));
                let cache = &sets.cache;
                run.batch_oracles(slots, threads, |problem, state, scratch, slot| {
                    let found = slot.find_remembering(problem, state, cache, direction, scratch);
                    slot.error = found.err();
                });
            }
            _ => run.batch_oracles(slots, threads, |problem, state, scratch, slot| {
                slot.error = slot.find_plain(problem, state, scratch).err();
            }),
        }
        let calls = slots.iter().filter(|slot| slot.gap.is_some()).count();
        run.totals.oracle_calls += calls as u64;
    }

    /// Takes the step that a block has planned, as far as it is good at the present w.
    fn settle(
        &mut self,
        run: &mut Run<'_, '_>,
        slot: &mut Slot,
        counts: bool,
    ) -> Result<(), TrainError> {
        // Count the visit, and tell the order what the oracle has found.
        let (problem, i, k) = (run.problem, slot.i, run.totals.visits);
        run.totals.visits += 1;
        run.totals.oracle_failures += u64::from(slot.has_failed);
        match slot.gap {
            Some(gap) => {
                self.picker.note_curvature(i, slot.curvature);
                self.picker.update(i, gap);
            }
            None => self.picker.show(i, slot.hidden),
        }

        // The slope at the present w, and how far it is good to go.
        let pace = Pace { rule: run.settings.step, k, blocks: run.examples() };
        let (state, scratch) = run.state_and_scratch();
        let plan = &slot.plan;
        let slope = if self.batches.has_own_scores {
            scratch.worker.prepare(i, &state.w);
            state.shares.of(i) * (plan.loss + slot.score(i, state, scratch))
        } else {
            plan.slope_at(i, state)
        };
        let stride = state.stride_along(&plan.terms, slope, plan.curvature, plan.longest, pace);
        let stride = stride.ok_or(TrainError::NotFinite { example: i })?;
        if counts {
            self.batches.promised += plan.slope.max(0.0);
            self.batches.left += slope.clamp(0.0, plan.slope.max(0.0));
        }

        // Much has changed since the direction was found, so a block that remembers corners looks at them
        // again.
        if matches!(self.mode, Mode::Remembering(_)) && slope < FRESH_SHARE * slot.plan.slope {
            return self.settle_afresh(run, slot, pace);
        }

        // The average takes in the block as it was. Then the block moves, and w and D follow.
        let gamma = stride.gamma;
        if gamma > 0.0 {
            if let Some(averager) = &mut self.averager {
                if let Mode::Remembering(sets) = &mut self.mode {
                    sets.refresh_lent(problem, i, &slot.atoms, &mut state.blocks[i]);
                }
                averager.before_change(i, k + 1, &state.blocks[i]);
            }
            state.follow_along(&plan.terms, stride);
        }
        match &mut self.mode {
            Mode::Remembering(sets) => {
                slot.give_back(sets, gamma);
                sets.tidy(i);
                run.totals.cache = Some(sets.cache.stats);
            }
            mode => {
                if gamma > 0.0 {
                    state.move_block(i, &slot.step, &slot.corner, gamma);
                    mode.note_step(problem, i, &slot.corner, gamma);
                }
                mode.note_gap(run, i, slot.gap.unwrap_or_default());
            }
        }
        run.note_step(gamma, slot.plan.longest);
        Ok(())
    }

    /// Steps between the corners of a block, whose values are computed again at the present w.
    fn settle_afresh(
        &mut self,
        run: &mut Run<'_, '_>,
        slot: &mut Slot,
        pace: Pace,
    ) -> Result<(), TrainError> {
        if let Mode::Remembering(sets) = &mut self.mode {
            slot.give_back(sets, 0.0);
            let (state, scratch) = run.state_and_scratch();
            sets.prepare(slot.i, state, &mut *scratch.worker);
            sets.look(slot.i, state, &*scratch.worker);
        }
        let outcome = self.step_remembering(run, slot.i, pace)?;
        run.note_step(outcome.gamma, outcome.longest);
        Ok(())
    }
}
