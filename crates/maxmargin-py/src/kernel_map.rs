//! Inputs whose inner products are kernel values.

use crate::error::value_error;
use crate::fit::parse;
use maxmargin::kernel::{self, Kernel};
use numpy::{PyArray2, PyArrayMethods, PyReadonlyArray2};
use pyo3::prelude::*;

/// A map that was made of some inputs.
#[pyclass(frozen)]
pub(crate) struct KernelMap {
    map: kernel::KernelMap,
    /// Number of attributes of inputs.
    inputs: usize,
}

/// A row of an array as pairs.
fn pairs(row: impl Iterator<Item = f64>) -> Vec<(u32, f64)> {
    (0..).zip(row).filter(|(_, value)| *value != 0.0).collect()
}

#[pymethods]
impl KernelMap {
    /// Makes a map of the rows of an array.
    #[new]
    fn new(
        py: Python<'_>,
        rows: PyReadonlyArray2<'_, f64>,
        kernel: &str,
        left: f64,
        most: usize,
    ) -> PyResult<Self> {
        let kernel: Kernel = parse("kernel", kernel)?;
        let inputs = rows.as_array().ncols();
        let all: Vec<Vec<(u32, f64)>> =
            rows.as_array().rows().into_iter().map(|row| pairs(row.iter().copied())).collect();
        let map = py.detach(|| kernel::KernelMap::fit(all, kernel, left, most));
        Ok(Self { map: map.map_err(value_error)?, inputs })
    }

    /// The rows of an array, mapped.
    fn map<'py>(
        &self,
        py: Python<'py>,
        rows: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let rows = rows.as_array();
        if rows.ncols() != self.inputs {
            let (found, needed) = (rows.ncols(), self.inputs);
            return Err(value_error(format!(
                "the inputs have {found} attributes, and those of fit had {needed}"
            )));
        }
        let all: Vec<Vec<(u32, f64)>> =
            rows.rows().into_iter().map(|row| pairs(row.iter().copied())).collect();
        let features = self.map.features();
        let values = py.detach(|| {
            let mut values = vec![0.0; all.len() * features];
            for (input, row) in all.iter().zip(values.chunks_exact_mut(features.max(1))) {
                self.map.map(input).iter().for_each(|&(at, value)| row[at as usize] = value);
            }
            values
        });
        let array = numpy::PyArray1::from_vec(py, values);
        array.reshape([all.len(), features])
    }

    /// Number of attributes of mapped inputs.
    fn features(&self) -> usize {
        self.map.features()
    }

    /// How far from kernel values inner products of the inputs of the fit can be.
    fn left_over(&self) -> f64 {
        self.map.left_over()
    }
}
