//! The chain as a structured problem.

#[cfg(feature = "unstable")]
use super::by_loss::ByLoss;
use super::gram::{Grams, NormScratch, TakenSquares};
use super::loss::Hamming;
use super::parts::{self, MOST_LABELS, Part, decode};
use super::scores::ChainScores;
use super::sequences::{Sequence, Sequences};
use super::shape::ChainShape;
use crate::inference::forward_backward::ForwardBackward;
use crate::model::InputError;
use crate::model::rows::scatter_row;
use crate::problem::bounds::Bounds;
use crate::problem::parts::{parts_of_psi, scatter_into};
use crate::problem::quality::PointCheck;
use crate::problem::sparse::{Sink, SparseVec};
use crate::problem::{Abilities, CheckPoints, Parts, Problem, ScaledLosses, Target, Truths};

/// The memory for the scores of more tokens than this is given back after an oracle call.
const MOST_SAVED: usize = 1 << 17;

/// Sequences of more tokens than this are taken piece by piece. A piece has this many tokens.
const LONG: usize = 1 << 16;
const PIECE: usize = 1 << 14;

/// Chain-structured training data under a Hamming loss.
///
/// ```
/// use maxmargin::model::chain::{Chain, ChainShape, Hamming, Sequences};
/// use maxmargin::{Settings, train};
///
/// let mut data = Sequences::new();
/// for labels in [[0, 1, 1], [1, 1, 0]] {
///     for label in labels {
///         data.push_token([(label, 1.0)], label)?; // one telling attribute per label
///     }
///     data.end_sequence(1.0)?;
/// }
/// let chain = Chain::new(ChainShape::new(2, 2), data, &Hamming::default())?;
/// let solution = train(&chain, &Settings { tolerance: 0.02, ..Settings::default() })?;
/// assert!(solution.certificate.gap <= 0.02);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Chain {
    shape: ChainShape,
    data: Sequences,
    loss: Hamming,
    grams: Grams,
    bounds: Option<Bounds>,
}

/// Scratch memory of a [`Chain`], for one thread. It grows to the longest sequence it has seen.
///
/// ```
/// # use maxmargin::doc::toy;
/// use maxmargin::{Problem, ProblemExt};
///
/// let chain = toy();
/// let w = vec![0.0; chain.dim()];
/// let (mut workspace, mut y) = (chain.workspace(), Vec::new());
/// for i in 0..chain.examples() {
///     chain.prepare(i, &w, &mut workspace);
///     chain.oracle(i, &w, &mut workspace, &mut y);
///     assert_eq!(chain.loss(i, &y), 1.0); // at w = 0 all scores are 0, so the largest loss wins
/// }
/// ```
#[derive(Debug, Clone, Default)]
pub struct ChainWorkspace {
    pub(crate) scores: ChainScores,
    /// The original node scores of the truth, while the oracle has subtracted the loss from them.
    saved: Vec<f64>,
    norm: NormScratch,
    pub(super) marginals: ForwardBackward,
    #[cfg(feature = "unstable")]
    pub(super) by_loss: ByLoss,
}

impl Chain {
    /// Creates a problem from data, shape and loss. Tokens of a sequence that was not ended are left out.
    ///
    /// ```
    /// use maxmargin::Problem;
    /// use maxmargin::model::chain::{Chain, ChainShape, Hamming, Sequences};
    ///
    /// let mut data = Sequences::new();
    /// data.push_token([(0, 1.0)], 1)?;
    /// data.end_sequence(1.0)?;
    /// let shape = ChainShape::new(data.label_bound(), data.attribute_bound());
    /// let chain = Chain::new(shape, data, &Hamming::default())?;
    /// assert_eq!((chain.examples(), chain.dim()), (1, 2 + 4 + 2 + 2 + 2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If labels, attributes or label weights do not fit the shape, or if the number of labels is not
    /// supported.
    pub fn new(shape: ChainShape, data: Sequences, loss: &Hamming) -> Result<Self, InputError> {
        check(&shape, &data, loss)?;
        let grams = Grams::new(&shape, &data);
        let loss = loss.clone();
        Ok(Self { shape, data, loss, grams, bounds: None })
    }

