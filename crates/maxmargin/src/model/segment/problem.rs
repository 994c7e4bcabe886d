//! The semi-Markov chain as a structured problem.

use super::data::{Segment, Segmentations};
use super::search::{SegmentScores, SegmentSearch};
use super::shape::SegmentShape;
use crate::model::InputError;
use crate::model::rows::{Row, add_scores};
use crate::problem::bounds::Bounds;
use crate::problem::parts::{parts_of_psi, scatter_into};
use crate::problem::quality::PointCheck;
use crate::problem::sparse::{Sink, SparseVec};
use crate::problem::sparse_accumulator::SparseAccumulator;
use crate::problem::{Abilities, CheckPoints, Parts, Problem, Target, Truths};

/// Sequences that are cut into segments as training data.
///
/// The loss is the share of tokens that have a wrong label, or that wrongly begin or wrongly continue a
/// segment. It is their number if it is not normalised.
/// Tokens can count by their true label ([`with_label_weights`](Self::with_label_weights)).
///
/// ```
/// use maxmargin::model::segment::{Segment, SegmentChain, SegmentShape, Segmentations};
/// use maxmargin::{Settings, train};
///
/// // Words of one letter, again and again: segments of label 0 have two tokens, those of label 1 three.
/// let mut data = Segmentations::new();
/// for _ in 0..5 {
///     data.push_token([])?;
/// }
/// let truth = [Segment { length: 2, label: 0 }, Segment { length: 3, label: 1 }];
/// data.end_sequence(&truth, 1.0)?;
/// let shape =
///     SegmentShape { labels: 2, longest: data.longest(), ..SegmentShape::default() };
/// let chain = SegmentChain::new(shape, data, true)?;
/// let solution = train(&chain, &Settings { lambda: Some(0.01), ..Settings::default() })?;
/// assert_eq!(chain.predict(&solution.weights)[0], truth);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct SegmentChain {
    shape: SegmentShape,
    data: Segmentations,
    /// For each token of all sequences, its true label, and whether it is the first of its segment.
    tokens: Vec<(u32, bool)>,
    /// The index of the first token of each sequence.
    starts: Vec<usize>,
    normalised: bool,
    /// What a wrong token costs by its true label; 1 where there is none.
    label_weights: Vec<f64>,
    bounds: Option<Bounds>,
}

/// Scratch memory of a [`SegmentChain`], for one thread.
#[derive(Debug, Clone, Default)]
pub struct SegmentWorkspace {
    /// Scores of the labels of each token.
    nodes: Vec<f64>,
    /// Scores of the labels of the token at hand, as the first one of a segment.
    firsts: Vec<f64>,
    /// The score of each segment, at (start · longest + length − 1) · labels + label. Segments that go
    /// beyond the end of the sequence have no meaning.
    segments: Vec<f64>,
    transitions: Vec<f64>,
    augmented: Vec<f64>,
    search: SegmentSearch,
    sums: SparseAccumulator,
}

/// A part of an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Segment {
        start: usize,
        length: usize,
        label: usize,
    },
    /// The labels of the segments before and after a place.
    Pair {
        start: usize,
        first: usize,
        second: usize,
    },
}

impl SegmentChain {
    /// Creates a problem from data and shape. A sequence that was not ended is left out.
    ///
    /// # Errors
    /// If the data do not fit the shape.
    pub fn new(
        shape: SegmentShape,
        data: Segmentations,
        normalised: bool,
    ) -> Result<Self, InputError> {
        let SegmentShape { labels, longest, .. } = shape;
        let stride = longest.checked_add(labels).and_then(|sum| sum.checked_mul(labels));
        if labels == 0 || longest == 0 || stride.is_none_or(|stride| stride >= 1 << 32) {
            let needed =
                "a semi-Markov chain needs labels and a length of at least 1, and fewer weights";
            return Err(InputError::structure(needed));
        }
        let found = data.attribute_bounds();
        let known = (shape.token_attributes, shape.segment_attributes);
        for (what, found, attributes) in
            [("tokens", found.0, known.0), ("segments", found.1, known.1)]
        {
            if found > attributes {
                let what = format!("{what} have {found} attributes");
                return Err(InputError::Structure(format!(
                    "{what}, but there are only {attributes}"
                )));
            }
        }
        let (mut tokens, mut starts) = (Vec::new(), Vec::new());
        for sequence in 0..data.len() {
            starts.push(tokens.len());
            for &Segment { length, label } in data.truth(sequence) {
                if label as usize >= labels {
                    return Err(InputError::label(format!("sequence {sequence}"), label, labels));
                }
                if length as usize > longest {
                    let what = format!("sequence {sequence} has a segment of {length} tokens");
                    let message = format!("{what}, but the longest can have {longest}");
                    return Err(InputError::Structure(message));
                }
                tokens.extend((0..length).map(|t| (label, t == 0)));
            }
        }
        let label_weights = Vec::new();
        Ok(Self { shape, data, tokens, starts, normalised, label_weights, bounds: None })
    }

