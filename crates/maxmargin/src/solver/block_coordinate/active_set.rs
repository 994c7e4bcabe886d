//! Steps of blocks that remember their corners: pairwise, away and corrective.
//!
//! Work within a block needs no look at w. With D the squared distances of the atoms in feature space, each
//! measured once, moving mass γ from atom b to atom a changes the value of atom c by −½γ·cᵢ/(λC)·(D(c, b) −
//! D(c, a)), apart from a constant that is the same for all atoms. So a corrective step shifts mass between
//! all remembered corners and touches w once, at the end. A pairwise step is a single such shift. With
//! bounds on weights, distances no longer tell what a shift does, and w follows every shift.

use crate::dual::Pace;
use crate::dual::{Block, DualState, Stride};
use crate::problem::sparse::SparseVec;
use crate::problem::{Blocks, Worker};
use crate::settings::Direction;
use crate::solver::block_coordinate::atoms::{Atoms, Ruler};
use crate::solver::block_coordinate::corner_cache::{Cache, Size};
use crate::util::rounding::ROUNDING;

/// Work within a block goes on until the violation has fallen to this share of its first value; after
/// that, the next block pays more. (On OCR, 0.02 takes as many visits and more time, 0.3 more visits and
/// as much time.)
const ENOUGH_OF_VIOLATION: f64 = 0.1;

/// Mass is moved at most this often in one visit. (On OCR, 10 take as many visits and a fifth more time,
/// 2 a fourth more visits.)
const MOST_MOVES: usize = 5;

/// What all blocks remember.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct ActiveSets {
    atoms: Vec<Atoms>,
    /// What each block's atoms took when they were tidied last.
    sizes: Vec<Size>,
    /// Blocks of the state that have not been updated from their atoms.
    stale: Vec<bool>,
    pub(crate) cache: Cache,
    /// Scratch memory: the way a block has gone in a visit, and differences.
    #[cfg_attr(feature = "serde", serde(skip))]
    way: SparseVec,
    #[cfg_attr(feature = "serde", serde(skip))]
    difference: SparseVec,
    /// The parts of a truth, and a point relative to it.
    #[cfg_attr(feature = "serde", serde(skip))]
    truth: SparseVec,
    #[cfg_attr(feature = "serde", serde(skip))]
    relative: SparseVec,
    #[cfg_attr(feature = "serde", serde(skip))]
    masses: Vec<f64>,
}

/// A block that is being visited: the worker is prepared for it at the state's w.
pub(crate) struct Visited<'a, 'p> {
    pub(crate) i: usize,
    pub(crate) state: &'a mut DualState<'p>,
    pub(crate) worker: &'a mut dyn Worker,
}

/// What is known of a corner that was added to a block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Added {
    /// How far its value is above that of the block's own point. Times the block's share, this is its
    /// gap.
    pub(crate) ahead: f64,
    /// Its value, which is 0 for the truth.
    pub(crate) value: f64,
    /// How much of these rounding may explain.
    pub(crate) rounding: f64,
}

/// The outcome of a visit.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Outcome {
    /// The step size, and the longest possible one.
    pub(crate) gamma: f64,
    pub(crate) longest: f64,
}

impl ActiveSets {
    pub(crate) fn new(problem: &dyn Blocks, blocks: &[Block], mut cache: Cache) -> Self {
        let relative = blocks.iter().enumerate().map(|(i, block)| {
            let (mut truth, mut parts) = (SparseVec::new(), SparseVec::new());
            problem.truth_parts(i, &mut truth);
            parts.assign_difference(&block.parts, &truth);
            Atoms::at(parts, block.loss)
        });
        let atoms: Vec<Atoms> = relative.collect();
        let sizes: Vec<Size> = atoms.iter().map(Size::of).collect();
        sizes.iter().for_each(|&size| cache.note_size(Size::default(), size));
        Self {
            stale: vec![false; atoms.len()],
            sizes,
            atoms,
            cache,
            way: SparseVec::new(),
            difference: SparseVec::new(),
            truth: SparseVec::new(),
            relative: SparseVec::new(),
            masses: Vec::new(),
        }
    }

    /// A point of block `i` relative to the truth.
    fn relate(&mut self, problem: &dyn Blocks, i: usize, parts: &SparseVec) -> &SparseVec {
        self.truth.clear();
        problem.truth_parts(i, &mut self.truth);
        self.relative.assign_difference(parts, &self.truth);
        &self.relative
    }

    /// Prefetches the atoms of block `i` and its example, for the next visit.
    pub(crate) fn prefetch(&self, problem: &dyn Blocks, i: usize) {
        problem.prefetch(i);
        self.atoms[i].prefetch();
    }

