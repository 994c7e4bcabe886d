//! A small quadratic program over one simplex, by sequential minimal optimisation.

use crate::dual::{Clipped, Pace};
use crate::problem::{Sink as _, SparseVec};

/// Maximises Σ bₚβₚ − λ/2 Σ βₚβ_q⟨wₚ, w_q⟩ over β ≥ 0 with Σ βₚ = 1. Variables come and go, and every
/// solution starts from the one before.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct SimplexQp {
    lambda: f64,
    pub(super) masses: Vec<f64>,
    linear: Vec<f64>,
    /// ⟨wₚ, w_q⟩.
    products: Vec<Vec<f64>>,
    #[cfg_attr(feature = "serde", serde(skip))]
    values: Vec<f64>,
}

/// The most steps per variable in one call.
const MOST_STEPS: usize = 1000;

impl SimplexQp {
    pub(super) fn new(lambda: f64) -> Self {
        let (masses, linear, products, values) = Default::default();
        Self { lambda, masses, linear, products, values }
    }

    /// Whether it has `count` variables, and their masses are a point of the simplex.
    pub(super) fn fits(&self, count: usize) -> bool {
        let sum: f64 = self.masses.iter().sum();
        [self.masses.len(), self.linear.len(), self.products.len()] == [count; 3]
            && self.products.iter().all(|row| row.len() == count)
            && self.masses.iter().all(|mass| *mass >= 0.0)
            && (count == 0 || (sum - 1.0).abs() <= 1e-6)
    }

    /// Adds a variable. The first one gets all mass, and later ones none. `products` holds its inner products with all
    /// earlier variables, and with itself last.
    pub(super) fn add(&mut self, linear: f64, products: Vec<f64>) {
        self.masses.push(f64::from(u8::from(self.masses.is_empty())));
        self.linear.push(linear);
        for (row, product) in self.products.iter_mut().zip(&products) {
            row.push(*product);
        }
        self.products.push(products);
    }

    /// Removes a variable without mass. The last variable takes its place.
    pub(super) fn remove(&mut self, at: usize) {
        debug_assert!(self.masses[at] == 0.0, "a variable with mass cannot be taken away");
        self.masses.swap_remove(at);
        self.linear.swap_remove(at);
        self.products.swap_remove(at);
        self.products.iter_mut().for_each(|row| {
            row.swap_remove(at);
        });
    }

    /// ‖wₚ‖² of a variable.
    pub(super) fn length_sq(&self, at: usize) -> f64 {
        self.products[at][at]
    }

    /// Moves mass from the worst variable to the best until at most `target` is left to gain. Returns
    /// `None` if a number is not finite.
    pub(super) fn solve(&mut self, target: f64) -> Option<()> {
        self.values.clear();
        for (linear, row) in self.linear.iter().zip(&self.products) {
            let product: f64 = row.iter().zip(&self.masses).map(|(g, mass)| g * mass).sum();
            self.values.push(linear - self.lambda * product);
        }
        // Look at every value: NaN is neither better nor worse than others, so comparisons would not reveal it.
        if self.values.iter().any(|value| !value.is_finite()) {
            return None;
        }
        for _ in 0..MOST_STEPS * self.masses.len() {
            let (to, from, own) = self.extremes();
            let gap = self.values[to] - own;
            if !gap.is_finite() {
                return None;
            }
            if gap <= target || to == from {
                break;
            }
            self.shift(to, from);
        }
        self.normalise();
        Some(())
    }

    fn normalise(&mut self) {
        let sum: f64 = self.masses.iter().sum();
        self.masses.iter_mut().for_each(|mass| *mass /= sum);
    }

    fn move_mass(&mut self, to: usize, from: usize, gamma: f64) {
        let longest = self.masses[from];
        self.masses[to] += gamma;
        self.masses[from] = if gamma == longest { 0.0 } else { longest - gamma };
    }

