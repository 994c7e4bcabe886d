//! Factor graphs as a structured problem.

use super::compiled::Compiled;
use super::gram::{Grams, NormScratch};
use super::graphs::Graphs;
use super::loss::StateLoss;
use super::shape::GraphShape;
use super::tie::Weighting;
use crate::inference::decoder::{Decoder, Inference};
use crate::inference::labelling::Labelling;
use crate::inference::local_polytope::check_consistency;
use crate::inference::local_search::LocalSearch;
use crate::inference::lp::{SimplexMethod, SolveLp};
use crate::inference::message_bound::MessageBound;
use crate::inference::sum_product::SumProduct;
use crate::inference::topology::Topology;
use crate::model::InputError;
use crate::problem::bounds::Bounds;
use crate::problem::parts::scatter_into;
use crate::problem::quality::{PointCheck, Quality};
use crate::problem::sparse::{Sink, SparseVec};
use crate::problem::{Abilities, CheckPoints, Parts, Problem, Target, Truths};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Factor graphs as training data, under a [`StateLoss`].
///
/// ```
/// use maxmargin::inference::Inference;
/// use maxmargin::model::factor_graph::{FactorGraph, Graphs, StateLoss};
/// use maxmargin::{Quality, Settings, train};
///
/// // Rings of five variables with two states, whose neighbours mostly agree.
/// let mut data = Graphs::new();
/// for truth in [[0, 0, 0, 1, 1], [1, 1, 1, 1, 0], [0, 1, 1, 0, 0]] {
///     for state in truth {
///         let v = data.push_variable(2, state)?;
///         let hint = if v == 2 { 0.0 } else { f64::from(state) - 0.5 };
///         data.push_factor(0, &[v], [(0, hint)])?;
///     }
///     for v in 0..5 {
///         data.push_factor(1, &[v, (v + 1) % 5], [(0, 1.0)])?;
///     }
///     data.end_graph(1.0)?;
/// }
/// let problem = FactorGraph::new(data.shape()?, data, StateLoss::default(), Inference::Lp)?;
/// let solution = train(&problem, &Settings { lambda: Some(0.1), ..Settings::default() })?;
/// assert_eq!(solution.certificate.quality, Quality::UpperBound); // it is a relaxation
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FactorGraph {
    shape: GraphShape,
    /// The index of the first weight of each template, and how its weights make scores.
    blocks: Vec<(usize, Weighting)>,
    data: Graphs,
    /// The cost of a mistake at each variable of all graphs.
    costs: Vec<f64>,
    /// The label of each state, or empty if each state is a label of its own.
    labels: Vec<u32>,
    graphs: Vec<Compiled>,
    grams: Grams,
    /// Whether no graph has a cycle.
    are_forests: bool,
    /// Whether no joint states share weights.
    is_free: bool,
    quality: Quality,
    bounds: Option<Bounds>,
    solver: Arc<dyn SolveLp>,
    /// Whether an LP solver has failed, so that a heuristic was used instead.
    failed: AtomicBool,
}

/// Scratch memory of a [`FactorGraph`], for one thread.
///
/// ```
/// # use maxmargin::doc::rings;
/// use maxmargin::{Problem, ProblemExt};
/// use maxmargin::model::factor_graph::Labelling;
///
/// let problem = rings();
/// let w = vec![0.0; problem.dim()];
/// let (mut workspace, mut y) = (problem.workspace(), Labelling::default());
/// problem.prepare(0, &w, &mut workspace);
/// problem.oracle(0, &w, &mut workspace, &mut y);
/// assert_eq!(problem.loss(0, &y), 1.0); // at w = 0 all scores are 0, so the largest loss wins
/// ```
#[derive(Debug, Clone)]
pub struct FactorGraphWorkspace {
    /// The scores of the current example, in the layout of its topology.
    pub(super) scores: Vec<f64>,
    /// The original scores of the true states, while the oracle has subtracted the loss from them.
    saved: Vec<f64>,
    /// The scores of a factor whose variables are in the other order than those of its table.
    flipped: Vec<f64>,
    decoder: Decoder,
    norm: NormScratch,
    /// Features that are added up.
    sums: SparseVec,
    pub(super) marginals: SumProduct,
}

