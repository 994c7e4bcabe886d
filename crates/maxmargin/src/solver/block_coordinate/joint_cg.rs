//! Steps that move all blocks together: conjugate gradients over the corners that carry mass.
//!
//! Once few corners change, visits to one block after another converge slowly: each undoes a little of what
//! the others have done. But with the set of corners fixed, the dual is a smooth concave quadratic on the
//! *face* that they span, and conjugate gradients climb it in few rounds. A round costs about as much as a
//! look at the blocks with several such corners. The point they reach may lie outside of the blocks: it is
//! projected back, block by block, and an exact line search goes towards it, so the dual never falls.
//!
//! Joint steps are taken in two places. Blocks that are simplices move together after a sweep of visits that leaves
//! more than 0.8 of the gap. Blocks that remember corners move together between these (`exhaust.rs`).

mod corners;
mod face;
mod pieces;

pub(super) use corners::{Corners, LEAST_MASS, SimplexCorners};

use super::simplex::{LEAST_CURVATURE, project};
use crate::dual::Pace;
use crate::dual::length_sq;
use crate::dual::{DualState, Scratch, Stride, Workers};
use crate::problem::Blocks;
use crate::problem::Sink as _;
use crate::run::fits::Fitting;
use crate::util::room::make_room;
use face::{ConjugateGradients, Face, FaceBlock, along_face, center, dot, faces, faces_from};
use pieces::{Piece, cut, share_out, sums};

/// Rounds of conjugate gradients in the first step, and the fewest and the most in any step.
const FIRST_ROUNDS: usize = 10;
const LEAST_ROUNDS: usize = 5;
const MOST_ROUNDS: usize = 200;

/// Rounds end when the gap within the face has fallen to this share of its first value.
const ENOUGH_OF_FIRST_GAP: f64 = 0.1;

/// While sweeps leave less than this share of the gap, visits do well without joint steps.
const GAP_LEFT_BY_FAST_SWEEPS: f64 = 0.8;

/// A step that goes at least this share of its way has found a good direction.
const LONG_STEP: f64 = 0.9;

/// The number of corners of a block for which room is made before they are listed.
const MOST_LISTED: usize = 64;

/// With many more blocks than this, about this many corners move together: a corner takes 36 bytes, and a block 16.
/// (In eight groups, runs to a gap of 1 % took the same time. Runs to 0.01 % took up to half as long again if most blocks
/// kept several corners.)
const MOST_TOGETHER: usize = 1 << 18;

/// After a step with more corners than this, their memory is given back, 40 bytes for each.
const MOST_KEPT: usize = 1 << 18;

/// The scores of this many blocks are computed before the first of them is used, because a processor waits for data that
/// it has just written. (One block at a time took a tenth longer on rows of ten classes.)
const GATHERED_AT_ONCE: usize = 256;

/// Makes steps, and keeps their scratch memory. Only the number of rounds and the last gap matter to the
/// next step.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct JointCg {
    /// The most rounds of the next step: more while steps can be taken to the end, fewer while they lead
    /// far out of the face.
    rounds: usize,
    /// The gap of all blocks that was known after the last sweep.
    last_gap: f64,
    #[cfg_attr(feature = "serde", serde(skip))]
    blocks: Vec<FaceBlock>,
    /// The corners of all these blocks, one after another: their parts and masses.
    #[cfg_attr(feature = "serde", serde(skip))]
    parts: Vec<u32>,
    #[cfg_attr(feature = "serde", serde(skip))]
    masses: Vec<f64>,
    /// How fast the dual grows with each mass, along the face, where the way begins; kept while corners are few.
    #[cfg_attr(feature = "serde", serde(skip))]
    slopes: Vec<f64>,
    #[cfg_attr(feature = "serde", serde(skip))]
    solver: ConjugateGradients,
    /// The change of w that goes with a change of masses, and further parts of its sum.
    #[cfg_attr(feature = "serde", serde(skip))]
    change: Vec<f64>,
    #[cfg_attr(feature = "serde", serde(skip))]
    further: Vec<Vec<f64>>,
    /// What threads work on side by side.
    #[cfg_attr(feature = "serde", serde(skip))]
    pieces: Vec<Piece>,
}

impl JointCg {
    pub(crate) fn fits(&self, _: &Fitting<'_>) -> bool {
        self.rounds <= u32::MAX as usize
    }
}

/// A problem, a run's state and threads, and the corners of its blocks.
pub(crate) struct Arena<'a, 'p, C> {
    pub(crate) problem: &'p dyn Blocks,
    pub(crate) state: &'a mut DualState<'p>,
    pub(crate) workers: &'a mut Workers<'p>,
    pub(crate) corners: C,
}

