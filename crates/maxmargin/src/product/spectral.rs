//! Blocks of matrices, whose corners are found by repeated squaring of matrices.

use super::domain::{Block, check_size};

/// The trace-norm ball: matrices, stored row by row, whose singular values sum to at most r. Its corners
/// −r·u vᵀ have rank one, where u and v are the singular vectors of the gradient with the largest
/// singular value.
///
/// They are found by power iteration with repeated squaring: GᵀG (or GGᵀ, if that is smaller) is squared
/// until only its largest eigenvalue is left. Multiplying a vector repeatedly would be cheaper, but it
/// does not converge if the largest singular values are nearly equal, as they are at all solutions of
/// rank two or more, and gaps would then be too small. A squaring takes m³ operations for m rows or
/// columns, and there are at most 50 of them, so this is suited to matrices with up to a few hundred rows
/// or columns.
///
/// ```
/// use maxmargin::product::{Block as _, TraceBall};
///
/// let mut corner = [0.0; 4];
/// TraceBall::new(2, 2, 3.0).corner(&[0.0, 2.0, 0.0, 0.0], &mut corner);
/// for (s, expected) in corner.iter().zip([0.0, -3.0, 0.0, 0.0]) {
///     assert!((s - expected).abs() < 1e-12);
/// }
/// ```
#[derive(Debug, Clone)]
pub struct TraceBall {
    rows: usize,
    columns: usize,
    radius: f64,
    powers: Powers,
    other: Vec<f64>,
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
        let powers = Powers::new(rows.min(columns));
        Self { rows, columns, radius, powers, other: vec![0.0; rows.max(columns)] }
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
        let Self { rows, columns, radius, powers, other } = self;
        let (rows, columns) = (*rows, *columns);
        let is_tall = rows > columns;
        let entry = |i: usize, j: usize| gradient[i * columns + j];
        powers.fill(|a, b| match is_tall {
            true => (0..rows).map(|i| entry(i, a) * entry(i, b)).sum(),
            false => (0..columns).map(|j| entry(a, j) * entry(b, j)).sum(),
        });
        let vector = powers.largest();
        other.fill(0.0);
        for (i, row) in gradient.chunks_exact(columns).enumerate() {
            match is_tall {
                true => other[i] = dot(row, vector),
                false => add(other, vector[i], row),
            }
        }
        normalise(other);
        let (left, right) = if is_tall { (&**other, vector) } else { (vector, &**other) };
        for (row, u) in corner.chunks_exact_mut(columns).zip(left) {
            for (s, v) in row.iter_mut().zip(right) {
                *s = -*radius * u * v;
            }
        }
    }

    fn check(&self) -> Result<(), String> {
        check_size("radius", self.radius)
    }
}

/// The spectrahedron: symmetric positive semidefinite matrices with the trace t, stored row by row. Its
/// corners are t·v vᵀ, where v is the eigenvector of the gradient with the smallest eigenvalue. It is
/// found like the corners of the [trace ball](TraceBall).
///
/// ```
/// use maxmargin::product::{Block as _, Spectrahedron};
///
/// let mut corner = [0.0; 4];
/// Spectrahedron::new(2, 1.0).corner(&[1.0, 0.0, 0.0, -2.0], &mut corner);
/// for (s, expected) in corner.iter().zip([0.0, 0.0, 0.0, 1.0]) {
///     assert!((s - expected).abs() < 1e-12);
/// }
/// ```
#[derive(Debug, Clone)]
pub struct Spectrahedron {
    size: usize,
    trace: f64,
    powers: Powers,
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
        Self { size, trace, powers: Powers::new(size) }
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
        let Self { size, trace, powers } = self;
        // No eigenvalue is larger than the Frobenius norm, so all eigenvalues of shift − G are ≥ 0, and
        // the largest one belongs to the smallest eigenvalue of G.
        let shift = dot(gradient, gradient).sqrt();
        powers.fill(|a, b| {
            // Only the symmetric part counts.
            let entry = 0.5 * (gradient[a * *size + b] + gradient[b * *size + a]);
            if a == b { shift - entry } else { -entry }
        });
        let vector = powers.largest();
        for (row, u) in corner.chunks_exact_mut(*size).zip(vector) {
            for (s, v) in row.iter_mut().zip(vector) {
                *s = *trace * u * v;
            }
        }
    }

    fn check(&self) -> Result<(), String> {
        check_size("trace", self.trace)
    }
}

/// The largest number of squarings. The power 2⁵⁰ separates eigenvalues that differ in their last digits.
const MOST_SQUARINGS: usize = 50;

/// A matrix of length 1 has one eigenvalue left if squaring reduces its length by no more than this.
const ROUNDING: f64 = 1e-15;

/// A symmetric positive semidefinite matrix, and its powers.
#[derive(Debug, Clone)]
struct Powers {
    size: usize,
    matrix: Vec<f64>,
    square: Vec<f64>,
    vector: Vec<f64>,
}

impl Powers {
    fn new(size: usize) -> Self {
        let (matrix, square) = (vec![0.0; size * size], vec![0.0; size * size]);
        Self { size, matrix, square, vector: vec![0.0; size] }
    }

    /// Sets the matrix. Calls `entry` for one half of it only.
    fn fill(&mut self, entry: impl Fn(usize, usize) -> f64) {
        fill_symmetric(&mut self.matrix, self.size, entry);
    }

    /// Returns an eigenvector of the largest eigenvalue. The matrix is overwritten.
    fn largest(&mut self) -> &[f64] {
        let Self { size, matrix, square, vector } = self;
        normalise(matrix);
        for _ in 0..MOST_SQUARINGS {
            let row = |i: usize| &matrix[i * *size..(i + 1) * *size];
            fill_symmetric(square, *size, |a, b| dot(row(a), row(b)));
            let length = normalise(square);
            std::mem::swap(matrix, square);
            if length >= 1.0 - ROUNDING {
                break;
            }
        }
        // The result is v vᵀ, whose longest row is the most accurate.
        let diagonal = |i: &usize| matrix[i * *size + i];
        let longest = (0..*size).rev().max_by(|a, b| diagonal(a).total_cmp(&diagonal(b)));
        if let Some(i) = longest {
            vector.copy_from_slice(&matrix[i * *size..(i + 1) * *size]);
            if normalise(vector) == 0.0 {
                // All directions are equally good.
                vector[i] = 1.0;
            }
        }
        vector
    }
}

fn fill_symmetric(matrix: &mut [f64], size: usize, entry: impl Fn(usize, usize) -> f64) {
    for a in 0..size {
        for b in 0..=a {
            let value = entry(a, b);
            (matrix[a * size + b], matrix[b * size + a]) = (value, value);
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// `to` += `scale`·`v`.
fn add(to: &mut [f64], scale: f64, v: &[f64]) {
    to.iter_mut().zip(v).for_each(|(to, v)| *to += scale * v);
}

/// Scales a vector to the length 1, unless its length is 0, and returns its old length.
fn normalise(v: &mut [f64]) -> f64 {
    // Divide by the largest entry first, because the squares of tiny entries would vanish.
    let largest = v.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
    if largest == 0.0 {
        return 0.0;
    }
    v.iter_mut().for_each(|v| *v /= largest);
    let length = dot(v, v).sqrt();
    v.iter_mut().for_each(|v| *v /= length);
    largest * length
}
