//! The scores of the nodes of one sequence, of all or of a few, and its best labelling.

use super::parts::{self, Part};
use super::sequences::Sequence;
use super::shape::{ChainShape, add};
use crate::inference::viterbi::{viterbi, viterbi_in_pieces};
use crate::model::rows::{add_scores, add_scores_of};
use crate::problem::sparse::SparseVec;

/// With so many labels, the scores of a few labels are found sooner one by one than in the row of all labels.
const MANY_LABELS: usize = 16;

/// The memory of decoding is given back if it has more numbers than this, which is 8 MB.
const MOST_KEPT: usize = 1 << 20;

/// The scores of one sequence and the memory to decode it, for prediction.
///
/// ```
/// use maxmargin::model::chain::{ChainScores, ChainShape, Sequences};
///
/// let shape = ChainShape::new(2, 1);
/// let mut w = vec![0.0; shape.dim()];
/// w[shape.emission()].copy_from_slice(&[-1.0, 1.0]); // attribute 0 favours label 1
/// let mut data = Sequences::new();
/// data.push_token([(0, 1.0)], 0)?;
/// data.push_token([(0, -1.0)], 0)?;
/// data.end_sequence(1.0)?;
///
/// let (mut scores, mut labels) = (ChainScores::default(), Vec::new());
/// scores.fill(&shape, &w, data.sequence(0));
/// scores.decode(&shape, &w, &mut labels);
/// assert_eq!(labels, [1, 0]);
/// # Ok::<(), maxmargin::model::InputError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct ChainScores {
    /// Node scores, one row of K per token.
    pub(super) nodes: Vec<f64>,
    forward: Vec<f64>,
    /// The scores of pairs of labels, if they are not their weights.
    transitions: Vec<f64>,
    /// Which positions, or with many labels which nodes, have scores, if only some of them do.
    is_filled: Vec<bool>,
}

impl ChainScores {
    /// Computes the node scores of a sequence under the weights `w`, as
    /// [`ChainShape::score_nodes`] does.
    ///
    /// # Panics
    /// The same as for [`ChainShape::score_nodes`].
    pub fn fill(&mut self, shape: &ChainShape, w: &[f64], sequence: Sequence<'_>) {
        shape.score_nodes(w, sequence, &mut self.nodes);
    }

    /// Like [`fill`](Self::fill), but only for positions at which some of the points, whose entries are sorted, have nodes,
    /// and where labels are many, only for the labels of these nodes.
    pub(super) fn fill_at(
        &mut self,
        shape: &ChainShape,
        w: &[f64],
        sequence: Sequence<'_>,
        points: &[SparseVec],
    ) {
        let (k, length) = (shape.labels, sequence.len());
        let Self { nodes, is_filled, .. } = self;
        nodes.resize(length * k, 0.0);
        is_filled.clear();
        if k >= MANY_LABELS {
            is_filled.resize(length * k, false);
            for point in points {
                fill_nodes_of(shape, w, sequence, point.entries(), (nodes, is_filled));
            }
            return;
        }
        is_filled.resize(length, false);
        let emission = &w[shape.emission()];
        let constants = Constants::of(shape, w);
        let mut fill = |t: usize| {
            if std::mem::replace(&mut is_filled[t], true) {
                return;
            }
            let row = &mut nodes[t * k..][..k];
            row.fill(0.0);
            add(row, constants.value, constants.bias);
            if !emission.is_empty() {
                add_scores(emission, sequence.token(t), row);
            }
            for ends in constants.ends(t, length) {
                add(row, constants.value, ends);
            }
        };
        points.iter().for_each(|point| parts::for_each_position(point.entries(), &mut fill));
    }

    /// Like [`fill`](Self::fill), but `emit` adds the scores of the inputs.
    pub(crate) fn fill_with(
        &mut self,
        shape: &ChainShape,
        w: &[f64],
        length: usize,
        emit: impl FnOnce(&mut [f64]),
    ) {
        shape.score_nodes_with(w, length, &mut self.nodes, emit);
    }

