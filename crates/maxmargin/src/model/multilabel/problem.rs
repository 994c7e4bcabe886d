//! Multi-label classification as a structured problem.

#[cfg(feature = "unstable")]
use super::by_loss::Forest;
use super::check::check;
use super::labels::LabelSet;
use super::search::{Plan, Search};
use super::shape::MultilabelShape;
use crate::inference::Inference;
use crate::inference::lp::{SimplexMethod, SolveLp};
use crate::model::InputError;
use crate::model::LabelledRows;
use crate::model::chain::Hamming;
use crate::model::rows::{add_scores, scatter_row};
use crate::problem::bounds::Bounds;
use crate::problem::parts::{parts_of_psi, scatter_into};
use crate::problem::quality::{PointCheck, Quality};
use crate::problem::sparse::{Sink, SparseVec};
use crate::problem::{Abilities, CheckPoints, Parts, Problem, ScaledLosses, Target, Truths};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Rows with sets of labels as training data, under a Hamming loss.
///
/// The loss is the share of labels that are wrongly on or off. Each mistake is weighted by its label.
///
/// ```
/// use maxmargin::inference::Inference;
/// use maxmargin::model::LabelledRows;
/// use maxmargin::model::multilabel::{Hamming, Multilabel, MultilabelShape};
/// use maxmargin::{Settings, train};
///
/// // Attributes 0 and 1 favour labels 0 and 1; label 2 occurs only together with both of them.
/// let mut data = LabelledRows::new();
/// for (x, labels) in [([1.0, 0.0], &[0][..]), ([0.0, 1.0], &[1]), ([1.0, 1.0], &[0, 1, 2])] {
///     data.push([(0, x[0]), (1, x[1]), (2, 1.0)], labels, 1.0)?; // attribute 2 is always there
/// }
/// let shape = MultilabelShape::complete(3, 3);
/// let problem = Multilabel::new(shape, data, &Hamming::default(), Inference::Auto)?;
/// let solution = train(&problem, &Settings { lambda: Some(0.01), ..Settings::default() })?;
/// assert_eq!(problem.predict(&solution.weights), [vec![0], vec![1], vec![0, 1, 2]]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Multilabel {
    shape: MultilabelShape,
    data: LabelledRows,
    /// The cost of a mistake at each label.
    pub(super) costs: Vec<f64>,
    /// ‖xᵢ‖² of each row.
    norms: Vec<f64>,
    pub(super) plan: Plan,
    #[cfg(feature = "unstable")]
    forest: Forest,
    bounds: Option<Bounds>,
    solver: Arc<dyn SolveLp>,
    /// Whether an LP solver has failed, so that a heuristic was used instead.
    failed: AtomicBool,
}

/// Scratch memory of a [`Multilabel`], for one thread.
///
/// ```
/// # use maxmargin::doc::labels;
/// use maxmargin::{Problem, ProblemExt};
/// use maxmargin::model::multilabel::LabelSet;
///
/// let problem = labels();
/// let w = vec![0.0; problem.dim()];
/// let (mut workspace, mut y) = (problem.workspace(), LabelSet::default());
/// problem.prepare(0, &w, &mut workspace);
/// problem.oracle(0, &w, &mut workspace, &mut y);
/// assert_eq!((y.labels, problem.data().labels(0)), (vec![1, 2], &[0][..])); // all of it is wrong
/// ```
#[derive(Debug, Clone)]
pub struct MultilabelWorkspace {
    /// The scores of labels.
    pub(super) scores: Vec<f64>,
    /// The scores of labels with the loss.
    augmented: Vec<f64>,
    pub(super) search: Search,
}