    /// The same chain with bounds on its weights; see [`GroupBounds`](crate::GroupBounds) for bounds on
    /// whole groups of them. Training refuses bounds whose number is not the number of weights.
    ///
    /// ```
    /// # use maxmargin::doc::toy;
    /// use maxmargin::{Bounds, Settings, train};
    ///
    /// let chain = toy();
    /// let (transition, d) = (chain.shape().transition(), chain.shape().dim());
    /// let bounds = Bounds::none(d).with(transition.clone(), 0.0, f64::INFINITY)?;
    /// let solution = train(&chain.with_bounds(Some(bounds)), &Settings::default())?;
    /// assert!(solution.weights[transition].iter().all(|&w| w >= 0.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_bounds(self, bounds: Option<Bounds>) -> Self {
        Self { bounds, ..self }
    }

    /// The same chain with one attribute per token: `numbers[token]`, which is below `count`, for the
    /// tokens of all sequences in order. `product` computes inner products of two attributes.
    pub(crate) fn with_inputs(
        self,
        numbers: &[u32],
        count: usize,
        product: &dyn Fn(u32, u32) -> f64,
    ) -> Self {
        let shape = ChainShape { attributes: count, ..self.shape };
        let data = self.data.with_inputs(numbers);
        let grams = Grams::with_products(&shape, &data, |sequence, s, t| {
            product(sequence.token(s).attributes[0], sequence.token(t).attributes[0])
        });
        Self { shape, data, grams, ..self }
    }

    /// The shape of the weights.
    pub fn shape(&self) -> &ChainShape {
        &self.shape
    }

    /// The data.
    pub fn data(&self) -> &Sequences {
        &self.data
    }

    /// The cost of a mistake at each token of a sequence.
    #[inline]
    pub(super) fn costs<'a>(
        &'a self,
        sequence: Sequence<'a>,
    ) -> impl Iterator<Item = f64> + Clone + 'a {
        let each = self.loss.cost_of(sequence.len());
        let labels = sequence.labels().iter().enumerate();
        labels.map(move |(t, &label)| each * self.loss.weight(label) * sequence.cost(t))
    }

    /// The loss that one part contributes.
    pub(super) fn part_loss(&self, i: usize, id: u64) -> f64 {
        match decode(id) {
            Part::Node { t, y } => {
                let sequence = self.data.sequence(i);
                match sequence.labels()[t] {
                    truth if truth as usize == y => 0.0,
                    truth => self.loss.cost(truth, sequence.len()) * sequence.cost(t),
                }
            }
            Part::Edge { .. } => 0.0,
        }
    }

    /// Adds `scale` · κ · `nodes` of position `t` to the biases, and to the weights of the first or last
    /// label at the ends.
    fn scatter_biases<S: Sink + ?Sized>(
        &self,
        t: usize,
        length: usize,
        scale: f64,
        nodes: &[(u64, f64)],
        sink: &mut S,
    ) {
        let (shape, groups) = (&self.shape, &self.shape.groups);
        let scale = scale * shape.transition_scale;
        for (on, start) in [
            (groups.bias, shape.bias().start),
            (groups.first && t == 0, shape.first().start),
            (groups.last && t + 1 == length, shape.last().start),
        ] {
            if on {
                nodes.iter().for_each(|&(id, v)| sink.add(start + parts::label(id), scale * v));
            }
        }
    }

    fn has_edges(&self) -> bool {
        self.shape.groups.transition
    }
}

fn check(shape: &ChainShape, data: &Sequences, loss: &Hamming) -> Result<(), InputError> {
    let labels = shape.labels;
    if !(1..=MOST_LABELS).contains(&labels) {
        let needed = format!("a chain needs between 1 and {MOST_LABELS} labels");
        return Err(InputError::Structure(format!("{needed}, not {labels}")));
    }
    shape.check_scale()?;
    InputError::check_label_weights(&loss.label_weights, labels)?;
    for (at, sequence) in data.iter().enumerate() {
        if let Some(&label) = sequence.labels().iter().find(|&&y| y as usize >= labels) {
            return Err(InputError::label(format!("sequence {at}"), label, labels));
        }
        let mut attributes = sequence.tokens().flat_map(|token| token.attributes);
        if let Some(&attribute) = attributes.find(|&&a| a as usize >= shape.attributes) {
            let attributes = shape.attributes;
            return Err(InputError::attribute(format!("sequence {at}"), attribute, attributes));
        }
    }
    Ok(())
}

