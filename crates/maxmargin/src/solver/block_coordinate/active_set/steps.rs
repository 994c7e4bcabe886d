//! Pairwise, away and corrective steps of one block.
//!
//! Work within a block needs no look at w. With D the squared distances of the atoms in feature space, each
//! measured once, moving mass γ from atom b to atom a changes the value of atom c by −½γ·cᵢ/(λC)·(D(c, b) −
//! D(c, a)), apart from a constant that is the same for all atoms. So a corrective step shifts mass between
//! all remembered corners and touches w once, at the end. A pairwise step is a single such shift. With
//! bounds on weights, distances no longer tell what a shift does, and w follows every shift.

use super::ActiveSets;
use crate::dual::{DualState, Pace, Stride};
use crate::problem::Worker;
use crate::problem::sparse::SparseVec;
use crate::settings::Direction;
use crate::solver::block_coordinate::atoms::{Atoms, Ruler};
use crate::solver::block_coordinate::kinds::{Ends, Kind};

/// Work within a block goes on until the violation has fallen to this share of its first value; after
/// that, the next block pays more. (On OCR, 0.02 takes as many visits and more time, 0.3 more visits and
/// as much time.)
const ENOUGH_OF_VIOLATION: f64 = 0.1;

/// Mass is moved at most this often in one visit. (On OCR, 10 take as many visits and a fifth more time,
/// 2 a fourth more visits.)
pub(crate) const MOST_MOVES: usize = 5;

/// A block that is being visited: the worker is prepared for it at the state's w.
pub(crate) struct Visited<'a, 'p> {
    pub(crate) i: usize,
    pub(crate) state: &'a mut DualState<'p>,
    pub(crate) worker: &'a mut dyn Worker,
}

/// The outcome of a visit.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Outcome {
    /// The step size, and the longest possible one.
    pub(crate) gamma: f64,
    pub(crate) longest: f64,
    /// Whether the step went no further because a corner had no mass left.
    pub(crate) is_drop: bool,
}

impl ActiveSets {
    /// Moves block `i` towards its best corner, and w with it.
    pub(crate) fn step(
        &mut self,
        at: Visited<'_, '_>,
        direction: Direction,
        pace: Pace,
    ) -> Option<Outcome> {
        let most = if direction == Direction::Pairwise { 1 } else { MOST_MOVES };
        match direction {
            Direction::Corrective | Direction::Staged | Direction::Pairwise => {
                match at.state.clipped.is_some() {
                    true => self.shift_within_bounds(at, most),
                    false => self.shift(at, most),
                }
            }
            Direction::FrankWolfe | Direction::Away | Direction::Best => {
                self.one_of(at, direction, pace)
            }
        }
    }

    /// Shifts mass from the worst corner to the best, repeatedly while it pays. This needs no look at w;
    /// see the head of this file.
    fn shift(
        &mut self,
        Visited { i, state, worker }: Visited<'_, '_>,
        most: usize,
    ) -> Option<Outcome> {
        let share = state.shares.of(i);
        let (atoms, room) = (&mut self.atoms[i], &mut self.room);
        let mut ruler = Ruler { i, worker, difference: &mut room.difference };
        let shifted =
            shift_masses(atoms, &mut room.masses, share / state.lambda, most, &mut ruler)?;
        let Some((outcome, gain)) = shifted else { return Some(Outcome::default()) };
        let moved = atoms.masses.iter().zip(&room.masses).map(|(mass, old)| mass - old);
        let moved = moved.enumerate().filter(|(_, moved)| *moved != 0.0);
        let gain = share * gain;
        if atoms.has_features() {
            moved.for_each(|(at, moved)| state.add_features(i, moved, atoms.features(at)));
            state.dual += gain;
        } else {
            atoms.write_change(moved, &mut room.way, &mut room.difference);
            state.follow(i, &room.way, Stride { gamma: 1.0, gain });
        }
        self.stale[i] = true;
        Some(outcome)
    }

