//! Maps and states of trees on their way into a model.

use crate::arrays::Maps;
use crate::error::value_error;
use crate::fit::parse;
use maxmargin::model::tree::{State, TreeExamples, TreeShape};
use maxmargin_io::{Fingerprint, Fingerprinter};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

/// Examples for one tree. Training uses them up.
#[pyclass(module = "maxmargin._maxmargin")]
pub(crate) struct TreeData {
    pub(crate) data: TreeExamples,
}

#[pymethods]
impl TreeData {
    /// No examples yet, for a shape as JSON.
    #[new]
    fn new(shape: &str) -> PyResult<Self> {
        let shape: TreeShape = parse("the tree", shape)?;
        Ok(Self { data: TreeExamples::new(shape) })
    }

    fn __len__(&self) -> usize {
        self.data.len()
    }

    /// Adds an example: the maps of each node (those that are read at the place of the parent come last), the true states (kind, x, y; all 0 if not given), the
    /// weights of nodes (1 if not given), the distance at which a place is all wrong, and the weight of
    /// the example.
    fn add(
        &mut self,
        maps: Vec<Maps<'_>>,
        states: Option<PyReadonlyArray2<'_, i64>>,
        node_weights: Option<PyReadonlyArray1<'_, f64>>,
        scale: f64,
        weight: f64,
    ) -> PyResult<()> {
        let nodes = self.data.shape().nodes();
        if maps.len() != nodes.len() {
            let (found, nodes) = (maps.len(), nodes.len());
            return Err(value_error(format!(
                "it has maps for {found} nodes, the tree has {nodes}"
            )));
        }
        let (_, height, width) = maps.first().map_or((0, 0, 0), Maps::shape);
        let mut all = Vec::with_capacity(maps.iter().map(|own| volume(own.shape())).sum());
        for (v, (own, node)) in maps.iter().zip(nodes).enumerate() {
            let (found, rows, columns) = own.shape();
            let expected = node.maps + node.parent_maps;
            if found != expected {
                let text = format!("node {v} has {found} maps here, and {expected} elsewhere");
                return Err(value_error(text));
            }
            if (rows, columns) != (height, width) {
                let text = format!(
                    "the maps of node {v} are {rows} × {columns}, and those of node 0 {height} × {width}"
                );
                return Err(value_error(text));
            }
            own.append_to(&mut all);
        }
        let truth = match states {
            None => vec![State::default(); nodes.len()],
            Some(states) => states
                .as_array()
                .rows()
                .into_iter()
                .enumerate()
                .map(|(v, row)| state(v, row[0], row[1], row[2]))
                .collect::<PyResult<_>>()?,
        };
        let node_weights = node_weights.as_ref().map(|w| w.as_slice()).transpose()?;
        let node_weights = node_weights.unwrap_or_default();
        self.data.push(width, height, all, truth, node_weights, scale, weight).map_err(value_error)
    }
}

fn volume((maps, rows, columns): (usize, usize, usize)) -> usize {
    maps * rows * columns
}

fn state(node: usize, kind: i64, x: i64, y: i64) -> PyResult<State> {
    match (u32::try_from(kind), u32::try_from(x), u32::try_from(y)) {
        (Ok(kind), Ok(x), Ok(y)) => Ok(State { kind, x, y }),
        _ => Err(value_error(format!(
            "node {node} has the kind {kind} and the place ({x}, {y}); none of them can be negative"
        ))),
    }
}

impl TreeData {
    pub(crate) fn fingerprint(&self) -> Fingerprint {
        let data = &self.data;
        let mut all = Fingerprinter::for_records("trees");
        for i in 0..data.len() {
            let (width, height) = data.grid(i);
            let sizes = [width as f64, height as f64, data.scale(i), data.weight(i)];
            let states = data.truth(i).iter();
            let states = states.flat_map(|s| [s.kind, s.x, s.y].map(f64::from));
            let shares = data.shares(i).iter().copied();
            all.add_record([], sizes.into_iter().chain(states).chain(shares));
            for (node, shape) in data.shape().nodes().iter().enumerate() {
                for map in 0..shape.maps + shape.parent_maps {
                    let values = data.map(i, node, map).iter();
                    all.add_record([], values.map(|&value| f64::from(value)));
                }
            }
        }
        all.finish()
    }
}
