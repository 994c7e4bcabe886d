//! The rows of a run, in Python's terms.

use crate::error::value_error;
use maxmargin::CacheStats;
use maxmargin::observe::Record;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;

type Column = fn(&Record) -> f64;

/// The columns of a history; what is not known is NaN.
const COLUMNS: [(&str, Column); 24] = [
    ("passes", |r| r.pass as f64),
    ("visits", |r| r.visits as f64),
    ("oracle_calls", |r| r.oracle_calls as f64),
    ("effective_passes", |r| r.effective_passes),
    ("seconds", |r| r.seconds),
    ("oracle_seconds", |r| r.oracle_seconds),
    ("gap_seconds", |r| r.gap_seconds),
    ("dual", |r| r.dual),
    ("iterate_dual", |r| r.iterate_dual.unwrap_or(f64::NAN)),
    ("average_dual", |r| r.average_dual.unwrap_or(f64::NAN)),
    ("primal", |r| r.primal.unwrap_or(f64::NAN)),
    ("gap", |r| r.gap.unwrap_or(f64::NAN)),
    ("validation", |r| r.validation.unwrap_or(f64::NAN)),
    ("step_mean", |r| r.steps.mean),
    ("step_zero", |r| r.steps.zero as f64),
    ("step_full", |r| r.steps.full as f64),
    ("bound", |r| r.bound.unwrap_or(f64::NAN)),
    ("pairwise_gap", |r| r.pairwise_gap.unwrap_or(f64::NAN)),
    ("cache_hits", |r| of_cache(r, |cache| cache.hits)),
    ("cache_local_hits", |r| of_cache(r, |cache| cache.local_hits)),
    ("cache_misses", |r| of_cache(r, |cache| cache.misses)),
    ("cache_corners", |r| of_cache(r, |cache| cache.corners)),
    ("cache_active", |r| of_cache(r, |cache| cache.active)),
    ("cache_drops", |r| of_cache(r, |cache| cache.drops)),
];

fn of_cache(record: &Record, count: fn(&CacheStats) -> u64) -> f64 {
    record.cache.as_ref().map_or(f64::NAN, |cache| count(cache) as f64)
}

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

/// Rows again, as far as the columns tell of them.
pub(crate) fn records(columns: &Bound<'_, PyDict>) -> PyResult<Vec<Record>> {
    let mut values = Vec::with_capacity(COLUMNS.len());
    for (name, _) in COLUMNS {
        let column = columns.get_item(name)?;
        let column = column.ok_or_else(|| value_error(format!("the history has no {name}")))?;
        values.push(column.extract::<PyReadonlyArray1<'_, f64>>()?.as_array().to_vec());
    }
    let rows = values.iter().map(Vec::len).min().unwrap_or(0);
    let at = |name: &str, row: usize| {
        let column = COLUMNS.iter().position(|(own, _)| *own == name);
        column.map_or(f64::NAN, |column| values[column][row])
    };
    let known = |name: &str, row: usize| Some(at(name, row)).filter(|value| !value.is_nan());
    let record = |row: usize| {
        let mut record = Record::default();
        record.pass = at("passes", row) as u64;
        record.visits = at("visits", row) as u64;
        record.oracle_calls = at("oracle_calls", row) as u64;
        record.effective_passes = at("effective_passes", row);
        record.seconds = at("seconds", row);
        record.oracle_seconds = at("oracle_seconds", row);
        record.gap_seconds = at("gap_seconds", row);
        record.dual = at("dual", row);
        record.iterate_dual = known("iterate_dual", row);
        record.average_dual = known("average_dual", row);
        record.primal = known("primal", row);
        record.gap = known("gap", row);
        record.validation = known("validation", row);
        record.bound = known("bound", row);
        record.pairwise_gap = known("pairwise_gap", row);
        record.cache = known("cache_hits", row).map(|hits| {
            let mut cache = CacheStats::default();
            cache.hits = hits as u64;
            cache.local_hits = at("cache_local_hits", row) as u64;
            cache.misses = at("cache_misses", row) as u64;
            cache.corners = at("cache_corners", row) as u64;
            cache.active = at("cache_active", row) as u64;
            cache.drops = at("cache_drops", row) as u64;
            cache
        });
        record
    };
    Ok((0..rows).map(record).collect())
}
