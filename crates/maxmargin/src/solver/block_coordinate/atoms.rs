//! The corners that a block remembers: those that carry its mass and, with a cache, idle ones.
//!
//! Atoms are points, not outputs: a block keeps the part vectors of its corners, relative to the truth, and
//! their losses. A step needs nothing more. A fractional corner or a warm start is a point like any other, and the
//! problem has to offer nothing new. If atoms were outputs, or hashes of them, fractional corners and warm starts would
//! be special cases, and the problem would have to offer more.
//!
//! Since atoms are relative to the truth, a remembered corner costs only what it differs by. A visit that looks at
//! remembered corners first scores only the places where some atom differs from the truth (`Problem::prepare_scores`).
//!
//! Where all examples share few features, atoms keep their feature vectors too. On 327 horses with 97 features, a
//! score by parts takes longer than an oracle call, and one by features a few nanoseconds.

mod distances;
#[cfg(test)]
mod tests;

use crate::dual::chunk_product;
use crate::problem::sparse::SparseVec;
use crate::problem::{Blocks, Worker};
use crate::run::fits::Fitting;
use crate::solver::block_coordinate::extrapolation::{PastMasses, push_mass};
use crate::util::prefetch::prefetch;
use distances::Distances;

/// The atoms of one block: corners with their masses αᵢ(y), which sum to one.
///
/// Their parts are kept relative to the truth, pᵢ(y) − pᵢ(yᵢ): corners that are worth remembering have
/// most of their parts in common with it, so there is little to store, to score and to move.
///
/// Masses, values and distances lie in arrays of their own, because work within a block goes over them again and again.
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Atoms {
    parts: Vec<SparseVec>,
    losses: Vec<f64>,
    pub(crate) masses: Vec<f64>,
    /// The loss-augmented score H = L + ⟨w, Bp⟩ at the current w.
    pub(crate) values: Vec<f64>,
    distances: Distances,
    /// The features of every atom, one after another, if they are [kept](Self::keep_features).
    features: Vec<f64>,
    /// The number of features of an atom, or 0.
    width: usize,
    /// The masses at earlier times, if they were [kept](Self::keep_masses).
    past: Vec<PastMasses>,
}

/// The first atom is split off a block's point only if at least this share of the point is something
/// else. With less, the rest would be made of rounding errors and not be a point of the block.
const LEAST_REST: f64 = 1e-3;

/// The value of an idle atom that is left out for now. It is finite, and below all others.
const OUT_OF_THE_RUNNING: f64 = f64::MIN;

/// The masses of atoms in a checkpoint sum to 1 up to this much rounding.
const MOST_DRIFT: f64 = 1e-6;

/// What is needed to measure a block's atoms.
pub(crate) struct Ruler<'a> {
    pub(crate) i: usize,
    pub(crate) worker: &'a mut dyn Worker,
    /// For differences of parts.
    pub(crate) difference: &'a mut SparseVec,
}

impl Atoms {
    /// All mass on one point, relative to the truth: no parts at all, or wherever a run starts from.
    pub(crate) fn at(parts: SparseVec, loss: f64) -> Self {
        Self {
            parts: vec![parts],
            losses: vec![loss],
            masses: vec![1.0],
            values: vec![0.0],
            distances: Distances::default(),
            features: Vec::new(),
            width: 0,
            past: Vec::new(),
        }
    }

    /// Whether these can be the atoms of block `i`.
    pub(crate) fn fits(&self, i: usize, to: &Fitting<'_>) -> bool {
        let count = self.masses.len();
        let lengths = [self.parts.len(), self.losses.len(), self.values.len()];
        let is_mass = |mass: &f64| (0.0..=2.0).contains(mass);
        let sum: f64 = self.masses.iter().sum();
        count > 0
            && lengths.iter().all(|length| *length == count)
            && self.masses.iter().all(is_mass)
            && (sum - 1.0).abs() <= MOST_DRIFT
            && (self.width == 0 || self.width == to.dim)
            && self.features.len() == self.width * count
            && self.distances.fits()
            && (self.past.is_empty() || self.past.len() == count)
            && self.past.iter().flatten().all(is_mass)
            && self
                .parts
                .iter()
                .zip(&self.losses)
                .all(|(p, loss)| to.is_relative_point(i, p, *loss))
    }

