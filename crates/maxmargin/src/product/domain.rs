//! The trait of blocks, and a type for blocks of any kind.

use super::blocks::{BoxBlock, L1Ball, L2Ball, Simplex};
use super::spectral::{Spectrahedron, TraceBall};

/// A compact convex set over which linear functions can be minimised.
///
/// ```
/// use maxmargin::product::{Block, Domain, LeastSquares, ProductSettings, ProductStep, minimise};
///
/// /// The line between two points.
/// struct Segment([f64; 2], [f64; 2]);
///
/// impl Block for Segment {
///     fn dim(&self) -> usize {
///         2
///     }
///     fn start(&self, x: &mut [f64]) {
///         x.copy_from_slice(&self.0);
///     }
///     fn corner(&mut self, gradient: &[f64], corner: &mut [f64]) {
///         let at = |end: &[f64; 2]| end[0] * gradient[0] + end[1] * gradient[1];
///         corner.copy_from_slice(if at(&self.0) <= at(&self.1) { &self.0 } else { &self.1 });
///     }
/// }
///
/// let segment = Domain::own(Segment([0.0, 1.0], [1.0, 0.0]));
/// let settings = ProductSettings { step: ProductStep::Exact, ..ProductSettings::default() };
/// let mut f = LeastSquares::distance_to(vec![1.0, 0.5]);
/// let x = minimise(&mut f, &mut [segment], &settings)?.x;
/// assert!((x[0] - 0.75).abs() < 1e-9 && (x[1] - 0.25).abs() < 1e-9);
/// # Ok::<(), maxmargin::product::ProductError>(())
/// ```
pub trait Block {
    /// Number of coordinates, at least 1.
    fn dim(&self) -> usize;

    /// Writes some point of the block to `x`.
    fn start(&self, x: &mut [f64]);

    /// Writes the point s of the block with the smallest ⟨s, gradient⟩ to `corner`. All coordinates must
    /// be set. If the point is not a minimum, the gap is too small.
    fn corner(&mut self, gradient: &[f64], corner: &mut [f64]);

    /// Checks that the block is not empty.
    ///
    /// # Errors
    /// Says why the block is empty.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }
}

/// Checks that the size of a block is a number ≥ 0.
pub(super) fn check_size(what: &str, size: f64) -> Result<(), String> {
    match size >= 0.0 {
        true => Ok(()),
        false => Err(format!("its {what} is {size}, which must be at least 0")),
    }
}

/// A block of any kind, so that different kinds can be combined.
///
/// ```
/// use maxmargin::product::{Block as _, Domain, L2Ball, Simplex};
///
/// let blocks: [Domain; 2] = [Simplex::new(3).into(), L2Ball::new(2, 1.0).into()];
/// assert_eq!(blocks.iter().map(|block| block.dim()).sum::<usize>(), 5);
/// ```
pub struct Domain(Box<dyn Block>);

impl Domain {
    /// Wraps a block of any type, such as your own.
    ///
    /// ```
    /// use maxmargin::product::{Block as _, Domain, Simplex};
    ///
    /// assert_eq!(Domain::own(Simplex::new(4)).dim(), 4);
    /// ```
    pub fn own(block: impl Block + 'static) -> Self {
        Self(Box::new(block))
    }
}

impl std::fmt::Debug for Domain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Domain of {} coordinates", self.dim())
    }
}

impl Block for Domain {
    fn dim(&self) -> usize {
        self.0.dim()
    }

    fn start(&self, x: &mut [f64]) {
        self.0.start(x);
    }

    fn corner(&mut self, gradient: &[f64], corner: &mut [f64]) {
        self.0.corner(gradient, corner);
    }

    fn check(&self) -> Result<(), String> {
        self.0.check()
    }
}

macro_rules! into_domain {
    ($($block:ident),*) => {
        $(impl From<$block> for Domain {
            fn from(block: $block) -> Self {
                Self::own(block)
            }
        })*
    };
}
into_domain!(Simplex, L1Ball, BoxBlock, L2Ball, TraceBall, Spectrahedron);
