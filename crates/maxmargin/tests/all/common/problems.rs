//! Problems as a user would write them: with the seven required methods, and the weight if needed.

use super::dot;
use maxmargin::ProblemExt as _;
use maxmargin::problem::{Abilities, Accuracy, OracleWithin};
use maxmargin::{Bounds, Problem, Quality, Rng, SparseVec, forward_problem};
use proptest::collection::vec;
use proptest::prelude::*;

/// A problem that lists every ψᵢ(y) and Lᵢ(y), so that its blocks can be any polytope.
#[derive(Debug, Clone)]
pub struct Enumerated {
    pub dim: usize,
    pub blocks: Vec<EnumeratedBlock>,
}

#[derive(Debug, Clone)]
pub struct EnumeratedBlock {
    pub weight: f64,
    /// ψ and loss of every output. One of them is the truth, for which both are zero.
    pub corners: Vec<(Vec<f64>, f64)>,
}

impl Enumerated {
    pub fn share(&self, i: usize) -> f64 {
        self.blocks[i].weight / self.blocks.iter().map(|block| block.weight).sum::<f64>()
    }

    /// Hᵢ(y; w).
    pub fn augmented(&self, i: usize, y: usize, w: &[f64]) -> f64 {
        let (psi, loss) = &self.blocks[i].corners[y];
        loss - dot(w, psi)
    }

    /// The primal objective, straight from its definition.
    pub fn primal(&self, lambda: f64, w: &[f64]) -> f64 {
        let hinge = |i: usize| {
            let all = (0..self.blocks[i].corners.len()).map(|y| self.augmented(i, y, w));
            all.fold(f64::NEG_INFINITY, f64::max)
        };
        let risk: f64 = (0..self.blocks.len()).map(|i| self.share(i) * hinge(i)).sum();
        0.5 * lambda * dot(w, w) + risk
    }

    /// The gap of the start: Σ share · the largest loss.
    pub fn start_gap(&self) -> f64 {
        let largest =
            |block: &EnumeratedBlock| block.corners.iter().map(|c| c.1).fold(0.0, f64::max);
        (0..self.blocks.len()).map(|i| self.share(i) * largest(&self.blocks[i])).sum()
    }
}

fn first_best(values: impl Iterator<Item = f64>) -> usize {
    let mut best = (0, f64::NEG_INFINITY);
    for (at, value) in values.enumerate() {
        if value > best.1 {
            best = (at, value);
        }
    }
    best.0
}

impl Problem for Enumerated {
    type Output = usize;
    type Workspace = ();

    fn examples(&self) -> usize {
        self.blocks.len()
    }
    fn dim(&self) -> usize {
        self.dim
    }
    fn workspace(&self) {}
    fn oracle(&self, i: usize, w: &[f64], _: &mut (), y: &mut usize) {
        *y = first_best((0..self.blocks[i].corners.len()).map(|y| self.augmented(i, y, w)));
    }
    fn decode(&self, i: usize, w: &[f64], _: &mut (), y: &mut usize) {
        *y = first_best(self.blocks[i].corners.iter().map(|(psi, _)| -dot(w, psi)));
    }
    fn loss(&self, i: usize, y: &usize) -> f64 {
        self.blocks[i].corners[*y].1
    }
    fn psi(&self, i: usize, y: &usize, psi: &mut SparseVec) {
        // Backwards and in halves, because entries may come in any order and repeatedly.
        for (feature, &value) in self.blocks[i].corners[*y].0.iter().enumerate().rev() {
            psi.push(feature as u64, 0.5 * value);
            psi.push(feature as u64, 0.5 * value);
        }
    }
    fn weight(&self, i: usize) -> f64 {
        self.blocks[i].weight
    }
}

/// Random corners and random losses, without any structure.
pub fn any_polytope() -> impl Strategy<Value = Enumerated> {
    (1usize..=5, any::<bool>()).prop_flat_map(|(dim, weighted)| {
        let weight = if weighted { (0.2..2.0f64).boxed() } else { Just(1.0).boxed() };
        let corner = (vec(-2.0..2.0f64, dim), 0.05..2.0f64);
        let block = (weight, vec(corner, 1..=5), any::<prop::sample::Index>());
        let block = block.prop_map(move |(weight, mut corners, truth)| {
            let at = truth.index(corners.len());
            corners[at] = (vec![0.0; dim], 0.0);
            EnumeratedBlock { weight, corners }
        });
        vec(block, 1..=6).prop_map(move |blocks| Enumerated { dim, blocks })
    })
}

/// Three to six blocks with two to six random corners. With fewer blocks nothing happens between two visits to
/// the same one, and its corners tie.
pub fn many_blocks() -> impl Strategy<Value = Enumerated> {
    (2usize..=6, any::<bool>()).prop_flat_map(|(dim, weighted)| {
        let weight = if weighted { (0.2..2.0f64).boxed() } else { Just(1.0).boxed() };
        let corner = (vec(-2.0..2.0f64, dim), 0.05..2.0f64);
        let block = (weight, vec(corner, 2..=6)).prop_map(move |(weight, mut corners)| {
            corners[0] = (vec![0.0; dim], 0.0);
            EnumeratedBlock { weight, corners }
        });
        vec(block, 3..=6).prop_map(move |blocks| Enumerated { dim, blocks })
    })
}