    /// The same problem with a loss in which a wrong token costs what its true label says: `weights[label]`, or 1
    /// if there are none.
    ///
    /// ```
    /// use maxmargin::Problem as _;
    /// use maxmargin::model::segment::{Segment, SegmentChain, SegmentShape, Segmentations};
    ///
    /// let mut data = Segmentations::new();
    /// data.push_token([])?;
    /// data.push_token([])?;
    /// let truth = [Segment { length: 1, label: 0 }, Segment { length: 1, label: 1 }];
    /// data.end_sequence(&truth, 1.0)?;
    /// let shape = SegmentShape { labels: 2, longest: 1, ..SegmentShape::default() };
    /// let chain = SegmentChain::new(shape, data, true)?.with_label_weights(vec![1.0, 5.0])?;
    /// assert_eq!(chain.loss(0, &vec![truth[0], truth[0]]), 2.5); // label 1 missed at one of two tokens
    /// # Ok::<(), maxmargin::model::InputError>(())
    /// ```
    ///
    /// # Errors
    /// If a weight is negative, infinite or NaN, or if their number is not that of the labels.
    pub fn with_label_weights(self, weights: Vec<f64>) -> Result<Self, InputError> {
        InputError::check_label_weights(&weights, self.shape.labels)?;
        Ok(Self { label_weights: weights, ..self })
    }

    /// The same problem with bounds on its weights. Training refuses bounds whose number is not the
    /// number of weights.
    #[must_use]
    pub fn with_bounds(self, bounds: Option<Bounds>) -> Self {
        Self { bounds, ..self }
    }

    /// The shape of the weights.
    pub fn shape(&self) -> &SegmentShape {
        &self.shape
    }

    /// The data.
    pub fn data(&self) -> &Segmentations {
        &self.data
    }

    /// Predicts the segments of all sequences.
    ///
    /// # Panics
    /// If there are too few weights.
    pub fn predict(&self, w: &[f64]) -> Vec<Vec<Segment>> {
        let (mut workspace, mut y) = (self.workspace(), Vec::new());
        let mut predict = |i| {
            self.prepare(i, w, &mut workspace);
            self.decode(i, w, &mut workspace, &mut y);
            y.clone()
        };
        (0..self.examples()).map(&mut predict).collect()
    }

    /// For each token and label of sequence `i`, the score of the best segments that give the token this label;
    /// labels are side by side. [`prepare`](Parts::prepare) comes first.
    ///
    /// ```
    /// use maxmargin::{Problem as _, ProblemExt as _};
    /// use maxmargin::model::segment::{Segment, SegmentChain, SegmentShape, Segmentations};
    ///
    /// let mut data = Segmentations::new();
    /// data.push_token([(0, 1.0)])?;
    /// data.push_token([(0, -1.0)])?;
    /// data.end_sequence(&[Segment { length: 2, label: 0 }], 1.0)?;
    /// let shape = SegmentShape { labels: 2, token_attributes: 1, longest: 2, ..Default::default() };
    /// let chain = SegmentChain::new(shape, data, true)?;
    /// // Label 1 likes tokens with the attribute, and nothing else counts.
    /// let w = [0.0, 1.0,  0.0, 0.0, 0.0, 0.0,  0.0, 0.0, 0.0, 0.0];
    /// let mut workspace = chain.workspace();
    /// chain.prepare(0, &w, &mut workspace);
    /// assert_eq!(chain.max_marginals(0, &mut workspace), [0.0, 1.0,  1.0, 0.0]);
    /// # Ok::<(), maxmargin::model::InputError>(())
    /// ```
    ///
    /// # Panics
    /// If the workspace was not prepared for this sequence.
    pub fn max_marginals(&self, i: usize, workspace: &mut SegmentWorkspace) -> Vec<f64> {
        let SegmentWorkspace { segments, transitions, search, .. } = workspace;
        search.max_marginals(self.scores(i, segments, transitions))
    }

    /// The number of coordinates of the parts at one place: pairs first, then segments that begin there.
    fn stride(&self) -> u64 {
        (self.shape.labels * (self.shape.labels + self.shape.longest)) as u64
    }

