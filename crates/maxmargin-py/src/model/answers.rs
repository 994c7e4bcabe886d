//! Answers of models as arrays of NumPy.

use crate::predict::Answer;
use maxmargin::kernel::Support;
use maxmargin::model::matching::ScoredLinks;
use maxmargin::model::tree::ScoredStates;
use numpy::{Element, PyArray1, PyArray2, PyArrayMethods as _};
use pyo3::prelude::*;

/// Labels and their score.
pub(super) type Scored<'py> = (Bound<'py, PyArray1<u32>>, f64);

/// Rows of whole numbers and their score.
pub(super) type Rated<'py> = (Bound<'py, PyArray2<i64>>, f64);

/// A sparse matrix: row starts, columns and values.
pub(super) type SparseRows<'py> =
    (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>);

/// Labels and a number for each.
pub(super) type Confident<'py> = (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<f64>>);

/// Numbers as rows of so many columns.
pub(super) fn table<T: Element>(
    py: Python<'_>,
    values: Vec<T>,
    columns: usize,
) -> PyResult<Bound<'_, PyArray2<T>>> {
    let rows = values.len() / columns.max(1);
    PyArray1::from_vec(py, values).reshape([rows, columns])
}

/// Inputs as a sparse matrix with a row for each.
pub(super) fn sparse_rows<'py>(py: Python<'py>, support: &Support) -> SparseRows<'py> {
    let pairs = || support.iter().flat_map(|input| input.pairs());
    let ends = support.iter().scan(0, |end, input| {
        *end += input.attributes.len() as i64;
        Some(*end)
    });
    let starts = PyArray1::from_vec(py, std::iter::once(0).chain(ends).collect());
    let attributes = pairs().map(|(attribute, _)| i64::from(attribute)).collect();
    let values = pairs().map(|(_, value)| value).collect();
    (starts, PyArray1::from_vec(py, attributes), PyArray1::from_vec(py, values))
}

/// Labellings of a sequence with their scores.
pub(super) fn scored(py: Python<'_>, paths: Vec<(Vec<u32>, f64)>) -> Vec<Scored<'_>> {
    paths.into_iter().map(|(labels, score)| (PyArray1::from_vec(py, labels), score)).collect()
}

/// The labels of a sequence, and a number for each.
pub(super) fn confident(py: Python<'_>, answer: Answer) -> Confident<'_> {
    let labels = answer.paths.into_iter().next().map(|(labels, _)| labels);
    let labels = PyArray1::from_vec(py, labels.unwrap_or_default());
    (labels, PyArray1::from_vec(py, answer.numbers))
}

/// States (kind, x, y) of the nodes of a tree with their scores.
pub(super) fn rated_states(py: Python<'_>, found: Vec<ScoredStates>) -> PyResult<Vec<Rated<'_>>> {
    let one = |found: ScoredStates| {
        let states = found.states.iter();
        let states = states.flat_map(|s| [s.kind, s.x, s.y].map(i64::from)).collect();
        Ok((table(py, states, 3)?, found.score))
    };
    found.into_iter().map(one).collect()
}

/// Links (row, column) of a pair with their scores.
pub(super) fn rated_links(py: Python<'_>, found: Vec<ScoredLinks>) -> PyResult<Vec<Rated<'_>>> {
    let one = |found: ScoredLinks| {
        let links = found.links.iter();
        let links = links.flat_map(|&(r, c)| [r, c].map(i64::from)).collect();
        Ok((table(py, links, 2)?, found.score))
    };
    found.into_iter().map(one).collect()
}