/// Blocks with random corners, the first of which is the truth.
pub fn random_blocks(seed: u64, blocks: usize, corners: usize, dim: usize) -> Enumerated {
    let mut rng = Rng::new(seed);
    let mut number = || 2.0 * rng.unit_f64() - 1.0;
    let mut corner = |is_truth: bool| match is_truth {
        true => (vec![0.0; dim], 0.0),
        false => ((0..dim).map(|_| number()).collect(), 1.0 + 0.5 * number()),
    };
    let mut block = |_| EnumeratedBlock {
        weight: 1.0,
        corners: (0..corners).map(|y| corner(y == 0)).collect(),
    };
    Enumerated { dim, blocks: (0..blocks).map(&mut block).collect() }
}

/// Multiclass classification: φ(x, y) = e_y ⊗ x, and 1 for every mistake.
#[derive(Debug, Clone)]
pub struct Multiclass {
    pub classes: usize,
    pub xs: Vec<Vec<f64>>,
    pub ys: Vec<usize>,
}

impl Problem for Multiclass {
    type Output = usize;
    type Workspace = Vec<f64>;

    fn examples(&self) -> usize {
        self.xs.len()
    }
    fn dim(&self) -> usize {
        self.classes * self.xs[0].len()
    }
    fn workspace(&self) -> Vec<f64> {
        Vec::new()
    }
    fn oracle(&self, i: usize, w: &[f64], scores: &mut Vec<f64>, y: &mut usize) {
        scores.clear();
        let rows = w.chunks_exact(self.xs[i].len()).enumerate();
        scores.extend(rows.map(|(y, row)| self.loss(i, &y) + dot(row, &self.xs[i])));
        *y = first_best(scores.iter().copied());
    }
    fn decode(&self, i: usize, w: &[f64], _: &mut Vec<f64>, y: &mut usize) {
        *y = first_best(w.chunks_exact(self.xs[i].len()).map(|row| dot(row, &self.xs[i])));
    }
    fn loss(&self, i: usize, y: &usize) -> f64 {
        f64::from(*y != self.ys[i])
    }
    fn psi(&self, i: usize, y: &usize, psi: &mut SparseVec) {
        for (class, sign) in [(self.ys[i], 1.0), (*y, -1.0)] {
            for (feature, value) in self.xs[i].iter().enumerate() {
                psi.push((class * self.xs[i].len() + feature) as u64, sign * value);
            }
        }
    }
}

impl Multiclass {
    pub fn enumerate(&self) -> Enumerated {
        let block = |i: usize| {
            let corner = |y: usize| {
                let mut psi = vec![0.0; self.dim()];
                for (feature, value) in self.xs[i].iter().enumerate() {
                    psi[self.ys[i] * self.xs[i].len() + feature] += value;
                    psi[y * self.xs[i].len() + feature] -= value;
                }
                (psi, self.loss(i, &y))
            };
            EnumeratedBlock { weight: 1.0, corners: (0..self.classes).map(corner).collect() }
        };
        Enumerated { dim: self.dim(), blocks: (0..self.xs.len()).map(block).collect() }
    }
}

pub fn any_multiclass(
    classes: std::ops::RangeInclusive<usize>,
) -> impl Strategy<Value = Multiclass> {
    (classes, 1usize..=4).prop_flat_map(|(classes, features)| {
        vec((vec(-2.0..2.0f64, features), 0..classes), 1..=8).prop_map(move |examples| {
            let (xs, ys) = examples.into_iter().unzip();
            Multiclass { classes, xs, ys }
        })
    })
}

/// A problem with many more weights, none of which matters. Blocks then remember corners by their parts, and
/// not by their features.
#[derive(Debug, Clone)]
pub struct Wide<P>(pub P);

impl<P: Problem> Problem for Wide<P> {
    type Output = P::Output;
    type Workspace = P::Workspace;

    forward_problem!(self.0, workspace, except[dim]);

    fn dim(&self) -> usize {
        self.0.dim() + 2000
    }
}

/// A problem reduced to its required methods (and the example weights), so that the engine works with ψ
/// instead of parts.
#[derive(Debug, Clone)]
pub struct ViaPsi<P>(pub P);

impl<P: Problem> Problem for ViaPsi<P> {
    type Output = P::Output;
    type Workspace = P::Workspace;

    forward_problem!(self.0, workspace, except [
        // Prepare first, because the engine does not.
        oracle,
        decode,
        // Hide everything that is not required.
        bounds,
        abilities,
    ]);

