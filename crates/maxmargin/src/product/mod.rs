//! Block-coordinate Frank-Wolfe for any smooth convex function over a product of compact blocks.
//!
//! The problem is min f(x) over x ∈ M₁ × … × Mₙ. Each visit takes one block, finds the corner s of Mᵢ
//! with the smallest ⟨s, ∇ᵢf(x)⟩, and moves towards it. The gap of the block gᵢ = ⟨xᵢ − s, ∇ᵢf(x)⟩ costs
//! nothing extra, and since f is convex
//!
//! f(x) − min f ≤ Σᵢ gᵢ(x),
//!
//! so the sum of all gaps proves how good x is. With one block this is the classic method of Frank and
//! Wolfe. Structured SVMs are such problems, but the rest of this library has better methods for them.
//! This module is for all other problems. It needs no projections, only linear minimisation.
//!
//! ```
//! use maxmargin::product::{LeastSquares, ProductSettings, ProductStep, Simplex, minimise};
//!
//! // The point of the simplex nearest to (0.6, 0.9, −1).
//! let mut f = LeastSquares::distance_to(vec![0.6, 0.9, -1.0]);
//! let settings =
//!     ProductSettings { step: ProductStep::Exact, tolerance: 1e-9, ..ProductSettings::default() };
//! let solution = minimise(&mut f, &mut [Simplex::new(3).into()], &settings)?;
//! for (x, expected) in solution.x.iter().zip([0.35, 0.65, 0.0]) {
//!     assert!((x - expected).abs() < 1e-3);
//! }
//! assert!(solution.gap <= 1e-9);
//! # Ok::<(), maxmargin::product::ProductError>(())
//! ```

mod blocks;
mod domain;
mod error;
mod least_squares;
mod method;
mod minimiser;
mod settings;
mod spectral;
mod step;

pub use blocks::{BoxBlock, L1Ball, L2Ball, Simplex};
pub use domain::{Block, Domain};
pub use error::ProductError;
pub use least_squares::LeastSquares;
pub use method::{ProductRecord, ProductSolution, minimise, minimise_with};
pub use minimiser::Minimiser;
pub use settings::{ProductSettings, ProductStep};
pub use spectral::{Spectrahedron, TraceBall};

use std::ops::Range;

/// A smooth convex function of x, whose coordinates are divided into consecutive blocks.
///
/// Only values and block gradients are required. A function may keep numbers up to date, such as
/// residuals, so that a visit costs no more than its block; [`moved`](Self::moved) tells it about every
/// step.
///
/// ```
/// use maxmargin::product::{BoxBlock, ProductSettings, Smooth, minimise};
/// use std::ops::Range;
///
/// /// f(x) = Σ exp(xⱼ) − xⱼ, which is least at 0.
/// struct Exponential;
///
/// impl Smooth for Exponential {
///     fn value(&self, x: &[f64]) -> f64 {
///         x.iter().map(|x| x.exp() - x).sum()
///     }
///     fn gradient(&self, x: &[f64], block: Range<usize>, gradient: &mut [f64]) {
///         for (g, x) in gradient.iter_mut().zip(&x[block]) {
///             *g = x.exp() - 1.0;
///         }
///     }
/// }
///
/// let mut blocks = [BoxBlock::new([1.0], [2.0]).into(), BoxBlock::new([-1.0], [2.0]).into()];
/// let solution = minimise(&mut Exponential, &mut blocks, &ProductSettings::default())?;
/// assert!((solution.x[0] - 1.0).abs() < 1e-2 && solution.x[1].abs() < 0.1);
/// # Ok::<(), maxmargin::product::ProductError>(())
/// ```
pub trait Smooth {
    /// f(x).
    fn value(&self, x: &[f64]) -> f64;

    /// Writes ∇ᵢf(x), the derivatives with respect to the coordinates in `block`, to `gradient`. All
    /// entries must be set.
    fn gradient(&self, x: &[f64], block: Range<usize>, gradient: &mut [f64]);

    /// The curvature ⟨d, ∇²f d⟩ of a quadratic f along `direction`, which is zero outside `block`. It
    /// makes [exact](ProductStep::Exact) steps possible. The default is `None`.
    fn curvature(&self, x: &[f64], block: Range<usize>, direction: &[f64]) -> Option<f64> {
        let _ = (x, block, direction);
        None
    }

    /// Number of coordinates, if the function knows it. Blocks with another number of coordinates are
    /// then refused.
    fn dim(&self) -> Option<usize> {
        None
    }

    /// Called when a run begins at x, and when numbers that have drifted must be recomputed for x.
    fn begin(&mut self, x: &[f64]) {
        let _ = x;
    }

    /// Called after a step: x has moved by γ·`direction` in `block`.
    fn moved(&mut self, block: Range<usize>, direction: &[f64], gamma: f64) {
        let _ = (block, direction, gamma);
    }
}
