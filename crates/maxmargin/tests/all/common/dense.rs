//! A plain reference of the methods with memory, straight from Osokin et al. (2016): dense vectors, no
//! incremental updates, no shortcuts. Whatever a visit needs is computed anew from the masses of all blocks.
//!
//! A reference that meets a tie, which rounding decides, returns `None`: two correct programs may go different
//! ways from there.

mod steps;

use super::problems::Enumerated;
use super::reference::{best_corner, touch};
use super::{add_scaled, dot, norm_sq};
use maxmargin::{Caching, Direction, Order, Rng};

/// Values that differ by less are tied.
const TIE: f64 = 1e-9;

/// A corner that a block remembers, or the point at which it began.
#[derive(Debug, Clone, PartialEq)]
pub struct Atom {
    pub psi: Vec<f64>,
    pub loss: f64,
    pub mass: f64,
}

/// What the reference repeats.
#[derive(Debug, Clone, Copy)]
pub struct Recipe {
    pub lambda: f64,
    pub order: Order,
    pub direction: Direction,
    pub cache: Caching,
    pub factor: f64,
    pub nu: f64,
    /// The most idle corners of a block.
    pub corners: usize,
    pub seed: u64,
    pub gap_every: u64,
}

/// A run.
#[derive(Debug, Clone)]
pub struct Dense<'a> {
    pub problem: &'a Enumerated,
    recipe: Recipe,
    /// The corners of every block: those with mass, and idle ones if there is a cache.
    pub blocks: Vec<Vec<Atom>>,
    rng: Rng,
    /// The blocks of the present pass, for the order `permutation`.
    plan: Vec<usize>,
    /// The gap that each block had when it was looked at last, infinite before.
    pub gaps: Vec<f64>,
    unvisited: Option<Vec<usize>>,
    full_gap: f64,
    touched: Vec<bool>,
    pub average: Vec<f64>,
    pub visits: u64,
    pub calls: u64,
    pub hits: u64,
    /// Those of the hits for which the block's own criterion asked for more.
    pub local_hits: u64,
    pub drops: u64,
    /// The share ν of each block gap that the oracle's corner must have: the reference takes the worst one that does.
    pub accuracy: f64,
    passes: u64,
}

/// What a pass has ended with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum End {
    Full,
    Early,
    Trusted,
}

/// The index of the largest value, or `None` if another one is as large.
fn largest(values: &[f64]) -> Option<usize> {
    let best = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let near = |value: f64| value >= best - TIE * (1.0 + best.abs());
    let mut tied = (0..values.len()).filter(|&at| near(values[at]));
    let first = tied.next()?;
    tied.next().is_none().then_some(first)
}

/// Whether a ≥ b, or `None` at a tie.
fn at_least(a: f64, b: f64) -> Option<bool> {
    ((a - b).abs() > TIE * (1.0 + b.abs()).min(1e3) || b.is_infinite()).then_some(a >= b)
}

impl<'a> Dense<'a> {
    pub fn new(problem: &'a Enumerated, recipe: Recipe) -> Self {
        let truth = Atom { psi: vec![0.0; problem.dim], loss: 0.0, mass: 1.0 };
        Self::from(problem, recipe, vec![truth; problem.blocks.len()], None)
    }

    /// Begins at one point per block, whose gaps may be known.
    pub fn from(
        problem: &'a Enumerated,
        recipe: Recipe,
        points: Vec<Atom>,
        gaps: Option<Vec<f64>>,
    ) -> Self {
        let n = problem.blocks.len();
        let mut touched = vec![false; problem.dim];
        points.iter().for_each(|point| touch(&mut touched, &point.psi));
        let full_gap = gaps.as_ref().map_or(f64::INFINITY, |gaps| gaps.iter().sum());
        Self {
            problem,
            recipe,
            blocks: points.into_iter().map(|point| vec![point]).collect(),
            rng: Rng::new(recipe.seed),
            plan: (0..n).collect(),
            unvisited: gaps.is_some().then(Vec::new),
            gaps: gaps.unwrap_or_else(|| vec![f64::INFINITY; n]),
            full_gap,
            touched,
            average: vec![0.0; problem.dim],
            visits: 0,
            calls: 0,
            hits: 0,
            local_hits: 0,
            drops: 0,
            accuracy: 1.0,
            passes: 0,
        }
    }

    /// The point of a block: Σ mass · ψ and Σ mass · loss.
    pub fn point(&self, i: usize) -> Atom {
        let mut point = Atom { psi: vec![0.0; self.problem.dim], loss: 0.0, mass: 1.0 };
        for atom in &self.blocks[i] {
            add_scaled(&mut point.psi, atom.mass, &atom.psi);
            point.loss += atom.mass * atom.loss;
        }
        point
    }

