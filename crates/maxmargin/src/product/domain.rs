//! What a block is.

use super::blocks::{BoxBlock, L1Ball, L2Ball, Simplex};
use super::spectral::{Spectrahedron, TraceBall};

/// A compact convex set of which linear functions can be minimised.
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

    /// Some point of the block.
    fn start(&self, x: &mut [f64]);

    /// The point s of the block with the least ⟨s, gradient⟩. All coordinates are to be set. The gap
    /// is as good as this: a point that is not the least makes it too small.
    fn corner(&mut self, gradient: &[f64], corner: &mut [f64]);

    /// Whether there are any points in the block.
    ///
    /// # Errors
    /// Why there are none, in words.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }
}

/// Refuses a size of a block that is negative or no number.
pub(super) fn check_size(what: &str, size: f64) -> Result<(), String> {
    match size >= 0.0 {
        true => Ok(()),
        false => Err(format!("its {what} is {size}, which must be at least 0")),
    }
}

/// A block of any kind, so that different kinds can be put together.
///
/// ```
/// use maxmargin::product::{Block as _, Domain, L2Ball, Simplex};
///
/// let blocks: [Domain; 2] = [Simplex::new(3).into(), L2Ball::new(2, 1.0).into()];
/// assert_eq!(blocks.iter().map(|block| block.dim()).sum::<usize>(), 5);
/// ```
pub struct Domain(Box<dyn Block>);

impl Domain {
    /// A block that is written by the user.
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
