//! Trees of parts as a structured problem.

use super::examples::{State, TreeExamples};
use super::expectations::Sums;
use super::parts::PartStarts;
use super::search::Search;
use super::shape::TreeShape;
use crate::model::InputError;
use crate::problem::bounds::{Bounds, BoundsError};
use crate::problem::parts::scatter_into;
use crate::problem::quality::PointCheck;
use crate::problem::sparse::{Sink, SparseVec};
use crate::problem::sparse_accumulator::SparseAccumulator;
use crate::problem::{Abilities, CheckPoints, Parts, Problem, Target, Truths};

/// The loss of states: a weighted mean over nodes of
///
/// ```text
/// min(1, ‖Δ‖²/s² + kind_cost·[the kind is wrong])
/// ```
///
/// where Δ is the displacement from the true place in steps of the grid, and s is the
/// [distance](TreeExamples::scale) of the example from which on a place has the full loss.
///
/// ```
/// use maxmargin::model::tree::TreeLoss;
/// assert_eq!(TreeLoss::default().kind_cost, 0.0);
/// assert_eq!(TreeLoss::LABELS.of(0.0, true, 5.0), 1.0);
/// assert_eq!(TreeLoss::default().of(9.0, true, 6.0), 0.25);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct TreeLoss {
    /// The cost of a wrong kind. Default: 0.
    pub kind_cost: f64,
}

impl TreeLoss {
    /// The loss of trees of labels, in which only kinds matter.
    pub const LABELS: Self = Self { kind_cost: 1.0 };

    /// The loss at one node: the squared distance, whether the kind is wrong, and s.
    pub fn of(&self, distance_sq: f64, is_wrong: bool, scale: f64) -> f64 {
        let kind = if is_wrong { self.kind_cost } else { 0.0 };
        (distance_sq / (scale * scale) + kind).min(1.0)
    }
}

/// The squared distance of two places along one axis.
fn away(a: u32, b: u32) -> f64 {
    (f64::from(a) - f64::from(b)).powi(2)
}

/// Trees of parts as training data, or for prediction.
///
/// ```
/// use maxmargin::model::tree::{State, Tree, TreeExamples, TreeLoss, TreeNode, TreeShape};
/// use maxmargin::{Settings, train};
///
/// // Two parts, the second one step to the right of the first; its map also has another peak.
/// let nodes = vec![TreeNode::root(1, 1), TreeNode::root(1, 1).child_of(0)];
/// let mut data = TreeExamples::new(TreeShape::new(nodes, 1.0)?);
/// for at in 0..3u32 {
///     let mut maps = vec![0.0; 2 * 6];
///     maps[at as usize] = 1.0;
///     maps[6 + at as usize + 1] = 0.5;
///     maps[6 + (at as usize + 4) % 6] = 0.6;
///     let truth = vec![State { kind: 0, x: at, y: 0 }, State { kind: 0, x: at + 1, y: 0 }];
///     data.push(6, 1, maps, truth, &[], 1.0, 1.0)?;
/// }
/// let tree = Tree::new(data, TreeLoss::default())?;
/// let settings = Settings { lambda: Some(1e-3), tolerance: 1e-3, ..Settings::default() };
/// let solution = train(&tree, &settings)?;
/// assert_eq!(tree.predict(&solution.weights)[2][1].x, 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Tree {
    data: TreeExamples,
    loss: TreeLoss,
    bounds: Bounds,
    /// Whether expectations are small enough for memory.
    has_expectations: bool,
    part_starts: PartStarts,
}

/// The largest number of parts for which a tree has expectations. An expectation has a mass for every
/// pair of states of a node and its parent; with more of them, a dual point would not fit into memory.
const MOST_EXPECTED_PARTS: u64 = 1 << 18;

/// Scratch memory of a [`Tree`], for one thread.
///
/// ```
/// # use maxmargin::doc::limbs;
/// use maxmargin::Problem;
///
/// let tree = limbs();
/// let w = vec![0.0; tree.dim()];
/// let (mut workspace, mut y) = (tree.workspace(), Vec::new());
/// tree.oracle(0, &w, &mut workspace, &mut y);
/// assert_eq!(tree.loss(0, &y), 1.0); // at w = 0 all scores are 0, so the largest loss wins
/// ```
#[derive(Debug, Clone, Default)]
pub struct TreeWorkspace {
    pub(super) search: Search,
    /// The loss at each place of a node, for the right kind and for a wrong kind.
    losses: [Vec<f64>; 2],
    pub(super) sums: Sums,
    way: SparseAccumulator,
}

