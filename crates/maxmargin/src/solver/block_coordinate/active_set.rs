//! Steps of blocks that remember their corners: pairwise, away and corrective.
//!
//! Work within a block needs no look at w. With D the squared distances of the atoms in feature space, each
//! measured once, moving mass γ from atom b to atom a changes the value of atom c by −½γ·cᵢ/(λC)·(D(c, b) −
//! D(c, a)), apart from a constant that is the same for all atoms. So a corrective step shifts mass between
//! all remembered corners and touches w once, at the end. A pairwise step is a single such shift. With
//! bounds on weights, distances no longer tell what a shift does, and w follows every shift.

use crate::dual::Pace;
use crate::dual::{Block, DualState, PackedVec, Scratch, Stride, has_own_length};
use crate::error::TrainError;
use crate::problem::sparse::SparseVec;
use crate::problem::{Blocks, Worker};
use crate::run::Run;
use crate::run::fits::{Fits, Fitting};
use crate::settings::Direction;
use crate::solver::block_coordinate::atoms::{Atoms, Ruler};
use crate::solver::block_coordinate::average::Averager;
use crate::solver::block_coordinate::corner_cache::{Cache, Size};
use crate::solver::block_coordinate::joint_cg::{Corners, LEAST_MASS};
use crate::solver::block_coordinate::kinds::{Ends, Kind};
use crate::solver::block_coordinate::visit_remembering::{Learned, learn};
use crate::util::rounding::ROUNDING;

/// Work within a block goes on until the violation has fallen to this share of its first value; after
/// that, the next block pays more. (On OCR, 0.02 takes as many visits and more time, 0.3 more visits and
/// as much time.)
const ENOUGH_OF_VIOLATION: f64 = 0.1;

/// Mass is moved at most this often in one visit. (On OCR, 10 take as many visits and a fifth more time,
/// 2 a fourth more visits.)
pub(super) const MOST_MOVES: usize = 5;

/// Atoms keep their features if an atom has at most the first number of them (8 kB), and one atom of every block
/// together at most the second (64 MB).
const MOST_FEATURES: usize = 1 << 10;
const MOST_FEATURES_OF_ALL: usize = 8 << 20;

/// Whether atoms keep their features.
pub(crate) fn has_few_features(problem: &dyn Blocks) -> bool {
    let (n, d) = (problem.examples(), problem.dim());
    d <= MOST_FEATURES && n * d <= MOST_FEATURES_OF_ALL && !has_own_length(problem)
}

/// What all blocks remember. While the sets [wait](Self::waiting) for their first use, all of them remember their truths
/// and nothing else, and there is nothing to store.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct ActiveSets {
    atoms: Vec<Atoms>,
    /// What each block's atoms took when they were tidied last.
    sizes: Vec<Size>,
    /// Blocks of the state that have not been updated from their atoms.
    stale: Vec<bool>,
    pub(crate) cache: Cache,
    #[cfg_attr(feature = "serde", serde(skip))]
    room: Room,
}

impl Fits for ActiveSets {
    fn fits(&self, to: &Fitting<'_>) -> bool {
        to.are_of_blocks(&self.atoms)
            && to.are_of_blocks(&self.sizes)
            && to.are_of_blocks(&self.stale)
            && self.cache.fits(to)
            && self.atoms.iter().enumerate().all(|(i, atoms)| atoms.fits(i, to))
    }
}

/// Scratch memory for work on one block.
#[derive(Debug, Clone, Default)]
pub(super) struct Room {
    /// The way a block has gone in a visit, and differences.
    pub(super) way: SparseVec,
    pub(super) difference: SparseVec,
    /// The parts of a truth, and a point relative to it.
    truth: SparseVec,
    pub(super) relative: SparseVec,
    /// The point of a block, and its bytes.
    point: SparseVec,
    bytes: Vec<u8>,
    /// The masses and the values before a step.
    pub(super) masses: Vec<f64>,
    pub(super) values: Vec<f64>,
}

