//! Factor graphs on their way into a model.

use crate::alphabet::Alphabet;
use crate::arrays::{AnyMatrix, Matrix};
use crate::error::value_error;
use maxmargin::model::InputError;
use maxmargin::model::factor_graph::{Graphs, Tie};
use maxmargin_io::{
    FactorGraphDataset, FactorGraphNames, FactorGraphReader, Fingerprint, Fingerprinter, LabelRule,
    Lines, Names, Origin, RawFactor, RawFactorGraph, RawVariable, read_factor_graphs,
    read_factor_graphs_with,
};
use numpy::ndarray::{ArrayView1, ArrayView2};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

/// Factor graphs in index form, with the names behind them. Training uses them up.
#[pyclass(module = "maxmargin._maxmargin", name = "GraphData")]
pub(crate) struct FactorGraphData {
    pub(crate) data: Graphs,
    pub(crate) names: FactorGraphNames,
    pub(crate) fingerprint: Fingerprint,
    /// What the fingerprint of graphs in arrays is made with; in a box, since Python does not align it.
    fingerprinter: Box<Fingerprinter>,
    #[pyo3(get)]
    unknown: u64,
}

/// What becomes of an attribute of an edge if its ends change places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Symmetry {
    Directed,
    Symmetric,
    Antisymmetric,
}

impl Symmetry {
    fn parse(name: &str) -> PyResult<Self> {
        match name {
            "directed" => Ok(Self::Directed),
            "symmetric" => Ok(Self::Symmetric),
            "antisymmetric" => Ok(Self::Antisymmetric),
            _ => Err(value_error(format!("there is no symmetry {name:?}"))),
        }
    }

    /// What an attribute counts along an edge, and against it.
    fn shares(self) -> (f64, f64) {
        match self {
            Self::Directed => (1.0, 0.0),
            Self::Symmetric => (0.5, 0.5),
            Self::Antisymmetric => (0.5, -0.5),
        }
    }
}

