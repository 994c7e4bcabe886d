//! Block-coordinate Frank-Wolfe for any smooth convex function over a product of compact blocks.
//!
//! The problem is min f(x) over x ∈ M₁ × … × Mₙ. Each visit looks at one block, finds the corner s of
//! Mᵢ with the least ⟨s, ∇ᵢf(x)⟩, and moves towards it. The block's gap gᵢ = ⟨xᵢ − s, ∇ᵢf(x)⟩ comes for
//! free, and since f is convex
//!
//! f(x) − min f ≤ Σᵢ gᵢ(x),
//!
//! so the sum of all gaps proves how good x is. With one block this is the classic method of Frank and
//! Wolfe. Structured SVMs are such problems, for which the rest of this library has better tools; this
//! module is for all others: no projections are needed, only linear minimisation.
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

/// A smooth convex function of x, whose coordinates lie in blocks one after the other.
///
/// Only values and block gradients are needed. A function that keeps something up to date (residuals,
/// say) is told of every step by [`moved`](Self::moved), so that a visit costs no more than its block.
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

    /// ∇ᵢf(x): the derivatives by the coordinates in `block`, all of which are to be set.
    fn gradient(&self, x: &[f64], block: Range<usize>, gradient: &mut [f64]);

    /// For quadratic f the curvature ⟨d, ∇²f d⟩ along `direction`, which is zero outside `block`. With
    /// it [exact](ProductStep::Exact) steps are possible. None, unless it is overridden.
    fn curvature(&self, x: &[f64], block: Range<usize>, direction: &[f64]) -> Option<f64> {
        let _ = (x, block, direction);
        None
    }

    /// Number of coordinates, where the function knows; blocks of another number are then refused.
    fn dim(&self) -> Option<usize> {
        None
    }

    /// The run begins at x.
    fn begin(&mut self, x: &[f64]) {
        let _ = x;
    }

    /// A step is done: x has moved by γ·`direction` in `block`.
    fn moved(&mut self, block: Range<usize>, direction: &[f64], gamma: f64) {
        let _ = (block, direction, gamma);
    }
}
