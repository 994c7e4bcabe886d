//! Labelled graphs as a structured problem: how to create one, its oracle, and predictions. Part space is in
//! `parts.rs`.

mod parts;

use super::check::{check, refuse};
use super::graphs::{PottsGraph, PottsGraphs};
use super::inference::PottsInference;
use super::labels::NodeLabels;
use super::loss::NodeLoss;
use super::search::{Means, Network, Search, Task, topology};
use super::shape::PottsShape;
use crate::inference::lp::{SimplexMethod, SolveLp};
use crate::inference::message_bound::MessageBound;
use crate::inference::topology::Topology;
use crate::model::InputError;
use crate::problem::bounds::{Bounds, BoundsError};
use crate::problem::quality::Quality;
use crate::problem::sparse::SparseVec;
use crate::problem::sparse_accumulator::SparseAccumulator;
use crate::problem::{Abilities, Parts as _, Problem, Truths};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Labelled graphs as training data, or for prediction.
///
/// ```
/// use maxmargin::model::potts::{
///     PottsInference, PottsGraphs, NodeLoss, Potts, PottsShape, grid_edges,
/// };
/// use maxmargin::{Settings, train};
///
/// // Two pictures of 3 × 2 pixels, each half dark and half bright, with one pixel gone wrong.
/// let mut data = PottsGraphs::new();
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
/// let problem = Potts::new(shape, data, NodeLoss::HAMMING, PottsInference::Auto)?;
/// let solution = train(&problem, &Settings { lambda: Some(0.01), ..Settings::default() })?;
/// assert!(solution.weights[shape.pairwise()][0] >= 0.0);
/// assert!(solution.certificate.quality.is_exact());
/// assert_eq!(problem.predict(&solution.weights).len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Potts {
    shape: PottsShape,
    data: PottsGraphs,
    inference: PottsInference,
    bounds: Option<Bounds>,
    /// The cost of a wrong label at each node of each graph.
    costs: Vec<Vec<f64>>,
    /// The structure of each graph, if heuristics or rounding need it.
    structures: Vec<Topology>,
    solver: Arc<dyn SolveLp>,
    networks: Vec<Mutex<Network>>,
    is_warm: bool,
    /// Whether some answer broke the promise of the inference.
    failed: AtomicBool,
}

/// Scratch memory of a [`Potts`], for one thread.
///
/// ```
/// # use maxmargin::doc::patches;
/// use maxmargin::{Problem, ProblemExt};
/// use maxmargin::model::potts::NodeLabels;
///
/// let problem = patches();
/// let w = vec![0.0; problem.dim()];
/// let (mut workspace, mut y) = (problem.workspace(), NodeLabels::default());
/// problem.prepare(0, &w, &mut workspace);
/// problem.oracle(0, &w, &mut workspace, &mut y);
/// assert!(problem.loss(0, &y) > 0.99); // at w = 0 all scores are 0, so the largest loss wins
/// ```
#[derive(Debug, Default)]
pub struct PottsWorkspace {
    /// Scores of nodes, one row of K each.
    scores: Vec<f64>,
    edge_costs: Vec<f64>,
    /// Which nodes, and then which edges, have their scores, where only some are needed.
    is_scored: Vec<bool>,
    augmented: Vec<f64>,
    search: Search,
    way: SparseAccumulator,
}

impl Potts {
    /// Creates a problem from data, shape and loss, and decides how graphs are decoded.
    ///
    /// # Errors
    /// If labels or attributes do not fit the shape, if an edge attribute is negative although neighbours
    /// may only attract each other, or if the shape does not allow the inference.
    pub fn new(
        shape: PottsShape,
        data: PottsGraphs,
        loss: NodeLoss,
        inference: PottsInference,
    ) -> Result<Self, InputError> {
        let unsuitable = |why| refuse(inference, why);
        let inference = inference.resolve(&shape).map_err(unsuitable)?;
        check(&shape, &data)?;
        let by_cuts = matches!(inference, PottsInference::MaxFlow | PottsInference::Expansion);
        let structure =
            |graph: PottsGraph<'_>| topology(graph.nodes(), shape.labels, graph.edges());
        let graphs = data.iter().filter(|_| !by_cuts && shape.edge_attributes > 0);
        Ok(Self {
            bounds: shape.bounds(None).unwrap_or_default(),
            costs: data.iter().map(|graph| loss.costs(graph)).collect(),
            structures: graphs.filter_map(structure).collect(),
            networks: data.iter().map(|_| Mutex::default()).collect(),
            solver: Arc::new(SimplexMethod),
            is_warm: true,
            failed: AtomicBool::new(false),
            shape,
            data,
            inference,
        })
    }

