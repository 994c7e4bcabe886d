//! The soft problem.

mod engine;
mod error;
mod terms;

pub use error::SoftError;

use error::positive;

use super::joint::Joint;
use super::layout::{Block, Layout};
use super::penalty::{Penalty, RhoScale};
use crate::dual::DualPoint;
use crate::inference::pattern_search::PatternScratch;
use crate::model::LabelledRows;
use crate::model::chain::Hamming;
use crate::model::factor_graph::{self, GraphShape, Graphs};
use crate::model::multilabel::{self, MultilabelShape};
use crate::model::potts::Potts;
use crate::problem::Problem;
use crate::problem::bounds::{Bounds, BoundsError};
use std::sync::Arc;

/// Factor graphs, or sets of labels, under soft constraints: see the [module](crate::model::soft).
///
/// A block of the dual is a variable or a factor of an example. The weights are those of the graph,
/// followed by the scaled messages; [`messages`](Self::messages) returns the latter unscaled. The gap is
/// that of the soft problem; [`hard_objective`](Self::hard_objective) is an upper bound of the optimum
/// over the LP relaxation.
///
/// ```
/// use maxmargin::model::factor_graph::{FactorGraph, Graphs, StateLoss};
/// use maxmargin::model::soft::SoftGraph;
/// use maxmargin::{Settings, inference::Inference, train};
///
/// let (pixel, edge) = (0, 1); // templates
/// let mut data = Graphs::new();
/// for picture in [[0, 0, 1, 1], [1, 0, 1, 0], [0, 0, 0, 1]] {
///     for (v, truth) in picture.into_iter().enumerate() {
///         let v = data.push_variable(2, truth)?;
///         let brightness = f64::from(truth) + [0.3, -0.3, 0.1, -0.2][v as usize];
///         data.push_factor(pixel, &[v], [(0, brightness), (1, 1.0)])?;
///     }
///     for neighbours in [[0, 1], [2, 3], [0, 2], [1, 3]] {
///         data.push_factor(edge, &neighbours, [(0, 1.0)])?;
///     }
///     data.end_graph(1.0)?;
/// }
/// let (shape, lambda, rho) = (data.shape()?, 0.01, 1.0);
/// let soft = SoftGraph::of_graphs(&shape, &data, StateLoss::default(), lambda, rho)?;
/// let solution = train(&soft, &Settings { lambda: Some(lambda), ..Settings::default() })?;
///
/// let w = soft.weights(&solution.weights); // without the messages
/// let graphs = FactorGraph::new(shape, data, StateLoss::default(), Inference::Auto)?;
/// assert_eq!(graphs.predict(w)[0], [0, 0, 1, 1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct SoftGraph {
    /// Shared by all problems that differ in λ or ρ alone.
    pub(super) layout: Arc<Layout>,
    penalty: Penalty,
    smoothing: f64,
    /// The value of a message coordinate of the features, for each example.
    scales: Vec<f64>,
    /// Multipliers, one per message.
    offsets: Vec<f64>,
    total_weight: f64,
    /// Bounds on the weights, with none on messages.
    bounds: Option<Bounds>,
}

/// Scratch memory of a [`SoftGraph`], for one thread.
///
/// ```
/// # use maxmargin::model::factor_graph::{GraphShape, Graphs, StateLoss};
/// # use maxmargin::model::soft::SoftGraph;
/// use maxmargin::Problem;
/// # let shape = GraphShape::default();
/// # let soft = SoftGraph::of_graphs(&shape, &Graphs::new(), StateLoss::default(), 0.1, 1.0)?;
/// let workspace = soft.workspace();
/// # drop(workspace);
/// # Ok::<(), maxmargin::model::soft::SoftError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct SoftWorkspace {
    /// ⟨w, φ(y)⟩ of the states of a block, messages included.
    scores: Vec<f64>,
    /// These scores with losses.
    augmented: Vec<f64>,
    /// Scratch memory for marginals.
    marginals: Vec<f64>,
    /// Scratch memory for factors that are given by patterns.
    patterns: PatternScratch,
}