impl Room {
    /// A point of block `i` relative to the truth.
    fn relate(&mut self, problem: &dyn Blocks, i: usize, parts: &SparseVec) -> &SparseVec {
        self.truth.clear();
        problem.truth_parts(i, &mut self.truth);
        self.relative.assign_difference(parts, &self.truth);
        &self.relative
    }

    /// Writes the point of block `i` that its atoms make up.
    fn write_point(&mut self, problem: &dyn Blocks, i: usize, atoms: &Atoms, block: &mut Block) {
        self.truth.clear();
        problem.truth_parts(i, &mut self.truth);
        self.truth.scale(-1.0);
        block.loss = atoms.write_to(&mut self.point, &self.truth, &mut self.relative);
        block.parts.pack(&self.point, &mut self.bytes);
    }

    /// Adds a corner of block `i` to its atoms, whose values are known. `score` computes the score of its
    /// parts relative to the truth.
    pub(super) fn add(
        &mut self,
        problem: &dyn Blocks,
        (i, atoms): (usize, &mut Atoms),
        corner: (&SparseVec, f64),
        score: impl FnOnce(&SparseVec) -> f64,
    ) -> Added {
        let (parts, loss) = corner;
        let score = score(self.relate(problem, i, parts));
        let value = loss + score;
        let ahead = value - atoms.own_value();
        atoms.insert((problem, i), &self.relative, loss, value);
        Added { ahead, value, rounding: ROUNDING * (1.0 + loss + score.abs()) }
    }
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
    /// How much of either number may be rounding.
    pub(crate) rounding: f64,
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
    pub(crate) fn new(problem: &dyn Blocks, blocks: &[Block], mut cache: Cache) -> Self {
        let mut room = Room::default();
        // A copy takes no more memory than it needs, which is nothing at the truth.
        let mut point = SparseVec::new();
        let relative = blocks.iter().enumerate().map(|(i, block)| {
            block.parts.unpack(&mut point);
            Atoms::at(room.relate(problem, i, &point).clone(), block.loss)
        });
        let mut atoms: Vec<Atoms> = relative.collect();
        if has_few_features(problem) {
            atoms.iter_mut().enumerate().for_each(|(i, atoms)| atoms.keep_features(problem, i));
        }
        let sizes: Vec<Size> = atoms.iter().map(Size::of).collect();
        sizes.iter().for_each(|&size| cache.note_size(Size::default(), size));
        Self { stale: vec![false; atoms.len()], sizes, atoms, cache, room: Room::default() }
    }

    /// The sets of blocks that have not moved yet. They take no memory before [`start_from`](Self::start_from), if all
    /// blocks are at their truths, as at the start of most runs.
    pub(crate) fn waiting(problem: &dyn Blocks, blocks: &[Block], mut cache: Cache) -> Self {
        let (mut truth, mut packed, mut bytes) = Default::default();
        let is_at_truth = |(i, block): (usize, &Block)| {
            SparseVec::clear(&mut truth);
            problem.truth_parts(i, &mut truth);
            PackedVec::pack(&mut packed, &truth, &mut bytes);
            block.loss == 0.0 && block.parts == packed
        };
        if !blocks.iter().enumerate().all(is_at_truth) {
            return Self::new(problem, blocks, cache);
        }
        let size = Size::of(&at_truth(problem, 0, has_few_features(problem)));
        (0..blocks.len()).for_each(|_| cache.note_size(Size::default(), size));
        let (atoms, sizes, stale) = Default::default();
        Self { atoms, sizes, stale, cache, room: Room::default() }
    }

    /// Whether nothing is stored yet.
    fn is_waiting(&self) -> bool {
        self.atoms.is_empty()
    }

    /// Ends the wait, if it has not ended before.
    fn stop_waiting(&mut self, problem: &dyn Blocks) {
        if self.is_waiting() {
            let few = has_few_features(problem);
            self.atoms = (0..problem.examples()).map(|i| at_truth(problem, i, few)).collect();
            self.sizes = self.atoms.iter().map(Size::of).collect();
            self.stale = vec![false; self.atoms.len()];
        }
    }

