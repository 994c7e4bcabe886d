//! The unbounded weights behind bounded ones, and exact line searches along piecewise quadratics.

use crate::bounds::Bounds;
use crate::dual::Stride;
use crate::sparse::Sink;
use crate::step::Pace;
use crate::way::Way;

/// v = Aα beside w = clip(v), and the way that v is about to go.
#[derive(Debug)]
pub(crate) struct Clipped<'p> {
    pub(crate) bounds: &'p Bounds,
    pub(crate) v: Vec<f64>,
    /// The change of v for a step of length 1.
    way: Way,
    /// Where along the way a weight meets or leaves a bound: the place, and the change of curvature.
    turns: Vec<(f64, f64)>,
}

impl<'p> Clipped<'p> {
    pub(crate) fn new(bounds: &'p Bounds) -> Self {
        let d = bounds.lower().len();
        Self { bounds, v: vec![0.0; d], way: Way::new(d), turns: Vec::new() }
    }

    /// Begins a new way; its terms are to be added to what is returned.
    pub(crate) fn new_way(&mut self) -> &mut (impl Sink + use<>) {
        self.way.clear();
        &mut self.way
    }

    /// How far to go on the way, of which no more than `longest` is open; none if numbers are not
    /// finite.
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
        let stride = match pace.fixed() {
            Some(gamma) => self.search(lambda, slope, gamma.min(longest), true),
            None => self.search(lambda, slope, longest, false),
        };
        (slope.is_finite() && stride.gain.is_finite()).then_some(stride)
    }

    /// How far to go on the way, and the gain in the dual: up to its largest value if that lies
    /// before `longest`, or to `longest` in any case if `all_the_way`.
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
                // The largest value is on this stretch. The slope is above 0, for it was above what has
                // been taken from it, and so is the curvature.
                let stretch = slope / curvature;
                at += stretch;
                gain += 0.5 * slope * stretch;
                break;
            }
            gain += rest * (slope - 0.5 * curvature * rest);
            slope -= curvature * rest;
            // What is left of a sum after all its terms were taken away again is rounding.
            curvature = (curvature + change).max(0.0);
            at = turn;
        }
        Stride { gamma: at.min(longest), gain }
    }

    /// Collects the turns between 0 and `longest`; the curvature at the beginning of the way.
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

    /// Lets all of w follow v.
    pub(crate) fn clip(&self, w: &mut [f64]) {
        for (feature, (w, &v)) in w.iter_mut().zip(&self.v).enumerate() {
            *w = self.bounds.clip(feature, v);
        }
    }

    /// Goes `gamma` on the way, and lets w follow.
    pub(crate) fn go(&mut self, gamma: f64, w: &mut [f64]) {
        for &feature in &self.way.touched {
            self.v[feature] += gamma * self.way.change[feature];
            w[feature] = self.bounds.clip(feature, self.v[feature]);
        }
    }
}

#[cfg(test)]
mod tests;