/// The edges of a graph as they come from Python.
struct Edges<'a, 'py> {
    ends: ArrayView2<'a, i64>,
    /// The type of each edge; all are of type 0 if not given.
    types: Option<ArrayView1<'a, u32>>,
    /// A row per edge; one attribute that is 1 if not given.
    rows: Option<Matrix<'a, 'py>>,
    symmetries: Vec<Symmetry>,
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
            fingerprinter: Box::new(Fingerprinter::for_factor_graphs()),
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
        let fingerprinter = Box::new(Fingerprinter::for_factor_graphs());
        Ok(Self { data: data.graphs, names, fingerprint, fingerprinter, unknown: 0 })
    }

    /// No graphs yet, whose nodes all have so many states: a template for nodes with these attributes, and
    /// for each type of edges one with its name and these attributes.
    #[staticmethod]
    fn pairwise(
        states: usize,
        node_attributes: Vec<String>,
        edge_types: Vec<String>,
        edge_attributes: Vec<String>,
    ) -> Self {
        let mut names = FactorGraphNames::default();
        names.templates.intern(NODE);
        names.attributes.push(Names::from_iter(node_attributes));
        names.states.push(vec![states]);
        names.patterns.push(0);
        for edge_type in &edge_types {
            names.templates.intern(edge_type);
            names.attributes.push(Names::from_iter(edge_attributes.iter().cloned()));
            names.states.push(vec![states, states]);
            names.patterns.push(0);
        }
        let fingerprinter = Box::new(Fingerprinter::for_factor_graphs());
        let fingerprint = fingerprinter.finish();
        Self { data: Graphs::new(), names, fingerprint, fingerprinter, unknown: 0 }
    }

    /// Adds a graph in arrays: a row per node, the two ends of every edge, its type, a row per edge, what
    /// becomes of each attribute of edges if the ends change places, labels (0 if not given) and weights
    /// (1 if not given) of nodes, whether nodes have one attribute more that is 1, and the weight of the
    /// graph.
    #[expect(clippy::too_many_arguments, reason = "a graph has as many parts")]
    fn add(
        &mut self,
        nodes: AnyMatrix<'_>,
        edges: PyReadonlyArray2<'_, i64>,
        edge_types: Option<PyReadonlyArray1<'_, u32>>,
        edge_rows: Option<AnyMatrix<'_>>,
        symmetries: Vec<String>,
        labels: Option<PyReadonlyArray1<'_, u32>>,
        node_weights: Option<PyReadonlyArray1<'_, f64>>,
        constant: bool,
        weight: f64,
    ) -> PyResult<()> {
        let mut raw = RawFactorGraph { weight, ..RawFactorGraph::default() };
        self.add_nodes(&mut raw, &nodes.as_matrix(), labels, node_weights, constant)?;
        let symmetries = symmetries.iter().map(|name| Symmetry::parse(name));
        let edges = Edges {
            ends: edges.as_array(),
            types: edge_types.as_ref().map(PyReadonlyArray1::as_array),
            rows: edge_rows.as_ref().map(AnyMatrix::as_matrix),
            symmetries: symmetries.collect::<PyResult<_>>()?,
        };
        self.add_edges(&mut raw, &edges)?;
        self.data.end_graph(weight).map_err(value_error)?;
        self.fingerprinter.add_factor_graph(&raw);
        self.fingerprint = self.fingerprinter.finish();
        Ok(())
    }

    /// Reads more graphs for the same names.
    fn read_more(&self, lines: &str) -> PyResult<Self> {
        Self::with_names(lines, &self.names, true)
    }

    /// The names of labels and attributes that a model of these graphs has.
    fn names(&self) -> (Alphabet, Alphabet) {
        let (names, fingerprint) = (self.names.clone(), self.fingerprint);
        let origin =
            Origin::from(&FactorGraphDataset { graphs: Graphs::default(), names, fingerprint });
        (Alphabet { names: origin.labels }, Alphabet { names: origin.attributes })
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

/// The name of the template of nodes.
const NODE: &str = "node";

impl FactorGraphData {
    fn add_nodes(
        &mut self,
        raw: &mut RawFactorGraph,
        rows: &Matrix<'_, '_>,
        labels: Option<PyReadonlyArray1<'_, u32>>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        constant: bool,
    ) -> PyResult<()> {
        let labels = labels.as_ref().map(PyReadonlyArray1::as_array);
        let weights = weights.as_ref().map(PyReadonlyArray1::as_array);
        let states = self.names.states[0][0] as u32;
        let width = self.names.attributes[0].len() as u32;
        for v in 0..rows.rows() {
            let of = |what: &str| value_error(format!("node {v} has no {what}"));
            let truth = match labels {
                None => None,
                Some(labels) => Some(*labels.get(v).ok_or_else(|| of("label"))?),
            };
            let cost = match weights {
                None => 1.0,
                Some(weights) => *weights.get(v).ok_or_else(|| of("weight"))?,
            };
            self.data
                .push_weighted_variable(states, truth.unwrap_or(0), cost)
                .map_err(|error| value_error(format!("node {v}: {error}")))?;
            raw.variables.push(RawVariable { states, truth, cost });
        }
        let mut row = Vec::new();
        for v in 0..rows.rows() {
            rows.row(v, &None, &mut row).map_err(value_error)?;
            if constant {
                row.push((width - 1, 1.0));
            }
            self.add_factor(raw, 0, &[v as u32], &row)
                .map_err(|error| value_error(format!("node {v}: {error}")))?;
        }
        Ok(())
    }

    fn add_edges(&mut self, raw: &mut RawFactorGraph, edges: &Edges<'_, '_>) -> PyResult<()> {
        let (mut row, mut along, mut against) = (Vec::new(), Vec::new(), Vec::new());
        for (e, ends) in edges.ends.rows().into_iter().enumerate() {
            let wrong = |error: &dyn std::fmt::Display| value_error(format!("edge {e}: {error}"));
            match &edges.rows {
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
            let template = match &edges.types {
                None => 1,
                Some(types) => 1 + types.get(e).copied().ok_or_else(|| wrong(&"it has no type"))?,
            };
            if template as usize >= self.names.templates.len() {
                return Err(wrong(&"there is no such type of edges"));
            }
            along.clear();
            against.clear();
            for &(attribute, value) in &row {
                let symmetry = edges.symmetries.get(attribute as usize);
                let (own, other) = symmetry.copied().unwrap_or(Symmetry::Directed).shares();
                along.push((attribute, own * value));
                if other != 0.0 {
                    against.push((attribute, other * value));
                }
            }
            self.add_factor(raw, template, &[a, b], &along).map_err(|error| wrong(&error))?;
            if !against.is_empty() {
                self.add_factor(raw, template, &[b, a], &against).map_err(|error| wrong(&error))?;
            }
        }
        Ok(())
    }

    /// Adds a factor, in index form and in name form.
    fn add_factor(
        &mut self,
        raw: &mut RawFactorGraph,
        template: u32,
        variables: &[u32],
        row: &[(u32, f64)],
    ) -> Result<(), InputError> {
        self.data.push_factor(template, variables, row.iter().copied())?;
        let names = &self.names.attributes[template as usize];
        let named = |&(attribute, value): &(u32, f64)| (names.name(attribute).to_owned(), value);
        raw.factors.push(RawFactor {
            template: self.names.templates.name(template).to_owned(),
            variables: variables.to_vec(),
            attributes: row.iter().map(named).collect(),
            patterns: None,
        });
        Ok(())
    }
}
