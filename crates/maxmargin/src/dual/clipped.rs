//! The unbounded weights behind bounded ones, and exact line searches along piecewise quadratics.
//!
//! Where the problem has bounds, the state keeps v = Aα beside w = clip(v). The dual along a step is then a
//! piecewise quadratic: it turns wherever a weight meets or leaves a bound. A step scatters its direction
//! into a sparse buffer and walks from turn to turn to the exact maximum. See
//! `docs/decisions/0007-bounds-belong-to-the-problem.md`.

use crate::dual::Pace;
use crate::dual::Stride;
use crate::problem::bounds::Bounds;
use crate::problem::sparse_accumulator::SparseAccumulator;
use crate::settings::Step;

/// v = Aα, where w = clip(v), and the direction in which v is about to go.
#[derive(Debug, Clone)]
pub(crate) struct Clipped<'p> {
    pub(crate) bounds: &'p Bounds,
    pub(crate) v: Vec<f64>,
    /// The change of v for a step of length 1.
    way: SparseAccumulator,
    /// The places along the way at which a weight meets or leaves a bound, and the changes of curvature
    /// there.
    turns: Vec<(f64, f64)>,
}

impl<'p> Clipped<'p> {
    pub(crate) fn new(bounds: &'p Bounds) -> Self {
        let d = bounds.lower().len();
        Self { bounds, v: vec![0.0; d], way: SparseAccumulator::new(d), turns: Vec::new() }
    }

    /// Begins a new way. The caller adds its terms to the returned accumulator.
    pub(crate) fn new_way(&mut self) -> &mut SparseAccumulator {
        self.way.clear();
        &mut self.way
    }

    /// How far to go on the way, at most `longest`. Returns `None` if a number is not finite.
    pub(crate) fn stride(
        &mut self,
        lambda: f64,
        slope: f64,
        longest: f64,
        pace: Pace,
    ) -> Option<Stride> {
        if slope <= 0.0 {
            return Some(Stride::default());
        }
        let scheduled = match pace.rule {
            Step::LineSearch => None,
            Step::Fixed => pace.fixed(),
            // The curvature of all weights, at their bounds or not. (Where nothing moves, the sum of nothing is −0.)
            Step::Short => match lambda * self.way.norm_sq() {
                curvature if curvature > 0.0 => Some(slope / curvature),
                _ => Some(longest),
            },
        };
        let stride = match scheduled {
            Some(gamma) => self.search(lambda, slope, gamma.min(longest), true),
            None => self.search(lambda, slope, longest, false),
        };
        (slope.is_finite() && stride.gain.is_finite()).then_some(stride)
    }

    /// How far to go on the way, and the gain in the dual: up to the largest dual value if that lies
    /// before `longest`, otherwise to `longest`; with `all_the_way`, always to `longest`.
    ///
    /// With Δ the way of v, the dual changes at the rate D′(γ) = Δℓ − λ⟨Δ, clip(v + γΔ)⟩, which is
    /// `slope` at γ = 0. It falls with the curvature λ Σ Δⱼ² over those weights that are between
    /// their bounds at γ, so its zero is found by walking from turn to turn.
    fn search(&mut self, lambda: f64, slope: f64, longest: f64, all_the_way: bool) -> Stride {
        let curvature = self.find_turns(lambda, longest);
        self.turns.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let (mut at, mut gain) = (0.0, 0.0);
        let (mut slope, mut curvature) = (slope, curvature);
        let end = std::iter::once((longest, 0.0));
        for (turn, change) in self.turns.iter().copied().chain(end) {
            let rest = turn - at;
            if !all_the_way && slope <= curvature * rest {
                // The largest value is on this stretch. The slope is above 0, because it was larger than what has been
                // subtracted from it; so the curvature is above 0 too.
                let stretch = slope / curvature;
                at += stretch;
                gain += 0.5 * slope * stretch;
                break;
            }
            gain += rest * (slope - 0.5 * curvature * rest);
            slope -= curvature * rest;
            // Once all terms have been subtracted again, what is left of the sum is rounding.
            curvature = (curvature + change).max(0.0);
            at = turn;
        }
        Stride { gamma: at.min(longest), gain }
    }

    /// Collects the turns between 0 and `longest`. Returns the curvature at the beginning of the way.
    fn find_turns(&mut self, lambda: f64, longest: f64) -> f64 {
        self.turns.clear();
        let mut curvature = 0.0;
        for &feature in &self.way.touched {
            let change = self.way.change[feature];
            if change == 0.0 {
                continue;
            }
            let (v, term) = (self.v[feature], lambda * change * change);
            let meets = |bound: f64| (bound - v) / change;
            let (a, b) = (meets(self.bounds.lower()[feature]), meets(self.bounds.upper()[feature]));
            // Between these two the weight follows v; before and after it stays at a bound.
            let (from, to) = if a < b { (a, b) } else { (b, a) };
            if to <= 0.0 || from >= longest || from >= to {
                continue;
            }
            if from <= 0.0 {
                curvature += term;
            } else {
                self.turns.push((from, term));
            }
            if to < longest {
                self.turns.push((to, -term));
            }
        }
        curvature
    }

    /// Computes all of w from v.
    pub(crate) fn clip(&self, w: &mut [f64]) {
        for (feature, (w, &v)) in w.iter_mut().zip(&self.v).enumerate() {
            *w = self.bounds.clip(feature, v);
        }
    }

    /// Leaves only those changes of v that change w as well: those of weights between their bounds.
    pub(crate) fn keep_free(&self, change: &mut [f64]) {
        let bounds = self.bounds.lower().iter().zip(self.bounds.upper());
        for ((change, v), (lower, upper)) in change.iter_mut().zip(&self.v).zip(bounds) {
            if v <= lower || v >= upper {
                *change = 0.0;
            }
        }
    }

    /// Moves v by `gamma` along the way, and updates w.
    pub(crate) fn go(&mut self, gamma: f64, w: &mut [f64]) {
        for &feature in &self.way.touched {
            self.v[feature] += gamma * self.way.change[feature];
            w[feature] = self.bounds.clip(feature, self.v[feature]);
        }
    }
}

#[cfg(test)]
mod tests;