    /// As [`solve`](Self::solve) for weights with bounds: maximises Σ bₚβₚ + λ/2 ‖w‖² − λ⟨v, w⟩ with v =
    /// Σ βₚwₚ and w = clip(v). That is not a quadratic, and inner products do not help: every shift goes
    /// along the weights of its two variables.
    pub(super) fn solve_within(
        &mut self,
        target: f64,
        weights: &[&SparseVec],
        clipped: &mut Clipped<'_>,
    ) -> Option<()> {
        clipped.v.fill(0.0);
        for (w, &mass) in weights.iter().zip(&self.masses).filter(|(_, mass)| **mass > 0.0) {
            w.entries().iter().for_each(|&(at, value)| clipped.v[at as usize] += mass * value);
        }
        let mut w = vec![0.0; clipped.v.len()];
        clipped.clip(&mut w);
        for _ in 0..MOST_STEPS * self.masses.len() {
            self.values.clear();
            let value =
                |(linear, own): (&f64, &&SparseVec)| linear - self.lambda * own.dot_dense(&w);
            self.values.extend(self.linear.iter().zip(weights).map(value));
            if self.values.iter().any(|value| !value.is_finite()) {
                return None;
            }
            let (to, from, own) = self.extremes();
            if self.values[to] - own <= target || to == from {
                break;
            }
            let way = clipped.new_way();
            weights[to].entries().iter().for_each(|&(at, value)| way.add(at as usize, value));
            weights[from].entries().iter().for_each(|&(at, value)| way.add(at as usize, -value));
            let (slope, longest) = (self.values[to] - self.values[from], self.masses[from]);
            let stride = clipped.stride(self.lambda, slope, longest, Pace::EXACT)?;
            clipped.go(stride.gamma, &mut w);
            self.move_mass(to, from, stride.gamma);
            if stride.gamma == 0.0 {
                break; // what is left to gain is rounding
            }
        }
        self.normalise();
        Some(())
    }

    /// The best variable, the worst with mass, and the value of the point.
    fn extremes(&self) -> (usize, usize, f64) {
        let (mut to, mut from, mut own) = (0, None, 0.0);
        for (at, (&value, &mass)) in self.values.iter().zip(&self.masses).enumerate() {
            if value > self.values[to] {
                to = at;
            }
            if mass > 0.0 {
                own += mass * value;
                if from.is_none_or(|from: usize| value < self.values[from]) {
                    from = Some(at);
                }
            }
        }
        (to, from.unwrap_or(to), own)
    }

    /// Moves as much mass as is best from one variable to another.
    fn shift(&mut self, to: usize, from: usize) {
        let (near, away) = (&self.products[to], &self.products[from]);
        let curvature = self.lambda * (near[to] - 2.0 * near[from] + away[from]);
        let violation = self.values[to] - self.values[from];
        let best = if curvature > 0.0 { violation / curvature } else { f64::INFINITY };
        let gamma = best.min(self.masses[from]);
        for ((value, near), away) in self.values.iter_mut().zip(near).zip(away) {
            *value -= self.lambda * gamma * (near - away);
        }
        self.move_mass(to, from, gamma);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds points of the plane, with their inner products.
    fn qp(points: &[(f64, [f64; 2])]) -> SimplexQp {
        let mut qp = SimplexQp::new(2.0);
        for (at, (linear, w)) in points.iter().enumerate() {
            let products = points[..=at].iter().map(|(_, v)| v[0] * w[0] + v[1] * w[1]).collect();
            qp.add(*linear, products);
        }
        qp
    }

    #[test]
    fn the_point_nearest_to_the_origin() {
        // Between (1, 0) and (0, 2), that at a share of 4/5 of the first.
        let mut nearest = qp(&[(0.0, [1.0, 0.0]), (0.0, [0.0, 2.0]), (0.0, [3.0, 3.0])]);
        nearest.solve(1e-12).unwrap();
        let masses = &nearest.masses;
        assert!((masses[0] - 0.8).abs() < 1e-6 && (masses[1] - 0.2).abs() < 1e-6, "{masses:?}");
        assert_eq!(masses[2], 0.0);
        nearest.remove(2);
        nearest.add(9.0, vec![0.0, 0.0, 0.0]); // a gain without a price
        nearest.solve(1e-12).unwrap();
        assert_eq!(nearest.masses, [0.0, 0.0, 1.0]);
    }

    #[test]
    fn non_finite_numbers_are_reported() {
        assert!(qp(&[(0.0, [1.0, 0.0]), (f64::NAN, [0.0, 1.0])]).solve(0.1).is_none());
    }
}