    /// The same problem with bounds on its weights, in addition to those of the shape.
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
    /// If the number of bounds is not the number of weights, or if they exclude pairwise weights ≥ 0.
    pub fn with_bounds(self, bounds: Option<Bounds>) -> Result<Self, BoundsError> {
        Ok(Self { bounds: self.shape.bounds(bounds)?, ..self })
    }

    /// Sets whether minimum cuts start from the flow of the last call for the same graph, which is the
    /// default. This affects only the running time; answers are the same bit by bit.
    #[must_use]
    pub fn with_warm_start(self, is_warm: bool) -> Self {
        Self { is_warm, ..self }
    }

    /// Uses `solver` for the linear programs of [`Lp`](PottsInference::Lp).
    ///
    /// ```
    /// # use maxmargin::doc::patches;
    /// use maxmargin::inference::SimplexMethod;
    /// let problem = patches().with_solver(std::sync::Arc::new(SimplexMethod)); // the default
    /// # let _ = problem;
    /// ```
    #[must_use]
    pub fn with_solver(self, solver: Arc<dyn SolveLp>) -> Self {
        Self { solver, ..self }
    }

    /// The shape of the weights.
    pub fn shape(&self) -> &PottsShape {
        &self.shape
    }

    /// The data.
    pub fn data(&self) -> &PottsGraphs {
        &self.data
    }

    /// How graphs are decoded. The result is never [`Auto`](PottsInference::Auto).
    pub fn inference(&self) -> PottsInference {
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
        let (mut workspace, mut y) = (self.workspace(), NodeLabels::default());
        let mut predict = |i| {
            self.prepare(i, w, &mut workspace);
            self.decode(i, w, &mut workspace, &mut y);
            y.labels.clone()
        };
        (0..self.examples()).map(&mut predict).collect()
    }

    /// An upper bound of the hinge of graph `i`, max_y L(y) − ⟨w, ψ(y)⟩. If decoding is exact, it is the hinge
    /// itself; if the relaxation is solved, it is the hinge of the relaxation; otherwise it is a bound of the
    /// relaxation by messages. So the bound also holds for heuristics, which may find less than the hinge.
    ///
    /// ```
    /// # use maxmargin::doc::patches;
    /// use maxmargin::Problem;
    ///
    /// let problem = patches();
    /// let w = vec![0.0; problem.dim()];
    /// let bound = problem.hinge_bound(0, &w, &mut problem.workspace());
    /// assert!((bound - 1.0).abs() < 1e-12); // the largest loss, if all scores are 0
    /// ```
    ///
    /// # Panics
    /// If there are too few weights.
    pub fn hinge_bound(&self, i: usize, w: &[f64], workspace: &mut PottsWorkspace) -> f64 {
        self.prepare(i, w, workspace);
        let graph = self.data.graph(i);
        let (k, edges) = (self.shape.labels, graph.edges());
        if self.quality() < Quality::Heuristic {
            let (mut y, mut parts) = (NodeLabels::default(), SparseVec::new());
            self.oracle(i, w, workspace, &mut y);
            self.parts(i, &y, &mut parts);
            return (self.loss(i, &y) + self.score(i, w, workspace, &parts)).max(0.0);
        }
        let PottsWorkspace { scores, edge_costs, augmented, .. } = workspace;
        let edges = if edge_costs.is_empty() { &[] } else { edges };
        let truth = Task { labels: k, scores, edges, costs: edge_costs }.value(graph.labels());
        self.augment(i, scores, augmented);
        let Some(structure) = topology(graph.nodes(), k, edges) else { return f64::INFINITY };
        let mut tables = Vec::new();
        Task { labels: k, scores: augmented, edges, costs: edge_costs }.tables(&mut tables);
        let all: f64 = self.costs[i].iter().sum();
        (all + MessageBound::default().bound(&structure, &tables) - truth).max(0.0)
    }

    /// Writes scores to `augmented`, and subtracts the cost of each node from its right label. This works because
    /// all wrong labels cost the same.
    fn augment(&self, i: usize, scores: &[f64], augmented: &mut Vec<f64>) {
        augmented.clear();
        augmented.extend_from_slice(scores);
        let rows = augmented.chunks_exact_mut(self.shape.labels);
        for ((row, &label), cost) in rows.zip(self.data.graph(i).labels()).zip(&self.costs[i]) {
            row[label as usize] -= cost;
        }
    }

