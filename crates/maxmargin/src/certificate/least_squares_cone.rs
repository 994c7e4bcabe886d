//! The point of a cone that is nearest to a target, where the generators of the cone arrive one by one.
//!
//! This is the active-set method of Lawson and Hanson (1974) for least squares with coefficients ≥ 0.
//! Generators are sparse vectors. Inner products are computed once for each pair. The residual is recomputed
//! from the vectors themselves, so that it is small to rounding if the target lies in the cone.

use crate::problem::sparse::SparseVec;

/// Coefficients below this share of the largest one are rounding errors.
const NEGLIGIBLE: f64 = 1e-14;

/// A generator whose distance from the span of the others is below this share of its length adds
/// nothing to the span.
const DEPENDENT: f64 = 1e-15;

/// The nearest point of a cone to a target, as a combination of generators.
#[derive(Debug)]
pub(crate) struct NearestInCone {
    target: SparseVec,
    generators: Vec<SparseVec>,
    /// Inner products of generators, row by row, each with those before it and itself.
    gram: Vec<Vec<f64>>,
    /// Inner products with the target.
    products: Vec<f64>,
    coefficients: Vec<f64>,
    /// The generators that carry the point.
    active: Vec<usize>,
    /// target − point. Zero outside the coordinates in `touched`.
    residual: Vec<f64>,
    touched: Vec<u32>,
    is_touched: Vec<bool>,
}

impl NearestInCone {
    /// The point 0, for a target with coordinates below `dim`.
    pub(crate) fn new(target: SparseVec, dim: usize) -> Self {
        let mut new = Self {
            target,
            generators: Vec::new(),
            gram: Vec::new(),
            products: Vec::new(),
            coefficients: Vec::new(),
            active: Vec::new(),
            residual: vec![0.0; dim],
            touched: Vec::new(),
            is_touched: vec![false; dim],
        };
        new.update_residual();
        new
    }

    /// target − point, by coordinate.
    pub(crate) fn residual(&self) -> &[f64] {
        &self.residual
    }

    /// All generators so far.
    pub(crate) fn generators(&self) -> impl Iterator<Item = &SparseVec> {
        self.generators.iter()
    }

    /// The coordinates in which the residual may differ from 0.
    pub(crate) fn touched(&self) -> &[u32] {
        &self.touched
    }

    /// ‖target − point‖².
    pub(crate) fn distance_sq(&self) -> f64 {
        self.touched.iter().map(|&at| self.residual[at as usize].powi(2)).sum()
    }

    /// Adds a generator and moves to the point of the larger cone that is nearest to the target. Returns
    /// false if, up to rounding, that is the same point as before.
    pub(crate) fn extend(&mut self, generator: SparseVec) -> bool {
        let before = self.distance_sq();
        let row = self.products_with(&generator);
        self.products.push(self.inner(&generator));
        self.gram.push(row);
        self.generators.push(generator);
        self.coefficients.push(0.0);
        let mut newest = Some(self.generators.len() - 1);
        // Every round activates one generator that brings the point nearer to the target.
        while let Some(at) = newest {
            if !self.activate(at) {
                break;
            }
            newest = self.promising();
        }
        self.distance_sq() < before * (1.0 - 1e-9)
    }

    /// The idle generator that points most towards the target, if any does.
    fn promising(&self) -> Option<usize> {
        let distance = self.distance_sq().sqrt();
        let idle = (0..self.generators.len()).filter(|at| !self.active.contains(at));
        let gains = idle.map(|at| {
            let length = self.gram[at][at].sqrt();
            (at, self.generators[at].dot_dense(&self.residual) / length)
        });
        let best = gains.max_by(|a, b| a.1.total_cmp(&b.1))?;
        (best.1 > 1e-9 * distance).then_some(best.0)
    }