impl Default for JointCg {
    fn default() -> Self {
        Self {
            rounds: FIRST_ROUNDS,
            last_gap: 0.0,
            blocks: Vec::new(),
            parts: Vec::new(),
            masses: Vec::new(),
            slopes: Vec::new(),
            solver: ConjugateGradients::default(),
            change: Vec::new(),
            further: Vec::new(),
            pieces: Vec::new(),
        }
    }
}

impl JointCg {
    /// Whether a step is worth its cost after a sweep that found this gap, if that is known.
    pub(crate) fn is_due(&mut self, gap: Option<f64>) -> bool {
        let fast = gap.is_some_and(|gap| gap < GAP_LEFT_BY_FAST_SWEEPS * self.last_gap);
        self.last_gap = gap.unwrap_or_default();
        !fast
    }

    /// Moves all blocks with several corners at once, or in a few groups if these have very many corners. Returns the
    /// most rounds of conjugate gradients of a group.
    pub(crate) fn step<C: Corners>(&mut self, place: &mut Arena<'_, '_, C>) -> usize {
        let groups = self.groups(place);
        let climbs = (0..groups).map(|group| self.climb_and_go(place, (group, groups)));
        let rounds = climbs.max().unwrap_or(0);
        // Much memory is given back, unless the next group needs it.
        if groups > 1 || self.parts.len() > MOST_KEPT {
            let (next, last_gap) = (self.rounds, self.last_gap);
            *self = Self { rounds: next, last_gap, ..Self::default() };
        }
        rounds
    }

    /// The number of groups of blocks. Neighbouring blocks may be alike, so they go to different groups: group g has the
    /// blocks whose number is g modulo the number of groups.
    fn groups<C: Corners>(
        &mut self,
        Arena { corners: all, state, workers, .. }: &mut Arena<'_, '_, C>,
    ) -> usize {
        if state.blocks.len() <= MOST_TOGETHER / 2 {
            return 1;
        }
        let mut count = 0;
        for (i, block) in state.blocks.iter().enumerate() {
            self.parts.clear();
            self.masses.clear();
            let worker = &mut *workers.scratch().worker;
            all.list(i, block, (&mut self.parts, &mut self.masses), worker);
            count += if self.parts.len() > 1 { self.parts.len() } else { 0 };
        }
        count.div_ceil(MOST_TOGETHER).max(1)
    }

    /// Moves the blocks of a group. Returns the number of rounds of conjugate gradients.
    fn climb_and_go<C: Corners>(
        &mut self,
        place: &mut Arena<'_, '_, C>,
        group: (usize, usize),
    ) -> usize {
        self.collect(place, group);
        let climbed = self.climb(place);
        if climbed == 0 {
            return 0;
        }
        self.aim_at_projection();
        let mut stride = self.measure(place);
        self.rounds = match stride.gamma {
            LONG_STEP.. => self.rounds + self.rounds / 2,
            0.5..LONG_STEP => self.rounds,
            _ => self.rounds / 2,
        }
        .clamp(LEAST_ROUNDS, MOST_ROUNDS);
        if stride.gamma < LONG_STEP {
            // A projection can spoil a good direction; then it is better not to leave the face at all.
            self.aim_at_boundary();
            let other = self.measure(place);
            if other.gain >= stride.gain {
                stride = other;
            } else {
                self.aim_at_projection();
                self.measure(place);
            }
        }
        if stride.gamma > 0.0 {
            self.go(place, stride.gamma);
            place.state.dual += stride.gain;
        }
        climbed
    }

    /// How far to go in `solver.direction`, at most 1. The step is 0 if a number is not finite.
    fn measure<C: Corners>(&mut self, place: &mut Arena<'_, '_, C>) -> Stride {
        let slope = dot(&self.solver.residual, &self.solver.direction);
        self.spread(place);
        let state = &mut *place.state;
        let stride = match &mut state.clipped {
            None => {
                let curvature = state.lambda * length_sq(place.problem, &self.change);
                Pace::EXACT.stride(slope, curvature, 1.0)
            }
            Some(clipped) => {
                let way = clipped.new_way();
                let terms = self.change.iter().enumerate().filter(|(_, change)| **change != 0.0);
                terms.for_each(|(feature, &change)| way.add(feature, change));
                clipped.stride(state.lambda, slope, 1.0, Pace::EXACT)
            }
        };
        stride.unwrap_or_default()
    }

