//! Stochastic subgradients whose steps adapt to each weight (AdaGrad).
//!
//! A visit moves only the weights of features in which the corner and the truth differ:
//! Gⱼ ← Gⱼ + gⱼ² and wⱼ ← wⱼ − η·gⱼ/√Gⱼ. The composite step for λ/2 ‖w‖² in the same metric,
//! wⱼ ← wⱼ·√Gⱼ/(√Gⱼ + ηλm), changes all of w. It is taken for m visits at once, as soon as these have touched
//! enough weights to justify its cost; with few features that is after every visit.

use super::means::Means;
use super::sweep::{Sweeper, read_corner};
use crate::dual::{DualState, norm_sq};
use crate::error::TrainError;
use crate::problem::Bounds;
use crate::problem::bounds::bounds_in_force;
use crate::problem::sparse_accumulator::SparseAccumulator;
use crate::run::Run;
use crate::run::fits::{Fits, Fitting, is_count};
use crate::run::session::Checked;
use crate::settings::Average;

/// The regularization step is taken for all weights once visits have touched one weight in this many.
const TOUCHED_SHARE: usize = 8;

/// Subgradient steps that adapt to each weight.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(in crate::solver) struct AdaGrad {
    w: Vec<f64>,
    /// √Gⱼ.
    roots: Vec<f64>,
    /// The learning rate, which is set by the first example that has a hinge.
    eta: Option<f64>,
    /// Weights touched, and visits made, since the last regularization step.
    touched: usize,
    visits: u64,
    #[cfg_attr(feature = "serde", serde(skip))]
    way: SparseAccumulator,
    means: Means,
    average: Moments,
    /// Σ cᵢ/C·hinge in this pass, each at the weights of its visit.
    risk: f64,
}

impl Fits for AdaGrad {
    fn fits(&self, to: &Fitting<'_>) -> bool {
        to.are_weights(&self.w)
            && to.are_weights(&self.roots)
            && self.means.fits(to)
            && self.average.fits(to)
            && is_count(self.visits)
            && is_count(self.touched as u64)
    }
}

fn clip(bounds: Option<&Bounds>, w: &mut [f64]) {
    if let Some(bounds) = bounds {
        bounds.clip_all(w);
    }
}

impl AdaGrad {
    pub(in crate::solver) fn new(run: &Run<'_, '_>) -> Self {
        let (n, d) = (run.examples(), run.problem.dim());
        let mut w = vec![0.0; d];
        clip(bounds_in_force(run.problem), &mut w);
        Self {
            w,
            roots: vec![0.0; d],
            eta: None,
            touched: 0,
            visits: 0,
            way: SparseAccumulator::default(),
            means: Means::new(n),
            average: Moments::new(run.settings.average, d),
            risk: 0.0,
        }
    }

    /// The average, or the last weights without averaging.
    fn weights(&self, run: &Run<'_, '_>) -> Vec<f64> {
        let mut weights = self.average.weights().unwrap_or_else(|| self.w.clone());
        // A mean of weights within bounds is within them up to rounding.
        clip(bounds_in_force(run.problem), &mut weights);
        weights
    }

    /// The composite step for the regularizer, for all visits since the last one.
    fn shrink(&mut self, lambda: f64, bounds: Option<&Bounds>) {
        let pull = self.eta.unwrap_or(0.0) * lambda * self.visits as f64;
        for (w, root) in self.w.iter_mut().zip(&self.roots).filter(|(_, root)| **root > 0.0) {
            *w *= root / (root + pull);
        }
        clip(bounds, &mut self.w);
        self.average.add(&self.w);
        (self.touched, self.visits) = (0, 0);
    }
}

impl<'p> Sweeper<'p> for AdaGrad {
    fn prepare(&mut self, run: &Run<'p, '_>) {
        self.way = SparseAccumulator::new(run.problem.dim());
    }

