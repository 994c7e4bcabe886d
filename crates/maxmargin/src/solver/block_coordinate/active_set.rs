//! What blocks remember: the corners of every block, their masses, and the cache that decides which of them stay.
//!
//! `steps.rs` moves mass between the corners of one block, and `joint.rs` between those of all blocks.

mod extrapolated;
mod joint;
mod room;
mod steps;

use joint::COST_OF_PARTS;
pub(super) use joint::RememberedCorners;
pub(crate) use room::Added;
pub(super) use room::Room;
pub(super) use steps::{MOST_MOVES, shift_masses};
pub(crate) use steps::{Outcome, Visited};

use crate::certificate::ExactCorner;
use crate::dual::{Block, DualState, PackedVec, Scratch, has_own_length};
use crate::error::TrainError;
use crate::problem::sparse::SparseVec;
use crate::problem::{Blocks, Worker};
use crate::run::Run;
use crate::run::fits::{Fits, Fitting};
use crate::solver::block_coordinate::atoms::Atoms;
use crate::solver::block_coordinate::corner_cache::{Cache, Size};
use crate::solver::block_coordinate::visit_remembering::{Learned, learn};

/// Atoms keep their features if an atom has at most the first number of them (8 kB), and one atom of every block
/// together at most the second (64 MB).
const MOST_FEATURES: usize = 1 << 10;
const MOST_FEATURES_OF_ALL: usize = 8 << 20;

/// This many additions, which take about 20 µs, are enough work for another thread.
pub(super) const WORTHWHILE_WORK: usize = 1 << 15;

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

    /// The number of blocks that are enough work for another thread.
    fn worthwhile_piece(&self) -> usize {
        let atoms: usize = self.atoms.iter().map(Atoms::len).sum();
        let of_all = match self.atoms.first().filter(|atoms| atoms.has_features()) {
            Some(first) => atoms * first.width(),
            None => atoms * COST_OF_PARTS,
        };
        let each = (of_all / self.atoms.len().max(1)).max(1);
        (WORTHWHILE_WORK / each).max(1)
    }

    /// Writes the gap of the best remembered corner of every block, all at the present w.
    pub(crate) fn look_at_all(&mut self, run: &mut Run<'_, '_>, gaps: &mut [f64]) {
        let piece = self.worthwhile_piece();
        run.for_pieces_of_blocks(piece, &mut self.atoms, |_, state, i, scratch, atoms| {
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

    /// Adds the corners that exact oracles have found at the present w to those of their blocks.
    pub(super) fn learn_exact(&mut self, run: &mut Run<'_, '_>, corners: Vec<ExactCorner>) {
        self.look_at_all(run, &mut vec![0.0; run.examples()]);
        for (i, ExactCorner { parts, loss, reading }) in corners.into_iter().enumerate() {
            if reading.gap > 0.0 {
                self.atoms[i].insert((run.problem, i), &parts, loss, reading.hinge);
                self.tidy(i);
            }
        }
        run.totals.cache = Some(self.cache.stats);
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

    /// Updates a block of the state from its atoms.
    pub(crate) fn refresh(&mut self, problem: &dyn Blocks, i: usize, block: &mut Block) {
        if std::mem::take(&mut self.stale[i]) {
            self.room.write_point(problem, i, &self.atoms[i], block);
            // A step of all blocks together may have moved the mass.
            let now = Size::of(&self.atoms[i]);
            self.cache.note_size(std::mem::replace(&mut self.sizes[i], now), now);
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

/// The gap of the best atom of block `i`, for which the worker is prepared.
pub(super) fn look(atoms: &mut Atoms, i: usize, state: &DualState<'_>, worker: &dyn Worker) -> f64 {
    atoms.evaluate(i, &state.w, worker);
    let best = atoms.values[atoms.best()];
    state.shares.of(i) * (best - atoms.own_value())
}
