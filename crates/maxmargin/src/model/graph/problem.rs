//! Labelled graphs as a structured problem.

use super::graphs::{LabelledGraph, LabelledGraphs};
use super::inference::GraphInference;
use super::loss::NodeLoss;
use super::search::{Network, Search, Task, topology};
use super::shape::PottsShape;
use crate::bounds::{Bounds, BoundsError};
use crate::inference::topology::Topology;
use crate::model::rows::{add_scores, scatter_row};
use crate::problem::Problem;
use crate::quality::Quality;
use crate::sparse::{Sink, SparseVec};
use crate::way::Way;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use thiserror::Error;

/// Data, a shape or a way of decoding that do not fit together.
///
/// ```
/// use maxmargin::model::graph::{GraphInference, LabelledGraphs, NodeLoss, Potts, PottsShape};
///
/// let shape = PottsShape::new(3, 1, 1);
/// let data = LabelledGraphs::new();
/// let error = Potts::new(shape, data, NodeLoss::default(), GraphInference::MaxFlow).unwrap_err();
/// assert_eq!(error.to_string(), "max-flow cannot decode these graphs: it needs two labels");
/// ```
#[derive(Debug, Error, Clone, PartialEq)]
pub enum PottsError {
    /// No labels at all.
    #[error("a graph model needs at least one label")]
    NoLabels,
    /// A label that the shape does not have.
    #[error("graph {graph} has the label {label}, but there are only {labels} labels")]
    Label {
        /// Index of the graph.
        graph: usize,
        /// The label.
        label: u32,
        /// Number of labels.
        labels: usize,
    },
    /// An attribute that the shape does not have.
    #[error("graph {graph} has the {of} attribute {attribute}, but there are only {attributes}")]
    Attribute {
        /// Index of the graph.
        graph: usize,
        /// What has the attribute: `node` or `edge`.
        of: &'static str,
        /// The attribute.
        attribute: u32,
        /// How many there are.
        attributes: usize,
    },
    /// An edge attribute that is negative where neighbours may only attract each other.
    #[error(
        "edge {edge} of graph {graph} has an attribute with the value {value}; pairwise weights ≥ 0 \
         need attributes ≥ 0"
    )]
    Negative {
        /// Index of the graph.
        graph: usize,
        /// Index of the edge.
        edge: usize,
        /// The value.
        value: f64,
    },
    /// A way of decoding that the shape does not allow.
    #[error("{inference} cannot decode these graphs: {why}")]
    Inference {
        /// What was asked for.
        inference: GraphInference,
        /// Why it cannot be.
        why: &'static str,
    },
}

/// Labelled graphs to train on, or to predict.
///
/// ```
/// use maxmargin::model::graph::{
///     GraphInference, LabelledGraphs, NodeLoss, Potts, PottsShape, grid_edges,
/// };
/// use maxmargin::{Settings, train};
///
/// // Two pictures of 3 × 2 pixels, each half dark and half bright, with one pixel gone wrong.
/// let mut data = LabelledGraphs::new();
/// for pixels in [[0.0, 1.0, 1.0, 0.1, 0.9, 0.4], [0.2, 1.0, 0.9, 0.6, 0.9, 1.0]] {
///     for (at, pixel) in pixels.into_iter().enumerate() {
///         data.push_node([(0, pixel - 0.5), (1, 1.0)], u32::from(at % 3 > 0), 1.0)?;
///     }
///     for (a, b) in grid_edges(3, 2, false) {
///         data.push_edge(a, b, [(0, 1.0)])?;
///     }
///     data.end_graph(1.0)?;
/// }
/// let shape = PottsShape::new(2, 2, 1);
/// let problem = Potts::new(shape, data, NodeLoss::HAMMING, GraphInference::Auto)?;
/// let solution = train(&problem, &Settings { lambda: Some(0.01), ..Settings::default() })?;
/// assert!(solution.weights[shape.pairwise()][0] >= 0.0);
/// assert!(solution.certificate.quality.is_exact());
/// assert_eq!(problem.predict(&solution.weights).len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Potts {
    shape: PottsShape,
    data: LabelledGraphs,
    inference: GraphInference,
    bounds: Option<Bounds>,
    /// The cost of a wrong label at each node of each graph.
    costs: Vec<Vec<f64>>,
    /// Where heuristics need it, the structure of each graph.
    structures: Vec<Topology>,
    networks: Vec<Mutex<Network>>,
    is_warm: bool,
    total_weight: f64,
    /// Whether an answer was not what the inference promises.
    failed: AtomicBool,
}

