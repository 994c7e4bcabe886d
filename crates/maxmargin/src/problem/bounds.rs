//! Bounds on weights.

use crate::problem::Blocks;
use std::ops::Range;
use thiserror::Error;

/// Bounds l ≤ w ≤ u on weights. An infinite bound does not restrict its weight.
///
/// A problem with [bounds](crate::Problem::bounds) is trained to the optimum among the weights that
/// keep them. With v = Aα, the weights of a dual point are then w = clip(v, l, u), and
///
/// ```text
/// D(α) = ℓ + λ/2 ‖w‖² − λ⟨v, w⟩
/// ```
///
/// Everything else stays the same: gap = P(w) − D(α) = Σᵢ gᵢ, and the same orders, directions, cache and
/// certificate apply. Line searches stay exact, because the dual is piecewise quadratic along a step.
///
/// ```
/// use maxmargin::Bounds;
///
/// // The third and fourth of five weights must not be negative.
/// let bounds = Bounds::none(5).with(2..4, 0.0, f64::INFINITY)?;
/// assert_eq!((bounds.clip(2, -1.5), bounds.clip(0, -1.5)), (0.0, -1.5));
/// assert!(Bounds::none(5).with(0..1, 1.0, -1.0).is_err());
/// # Ok::<(), maxmargin::BoundsError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Bounds {
    lower: Vec<f64>,
    upper: Vec<f64>,
    /// Whether all of them are infinite.
    are_none: bool,
}

/// Why bounds are invalid.
///
/// ```
/// use maxmargin::Bounds;
///
/// let error = Bounds::new(vec![0.0, 2.0], vec![1.0, 1.0]).unwrap_err();
/// assert_eq!(error.to_string(), "no number lies within the bounds of weight 1, from 2 to 1");
/// ```
#[derive(Debug, Error, Clone, PartialEq)]
#[non_exhaustive]
pub enum BoundsError {
    /// The bounds exclude every number, or one of them is NaN.
    #[error("no number lies within the bounds of weight {feature}, from {lower} to {upper}")]
    Empty {
        /// The feature.
        feature: usize,
        /// Its lower bound.
        lower: f64,
        /// Its upper bound.
        upper: f64,
    },
    /// There is no group of weights with this name.
    #[error("there is no group `{name}`; there are {known}")]
    Group {
        /// The name that was given.
        name: String,
        /// The names of the existing groups.
        known: String,
    },
    /// The number of lower or upper bounds is not the number of weights.
    #[error("{lower} lower and {upper} upper bounds were given, {expected} of each are needed")]
    Size {
        /// Number of lower bounds.
        lower: usize,
        /// Number of upper bounds.
        upper: usize,
        /// The expected number of each.
        expected: usize,
    },
}

impl Bounds {
    /// Creates bounds from one lower and one upper bound per weight.
    ///
    /// ```
    /// use maxmargin::Bounds;
    ///
    /// let bounds = Bounds::new(vec![f64::NEG_INFINITY, 0.0], vec![1.0, f64::INFINITY])?;
    /// assert_eq!(bounds.clip(0, 3.0), 1.0);
    /// # Ok::<(), maxmargin::BoundsError>(())
    /// ```
    ///
    /// # Errors
    /// If a bound is NaN, if no number lies between two bounds, or if the vectors have different lengths.
    pub fn new(lower: Vec<f64>, upper: Vec<f64>) -> Result<Self, BoundsError> {
        if lower.len() != upper.len() {
            let expected = lower.len().max(upper.len());
            let (lower, upper) = (lower.len(), upper.len());
            return Err(BoundsError::Size { lower, upper, expected });
        }
        let pairs = lower.iter().zip(&upper).enumerate();
        for (feature, (&lower, &upper)) in pairs {
            // Comparisons with NaN are false.
            if !(lower <= upper && lower < f64::INFINITY && upper > f64::NEG_INFINITY) {
                return Err(BoundsError::Empty { feature, lower, upper });
            }
        }
        let are_none = lower.iter().chain(&upper).all(|bound| bound.is_infinite());
        Ok(Self { lower, upper, are_none })
    }