impl FactorGraph {
    /// Creates a problem from data, shape and loss, and decides how each graph is decoded. A graph that
    /// was not ended is left out.
    ///
    /// ```
    /// use maxmargin::Quality;
    /// use maxmargin::Problem as _;
    /// use maxmargin::inference::Inference;
    /// use maxmargin::model::factor_graph::{FactorGraph, Graphs, StateLoss};
    ///
    /// let mut data = Graphs::new();
    /// for state in [0, 1] {
    ///     data.push_variable(2, state)?;
    /// }
    /// data.push_factor(0, &[0, 1], [(0, 1.0)])?;
    /// data.end_graph(1.0)?;
    /// let problem = FactorGraph::new(data.shape()?, data, StateLoss::default(), Inference::Auto)?;
    /// assert_eq!((problem.inference(0), problem.quality()), (Inference::MaxSum, Quality::Exact));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If a factor does not fit the shape, if a table is too large, or if a graph does not allow the
    /// inference.
    pub fn new(
        shape: GraphShape,
        data: Graphs,
        loss: StateLoss,
        inference: Inference,
    ) -> Result<Self, InputError> {
        let compile = |i| Compiled::new(&shape, &data, i, inference);
        let graphs = (0..data.len()).map(compile).collect::<Result<Vec<_>, _>>()?;
        let mut costs = Vec::new();
        for graph in data.iter() {
            let own = (0..graph.variables()).map(|v| graph.cost(v));
            let sum: f64 = own.clone().sum();
            let scale = if loss.normalised && sum > 0.0 { 1.0 / sum } else { 1.0 };
            costs.extend(own.map(|cost| scale * cost));
        }
        let templates = shape.templates.iter().enumerate();
        let blocks = templates.map(|(t, own)| (shape.block(t).start, Weighting::of(own))).collect();
        let qualities = graphs.iter().map(|graph| graph.inference.quality());
        Ok(Self {
            quality: qualities.max().unwrap_or(Quality::Exact),
            grams: Grams::new(&shape, &data),
            is_free: shape.templates.iter().all(|template| template.tie.is_free()),
            are_forests: graphs.iter().all(|graph| graph.topology.is_forest()),
            bounds: None,
            solver: Arc::new(SimplexMethod),
            failed: AtomicBool::new(false),
            blocks,
            costs,
            labels: Vec::new(),
            graphs,
            shape,
            data,
        })
    }

    /// The same problem with a loss that compares the labels of states, `labels[state]`: states of the
    /// true label cost nothing. So a label can have several *latent* states.
    ///
    /// ```
    /// use maxmargin::Problem as _;
    /// use maxmargin::inference::Inference;
    /// use maxmargin::model::factor_graph::{FactorGraph, Graphs, StateLoss};
    ///
    /// let mut data = Graphs::new();
    /// data.push_variable(3, 1)?;
    /// data.push_factor(0, &[0], [(0, 1.0)])?;
    /// data.end_graph(1.0)?;
    /// let graphs = FactorGraph::new(data.shape()?, data, StateLoss::default(), Inference::Auto)?;
    /// let graphs = graphs.with_labels(vec![0, 1, 1])?;
    /// assert_eq!([0, 1, 2].map(|state| graphs.loss(0, &vec![state].into())), [1.0, 0.0, 0.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If a variable has more states than there are labels.
    pub fn with_labels(self, labels: Vec<u32>) -> Result<Self, InputError> {
        let states = self.data.iter().flat_map(|graph| graph.states()).copied().max();
        let (states, known) = (states.unwrap_or(0) as usize, labels.len());
        if states > known {
            let message =
                format!("a variable has {states} states, but only {known} states have a label");
            return Err(InputError::Structure(message));
        }
        Ok(Self { labels, ..self })
    }

    /// Uses `solver` for linear programs.
    ///
    /// ```
    /// # use maxmargin::doc::rings;
    /// use maxmargin::inference::SimplexMethod;
    /// let problem = rings().with_solver(std::sync::Arc::new(SimplexMethod)); // the default
    /// # let _ = problem;
    /// ```
    #[must_use]
    #[cfg(feature = "unstable")]
    pub fn with_solver(mut self, solver: Arc<dyn SolveLp>) -> Self {
        self.solver = solver;
        self
    }