impl Problem for Chain {
    type Output = Vec<u32>;
    type Workspace = ChainWorkspace;

    fn examples(&self) -> usize {
        self.data.len()
    }

    fn dim(&self) -> usize {
        self.shape.dim()
    }

    fn workspace(&self) -> ChainWorkspace {
        ChainWorkspace::default()
    }

    fn oracle(&self, i: usize, w: &[f64], workspace: &mut ChainWorkspace, y: &mut Vec<u32>) {
        self.oracle_with_loss(i, w, 1.0, workspace, y);
    }

    fn decode(&self, _i: usize, w: &[f64], workspace: &mut ChainWorkspace, y: &mut Vec<u32>) {
        workspace.scores.decode(&self.shape, w, y);
    }

    fn loss(&self, i: usize, y: &Vec<u32>) -> f64 {
        let sequence = self.data.sequence(i);
        let truth = sequence.labels();
        let wrong = truth.iter().zip(y).zip(self.costs(sequence)).filter(|((a, b), _)| a != b);
        wrong.map(|(_, cost)| cost).sum()
    }

    fn psi(&self, i: usize, y: &Vec<u32>, psi: &mut SparseVec) {
        self.scatter_into(i, 1.0, &parts_of_psi(self, i, y), psi);
    }

    fn weight(&self, i: usize) -> f64 {
        self.data.weight(i)
    }

    fn bounds(&self) -> Option<&Bounds> {
        self.bounds.as_ref()
    }

    #[inline]
    fn abilities(&self) -> Abilities<'_, ChainWorkspace, Vec<u32>> {
        Abilities {
            parts: Some(self),
            truths: Some(self),
            points: Some(self),
            scaled_losses: Some(self),
            expectations: Some(self),
            is_trusted: true,
            ..Abilities::none()
        }
    }
}

impl Chain {
    fn scatter_into<S: Sink + ?Sized>(
        &self,
        i: usize,
        scale: f64,
        parts: &SparseVec,
        sink: &mut S,
    ) {
        let shape = &self.shape;
        let (k, sequence) = (shape.labels, self.data.sequence(i));
        let (transition, edge_scale) = (shape.transition().start, scale * shape.transition_scale);
        let mut entries = parts.entries();
        while let Some(&(id, value)) = entries.first() {
            match decode(id) {
                Part::Edge { y, z, .. } => {
                    sink.add(transition + y * k + z, edge_scale * value);
                    entries = &entries[1..];
                }
                Part::Node { t, .. } => {
                    let nodes = parts::nodes_at(t, entries);
                    entries = &entries[nodes.len()..];
                    if shape.groups.emission {
                        scatter_row(k, sequence.token(t), scale, nodes, parts::label, sink);
                    }
                    self.scatter_biases(t, sequence.len(), scale, nodes, sink);
                }
            }
        }
    }
}

impl Parts for Chain {
    fn prepare(&self, i: usize, w: &[f64], workspace: &mut ChainWorkspace) {
        workspace.scores.fill(&self.shape, w, self.data.sequence(i));
    }

    fn prepare_scores(
        &self,
        i: usize,
        w: &[f64],
        workspace: &mut ChainWorkspace,
        points: &[SparseVec],
    ) {
        workspace.scores.fill_at(&self.shape, w, self.data.sequence(i), points);
    }

    fn prefetch(&self, i: usize) {
        // Prefetch this first, so that its latency overlaps with that of the sequence.
        self.grams.prefetch_place(i);
        self.data.sequence(i).prefetch();
        self.grams.prefetch(i);
    }

    fn parts(&self, _i: usize, y: &Vec<u32>, parts: &mut SparseVec) {
        parts::push_labelling(y, self.has_edges(), parts);
    }

    fn truth_parts(&self, i: usize, parts: &mut SparseVec) {
        parts::push_labelling(self.data.sequence(i).labels(), self.has_edges(), parts);
    }

