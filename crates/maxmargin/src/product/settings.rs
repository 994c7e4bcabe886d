//! The settings of the general method.

use super::ProductError;
use crate::settings::Order;
use crate::util::names::named_enum;

named_enum! {
    /// How far a block moves towards its corner.
    ///
    /// ```
    /// use maxmargin::product::ProductStep;
    ///
    /// assert_eq!("exact".parse::<ProductStep>()?, ProductStep::Exact);
    /// assert_eq!(ProductStep::default().to_string(), "backtracking");
    /// # Ok::<(), maxmargin::UnknownName>(())
    /// ```
    #[derive(Default)]
    #[non_exhaustive]
    ProductStep("step") {
        /// γ = 2n/(k + 2n) at visit k, which needs no values of f.
        Fixed = "fixed",
        /// The best step, min(1, gᵢ/⟨d, ∇²f d⟩), for quadratic f with a
        /// [curvature](super::Smooth::curvature).
        Exact = "exact",
        /// The best step under a quadratic upper bound of f along the block. Its curvature is found by
        /// trying: it doubles if f lies above the bound, and slowly shrinks otherwise. f never rises.
        #[default]
        Backtracking = "backtracking",
    }
}

/// The settings of [`minimise`](super::minimise).
///
/// ```
/// use maxmargin::product::ProductSettings;
///
/// let settings = ProductSettings { tolerance: 1e-6, ..ProductSettings::default() };
/// assert!(settings.check().is_ok());
/// let wrong = ProductSettings { max_passes: 0, ..ProductSettings::default() };
/// assert_eq!(wrong.check().unwrap_err().to_string(), "max_passes is 0; it must be at least 1");
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ProductSettings {
    /// The order in which blocks are visited. Default: `permutation`.
    pub order: Order,
    /// How far blocks move. Default: `backtracking`.
    pub step: ProductStep,
    /// Stop when the sum of all block gaps is at most this. 0 means never. Default: 10⁻⁴.
    pub tolerance: f64,
    /// Stop after this many passes (n visits each). Default: 10,000.
    pub max_passes: u64,
    /// The number of passes from one computation of all block gaps to the next. Default: 10.
    pub gap_every: u64,
    /// Seed of all random choices. Default: 1.
    pub seed: u64,
}

impl Default for ProductSettings {
    fn default() -> Self {
        Self {
            order: Order::default(),
            step: ProductStep::default(),
            tolerance: 1e-4,
            max_passes: 10_000,
            gap_every: 10,
            seed: 1,
        }
    }
}

impl ProductSettings {
    /// Checks that every setting is in range.
    ///
    /// ```
    /// use maxmargin::product::ProductSettings;
    ///
    /// assert!(ProductSettings { tolerance: -1.0, ..ProductSettings::default() }.check().is_err());
    /// ```
    ///
    /// # Errors
    /// Names the first setting that is out of range.
    pub fn check(&self) -> Result<(), ProductError> {
        let range = |name, value, expected| Err(ProductError::Range { name, value, expected });
        if !(self.tolerance >= 0.0 && self.tolerance.is_finite()) {
            return range("tolerance", self.tolerance, "a finite number, at least 0");
        }
        if self.order.follows_curvature() {
            return Err(ProductError::Order { order: self.order });
        }
        for (name, value) in [("max_passes", self.max_passes), ("gap_every", self.gap_every)] {
            if value == 0 {
                return range(name, 0.0, "at least 1");
            }
        }
        Ok(())
    }
}