    /// The same problem with bounds on its weights. Training refuses bounds whose number is not the
    /// number of weights.
    ///
    /// ```
    /// # use maxmargin::doc::rings;
    /// use maxmargin::{Bounds, Problem, Settings, train};
    ///
    /// let problem = rings();
    /// let edges = problem.shape().block(1);
    /// let bounds = Bounds::none(problem.dim()).with(edges.clone(), 0.0, f64::INFINITY)?;
    /// let solution = train(&problem.with_bounds(Some(bounds)), &Settings::default())?;
    /// assert!(solution.weights[edges].iter().all(|&w| w >= 0.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_bounds(self, bounds: Option<Bounds>) -> Self {
        Self { bounds, ..self }
    }

    /// The shape of the weights.
    pub fn shape(&self) -> &GraphShape {
        &self.shape
    }

    /// The data.
    pub fn data(&self) -> &Graphs {
        &self.data
    }

    /// The structure of graph `i`, which must exist. It defines the layout of part vectors.
    ///
    /// ```
    /// # use maxmargin::doc::rings;
    /// assert_eq!((rings().topology(0).variables(), rings().topology(0).factors()), (3, 3));
    /// ```
    #[cfg(feature = "unstable")]
    pub fn topology(&self, i: usize) -> &Topology {
        self.structure(i)
    }

    pub(super) fn structure(&self, i: usize) -> &Topology {
        &self.graphs[i].topology
    }

    /// How graph `i`, which must exist, is decoded. The result is never [`Auto`](Inference::Auto).
    ///
    /// ```
    /// # use maxmargin::doc::rings;
    /// use maxmargin::inference::Inference;
    /// assert_eq!(rings().inference(0), Inference::RoofDuality);
    /// ```
    pub fn inference(&self, i: usize) -> Inference {
        self.graphs[i].inference
    }

    /// Predicts the states of all variables of all graphs.
    ///
    /// ```
    /// use maxmargin::inference::Inference;
    /// use maxmargin::model::factor_graph::{FactorGraph, Graphs, StateLoss};
    ///
    /// let mut data = Graphs::new();
    /// data.push_variable(3, 0)?;
    /// data.push_factor(0, &[0], [(0, 1.0)])?;
    /// data.end_graph(1.0)?;
    /// let graphs = FactorGraph::new(data.shape()?, data, StateLoss::default(), Inference::Auto)?;
    /// assert_eq!(graphs.predict(&[0.5, 0.0, 2.0]), [[2]]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If there are too few weights.
    pub fn predict(&self, w: &[f64]) -> Vec<Vec<u32>> {
        let (mut workspace, mut y) = (self.workspace(), Labelling::default());
        let mut predict = |i| {
            self.prepare(i, w, &mut workspace);
            self.decode(i, w, &mut workspace, &mut y);
            y.states.clone()
        };
        (0..self.examples()).map(&mut predict).collect()
    }

    /// The scores of the states of each variable of graph `i`, by the factors of that variable alone.
    ///
    /// ```
    /// # use maxmargin::doc::rings;
    /// use maxmargin::Problem;
    ///
    /// let problem = rings(); // three variables with two states
    /// let scores = problem.state_scores(0, &vec![0.0; problem.dim()], &mut problem.workspace());
    /// assert_eq!(scores, [[0.0, 0.0]; 3]);
    /// ```
    ///
    /// # Panics
    /// If there are too few weights.
    pub fn state_scores(
        &self,
        i: usize,
        w: &[f64],
        workspace: &mut FactorGraphWorkspace,
    ) -> Vec<Vec<f64>> {
        self.prepare(i, w, workspace);
        let topology = &self.graphs[i].topology;
        (0..topology.variables()).map(|v| workspace.scores[topology.node(v)].to_vec()).collect()
    }

    /// An upper bound of the hinge of graph `i`, max_y L(y) − ⟨w, ψ(y)⟩: the hinge itself where decoding is exact,
    /// that of the relaxation where it is solved, and else a bound of the relaxation by messages. So it holds for
    /// heuristics too, which find less than the hinge.
    ///
    /// ```
    /// # use maxmargin::doc::rings;
    /// use maxmargin::Problem;
    ///
    /// let problem = rings();
    /// let w = vec![0.0; problem.dim()];
    /// let bound = problem.hinge_bound(0, &w, &mut problem.workspace());
    /// assert!((bound - 1.0).abs() < 1e-12); // the largest loss, if all scores are 0
    /// ```
    ///
    /// # Panics
    /// If there are too few weights.
    pub fn hinge_bound(&self, i: usize, w: &[f64], workspace: &mut FactorGraphWorkspace) -> f64 {
        self.prepare(i, w, workspace);
        let Compiled { topology, inference, .. } = &self.graphs[i];
        let truth = topology.value(&workspace.scores, self.data.graph(i).truth());
        if inference.quality() < Quality::Heuristic {
            let mut y = Labelling::default();
            self.oracle(i, w, workspace, &mut y);
            let mut parts = SparseVec::new();
            y.add_parts(topology, &mut parts);
            return (self.loss(i, &y) + parts.dot_dense(&workspace.scores) - truth).max(0.0);
        }
        self.for_each_right(i, |place, cost| workspace.scores[place] -= cost);
        let all: f64 = self.costs(i).iter().sum();
        let bound = MessageBound::default().bound(topology, &workspace.scores);
        (all + bound - truth).max(0.0)
    }

    /// Writes the best states of graph `i` to `y`, among those that are allowed: `allowed` has one entry
    /// for each state of each variable, and at least one state of each variable must be allowed.
    ///
    /// The inference method is that of the problem, so a heuristic finds good states here, too.
    ///
    /// ```
    /// # use maxmargin::doc::rings;
    /// use maxmargin::Problem;
    /// use maxmargin::model::factor_graph::Labelling;
    ///
    /// let problem = rings(); // three variables with two states
    /// let w = vec![0.0; problem.dim()];
    /// let (mut workspace, mut y) = (problem.workspace(), Labelling::default());
    /// let allowed = [false, true,  true, false,  true, true];
    /// problem.complete(0, &w, &allowed, &mut workspace, &mut y);
    /// assert_eq!(y.states[..2], [1, 0]);
    /// ```
    ///
    /// # Panics
    /// If there are too few weights or entries.
    pub fn complete(
        &self,
        i: usize,
        w: &[f64],
        allowed: &[bool],
        workspace: &mut FactorGraphWorkspace,
        y: &mut Labelling,
    ) {
        self.prepare(i, w, workspace);
        let topology = &self.graphs[i].topology;
        // A state that is not allowed costs more than all other scores together can bring.
        let spread = |own: &[f64]| {
            let most = own.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            most - own.iter().copied().fold(f64::INFINITY, f64::min)
        };
        let nodes = (0..topology.variables()).map(|v| topology.node(v));
        let tables = (0..topology.factors()).map(|factor| topology.table(factor));
        let scores = &workspace.scores;
        let cost = 1.0 + 2.0 * nodes.chain(tables).map(|own| spread(&scores[own])).sum::<f64>();
        for (score, _) in workspace.scores.iter_mut().zip(allowed).filter(|(_, allowed)| !**allowed)
        {
            *score -= cost;
        }
        self.run(i, workspace, y);
        y.marginals.clear();
        for v in 0..topology.variables() {
            let node = topology.node(v);
            if !allowed[node.start + y.states[v] as usize] {
                let best = node.clone().filter(|&at| allowed[at]);
                let best =
                    best.max_by(|&a, &b| workspace.scores[a].total_cmp(&workspace.scores[b]));
                y.states[v] = best.map_or(y.states[v], |at| (at - node.start) as u32);
            }
        }
        LocalSearch::default().improve(topology, &workspace.scores, &mut y.states);
    }

    /// Calls `visit` with the place and the cost of every state that is right, of all variables.
    pub(super) fn for_each_right(&self, i: usize, mut visit: impl FnMut(usize, f64)) {
        let (truth, topology) = (self.data.graph(i).truth(), &self.graphs[i].topology);
        for (v, (&truth, &cost)) in truth.iter().zip(self.costs(i)).enumerate() {
            let node = topology.node(v);
            if self.labels.is_empty() {
                visit(node.start + truth as usize, cost);
            } else {
                let right = |at: &usize| self.is_right(truth, (at - node.start) as u32);
                node.clone().filter(right).for_each(|at| visit(at, cost));
            }
        }
    }

    /// Whether a state has the label of the true one.
    #[inline]
    fn is_right(&self, truth: u32, state: u32) -> bool {
        let label = |state: u32| self.labels.get(state as usize);
        truth == state || (!self.labels.is_empty() && label(truth) == label(state))
    }

    pub(super) fn costs(&self, i: usize) -> &[f64] {
        &self.costs[self.data.graph(i).variable_range()]
    }

    fn run(&self, i: usize, workspace: &mut FactorGraphWorkspace, y: &mut Labelling) {
        let FactorGraphWorkspace { decoder, scores, .. } = workspace;
        let Compiled { topology, inference, .. } = &self.graphs[i];
        if decoder.decode(*inference, topology, scores, y) > inference.quality() {
            self.failed.store(true, Ordering::Relaxed);
        }
    }

    /// The expected loss of masses on states. Masses on joint states have no loss.
    pub(super) fn loss_of(&self, i: usize, masses: &SparseVec) -> f64 {
        let (topology, truth) = (&self.graphs[i].topology, self.data.graph(i).truth());
        let (mut v, mut loss) = (0, 0.0);
        for &(id, mass) in masses.entries() {
            while v < truth.len() && id as usize >= topology.node(v).end {
                v += 1;
            }
            if v == truth.len() {
                break;
            }
            if !self.is_right(truth[v], (id as usize - topology.node(v).start) as u32) {
                loss += self.costs(i)[v] * mass;
            }
        }
        loss
    }
}