    /// Creates bounds that do not restrict any of `dim` weights.
    pub fn none(dim: usize) -> Self {
        let (lower, upper) = (vec![f64::NEG_INFINITY; dim], vec![f64::INFINITY; dim]);
        Self { lower, upper, are_none: true }
    }

    /// Whether all bounds are infinite, so that training proceeds as without bounds.
    ///
    /// ```
    /// use maxmargin::Bounds;
    ///
    /// assert!(Bounds::none(2).are_none());
    /// assert!(!Bounds::none(2).with(1..2, 0.0, f64::INFINITY)?.are_none());
    /// # Ok::<(), maxmargin::BoundsError>(())
    /// ```
    pub fn are_none(&self) -> bool {
        self.are_none
    }

    /// Tightens the bounds of the weights in `range`, so that both the old and the new bounds hold.
    ///
    /// ```
    /// use maxmargin::Bounds;
    ///
    /// let bounds = Bounds::none(3).with(0..2, 0.0, 5.0)?.with(1..3, -1.0, 2.0)?;
    /// assert_eq!(bounds.lower(), [0.0, 0.0, -1.0]);
    /// assert_eq!(bounds.upper(), [5.0, 2.0, 2.0]);
    /// # Ok::<(), maxmargin::BoundsError>(())
    /// ```
    ///
    /// # Errors
    /// The same as for [`new`](Self::new).
    ///
    /// # Panics
    /// If `range` reaches beyond the last weight.
    pub fn with(
        mut self,
        range: Range<usize>,
        lower: f64,
        upper: f64,
    ) -> Result<Self, BoundsError> {
        for feature in range {
            if lower.is_nan() || upper.is_nan() {
                return Err(BoundsError::Empty { feature, lower, upper });
            }
            self.lower[feature] = self.lower[feature].max(lower);
            self.upper[feature] = self.upper[feature].min(upper);
        }
        Self::new(self.lower, self.upper)
    }

    /// The lower bounds, one per weight.
    pub fn lower(&self) -> &[f64] {
        &self.lower
    }

    /// The upper bounds, one per weight.
    pub fn upper(&self) -> &[f64] {
        &self.upper
    }

    /// Returns the number nearest to `value` within the bounds of weight `feature`.
    ///
    /// # Panics
    /// If there is no such weight.
    #[inline]
    pub fn clip(&self, feature: usize, value: f64) -> f64 {
        // `clamp` would check the order of the bounds every time.
        value.max(self.lower[feature]).min(self.upper[feature])
    }

    /// Returns the first weight whose bounds exclude 0. The regularization path refuses such bounds.
    ///
    /// ```
    /// use maxmargin::Bounds;
    ///
    /// assert_eq!(Bounds::none(2).excludes_zero(), None);
    /// assert_eq!(Bounds::new(vec![0.0, 0.5], vec![1.0, 1.0])?.excludes_zero(), Some(1));
    /// # Ok::<(), maxmargin::BoundsError>(())
    /// ```
    pub fn excludes_zero(&self) -> Option<usize> {
        self.lower.iter().zip(&self.upper).position(|(&lower, &upper)| lower > 0.0 || upper < 0.0)
    }

    /// Whether all weights that keep these bounds keep `others` too.
    pub(crate) fn are_within(&self, others: &Self) -> bool {
        let lower = self.lower.iter().zip(&others.lower).all(|(own, other)| own >= other);
        let upper = self.upper.iter().zip(&others.upper).all(|(own, other)| own <= other);
        lower && upper
    }

    /// Clips every weight to its bounds.
    pub(crate) fn clip_all(&self, weights: &mut [f64]) {
        weights.iter_mut().enumerate().for_each(|(feature, w)| *w = self.clip(feature, *w));
    }

    /// Checks that there are bounds for exactly `dim` weights.
    pub(crate) fn check_size(&self, dim: usize) -> Result<(), BoundsError> {
        let (lower, upper) = (self.lower.len(), self.upper.len());
        if lower == dim { Ok(()) } else { Err(BoundsError::Size { lower, upper, expected: dim }) }
    }
}

/// The bounds of a problem, unless all of them are infinite.
pub(crate) fn bounds_in_force(problem: &dyn Blocks) -> Option<&Bounds> {
    problem.bounds().filter(|bounds| !bounds.are_none())
}
