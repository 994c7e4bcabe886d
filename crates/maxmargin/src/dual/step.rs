//! How far a step goes.

use crate::settings::Step;

/// How far a step goes, and what it gains in the dual.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Stride {
    pub(crate) gamma: f64,
    pub(crate) gain: f64,
}

/// A step rule at step `k`, counted from 0, of a method with `blocks` blocks (1 in batch methods).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    pub(crate) rule: Step,
    pub(crate) k: u64,
    pub(crate) blocks: usize,
}

impl Pace {
    /// Exact line searches, which do not depend on `k`.
    pub(crate) const EXACT: Self = Self { rule: Step::LineSearch, k: 0, blocks: 1 };

    /// All the way, whether or not that is best.
    pub(crate) const WHOLE: Self = Self { rule: Step::Fixed, k: 0, blocks: 1 };

    /// The step size of the schedule, if the rule is `fixed`.
    pub(crate) fn fixed(self) -> Option<f64> {
        let n = self.blocks as f64;
        (self.rule == Step::Fixed).then(|| 2.0 * n / (self.k as f64 + 2.0 * n))
    }

    /// The step in [0, `longest`] along a direction on which the dual changes by γ·`slope` −
    /// γ²/2·`curvature`. Returns `None` if a number is not finite.
    ///
    /// Without ascent the step is 0 under either rule.
    #[inline]
    pub(crate) fn stride(self, slope: f64, curvature: f64, longest: f64) -> Option<Stride> {
        if !(slope.is_finite() && curvature.is_finite()) {
            return None;
        }
        if slope <= 0.0 {
            return Some(Stride::default());
        }
        let gamma = match self.fixed() {
            Some(gamma) => gamma.min(longest),
            None if curvature > 0.0 => (slope / curvature).min(longest),
            // A direction that changes the loss but not w: the dual is linear along it.
            None => longest,
        };
        Some(Stride { gamma, gain: gamma * (slope - 0.5 * gamma * curvature) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(pace: Pace, slope: f64, curvature: f64) -> f64 {
        pace.stride(slope, curvature, 1.0).map_or(f64::NAN, |stride| stride.gamma)
    }

    #[test]
    fn the_line_search_is_the_clipped_quotient() {
        assert_eq!(size(Pace::EXACT, 1.0, 4.0), 0.25);
        assert_eq!(size(Pace::EXACT, 8.0, 4.0), 1.0);
        assert_eq!(size(Pace::EXACT, 1.0, 0.0), 1.0);
        assert_eq!(size(Pace::EXACT, 0.0, 0.0), 0.0);
        assert_eq!(size(Pace::EXACT, -1.0, 4.0), 0.0);
        assert!(size(Pace::EXACT, f64::NAN, 4.0).is_nan());
    }

    #[test]
    fn the_fixed_schedule_starts_at_one() {
        let fixed = |k, blocks| Pace { rule: Step::Fixed, k, blocks };
        assert_eq!(size(fixed(0, 3), 1.0, 4.0), 1.0);
        assert_eq!(size(fixed(6, 3), 1.0, 4.0), 0.5);
        assert_eq!(size(fixed(2, 1), 1.0, 4.0), 0.5);
    }
}
