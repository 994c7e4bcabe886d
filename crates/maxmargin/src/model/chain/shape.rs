//! Which features a chain has, where they lie in w, and how w scores a sequence.

use super::sequences::Sequence;
use crate::model::InputError;
use crate::model::rows::add_scores;
use std::ops::Range;

/// The groups of features of a chain; each can be switched off.
///
/// ```
/// use maxmargin::model::chain::{ChainShape, FeatureGroups};
///
/// let groups = FeatureGroups { first: false, last: false, ..FeatureGroups::default() };
/// let shape = ChainShape { groups, ..ChainShape::new(3, 10) };
/// assert_eq!(shape.dim(), 10 * 3 + 3 * 3 + 3);
/// assert!(shape.first().is_empty());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct FeatureGroups {
    /// One weight per attribute and label. Default: yes.
    pub emission: bool,
    /// One weight per pair of neighbouring labels. Default: yes.
    pub transition: bool,
    /// One weight per label. Default: yes.
    pub bias: bool,
    /// One weight per label of the first token. Default: yes.
    pub first: bool,
    /// One weight per label of the last token. Default: yes.
    pub last: bool,
}

impl Default for FeatureGroups {
    fn default() -> Self {
        Self { emission: true, transition: true, bias: true, first: true, last: true }
    }
}

/// The shape of a chain's weights: numbers of labels and attributes, and the groups of features.
///
/// The weights of emissions come first in w, attribute by attribute, with all labels side by side, so
/// that the scores of a token are sums of contiguous rows. Then come transitions (the row is the earlier
/// label), biases, first and last.
///
/// Transitions, biases, first and last have no attributes: their features are constants, of the value
/// [`transition_scale`](Self::transition_scale).
///
/// ```
/// use maxmargin::model::chain::ChainShape;
/// assert_eq!(ChainShape::new(26, 128).dim(), 4082); // OCR: 128·26 + 26·26 + 3·26
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct ChainShape {
    /// Number of labels K ≥ 1.
    pub labels: usize,
    /// Number of attributes.
    pub attributes: usize,
    /// The groups of features.
    pub groups: FeatureGroups,
    /// The value of the constant features, which their weights are multiplied by in every score: κ > 0. The
    /// larger it is, the less λ holds transitions back against attributes. Default: 1.
    #[cfg_attr(feature = "serde", serde(default = "one", skip_serializing_if = "is_one"))]
    pub transition_scale: f64,
}

#[cfg(feature = "serde")]
const fn one() -> f64 {
    1.0
}

#[cfg(feature = "serde")]
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_one(scale: &f64) -> bool {
    *scale == 1.0
}

impl ChainShape {
    /// A chain with all groups of features. Change [`groups`](Self::groups) to leave some out.
    pub fn new(labels: usize, attributes: usize) -> Self {
        Self { labels, attributes, groups: FeatureGroups::default(), transition_scale: 1.0 }
    }

    /// Refuses a value of constant features that is not a positive number, or whose square is none.
    pub(crate) fn check_scale(&self) -> Result<(), InputError> {
        let value = self.transition_scale;
        if value > 0.0 && (value * value).is_normal() {
            return Ok(());
        }
        let needed = "the scale of transitions must be a positive number";
        Err(InputError::Structure(format!("{needed}, not {value}")))
    }

    /// Number of features, the length of w.
    pub fn dim(&self) -> usize {
        self.last().end
    }

    fn after(&self, before: usize, present: bool, size: usize) -> Range<usize> {
        before..before + if present { size } else { 0 }
    }

    /// The range of the emission weights. The weight of attribute `a` with label `y` is at `a * labels +
    /// y` in it.
    ///
    /// ```
    /// let shape = maxmargin::model::chain::ChainShape::new(2, 4);
    /// assert_eq!(shape.emission(), 0..8);
    /// ```
    pub fn emission(&self) -> Range<usize> {
        self.after(0, self.groups.emission, self.attributes * self.labels)
    }

    /// The range of the transition weights. The weight of `y` followed by `z` is at `y * labels + z` in
    /// it. This range and those of the other groups are empty if the group is off.
    ///
    /// ```
    /// let shape = maxmargin::model::chain::ChainShape::new(2, 4);
    /// let mut w = vec![0.0; shape.dim()];
    /// w[shape.transition()][0 * shape.labels + 1] = -1.0; // label 0, then label 1
    /// assert_eq!((shape.transition(), w[9]), (8..12, -1.0));
    /// ```
    pub fn transition(&self) -> Range<usize> {
        self.after(self.emission().end, self.groups.transition, self.labels * self.labels)
    }

    /// The range of the biases, label by label.
    ///
    /// ```
    /// let shape = maxmargin::model::chain::ChainShape::new(2, 4);
    /// assert_eq!((shape.bias(), shape.first(), shape.last()), (12..14, 14..16, 16..18));
    /// ```
    pub fn bias(&self) -> Range<usize> {
        self.after(self.transition().end, self.groups.bias, self.labels)
    }