    fn oracle(&self, i: usize, w: &[f64], workspace: &mut P::Workspace, y: &mut P::Output) {
        self.0.prepare(i, w, workspace);
        self.0.oracle(i, w, workspace, y);
    }
    fn decode(&self, i: usize, w: &[f64], workspace: &mut P::Workspace, y: &mut P::Output) {
        self.0.prepare(i, w, workspace);
        self.0.decode(i, w, workspace, y);
    }
    fn abilities(&self) -> Abilities<'_, P::Workspace, P::Output> {
        let Abilities { total_weight, is_trusted, decodes_otherwise, .. } = self.0.abilities();
        Abilities { total_weight, is_trusted, decodes_otherwise, ..Abilities::none() }
    }
}

/// A problem that calls a closure at every oracle call, or has other bounds, and is otherwise unchanged.
pub struct Watched<P, F> {
    pub inner: P,
    pub on_oracle: F,
    pub bounds: Option<Bounds>,
}

/// A problem with bounds on its weights.
pub fn bounded<P>(inner: P, bounds: Bounds) -> Watched<P, fn(usize)> {
    Watched { inner, on_oracle: |_| {}, bounds: Some(bounds) }
}

impl<P: Problem, F: Fn(usize) + Sync> Problem for Watched<P, F> {
    type Output = P::Output;
    type Workspace = P::Workspace;

    forward_problem!(self.inner, workspace, except [
        oracle,    // watched
        bounds,    // its own
        abilities, // without ways around the oracle
    ]);

    fn oracle(&self, i: usize, w: &[f64], workspace: &mut P::Workspace, y: &mut P::Output) {
        (self.on_oracle)(i);
        self.inner.oracle(i, w, workspace, y);
    }
    fn bounds(&self) -> Option<&Bounds> {
        self.bounds.as_ref()
    }
    fn abilities(&self) -> Abilities<'_, P::Workspace, P::Output> {
        let inner = self.inner.abilities();
        Abilities { scaled_losses: None, simplices: None, expectations: None, ..inner }
    }
}

/// An oracle that always answers with output 1.
pub struct Stubborn(pub Enumerated);

impl Problem for Stubborn {
    type Output = usize;
    type Workspace = ();

    forward_problem!(self.0, workspace, except[oracle]);

    fn oracle(&self, _: usize, _: &[f64], (): &mut (), y: &mut usize) {
        *y = 1;
    }
}

/// A heuristic oracle that looks at a random selection of the outputs.
pub struct Careless(pub Enumerated);

impl Problem for Careless {
    type Output = usize;
    type Workspace = ();

    forward_problem!(self.0, workspace, except [oracle, quality]);

    fn oracle(&self, i: usize, w: &[f64], (): &mut (), y: &mut usize) {
        // The selection depends on w alone, so that runs are repeatable.
        let seed = w.iter().fold(i as u64, |seed, w| seed.rotate_left(7) ^ w.to_bits());
        let mut rng = Rng::new(seed);
        let outputs = self.0.blocks[i].corners.len();
        let seen: Vec<usize> = (0..1 + rng.below(2)).map(|_| rng.below(outputs)).collect();
        *y = seen[first_best(seen.iter().map(|&y| self.0.augmented(i, y, w)))];
    }
    fn quality(&self) -> Quality {
        Quality::Heuristic
    }
}

/// A problem whose oracle finds the worst output that it is allowed to, and knows by how much it has missed the best.
#[derive(Debug, Clone)]
pub struct Spoiled {
    pub inner: Enumerated,
    /// The accuracy of an oracle that is asked for the maximum: a share of the way from the truth to it.
    pub best: f64,
}

impl Spoiled {
    pub fn new(inner: Enumerated) -> Self {
        Self { inner, best: 1.0 }
    }
}

impl Problem for Spoiled {
    type Output = usize;
    type Workspace = ();

    forward_problem!(self.inner, workspace, except [oracle, quality, abilities]);

    fn oracle(&self, i: usize, w: &[f64], workspace: &mut (), y: &mut usize) {
        OracleWithin::oracle_within(self, i, w, Accuracy::Exact, workspace, y);
    }
    fn quality(&self) -> Quality {
        if self.best < 1.0 { Quality::Heuristic } else { Quality::Exact }
    }
    fn abilities(&self) -> Abilities<'_, (), usize> {
        Abilities { within: Some(self), ..Abilities::none() }
    }
}

impl OracleWithin for Spoiled {
    fn oracle_within(
        &self,
        i: usize,
        w: &[f64],
        asked: Accuracy,
        (): &mut (),
        y: &mut usize,
    ) -> f64 {
        let asked = match asked {
            Accuracy::Exact if self.best < 1.0 => Accuracy::Share { share: self.best, above: 0.0 },
            asked => asked,
        };
        let value = |y: usize| self.inner.augmented(i, y, w);
        let all = 0..self.inner.blocks[i].corners.len();
        let most = all.clone().map(value).fold(f64::NEG_INFINITY, f64::max);
        let allowed = all.filter(|&y| asked.accepts(value(y), most));
        // Rounding may leave none.
        let worst = allowed.min_by(|&a, &b| value(a).total_cmp(&value(b)));
        match worst {
            Some(worst) => *y = worst,
            None => self.inner.oracle(i, w, &mut (), y),
        }
        most - value(*y)
    }
}