    /// As [`fits`](Fits::fits), for sets that may still wait.
    pub(crate) fn fits_or_waits(&self, to: &Fitting<'_>) -> bool {
        let waits = self.is_waiting() && self.sizes.is_empty() && self.stale.is_empty();
        if waits { self.cache.fits(to) } else { self.fits(to) }
    }

    /// Whether atoms keep their features.
    pub(super) fn keep_features(&self, problem: &dyn Blocks) -> bool {
        match self.is_waiting() {
            true => problem.dim() > 0 && has_few_features(problem),
            false => self.atoms.iter().any(Atoms::has_features),
        }
    }

    /// Takes the atoms of block `i` out, to work on several blocks at once.
    pub(super) fn lend(&mut self, i: usize) -> Atoms {
        std::mem::take(&mut self.atoms[i])
    }

    /// Takes back the atoms of block `i`, which carry new masses if the block has `moved`.
    pub(super) fn take_back(&mut self, i: usize, atoms: Atoms, moved: bool) {
        self.atoms[i] = atoms;
        self.stale[i] |= moved;
    }

    /// Prefetches the atoms of block `i` and its example, for the next visit.
    pub(crate) fn prefetch(&self, problem: &dyn Blocks, i: usize) {
        problem.prefetch(i);
        self.atoms[i].prefetch();
    }

    /// Prepares the worker for what is remembered of block `i`, and for nothing else.
    pub(crate) fn prepare(&self, i: usize, state: &DualState<'_>, worker: &mut dyn Worker) {
        self.atoms[i].prepare(i, &state.w, worker);
    }

    /// The gap of the best remembered corner of block `i`, for which the worker is
    /// [prepared](Self::prepare).
    pub(crate) fn look(&mut self, i: usize, state: &DualState<'_>, worker: &dyn Worker) -> f64 {
        look(&mut self.atoms[i], i, state, worker)
    }

    /// As [`look`](Self::look), at corners that are [likely](Atoms::evaluate_likely) to be the best.
    pub(super) fn look_at_likely(
        &mut self,
        i: usize,
        state: &DualState<'_>,
        worker: &dyn Worker,
    ) -> f64 {
        let atoms = &mut self.atoms[i];
        atoms.evaluate_likely(i, &state.w, worker);
        state.shares.of(i) * (atoms.values[atoms.best()] - atoms.own_value())
    }

    /// Writes the gap of the best remembered corner of every block, all at the present w.
    pub(crate) fn look_at_all(&mut self, run: &mut Run<'_, '_>, gaps: &mut [f64]) {
        run.for_each_block(&mut self.atoms, |_, state, i, scratch, atoms| {
            atoms.prepare(i, &state.w, &mut *scratch.worker);
            look(atoms, i, state, &*scratch.worker);
        });
        for ((i, atoms), gap) in self.atoms.iter().enumerate().zip(gaps) {
            *gap = run.state.shares.of(i) * (atoms.values[atoms.best()] - atoms.own_value());
        }
    }

    /// Σᵢ cᵢ/C·(Hᵢ at the block's own point − min Hᵢ over its corners with mass) at the present w, which is the
    /// difference between the pairwise gap and the gap.
    pub(crate) fn away_gap(&mut self, run: &mut Run<'_, '_>) -> f64 {
        let mut gaps = vec![0.0; self.atoms.len()];
        self.look_at_all(run, &mut gaps);
        let away = |atoms: &Atoms| atoms.own_value() - atoms.values[atoms.worst_active()];
        let shares = run.state.shares.iter();
        shares.zip(&self.atoms).map(|(share, atoms)| share * away(atoms).max(0.0)).sum()
    }

    /// Whether a corner of block `i` is the point at which its run began.
    pub(crate) fn is_first(
        &mut self,
        problem: &dyn Blocks,
        i: usize,
        parts: &SparseVec,
        loss: f64,
    ) -> bool {
        if self.is_waiting() {
            return loss == 0.0 && self.room.relate(problem, i, parts).is_empty();
        }
        loss == self.atoms[i].losses()[0]
            && *self.room.relate(problem, i, parts) == self.atoms[i].parts()[0]
    }

