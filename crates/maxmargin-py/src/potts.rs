//! Labelled graphs on their way into a model.

use crate::arrays::AnyMatrix;
use crate::error::{file_error, value_error};
use maxmargin::model::potts::PottsGraphs;
use maxmargin_io::{
    DataError, Fingerprint, Fingerprinter, Source, SuperpixelFeatures, Superpixels,
    read_superpixels,
};
use numpy::{PyArray1, PyArray2, PyArrayMethods as _, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

/// Graphs whose nodes have labels, in index form. Training uses them up.
#[pyclass(module = "maxmargin._maxmargin", name = "NodeData")]
pub(crate) struct PottsData {
    pub(crate) data: PottsGraphs,
}

#[pymethods]
impl PottsData {
    #[new]
    fn new() -> Self {
        Self { data: PottsGraphs::new() }
    }

    fn __len__(&self) -> usize {
        self.data.len()
    }

    /// Adds a graph: a row per node, the two ends of every edge, a row per edge (one attribute that is
    /// 1 if not given), labels (0 if not given) and weights (1 if not given) of nodes, whether nodes
    /// have one attribute more that is 1, and the weight of the graph.
    #[expect(clippy::too_many_arguments, reason = "a graph has as many parts")]
    fn add(
        &mut self,
        nodes: AnyMatrix<'_>,
        width: u32,
        edges: PyReadonlyArray2<'_, i64>,
        edge_rows: Option<AnyMatrix<'_>>,
        labels: Option<PyReadonlyArray1<'_, u32>>,
        node_weights: Option<PyReadonlyArray1<'_, f64>>,
        constant: bool,
        weight: f64,
    ) -> PyResult<()> {
        let labels = labels.as_ref().map(PyReadonlyArray1::as_array);
        let node_weights = node_weights.as_ref().map(PyReadonlyArray1::as_array);
        let rows = nodes.as_matrix();
        let mut row = Vec::new();
        for v in 0..rows.rows() {
            rows.row(v, &None, &mut row).map_err(value_error)?;
            if constant {
                row.push((width, 1.0));
            }
            let of = |what: &str| value_error(format!("node {v} has no {what}"));
            let label = match labels {
                None => 0,
                Some(labels) => *labels.get(v).ok_or_else(|| of("label"))?,
            };
            let own = match node_weights {
                None => 1.0,
                Some(weights) => *weights.get(v).ok_or_else(|| of("weight"))?,
            };
            self.data
                .push_node(row.iter().copied(), label, own)
                .map_err(|error| value_error(format!("node {v}: {error}")))?;
        }
        let edge_rows = edge_rows.as_ref().map(AnyMatrix::as_matrix);
        for (e, ends) in edges.as_array().rows().into_iter().enumerate() {
            let wrong = |error: &dyn std::fmt::Display| value_error(format!("edge {e}: {error}"));
            match &edge_rows {
                None => {
                    row.clear();
                    row.push((0, 1.0));
                }
                Some(rows) => rows.row(e, &None, &mut row).map_err(|error| wrong(&error))?,
            }
            let end = |at: usize| {
                let node = ends[at];
                u32::try_from(node).map_err(|_| wrong(&format!("node {node} does not exist")))
            };
            let (a, b) = (end(0)?, end(1)?);
            self.data.push_edge(a, b, row.iter().copied()).map_err(|error| wrong(&error))?;
        }
        self.data.end_graph(weight).map_err(value_error)
    }
}

impl PottsData {
    /// The fingerprint of the graphs, which have no names.
    pub(crate) fn fingerprint(&self) -> Fingerprint {
        let mut all = Fingerprinter::for_records("labelled graphs");
        for (i, graph) in self.data.iter().enumerate() {
            let labels = graph.labels().iter().map(|&label| f64::from(label));
            all.add_record([], [self.data.weight(i)].into_iter().chain(labels));
            for v in 0..graph.nodes() {
                let pairs = graph.node(v).pairs().flat_map(|(a, value)| [f64::from(a), value]);
                all.add_record([], [graph.node_weight(v)].into_iter().chain(pairs));
            }
            for (e, &(a, b)) in graph.edges().iter().enumerate() {
                let pairs = graph.edge(e).pairs().flat_map(|(a, value)| [f64::from(a), value]);
                all.add_record([], [a, b].map(f64::from).into_iter().chain(pairs));
            }
        }
        all.finish()
    }
}

/// An image: its name, features of its regions, the two ends of edges, features of edges, and, for every
/// region, its number of pixels and how many of them are foreground.
type Image<'py> = (
    String,
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray2<i64>>,
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray2<i64>>,
);

/// Reads images that were cut into superpixels.
#[pyfunction]
pub(crate) fn read_images<'py>(
    py: Python<'py>,
    source: &str,
    widths: Vec<f64>,
) -> PyResult<Vec<Image<'py>>> {
    let features = SuperpixelFeatures { widths, bias: false };
    let read = || -> Result<Superpixels, DataError> {
        let (source, part) = Source::resolve_part(source)?;
        let lines = source.open_lines("superpixels")?;
        read_superpixels(lines, part.as_deref(), &features)
    };
    let data = py.detach(read).map_err(file_error)?;
    let graphs = &data.graphs;
    let (node_width, edge_width) = (graphs.node_attribute_bound(), features.widths.len());
    let image = |(i, image): (usize, &maxmargin_io::SuperpixelImage)| {
        let graph = graphs.graph(i);
        let (nodes, edges) = (graph.nodes(), graph.edges().len());
        let mut rows = vec![0.0; nodes * node_width];
        for v in 0..nodes {
            for (at, value) in graph.node(v).pairs() {
                rows[v * node_width + at as usize] = value;
            }
        }
        let mut edge_rows = vec![0.0; edges * edge_width];
        for e in 0..edges {
            for (at, value) in graph.edge(e).pairs() {
                edge_rows[e * edge_width + at as usize] = value;
            }
        }
        let ends = graph.edges().iter().flat_map(|&(a, b)| [i64::from(a), i64::from(b)]);
        let pixels = image.pixels.iter().flat_map(|&(all, inside)| [all as i64, inside as i64]);
        Ok((
            image.name.clone(),
            PyArray1::from_vec(py, rows).reshape([nodes, node_width])?,
            PyArray1::from_iter(py, ends).reshape([edges, 2])?,
            PyArray1::from_vec(py, edge_rows).reshape([edges, edge_width])?,
            PyArray1::from_iter(py, pixels).reshape([nodes, 2])?,
        ))
    };
    data.images.iter().enumerate().map(image).collect()
}