    /// Writes the best labelling of the sequence that was passed to [`fill`](Self::fill) to `labels`, and
    /// returns its score. Shape and weights must be the same as in that call.
    ///
    /// ```
    /// # use maxmargin::doc::toy;
    /// use maxmargin::model::chain::ChainScores;
    ///
    /// let chain = toy();
    /// let (mut scores, mut labels) = (ChainScores::default(), Vec::new());
    /// let mut w = vec![0.0; chain.shape().dim()];
    /// w[chain.shape().bias()].copy_from_slice(&[0.0, 0.5]); // favours label 1
    /// scores.fill(chain.shape(), &w, chain.data().sequence(0));
    /// assert_eq!(scores.decode(chain.shape(), &w, &mut labels), 1.5);
    /// assert_eq!(labels, [1, 1, 1]);
    /// ```
    ///
    /// # Panics
    /// If [`fill`](Self::fill) has not been called.
    pub fn decode(&mut self, shape: &ChainShape, w: &[f64], labels: &mut Vec<u32>) -> f64 {
        if shape.is_taken_in_pieces(self.nodes.len() / shape.labels) {
            return self.decode_in_pieces(shape, w, |_, _| {}, labels);
        }
        let (transitions, forward) = (&mut self.transitions, &mut self.forward);
        let transitions = shape.transition_scores(w, transitions);
        let score = viterbi(&self.nodes, transitions, shape.labels, forward, labels);
        if forward.capacity() > MOST_KEPT {
            *forward = Vec::new();
        }
        score
    }

    /// As [`decode`](Self::decode), with little memory beside the scores, if `change` has changed the scores of each
    /// position.
    pub(super) fn decode_in_pieces(
        &mut self,
        shape: &ChainShape,
        w: &[f64],
        change: impl Fn(usize, &mut [f64]),
        labels: &mut Vec<u32>,
    ) -> f64 {
        let (nodes, k) = (&self.nodes, shape.labels);
        let transitions = shape.transition_scores(w, &mut self.transitions);
        let write = |t: usize, row: &mut [f64]| {
            row.copy_from_slice(&nodes[t * k..][..k]);
            change(t, row);
        };
        viterbi_in_pieces(nodes.len() / k, transitions, k, write, labels)
    }
}

/// The weights of the features that have the same value at many positions.
struct Constants<'a> {
    value: f64,
    bias: &'a [f64],
    first: &'a [f64],
    last: &'a [f64],
}

impl<'a> Constants<'a> {
    fn of(shape: &ChainShape, w: &'a [f64]) -> Self {
        let [bias, first, last] =
            [shape.bias(), shape.first(), shape.last()].map(|group| &w[group]);
        Self { value: shape.transition_scale, bias, first, last }
    }

    /// Those of the first and the last label, where position `t` of `length` is the first or the last; each may be empty.
    fn ends(&self, t: usize, length: usize) -> [&'a [f64]; 2] {
        let when = |at_end: bool, weights| if at_end { weights } else { &[][..] };
        [when(t == 0, self.first), when(t + 1 == length, self.last)]
    }
}

/// Computes the scores of the nodes among these entries that are not filled yet, with the bits of those of all nodes.
fn fill_nodes_of(
    shape: &ChainShape,
    w: &[f64],
    sequence: Sequence<'_>,
    mut entries: &[(u64, f64)],
    (nodes, is_filled): (&mut [f64], &mut [bool]),
) {
    let (k, length) = (shape.labels, sequence.len());
    let emission = &w[shape.emission()];
    let constants = Constants::of(shape, w);
    while let Some(&(id, _)) = entries.first() {
        let Part::Node { t, .. } = parts::decode(id) else {
            entries = &entries[1..];
            continue;
        };
        let own = parts::nodes_at(t, entries);
        entries = &entries[own.len()..];
        let (row, is_filled) = (&mut nodes[t * k..][..k], &mut is_filled[t * k..][..k]);
        let mut missing = own.iter().map(|&(id, _)| parts::label(id)).filter(|&y| !is_filled[y]);
        // Two at a time: most positions at which a corner differs have its label and that of the truth.
        while let Some(y) = missing.next() {
            let labels = [y, missing.next().unwrap_or(y)];
            let constant = |weights: &[f64], y: usize| {
                weights.get(y).map_or(0.0, |weight| constants.value * weight)
            };
            let mut sums = labels.map(|y| 0.0 + constant(constants.bias, y));
            if !emission.is_empty() {
                add_scores_of(emission, k, sequence.token(t), labels, &mut sums);
            }
            for ends in constants.ends(t, length).into_iter().filter(|ends| !ends.is_empty()) {
                sums.iter_mut().zip(labels).for_each(|(sum, y)| *sum += constant(ends, y));
            }
            labels.into_iter().zip(sums).for_each(|(y, sum)| row[y] = sum);
        }
        own.iter().for_each(|&(id, _)| is_filled[parts::label(id)] = true);
    }
}