    /// w = Σᵢ cᵢ/(λC) Σ_y αᵢ(y) ψᵢ(y).
    pub fn weights(&self) -> Vec<f64> {
        let mut w = vec![0.0; self.problem.dim];
        for i in 0..self.blocks.len() {
            let share = self.problem.share(i) / self.recipe.lambda;
            add_scaled(&mut w, share, &self.point(i).psi);
        }
        w
    }

    /// D = Σᵢ cᵢ/C Σ_y αᵢ(y) Lᵢ(y) − λ/2 ‖w‖².
    pub fn dual(&self) -> f64 {
        let loss = |i: usize| self.problem.share(i) * self.point(i).loss;
        let losses: f64 = (0..self.blocks.len()).map(loss).sum();
        losses - 0.5 * self.recipe.lambda * norm_sq(&self.weights())
    }

    /// The exact gap of every block at the present w.
    pub fn exact_gaps(&self) -> Vec<f64> {
        let w = self.weights();
        let gap = |i: usize| {
            let point = self.point(i);
            let corners = 0..self.problem.blocks[i].corners.len();
            let hinge = corners.map(|y| self.problem.augmented(i, y, &w)).fold(0.0, f64::max);
            self.problem.share(i) * (hinge - (point.loss - dot(&w, &point.psi)))
        };
        (0..self.blocks.len()).map(gap).collect()
    }

    /// Looks at all blocks by exact oracles.
    pub fn exact_pass(&mut self) -> f64 {
        self.gaps = self.exact_gaps();
        self.unvisited = Some(Vec::new());
        self.calls += self.gaps.len() as u64;
        self.full_gap = self.gaps.iter().sum();
        self.full_gap
    }

    /// The block to visit next (Alg. 2); `None` at a tie, and `Some(None)` if no known gap is left.
    fn next(&mut self) -> Option<Option<usize>> {
        let n = self.blocks.len();
        match self.recipe.order {
            Order::Uniform => return Some(Some(self.rng.below(n))),
            Order::Cyclic => return Some(Some(self.visits as usize % n)),
            Order::Permutation => {
                let at = self.visits as usize % n;
                if at == 0 {
                    self.rng.shuffle(&mut self.plan);
                }
                return Some(Some(self.plan[at]));
            }
            _ => {}
        }
        if self.unvisited.is_none() {
            let mut blocks: Vec<usize> = (0..n).collect();
            self.rng.shuffle(&mut blocks);
            self.unvisited = Some(blocks);
        }
        if let Some(i) = self.unvisited.as_mut().and_then(Vec::pop) {
            return Some(Some(i));
        }
        let weights: Vec<f64> = self.gaps.iter().map(|gap| gap.max(0.0)).collect();
        let sum: f64 = weights.iter().sum();
        if sum < TIE {
            return None; // rounding decides whether anything is left
        }
        if self.recipe.order == Order::MaxGap {
            return largest(&weights).map(Some);
        }
        let u = self.rng.unit_f64();
        let draw = |u: f64| {
            let mut rest = u * sum;
            weights.iter().position(|weight| {
                rest -= weight;
                rest < 0.0
            })
        };
        let drawn = draw(u)?;
        (draw(u - TIE) == Some(drawn) && draw(u + TIE) == Some(drawn)).then_some(Some(drawn))
    }

    /// Hᵢ(y; w) of every corner that block i remembers.
    fn values(&self, i: usize, w: &[f64]) -> Vec<f64> {
        self.blocks[i].iter().map(|atom| atom.loss - dot(w, &atom.psi)).collect()
    }

    /// The index of the best remembered corner, and its gap.
    fn best(&self, i: usize, w: &[f64]) -> Option<(usize, f64)> {
        let values = self.values(i, w);
        let best = largest(&values)?;
        let own: f64 = values.iter().zip(&self.blocks[i]).map(|(v, atom)| v * atom.mass).sum();
        Some((best, self.problem.share(i) * (values[best] - own)))
    }

    /// Whether the best remembered corner is good enough (Alg. 5).
    fn is_hit(&self, i: usize, w: &[f64]) -> Option<bool> {
        if self.recipe.cache == Caching::Off || self.gaps[i].is_infinite() {
            return Some(false);
        }
        let (_, gap) = self.best(i, w)?;
        let local = self.recipe.factor * self.gaps[i];
        let global = self.recipe.nu / self.blocks.len() as f64 * self.full_gap;
        let needed = if self.recipe.nu == 0.0 { local } else { local.max(global) };
        Some(at_least(gap, needed)? && gap > 0.0)
    }