/// A sink that shifts features by `start`.
struct Shifted<'s, S: ?Sized> {
    sink: &'s mut S,
    start: usize,
}

impl<S: Sink + ?Sized> Sink for Shifted<'_, S> {
    #[inline]
    fn add(&mut self, feature: usize, value: f64) {
        self.sink.add(self.start + feature, value);
    }
}

impl Problem for FactorGraph {
    type Output = Labelling;
    type Workspace = FactorGraphWorkspace;

    fn examples(&self) -> usize {
        self.data.len()
    }

    fn dim(&self) -> usize {
        self.shape.dim()
    }

    fn workspace(&self) -> FactorGraphWorkspace {
        FactorGraphWorkspace {
            scores: Vec::new(),
            saved: Vec::new(),
            flipped: Vec::new(),
            decoder: Decoder::new(Arc::clone(&self.solver)),
            norm: NormScratch::default(),
            sums: SparseVec::new(),
            marginals: SumProduct::default(),
        }
    }

    fn oracle(&self, i: usize, _: &[f64], workspace: &mut FactorGraphWorkspace, y: &mut Labelling) {
        // All wrong states cost the same. So instead of adding the cost to all wrong states, subtract it
        // from the right ones, and restore their scores afterwards.
        let FactorGraphWorkspace { scores, saved, .. } = workspace;
        saved.clear();
        self.for_each_right(i, |place, cost| {
            saved.push(scores[place]);
            scores[place] -= cost;
        });
        self.run(i, workspace, y);
        let mut saved = workspace.saved.iter();
        self.for_each_right(i, |place, _| {
            if let Some(&score) = saved.next() {
                workspace.scores[place] = score;
            }
        });
    }

