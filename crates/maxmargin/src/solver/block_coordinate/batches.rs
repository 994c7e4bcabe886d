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

use super::active_set::{ActiveSets, MOST_MOVES, Room, look, shift_masses};
use super::atoms::{Atoms, Ruler};
use super::corner_cache::Cache;
use super::crew::Crew;
use super::kinds::{Ends, Kind};
use super::visit_remembering::learn;
use super::{BlockCoordinate, Mode, aim_at_corner, curvature_of};
use crate::dual::has_own_length;
use crate::dual::{Corner, DualState, Move, Pace, Scratch};
use crate::error::TrainError;
use crate::problem::Blocks;
use crate::problem::sparse::SparseVec;
use crate::run::Run;
use crate::run::fits::Fitting;
use crate::settings::Direction;
use std::time::Instant;

/// The first and the largest size of adaptive batches.
const FIRST_SIZE: usize = 8;
const LARGEST_SIZE: usize = 64;

/// An adaptive batch takes at most one in this many of all blocks. The first one takes one in this many of the blocks
/// that were visited before.
const LARGEST_SHARE: usize = 8;

/// Batches grow if at least the first share of the promised slopes is left when steps are taken, and shrink if less
/// than the second share is left.
const SHARE_TO_GROW: f64 = 0.9;
const SHARE_TO_SHRINK: f64 = 0.8;

/// A direction is found anew if less than this share of its slope is left when the step is taken.
const FRESH_SHARE: f64 = 0.9;

/// Mass below this is rounding.
const LEAST_MASS: f64 = 1e-15;

/// The size of batches, and how well the last ones went.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Batches {
    size: usize,
    adapts: bool,
    /// What steps promised when their directions were found, and what was left of it when they were taken.
    promised: f64,
    left: f64,
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
            promised: 0.0,
            left: 0.0,
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

    /// Begins with batches.
    pub(super) fn begin(&mut self) {
        self.size = FIRST_SIZE;
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

    /// Adapts the size at the end of a pass.
    pub(super) fn adapt(&mut self) {
        let share = std::mem::take(&mut self.left) / std::mem::take(&mut self.promised);
        if !self.adapts || self.wait() {
            return;
        }
        if share >= SHARE_TO_GROW {
            self.size = (2 * self.size).min(LARGEST_SIZE);
        } else if share < SHARE_TO_SHRINK {
            self.size = (self.size / 2).max(2);
        }
    }
}

/// One block of a batch: what it intends to do, and what it needs to do it.
#[derive(Debug, Default)]
struct Slot {
    i: usize,
    /// What the order knew of the block before it was picked.
    hidden: f64,
    /// The corner and the way to it, for plain steps.
    corner: Corner,
    step: Move,
    /// The atoms, which are on loan, and the change of their masses by a step of length 1.
    atoms: Atoms,
    change: Vec<f64>,
    room: Room,
    plan: Plan,
    /// The gap that the oracle has found, unless a remembered corner was good enough.
    gap: Option<f64>,
    /// The gap of the best remembered corner, if it was looked at.
    remembered: Option<f64>,
    /// Whether the order asks for the curvature of the oracle's corner, and the curvature.
    asks_curvature: bool,
    curvature: f64,
    has_failed: bool,
    error: Option<TrainError>,
}

/// A step of one block.
#[derive(Debug, Default)]
struct Plan {
    /// The change of w by a step of length 1, term by term.
    terms: SparseVec,
    /// The change of the block's loss by a step of length 1.
    loss: f64,
    /// The slope of the dual when the step was planned.
    slope: f64,
    curvature: f64,
    longest: f64,
}