/// Scratch memory of a [`Potts`], for one thread.
///
/// ```
/// # use maxmargin::doc::patches;
/// use maxmargin::Problem;
///
/// let problem = patches();
/// let w = vec![0.0; problem.dim()];
/// let (mut workspace, mut y) = (problem.workspace(), Vec::new());
/// problem.prepare(0, &w, &mut workspace);
/// problem.oracle(0, &w, &mut workspace, &mut y);
/// assert!(problem.loss(0, &y) > 0.99); // at w = 0 nothing speaks against the largest loss
/// ```
#[derive(Debug, Default)]
pub struct PottsWorkspace {
    /// Scores of nodes, one row of K each, and costs of edges.
    scores: Vec<f64>,
    edge_costs: Vec<f64>,
    augmented: Vec<f64>,
    search: Search,
    way: Way,
}

impl Potts {
    /// Puts data, shape and loss together, and settles how graphs are decoded.
    ///
    /// # Errors
    /// Labels or attributes that do not fit, edge attributes below 0 where neighbours may only
    /// attract each other, or an inference that the shape does not allow.
    pub fn new(
        shape: PottsShape,
        data: LabelledGraphs,
        loss: NodeLoss,
        inference: GraphInference,
    ) -> Result<Self, PottsError> {
        let unsuitable = |why| PottsError::Inference { inference, why };
        let inference = inference.resolve(&shape).map_err(unsuitable)?;
        check(&shape, &data)?;
        let heuristic = matches!(inference, GraphInference::Icm | GraphInference::MaxProduct);
        let structure =
            |graph: LabelledGraph<'_>| topology(graph.nodes(), shape.labels, graph.edges());
        let graphs = data.iter().filter(|_| heuristic && shape.edge_attributes > 0);
        Ok(Self {
            bounds: shape.bounds(None).unwrap_or_default(),
            costs: data.iter().map(|graph| loss.costs(graph)).collect(),
            structures: graphs.filter_map(structure).collect(),
            networks: data.iter().map(|_| Mutex::default()).collect(),
            is_warm: true,
            total_weight: (0..data.len()).map(|i| data.weight(i)).sum(),
            failed: AtomicBool::new(false),
            shape,
            data,
            inference,
        })
    }

    /// The same problem with more bounds on its weights, besides those of the shape.
    ///
    /// ```
    /// # use maxmargin::doc::patches;
    /// use maxmargin::{Bounds, Problem};
    ///
    /// let problem = patches();
    /// let no_more = Bounds::none(problem.dim()).with(0..1, -1.0, 1.0)?;
    /// let problem = problem.with_bounds(Some(no_more))?;
    /// assert_eq!(problem.bounds().unwrap().lower()[problem.shape().pairwise()], [0.0]);
    /// # Ok::<(), maxmargin::BoundsError>(())
    /// ```
    ///
    /// # Errors
    /// Bounds of another number than there are weights, or that leave no pairwise weight ≥ 0.
    pub fn with_bounds(self, bounds: Option<Bounds>) -> Result<Self, BoundsError> {
        Ok(Self { bounds: self.shape.bounds(bounds)?, ..self })
    }

    /// Whether minimum cuts start from the flow of the last call for the same graph, as they do by
    /// default. Answers are the same bit for bit; it is a matter of time.
    #[must_use]
    pub fn with_warm_start(self, is_warm: bool) -> Self {
        Self { is_warm, ..self }
    }

    /// The shape of the weights.
    pub fn shape(&self) -> &PottsShape {
        &self.shape
    }

    /// The data.
    pub fn data(&self) -> &LabelledGraphs {
        &self.data
    }

    /// How graphs are decoded: never [`Auto`](GraphInference::Auto).
    pub fn inference(&self) -> GraphInference {
        self.inference
    }

    /// Predicts the labels of all graphs.
    ///
    /// ```
    /// # use maxmargin::doc::patches;
    /// use maxmargin::{Settings, train};
    ///
    /// let problem = patches();
    /// let predicted = problem.predict(&train(&problem, &Settings::default())?.weights);
    /// assert_eq!(predicted[0].len(), problem.data().graph(0).nodes());
    /// # Ok::<(), maxmargin::TrainError>(())
    /// ```
    ///
    /// # Panics
    /// If there are too few weights.
    pub fn predict(&self, w: &[f64]) -> Vec<Vec<u32>> {
        let mut workspace = self.workspace();
        let mut predict = |i| {
            let mut y = Vec::new();
            self.prepare(i, w, &mut workspace);
            self.decode(i, w, &mut workspace, &mut y);
            y
        };
        (0..self.examples()).map(&mut predict).collect()
    }