impl Multilabel {
    /// Creates a problem from data, shape and loss, and decides how sets of labels are decoded.
    ///
    /// [`Auto`](Inference::Auto) means max-sum if the pairs form a forest, otherwise enumeration for up
    /// to 20 labels, otherwise roof duality.
    ///
    /// # Errors
    /// If labels, attributes, pairs or label weights do not fit the shape, or if the pairs do not allow
    /// the inference.
    pub fn new(
        shape: MultilabelShape,
        data: LabelledRows,
        loss: &Hamming,
        inference: Inference,
    ) -> Result<Self, InputError> {
        check(&shape, &data, loss)?;
        let square = |(row, _): (crate::model::Row<'_>, _)| row.pairs().map(|(_, v)| v * v).sum();
        Ok(Self {
            plan: Plan::new(&shape, inference).map_err(|error| InputError::inference(&error))?,
            costs: (0..shape.labels).map(|k| loss.cost(k as u32, shape.labels)).collect(),
            #[cfg(feature = "unstable")]
            forest: Forest::new(shape.labels, &shape.pairs),
            norms: data.iter().map(square).collect(),
            bounds: None,
            solver: Arc::new(SimplexMethod),
            failed: AtomicBool::new(false),
            shape,
            data,
        })
    }

    /// Uses `solver` for linear programs.
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
    /// # use maxmargin::doc::labels;
    /// use maxmargin::{Bounds, Problem, Settings, train};
    ///
    /// // Labels may only support each other: the relaxation is then exact, however many they are.
    /// let problem = labels();
    /// let pairs = problem.shape().pair_weights();
    /// let bounds = Bounds::none(problem.dim()).with(pairs.clone(), 0.0, f64::INFINITY)?;
    /// let solution = train(&problem.with_bounds(Some(bounds)), &Settings::default())?;
    /// assert!(solution.weights[pairs].iter().all(|&w| w >= 0.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_bounds(self, bounds: Option<Bounds>) -> Self {
        Self { bounds, ..self }
    }

    /// The shape of the weights.
    pub fn shape(&self) -> &MultilabelShape {
        &self.shape
    }

    /// The data.
    pub fn data(&self) -> &LabelledRows {
        &self.data
    }

    /// How sets of labels are decoded. The result is never [`Auto`](Inference::Auto).
    pub fn inference(&self) -> Inference {
        self.plan.inference
    }

    /// Predicts the labels of all rows.
    ///
    /// ```
    /// # use maxmargin::doc::labels;
    /// use maxmargin::{Problem, Settings, train};
    ///
    /// let problem = labels();
    /// let predicted = problem.predict(&train(&problem, &Settings::default())?.weights);
    /// assert_eq!(predicted.len(), problem.examples());
    /// # Ok::<(), maxmargin::TrainError>(())
    /// ```
    ///
    /// # Panics
    /// If there are too few weights.
    pub fn predict(&self, w: &[f64]) -> Vec<Vec<u32>> {
        let (mut workspace, mut y) = (self.workspace(), LabelSet::default());
        let mut predict = |i| {
            self.prepare(i, w, &mut workspace);
            self.decode(i, w, &mut workspace, &mut y);
            y.labels.clone()
        };
        (0..self.examples()).map(&mut predict).collect()
    }

    /// The same problem with one attribute per row, `numbers[i]` < `count`, whose squared length is
    /// `norms[i]`.
    pub(crate) fn with_inputs(self, numbers: &[u32], count: usize, norms: Vec<f64>) -> Self {
        let data = self.data.with_inputs(numbers);
        let shape = MultilabelShape { attributes: count, ..self.shape };
        Self { shape, data, norms, ..self }
    }

    /// Sets the scores of labels to 0 and lets `add` add to them.
    pub(crate) fn score_with(&self, ws: &mut MultilabelWorkspace, add: &mut dyn FnMut(&mut [f64])) {
        ws.scores.clear();
        ws.scores.resize(self.shape.labels, 0.0);
        add(&mut ws.scores);
    }

    /// The order of labels in their forest, if their pairs form one.
    #[cfg(feature = "unstable")]
    pub(super) fn forest(&self) -> Option<&Forest> {
        self.plan.is_forest().then_some(&self.forest)
    }

    fn is_on(&self, i: usize, label: usize) -> bool {
        self.data.labels(i).binary_search(&(label as u32)).is_ok()
    }

    /// Appends the parts of a set of labels.
    fn push_set(&self, labels: &[u32], parts: &mut SparseVec) {
        labels.iter().for_each(|&k| parts.push(u64::from(k), 1.0));
        let on = |k: u32| labels.binary_search(&k).is_ok();
        for (p, _) in self.shape.pairs.iter().enumerate().filter(|(_, (i, j))| on(*i) && on(*j)) {
            parts.push((self.shape.labels + p) as u64, 1.0);
        }
    }

    /// The expected loss of masses on labels.
    pub(super) fn loss_of(&self, i: usize, masses: &SparseVec) -> f64 {
        let missed: f64 = self.data.labels(i).iter().map(|&k| self.costs[k as usize]).sum();
        let labels =
            masses.entries().iter().take_while(|(id, _)| (*id as usize) < self.shape.labels);
        let terms = labels.map(|&(id, mass)| {
            let cost = self.costs[id as usize];
            if self.is_on(i, id as usize) { -cost * mass } else { cost * mass }
        });
        missed + terms.sum::<f64>()
    }
}