    /// One visit. Returns `None` at a tie, and `Some(false)` if there is no block to visit.
    pub fn visit(&mut self) -> Option<bool> {
        let Some(i) = self.next()? else { return Some(false) };
        let w = self.weights();
        if self.is_hit(i, &w)? {
            self.hits += 1;
            let global = self.recipe.nu / self.blocks.len() as f64 * self.full_gap;
            let is_global =
                self.recipe.nu > 0.0 && at_least(global, self.recipe.factor * self.gaps[i])?;
            self.local_hits += u64::from(!is_global);
        } else {
            let best = best_corner(self.problem, i, &w, &self.touched)?;
            let y = self.spoiled(i, &w, best);
            let (psi, loss) = self.problem.blocks[i].corners[y].clone();
            touch(&mut self.touched, &psi);
            let atoms = &mut self.blocks[i];
            if !atoms.iter().any(|atom| atom.psi == psi && atom.loss == loss) {
                atoms.push(Atom { psi, loss, mass: 0.0 });
            }
            self.calls += 1;
            self.gaps[i] = self.best(i, &w)?.1.max(0.0);
        }
        let values = self.values(i, &w);
        self.move_block(i)?;
        self.forget(i, values)?;
        let k = self.visits as f64;
        self.average.iter_mut().for_each(|x| *x *= k / (k + 2.0));
        let now = self.weights();
        add_scaled(&mut self.average, 2.0 / (k + 2.0), &now);
        self.visits += 1;
        Some(true)
    }

    /// The worst corner whose gap is at least the share `accuracy` of that of the best.
    fn spoiled(&self, i: usize, w: &[f64], best: usize) -> usize {
        if self.accuracy == 1.0 {
            return best;
        }
        let point = self.point(i);
        let own = point.loss - dot(w, &point.psi);
        let value = |y: usize| self.problem.augmented(i, y, w);
        let least = own + self.accuracy * (value(best) - own);
        let allowed = (0..self.problem.blocks[i].corners.len()).filter(|&y| value(y) >= least);
        allowed.min_by(|&a, &b| value(a).total_cmp(&value(b))).unwrap_or(best)
    }

    /// Forgets idle corners: all of them without a cache, otherwise those of the lowest value.
    fn forget(&mut self, i: usize, mut values: Vec<f64>) -> Option<()> {
        let most = if self.recipe.cache == Caching::Off { 0 } else { self.recipe.corners };
        loop {
            let idle: Vec<usize> =
                (0..values.len()).filter(|&at| self.blocks[i][at].mass == 0.0).collect();
            if idle.len() <= most {
                return Some(());
            }
            let lowest = match most {
                0 => idle[0],
                _ => idle[largest(&idle.iter().map(|&at| -values[at]).collect::<Vec<_>>())?],
            };
            self.blocks[i].remove(lowest);
            values.remove(lowest);
        }
    }

    /// The sum of the last known gaps, if the order keeps one for every block.
    fn known_gap(&self) -> Option<f64> {
        let all_seen = self.unvisited.as_ref().is_some_and(Vec::is_empty);
        match self.recipe.order {
            Order::Gap if all_seen => Some(self.gaps.iter().map(|gap| gap.max(0.0)).sum()),
            Order::MaxGap if all_seen => {
                let most = self.gaps.iter().fold(0.0, |most: f64, gap| most.max(*gap));
                Some(self.blocks.len() as f64 * most)
            }
            _ => None,
        }
    }

    /// A pass of n visits. `seen` is shown the run after each.
    fn pass(&mut self, tolerance: f64, trusting: bool, seen: &mut dyn FnMut(&Self)) -> Option<End> {
        self.passes += 1;
        for _ in 0..self.blocks.len() {
            if !self.visit()? {
                return Some(End::Early);
            }
            seen(self);
            let Some(known) = self.known_gap().filter(|_| tolerance > 0.0) else { continue };
            if trusting && at_least(tolerance, known)? {
                return Some(End::Trusted);
            }
            if at_least(0.8 * tolerance, known)? {
                return Some(End::Early);
            }
        }
        Some(End::Full)
    }

    /// Makes passes and exact passes until the gap is within the tolerance, at most `most` passes. Returns
    /// `None` at a tie.
    pub fn run(
        &mut self,
        most: u64,
        tolerance: f64,
        trusting: bool,
        mut seen: impl FnMut(&Self),
    ) -> Option<End> {
        for _ in 0..most {
            let end = self.pass(tolerance, trusting, &mut seen)?;
            if end == End::Trusted {
                return Some(end);
            }
            if end == End::Early || self.passes.is_multiple_of(self.recipe.gap_every) {
                let gap = self.exact_pass();
                seen(self);
                if tolerance > 0.0 && at_least(tolerance, gap)? {
                    return Some(End::Full);
                }
            }
        }
        Some(End::Full)
    }
}