impl Plan {
    /// Plans to go along `way`, for which the worker is prepared. Slope and curvature are computed unless
    /// they are known.
    fn write(
        &mut self,
        (problem, state): (&dyn Blocks, &DualState<'_>),
        i: usize,
        (way, loss, longest): (&SparseVec, f64, f64),
        measured: Option<(f64, f64)>,
        scratch: &mut Scratch<'_>,
    ) {
        let share = state.shares.of(i);
        self.terms.clear();
        problem.scatter(i, -share / state.lambda, way, (&mut self.terms).into());
        (self.slope, self.curvature) = measured.unwrap_or_else(|| {
            let slope = share * (loss + scratch.worker.score(i, &state.w, way));
            (slope, share * share / state.lambda * scratch.worker.norm_sq(i, way))
        });
        (self.loss, self.longest) = (loss, longest);
    }

    /// The slope of the dual at the present w, if weights belong to features.
    fn slope_at(&self, i: usize, state: &DualState<'_>) -> f64 {
        state.shares.of(i) * self.loss - state.lambda * self.terms.dot_dense(&state.w)
    }
}

impl BlockCoordinate {
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
        let threads = crew.threads();
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
                let gap = slot.gap.unwrap_or_default();
                if gamma > 0.0 {
                    state.move_block(i, &slot.step, &slot.corner, gamma);
                }
                if let Mode::Staged { stage, sets } = mode {
                    stage.note(i, gap);
                    let Corner { parts, loss } = &slot.corner;
                    let is_first = *loss == 0.0 && sets.is_first(problem, i, parts, *loss);
                    stage.follow(i, gamma, is_first);
                    sets.cache.stats.misses += 1;
                    run.totals.cache = Some(sets.cache.stats);
                }
            }
        }
        run.note_step(gamma, slot.plan.longest);
        Ok(())
    }
}

impl BlockCoordinate {
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

impl Slot {
    /// Calls the oracle and aims at its corner.
    fn find_plain(
        &mut self,
        problem: &dyn Blocks,
        state: &DualState<'_>,
        scratch: &mut Scratch<'_>,
    ) -> Result<(), TrainError> {
        scratch.find_corner(self.i, &state.w);
        scratch.describe_corner(self.i);
        self.note_curvature(problem, state, scratch);
        let (slope, has_failed) = aim_at_corner(problem, state, scratch, self.i)?;
        (self.gap, self.has_failed) = (Some(slope), has_failed);
        std::mem::swap(&mut self.corner, &mut scratch.corner);
        std::mem::swap(&mut self.step, &mut scratch.step);
        let Move { parts, loss, longest, .. } = &self.step;
        self.plan.write((problem, state), self.i, (parts, *loss, *longest), None, scratch);
        Ok(())
    }

    /// Takes a remembered corner if it promises enough, otherwise the oracle's, and plans a step between
    /// all remembered corners.
    fn find_remembering(
        &mut self,
        problem: &dyn Blocks,
        state: &DualState<'_>,
        cache: &Cache,
        direction: Direction,
        scratch: &mut Scratch<'_>,
    ) -> Result<(), TrainError> {
        let i = self.i;
        self.remembered = None;
        if cache.may_hit(i) {
            self.atoms.prepare(i, &state.w, &mut *scratch.worker);
            self.remembered = Some(look(&mut self.atoms, i, state, &*scratch.worker));
        }
        (self.gap, self.has_failed) = (None, false);
        if !self.remembered.is_some_and(|gap| cache.is_hit(i, gap)) {
            scratch.find_corner(i, &state.w);
            scratch.describe_corner(i);
            self.note_curvature(problem, state, scratch);
            let atoms = &mut self.atoms;
            let remembered =
                self.remembered.unwrap_or_else(|| look(atoms, i, state, &*scratch.worker));
            let learned = learn((problem, state), (i, atoms), remembered, scratch, &mut self.room)?;
            (self.gap, self.has_failed) = (Some(learned.gap), learned.has_failed);
        }

        let (longest, measured) = self.change_masses(state, direction, scratch)?;
        let (atoms, room) = (&self.atoms, &mut self.room);
        let mut loss = 0.0;
        room.way.clear();
        for (at, &change) in self.change.iter().enumerate().filter(|(_, change)| **change != 0.0) {
            room.way.add_scaled(change, &atoms.parts()[at]);
            loss += change * atoms.losses()[at];
        }
        let measured = measured.unwrap_or_else(|| {
            // The worker need not be prepared, but the values of all atoms are known.
            let (share, values) = (state.shares.of(i), atoms.values.iter());
            let slope: f64 = self.change.iter().zip(values).map(|(change, x)| change * x).sum();
            let length_sq = scratch.worker.norm_sq(i, &room.way);
            (share * slope, share * share / state.lambda * length_sq)
        });
        self.plan.write((problem, state), i, (&room.way, loss, longest), Some(measured), scratch);
        Ok(())
    }