impl Tree {
    /// Creates a problem from data and loss.
    ///
    /// # Errors
    /// If the cost of wrong kinds is negative or not finite.
    pub fn new(data: TreeExamples, loss: TreeLoss) -> Result<Self, InputError> {
        InputError::check_not_negative("the cost of a wrong kind", loss.kind_cost)?;
        let none = Bounds::none(data.shape().dim());
        let bounds = data.shape().bounds(None).unwrap_or(none);
        let part_starts = PartStarts::new(data.shape());
        let places = (0..data.len()).map(|i| data.grid(i).0 * data.grid(i).1);
        let most = places.max().unwrap_or(0) as u64;
        let has_expectations = part_starts.count(most) <= MOST_EXPECTED_PARTS;
        Ok(Self { data, loss, bounds, has_expectations, part_starts })
    }

    /// The same problem with bounds on its weights, in addition to those of the shape.
    ///
    /// # Errors
    /// If the number of bounds is not the number of weights, or if they exclude quadratic costs ≥ 0.
    pub fn with_bounds(self, bounds: Option<Bounds>) -> Result<Self, BoundsError> {
        Ok(Self { bounds: self.data.shape().bounds(bounds)?, ..self })
    }

    /// The shape of the weights.
    pub fn shape(&self) -> &TreeShape {
        self.data.shape()
    }

    /// The data.
    pub fn data(&self) -> &TreeExamples {
        &self.data
    }

    /// Predicts the states of all examples.
    ///
    /// ```
    /// # use maxmargin::doc::limbs;
    /// use maxmargin::{Settings, train};
    ///
    /// let tree = limbs();
    /// let predicted = tree.predict(&train(&tree, &Settings::default())?.weights);
    /// assert_eq!(predicted[0].len(), tree.shape().nodes().len());
    /// # Ok::<(), maxmargin::TrainError>(())
    /// ```
    ///
    /// # Panics
    /// If there are too few weights.
    pub fn predict(&self, w: &[f64]) -> Vec<Vec<State>> {
        let mut workspace = self.workspace();
        let mut predict = |i| {
            let mut y = Vec::new();
            self.decode(i, w, &mut workspace, &mut y);
            y
        };
        (0..self.examples()).map(&mut predict).collect()
    }

    /// Fills the scores of all nodes, kinds and places.
    pub(super) fn fill(&self, i: usize, w: &[f64], search: &mut Search) {
        let shape = self.shape();
        let (width, height) = self.data.grid(i);
        search.begin(shape, width, height);
        for (node, own) in shape.nodes().iter().enumerate() {
            let (unary, bias) = (&w[shape.unary(node)], &w[shape.bias(node)]);
            for (kind, bias) in bias.iter().enumerate() {
                let row = search.row(node, kind);
                row.fill(*bias);
                for map in 0..own.maps {
                    let (weight, values) =
                        (unary[kind * own.maps + map], self.data.map(i, node, map));
                    let terms = row.iter_mut().zip(values);
                    terms.for_each(|(score, value)| *score += weight * f64::from(*value));
                }
            }
            self.fill_at_parent(i, w, node, search);
        }
    }

    /// Fills in the scores that the maps at the places of the parent add to each kind of a node.
    fn fill_at_parent(&self, i: usize, w: &[f64], node: usize, search: &mut Search) {
        let (own, weights) = (&self.shape().nodes()[node], &w[self.shape().at_parent(node)]);
        if own.parent_maps == 0 {
            return;
        }
        let (first, places) = (search.first_kind(node), search.places);
        for (kind, weights) in weights.chunks_exact(own.parent_maps).enumerate() {
            let row = &mut search.at_parent[first + kind];
            row.resize(places, 0.0);
            for (map, weight) in weights.iter().enumerate() {
                let values = self.data.map(i, node, own.maps + map);
                let terms = row.iter_mut().zip(values);
                terms.for_each(|(score, value)| *score += weight * f64::from(*value));
            }
        }
    }

    /// Adds `scale` times the losses to the scores of all states.
    pub(super) fn add_losses(&self, i: usize, scale: f64, workspace: &mut TreeWorkspace) {
        let TreeWorkspace { search, losses, .. } = workspace;
        for (node, own) in self.shape().nodes().iter().enumerate() {
            let truth = self.data.truth(i)[node];
            let (right, width) = (truth.kind as usize, search.width);
            let (scale_here, share) = (self.data.scale(i), self.data.shares(i)[node]);
            for (wrong, losses) in losses.iter_mut().enumerate() {
                let loss = |distance_sq| share * self.loss.of(distance_sq, wrong == 1, scale_here);
                losses.clear();
                for y in 0..search.places / width {
                    let down = away(y as u32, truth.y);
                    losses.extend((0..width).map(|x| loss(away(x as u32, truth.x) + down)));
                }
            }
            for kind in 0..own.kinds {
                let losses = &losses[usize::from(kind != right)];
                let terms = search.row(node, kind).iter_mut().zip(losses);
                terms.for_each(|(score, loss)| *score += scale * loss);
            }
        }
    }