    /// Computes the features of all atoms of block `i`, and keeps them from now on. With them a score is one
    /// inner product, which pays where features are few and parts are many.
    pub(crate) fn keep_features(&mut self, problem: &dyn Blocks, i: usize) {
        self.width = problem.dim();
        self.features.clear();
        for parts in &self.parts {
            add_features(problem, i, parts, self.width, &mut self.features);
        }
    }

    /// Whether features are kept, so that no worker has to be prepared for scores.
    pub(crate) fn has_features(&self) -> bool {
        self.width > 0
    }

    /// The number of features of an atom, if they are kept.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// The features of an atom, if they are kept.
    pub(crate) fn features(&self, at: usize) -> &[f64] {
        &self.features[at * self.width..][..self.width]
    }

    /// Prefetches the atoms, for the next visit.
    pub(crate) fn prefetch(&self) {
        prefetch(&self.masses);
        for parts in self.parts.iter().take(4) {
            prefetch(parts.entries());
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.masses.len()
    }

    /// The parts of every atom, relative to the truth.
    pub(crate) fn parts(&self) -> &[SparseVec] {
        &self.parts
    }

    /// The loss of every atom.
    pub(crate) fn losses(&self) -> &[f64] {
        &self.losses
    }

    /// The memory they take, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let parts: usize = self.parts.iter().map(SparseVec::len).sum();
        let each = size_of::<SparseVec>() + 3 * size_of::<f64>();
        let features = self.features.len() * size_of::<f64>();
        let past = self.past.len() * size_of::<PastMasses>();
        parts * size_of::<(u64, f64)>()
            + self.len() * each
            + self.distances.bytes()
            + features
            + past
    }

    /// Prepares the worker for the scores of all atoms at `w`, unless their features are kept.
    pub(crate) fn prepare(&self, i: usize, w: &[f64], worker: &mut dyn Worker) {
        if !self.has_features() {
            worker.prepare_scores(i, w, &self.parts);
        }
    }

    /// The score of an atom at `w`, for which the worker is [prepared](Self::prepare).
    pub(crate) fn score(&self, at: usize, i: usize, w: &[f64], worker: &dyn Worker) -> f64 {
        match self.has_features() {
            true => chunk_product(self.features(at), w),
            false => worker.score(i, w, &self.parts[at]),
        }
    }

    /// Computes the values of all atoms at `w`, for which the worker is [prepared](Self::prepare).
    pub(crate) fn evaluate(&mut self, i: usize, w: &[f64], worker: &dyn Worker) {
        if self.has_features() {
            let rows = self.features.chunks_exact(self.width);
            for ((value, row), loss) in self.values.iter_mut().zip(rows).zip(&self.losses) {
                *value = loss + chunk_product(row, w);
            }
            return;
        }
        for ((value, parts), loss) in self.values.iter_mut().zip(&self.parts).zip(&self.losses) {
            *value = loss + worker.score(i, w, parts);
        }
    }

    /// As [`evaluate`](Self::evaluate), but where features are kept, idle atoms that are below all others are
    /// [out of the running](OUT_OF_THE_RUNNING) until the next call of `evaluate`.
    pub(crate) fn evaluate_likely(&mut self, i: usize, w: &[f64], worker: &dyn Worker) {
        if !self.has_features() {
            return self.evaluate(i, w, worker);
        }
        let mut least = f64::INFINITY;
        for at in 0..self.len() {
            if self.values[at] != OUT_OF_THE_RUNNING {
                self.values[at] = self.losses[at] + chunk_product(self.features(at), w);
            }
            if self.masses[at] > 0.0 {
                least = least.min(self.values[at]);
            }
        }
        for (value, mass) in self.values.iter_mut().zip(&self.masses) {
            if *mass == 0.0 && *value < least {
                *value = OUT_OF_THE_RUNNING;
            }
        }
    }

    /// The value of the block's own point.
    pub(crate) fn own_value(&self) -> f64 {
        self.masses.iter().zip(&self.values).map(|(mass, value)| mass * value).sum()
    }