    /// Measures the curvature of the oracle's corner, if the order asks for it.
    fn note_curvature(
        &mut self,
        problem: &dyn Blocks,
        state: &DualState<'_>,
        scratch: &mut Scratch<'_>,
    ) {
        self.curvature = match self.asks_curvature {
            true => curvature_of(problem, state, scratch, self.i),
            false => 0.0,
        };
    }

    /// Finds how the masses of the atoms should change. Returns the longest step along that change, and the
    /// slope and the curvature of the dual on the way if they are known.
    fn change_masses(
        &mut self,
        state: &DualState<'_>,
        direction: Direction,
        scratch: &mut Scratch<'_>,
    ) -> Result<(f64, Option<(f64, f64)>), TrainError> {
        let Self { i, atoms, room, change, .. } = self;
        let share = state.shares.of(*i);
        let rate = share / state.lambda;
        let in_pairs =
            !matches!(direction, Direction::FrankWolfe | Direction::Away | Direction::Best);
        change.clear();
        // Without bounds, distances between atoms tell what shifts gain: shift once, or as often as it pays, and take
        // the sum of all shifts as the direction.
        if in_pairs && state.clipped.is_none() {
            let most = if direction == Direction::Pairwise { 1 } else { MOST_MOVES };
            let (worker, difference) = (&mut *scratch.worker, &mut room.difference);
            let mut ruler = Ruler { i: *i, worker, difference };
            room.values.clear();
            room.values.extend_from_slice(&atoms.values);
            let shifted = shift_masses(atoms, &mut room.masses, rate, most, &mut ruler);
            let shifted = shifted.ok_or(TrainError::NotFinite { example: *i })?;
            let gain = shifted.map_or(0.0, |(_, gain)| gain);
            change.extend(atoms.masses.iter().zip(&room.masses).map(|(new, old)| new - old));
            atoms.masses.copy_from_slice(&room.masses);
            // A step of length 1 gains slope − curvature / 2.
            let slope: f64 =
                change.iter().zip(&room.values).map(|(change, value)| change * value).sum();
            let measured = (share * slope, 2.0 * share * (slope - gain).max(0.0));
            // Going further than to the masses that were best would amplify rounding errors.
            return Ok((1.0, Some(measured)));
        }
        // Otherwise choose the kind of step that gains most.
        let ends = Ends::of(atoms);
        let kinds = if in_pairs { &[Kind::Pairwise] } else { ends.kinds(direction) };
        let mut best = (kinds[0], f64::NEG_INFINITY);
        if kinds.len() > 1 {
            atoms.write_relative(&mut room.relative);
            for &kind in kinds {
                kind.write_way(&mut room.way, atoms, &ends, &room.relative);
                let (slope, longest) = ends.slope_and_longest(kind);
                let curvature = rate * scratch.worker.norm_sq(*i, &room.way);
                let stride = Pace::EXACT.stride(slope, curvature, longest);
                let gain = stride.ok_or(TrainError::NotFinite { example: *i })?.gain;
                if gain > best.1 {
                    best = (kind, gain);
                }
            }
        }
        best.0.write_change(change, &atoms.masses, &ends);
        Ok((ends.slope_and_longest(best.0).1, None))
    }

    /// The score of the planned way, for which the worker is prepared.
    fn score(&self, i: usize, state: &DualState<'_>, scratch: &Scratch<'_>) -> f64 {
        let way = if self.change.is_empty() { &self.step.parts } else { &self.room.way };
        scratch.worker.score(i, &state.w, way)
    }

    /// Gives the atoms back after a step of size `gamma`.
    fn give_back(&mut self, sets: &mut ActiveSets, gamma: f64) {
        let mut atoms = std::mem::take(&mut self.atoms);
        if gamma > 0.0 {
            for (mass, change) in atoms.masses.iter_mut().zip(&self.change) {
                let new = *mass + gamma * change;
                *mass = if new < LEAST_MASS { 0.0 } else { new };
            }
            atoms.normalise();
        }
        match self.gap {
            Some(gap) => {
                sets.cache.count_miss(self.i, self.remembered);
                sets.cache.note_oracle(self.i, gap);
            }
            None => sets.cache.count_hit(self.i),
        }
        sets.take_back(self.i, atoms, gamma > 0.0);
    }
}