    /// The loss of a node in a state.
    pub(super) fn node_loss(&self, i: usize, node: usize, state: State) -> f64 {
        let truth = self.data.truth(i)[node];
        let distance_sq = away(state.x, truth.x) + away(state.y, truth.y);
        let loss = self.loss.of(distance_sq, state.kind != truth.kind, self.data.scale(i));
        self.data.shares(i)[node] * loss
    }

    /// The first parts of all nodes.
    pub(super) fn part_starts(&self) -> &PartStarts {
        &self.part_starts
    }

    /// Adds `scale`·φ(xᵢ, y).
    fn push_features(&self, i: usize, y: &[State], scale: f64, into: &mut SparseVec) {
        for part in self.parts_of(y) {
            self.for_each_feature(i, part, |at, value| into.push(at as u64, scale * value));
        }
    }

    fn push_parts(&self, i: usize, y: &[State], into: &mut SparseVec) {
        self.parts_of(y).for_each(|part| into.push(self.part_id(i, part), 1.0));
    }
}

impl Problem for Tree {
    type Output = Vec<State>;
    type Workspace = TreeWorkspace;

    fn examples(&self) -> usize {
        self.data.len()
    }

    fn dim(&self) -> usize {
        self.shape().dim()
    }

    fn workspace(&self) -> TreeWorkspace {
        TreeWorkspace { way: SparseAccumulator::new(self.dim()), ..TreeWorkspace::default() }
    }

    fn oracle(&self, i: usize, w: &[f64], workspace: &mut TreeWorkspace, y: &mut Vec<State>) {
        self.fill(i, w, &mut workspace.search);
        self.add_losses(i, 1.0, workspace);
        workspace.search.run(self.shape(), w, y);
    }

    fn decode(&self, i: usize, w: &[f64], workspace: &mut TreeWorkspace, y: &mut Vec<State>) {
        self.fill(i, w, &mut workspace.search);
        workspace.search.run(self.shape(), w, y);
    }

    fn loss(&self, i: usize, y: &Vec<State>) -> f64 {
        y.iter().enumerate().map(|(node, &state)| self.node_loss(i, node, state)).sum()
    }

    fn psi(&self, i: usize, y: &Vec<State>, psi: &mut SparseVec) {
        self.push_features(i, self.data.truth(i), 1.0, psi);
        self.push_features(i, y, -1.0, psi);
    }

    fn weight(&self, i: usize) -> f64 {
        self.data.weight(i)
    }

    fn bounds(&self) -> Option<&Bounds> {
        Some(&self.bounds)
    }

    #[inline]
    fn abilities(&self) -> Abilities<'_, TreeWorkspace, Vec<State>> {
        Abilities {
            parts: Some(self),
            truths: Some(self),
            points: Some(self),
            expectations: self.has_expectations.then_some(self as _),
            is_trusted: true,
            ..Abilities::none()
        }
    }
}

impl Tree {
    fn scatter_into<S: Sink + ?Sized>(
        &self,
        i: usize,
        scale: f64,
        parts: &SparseVec,
        sink: &mut S,
    ) {
        for &(id, mass) in parts.entries() {
            if let Some(part) = self.part(i, id) {
                self.for_each_feature(i, part, |at, value| sink.add(at, scale * mass * value));
            }
        }
    }
}

impl Parts for Tree {
    fn parts(&self, i: usize, y: &Vec<State>, parts: &mut SparseVec) {
        self.push_parts(i, y, parts);
    }

    fn truth_parts(&self, i: usize, parts: &mut SparseVec) {
        self.push_parts(i, self.data.truth(i), parts);
    }

    fn score(&self, i: usize, w: &[f64], _: &TreeWorkspace, parts: &SparseVec) -> f64 {
        let mut score = 0.0;
        for &(id, mass) in parts.entries() {
            if let Some(part) = self.part(i, id) {
                self.for_each_feature(i, part, |at, value| score += mass * value * w[at]);
            }
        }
        score
    }

    fn norm_sq(&self, i: usize, workspace: &mut TreeWorkspace, parts: &SparseVec) -> f64 {
        workspace.way.clear();
        self.scatter_into(i, 1.0, parts, &mut workspace.way);
        workspace.way.norm_sq()
    }

    fn scatter(&self, i: usize, scale: f64, parts: &SparseVec, target: Target<'_>) {
        scatter_into!(target, sink => self.scatter_into(i, scale, parts, sink));
    }
}

impl Truths for Tree {
    fn truth(&self, i: usize) -> Vec<State> {
        self.data.truth(i).to_vec()
    }
}

impl CheckPoints for Tree {
    fn check_point(
        &self,
        i: usize,
        parts: &SparseVec,
        loss: f64,
        slack: f64,
    ) -> Result<PointCheck, String> {
        super::feasible::check(self, i, parts, loss, slack)?;
        Ok(PointCheck::Feasible)
    }
}
