//! Calls of the methods of a structure that is defined in Python, with as little in between as possible.
//!
//! An oracle may take a few microseconds, so what surrounds it must not take more. The methods are looked up
//! once, features that come as arrays are read where they are, and the difference to the true features is
//! merged in one pass. Everything else goes through the adapter (`python/maxmargin/_oracle.py`): other forms
//! of features, errors, and structures that work in other processes.

use maxmargin::SparseVec;
use numpy::{PyArray1, PyArrayMethods as _, PyReadonlyArray1};
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

/// φ as indices and values.
pub(crate) type Features<'py> = (PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, f64>);

/// The methods of a structure, and its examples.
pub(crate) struct Methods {
    decode: Py<PyAny>,
    features: Py<PyAny>,
    loss: Py<PyAny>,
    xs: Py<PyList>,
    ys: Py<PyList>,
    /// Whether it decodes several examples in one call.
    has_batches: bool,
}

/// What is asked of an example.
#[derive(Clone, Copy)]
pub(crate) struct Question<'a> {
    pub(crate) example: usize,
    pub(crate) w: &'a [f64],
    pub(crate) is_augmented: bool,
    pub(crate) truth: &'a SparseVec,
    pub(crate) dim: usize,
}

impl Methods {
    /// The methods of the structure of an adapter, unless it works in other processes.
    pub(crate) fn of(adapter: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        if !adapter.getattr("pool")?.is_none() {
            return Ok(None);
        }
        let structure = adapter.getattr("structure")?;
        let list = |name: &str| Ok::<_, PyErr>(adapter.getattr(name)?.cast_into::<PyList>()?);
        Ok(Some(Self {
            decode: structure.getattr("decode")?.unbind(),
            features: structure.getattr("features")?.unbind(),
            loss: structure.getattr("loss")?.unbind(),
            xs: list("X")?.unbind(),
            ys: list("y")?.unbind(),
            has_batches: structure.hasattr("decode_batch")?,
        }))
    }

    pub(crate) fn has_batches(&self) -> bool {
        self.has_batches
    }

    /// Writes φ of the truth minus φ of the best output to `psi`, and returns the loss of that output.
    pub(crate) fn ask(
        &self,
        py: Python<'_>,
        adapter: &Py<PyAny>,
        question: Question<'_>,
        psi: &mut SparseVec,
    ) -> PyResult<f64> {
        let Question { example, w, is_augmented, truth, dim } = question;
        let failed = |method: &'static str| {
            move |error: PyErr| match error.is_instance_of::<PyException>(py) {
                true => {
                    let wrapped = adapter.bind(py).call_method1("failed", (example, method, error));
                    wrapped.err().unwrap_or_else(|| PyValueError::new_err("the structure failed"))
                }
                false => error,
            }
        };
        let (x, y) = (self.xs.bind(py).get_item(example)?, self.ys.bind(py).get_item(example)?);
        let shown = if is_augmented { y.clone() } else { py.None().into_bound(py) };
        let arguments = (&x, shown, PyArray1::from_slice(py, w), is_augmented);
        let best = self.decode.bind(py).call1(arguments).map_err(failed("decode"))?;
        let raw = self.features.bind(py).call1((&x, &best)).map_err(failed("features"))?;
        if !subtract(&raw, truth, dim, psi) {
            // Another form, or something wrong with it.
            let features = adapter.bind(py).call_method1("sparse", (example, raw))?;
            psi.clear();
            push(psi, features.extract()?, -1.0, dim)?;
            truth.entries().iter().for_each(|&(feature, value)| psi.push(feature, value));
            psi.normalise();
        }
        let loss = self.loss.bind(py).call1((&y, &best)).map_err(failed("loss"))?;
        let loss = loss.extract::<f64>()?;
        if loss >= 0.0 {
            return Ok(loss);
        }
        let text = format!("the loss is {loss:?}; it must be a number ≥ 0").replace("NaN", "nan");
        Err(failed("loss")(PyValueError::new_err(text)))
    }
}

/// Writes `truth` − φ to `psi`, if φ is an array, or indices in ascending order with their values. Returns
/// `false` if it is anything else, or not right.
fn subtract(raw: &Bound<'_, PyAny>, truth: &SparseVec, dim: usize, psi: &mut SparseVec) -> bool {
    if let Ok(array) = raw.cast::<PyArray1<f64>>() {
        let Ok(array) = array.try_readonly() else { return false };
        let Ok(dense) = array.as_slice() else { return false };
        if dense.len() > dim {
            return false;
        }
        merge((0..).zip(dense.iter().copied()).filter(|(_, value)| *value != 0.0), truth, psi);
        return true;
    }
    let Ok(pair) = raw.cast::<PyTuple>() else { return false };
    if pair.len() != 2 {
        return false;
    }
    let (Ok(indices), Ok(values)) = (pair.get_item(0), pair.get_item(1)) else { return false };
    let (Ok(indices), Ok(values)) =
        (indices.cast::<PyArray1<i64>>(), values.cast::<PyArray1<f64>>())
    else {
        return false;
    };
    let (Ok(indices), Ok(values)) = (indices.try_readonly(), values.try_readonly()) else {
        return false;
    };
    let (Ok(indices), Ok(values)) = (indices.as_slice(), values.as_slice()) else { return false };
    let in_range =
        |index: Option<&i64>| index.is_none_or(|&index| 0 <= index && index < dim as i64);
    if indices.len() != values.len()
        || !in_range(indices.first())
        || !in_range(indices.last())
        || !indices.is_sorted_by(|a, b| a < b)
    {
        return false;
    }
    merge(indices.iter().map(|&index| index as u64).zip(values.iter().copied()), truth, psi);
    true
}

/// Writes `truth` − φ to `psi` in one pass; both are in ascending order.
fn merge(phi: impl Iterator<Item = (u64, f64)>, truth: &SparseVec, psi: &mut SparseVec) {
    psi.clear();
    let mut rest = truth.entries().iter().copied().peekable();
    for (feature, value) in phi {
        while let Some((before, own)) = rest.next_if(|(before, _)| *before < feature) {
            psi.push(before, own);
        }
        match rest.next_if(|(same, _)| *same == feature) {
            Some((_, own)) => psi.push(feature, own - value),
            None => psi.push(feature, -value),
        }
    }
    rest.for_each(|(feature, own)| psi.push(feature, own));
}

/// Appends features with a sign.
pub(crate) fn push(
    into: &mut SparseVec,
    features: Features<'_>,
    sign: f64,
    dim: usize,
) -> PyResult<()> {
    let (indices, values) = features;
    for (&index, &value) in indices.as_array().iter().zip(values.as_array()) {
        match u64::try_from(index).ok().filter(|index| *index < dim as u64) {
            Some(index) => into.push(index, sign * value),
            None => {
                let text = format!("feature {index} does not exist; there are {dim}");
                return Err(PyValueError::new_err(text));
            }
        }
    }
    Ok(())
}
