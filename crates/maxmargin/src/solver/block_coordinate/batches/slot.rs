//! One block of a batch: its oracle, its direction, and what its step does to w.

use crate::dual::{Corner, DualState, Move, Pace, Scratch};
use crate::error::TrainError;
use crate::problem::Blocks;
use crate::problem::sparse::SparseVec;
use crate::settings::Direction;
use crate::solver::block_coordinate::active_set::{
    ActiveSets, MOST_MOVES, Room, look, shift_masses,
};
use crate::solver::block_coordinate::aim::{aim_at_corner, curvature_of};
use crate::solver::block_coordinate::atoms::{Atoms, Ruler};
use crate::solver::block_coordinate::corner_cache::Cache;
use crate::solver::block_coordinate::kinds::{Ends, Kind};
use crate::solver::block_coordinate::visit_remembering::learn;

/// Mass below this is rounding.
const LEAST_MASS: f64 = 1e-15;

/// One block of a batch: what it intends to do, and what it needs to do it.
#[derive(Debug, Default)]
pub(super) struct Slot {
    pub(super) i: usize,
    /// What the order knew of the block before it was picked.
    pub(super) hidden: f64,
    /// The corner and the way to it, for plain steps.
    pub(super) corner: Corner,
    pub(super) step: Move,
    /// The atoms, which are on loan, and the change of their masses by a step of length 1.
    pub(super) atoms: Atoms,
    pub(super) change: Vec<f64>,
    pub(super) room: Room,
    pub(super) plan: Plan,
    /// The gap that the oracle has found, unless a remembered corner was good enough.
    pub(super) gap: Option<f64>,
    /// The gap of the best remembered corner, if it was looked at.
    pub(super) remembered: Option<f64>,
    /// Whether the order asks for the curvature of the oracle's corner, and the curvature.
    pub(super) asks_curvature: bool,
    pub(super) curvature: f64,
    pub(super) has_failed: bool,
    pub(super) error: Option<TrainError>,
}

/// A step of one block.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// The change of w by a step of length 1, term by term.
    pub(super) terms: SparseVec,
    /// The change of the block's loss by a step of length 1.
    pub(super) loss: f64,
    /// The slope of the dual when the step was planned.
    pub(super) slope: f64,
    pub(super) curvature: f64,
    pub(super) longest: f64,
}

impl Plan {
    /// Plans to go along `way`, for which the worker is prepared. Slope and curvature are computed unless
    /// they are known.
    pub(super) fn write(
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
    pub(super) fn slope_at(&self, i: usize, state: &DualState<'_>) -> f64 {
        state.shares.of(i) * self.loss - state.lambda * self.terms.dot_dense(&state.w)
    }
}

impl Slot {
    /// Calls the oracle and aims at its corner.
    pub(super) fn find_plain(
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
    pub(super) fn find_remembering(
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
        let changes = self.change.iter().copied().enumerate().filter(|(_, change)| *change != 0.0);
        let loss = changes.clone().map(|(at, change)| change * atoms.losses()[at]).sum();
        atoms.write_change(changes, &mut room.way, &mut room.difference);
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
    pub(super) fn note_curvature(
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
    pub(super) fn change_masses(
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
    pub(super) fn score(&self, i: usize, state: &DualState<'_>, scratch: &Scratch<'_>) -> f64 {
        let way = if self.change.is_empty() { &self.step.parts } else { &self.room.way };
        scratch.worker.score(i, &state.w, way)
    }

    /// Gives the atoms back after a step of size `gamma`.
    pub(super) fn give_back(&mut self, sets: &mut ActiveSets, gamma: f64) {
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
