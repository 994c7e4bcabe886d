//! The rows of a run, in Python's terms.

use maxmargin::observe::Record;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

type Column = fn(&Record) -> f64;

/// The columns of a history; what is not known is NaN.
const COLUMNS: [(&str, Column); 14] = [
    ("passes", |r| r.pass as f64),
    ("visits", |r| r.visits as f64),
    ("oracle_calls", |r| r.oracle_calls as f64),
    ("effective_passes", |r| r.effective_passes),
    ("seconds", |r| r.seconds),
    ("oracle_seconds", |r| r.oracle_seconds),
    ("gap_seconds", |r| r.gap_seconds),
    ("dual", |r| r.dual),
    ("primal", |r| r.primal.unwrap_or(f64::NAN)),
    ("gap", |r| r.gap.unwrap_or(f64::NAN)),
    ("validation", |r| r.validation.unwrap_or(f64::NAN)),
    ("step_mean", |r| r.steps.mean),
    ("step_zero", |r| r.steps.zero as f64),
    ("step_full", |r| r.steps.full as f64),
];

/// One row as a dictionary.
pub(crate) fn row<'py>(py: Python<'py>, record: &Record) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    for (name, value) in COLUMNS {
        row.set_item(name, value(record))?;
    }
    Ok(row)
}

/// All rows, column by column.
pub(crate) fn columns<'py>(py: Python<'py>, rows: &[Record]) -> PyResult<Bound<'py, PyDict>> {
    let columns = PyDict::new(py);
    for (name, value) in COLUMNS {
        columns.set_item(name, PyArray1::from_iter(py, rows.iter().map(value)))?;
    }
    Ok(columns)
}