    /// Turns the points that blocks have reached by Frank-Wolfe steps into atoms. `left` is the share of
    /// its starting point that each block still has.
    pub(crate) fn start_from(&mut self, problem: &dyn Blocks, blocks: &[Block], left: &[f64]) {
        self.stop_waiting(problem);
        let mut point = SparseVec::new();
        for (i, (block, &left)) in blocks.iter().zip(left).enumerate() {
            block.parts.unpack(&mut point);
            let point = self.room.relate(problem, i, &point).clone();
            self.atoms[i].start_from(left, point, block.loss);
            if self.atoms[i].has_features() {
                self.atoms[i].keep_features(problem, i);
            }
            self.tidy(i);
        }
    }

    /// Takes over a point of block `i` that something else has made. It becomes the only atom with mass, and
    /// the corners stay.
    pub(super) fn take_over(&mut self, problem: &dyn Blocks, i: usize, block: &Block) {
        self.mix(problem, i, 0.0, block);
    }

    /// Lets all atoms of block `i` keep the share `kept` of their mass, and gives the rest to another point, which
    /// becomes an atom.
    pub(super) fn mix(&mut self, problem: &dyn Blocks, i: usize, kept: f64, other: &Block) {
        self.room.relate(problem, i, &other.parts.unpacked());
        let atoms = &mut self.atoms[i];
        atoms.masses.iter_mut().for_each(|mass| *mass *= kept);
        let at = atoms.insert((problem, i), &self.room.relative, other.loss, 0.0);
        atoms.masses[at] += 1.0 - kept;
        self.stale[i] = false;
        self.tidy(i);
    }