    /// Writes the best labelling found to `y`, for scores of labels that are given by `scores`.
    fn search(
        &self,
        i: usize,
        scores: &[f64],
        edge_costs: &[f64],
        search: &mut Search,
        y: &mut Vec<u32>,
    ) {
        let edges = if edge_costs.is_empty() { &[] } else { self.data.graph(i).edges() };
        let task = Task { labels: self.shape.labels, scores, edges, costs: edge_costs };
        // A thread that panicked may have left a network unfinished: it is built anew.
        let mut network = self.networks[i].lock().unwrap_or_else(|poisoned| {
            let mut network = PoisonError::into_inner(poisoned);
            *network = Network::default();
            network
        });
        let structure = self.structures.get(i);
        if !search.run(self.inference, task, &mut network, structure, self.is_warm, y) {
            self.failed.store(true, Ordering::Relaxed);
        }
    }

    /// What the features of a graph are multiplied by.
    fn share(&self, graph: LabelledGraph<'_>) -> f64 {
        if self.shape.mean { 1.0 / graph.nodes() as f64 } else { 1.0 }
    }

    /// The parts of a labelling: 1 for each node whose label is not the true one, and for each edge
    /// by how much it disagrees more than the truth.
    fn push_parts(&self, graph: LabelledGraph<'_>, y: &[u32], parts: &mut SparseVec) {
        let (k, truth) = (self.shape.labels as u64, graph.labels());
        for (v, (&label, &own)) in y.iter().zip(truth).enumerate() {
            if label != own {
                parts.push(v as u64 * k + u64::from(label), 1.0);
            }
        }
        if self.shape.edge_attributes == 0 {
            return;
        }
        let first = graph.nodes() as u64 * k;
        for (e, &(a, b)) in graph.edges().iter().enumerate() {
            let disagree = |y: &[u32]| y[a as usize] != y[b as usize];
            let change = f64::from(disagree(y)) - f64::from(disagree(truth));
            if change != 0.0 {
                parts.push(first + e as u64, change);
            }
        }
    }
}

fn check(shape: &PottsShape, data: &LabelledGraphs) -> Result<(), PottsError> {
    let labels = shape.labels;
    if labels == 0 {
        return Err(PottsError::NoLabels);
    }
    for (at, graph) in data.iter().enumerate() {
        if let Some(&label) = graph.labels().iter().find(|&&label| label as usize >= labels) {
            return Err(PottsError::Label { graph: at, label, labels });
        }
        let refuse = |of, attribute: Option<&u32>, attributes| match attribute {
            Some(&attribute) => Err(PottsError::Attribute { graph: at, of, attribute, attributes }),
            None => Ok(()),
        };
        for v in 0..graph.nodes() {
            let beyond = |attribute: &&u32| **attribute as usize >= shape.node_attributes;
            refuse("node", graph.node(v).attributes.iter().find(beyond), shape.node_attributes)?;
        }
        // Without edge attributes in the shape, edges are as good as not there.
        for edge in (0..graph.edges().len()).filter(|_| shape.edge_attributes > 0) {
            let row = graph.edge(edge);
            let beyond = |attribute: &&u32| **attribute as usize >= shape.edge_attributes;
            refuse("edge", row.attributes.iter().find(beyond), shape.edge_attributes)?;
            if let Some((_, value)) = row.pairs().find(|(_, v)| shape.attractive && *v < 0.0) {
                return Err(PottsError::Negative { graph: at, edge, value });
            }
        }
    }
    Ok(())
}

impl Problem for Potts {
    type Output = Vec<u32>;
    type Workspace = PottsWorkspace;

    fn examples(&self) -> usize {
        self.data.len()
    }

    fn dim(&self) -> usize {
        self.shape.dim()
    }

    fn workspace(&self) -> PottsWorkspace {
        PottsWorkspace { way: Way::new(self.dim()), ..PottsWorkspace::default() }
    }

    fn prepare(&self, i: usize, w: &[f64], workspace: &mut PottsWorkspace) {
        let (graph, k) = (self.data.graph(i), self.shape.labels);
        let (unary, pairwise) = (&w[self.shape.unary()], &w[self.shape.pairwise()]);
        let share = self.share(graph);
        workspace.scores.clear();
        workspace.scores.resize(graph.nodes() * k, 0.0);
        for (v, row) in workspace.scores.chunks_exact_mut(k).enumerate() {
            add_scores(unary, graph.node(v), row);
            row.iter_mut().for_each(|score| *score *= share);
        }
        workspace.edge_costs.clear();
        if !pairwise.is_empty() {
            let costs = (0..graph.edges().len()).map(|e| share * graph.edge(e).dot(pairwise));
            workspace.edge_costs.extend(costs);
        }
    }