    /// Finds the blocks of a group with several corners, and these corners.
    fn collect<C: Corners>(
        &mut self,
        place: &mut Arena<'_, '_, C>,
        (group, groups): (usize, usize),
    ) {
        let Arena { corners: all, state, workers, .. } = place;
        let worker = &mut *workers.scratch().worker;
        self.blocks.clear();
        self.parts.clear();
        self.masses.clear();
        // Blocks beyond the numbers of their places stay where they are. No machine has so many.
        let numbered = (0..u32::MAX).zip(&state.blocks);
        for (i, block) in numbered.skip(group).step_by(groups) {
            let (start, number) = (self.parts.len(), i);
            let i = i as usize;
            make_room(&mut self.parts, MOST_LISTED);
            make_room(&mut self.masses, MOST_LISTED);
            let length_sq = all.list(i, block, (&mut self.parts, &mut self.masses), worker);
            let corners = self.parts.len() - start;
            let share = state.shares.of(i);
            let curvature = share * share / state.lambda * length_sq;
            // Without curvature a block is best at a corner, independently of the others.
            if corners < 2 || curvature < LEAST_CURVATURE {
                self.parts.truncate(start);
                self.masses.truncate(start);
                continue;
            }
            make_room(&mut self.blocks, 1);
            self.blocks.push(FaceBlock { i: number, corners: corners as u32, curvature });
        }
        self.pieces = cut(&self.blocks, all.cost());
    }

    /// Writes how fast the dual grows with each mass, along the face, to `solver.residual`.
    fn find_slopes<C: Corners>(&mut self, place: &mut Arena<'_, '_, C>) {
        let Arena { corners: all, state, workers, .. } = place;
        let slopes = &mut self.solver.residual;
        slopes.clear();
        slopes.reserve_exact(self.parts.len());
        slopes.resize(self.parts.len(), 0.0);
        let (all, state, blocks, parts) = (&*all, &**state, &self.blocks, &self.parts);
        let mut work = share_out(&self.pieces, slopes);
        workers.for_each_chunk(&mut work, 1, |_, scratch, work| {
            let (piece, slopes, _) = &mut work[0];
            let Scratch { values, worker, .. } = scratch;
            for Face { i, corners, .. } in piece.faces(blocks) {
                values.clear();
                all.score(i, (&state.w, true), &parts[corners.clone()], values, &mut **worker);
                let share = state.shares.of(i);
                values.iter_mut().for_each(|score| *score *= share);
                center(values);
                let start = piece.corners.start;
                slopes[corners.start - start..corners.end - start].copy_from_slice(values);
            }
        });
    }

    /// Runs conjugate gradients along the face from the current point; `solver.way` is the way gone.
    /// Returns the number of rounds.
    fn climb<C: Corners>(&mut self, place: &mut Arena<'_, '_, C>) -> usize {
        self.find_slopes(place);
        let are_kept = self.parts.len() <= MOST_KEPT;
        if are_kept {
            self.slopes.clone_from(&self.solver.residual);
        }
        self.solver.start(&self.blocks);
        let mut gap = self.solver.gap(&self.masses, &self.blocks);
        let enough = ENOUGH_OF_FIRST_GAP * gap;
        let mut round = 0;
        while round < self.rounds && gap > enough {
            self.spread(place);
            let curvature = self.bend(place);
            round += 1;
            if !self.solver.advance(curvature) {
                break;
            }
            let squares = self.gather(place);
            self.solver.turn(squares, &self.blocks);
            gap = self.solver.gap(&self.masses, &self.blocks);
        }
        // Where blocks have little curvature, rounding errors have grown.
        along_face(&mut self.solver.way, &self.blocks);
        // The slopes where the way begins. With many corners, there is no memory to keep them.
        if are_kept {
            self.solver.residual.clone_from(&self.slopes);
        } else if round > 0 {
            self.find_slopes(place);
        }
        round
    }

    /// The curvature of the dual at the beginning of the way that [`spread`](Self::spread) has written. Weights
    /// at their bounds stay there when the way begins, so their changes are left out here and in the next slopes.
    fn bend<C: Corners>(&mut self, place: &Arena<'_, '_, C>) -> f64 {
        let Arena { problem, state, .. } = place;
        if let Some(clipped) = &state.clipped {
            clipped.keep_free(&mut self.change);
        }
        state.lambda * length_sq(*problem, &self.change)
    }

