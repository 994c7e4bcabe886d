//! Blocks whose corners have a closed form.

use super::domain::{Block, check_size};

/// The scaled simplex: x ≥ 0, Σ xⱼ = s. Its corners are s times the unit vectors.
///
/// ```
/// use maxmargin::product::{Block as _, Simplex};
///
/// let mut corner = [0.0; 3];
/// Simplex::scaled(3, 2.0).corner(&[0.5, -1.0, 0.0], &mut corner);
/// assert_eq!(corner, [0.0, 2.0, 0.0]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Simplex {
    dim: usize,
    scale: f64,
}

impl Simplex {
    /// The probability simplex.
    ///
    /// ```
    /// use maxmargin::product::{Block as _, Simplex};
    ///
    /// assert_eq!(Simplex::new(3).dim(), 3);
    /// ```
    pub fn new(dim: usize) -> Self {
        Self::scaled(dim, 1.0)
    }

    /// The simplex with the sum `scale`.
    ///
    /// ```
    /// use maxmargin::product::{Block as _, Simplex};
    ///
    /// let mut x = [9.0; 2];
    /// Simplex::scaled(2, 4.0).start(&mut x);
    /// assert_eq!(x.iter().sum::<f64>(), 4.0);
    /// ```
    pub fn scaled(dim: usize, scale: f64) -> Self {
        Self { dim, scale }
    }
}

impl Block for Simplex {
    fn dim(&self) -> usize {
        self.dim
    }

    fn start(&self, x: &mut [f64]) {
        x.fill(self.scale / self.dim as f64);
    }

    fn corner(&mut self, gradient: &[f64], corner: &mut [f64]) {
        corner.fill(0.0);
        // The first one at ties.
        let least = (0..gradient.len()).min_by(|&a, &b| gradient[a].total_cmp(&gradient[b]));
        if let Some(j) = least {
            corner[j] = self.scale;
        }
    }

    fn check(&self) -> Result<(), String> {
        check_size("sum", self.scale)
    }
}

/// The ℓ1 ball: Σ |xⱼ| ≤ r. Its corners have a single nonzero coordinate, so a point is sparse after few
/// steps.
///
/// ```
/// use maxmargin::product::{Block as _, L1Ball};
///
/// let mut corner = [0.0; 3];
/// L1Ball::new(3, 2.0).corner(&[0.5, 3.0, -1.0], &mut corner);
/// assert_eq!(corner, [0.0, -2.0, 0.0]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct L1Ball {
    dim: usize,
    radius: f64,
}

impl L1Ball {
    /// The ball around the origin.
    ///
    /// ```
    /// use maxmargin::product::{Block as _, L1Ball};
    ///
    /// assert_eq!(L1Ball::new(3, 1.0).dim(), 3);
    /// ```
    pub fn new(dim: usize, radius: f64) -> Self {
        Self { dim, radius }
    }
}

impl Block for L1Ball {
    fn dim(&self) -> usize {
        self.dim
    }

    fn start(&self, x: &mut [f64]) {
        x.fill(0.0);
    }

    fn corner(&mut self, gradient: &[f64], corner: &mut [f64]) {
        corner.fill(0.0);
        let size = |j: usize| gradient[j].abs();
        let largest = (0..gradient.len()).rev().max_by(|&a, &b| size(a).total_cmp(&size(b)));
        if let Some(j) = largest {
            corner[j] = -self.radius.copysign(gradient[j]);
        }
    }

    fn check(&self) -> Result<(), String> {
        check_size("radius", self.radius)
    }
}

/// A box: lⱼ ≤ xⱼ ≤ uⱼ.
///
/// ```
/// use maxmargin::product::{Block as _, BoxBlock};
///
/// let mut corner = [0.0; 2];
/// BoxBlock::new([-1.0, 0.0], [1.0, 5.0]).corner(&[2.0, -0.1], &mut corner);
/// assert_eq!(corner, [-1.0, 5.0]);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct BoxBlock {
    lower: Vec<f64>,
    upper: Vec<f64>,
}

impl BoxBlock {
    /// The box between two corners. If the bounds have different lengths, the shorter one counts.
    ///
    /// ```
    /// use maxmargin::product::{Block as _, BoxBlock};
    ///
    /// assert_eq!(BoxBlock::new([0.0; 3], [1.0; 3]).dim(), 3);
    /// ```
    pub fn new(lower: impl Into<Vec<f64>>, upper: impl Into<Vec<f64>>) -> Self {
        Self { lower: lower.into(), upper: upper.into() }
    }
}

impl Block for BoxBlock {
    fn dim(&self) -> usize {
        self.lower.len().min(self.upper.len())
    }

    fn start(&self, x: &mut [f64]) {
        for ((x, low), high) in x.iter_mut().zip(&self.lower).zip(&self.upper) {
            *x = low + 0.5 * (high - low);
        }
    }

    fn corner(&mut self, gradient: &[f64], corner: &mut [f64]) {
        for (j, s) in corner.iter_mut().enumerate() {
            *s = if gradient[j] > 0.0 { self.lower[j] } else { self.upper[j] };
        }
    }

    fn check(&self) -> Result<(), String> {
        let mut bounds = self.lower.iter().zip(&self.upper).enumerate();
        let is_empty = |(low, high): (&f64, &f64)| low > high || low.is_nan() || high.is_nan();
        match bounds.find(|(_, bounds)| is_empty(*bounds)) {
            None => Ok(()),
            Some((j, (low, high))) => Err(format!("coordinate {j} lies between {low} and {high}")),
        }
    }
}

/// A ball whose axes can be scaled: Σ (xⱼ/aⱼ)² ≤ r².
///
/// ```
/// use maxmargin::product::{Block as _, L2Ball};
///
/// let mut corner = [0.0; 2];
/// L2Ball::new(2, 5.0).corner(&[3.0, -4.0], &mut corner);
/// assert_eq!(corner, [-3.0, 4.0]);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct L2Ball {
    axes: Vec<f64>,
    radius: f64,
}

impl L2Ball {
    /// The round ball around the origin.
    ///
    /// ```
    /// use maxmargin::product::{Block as _, L2Ball};
    ///
    /// assert_eq!(L2Ball::new(3, 1.0).dim(), 3);
    /// ```
    pub fn new(dim: usize, radius: f64) -> Self {
        Self::scaled(vec![1.0; dim], radius)
    }

    /// The ball whose axis has the length aⱼ·r in coordinate j.
    ///
    /// ```
    /// use maxmargin::product::{Block as _, L2Ball};
    ///
    /// let mut corner = [0.0; 2];
    /// L2Ball::scaled([1.0, 3.0], 2.0).corner(&[0.0, 1.0], &mut corner);
    /// assert_eq!(corner, [0.0, -6.0]);
    /// ```
    pub fn scaled(axes: impl Into<Vec<f64>>, radius: f64) -> Self {
        Self { axes: axes.into(), radius }
    }
}

impl Block for L2Ball {
    fn dim(&self) -> usize {
        self.axes.len()
    }

    fn start(&self, x: &mut [f64]) {
        x.fill(0.0);
    }

    fn corner(&mut self, gradient: &[f64], corner: &mut [f64]) {
        let norm_sq: f64 = gradient.iter().zip(&self.axes).map(|(g, a)| (g * a).powi(2)).sum();
        let scale = if norm_sq > 0.0 { -self.radius / norm_sq.sqrt() } else { 0.0 };
        for ((s, g), a) in corner.iter_mut().zip(gradient).zip(&self.axes) {
            *s = scale * a * a * g;
        }
    }

    fn check(&self) -> Result<(), String> {
        check_size("radius", self.radius)
    }
}