    /// As [`shift`](Self::shift) for weights with bounds: what a move does to the values depends on which
    /// weights are at their bounds, so w follows every move, and all values are computed again.
    fn shift_within_bounds(
        &mut self,
        Visited { i, state, worker }: Visited<'_, '_>,
        most: usize,
    ) -> Option<Outcome> {
        let share = state.shares.of(i);
        let atoms = &mut self.atoms[i];
        let mut enough = 0.0;
        let mut outcome = None;
        for round in 0..most {
            if round > 0 {
                atoms.prepare(i, &state.w, worker);
                atoms.evaluate_likely(i, &state.w, worker);
            }
            // Find the two ends, and stop if little is left to gain between them.
            let (to, from) = (atoms.best(), atoms.worst_active());
            let violation = atoms.values[to] - atoms.values[from];
            if !violation.is_finite() {
                return None;
            }
            if round == 0 {
                enough = ENOUGH_OF_VIOLATION * violation;
            }
            if violation <= enough.max(0.0) {
                break;
            }
            // Search along the line between them.
            let longest = atoms.masses[from];
            let slope = share * violation;
            let stride = if atoms.has_features() {
                let ends = (atoms.features(to), atoms.features(from));
                state.stride_between(i, ends, slope, longest)?
            } else {
                self.room.way.assign_difference(&atoms.parts()[to], &atoms.parts()[from]);
                state.stride(i, &self.room.way, slope, longest, Pace::EXACT, worker)?
            };
            if stride.gamma == 0.0 {
                break;
            }
            // Move the mass, and w and D with it.
            Kind::Pairwise.move_masses(atoms, to, from, stride.gamma);
            state.follow(i, &self.room.way, stride);
            self.stale[i] = true;
            let (gamma, is_drop) = (stride.gamma, stride.gamma == longest);
            outcome = outcome.or(Some(Outcome { gamma, longest, is_drop }));
        }
        atoms.normalise();
        Some(outcome.unwrap_or_default())
    }

    /// The Frank-Wolfe, away or pairwise step that the direction allows and that gains most.
    fn one_of(
        &mut self,
        Visited { i, state, worker }: Visited<'_, '_>,
        direction: Direction,
        pace: Pace,
    ) -> Option<Outcome> {
        let share = state.shares.of(i);
        let (atoms, room) = (&mut self.atoms[i], &mut self.room);
        atoms.write_relative(&mut room.relative);
        let ends = Ends::of(atoms);
        let kinds = ends.kinds(direction);
        let mut plan = |kind: Kind, state: &mut DualState<'_>, way: &mut SparseVec| {
            kind.write_way(way, atoms, &ends, &room.relative);
            let (slope, longest) = ends.slope_and_longest(kind);
            let stride = state.stride(i, way, share * slope, longest, pace, worker)?;
            Some((kind, stride, longest))
        };
        // Plan a step of each kind, and choose the one that gains most.
        let mut chosen = plan(kinds[0], state, &mut room.way)?;
        for &kind in &kinds[1..] {
            let other = plan(kind, state, &mut room.way)?;
            if other.1.gain > chosen.1.gain {
                chosen = other;
            }
        }
        // `way` and the state's line search belong to the last plan, so plan the chosen step again.
        if kinds.last() != Some(&chosen.0) {
            chosen = plan(chosen.0, state, &mut room.way)?;
        }
        let (kind, stride, longest) = chosen;
        if stride.gamma > 0.0 {
            kind.move_masses(atoms, ends.to, ends.from, stride.gamma);
            atoms.normalise();
            state.follow(i, &room.way, stride);
            self.stale[i] = true;
        }
        let gamma = stride.gamma;
        let is_drop = kind != Kind::FrankWolfe && gamma > 0.0 && gamma == longest;
        Some(Outcome { gamma, longest, is_drop })
    }
}

/// Shifts mass from the worst atom to the best, at most `most` times, while it pays. `rate` is cᵢ/(λC). Writes
/// the masses before to `old`. Returns the first step and the total gain divided by cᵢ/C, or `Some(None)` if no
/// mass moves. Returns `None` if a number is not finite.
pub(crate) fn shift_masses(
    atoms: &mut Atoms,
    old: &mut Vec<f64>,
    rate: f64,
    most: usize,
    ruler: &mut Ruler<'_>,
) -> Option<Option<(Outcome, f64)>> {
    old.clear();
    old.extend_from_slice(&atoms.masses);
    let (mut enough, mut gain) = (0.0, 0.0);
    let mut outcome = None;
    for round in 0..most {
        // Find the two ends, and stop if little is left to gain between them.
        let (to, from) = (atoms.best(), atoms.worst_active());
        let violation = atoms.values[to] - atoms.values[from];
        if !violation.is_finite() {
            return None;
        }
        if round == 0 {
            enough = ENOUGH_OF_VIOLATION * violation;
        }
        if violation <= enough.max(0.0) {
            break;
        }
        // Shift as much mass as is best, and update the values of all atoms.
        let curvature = rate * atoms.distance(to, from, ruler);
        let longest = atoms.masses[from];
        let stride = Pace::EXACT.stride(violation, curvature, longest)?;
        let gamma = stride.gamma;
        if gamma == 0.0 {
            break;
        }
        Kind::Pairwise.move_masses(atoms, to, from, gamma);
        gain += stride.gain;
        if round == 0 {
            outcome = Some(Outcome { gamma, longest, is_drop: gamma == longest });
        }
        if most > 1 {
            atoms.note_move(from, to, gamma, rate, ruler);
        }
    }
    if outcome.is_some() {
        atoms.normalise();
    }
    Some(outcome.map(|outcome| (outcome, gain)))
}
