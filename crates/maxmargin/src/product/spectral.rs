//! Blocks of matrices, whose corners are found by power iteration.

use super::domain::Block;
use crate::rng::Rng;

/// The trace-norm ball: matrices whose singular values sum up to at most r, row by row. Its corners
/// −r·u vᵀ have rank one, u and v being the singular vectors of the gradient with the largest singular
/// value.
///
/// The vectors come from power iteration with random starts of a fixed seed, until less than one part in
/// 10¹³ of the singular value is left to gain, judged by the last rounds, or after 10,000 rounds. Where
/// the largest singular values are nearly equal, rounding ends it before. So gaps are exact only up to
/// about 10⁻⁷ of the gradient's length.
///
/// ```
/// use maxmargin::product::{Block as _, TraceBall};
///
/// let mut corner = [0.0; 4];
/// TraceBall::new(2, 2, 3.0).corner(&[0.0, 2.0, 0.0, 0.0], &mut corner);
/// for (s, expected) in corner.iter().zip([0.0, -3.0, 0.0, 0.0]) {
///     assert!((s - expected).abs() < 1e-6);
/// }
/// ```
#[derive(Debug, Clone)]
pub struct TraceBall {
    rows: usize,
    columns: usize,
    radius: f64,
    left: Vec<f64>,
    right: Vec<f64>,
}

impl TraceBall {
    /// The ball of matrices around 0.
    ///
    /// ```
    /// use maxmargin::product::{Block as _, TraceBall};
    ///
    /// assert_eq!(TraceBall::new(2, 3, 1.0).dim(), 6);
    /// ```
    pub fn new(rows: usize, columns: usize, radius: f64) -> Self {
        Self { rows, columns, radius, left: vec![0.0; rows], right: vec![0.0; columns] }
    }
}

impl Block for TraceBall {
    fn dim(&self) -> usize {
        self.rows * self.columns
    }

    fn start(&self, x: &mut [f64]) {
        x.fill(0.0);
    }

    fn corner(&mut self, gradient: &[f64], corner: &mut [f64]) {
        let Self { rows, columns, radius, left, right } = self;
        randomise(right);
        let mut progress = Progress::default();
        for _ in 0..MOST_ROUNDS {
            for (u, row) in left.iter_mut().zip(gradient.chunks_exact(*columns)) {
                *u = dot(row, right);
            }
            normalise(left);
            right.fill(0.0);
            for (u, row) in left.iter().zip(gradient.chunks_exact(*columns)) {
                add(right, *u, row);
            }
            if progress.ends_at(normalise(right)) {
                break;
            }
        }
        for (i, row) in corner.chunks_exact_mut(*columns).enumerate().take(*rows) {
            for (s, v) in row.iter_mut().zip(&*right) {
                *s = -*radius * left[i] * v;
            }
        }
    }
}

/// The spectrahedron: symmetric positive semidefinite matrices with the trace t, row by row. Its
/// corners are t·v vᵀ, v being the eigenvector of the gradient with the least eigenvalue; it is found
/// as that of the [trace ball](TraceBall).
///
/// ```
/// use maxmargin::product::{Block as _, Spectrahedron};
///
/// let mut corner = [0.0; 4];
/// Spectrahedron::new(2, 1.0).corner(&[1.0, 0.0, 0.0, -2.0], &mut corner);
/// for (s, expected) in corner.iter().zip([0.0, 0.0, 0.0, 1.0]) {
///     assert!((s - expected).abs() < 1e-6);
/// }
/// ```
#[derive(Debug, Clone)]
pub struct Spectrahedron {
    size: usize,
    trace: f64,
    vector: Vec<f64>,
    image: Vec<f64>,
}

impl Spectrahedron {
    /// Matrices of `size` rows and columns with the trace `trace`.
    ///
    /// ```
    /// use maxmargin::product::{Block as _, Spectrahedron};
    ///
    /// let mut x = [0.0; 4];
    /// Spectrahedron::new(2, 3.0).start(&mut x);
    /// assert_eq!(x, [1.5, 0.0, 0.0, 1.5]);
    /// ```
    pub fn new(size: usize, trace: f64) -> Self {
        Self { size, trace, vector: vec![0.0; size], image: vec![0.0; size] }
    }
}

impl Block for Spectrahedron {
    fn dim(&self) -> usize {
        self.size * self.size
    }

    fn start(&self, x: &mut [f64]) {
        x.fill(0.0);
        x.iter_mut().step_by(self.size + 1).for_each(|x| *x = self.trace / self.size as f64);
    }

    fn corner(&mut self, gradient: &[f64], corner: &mut [f64]) {
        let Self { size, trace, vector, image } = self;
        // No eigenvalue is larger than the Frobenius norm, so that of shift − G all are ≥ 0, and the
        // largest belongs to the least of G.
        let shift = dot(gradient, gradient).sqrt();
        randomise(vector);
        let mut progress = Progress::default();
        for _ in 0..MOST_ROUNDS {
            image.fill(0.0);
            add(image, shift, vector);
            for (i, row) in gradient.chunks_exact(*size).enumerate() {
                // Half of the matrix and half of its transpose: only the symmetric part counts.
                image[i] -= 0.5 * dot(row, vector);
                add(image, -0.5 * vector[i], row);
            }
            std::mem::swap(vector, image);
            if progress.ends_at(normalise(vector)) {
                break;
            }
        }
        for (row, u) in corner.chunks_exact_mut(*size).zip(&*vector) {
            for (s, v) in row.iter_mut().zip(&*vector) {
                *s = *trace * u * v;
            }
        }
    }
}

/// Power iteration ends when less than this share is left to gain,
const ACCURACY: f64 = 1e-13;
/// or after so many rounds.
const MOST_ROUNDS: usize = 10_000;

/// How the value of power iteration has grown.
#[derive(Default)]
struct Progress {
    value: Option<f64>,
    gain: Option<f64>,
}

impl Progress {
    /// Whether hardly anything is left to gain at `value`. Gains shrink by the same factor q from round
    /// to round in the end, so that what is left is gain·q/(1 − q); a small gain alone does not tell.
    fn ends_at(&mut self, value: f64) -> bool {
        let Some(gain) = self.value.replace(value).map(|before| value - before) else {
            return value <= 0.0;
        };
        let Some(before) = self.gain.replace(gain) else { return gain <= 0.0 };
        let q = gain / before;
        gain <= 0.0 || (q < 1.0 && gain * q / (1.0 - q) <= ACCURACY * value)
    }
}

/// A start that no gradient can be made for, and the same in every run.
fn randomise(v: &mut [f64]) {
    let mut rng = Rng::new(v.len() as u64);
    v.iter_mut().for_each(|v| *v = rng.unit_f64() - 0.5);
    normalise(v);
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// `to` += `scale`·`v`.
fn add(to: &mut [f64], scale: f64, v: &[f64]) {
    to.iter_mut().zip(v).for_each(|(to, v)| *to += scale * v);
}

/// Makes the length 1, unless it is 0; returns what it was.
fn normalise(v: &mut [f64]) -> f64 {
    let length = dot(v, v).sqrt();
    if length > 0.0 {
        v.iter_mut().for_each(|v| *v /= length);
    }
    length
}
