//! Factor graphs on their way into a model.

use crate::error::value_error;
use maxmargin::model::factor_graph::{Graphs, Tie};
use maxmargin_io::{
    FactorGraphNames, FactorGraphReader, Fingerprint, LabelRule, Lines, read_factor_graphs,
    read_factor_graphs_with,
};
use pyo3::prelude::*;

/// Factor graphs in index form, with the names behind them. Training uses them up.
#[pyclass(module = "maxmargin._maxmargin", name = "GraphData")]
pub(crate) struct FactorGraphData {
    pub(crate) data: Graphs,
    pub(crate) names: FactorGraphNames,
    pub(crate) fingerprint: Fingerprint,
    #[pyo3(get)]
    unknown: u64,
}

impl FactorGraphData {
    /// Reads graphs for a model that has these names.
    pub(crate) fn with_names(
        lines: &str,
        names: &FactorGraphNames,
        labelled: bool,
    ) -> PyResult<Self> {
        let rule = if labelled { LabelRule::Strict } else { LabelRule::Ignore };
        let data = read_factor_graphs_with(reader(lines)?, names, rule).map_err(value_error)?;
        Ok(Self {
            data: data.graphs,
            names: names.clone(),
            fingerprint: data.fingerprint,
            unknown: data.unknown_attributes,
        })
    }
}

fn reader(lines: &str) -> PyResult<FactorGraphReader> {
    let lines = Lines::from_reader("graphs", std::io::Cursor::new(lines.as_bytes().to_vec()));
    Ok(FactorGraphReader::new(lines.map_err(value_error)?))
}

#[pymethods]
impl FactorGraphData {
    /// Reads graphs to train on, one line of JSON each.
    #[new]
    fn new(lines: &str) -> PyResult<Self> {
        let data = read_factor_graphs(reader(lines)?).map_err(value_error)?;
        let (names, fingerprint) = (data.names, data.fingerprint);
        Ok(Self { data: data.graphs, names, fingerprint, unknown: 0 })
    }

    /// Reads more graphs for the same names.
    fn read_more(&self, lines: &str) -> PyResult<Self> {
        Self::with_names(lines, &self.names, true)
    }

    fn __len__(&self) -> usize {
        self.data.len()
    }

    /// The shape of the weights in JSON, with joint states that share weights in the templates that are named.
    fn shape(&self, ties: Vec<(String, String)>) -> PyResult<String> {
        let tie = |(template, name): (String, String)| {
            Ok((template, name.parse::<Tie>().map_err(value_error)?))
        };
        let ties = ties.into_iter().map(tie).collect::<PyResult<Vec<_>>>()?;
        let shape = self.names.tied_shape(&ties).map_err(value_error)?;
        serde_json::to_string(&shape).map_err(value_error)
    }
}