    /// The first atom of the largest value.
    pub(crate) fn best(&self) -> usize {
        let mut best = 0;
        for (at, value) in self.values.iter().enumerate() {
            if *value > self.values[best] {
                best = at;
            }
        }
        best
    }

    /// The first atom of the smallest value among those with mass.
    pub(crate) fn worst_active(&self) -> usize {
        let (mut worst, mut least) = (0, f64::INFINITY);
        for (at, (value, mass)) in self.values.iter().zip(&self.masses).enumerate() {
            if *mass > 0.0 && *value < least {
                (worst, least) = (at, *value);
            }
        }
        worst
    }

    /// The idle atom (without mass) of the smallest value, and the number of idle atoms.
    pub(crate) fn worst_idle(&self) -> (Option<usize>, usize) {
        let (mut worst, mut least, mut count) = (None, f64::INFINITY, 0);
        for (at, (value, mass)) in self.values.iter().zip(&self.masses).enumerate() {
            if *mass == 0.0 {
                count += 1;
                if worst.is_none() || *value < least {
                    (worst, least) = (Some(at), *value);
                }
            }
        }
        (worst, count)
    }

    /// The index of the atom with these parts, relative to the truth, and this loss. A new atom is added
    /// without mass.
    pub(crate) fn insert(
        &mut self,
        (problem, i): (&dyn Blocks, usize),
        parts: &SparseVec,
        loss: f64,
        value: f64,
    ) -> usize {
        let mut known = self.parts.iter().zip(&self.losses);
        if let Some(at) = known.position(|(p, l)| *l == loss && p == parts) {
            self.values[at] = value;
            return at;
        }
        if self.has_features() {
            add_features(problem, i, parts, self.width, &mut self.features);
        }
        self.parts.push(parts.clone());
        self.losses.push(loss);
        self.masses.push(0.0);
        self.values.push(value);
        if !self.past.is_empty() {
            self.past.push(PastMasses::default());
        }
        self.len() - 1
    }

    /// Splits the block's point, given relative to the truth, into two atoms: the only atom keeps `mass`,
    /// and the rest of the point becomes another atom.
    pub(crate) fn start_from(&mut self, mass: f64, mut parts: SparseVec, loss: f64) {
        self.past.clear();
        if mass == 1.0 {
            return;
        }
        let rest = 1.0 - mass;
        if rest < LEAST_REST {
            (self.parts[0], self.losses[0]) = (parts, loss);
            return;
        }
        self.masses[0] = mass;
        parts.add_scaled(-mass, &self.parts[0]);
        parts.scale(1.0 / rest);
        let loss = (loss - mass * self.losses[0]) / rest;
        if mass > 0.0 {
            self.parts.push(parts);
            self.losses.push(loss);
            self.masses.push(rest);
            self.values.push(0.0);
        } else {
            (self.parts[0], self.losses[0], self.masses[0]) = (parts, loss, 1.0);
        }
    }

    /// The squared distance of two atoms in feature space, computed once.
    pub(crate) fn distance(&mut self, a: usize, b: usize, ruler: &mut Ruler<'_>) -> f64 {
        self.distances.make_room(self.len());
        let known = self.distances.get(a, b);
        if !known.is_nan() {
            return known;
        }
        let distance = if self.has_features() {
            let pairs = self.features(a).iter().zip(self.features(b));
            pairs.map(|(a, b)| (a - b) * (a - b)).sum()
        } else {
            ruler.difference.assign_difference(&self.parts[a.min(b)], &self.parts[a.max(b)]);
            ruler.worker.norm_sq(ruler.i, ruler.difference)
        };
        self.distances.set(a, b, distance);
        distance
    }

    /// Updates all values after mass `gamma` has moved between two atoms: the value of atom c falls by
    /// ½·`gamma`·`rate`·(D(c, from) − D(c, to)), apart from a constant that is the same for all.
    pub(crate) fn note_move(
        &mut self,
        from: usize,
        to: usize,
        gamma: f64,
        rate: f64,
        ruler: &mut Ruler<'_>,
    ) {
        for row in [from, to] {
            for at in self.distances.known(row)..self.len() {
                self.distance(at, row, ruler);
            }
            self.distances.known[row] = self.len();
        }
        let (away, near) = (self.distances.row(from), self.distances.row(to));
        for ((value, away), near) in self.values.iter_mut().zip(away).zip(near) {
            *value -= 0.5 * gamma * rate * (away - near);
        }
    }