    fn prefetch(&self, i: usize) {
        self.data.graph(i).prefetch();
    }

    fn oracle(&self, i: usize, _: &[f64], workspace: &mut PottsWorkspace, y: &mut Vec<u32>) {
        let PottsWorkspace { scores, edge_costs, augmented, search, .. } = workspace;
        augmented.clear();
        augmented.extend_from_slice(scores);
        // A wrong label costs the same whichever it is: the cost is taken off the right one.
        let rows = augmented.chunks_exact_mut(self.shape.labels);
        for ((row, &label), cost) in rows.zip(self.data.graph(i).labels()).zip(&self.costs[i]) {
            row[label as usize] -= cost;
        }
        self.search(i, augmented, edge_costs, search, y);
    }

    fn decode(&self, i: usize, _: &[f64], workspace: &mut PottsWorkspace, y: &mut Vec<u32>) {
        let PottsWorkspace { scores, edge_costs, search, .. } = workspace;
        self.search(i, scores, edge_costs, search, y);
    }

    fn loss(&self, i: usize, y: &Vec<u32>) -> f64 {
        let truth = self.data.graph(i).labels();
        let wrong = truth.iter().zip(y).zip(&self.costs[i]).filter(|((a, b), _)| a != b);
        wrong.map(|(_, cost)| cost).sum()
    }

    fn psi(&self, i: usize, y: &Vec<u32>, psi: &mut SparseVec) {
        let mut parts = SparseVec::new();
        self.parts(i, y, &mut parts);
        self.scatter(i, -1.0, &parts, psi);
    }

    fn truth(&self, i: usize) -> Option<Vec<u32>> {
        Some(self.data.graph(i).labels().to_vec())
    }

    fn weight(&self, i: usize) -> f64 {
        self.data.weight(i)
    }

    fn quality(&self) -> Quality {
        match self.failed.load(Ordering::Relaxed) {
            true => Quality::Heuristic,
            false => self.inference.quality(&self.shape),
        }
    }

    fn total_weight(&self) -> f64 {
        self.total_weight
    }

    fn bounds(&self) -> Option<&Bounds> {
        self.bounds.as_ref()
    }

    fn parts(&self, i: usize, y: &Vec<u32>, parts: &mut SparseVec) {
        self.push_parts(self.data.graph(i), y, parts);
    }

    fn score(&self, i: usize, _: &[f64], ws: &PottsWorkspace, parts: &SparseVec) -> f64 {
        let (k, graph) = (self.shape.labels, self.data.graph(i));
        let (truth, nodes) = (graph.labels(), graph.nodes() * k);
        let term = |&(id, value): &(u64, f64)| match (id as usize).checked_sub(nodes) {
            None => {
                let (at, v) = (id as usize, id as usize / k);
                value * (ws.scores[at] - ws.scores[v * k + truth[v] as usize])
            }
            Some(edge) => -value * ws.edge_costs[edge],
        };
        parts.entries().iter().map(term).sum()
    }

    fn norm_sq(&self, i: usize, workspace: &mut PottsWorkspace, parts: &SparseVec) -> f64 {
        workspace.way.clear();
        self.scatter(i, 1.0, parts, &mut workspace.way);
        workspace.way.norm_sq()
    }

    fn scatter<S: Sink + ?Sized>(&self, i: usize, scale: f64, parts: &SparseVec, sink: &mut S) {
        let (k, graph) = (self.shape.labels, self.data.graph(i));
        let (truth, nodes) = (graph.labels(), graph.nodes() * k);
        let (pairwise, scale) = (self.shape.pairwise().start as u64, scale * self.share(graph));
        for &(id, value) in parts.entries() {
            match (id as usize).checked_sub(nodes) {
                None => {
                    let v = id as usize / k;
                    let masses = [(id % k as u64, value), (u64::from(truth[v]), -value)];
                    scatter_row(k, graph.node(v), scale, &masses, |label| label as usize, sink);
                }
                Some(edge) => {
                    let mass = [(pairwise, -value)];
                    scatter_row(1, graph.edge(edge), scale, &mass, |first| first as usize, sink);
                }
            }
        }
    }

    /// Checks that the masses of labels are those of a distribution at every node, that the mass with
    /// which each edge disagrees is one that two such nodes can have, and that the loss is theirs. On a
    /// graph with cycles that is necessary, but not sufficient.
    fn check_point(
        &self,
        i: usize,
        parts: &SparseVec,
        loss: f64,
        slack: f64,
    ) -> Result<(), String> {
        super::feasible::check(&self.shape, self.data.graph(i), &self.costs[i], parts, loss, slack)
    }
}