    fn pieces(&self, i: usize) -> usize {
        let length = self.data.sequence(i).len();
        match length > LONG && self.grams.is_for_all_weights(&self.shape, i, length) {
            true => length.div_ceil(PIECE),
            false => 1,
        }
    }

    fn piece(&self, i: usize, y: Option<&Vec<u32>>, piece: usize, parts: &mut SparseVec) {
        let labels = y.map_or(self.data.sequence(i).labels(), Vec::as_slice);
        let positions = match self.pieces(i) {
            1 => 0..labels.len(),
            _ => piece * PIECE..labels.len().min((piece + 1) * PIECE),
        };
        parts::push_positions(labels, positions, self.has_edges(), parts);
    }

    fn score(&self, _i: usize, w: &[f64], workspace: &ChainWorkspace, parts: &SparseVec) -> f64 {
        let (k, transition) = (self.shape.labels, &w[self.shape.transition()]);
        let (nodes, edge_scale) = (&workspace.scores.nodes, self.shape.transition_scale);
        let term = |&(id, value): &(u64, f64)| match decode(id) {
            Part::Node { t, y } => value * nodes[t * k + y],
            Part::Edge { y, z, .. } => value * (edge_scale * transition[y * k + z]),
        };
        parts.entries().iter().map(term).sum()
    }

    fn norm_sq(&self, i: usize, workspace: &mut ChainWorkspace, parts: &SparseVec) -> f64 {
        let (sequence, scratch) = (self.data.sequence(i), &mut workspace.norm);
        if !self.grams.is_for_all_weights(&self.shape, i, parts.len()) {
            return self.grams.norm_sq(&self.shape, i, sequence, parts, scratch);
        }
        scratch.weights.resize(self.shape.dim(), 0.0);
        self.scatter_into(i, 1.0, parts, scratch.weights.as_mut_slice());
        let mut squares = TakenSquares { weights: &mut scratch.weights, total: 0.0 };
        self.scatter_into(i, 1.0, parts, &mut squares);
        squares.total
    }

    fn scatter(&self, i: usize, scale: f64, parts: &SparseVec, target: Target<'_>) {
        scatter_into!(target, sink => self.scatter_into(i, scale, parts, sink));
    }
}

impl Truths for Chain {
    fn truth(&self, i: usize) -> Vec<u32> {
        self.data.sequence(i).labels().to_vec()
    }
}

impl ScaledLosses for Chain {
    fn oracle_with_loss(
        &self,
        i: usize,
        w: &[f64],
        factor: f64,
        workspace: &mut ChainWorkspace,
        y: &mut Vec<u32>,
    ) {
        let ChainWorkspace { scores, saved, .. } = workspace;
        let (sequence, k) = (self.data.sequence(i), self.shape.labels);
        let truth = sequence.labels();
        if self.shape.is_taken_in_pieces(truth.len()) {
            let each = self.loss.cost_of(sequence.len());
            let subtract = |t: usize, row: &mut [f64]| {
                let label = truth[t];
                let cost = each * self.loss.weight(label) * sequence.cost(t);
                row[label as usize] -= factor * cost;
            };
            scores.decode_in_pieces(&self.shape, w, subtract, y);
            return;
        }
        // All wrong labels cost the same. So instead of adding the cost to all wrong labels, subtract it
        // from the right one, and restore that score afterwards.
        saved.clear();
        for ((row, &label), cost) in
            scores.nodes.chunks_exact_mut(k).zip(truth).zip(self.costs(sequence))
        {
            saved.push(row[label as usize]);
            row[label as usize] -= factor * cost;
        }
        scores.decode(&self.shape, w, y);
        for ((row, &label), saved) in scores.nodes.chunks_exact_mut(k).zip(truth).zip(&*saved) {
            row[label as usize] = *saved;
        }
        if saved.len() > MOST_SAVED {
            *saved = Vec::new();
        }
    }

    #[cfg(feature = "unstable")]
    fn oracle_by_loss(
        &self,
        i: usize,
        w: &[f64],
        value: &dyn Fn(f64, f64) -> f64,
        workspace: &mut ChainWorkspace,
        y: &mut Vec<u32>,
    ) -> bool {
        self.best_by_loss(i, w, value, workspace, y)
    }
}

impl CheckPoints for Chain {
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