    /// Prepares the worker for what is remembered of block `i`, and for nothing else.
    pub(crate) fn prepare(&self, i: usize, state: &DualState<'_>, worker: &mut dyn Worker) {
        worker.prepare_scores(i, &state.w, self.atoms[i].parts());
    }

    /// The gap of the best remembered corner of block `i`, for which the worker is
    /// [prepared](Self::prepare).
    pub(crate) fn look(&mut self, i: usize, state: &DualState<'_>, worker: &dyn Worker) -> f64 {
        let atoms = &mut self.atoms[i];
        atoms.evaluate(i, &state.w, worker);
        let best = atoms.values[atoms.best()];
        state.shares.of(i) * (best - atoms.own_value())
    }

    /// Whether a corner of block `i` is the point at which its run began.
    pub(crate) fn is_first(
        &mut self,
        problem: &dyn Blocks,
        i: usize,
        parts: &SparseVec,
        loss: f64,
    ) -> bool {
        loss == self.atoms[i].losses()[0] && {
            self.relate(problem, i, parts);
            self.relative == self.atoms[i].parts()[0]
        }
    }

    /// Turns the points that blocks have reached by Frank-Wolfe steps into atoms. `left` is the share of
    /// its starting point that each block still has.
    pub(crate) fn start_from(&mut self, problem: &dyn Blocks, blocks: &[Block], left: &[f64]) {
        for (i, (block, &left)) in blocks.iter().zip(left).enumerate() {
            let point = self.relate(problem, i, &block.parts).clone();
            self.atoms[i].start_from(left, point, block.loss);
            self.tidy(i);
        }
    }

    /// Adds a corner to those of block `i`, after a [look](Self::look). `score` computes the score of its
    /// parts relative to the truth.
    pub(crate) fn add(
        &mut self,
        problem: &dyn Blocks,
        i: usize,
        (parts, loss): (&SparseVec, f64),
        score: impl FnOnce(&SparseVec) -> f64,
    ) -> Added {
        let score = score(self.relate(problem, i, parts));
        let value = loss + score;
        let atoms = &mut self.atoms[i];
        let ahead = value - atoms.own_value();
        atoms.insert(&self.relative, loss, value);
        Added { ahead, value, rounding: ROUNDING * (1.0 + loss + score.abs()) }
    }

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
        let rate = state.shares.of(i) / state.lambda;
        let atoms = &mut self.atoms[i];
        self.masses.clear();
        self.masses.extend_from_slice(&atoms.masses);
        let mut ruler = Ruler { i, worker, difference: &mut self.difference };
        let (mut enough, mut gain) = (0.0, 0.0);
        let mut outcome = None;
        for round in 0..most {
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
            let curvature = rate * atoms.distance(to, from, &mut ruler);
            let longest = atoms.masses[from];
            let stride = Pace::EXACT.stride(violation, curvature, longest)?;
            let gamma = stride.gamma;
            if gamma == 0.0 {
                break;
            }
            Kind::Pairwise.move_masses(atoms, to, from, gamma);
            gain += stride.gain;
            if round == 0 {
                outcome = Some(Outcome { gamma, longest });
            }
            if most > 1 {
                atoms.note_move(from, to, gamma, rate, &mut ruler);
            }
        }
        if outcome.is_some() {
            atoms.normalise();
            self.way.clear();
            for (at, (mass, old)) in atoms.masses.iter().zip(&self.masses).enumerate() {
                if mass != old {
                    self.way.add_scaled(mass - old, &atoms.parts()[at]);
                }
            }
            let gain = state.shares.of(i) * gain;
            state.follow(i, &self.way, Stride { gamma: 1.0, gain });
            self.stale[i] = true;
        }
        Some(outcome.unwrap_or_default())
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
                worker.prepare_scores(i, &state.w, atoms.parts());
                atoms.evaluate(i, &state.w, worker);
            }
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
            self.way.assign_difference(&atoms.parts()[to], &atoms.parts()[from]);
            let longest = atoms.masses[from];
            let slope = share * violation;
            let stride = state.stride(i, &self.way, slope, longest, Pace::EXACT, worker)?;
            if stride.gamma == 0.0 {
                break;
            }
            Kind::Pairwise.move_masses(atoms, to, from, stride.gamma);
            state.follow(i, &self.way, stride);
            self.stale[i] = true;
            outcome = outcome.or(Some(Outcome { gamma: stride.gamma, longest }));
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
        let atoms = &mut self.atoms[i];
        atoms.write_relative(&mut self.relative);
        let point = &self.relative;
        let (to, from, own) = (atoms.best(), atoms.worst_active(), atoms.own_value());
        let (best, worst) = (atoms.values[to], atoms.values[from]);
        let mass = atoms.masses[from];
        // With all mass on one corner there is nothing to move away from, and with nearly all of it the
        // direction would be made of rounding errors.
        let can_leave = 1.0 - mass > 1e-8;
        let away_promises = can_leave && own - worst >= best - own;
        let kinds: &[Kind] = match direction {
            Direction::Best if can_leave => &[Kind::FrankWolfe, Kind::Pairwise, Kind::Away],
            Direction::Best => &[Kind::FrankWolfe, Kind::Pairwise],
            Direction::Away if away_promises => &[Kind::Away],
            _ => &[Kind::FrankWolfe],
        };

        let mut plan = |kind: Kind, state: &mut DualState<'_>, way: &mut SparseVec| {
            kind.write_way(way, atoms, to, from, point);
            let (slope, longest) = match kind {
                Kind::FrankWolfe => (best - own, 1.0),
                Kind::Pairwise => (best - worst, mass),
                Kind::Away => (own - worst, mass / (1.0 - mass)),
            };
            let stride = state.stride(i, way, share * slope, longest, pace, worker)?;
            Some((kind, stride, longest))
        };
        let mut chosen = plan(kinds[0], state, &mut self.way)?;
        for &kind in &kinds[1..] {
            let other = plan(kind, state, &mut self.way)?;
            if other.1.gain > chosen.1.gain {
                chosen = other;
            }
        }
        if kinds.last() != Some(&chosen.0) {
            chosen = plan(chosen.0, state, &mut self.way)?;
        }
        let (kind, stride, longest) = chosen;
        if stride.gamma > 0.0 {
            kind.move_masses(&mut self.atoms[i], to, from, stride.gamma);
            self.atoms[i].normalise();
            state.follow(i, &self.way, stride);
            self.stale[i] = true;
        }
        Some(Outcome { gamma: stride.gamma, longest })
    }

    /// Updates a block of the state from its atoms.
    pub(crate) fn refresh(&mut self, problem: &dyn Blocks, i: usize, block: &mut Block) {
        if std::mem::take(&mut self.stale[i]) {
            self.truth.clear();
            problem.truth_parts(i, &mut self.truth);
            self.truth.scale(-1.0);
            self.atoms[i].write_to(block, &self.truth, &mut self.relative);
        }
    }

    /// Updates all blocks of the state from their atoms.
    pub(crate) fn refresh_all(&mut self, problem: &dyn Blocks, blocks: &mut [Block]) {
        blocks.iter_mut().enumerate().for_each(|(i, block)| self.refresh(problem, i, block));
    }

    /// Makes the idle corners of block `i` one round older, and forgets those that were idle for more
    /// than `most` rounds. `ages` belong to the block and are kept from round to round.
    pub(crate) fn age(&mut self, i: usize, ages: &mut Vec<u8>, most: u8) {
        let atoms = &mut self.atoms[i];
        ages.resize(atoms.len(), 0);
        for at in (0..atoms.len()).rev() {
            ages[at] = if atoms.masses[at] > 0.0 { 0 } else { ages[at] + 1 };
            if ages[at] > most {
                atoms.remove(at);
                ages.swap_remove(at);
            }
        }
    }

    /// Forgets the corners of block `i` that need not be remembered.
    pub(crate) fn tidy(&mut self, i: usize) {
        self.cache.tidy(&mut self.atoms[i], self.sizes[i]);
        self.sizes[i] = Size::of(&self.atoms[i]);
    }
}