impl SoftGraph {
    fn new(layout: Layout, lambda: f64, rho: f64) -> Result<Self, SoftError> {
        positive("lambda", lambda)?;
        positive("rho", rho)?;
        let offsets = vec![0.0; layout.messages];
        let total_weight = layout.weights.iter().sum();
        let penalty = Penalty { lambda, rho, scale: RhoScale::default() };
        let (layout, scales) = (Arc::new(layout), Vec::new());
        let problem =
            Self { layout, penalty, smoothing: 0.0, scales, offsets, total_weight, bounds: None };
        Ok(problem.with_penalty(penalty))
    }

    /// The same problem with other prices of messages.
    fn with_penalty(mut self, penalty: Penalty) -> Self {
        let examples = 0..self.layout.weights.len();
        self.scales = examples.map(|m| penalty.feature(self.share(m))).collect();
        self.penalty = penalty;
        self
    }

    /// The share of an example in the weights of all.
    fn share(&self, example: usize) -> f64 {
        self.layout.weights[example] / self.total_weight
    }

    /// The value of a message coordinate of the features of a block.
    #[inline]
    fn scale(&self, block: &Block) -> f64 {
        self.scales[block.example as usize]
    }

    /// Creates the soft problem of factor graphs. It must be trained at this `lambda`.
    ///
    /// A large ρ makes messages expensive, and the optimum is far from that of the hard problem. With a small ρ the
    /// optimum is close, but training is slow. The penalty is a mean over examples, as the rest of the objective
    /// is; [`with_rho_scale`](Self::with_rho_scale) makes it a sum.
    ///
    /// # Errors
    /// If graphs do not fit the shape, or if `lambda` or `rho` is not positive and finite.
    pub fn of_graphs(
        shape: &GraphShape,
        graphs: &Graphs,
        loss: factor_graph::StateLoss,
        lambda: f64,
        rho: f64,
    ) -> Result<Self, SoftError> {
        Self::new(Layout::of_graphs(shape, graphs, loss)?, lambda, rho)
    }

    /// Creates the soft problem of sets of labels. It must be trained at this `lambda`.
    ///
    /// ```
    /// use maxmargin::model::LabelledRows;
    /// use maxmargin::model::multilabel::{Hamming, MultilabelShape};
    /// use maxmargin::model::soft::SoftGraph;
    /// use maxmargin::{Problem, Settings, train};
    ///
    /// let mut data = LabelledRows::new();
    /// data.push([(0, 1.0)], &[0], 1.0)?;
    /// data.push([(1, 1.0)], &[1, 2], 1.0)?;
    /// let shape = MultilabelShape::complete(3, 2);
    /// let soft = SoftGraph::of_labels(&shape, &data, &Hamming::default(), 0.1, 1.0)?;
    /// assert_eq!(soft.examples(), 2 * (3 + 3)); // labels, and pairs of them
    /// let solution = train(&soft, &Settings { lambda: Some(0.1), ..Settings::default() })?;
    /// assert!(solution.certificate.gap <= 0.01);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If labels, attributes or pairs do not fit the shape, or if `lambda` or `rho` is not positive and
    /// finite.
    pub fn of_labels(
        shape: &MultilabelShape,
        data: &LabelledRows,
        loss: &Hamming,
        lambda: f64,
        rho: f64,
    ) -> Result<Self, SoftError> {
        multilabel::check(shape, data, loss)?;
        let costs = |label| loss.cost(label, shape.labels);
        Self::new(Layout::of_labels(shape, data, costs)?, lambda, rho)
    }

    fn with_lambda(self, lambda: f64) -> Self {
        let penalty = Penalty { lambda, ..self.penalty };
        self.with_penalty(penalty)
    }