    pub(super) fn part(&self, id: u64) -> Part {
        let labels = self.shape.labels;
        let (start, rest) = ((id / self.stride()) as usize, (id % self.stride()) as usize);
        match rest.checked_sub(labels * labels) {
            None => Part::Pair { start, first: rest / labels, second: rest % labels },
            Some(at) => Part::Segment { start, length: at / labels + 1, label: at % labels },
        }
    }

    fn push_parts(&self, y: &[Segment], parts: &mut SparseVec) {
        let labels = self.shape.labels as u64;
        let (mut start, mut before) = (0, None);
        for &Segment { length, label } in y {
            let (length, label) = (u64::from(length), u64::from(label));
            let first = start * self.stride();
            if let Some(before) = before {
                parts.push(first + before * labels + label, 1.0);
            }
            parts.push(first + labels * labels + (length - 1) * labels + label, 1.0);
            start += length;
            before = Some(label);
        }
    }

    /// The largest number of tokens that a segment of sequence `i` can have.
    fn longest(&self, i: usize) -> usize {
        self.shape.longest.min(self.data.tokens(i))
    }

    /// The cost of a token that is wrong, whose label has the weight 1.
    fn cost(&self, i: usize) -> f64 {
        if self.normalised { 1.0 / self.data.tokens(i) as f64 } else { 1.0 }
    }

    /// The weight of token `t` of sequence `i` if it is wrong with this label, as the first of a segment or not;
    /// else 0.
    #[inline]
    fn mistake(&self, i: usize, t: usize, label: usize, is_first: bool) -> f64 {
        let truth = self.tokens[self.starts[i] + t];
        match truth == (label as u32, is_first) {
            true => 0.0,
            false => self.label_weights.get(truth.0 as usize).copied().unwrap_or(1.0),
        }
    }

    /// The loss of a segment.
    pub(super) fn segment_loss(&self, i: usize, start: usize, length: usize, label: usize) -> f64 {
        let mistake = |t: usize| self.mistake(i, t, label, t == start);
        self.cost(i) * (start..start + length).map(mistake).sum::<f64>()
    }

    fn scores<'a>(&self, i: usize, segments: &'a [f64], pairs: &'a [f64]) -> SegmentScores<'a> {
        SegmentScores {
            tokens: self.data.tokens(i),
            labels: self.shape.labels,
            longest: self.longest(i),
            segments,
            transitions: pairs,
        }
    }

    fn scatter_into<S: Sink + ?Sized>(
        &self,
        i: usize,
        scale: f64,
        parts: &SparseVec,
        sink: &mut S,
    ) {
        let labels = self.shape.labels;
        let (of_segments, of_lengths) = (self.shape.segments().start, self.shape.lengths().start);
        for &(id, mass) in parts.entries() {
            let change = scale * mass;
            let mut add = |row: Row<'_>, first: usize, label: usize| {
                for (attribute, value) in row.pairs() {
                    sink.add(first + attribute as usize * labels + label, change * value);
                }
            };
            match self.part(id) {
                Part::Segment { start, length, label } => {
                    (start..start + length).for_each(|t| add(self.data.token(i, t), 0, label));
                    if self.shape.firsts {
                        add(self.data.token(i, start), self.shape.firsts().start, label);
                    }
                    if let Some(row) = self.data.segment(i, start, length) {
                        add(row, of_segments, label);
                    }
                    sink.add(of_lengths + (length - 1) * labels + label, change);
                }
                Part::Pair { first, second, .. } => {
                    sink.add(self.shape.transitions().start + first * labels + second, change);
                }
            }
        }
    }
}

impl Problem for SegmentChain {
    type Output = Vec<Segment>;
    type Workspace = SegmentWorkspace;

    fn examples(&self) -> usize {
        self.data.len()
    }

    fn dim(&self) -> usize {
        self.shape.dim()
    }

    fn workspace(&self) -> SegmentWorkspace {
        SegmentWorkspace {
            sums: SparseAccumulator::new(self.shape.dim()),
            ..SegmentWorkspace::default()
        }
    }

    fn oracle(&self, i: usize, _: &[f64], workspace: &mut SegmentWorkspace, y: &mut Vec<Segment>) {
        let SegmentWorkspace { segments, transitions, augmented, search, .. } = workspace;
        let (tokens, cost) = (self.data.tokens(i), self.cost(i));
        let (labels, longest) = (self.shape.labels, self.longest(i));
        augmented.clone_from(segments);
        for start in 0..tokens {
            for label in 0..labels {
                let mut wrong = 0.0;
                for length in 1..=longest.min(tokens - start) {
                    let t = start + length - 1;
                    wrong += self.mistake(i, t, label, t == start);
                    augmented[(start * longest + length - 1) * labels + label] += cost * wrong;
                }
            }
        }
        search.run(self.scores(i, augmented, transitions), y);
    }