    /// Activates generator `at` and moves to the nearest point of all active generators; some of them may
    /// become idle. Returns false if that does not help.
    fn activate(&mut self, at: usize) -> bool {
        let before = (self.active.clone(), self.coefficients.clone(), self.distance_sq());
        self.active.push(at);
        while let Some(wanted) = self.unconstrained() {
            let largest = wanted.iter().fold(0.0, |most: f64, c| most.max(c.abs()));
            if wanted.iter().all(|c| *c > NEGLIGIBLE * largest) {
                for (&k, c) in self.active.iter().zip(&wanted) {
                    self.coefficients[k] = *c;
                }
                self.update_residual();
                if self.distance_sq() >= before.2 {
                    break;
                }
                return true;
            }
            self.go_to_boundary(&wanted, largest);
            if self.active.is_empty() {
                break;
            }
        }
        (self.active, self.coefficients) = (before.0, before.1);
        self.update_residual();
        false
    }

    /// Goes towards the wanted coefficients until the first of them is 0, and makes its generator idle.
    fn go_to_boundary(&mut self, wanted: &[f64], largest: f64) {
        let falling = self.active.iter().zip(wanted).filter(|(_, c)| **c <= NEGLIGIBLE * largest);
        let share = falling
            .map(|(&k, c)| self.coefficients[k] / (self.coefficients[k] - c).max(f64::MIN_POSITIVE))
            .fold(1.0, f64::min);
        let mut least = (f64::INFINITY, 0);
        for (place, (&k, c)) in self.active.iter().zip(wanted).enumerate() {
            self.coefficients[k] += share * (c - self.coefficients[k]);
            if *c <= NEGLIGIBLE * largest && self.coefficients[k] < least.0 {
                least = (self.coefficients[k], place);
            }
        }
        let rests = self.active.swap_remove(least.1);
        self.coefficients[rests] = 0.0;
    }

    /// The coefficients of active generators with the least distance, of either sign. Returns `None` if
    /// the generators depend on each other.
    fn unconstrained(&self) -> Option<Vec<f64>> {
        let factor = self.cholesky()?;
        let mut solution = solve(&factor, self.active.iter().map(|&k| self.products[k]).collect());
        // One step of refinement, with the residual from the vectors themselves.
        let mut residual = vec![0.0; self.residual.len()];
        self.add_residual(&solution, &mut residual);
        let rest = self.active.iter().map(|&k| self.generators[k].dot_dense(&residual)).collect();
        for (c, correction) in solution.iter_mut().zip(solve(&factor, rest)) {
            *c += correction;
        }
        solution.iter().all(|c| c.is_finite()).then_some(solution)
    }

    /// The lower triangle L with LLᵀ = the Gram matrix of the active generators.
    fn cholesky(&self) -> Option<Vec<Vec<f64>>> {
        let mut rows: Vec<Vec<f64>> = Vec::with_capacity(self.active.len());
        for (i, &a) in self.active.iter().enumerate() {
            let mut row = Vec::with_capacity(i + 1);
            for (j, &b) in self.active[..=i].iter().enumerate() {
                let earlier: &[f64] = if i == j { &row } else { &rows[j] };
                let known: f64 = row.iter().zip(earlier).map(|(x, y)| x * y).sum();
                let rest = self.gram[a.max(b)][a.min(b)] - known;
                if i != j {
                    row.push(rest / rows[j][j]);
                } else if rest > DEPENDENT * self.gram[a][a] {
                    row.push(rest.sqrt());
                } else {
                    return None;
                }
            }
            rows.push(row);
        }
        Some(rows)
    }

    fn update_residual(&mut self) {
        for &at in &self.touched {
            self.residual[at as usize] = 0.0;
            self.is_touched[at as usize] = false;
        }
        self.touched.clear();
        let mut residual = std::mem::take(&mut self.residual);
        let coefficients: Vec<f64> = self.active.iter().map(|&k| self.coefficients[k]).collect();
        self.add_residual(&coefficients, &mut residual);
        self.residual = residual;
        let carrying = self.active.iter().map(|&k| &self.generators[k]);
        for vector in carrying.chain([&self.target]) {
            for &(at, _) in vector.entries() {
                if !std::mem::replace(&mut self.is_touched[at as usize], true) {
                    self.touched.push(at as u32);
                }
            }
        }
    }