impl Problem for Multilabel {
    type Output = LabelSet;
    type Workspace = MultilabelWorkspace;

    fn examples(&self) -> usize {
        self.data.len()
    }

    fn dim(&self) -> usize {
        self.shape.dim()
    }

    fn workspace(&self) -> MultilabelWorkspace {
        let search = Search::new(Arc::clone(&self.solver));
        MultilabelWorkspace { scores: Vec::new(), augmented: Vec::new(), search }
    }

    fn oracle(&self, i: usize, w: &[f64], workspace: &mut MultilabelWorkspace, y: &mut LabelSet) {
        self.oracle_with_loss(i, w, 1.0, workspace, y);
    }

    /// Finds the best set, or the best corner of the relaxation. In both cases
    /// [`labels`](LabelSet::labels) is a set. After roof duality, this set is the best one if at most 20
    /// labels were half on.
    fn decode(&self, _: usize, w: &[f64], workspace: &mut MultilabelWorkspace, y: &mut LabelSet) {
        let MultilabelWorkspace { scores, search, .. } = workspace;
        let (pairs, quadratic) = (&self.shape.pairs, &w[self.shape.pair_weights()]);
        search.run(&self.plan, pairs, scores, quadratic, y);
        search.round(&self.plan, pairs, scores, quadratic, y);
    }

    fn loss(&self, i: usize, y: &LabelSet) -> f64 {
        if y.is_fractional() {
            return self.loss_of(i, &y.marginals);
        }
        let truth = self.data.labels(i);
        let missed = truth.iter().filter(|k| y.labels.binary_search(k).is_err());
        let extra = y.labels.iter().filter(|k| truth.binary_search(k).is_err());
        missed.chain(extra).map(|&k| self.costs[k as usize]).sum()
    }

    fn psi(&self, i: usize, y: &LabelSet, psi: &mut SparseVec) {
        self.scatter_into(i, 1.0, &parts_of_psi(self, i, y), psi);
    }

    fn weight(&self, i: usize) -> f64 {
        self.data.weight(i)
    }

    fn quality(&self) -> Quality {
        let failures = u64::from(self.failed.load(Ordering::Relaxed));
        self.plan.inference.quality().after_failures(failures)
    }

    fn bounds(&self) -> Option<&Bounds> {
        self.bounds.as_ref()
    }

    #[inline]
    fn abilities(&self) -> Abilities<'_, MultilabelWorkspace, LabelSet> {
        Abilities {
            parts: Some(self),
            truths: Some(self),
            points: Some(self),
            expectations: self.plan.is_forest().then_some(self as _),
            scaled_losses: Some(self),
            is_trusted: true,
            ..Abilities::none()
        }
    }
}

impl Multilabel {
    fn scatter_into<S: Sink + ?Sized>(
        &self,
        i: usize,
        scale: f64,
        parts: &SparseVec,
        sink: &mut S,
    ) {
        let labels = self.shape.labels;
        let cut = parts.entries().partition_point(|(id, _)| (*id as usize) < labels);
        let (on, pairs) = parts.entries().split_at(cut);
        scatter_row(labels, self.data.row(i), scale, on, |id| id as usize, sink);
        let start = self.shape.pair_weights().start;
        for &(id, value) in pairs {
            sink.add(start + (id as usize - labels), scale * value);
        }
    }
}

impl Parts for Multilabel {
    fn prepare(&self, i: usize, w: &[f64], workspace: &mut MultilabelWorkspace) {
        self.score_with(workspace, &mut |scores| {
            add_scores(&w[self.shape.single()], self.data.row(i), scores);
        });
    }

    fn prefetch(&self, i: usize) {
        self.data.prefetch(i);
    }

    fn parts(&self, _: usize, y: &LabelSet, parts: &mut SparseVec) {
        if y.is_fractional() {
            parts.assign(&y.marginals);
        } else {
            self.push_set(&y.labels, parts);
        }
    }

    fn truth_parts(&self, i: usize, parts: &mut SparseVec) {
        self.push_set(self.data.labels(i), parts);
    }