    /// Creates the soft problem of labelled graphs, with their bounds. It must be trained at this `lambda`. The decoder
    /// of the graphs does not matter.
    ///
    /// ```
    /// # use maxmargin::doc::patches;
    /// use maxmargin::model::soft::SoftGraph;
    /// use maxmargin::{Settings, train};
    ///
    /// let graphs = patches();
    /// let soft = SoftGraph::of_potts(&graphs, 0.1, 1.0)?;
    /// let solution = train(&soft, &Settings { lambda: Some(0.1), ..Settings::default() })?;
    /// let predicted = graphs.predict(soft.weights(&solution.weights));
    /// assert_eq!(predicted[0].len(), graphs.data().graph(0).nodes());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If `lambda` or `rho` is not positive and finite.
    pub fn of_potts(potts: &Potts, lambda: f64, rho: f64) -> Result<Self, SoftError> {
        let soft = Self::new(Layout::of_potts(potts)?, lambda, rho)?;
        Ok(soft.with_bounds(potts.bounds().cloned())?)
    }

    /// The same problem with bounds on the weights of the graph. There are none on messages, whether the bounds have
    /// entries for them or not.
    ///
    /// ```
    /// # use maxmargin::doc::soft_pictures;
    /// use maxmargin::{Bounds, Settings, train};
    ///
    /// let soft = soft_pictures(0.1);
    /// let weights = soft.weights(&vec![0.0; maxmargin::Problem::dim(&soft)]).len();
    /// let soft = soft.with_bounds(Some(Bounds::none(weights).with(0..weights, -0.1, 0.1)?))?;
    /// let solution = train(&soft, &Settings { lambda: Some(0.1), ..Settings::default() })?;
    /// assert!(soft.weights(&solution.weights).iter().all(|w| w.abs() <= 0.1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there are fewer bounds than weights.
    pub fn with_bounds(mut self, bounds: Option<Bounds>) -> Result<Self, BoundsError> {
        let (own, all) = (self.layout.dim, Problem::dim(&self));
        self.bounds = match bounds {
            None => None,
            Some(bounds) => {
                let (lower, upper) = (bounds.lower().get(..own), bounds.upper().get(..own));
                let (Some(lower), Some(upper)) = (lower, upper) else {
                    bounds.check_size(own)?;
                    return Ok(self);
                };
                let free = |side: &[f64], value| {
                    let mut side = side.to_vec();
                    side.resize(all, value);
                    side
                };
                let (lower, upper) = (free(lower, f64::NEG_INFINITY), free(upper, f64::INFINITY));
                Some(Bounds::new(lower, upper)?)
            }
        };
        Ok(self)
    }

    /// The same problem with another ρ. Dual points stay valid.
    ///
    /// # Errors
    /// If ρ is not positive and finite.
    pub fn with_rho(self, rho: f64) -> Result<Self, SoftError> {
        positive("rho", rho)?;
        let penalty = Penalty { rho, ..self.penalty };
        Ok(self.with_penalty(penalty))
    }

    /// The same problem with the penalty inside the mean over examples or beside it. Dual points stay valid.
    ///
    /// ```
    /// # use maxmargin::doc::soft_pictures;
    /// use maxmargin::model::soft::RhoScale;
    ///
    /// let soft = soft_pictures(0.1).with_rho_scale(RhoScale::Sum);
    /// assert_eq!((soft.rho(), soft.rho_scale()), (1.0, RhoScale::Sum));
    /// ```
    #[must_use]
    pub fn with_rho_scale(self, scale: RhoScale) -> Self {
        let penalty = Penalty { scale, ..self.penalty };
        self.with_penalty(penalty)
    }

