//! Least squares, the most common smooth function.

use super::Smooth;
use std::ops::Range;

/// f(x) = ½‖Ax − b‖². The residual Ax − b is kept up to date, so a visit costs only as much as the
/// columns of its block.
///
/// ```
/// use maxmargin::product::{L1Ball, LeastSquares, ProductSettings, ProductStep, minimise};
///
/// // Sparse regression: two of three columns explain b.
/// let columns = [vec![1.0, 0.0, 1.0], vec![0.0, 1.0, 1.0], vec![1.0, -1.0, 0.5]];
/// let mut f = LeastSquares::new(&columns, vec![1.0, 0.5, 1.5]);
/// let settings = ProductSettings { step: ProductStep::Exact, ..ProductSettings::default() };
/// let solution = minimise(&mut f, &mut [L1Ball::new(3, 1.5).into()], &settings)?;
/// assert!(solution.value < 1e-4 && solution.x[2].abs() < 0.02);
/// # Ok::<(), maxmargin::product::ProductError>(())
/// ```
#[derive(Debug, Clone)]
pub struct LeastSquares {
    /// The matrix A column by column, or `None` for the unit matrix.
    columns: Option<Vec<f64>>,
    b: Vec<f64>,
    residual: Vec<f64>,
}

impl LeastSquares {
    /// Creates f from the columns of A, each as long as b.
    ///
    /// # Panics
    /// If a column is not as long as b.
    ///
    /// ```
    /// use maxmargin::product::{LeastSquares, Smooth as _};
    ///
    /// let f = LeastSquares::new(&[vec![1.0, 0.0], vec![1.0, 1.0]], vec![3.0, 1.0]);
    /// assert_eq!(f.value(&[1.0, 1.0]), 0.5);
    /// ```
    pub fn new(columns: &[Vec<f64>], b: Vec<f64>) -> Self {
        for (j, column) in columns.iter().enumerate() {
            assert_eq!(column.len(), b.len(), "column {j} is not as long as b");
        }
        let residual = b.iter().map(|b| -b).collect();
        Self { columns: Some(columns.concat()), b, residual }
    }

    /// Creates f(x) = ½‖x − b‖², whose minimum is the projection of b.
    ///
    /// ```
    /// use maxmargin::product::{LeastSquares, Smooth as _};
    ///
    /// assert_eq!(LeastSquares::distance_to(vec![3.0, 4.0]).value(&[0.0, 0.0]), 12.5);
    /// ```
    pub fn distance_to(b: Vec<f64>) -> Self {
        Self { columns: None, residual: b.iter().map(|b| -b).collect(), b }
    }

    fn column<'a>(&self, columns: &'a [f64], j: usize) -> &'a [f64] {
        &columns[j * self.b.len()..(j + 1) * self.b.len()]
    }

    /// The entry of A·direction in `row`.
    fn image(&self, block: &Range<usize>, direction: &[f64], row: usize) -> f64 {
        match &self.columns {
            Some(columns) => {
                let entries = block.clone().map(|j| columns[j * self.b.len() + row]);
                entries.zip(direction).map(|(a, d)| a * d).sum()
            }
            None if block.contains(&row) => direction[row - block.start],
            None => 0.0,
        }
    }
}

impl Smooth for LeastSquares {
    fn value(&self, x: &[f64]) -> f64 {
        let all = 0..x.len();
        let error = |row: usize| self.image(&all, x, row) - self.b[row];
        0.5 * (0..self.b.len()).map(|row| error(row).powi(2)).sum::<f64>()
    }

    fn gradient(&self, _x: &[f64], block: Range<usize>, gradient: &mut [f64]) {
        match &self.columns {
            None => gradient.copy_from_slice(&self.residual[block]),
            Some(columns) => {
                for (g, j) in gradient.iter_mut().zip(block) {
                    let column = self.column(columns, j);
                    *g = column.iter().zip(&self.residual).map(|(a, r)| a * r).sum();
                }
            }
        }
    }

    fn curvature(&self, _x: &[f64], block: Range<usize>, direction: &[f64]) -> Option<f64> {
        Some(match self.columns {
            None => direction.iter().map(|d| d * d).sum(),
            Some(_) => {
                let rows = 0..self.b.len();
                rows.map(|row| self.image(&block, direction, row).powi(2)).sum()
            }
        })
    }

    fn dim(&self) -> Option<usize> {
        match &self.columns {
            None => Some(self.b.len()),
            // Columns without rows cannot be counted.
            Some(columns) => columns.len().checked_div(self.b.len()),
        }
    }

    fn begin(&mut self, x: &[f64]) {
        for row in 0..self.b.len() {
            self.residual[row] = self.image(&(0..x.len()), x, row) - self.b[row];
        }
    }

    fn moved(&mut self, block: Range<usize>, direction: &[f64], gamma: f64) {
        match &self.columns {
            None => {
                for (r, d) in self.residual[block].iter_mut().zip(direction) {
                    *r += gamma * d;
                }
            }
            Some(columns) => {
                for (j, d) in block.zip(direction).filter(|(_, d)| **d != 0.0) {
                    let column = &columns[j * self.b.len()..(j + 1) * self.b.len()];
                    for (r, a) in self.residual.iter_mut().zip(column) {
                        *r += gamma * d * a;
                    }
                }
            }
        }
    }
}