    /// Finds the best labelling, or the best corner of the relaxation. In both cases
    /// [`states`](Labelling::states) is a labelling; that of a fractional corner is rounded and improved
    /// by local search.
    fn decode(&self, i: usize, _: &[f64], workspace: &mut FactorGraphWorkspace, y: &mut Labelling) {
        self.run(i, workspace, y);
        workspace.decoder.polish(&self.graphs[i].topology, &workspace.scores, y);
    }

    fn loss(&self, i: usize, y: &Labelling) -> f64 {
        if y.is_fractional() {
            return self.loss_of(i, &y.marginals);
        }
        let truth = self.data.graph(i).truth();
        let wrong = |((a, b), _): &((&u32, &u32), &f64)| !self.is_right(**a, **b);
        let wrong = truth.iter().zip(&y.states).zip(self.costs(i)).filter(wrong);
        wrong.map(|(_, cost)| cost).sum()
    }

    fn psi(&self, i: usize, y: &Labelling, psi: &mut SparseVec) {
        let (mut truth, mut other, mut difference) =
            (SparseVec::new(), SparseVec::new(), SparseVec::new());
        self.truth_parts(i, &mut truth);
        self.parts(i, y, &mut other);
        difference.assign_difference(&truth, &other);
        self.scatter_into(i, 1.0, &difference, psi);
    }

    fn weight(&self, i: usize) -> f64 {
        self.data.weight(i)
    }

    fn quality(&self) -> Quality {
        self.quality.after_failures(u64::from(self.failed.load(Ordering::Relaxed)))
    }