    /// Smooths every maximum: max_y θ(y) becomes max_μ ⟨θ, μ⟩ − `smoothing`/2·‖μ − e(truth)‖² over the
    /// simplex. The dual is then strongly concave in every block, so steps converge linearly. The
    /// objective changes by at most `smoothing` per block.
    ///
    /// # Errors
    /// If `smoothing` is not positive and finite, or if a factor is given by patterns: its joint states are not listed.
    pub fn smoothed(mut self, smoothing: f64) -> Result<Self, SoftError> {
        positive("smoothing", smoothing)?;
        if self.has_patterns() {
            return Err(SoftError::SmoothPatterns);
        }
        self.smoothing = smoothing;
        let bounds = self.bounds.take();
        Ok(self.with_bounds(bounds)?)
    }

    /// The same problem with these multipliers, one for each message. Usually they are the
    /// [`messages`](Self::messages) of the last round. See [`train_augmented`](super::train_augmented).
    ///
    /// # Errors
    /// If their number is not the number of messages, or if one of them is not finite.
    pub fn with_multipliers(mut self, multipliers: Vec<f64>) -> Result<Self, SoftError> {
        let needed = self.layout.messages;
        if multipliers.len() != needed || !multipliers.iter().all(|m| m.is_finite()) {
            return Err(SoftError::Multipliers { needed, found: multipliers.len() });
        }
        self.offsets = multipliers;
        Ok(self)
    }

    /// The λ at which the problem must be trained.
    pub fn lambda(&self) -> f64 {
        self.penalty.lambda
    }

    /// The parameter ρ. The larger it is, the softer the constraints are.
    pub fn rho(&self) -> f64 {
        self.penalty.rho
    }

    /// Whether the penalty is inside the mean over examples or beside it.
    pub fn rho_scale(&self) -> RhoScale {
        self.penalty.scale
    }