    /// Computes the change of w for a change of masses by `solver.direction`, as if w had no bounds.
    fn spread<C: Corners>(&mut self, place: &mut Arena<'_, '_, C>) {
        let Arena { state, corners: all, workers, .. } = place;
        let (all, state, d) = (&*all, &**state, state.w.len());
        let Self { blocks, parts, solver, pieces, change, further, .. } = self;
        let count = sums(pieces.len(), parts.len(), all.cost(), d);
        further.resize_with(count - 1, Vec::new);
        // Each part sums up pieces that follow each other.
        let mut work: Vec<&mut Vec<f64>> =
            std::iter::once(&mut *change).chain(further.iter_mut()).collect();
        workers.for_each_chunk(&mut work, 1, |part, scratch, sum| {
            let sum = &mut *sum[0];
            sum.clear();
            sum.resize(d, 0.0);
            let own = part * pieces.len() / count..(part + 1) * pieces.len() / count;
            for Face { i, corners, .. } in pieces[own].iter().flat_map(|own| own.faces(blocks)) {
                let changes = (&parts[corners.clone()], &solver.direction[corners]);
                let scale = -state.shares.of(i) / state.lambda;
                all.spread(i, scale, changes, &mut scratch.parts, sum);
            }
        });
        for part in further {
            change.iter_mut().zip(&*part).for_each(|(sum, term)| *sum += term);
        }
    }

    /// Lets the slopes follow the last change of w, block by block, and returns their squared length, with every block
    /// scaled by its own curvature.
    fn gather<C: Corners>(&mut self, place: &mut Arena<'_, '_, C>) -> f64 {
        let Arena { state, corners: all, workers, .. } = place;
        let (all, shares) = (&*all, &state.shares);
        let Self { blocks, parts, change, pieces, solver, .. } = self;
        let ConjugateGradients { residual, step, .. } = solver;
        let mut work = share_out(pieces, residual);
        workers.for_each_chunk(&mut work, 1, |_, scratch, work| {
            let (piece, residual, squares) = &mut work[0];
            let Scratch { values: image, worker, .. } = scratch;
            for (start, group) in piece.groups(blocks, GATHERED_AT_ONCE) {
                image.clear();
                for Face { i, corners, .. } in faces_from(group, start) {
                    all.score(i, (change, false), &parts[corners], image, &mut **worker);
                }
                let before = start - piece.corners.start;
                for Face { i, corners, curvature } in faces_from(group, start) {
                    let own = corners.start - start..corners.end - start;
                    let residual = &mut residual[before..][own.clone()];
                    let image = &mut image[own];
                    image.iter_mut().for_each(|score| *score *= shares.of(i));
                    center(image);
                    for (residual, image) in residual.iter_mut().zip(&*image) {
                        *residual += *step * image;
                        *squares += *residual * *residual / curvature;
                    }
                }
            }
        });
        work.iter().map(|(_, _, squares)| squares).sum()
    }

    /// Makes `solver.direction` the way from the current masses to those nearest to the end of the
    /// way that was found.
    fn aim_at_projection(&mut self) {
        let ConjugateGradients { way, direction, .. } = &mut self.solver;
        for Face { corners, .. } in faces(&self.blocks) {
            let masses = &self.masses[corners.clone()];
            let ends = &mut direction[corners.clone()];
            for ((end, mass), way) in ends.iter_mut().zip(masses).zip(&way[corners]) {
                *end = mass + way;
            }
            project(ends);
            ends.iter_mut().zip(masses).for_each(|(end, mass)| *end -= mass);
        }
    }

    /// Makes `solver.direction` the way that was found, up to where a first mass is used up.
    fn aim_at_boundary(&mut self) {
        let ConjugateGradients { way, direction, .. } = &mut self.solver;
        let falls = self.masses.iter().zip(way.iter()).filter(|(_, way)| **way < 0.0);
        let longest = falls.map(|(mass, way)| -mass / way).fold(1.0, f64::min);
        direction.clear();
        direction.extend(way.iter().map(|way| longest * way));
    }

    /// Goes `gamma` ≤ 1 of the way in `solver.direction`, which was [measured](Self::measure) last.
    fn go<C: Corners>(&mut self, place: &mut Arena<'_, '_, C>, gamma: f64) {
        let Arena { corners: all, state, .. } = place;
        for Face { i, corners, .. } in faces(&self.blocks) {
            let block = &mut state.blocks[i];
            all.before_change(i, block);
            let (masses, way) = (&self.masses[corners.clone()], &self.solver.direction);
            let ends = masses.iter().zip(&way[corners.clone()]);
            let ends = ends.map(|(mass, way)| mass + gamma * way);
            all.assign(i, block, &self.parts[corners], ends);
        }
        match &mut state.clipped {
            None => {
                let changes = state.w.iter_mut().zip(&self.change);
                changes.for_each(|(w, change)| *w += gamma * change);
            }
            Some(clipped) => clipped.go(gamma, &mut state.w),
        }
    }
}