    fn bounds(&self) -> Option<&Bounds> {
        self.bounds.as_ref()
    }

    #[inline]
    fn abilities(&self) -> Abilities<'_, FactorGraphWorkspace, Labelling> {
        Abilities {
            parts: Some(self),
            truths: Some(self),
            points: Some(self),
            expectations: self.are_forests.then_some(self as _),
            is_trusted: true,
            ..Abilities::none()
        }
    }
}

impl FactorGraph {
    fn scatter_into<S: Sink + ?Sized>(
        &self,
        i: usize,
        scale: f64,
        parts: &SparseVec,
        sink: &mut S,
    ) {
        self.graphs[i].for_each_table(parts, |table, own| {
            let (states, first) = (table.range.len(), table.range.start);
            for &place in table.factors {
                let factor = self.data.factor(place.factor);
                let (start, weighting) = &self.blocks[factor.template as usize];
                let mut sink = Shifted { sink: &mut *sink, start: *start };
                let state = |id: u64| place.state(id as usize - first);
                weighting.scatter(states, factor.attributes, scale, own, state, &mut sink);
            }
        });
    }
}

impl Parts for FactorGraph {
    fn prepare(&self, i: usize, w: &[f64], workspace: &mut FactorGraphWorkspace) {
        let graph = &self.graphs[i];
        workspace.scores.clear();
        workspace.scores.resize(graph.topology.size(), 0.0);
        for table in graph.tables() {
            let scores = &mut workspace.scores[table.range.clone()];
            for &place in table.factors {
                let factor = self.data.factor(place.factor);
                let (start, weighting) = &self.blocks[factor.template as usize];
                let weights = &w[*start..];
                if place.is_flipped() {
                    workspace.flipped.clear();
                    workspace.flipped.resize(scores.len(), 0.0);
                    weighting.add_scores(weights, factor.attributes, &mut workspace.flipped);
                    let own = |state| workspace.flipped[place.state(state)];
                    (0..).zip(&mut *scores).for_each(|(state, score)| *score += own(state));
                } else {
                    weighting.add_scores(weights, factor.attributes, scores);
                }
            }
        }
    }

    fn parts(&self, i: usize, y: &Labelling, parts: &mut SparseVec) {
        y.add_parts(&self.graphs[i].topology, parts);
    }

    fn truth_parts(&self, i: usize, parts: &mut SparseVec) {
        self.graphs[i].topology.push_parts(self.data.graph(i).truth(), parts);
    }

    fn score(&self, _: usize, _: &[f64], ws: &FactorGraphWorkspace, parts: &SparseVec) -> f64 {
        parts.dot_dense(&ws.scores)
    }

    fn norm_sq(&self, i: usize, workspace: &mut FactorGraphWorkspace, parts: &SparseVec) -> f64 {
        if self.is_free {
            return self.grams.norm_sq(&self.data, &self.graphs[i], parts, &mut workspace.norm);
        }
        // Inner products of factors do not know of weights that joint states share.
        let sums = &mut workspace.sums;
        sums.clear();
        self.scatter_into(i, 1.0, parts, sums);
        sums.normalise();
        sums.norm_sq()
    }

    fn scatter(&self, i: usize, scale: f64, parts: &SparseVec, target: Target<'_>) {
        scatter_into!(target, sink => self.scatter_into(i, scale, parts, sink));
    }
}

impl Truths for FactorGraph {
    fn truth(&self, i: usize) -> Labelling {
        self.data.graph(i).truth().to_vec().into()
    }
}

impl CheckPoints for FactorGraph {
    /// Checks that the masses are a point of the local polytope and that the loss belongs to them. If the
    /// graph is a forest, all such points are convex combinations of labellings. Otherwise the check
    /// proves that the point belongs to the relaxed problem.
    fn check_point(
        &self,
        i: usize,
        parts: &SparseVec,
        loss: f64,
        slack: f64,
    ) -> Result<PointCheck, String> {
        check_consistency(&self.graphs[i].topology, parts, slack)?;
        let own = self.loss_of(i, parts);
        if (own - loss).abs() > slack * (1.0 + own.abs()) {
            return Err(format!("its loss is stated as {loss}, but is {own}"));
        }
        Ok(match self.graphs[i].topology.is_forest() {
            true => PointCheck::Feasible,
            false => PointCheck::Relaxed,
        })
    }
}
