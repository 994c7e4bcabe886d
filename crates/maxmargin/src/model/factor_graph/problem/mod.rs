//! Factor graphs as a structured problem: how to create one, and its oracle. Part space is in `parts.rs`, losses
//! are in `mistakes.rs`, and predictions and other uses of trained weights are in `decoding.rs`.

mod decoding;
mod mistakes;
mod parts;

use super::compiled::Compiled;
use super::gram::{Grams, NormScratch};
use super::graphs::Graphs;
use super::loss::StateLoss;
use super::shape::GraphShape;
use super::tie::Weighting;
use crate::inference::decoder::{Decoder, Inference};
use crate::inference::labelling::Labelling;
use crate::inference::lp::{SimplexMethod, SolveLp};
use crate::inference::sum_product::SumProduct;
use crate::inference::topology::Topology;
use crate::model::InputError;
use crate::problem::bounds::Bounds;
use crate::problem::parts::parts_of_psi;
use crate::problem::quality::Quality;
use crate::problem::sparse::SparseVec;
use crate::problem::{Abilities, Problem, Truths};
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
    /// Whether all graphs have tables only and no cycle, so that sum-product finds their marginals.
    has_marginals: bool,
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
            has_marginals: graphs.iter().all(|graph| graph.topology.has_exact_marginals()),
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

    /// Decodes graph `i` by the scores of the workspace, and notes whether an LP solver has failed.
    fn run(&self, i: usize, workspace: &mut FactorGraphWorkspace, y: &mut Labelling) {
        let FactorGraphWorkspace { decoder, scores, .. } = workspace;
        let Compiled { topology, inference, .. } = &self.graphs[i];
        if decoder.decode(*inference, topology, scores, y) > inference.quality() {
            self.failed.store(true, Ordering::Relaxed);
        }
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
        self.scatter_into(i, 1.0, &parts_of_psi(self, i, y), psi);
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
            expectations: self.has_marginals.then_some(self as _),
            is_trusted: true,
            ..Abilities::none()
        }
    }
}

impl Truths for FactorGraph {
    fn truth(&self, i: usize) -> Labelling {
        self.data.graph(i).truth().to_vec().into()
    }
}