    fn decode(&self, i: usize, _: &[f64], workspace: &mut SegmentWorkspace, y: &mut Vec<Segment>) {
        let SegmentWorkspace { segments, transitions, search, .. } = workspace;
        search.run(self.scores(i, segments, transitions), y);
    }

    fn loss(&self, i: usize, y: &Vec<Segment>) -> f64 {
        let mut start = 0;
        let mut loss = 0.0;
        for &Segment { length, label } in y {
            loss += self.segment_loss(i, start, length as usize, label as usize);
            start += length as usize;
        }
        loss
    }

    fn psi(&self, i: usize, y: &Vec<Segment>, psi: &mut SparseVec) {
        self.scatter_into(i, 1.0, &parts_of_psi(self, i, y), psi);
    }

    fn weight(&self, i: usize) -> f64 {
        self.data.weight(i)
    }

    fn bounds(&self) -> Option<&Bounds> {
        self.bounds.as_ref()
    }

    #[inline]
    fn abilities(&self) -> Abilities<'_, SegmentWorkspace, Vec<Segment>> {
        Abilities {
            parts: Some(self),
            truths: Some(self),
            points: Some(self),
            is_trusted: true,
            ..Abilities::none()
        }
    }
}

impl Parts for SegmentChain {
    fn prepare(&self, i: usize, w: &[f64], workspace: &mut SegmentWorkspace) {
        let SegmentWorkspace { nodes, firsts, segments, transitions, .. } = workspace;
        let (labels, longest) = (self.shape.labels, self.longest(i));
        let tokens = self.data.tokens(i);
        nodes.clear();
        nodes.resize(tokens * labels, 0.0);
        for (t, sums) in nodes.chunks_exact_mut(labels).enumerate() {
            add_scores(w, self.data.token(i, t), sums);
        }
        segments.clear();
        segments.resize(tokens * longest * labels, 0.0);
        let lengths = &w[self.shape.lengths()];
        firsts.clear();
        firsts.resize(labels, 0.0);
        for start in 0..tokens {
            if self.shape.firsts {
                firsts.fill(0.0);
                add_scores(&w[self.shape.firsts()], self.data.token(i, start), firsts);
            }
            for label in 0..labels {
                let mut sum = firsts[label];
                for length in 1..=longest.min(tokens - start) {
                    sum += nodes[(start + length - 1) * labels + label];
                    let own = (length - 1) * labels + label;
                    segments[start * longest * labels + own] = sum + lengths[own];
                }
            }
        }
        let weights = &w[self.shape.segments()];
        for (start, length, row) in self.data.segments(i).filter(|(_, l, _)| *l <= longest) {
            let first = (start * longest + length - 1) * labels;
            add_scores(weights, row, &mut segments[first..first + labels]);
        }
        transitions.clear();
        transitions.extend_from_slice(&w[self.shape.transitions()]);
    }

    fn parts(&self, _: usize, y: &Vec<Segment>, parts: &mut SparseVec) {
        self.push_parts(y, parts);
    }

    fn truth_parts(&self, i: usize, parts: &mut SparseVec) {
        self.push_parts(self.data.truth(i), parts);
    }

    fn score(&self, i: usize, _: &[f64], workspace: &SegmentWorkspace, parts: &SparseVec) -> f64 {
        let (labels, longest) = (self.shape.labels, self.longest(i));
        let score = |&(id, mass): &(u64, f64)| match self.part(id) {
            Part::Segment { start, length, label } => {
                mass * workspace.segments[(start * longest + length - 1) * labels + label]
            }
            Part::Pair { first, second, .. } => {
                mass * workspace.transitions[first * labels + second]
            }
        };
        parts.entries().iter().map(score).sum()
    }

    fn norm_sq(&self, i: usize, workspace: &mut SegmentWorkspace, parts: &SparseVec) -> f64 {
        workspace.sums.clear();
        self.scatter_into(i, 1.0, parts, &mut workspace.sums);
        workspace.sums.norm_sq()
    }

    fn scatter(&self, i: usize, scale: f64, parts: &SparseVec, target: Target<'_>) {
        scatter_into!(target, sink => self.scatter_into(i, scale, parts, sink));
    }
}

impl Truths for SegmentChain {
    fn truth(&self, i: usize) -> Vec<Segment> {
        self.data.truth(i).to_vec()
    }
}

impl CheckPoints for SegmentChain {
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