    fn score(&self, _: usize, w: &[f64], ws: &MultilabelWorkspace, parts: &SparseVec) -> f64 {
        let (labels, quadratic) = (self.shape.labels, &w[self.shape.pair_weights()]);
        let term = |&(id, value): &(u64, f64)| match (id as usize).checked_sub(labels) {
            None => value * ws.scores[id as usize],
            Some(pair) => value * quadratic[pair],
        };
        parts.entries().iter().map(term).sum()
    }

    fn norm_sq(&self, i: usize, _: &mut MultilabelWorkspace, parts: &SparseVec) -> f64 {
        // No two parts share a weight.
        let cut = parts.entries().partition_point(|(id, _)| (*id as usize) < self.shape.labels);
        let (labels, pairs) = parts.entries().split_at(cut);
        let squares = |entries: &[(u64, f64)]| entries.iter().map(|(_, v)| v * v).sum::<f64>();
        self.norms[i] * squares(labels) + squares(pairs)
    }

    fn scatter(&self, i: usize, scale: f64, parts: &SparseVec, target: Target<'_>) {
        scatter_into!(target, sink => self.scatter_into(i, scale, parts, sink));
    }
}

impl ScaledLosses for Multilabel {
    fn oracle_with_loss(
        &self,
        i: usize,
        w: &[f64],
        factor: f64,
        workspace: &mut MultilabelWorkspace,
        y: &mut LabelSet,
    ) {
        let MultilabelWorkspace { scores, augmented, search } = workspace;
        augmented.clear();
        augmented.extend(scores.iter().zip(&self.costs).map(|(score, cost)| score + factor * cost));
        for &k in self.data.labels(i) {
            augmented[k as usize] = scores[k as usize] - factor * self.costs[k as usize];
        }
        let quadratic = &w[self.shape.pair_weights()];
        let quality = search.run(&self.plan, &self.shape.pairs, augmented, quadratic, y);
        if quality > self.plan.inference.quality() {
            self.failed.store(true, Ordering::Relaxed);
        }
    }

    #[cfg(feature = "unstable")]
    fn oracle_by_loss(
        &self,
        i: usize,
        w: &[f64],
        value: &dyn Fn(f64, f64) -> f64,
        workspace: &mut MultilabelWorkspace,
        y: &mut LabelSet,
    ) -> bool {
        self.best_by_loss(i, w, value, workspace, y)
    }
}

impl Truths for Multilabel {
    fn truth(&self, i: usize) -> LabelSet {
        self.data.labels(i).to_vec().into()
    }
}

impl CheckPoints for Multilabel {
    /// Checks that masses of labels and pairs are consistent: 0 ≤ μ_i ≤ 1 and max(0, μ_i + μ_j − 1) ≤
    /// μ_ij ≤ min(μ_i, μ_j), and that the loss belongs to them. Such masses are a point of the local
    /// polytope. If the pairs form a forest, all its points are convex combinations of sets.
    fn check_point(
        &self,
        i: usize,
        parts: &SparseVec,
        loss: f64,
        slack: f64,
    ) -> Result<PointCheck, String> {
        if !parts.is_finite() {
            return Err("a mass is not finite".to_owned());
        }
        let labels = self.shape.labels;
        // Collect the masses of labels and pairs.
        let mut masses = vec![0.0; labels + self.shape.pairs.len()];
        for &(id, mass) in parts.entries() {
            let Some(entry) = usize::try_from(id).ok().and_then(|id| masses.get_mut(id)) else {
                return Err(format!("it has a part that does not exist: {id}"));
            };
            *entry += mass;
        }
        // Check that they are consistent.
        let (on, both) = masses.split_at(labels);
        if let Some(k) = on.iter().position(|mass| *mass < -slack || *mass > 1.0 + slack) {
            return Err(format!("the mass of label {k} is {}, not between 0 and 1", on[k]));
        }
        for (&(j, k), mass) in self.shape.pairs.iter().zip(both) {
            let (a, b) = (on[j as usize], on[k as usize]);
            if *mass < (a + b - 1.0).max(0.0) - slack || *mass > a.min(b) + slack {
                return Err(format!(
                    "the labels {j} and {k} have the masses {a} and {b}, and {mass} together"
                ));
            }
        }
        let own = self.loss_of(i, parts);
        if (own - loss).abs() > slack * (1.0 + own.abs()) {
            return Err(format!("its loss is stated as {loss}, but is {own}"));
        }
        Ok(if self.plan.is_forest() { PointCheck::Feasible } else { PointCheck::Relaxed })
    }
}