    /// Adds target − Σ coefficients·generators, over the active ones, to zeros.
    fn add_residual(&self, coefficients: &[f64], residual: &mut [f64]) {
        for &(at, value) in self.target.entries() {
            residual[at as usize] += value;
        }
        for (&k, c) in self.active.iter().zip(coefficients) {
            for &(at, value) in self.generators[k].entries() {
                residual[at as usize] -= c * value;
            }
        }
    }

    /// Inner products of a new generator with all that are there, and with itself.
    fn products_with(&self, generator: &SparseVec) -> Vec<f64> {
        let all = self.generators.iter().chain([generator]);
        all.map(|other| dot(other, generator)).collect()
    }

    fn inner(&self, generator: &SparseVec) -> f64 {
        dot(&self.target, generator)
    }
}

/// ⟨a, b⟩ of two sorted sparse vectors.
fn dot(a: &SparseVec, b: &SparseVec) -> f64 {
    let (mut a, mut b) = (a.entries().iter().peekable(), b.entries().iter().peekable());
    let mut sum = 0.0;
    while let (Some((i, x)), Some((j, y))) = (a.peek(), b.peek()) {
        match i.cmp(j) {
            std::cmp::Ordering::Less => drop(a.next()),
            std::cmp::Ordering::Greater => drop(b.next()),
            std::cmp::Ordering::Equal => {
                sum += x * y;
                a.next();
                b.next();
            }
        }
    }
    sum
}

/// Solves LLᵀx = b.
fn solve(factor: &[Vec<f64>], mut b: Vec<f64>) -> Vec<f64> {
    for i in 0..b.len() {
        let known: f64 = factor[i][..i].iter().zip(&b).map(|(l, x)| l * x).sum();
        b[i] = (b[i] - known) / factor[i][i];
    }
    for i in (0..b.len()).rev() {
        let known: f64 = (i + 1..b.len()).map(|j| factor[j][i] * b[j]).sum();
        b[i] = (b[i] - known) / factor[i][i];
    }
    b
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn vectors(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Vec<f64>>> {
        prop::collection::vec(prop::collection::vec(-1.0..1.0, 5), count)
    }

    fn sparse(dense: &[f64]) -> SparseVec {
        (0..).zip(dense.iter().copied()).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn a_target_inside_the_cone_is_reached(
            generators in vectors(1..12),
            shares in prop::collection::vec(0.0..1.0, 12),
        ) {
            let mut target = vec![0.0; 5];
            for (generator, share) in generators.iter().zip(&shares) {
                target.iter_mut().zip(generator).for_each(|(t, g)| *t += share * g);
            }
            let mut cone = NearestInCone::new(sparse(&target), 5);
            for generator in &generators {
                cone.extend(sparse(generator));
            }
            prop_assert!(cone.distance_sq().sqrt() < 1e-10, "{}", cone.distance_sq());
        }

        #[test]
        fn the_residual_separates_the_target_from_the_cone(
            generators in vectors(1..5),
            target in prop::collection::vec(-1.0..1.0, 5),
        ) {
            let mut cone = NearestInCone::new(sparse(&target), 5);
            for generator in &generators {
                cone.extend(sparse(generator));
            }
            // The conditions of Karush, Kuhn and Tucker: no generator leads nearer to the target.
            for generator in &generators {
                let gain: f64 = generator.iter().zip(cone.residual()).map(|(g, r)| g * r).sum();
                prop_assert!(gain <= 1e-7, "{}", gain);
            }
            let product: f64 = target.iter().zip(cone.residual()).map(|(t, r)| t * r).sum();
            prop_assert!((product - cone.distance_sq()).abs() < 1e-7);
        }
    }
}