/// A kind of step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    FrankWolfe,
    Pairwise,
    Away,
}

impl Kind {
    /// Writes the change of a block's point, given relative to the truth, by a step of length 1.
    fn write_way(
        self,
        way: &mut SparseVec,
        atoms: &Atoms,
        to: usize,
        from: usize,
        point: &SparseVec,
    ) {
        let parts = atoms.parts();
        match self {
            Self::FrankWolfe => way.assign_difference(&parts[to], point),
            Self::Pairwise => way.assign_difference(&parts[to], &parts[from]),
            Self::Away => way.assign_difference(point, &parts[from]),
        }
    }

    /// Moves the masses by a step of size `gamma`. After the longest step, vanishing masses are exactly
    /// zero.
    fn move_masses(self, atoms: &mut Atoms, to: usize, from: usize, gamma: f64) {
        let masses = &mut atoms.masses;
        match self {
            Self::FrankWolfe if gamma == 1.0 => {
                masses.fill(0.0);
                masses[to] = 1.0;
            }
            Self::FrankWolfe => {
                masses.iter_mut().for_each(|mass| *mass *= 1.0 - gamma);
                masses[to] += gamma;
            }
            Self::Pairwise => {
                masses[from] -= gamma;
                masses[to] += gamma;
            }
            Self::Away => {
                let is_longest = gamma == masses[from] / (1.0 - masses[from]);
                masses.iter_mut().for_each(|mass| *mass *= 1.0 + gamma);
                masses[from] = if is_longest { 0.0 } else { masses[from] - gamma };
            }
        }
    }
}