    /// Makes the present masses the newest of the earlier ones.
    pub(crate) fn keep_masses(&mut self) {
        self.past.resize(self.masses.len(), PastMasses::default());
        self.past.iter_mut().zip(&self.masses).for_each(|(past, &mass)| push_mass(past, mass));
    }

    /// The masses at earlier times, or nothing if none were kept.
    pub(crate) fn past(&self) -> &[PastMasses] {
        &self.past
    }

    /// The loss of the block's own point.
    pub(crate) fn own_loss(&self) -> f64 {
        self.masses.iter().zip(&self.losses).map(|(mass, loss)| mass * loss).sum()
    }

    /// Forgets an idle atom. The last atom takes its place.
    pub(crate) fn remove(&mut self, at: usize) {
        debug_assert!(self.masses[at] == 0.0, "an atom with mass cannot be forgotten");
        self.distances.swap_remove(at, self.len());
        if self.has_features() {
            let (width, last) = (self.width, self.features.len() - self.width);
            self.features.copy_within(last.., at * width);
            self.features.truncate(last);
        }
        if !self.past.is_empty() {
            self.past.swap_remove(at);
        }
        self.parts.swap_remove(at);
        self.losses.swap_remove(at);
        self.masses.swap_remove(at);
        self.values.swap_remove(at);
    }

    /// Makes the masses sum to one again if rounding has moved them.
    pub(crate) fn normalise(&mut self) {
        let sum: f64 = self.masses.iter().sum();
        if (sum - 1.0).abs() > 1e-13 {
            self.masses.iter_mut().for_each(|mass| *mass /= sum);
        }
    }

    /// The atoms that carry mass: mass, parts relative to the truth, loss.
    pub(crate) fn active(&self) -> impl Iterator<Item = (f64, &SparseVec, f64)> {
        let atoms = self.masses.iter().zip(&self.parts).zip(&self.losses);
        atoms.map(|((&mass, parts), &loss)| (mass, parts, loss)).filter(|(mass, ..)| *mass > 0.0)
    }

    /// The block's point relative to the truth: Σ mass · atom.
    pub(crate) fn write_relative(&self, point: &mut SparseVec) {
        point.clear();
        self.active().for_each(|(mass, parts, _)| point.add_scaled(mass, parts));
    }

    /// Writes what a change of masses does to the point, Σ change · atom. `spare` is scratch memory.
    ///
    /// The first atoms are what is left of other points, and have many parts. So they come last: every step copies what
    /// was summed up before.
    pub(crate) fn write_change(
        &self,
        changes: impl DoubleEndedIterator<Item = (usize, f64)>,
        way: &mut SparseVec,
        spare: &mut SparseVec,
    ) {
        way.clear();
        for (at, change) in changes.rev() {
            spare.assign_sum((1.0, way), (change, &self.parts[at]));
            std::mem::swap(way, spare);
        }
    }

    /// The block's point: Σ mass · (truth + atom), given the parts of the truth with the opposite sign.
    ///
    /// It is summed atom by atom, so that parts without mass do not get rounding errors instead. `whole`
    /// is scratch memory. Returns the loss.
    pub(crate) fn write_to(
        &self,
        point: &mut SparseVec,
        minus_truth: &SparseVec,
        whole: &mut SparseVec,
    ) -> f64 {
        point.clear();
        let mut all = 0.0;
        for (mass, parts, loss) in self.active() {
            whole.assign_difference(parts, minus_truth);
            point.add_scaled(mass, whole);
            all += mass * loss;
        }
        all
    }
}

/// Appends the features of a point of block `i`, which is given relative to the truth.
fn add_features(
    problem: &dyn Blocks,
    i: usize,
    parts: &SparseVec,
    width: usize,
    features: &mut Vec<f64>,
) {
    let start = features.len();
    features.resize(start + width, 0.0);
    problem.scatter(i, 1.0, parts, (&mut features[start..]).into());
}