    /// Adds the corner in the scratch to those of block `i`, whose best one has the gap `remembered`.
    pub(super) fn learn(
        &mut self,
        on: (&dyn Blocks, &DualState<'_>),
        i: usize,
        remembered: f64,
        scratch: &mut Scratch<'_>,
    ) -> Result<Learned, TrainError> {
        learn(on, (i, &mut self.atoms[i]), remembered, scratch, &mut self.room)
    }

    /// Adds a corner to those of block `i`, after a [look](Self::look). `score` computes the score of its
    /// parts relative to the truth.
    pub(crate) fn add(
        &mut self,
        problem: &dyn Blocks,
        i: usize,
        corner: (&SparseVec, f64),
        score: impl FnOnce(&SparseVec) -> f64,
    ) -> Added {
        self.room.add(problem, (i, &mut self.atoms[i]), corner, score)
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
            room.way.clear();
            moved.for_each(|(at, moved)| room.way.add_scaled(moved, &atoms.parts()[at]));
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

    /// Updates a block of the state from its atoms.
    pub(crate) fn refresh(&mut self, problem: &dyn Blocks, i: usize, block: &mut Block) {
        if std::mem::take(&mut self.stale[i]) {
            self.room.write_point(problem, i, &self.atoms[i], block);
        }
    }

    /// Updates a block of the state from its atoms, which are [on loan](Self::lend).
    pub(super) fn refresh_lent(
        &mut self,
        problem: &dyn Blocks,
        i: usize,
        atoms: &Atoms,
        block: &mut Block,
    ) {
        if std::mem::take(&mut self.stale[i]) {
            self.room.write_point(problem, i, atoms, block);
        }
    }

    /// Updates all blocks of the state from their atoms.
    pub(crate) fn refresh_all(&mut self, problem: &dyn Blocks, blocks: &mut [Block]) {
        if !self.is_waiting() {
            blocks.iter_mut().enumerate().for_each(|(i, block)| self.refresh(problem, i, block));
        }
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

/// The atoms of block `i`, which is at its truth.
fn at_truth(problem: &dyn Blocks, i: usize, keeps_features: bool) -> Atoms {
    let mut atoms = Atoms::at(SparseVec::new(), 0.0);
    if keeps_features {
        atoms.keep_features(problem, i);
    }
    atoms
}

/// What blocks remember, as corners of a joint step.
pub(super) struct RememberedCorners<'a, 'p> {
    pub(super) problem: &'p dyn Blocks,
    pub(super) sets: &'a mut ActiveSets,
    pub(super) worker: &'a mut dyn Worker,
    /// The average of iterates, and the visit in which blocks change.
    pub(super) averager: Option<(&'a mut Averager, u64)>,
}

impl Corners for RememberedCorners<'_, '_> {
    fn list(&mut self, i: usize, _: &Block, numbers: &mut Vec<u32>, masses: &mut Vec<f64>) -> f64 {
        let atoms = &mut self.sets.atoms[i];
        let start = numbers.len();
        for (at, &mass) in atoms.masses.iter().enumerate().filter(|(_, mass)| **mass > 0.0) {
            numbers.push(at as u32);
            masses.push(mass);
        }
        // Half the mean squared distance from the first.
        let others = &numbers[start..];
        let [first, others @ ..] = others else { return 0.0 };
        let mut ruler =
            Ruler { i, worker: self.worker, difference: &mut self.sets.room.difference };
        let sum: f64 =
            others.iter().map(|&at| atoms.distance(at as usize, *first as usize, &mut ruler)).sum();
        0.5 * sum / others.len().max(1) as f64
    }

    fn score(&mut self, i: usize, w: &[f64], losses: bool, numbers: &[u32], scores: &mut Vec<f64>) {
        let atoms = &self.sets.atoms[i];
        atoms.prepare(i, w, self.worker);
        scores.extend(numbers.iter().map(|&at| {
            let score = atoms.score(at as usize, i, w, &*self.worker);
            if losses { atoms.losses()[at as usize] + score } else { score }
        }));
    }

    fn spread(
        &self,
        i: usize,
        scale: f64,
        (numbers, changes): (&[u32], &[f64]),
        parts: &mut SparseVec,
        w: &mut [f64],
    ) {
        let atoms = &self.sets.atoms[i];
        let changes = numbers.iter().zip(changes).filter(|(_, change)| **change != 0.0);
        if atoms.has_features() {
            for (&at, change) in changes {
                let features = atoms.features(at as usize);
                w.iter_mut().zip(features).for_each(|(w, x)| *w += scale * change * x);
            }
        } else {
            parts.clear();
            changes
                .for_each(|(&at, &change)| parts.add_scaled(change, &atoms.parts()[at as usize]));
            self.problem.scatter(i, scale, parts, w.into());
        }
    }

    fn assign(
        &mut self,
        i: usize,
        _: &mut Block,
        numbers: &[u32],
        masses: impl Iterator<Item = f64>,
    ) {
        let atoms = &mut self.sets.atoms[i];
        for (&at, mass) in numbers.iter().zip(masses) {
            atoms.masses[at as usize] = if mass > LEAST_MASS { mass } else { 0.0 };
        }
        atoms.normalise();
        self.sets.stale[i] = true;
    }

    fn before_change(&mut self, i: usize, block: &mut Block) {
        if let Some((averager, k)) = &mut self.averager {
            self.sets.refresh(self.problem, i, block);
            averager.before_change(i, *k, block);
        }
    }
}

/// The gap of the best atom of block `i`, for which the worker is prepared.
pub(super) fn look(atoms: &mut Atoms, i: usize, state: &DualState<'_>, worker: &dyn Worker) -> f64 {
    atoms.evaluate(i, &state.w, worker);
    let best = atoms.values[atoms.best()];
    state.shares.of(i) * (best - atoms.own_value())
}

/// Shifts mass from the worst atom to the best, at most `most` times, while it pays. `rate` is cᵢ/(λC). Writes
/// the masses before to `old`. Returns the first step and the total gain divided by cᵢ/C, or `Some(None)` if no
/// mass moves. Returns `None` if a number is not finite.
pub(super) fn shift_masses(
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
