//! The constants of the rate theorems.

/// The constants of the theorems on Frank-Wolfe methods, measured on a problem: see
/// [`Settings::diagnose`](crate::Settings::diagnose).
///
/// Lengths are those of the corners that oracles have found, at w = 0 and in exact passes. A corner that was never
/// found can be longer, so these constants and what follows from them are estimates, from below. The losses are exact if
/// the oracle is: at w = 0 it finds the largest.
///
/// ```
/// # use maxmargin::doc::toy;
/// use maxmargin::{BlockCoordinate, Order, Settings, train};
///
/// let method = BlockCoordinate { order: Order::Uniform, ..BlockCoordinate::default() }.into();
/// let solution = train(&toy(), &Settings { method, diagnose: true, ..Settings::default() })?;
/// let theory = solution.theory.unwrap();
/// assert!(theory.curvature <= 4.0 * theory.radius.powi(2) / solution.lambda * (1.0 + 1e-12));
/// assert!(theory.start_gap <= theory.largest_loss);
/// assert!(solution.certificate.gap <= theory.gap_bound(4, solution.totals.visits));
/// # Ok::<(), maxmargin::TrainError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Theory {
    /// R = max ‖ψᵢ(y)‖.
    pub radius: f64,
    /// L_max = max Lᵢ(y).
    pub largest_loss: f64,
    /// What the curvature C_f of all blocks together is bounded by: (Σᵢ 2cᵢRᵢ/C)²/λ ≤ 4R²/λ.
    pub curvature: f64,
    /// What C_f^⊗, the sum of the curvatures of all blocks, is bounded by: Σᵢ 4cᵢ²Rᵢ²/(λC²), which is at most 4R²/(λn)
    /// if all examples weigh the same.
    pub block_curvature: f64,
    /// The gap of w = 0, Σᵢ cᵢ/C max_y Lᵢ(y), which bounds h₀ = D(α*) − D(α⁰).
    pub start_gap: f64,
    /// k₀ = 2n·log(h₀/C_f^⊗): the visits after which steps with line search have forgotten the start (Theorem 3 of
    /// Lacoste-Julien et al., 2013).
    pub forgotten_after: f64,
}

impl Theory {
    /// What the best gap of the first `visits` visits is bounded by in expectation: 6n/(K + 1)·(C_f^⊗ + h₀), for blocks
    /// that are drawn uniformly (Theorem 2 of Lacoste-Julien et al., 2013).
    pub fn gap_bound(&self, n: usize, visits: u64) -> f64 {
        6.0 * n as f64 / (visits as f64 + 1.0) * (self.block_curvature + self.start_gap)
    }
}
