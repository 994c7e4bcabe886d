//! How far a step goes.

use crate::names::named_enum;

named_enum! {
    /// The step-size rule. Where the dual does not rise at first, neither rule moves.
    ///
    /// ```
    /// use maxmargin::Step;
    ///
    /// assert_eq!("fixed".parse::<Step>()?, Step::Fixed);
    /// assert_eq!(Step::default().name(), "line-search");
    /// # Ok::<(), maxmargin::UnknownName>(())
    /// ```
    #[derive(Default)]
    Step("step") {
        /// The step with the largest dual along the direction, in closed form. Nothing to tune, and
        /// the dual never falls.
        #[default]
        LineSearch = "line-search",
        /// The fixed schedule 2n/(k + 2n) in block visits k, or 2/(k + 2) in batch steps. The dual
        /// may fall on the way. Only for the direction `fw`.
        Fixed = "fixed",
    }
}

impl Step {
    /// The step size in [0, `longest`] along a direction on which the dual changes by
    /// γ·`slope` − γ²/2·`curvature`.
    ///
    /// `k` counts the steps done so far and `blocks` is the number of blocks (1 in batch methods).
    /// Without ascent there is no step, whatever the rule.
    pub(crate) fn size(
        self,
        slope: f64,
        curvature: f64,
        longest: f64,
        k: u64,
        blocks: usize,
    ) -> f64 {
        if slope <= 0.0 {
            return 0.0;
        }
        match self {
            Self::LineSearch if curvature > 0.0 => (slope / curvature).min(longest),
            // A direction that changes the loss but not w: the dual is linear along it.
            Self::LineSearch => longest,
            Self::Fixed => {
                let n = blocks as f64;
                (2.0 * n / (k as f64 + 2.0 * n)).min(longest)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_search_is_the_clipped_quotient() {
        let step = Step::LineSearch;
        assert_eq!(step.size(1.0, 4.0, 1.0, 9, 3), 0.25);
        assert_eq!(step.size(8.0, 4.0, 1.0, 9, 3), 1.0);
        assert_eq!(step.size(1.0, 0.0, 1.0, 9, 3), 1.0);
        assert_eq!(step.size(0.0, 0.0, 1.0, 9, 3), 0.0);
        assert_eq!(step.size(-1.0, 4.0, 1.0, 9, 3), 0.0);
    }

    #[test]
    fn the_fixed_schedule_starts_at_one() {
        assert_eq!(Step::Fixed.size(1.0, 4.0, 1.0, 0, 3), 1.0);
        assert_eq!(Step::Fixed.size(1.0, 4.0, 1.0, 6, 3), 0.5);
        assert_eq!(Step::Fixed.size(1.0, 4.0, 1.0, 2, 1), 0.5);
    }
}
