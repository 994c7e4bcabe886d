//! Kernels for every model: inputs whose inner products are kernel values.
//!
//! The kernel values of M inputs are the inner products of M vectors z: K = ZZᵀ. A model that is linear in its inputs,
//! trained on z in place of x, is the model with the kernel. The model, the decoder and the certificate need not
//! know about the kernel. So graphs, trees, matchings, soft constraints, slack rescaling and bounds on other
//! weights can all be used with a kernel in this way. The price is one attribute for each direction that the inputs
//! span: each input becomes a row of up to M numbers.

use super::function::{Kernel, KernelError};
use super::inputs::{Collector, Inputs};
use crate::model::Row;

/// Vectors z(x) with ⟨z(x), z(x′)⟩ = k(x, x′) for the inputs from which the map was made. They come from a Cholesky
/// decomposition with pivots.
///
/// Directions are added from the largest one down, until the squared length that remains of every input is at most
/// a share of the largest kernel value. Then |k(x, x′) − ⟨z(x), z(x′)⟩| is at most [`left_over`](Self::left_over)
/// for all pairs of these inputs. A new input is mapped to the vector whose inner products with the chosen inputs
/// are its kernel values.
///
/// ```
/// use maxmargin::kernel::{Kernel, KernelMap};
/// use maxmargin::model::potts::{NodeLoss, Potts, PottsGraphs, PottsInference, PottsShape};
/// use maxmargin::{Settings, train};
///
/// // A ring: a node is inside if it is neither near the middle nor far out. No linear model can tell.
/// let places: Vec<f64> = (0..9).map(|at| f64::from(at) - 4.0).collect();
/// let row = |place: &f64| vec![(0u32, *place)];
/// let kernel = Kernel::Rbf { gamma: 0.5 };
/// let map = KernelMap::fit(places.iter().map(row), kernel, 1e-12, usize::MAX)?;
/// let mut graphs = PottsGraphs::new();
/// for place in &places {
///     let inside = u32::from((1.5..3.5).contains(&place.abs()));
///     graphs.push_node(map.map(&row(place)), inside, 1.0)?;
/// }
/// for v in 1..9 {
///     graphs.push_edge(v - 1, v, [(0, 1.0)])?; // neighbours like to agree, with a weight ≥ 0
/// }
/// graphs.end_graph(1.0)?;
/// let shape = PottsShape::new(2, map.features(), 1);
/// let problem = Potts::new(shape, graphs, NodeLoss::HAMMING, PottsInference::Auto)?;
/// let solution = train(&problem, &Settings { lambda: Some(1e-4), ..Settings::default() })?;
/// assert!(solution.certificate.quality.is_exact());
/// assert_eq!(problem.predict(&solution.weights)[0], problem.data().graph(0).labels());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct KernelMap {
    kernel: Kernel,
    /// The chosen inputs, in the order of their directions.
    chosen: Inputs,
    /// The lower triangle of the factor of their kernel values, row by row.
    factor: Vec<f64>,
    left_over: f64,
}

/// Differences below this, relative to the largest kernel value, are rounding.
const ROUNDING: f64 = 1e-14;

impl KernelMap {
    /// Makes a map of inputs. It stops adding directions once the squared length that remains of every input is at
    /// most `left` times the largest squared length, or when there are `most` directions.
    ///
    /// # Errors
    /// If parameters of the kernel are out of range, or if inputs are so large that the kernel is not finite.
    pub fn fit<R>(
        inputs: impl IntoIterator<Item = R>,
        kernel: Kernel,
        left: f64,
        most: usize,
    ) -> Result<Self, KernelError>
    where
        R: AsRef<[(u32, f64)]>,
    {
        kernel.check()?;
        let mut collector = Collector::default();
        for input in inputs {
            let (attributes, values): (Vec<u32>, Vec<f64>) = input.as_ref().iter().copied().unzip();
            collector.number(Row { attributes: &attributes, values: &values });
        }
        let all = collector.finish();
        // The squared length that remains of every input: its kernel with itself, minus its part in the directions
        // so far.
        let mut rest: Vec<f64> = (0..all.len() as u32).map(|m| all.own_value(&kernel, m)).collect();
        if let Some((example, &value)) = rest.iter().enumerate().find(|(_, v)| !v.is_finite()) {
            return Err(KernelError::Value { example, value });
        }
        let size = rest.iter().copied().fold(0.0, f64::max);
        let enough = size * left.max(ROUNDING * all.len() as f64);
        let (mut pivots, mut columns): (Vec<usize>, Vec<Vec<f64>>) = (Vec::new(), Vec::new());
        let (mut dense, mut values) = (Vec::new(), Vec::new());
        while pivots.len() < most.min(all.len()) {
            // Choose the first of the largest, so that the same inputs make the same map.
            let mut pivot = 0;
            (1..rest.len()).for_each(|m| pivot = if rest[m] > rest[pivot] { m } else { pivot });
            if rest[pivot] <= enough {
                break;
            }
            all.values(&kernel, all.rows.row(pivot), &mut dense, &mut values);
            let length = rest[pivot].sqrt();
            let mut column = std::mem::take(&mut values);
            for known in &columns {
                let own = known[pivot];
                column.iter_mut().zip(known).for_each(|(value, other)| *value -= own * other);
            }
            column.iter_mut().for_each(|value| *value /= length);
            // Inputs that were chosen before have nothing left in new directions.
            pivots.iter().for_each(|&before: &usize| column[before] = 0.0);
            column[pivot] = length;
            rest.iter_mut().zip(&column).for_each(|(rest, part)| *rest -= part * part);
            rest[pivot] = 0.0;
            columns.push(column);
            pivots.push(pivot);
        }
        let mut factor = Vec::with_capacity(pivots.len() * (pivots.len() + 1) / 2);
        for (at, &pivot) in pivots.iter().enumerate() {
            factor.extend(columns[..=at].iter().map(|column| column[pivot]));
        }
        let chosen = pivots.iter().map(|&pivot| all.rows.row(pivot).pairs().collect());
        let left_over = rest.iter().copied().fold(0.0, f64::max);
        Ok(Self { kernel, chosen: Inputs::from_rows(chosen), factor, left_over })
    }

    /// Number of attributes of mapped inputs.
    pub fn features(&self) -> usize {
        self.chosen.len()
    }

    /// The largest squared length that an input of the fit has outside of the directions of the map. Kernel values
    /// of these inputs are exact up to this error.
    pub fn left_over(&self) -> f64 {
        self.left_over
    }

    /// The kernel.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// Returns z(x) as pairs of attribute and value. The values of a repeated attribute of x are added up.
    pub fn map(&self, input: &[(u32, f64)]) -> Vec<(u32, f64)> {
        let (attributes, values): (Vec<u32>, Vec<f64>) = input.iter().copied().unzip();
        let (mut dense, mut z) = (Vec::new(), Vec::new());
        let row = Row { attributes: &attributes, values: &values };
        self.chosen.values(&self.kernel, row, &mut dense, &mut z);
        // Forward substitution: the factor times z are the kernel values.
        let mut first = 0;
        for at in 0..z.len() {
            let own = &self.factor[first..=first + at];
            let known: f64 = own[..at].iter().zip(&z).map(|(factor, z)| factor * z).sum();
            z[at] = (z[at] - known) / own[at];
            first += at + 1;
        }
        (0..).zip(z).filter(|(_, value)| *value != 0.0).collect()
    }
}