    fn visit(&mut self, run: &mut Run<'p, '_>, i: usize) -> Result<(), TrainError> {
        run.oracle_at(i, &self.w, 1.0);
        let hinge = read_corner(run, i, &self.w, 1.0)?;
        let (problem, n, rate) = (run.problem, run.examples() as f64, run.settings.rate);
        let (state, scratch) = run.state_and_scratch();
        let (share, lambda) = (state.shares.of(i), state.lambda);
        self.risk += share * hinge;
        self.means.add(i, &scratch.corner.parts, scratch.corner.loss);
        if self.eta.is_none() && hinge > 0.0 {
            self.eta = Some(rate * (2.0 * hinge / (lambda * self.w.len() as f64)).sqrt());
        }
        // The subgradient of n·cᵢ/C·hinge is n·cᵢ/C·Bq, with q the way from the truth to the corner.
        self.way.clear();
        problem.scatter(i, n * share, &scratch.step.parts, (&mut self.way).into());
        let (eta, bounds) = (self.eta.unwrap_or(0.0), bounds_in_force(problem));
        for &j in &self.way.touched {
            let g = self.way.change[j];
            if g != 0.0 {
                self.roots[j] = self.roots[j].hypot(g);
                let moved = self.w[j] - eta * g / self.roots[j];
                self.w[j] = bounds.map_or(moved, |bounds| bounds.clip(j, moved));
            }
        }
        self.touched += self.way.touched.len();
        self.visits += 1;
        if TOUCHED_SHARE * self.touched >= self.w.len() {
            self.shrink(lambda, bounds);
        }
        run.note_step(eta, 0.0);
        Ok(())
    }

    fn end_pass(&mut self, run: &mut Run<'p, '_>) -> Result<(), TrainError> {
        if self.visits > 0 {
            self.shrink(run.state.lambda, bounds_in_force(run.problem));
        }
        let risk = std::mem::take(&mut self.risk);
        run.estimate = Some(risk + 0.5 * run.state.lambda * norm_sq(&self.w));
        Ok(())
    }

    fn check(&mut self, run: &mut Run<'p, '_>) -> Result<Option<Checked<'p>>, TrainError> {
        let point = self.means.bound(run);
        let weights = Some(self.weights(run));
        let Some((check, other)) = run.check_other(point, weights)? else { return Ok(None) };
        // The bound remains valid until there is a newer one.
        run.state.dual = other.dual;
        Ok(Some((check, Some(other))))
    }

    fn result(&mut self, run: &mut Run<'p, '_>) -> Result<Option<DualState<'p>>, TrainError> {
        let point = self.means.bound(run);
        Ok(Some(run.state_with(point, Some(self.weights(run)))))
    }
}

/// The average of w over the moments right after a regularization step, which changes all of w anyway.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Moments {
    average: Average,
    count: u64,
    sums: Vec<Sum>,
}

/// A sum of weights, and what to divide it by.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Sum {
    weight: f64,
    total: Vec<f64>,
}

impl Moments {
    fn new(average: Average, dim: usize) -> Self {
        let sums = match average {
            Average::None => 0,
            Average::Uniform | Average::Weighted => 1,
            // As in `LazyAverage`, the second sum replaces the first in time.
            Average::Half => 2,
        };
        let sum = || Sum { weight: 0.0, total: vec![0.0; dim] };
        Self { average, count: 0, sums: std::iter::repeat_with(sum).take(sums).collect() }
    }

    fn fits(&self, to: &Fitting<'_>) -> bool {
        self.sums.iter().all(|sum| to.are_weights(&sum.total)) && is_count(self.count)
    }

    fn add(&mut self, w: &[f64]) {
        self.count += 1;
        let weight = if self.average == Average::Weighted { self.count as f64 } else { 1.0 };
        for sum in &mut self.sums {
            sum.weight += weight;
            sum.total.iter_mut().zip(w).for_each(|(total, w)| *total += weight * w);
        }
        if let [first, second] = &mut self.sums[..]
            && self.count.is_power_of_two()
        {
            std::mem::swap(first, second);
            second.weight = 0.0;
            second.total.fill(0.0);
        }
    }

    /// Returns `None` without averaging, or before there is anything to average.
    fn weights(&self) -> Option<Vec<f64>> {
        let sum = self.sums.first().filter(|sum| sum.weight > 0.0)?;
        Some(sum.total.iter().map(|total| total / sum.weight).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn averages_over_moments() {
        let of = |average| {
            let mut moments = Moments::new(average, 1);
            (1..=6).for_each(|w| moments.add(&[f64::from(w)]));
            moments.weights().map(|w| w[0])
        };
        assert_eq!(of(Average::None), None);
        assert_eq!(of(Average::Uniform), Some(3.5));
        assert_eq!(of(Average::Weighted), Some(91.0 / 21.0));
        assert_eq!(of(Average::Half), Some(4.5)); // 3 to 6: after half of the power of two, 4
        assert_eq!(Moments::new(Average::Half, 1).weights(), None);
    }
}
