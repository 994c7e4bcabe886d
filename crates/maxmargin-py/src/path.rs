//! Regularization paths.

use crate::error::{file_error, value_error};
use crate::model::Model;
use maxmargin_io::PathFile;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::path::PathBuf;

/// A path, with its names if it is that of a model of ours.
#[pyclass(module = "maxmargin._maxmargin", frozen)]
pub(crate) struct Path {
    pub(crate) path: maxmargin::Path,
    pub(crate) file: Option<PathFile>,
}

#[pymethods]
impl Path {
    #[staticmethod]
    fn load(path: PathBuf) -> PyResult<Self> {
        let file = PathFile::load(path).map_err(file_error)?;
        Ok(Self { path: file.path.clone(), file: Some(file) })
    }

    fn save(&self, path: PathBuf) -> PyResult<()> {
        let file = self.file()?;
        file.save(path).map_err(file_error)
    }

    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        let file = PathFile::from_bytes(bytes).map_err(value_error)?;
        Ok(Self { path: file.path.clone(), file: Some(file) })
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let bytes = slf.get().file()?.to_bytes().map_err(value_error)?;
        let make = slf.get_type().getattr("from_bytes")?;
        Ok((make, (PyBytes::new(slf.py(), &bytes),)))
    }

    /// What is known of the breakpoints, column by column.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        let points = || self.path.breakpoints.iter();
        columns.set_item("lambda", column(py, points().map(|b| b.certificate.lambda)))?;
        columns.set_item("primal", column(py, points().map(|b| b.certificate.primal)))?;
        columns.set_item("dual", column(py, points().map(|b| b.certificate.dual)))?;
        columns.set_item("gap", column(py, points().map(|b| b.certificate.gap)))?;
        columns.set_item("oracle_calls", column(py, points().map(|b| b.oracle_calls as f64)))?;
        columns.set_item("seconds", column(py, points().map(|b| b.seconds)))?;
        columns.set_item("changes", column(py, points().map(|b| b.changes.len() as f64)))?;
        Ok(columns)
    }

    /// What weights add to scores, at λ.
    fn weights_at<'py>(&self, py: Python<'py>, lambda: f64) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let weights = py.detach(|| self.path.weights_at(lambda));
        let weights = weights.ok_or_else(|| self.outside(lambda))?;
        Ok(match &self.file {
            Some(file) => PyArray1::from_slice(py, &file.meta.spec.scoring_weights(&weights)),
            None => PyArray1::from_vec(py, weights),
        })
    }

    /// Primal, dual and gap at λ.
    fn certificate_at(&self, lambda: f64) -> PyResult<(f64, f64, f64, String)> {
        let c = self.path.certificate_at(lambda).ok_or_else(|| self.outside(lambda))?;
        Ok((c.primal, c.dual, c.gap, c.quality.to_string()))
    }

    /// The model at λ.
    fn model_at(&self, lambda: f64) -> PyResult<Model> {
        let file = self.file.as_ref();
        let inner = file.and_then(|file| file.model_at(lambda));
        Ok(Model { inner: inner.ok_or_else(|| self.outside(lambda))?, rows: Vec::new() })
    }

    #[getter]
    fn epsilon(&self) -> f64 {
        self.path.epsilon
    }

    #[getter]
    fn lowest(&self) -> f64 {
        self.path.lowest
    }

    #[getter]
    fn kind(&self) -> String {
        self.path.kind.to_string()
    }

    #[getter]
    fn is_guaranteed(&self) -> bool {
        self.path.is_guaranteed()
    }

    #[getter]
    fn largest_gap(&self) -> f64 {
        self.path.largest_gap()
    }
}

impl Path {
    fn file(&self) -> PyResult<&PathFile> {
        let none = || value_error("files and pickles know nothing of structures of your own");
        self.file.as_ref().ok_or_else(none)
    }

    fn outside(&self, lambda: f64) -> PyErr {
        let lowest = self.path.lowest;
        value_error(format!("the path has no weights at λ = {lambda}; it goes down to {lowest}"))
    }
}

fn column<'py>(py: Python<'py>, values: impl Iterator<Item = f64>) -> Bound<'py, PyArray1<f64>> {
    PyArray1::from_vec(py, values.collect())
}