    /// The weights of the graph, without the messages.
    ///
    /// # Panics
    /// If there are too few weights.
    pub fn weights<'w>(&self, weights: &'w [f64]) -> &'w [f64] {
        &weights[..self.layout.dim]
    }

    /// The messages δ, including the multipliers.
    ///
    /// # Panics
    /// If there are too few weights.
    pub fn messages(&self, weights: &[f64]) -> Vec<f64> {
        let (own, mut messages) = (&weights[self.layout.dim..], self.offsets.clone());
        for (m, scale) in self.scales.iter().enumerate() {
            for at in self.layout.messages_of(m) {
                messages[at] += scale * own[at];
            }
        }
        messages
    }

    /// The disagreement of variables and factors: the largest |μ_c(y_i) − μ_i(y_i)|, and the root of the
    /// mean of their squares.
    ///
    /// # Panics
    /// If there are too few weights.
    pub fn violation(&self, weights: &[f64]) -> (f64, f64) {
        let (mut most, mut sum) = (0.0f64, 0.0);
        for (m, scale) in self.scales.iter().enumerate() {
            // δ − offset = share·(μ_c − μ_i)/ρ_m
            let share = self.share(m);
            let factor = scale * self.penalty.price(share) / share;
            for at in self.layout.messages_of(m) {
                let apart = factor * weights[self.layout.dim + at];
                most = most.max(apart.abs());
                sum += apart * apart;
            }
        }
        (most, (sum / self.layout.messages.max(1) as f64).sqrt())
    }

    /// The hard objective g(w, δ), without ρ/2·‖δ‖²: an upper bound of the optimum over the LP
    /// relaxation.
    ///
    /// # Panics
    /// If there are too few weights.
    pub fn hard_objective(&self, weights: &[f64]) -> f64 {
        self.hard_objective_at(self.weights(weights), &self.messages(weights))
    }

    /// g(w, δ) of any weights and messages.
    pub(super) fn hard_objective_at(&self, w: &[f64], messages: &[f64]) -> f64 {
        let norm: f64 = w.iter().map(|w| w * w).sum();
        let (mut scores, mut y, mut scratch) = (Vec::new(), Vec::new(), PatternScratch::default());
        let mut sum = 0.0;
        for block in &self.layout.blocks {
            self.theta(block, w, messages, &mut scores);
            let best = self.best(block, &scores, &mut scratch, &mut y);
            let truth = match self.layout.joint(block) {
                None => scores[block.truth as usize],
                Some(joint) => joint.truth_parts().map(|part| scores[part]).sum(),
            };
            sum += self.share(block.example as usize) * (best - truth);
        }
        0.5 * self.penalty.lambda * norm + sum
    }

    /// θ(y) of a block with losses and messages.
    fn theta(&self, block: &Block, w: &[f64], messages: &[f64], theta: &mut Vec<f64>) {
        self.scaled_theta(block, w, 1.0, messages, theta);
    }

    /// θ(y) of a block at the weights `factor` · w.
    pub(super) fn scaled_theta(
        &self,
        block: &Block,
        w: &[f64],
        factor: f64,
        messages: &[f64],
        theta: &mut Vec<f64>,
    ) {
        self.features(block, w, theta);
        theta.iter_mut().for_each(|score| *score *= factor);
        if let Some(joint) = self.layout.joint(block) {
            for (part, score) in theta.iter_mut().enumerate() {
                let message = self.layout.message_of_part(block, joint, part);
                *score -= message.map_or(0.0, |m| messages[m]);
            }
            return;
        }
        for side in &self.layout.sides[block.sides.clone()] {
            for (state, score) in theta.iter_mut().enumerate() {
                *score += side.sign * messages[side.message_of(state)];
            }
        }
        let losses = &self.layout.losses[block.first..];
        theta.iter_mut().zip(losses).for_each(|(score, loss)| *score += loss);
    }

    /// The loss of a state, including the multipliers. It is 0 for the truth. For a block of patterns, it is the
    /// loss of a part.
    fn loss_of(&self, block: &Block, state: usize) -> f64 {
        if let Some(joint) = self.layout.joint(block) {
            return self.loss_of_part(block, joint, state);
        }
        let loss = self.layout.losses[block.first + state];
        let sides = self.layout.sides[block.sides.clone()].iter();
        let offset =
            |side: &super::layout::Side, state: usize| self.offsets[side.message_of(state)];
        let own = sides.map(|s| s.sign * (offset(s, state) - offset(s, block.truth as usize)));
        loss + own.sum::<f64>()
    }

    fn loss_of_part(&self, block: &Block, joint: &Joint, part: usize) -> f64 {
        let offset =
            |part| self.layout.message_of_part(block, joint, part).map_or(0.0, |m| self.offsets[m]);
        offset(joint.true_part(part)) - offset(part)
    }

    /// Whether some factor is given by patterns.
    pub(super) fn has_patterns(&self) -> bool {
        !self.layout.joints.is_empty()
    }

    /// The weight of an example, 1 on average.
    pub(super) fn relative_weight(&self, m: usize) -> f64 {
        self.layout.weights[m] * self.layout.weights.len() as f64 / self.total_weight
    }

    /// The value of the coordinate that smoothing adds to the features of each state of a block.
    fn smooth_scale(&self, block: &Block) -> f64 {
        let share = self.share(block.example as usize);
        (self.smoothing * self.penalty.lambda / share).sqrt()
    }

    fn smooth_start(&self) -> usize {
        self.layout.dim + self.layout.messages
    }

    /// Adds the messages at `weights` to the multipliers. This is a step of the augmented Lagrangian.
    pub(super) fn absorb(&mut self, weights: &[f64]) {
        self.offsets = self.messages(weights);
    }

    /// Returns the dual point with its losses recomputed for the current multipliers. Losses from another
    /// round include other multipliers.
    pub fn with_losses(&self, point: &DualPoint) -> DualPoint {
        let mut point = point.clone();
        for (block, own) in self.layout.blocks.iter().zip(&mut point.blocks) {
            let entries = own.parts.iter();
            own.loss = entries.map(|(y, mass)| mass * self.loss_of(block, y as usize)).sum();
        }
        point
    }
}