    /// The range of the weights of the first label, label by label.
    pub fn first(&self) -> Range<usize> {
        self.after(self.bias().end, self.groups.first, self.labels)
    }

    /// The range of the weights of the last label, label by label.
    pub fn last(&self) -> Range<usize> {
        self.after(self.first().end, self.groups.last, self.labels)
    }

    /// All groups by name. Groups that are off have empty ranges.
    ///
    /// ```
    /// let shape = maxmargin::model::chain::ChainShape::new(2, 4);
    /// assert_eq!(shape.named_groups()[1], ("transition", 8..12));
    /// ```
    pub fn named_groups(&self) -> [(&'static str, Range<usize>); 5] {
        [
            ("emission", self.emission()),
            ("transition", self.transition()),
            ("bias", self.bias()),
            ("first", self.first()),
            ("last", self.last()),
        ]
    }

    /// The scores of pairs of labels under the weights `w`: the transition weights times
    /// [`transition_scale`](Self::transition_scale). `scaled` is overwritten unless that is 1.
    #[inline]
    pub(crate) fn transition_scores<'a>(
        &self,
        w: &'a [f64],
        scaled: &'a mut Vec<f64>,
    ) -> &'a [f64] {
        let transition = &w[self.transition()];
        if self.transition_scale == 1.0 {
            return transition;
        }
        scaled.clear();
        scaled.extend(transition.iter().map(|weight| self.transition_scale * weight));
        scaled
    }

    /// Computes the node scores of a sequence: one row of K scores per token. The first and the last row
    /// include the weights of the first and the last label.
    ///
    /// ```
    /// use maxmargin::model::chain::{ChainShape, Sequences};
    ///
    /// let shape = ChainShape::new(2, 1);
    /// let mut w = vec![0.0; shape.dim()];
    /// w[shape.emission()].copy_from_slice(&[-1.0, 1.0]);
    /// w[shape.last()].copy_from_slice(&[0.5, 0.0]);
    /// let mut data = Sequences::new();
    /// data.push_token([(0, 1.0)], 0)?;
    /// data.push_token([(0, 3.0)], 0)?;
    /// data.end_sequence(1.0)?;
    ///
    /// let mut scores = Vec::new();
    /// shape.score_nodes(&w, data.sequence(0), &mut scores);
    /// assert_eq!(scores, [-1.0, 1.0, -2.5, 3.0]);
    /// # Ok::<(), maxmargin::model::InputError>(())
    /// ```
    ///
    /// # Panics
    /// If `w` has fewer than [`dim`](Self::dim) entries, or if the shape has emission weights but not for
    /// some attribute.
    pub fn score_nodes(&self, w: &[f64], sequence: Sequence<'_>, scores: &mut Vec<f64>) {
        let emission = &w[self.emission()];
        self.score_nodes_with(w, sequence.len(), scores, |scores| {
            let rows = scores.chunks_exact_mut(self.labels);
            for (token, row) in sequence.tokens().zip(rows).filter(|_| !emission.is_empty()) {
                add_scores(emission, token, row);
            }
        });
    }

    /// Like [`score_nodes`](Self::score_nodes), but `emit` adds the scores of the inputs.
    #[inline]
    pub(super) fn score_nodes_with(
        &self,
        w: &[f64],
        length: usize,
        scores: &mut Vec<f64>,
        emit: impl FnOnce(&mut [f64]),
    ) {
        let k = self.labels;
        scores.clear();
        scores.resize(length * k, 0.0);
        let (bias, value) = (&w[self.bias()], self.transition_scale);
        if !bias.is_empty() {
            let (first, others) = scores.split_at_mut(k);
            add(first, value, bias);
            others.chunks_exact_mut(k).for_each(|row| row.copy_from_slice(first));
        }
        emit(scores);
        add(&mut scores[..k], value, &w[self.first()]);
        let last = scores.len() - k;
        add(&mut scores[last..], value, &w[self.last()]);
    }

    /// Whether sequences of so many tokens are decoded in little memory.
    pub(super) fn is_taken_in_pieces(&self, length: usize) -> bool {
        length > LONG && self.labels < FEW
    }
}

/// Adds `value` · `other` to the front of `row`; `other` may be empty.
pub(super) fn add(row: &mut [f64], value: f64, other: &[f64]) {
    for (x, y) in row.iter_mut().zip(other) {
        *x += value * y;
    }
}

/// A sequence of more tokens than this is decoded in little memory, if it has fewer labels than that. It takes twice the
/// time, which does not matter beside that of the scores as long as labels are few.
const LONG: usize = 1 << 16;
const FEW: usize = 8;