    /// Writes the best labelling or corner for `scores` and `edge_costs` to `y`. If `is_rounded`, the
    /// labels of a fractional corner are rounded as well as possible.
    fn search(
        &self,
        i: usize,
        (scores, edge_costs): (&[f64], &[f64]),
        search: &mut Search,
        is_rounded: bool,
        y: &mut NodeLabels,
    ) {
        let edges = if edge_costs.is_empty() { &[] } else { self.data.graph(i).edges() };
        let task = Task { labels: self.shape.labels, scores, edges, costs: edge_costs };
        // A thread that panicked may have left a network unfinished, so build it anew.
        let mut network = self.networks[i].lock().unwrap_or_else(|poisoned| {
            let mut network = PoisonError::into_inner(poisoned);
            *network = Network::default();
            network
        });
        let means = Means {
            way: self.inference,
            structure: self.structures.get(i),
            is_warm: self.is_warm,
            solver: &*self.solver,
        };
        if !search.run(means, task, &mut network, y) {
            self.failed.store(true, Ordering::Relaxed);
        }
        if is_rounded && y.is_fractional() {
            search.round(means, task, &mut network, y);
        }
    }

    /// The cost of a wrong label at each node of graph `i`.
    pub(crate) fn costs(&self, i: usize) -> &[f64] {
        &self.costs[i]
    }

    /// The factor of the features of a graph.
    pub(crate) fn share(&self, graph: PottsGraph<'_>) -> f64 {
        if self.shape.mean { 1.0 / graph.nodes() as f64 } else { 1.0 }
    }
}

impl Problem for Potts {
    type Output = NodeLabels;
    type Workspace = PottsWorkspace;

    fn examples(&self) -> usize {
        self.data.len()
    }

    fn dim(&self) -> usize {
        self.shape.dim()
    }

    fn workspace(&self) -> PottsWorkspace {
        PottsWorkspace { way: SparseAccumulator::new(self.dim()), ..PottsWorkspace::default() }
    }

    fn oracle(&self, i: usize, _: &[f64], workspace: &mut PottsWorkspace, y: &mut NodeLabels) {
        let PottsWorkspace { scores, edge_costs, augmented, search, .. } = workspace;
        self.augment(i, scores, augmented);
        self.search(i, (augmented, edge_costs), search, false, y);
    }

    /// Finds the best labelling, or the best corner of the relaxation. In both cases
    /// [`labels`](NodeLabels::labels) is a labelling; that of a fractional corner is rounded and improved
    /// by cuts or by local search.
    fn decode(&self, i: usize, _: &[f64], workspace: &mut PottsWorkspace, y: &mut NodeLabels) {
        let PottsWorkspace { scores, edge_costs, search, .. } = workspace;
        self.search(i, (scores, edge_costs), search, true, y);
    }

    fn loss(&self, i: usize, y: &NodeLabels) -> f64 {
        let (k, truth) = (self.shape.labels, self.data.graph(i).labels());
        if y.is_fractional() {
            let masses = y.masses.entries().iter().map(|&(id, mass)| (id as usize, mass));
            let labels = masses.take_while(|(id, _)| *id < truth.len() * k);
            let wrong = labels.filter(|(id, _)| truth[id / k] as usize != id % k);
            return wrong.map(|(id, mass)| self.costs[i][id / k] * mass).sum();
        }
        let wrong = truth.iter().zip(&y.labels).zip(&self.costs[i]).filter(|((a, b), _)| a != b);
        wrong.map(|(_, cost)| cost).sum()
    }

    fn psi(&self, i: usize, y: &NodeLabels, psi: &mut SparseVec) {
        let mut parts = SparseVec::new();
        self.parts(i, y, &mut parts);
        self.scatter_into(i, -1.0, &parts, psi);
    }

    fn weight(&self, i: usize) -> f64 {
        self.data.weight(i)
    }

    fn quality(&self) -> Quality {
        let failures = u64::from(self.failed.load(Ordering::Relaxed));
        self.inference.quality(&self.shape).after_failures(failures)
    }

    fn bounds(&self) -> Option<&Bounds> {
        self.bounds.as_ref()
    }

    #[inline]
    fn abilities(&self) -> Abilities<'_, PottsWorkspace, NodeLabels> {
        Abilities {
            parts: Some(self),
            truths: Some(self),
            points: Some(self),
            is_trusted: true,
            ..Abilities::none()
        }
    }
}

impl Truths for Potts {
    fn truth(&self, i: usize) -> NodeLabels {
        self.data.graph(i).labels().to_vec().into()
    }
}
