//! Dual points, to start from.

use crate::error::value_error;
use maxmargin::{Block, DualPoint, SparseVec};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

/// A dual point with the λ it belongs to.
#[pyclass(module = "maxmargin._maxmargin", frozen)]
pub(crate) struct Dual {
    pub(crate) lambda: f64,
    pub(crate) point: DualPoint,
}

/// Where the parts of each block end, the parts, their masses, and the losses of the blocks.
type Arrays<'py> = (
    Bound<'py, PyArray1<u64>>,
    Bound<'py, PyArray1<u64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
);

/// The same after the λ.
type NewArgs<'py> = (
    f64,
    Bound<'py, PyArray1<u64>>,
    Bound<'py, PyArray1<u64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
);

#[pymethods]
impl Dual {
    #[new]
    fn new(
        lambda: f64,
        ends: PyReadonlyArray1<'_, u64>,
        parts: PyReadonlyArray1<'_, u64>,
        masses: PyReadonlyArray1<'_, f64>,
        losses: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<Self> {
        let (ends, parts, masses) = (ends.as_slice()?, parts.as_slice()?, masses.as_slice()?);
        let damaged = || value_error("the arrays of the dual point do not fit each other");
        let mut blocks = Vec::with_capacity(ends.len());
        let mut start = 0;
        for (at, &end) in ends.iter().enumerate() {
            let end = end as usize;
            let loss = *losses.as_slice()?.get(at).ok_or_else(damaged)?;
            let (own, own_masses) = (parts.get(start..end), masses.get(start..end));
            let (Some(own), Some(own_masses)) = (own, own_masses) else { return Err(damaged()) };
            let mut sparse = SparseVec::new();
            own.iter().zip(own_masses).for_each(|(&part, &mass)| sparse.push(part, mass));
            blocks.push(Block { parts: sparse.into(), loss });
            start = end;
        }
        Ok(Self { lambda, point: DualPoint { blocks } })
    }

    #[getter]
    fn lambda_(&self) -> f64 {
        self.lambda
    }

    fn __len__(&self) -> usize {
        self.point.blocks.len()
    }

    fn arrays<'py>(&self, py: Python<'py>) -> Arrays<'py> {
        let blocks = &self.point.blocks;
        let ends = blocks.iter().scan(0, |end, block| {
            *end += block.parts.len() as u64;
            Some(*end)
        });
        let entries = || blocks.iter().flat_map(|block| block.parts.iter());
        (
            PyArray1::from_iter(py, ends),
            PyArray1::from_iter(py, entries().map(|(part, _)| part)),
            PyArray1::from_iter(py, entries().map(|(_, mass)| mass)),
            PyArray1::from_iter(py, blocks.iter().map(|block| block.loss)),
        )
    }

    fn __getnewargs__<'py>(&self, py: Python<'py>) -> NewArgs<'py> {
        let (ends, parts, masses, losses) = self.arrays(py);
        (self.lambda, ends, parts, masses, losses)
    }
}
