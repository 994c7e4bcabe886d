//! Labelled sequences in index form, for training and prediction.

use crate::model::rows::{NotFinite, Row, Rows};
use crate::util::prefetch::prefetch;
use std::ops::Range;
use thiserror::Error;

/// Why a token or a sequence cannot be added.
///
/// ```
/// use maxmargin::model::chain::{SequenceError, Sequences};
///
/// let mut data = Sequences::new();
/// assert_eq!(data.end_sequence(1.0), Err(SequenceError::Empty));
/// assert_eq!(
///     data.push_token([(7, f64::INFINITY)], 0).unwrap_err().to_string(),
///     "attribute 7 has the value inf; a finite number is needed"
/// );
/// ```
#[derive(Debug, Error, Clone, PartialEq)]
#[non_exhaustive]
pub enum SequenceError {
    /// An attribute value that is NaN or infinite.
    #[error("attribute {attribute} has the value {value}; a finite number is needed")]
    Value {
        /// Index of the attribute.
        attribute: u32,
        /// The offending value.
        value: f64,
    },
    /// A sequence was ended before it had a token.
    #[error("a sequence needs at least one token")]
    Empty,
    /// An example weight that is not a positive finite number.
    #[error("the example weight is {0}; a positive finite number is needed")]
    Weight(f64),
    /// The cost of a mistake is negative or not finite.
    #[error("the cost of a mistake is {0}; a finite number ≥ 0 is needed")]
    Cost(f64),
}

/// Sequences of tokens. A token has sparse real-valued attributes and a label.
///
/// Everything is stored in a few flat arrays (compressed rows), so a pass over the data reads memory in
/// order. Attributes and labels are plain indices; the code that reads files handles names.
///
/// An attribute may occur several times in one token; its values then add up, as in CRFsuite.
///
/// ```
/// use maxmargin::model::chain::Sequences;
///
/// let mut data = Sequences::new();
/// data.push_token([(0, 1.0), (3, 0.5)], 1)?;   // attributes 0 and 3, label 1
/// data.push_token([], 0)?;                     // no attributes at all, label 0
/// data.end_sequence(1.0)?;                     // example weight 1
/// assert_eq!(data.len(), 1);
/// assert_eq!(data.sequence(0).labels(), [1, 0]);
/// # Ok::<(), maxmargin::model::chain::SequenceError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Sequences {
    /// First token and first attribute entry of each sequence, and one past the last of both.
    starts: Vec<Start>,
    /// The attributes of each token.
    rows: Rows,
    labels: Vec<u32>,
    /// One weight per sequence, or empty while every weight is 1.
    weights: Vec<f64>,
    /// The cost of a mistake at each token, or empty while every cost is 1.
    costs: Vec<f64>,
}

impl Default for Sequences {
    fn default() -> Self {
        Self::new()
    }
}

/// The first token and the first attribute entry of a sequence.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Start {
    token: usize,
    entry: usize,
}

impl Sequences {
    /// An empty collection.
    pub fn new() -> Self {
        Self {
            starts: vec![Start::default()],
            rows: Rows::default(),
            labels: Vec::new(),
            weights: Vec::new(),
            costs: Vec::new(),
        }
    }

    /// Adds a token with its attributes `(index, value)` and its label to the open sequence.
    ///
    /// Any index is accepted here; [`Chain::new`](super::Chain::new) checks that labels and attributes
    /// fit a shape.
    ///
    /// ```
    /// use maxmargin::model::chain::Sequences;
    ///
    /// let mut data = Sequences::new();
    /// data.push_token([(2, 1.0), (5, -0.5)], 1)?;
    /// assert!(data.push_token([(2, f64::NAN)], 0).is_err());
    /// assert_eq!(data.open_tokens(), 1);
    /// # Ok::<(), maxmargin::model::chain::SequenceError>(())
    /// ```
    ///
    /// # Errors
    /// If a value is NaN or infinite. The token is not added then.
    pub fn push_token(
        &mut self,
        attributes: impl IntoIterator<Item = (u32, f64)>,
        label: u32,
    ) -> Result<(), SequenceError> {
        self.push_weighted_token(attributes, label, 1.0)
    }

    /// Like [`push_token`](Self::push_token), but a mistake at this token costs `cost` times as much as
    /// by default: see [`Hamming`](crate::model::chain::Hamming).
    ///
    /// ```
    /// use maxmargin::model::chain::Sequences;
    ///
    /// let mut data = Sequences::new();
    /// data.push_token([(2, 1.0)], 1)?;
    /// data.push_weighted_token([(2, 1.0)], 0, 3.5)?;
    /// assert!(data.push_weighted_token([], 0, -1.0).is_err());
    /// data.end_sequence(1.0)?;
    /// assert_eq!((data.sequence(0).cost(0), data.sequence(0).cost(1)), (1.0, 3.5));
    /// # Ok::<(), maxmargin::model::chain::SequenceError>(())
    /// ```
    ///
    /// # Errors
    /// If a value is NaN or infinite, or if the cost is not a finite number ≥ 0. The token is not added
    /// then.
    pub fn push_weighted_token(
        &mut self,
        attributes: impl IntoIterator<Item = (u32, f64)>,
        label: u32,
        cost: f64,
    ) -> Result<(), SequenceError> {
        if !(cost >= 0.0 && cost.is_finite()) {
            return Err(SequenceError::Cost(cost));
        }
        let refuse = |NotFinite { attribute, value }| SequenceError::Value { attribute, value };
        self.rows.push(attributes).map_err(refuse)?;
        if cost != 1.0 && self.costs.is_empty() {
            self.costs.resize(self.labels.len(), 1.0);
        }
        if cost != 1.0 || !self.costs.is_empty() {
            self.costs.push(cost);
        }
        self.labels.push(label);
        Ok(())
    }

    /// Closes the open sequence and gives it an example weight.
    ///
    /// ```
    /// use maxmargin::model::chain::Sequences;
    ///
    /// let mut data = Sequences::new();
    /// data.push_token([], 0)?;
    /// data.end_sequence(2.0)?; // counts twice
    /// assert_eq!((data.len(), data.weight(0), data.open_tokens()), (1, 2.0, 0));
    /// # Ok::<(), maxmargin::model::chain::SequenceError>(())
    /// ```
    ///
    /// # Errors
    /// If no token was added since the last call, or if the weight is not positive and finite. The
    /// sequence stays open then.
    pub fn end_sequence(&mut self, weight: f64) -> Result<(), SequenceError> {
        if self.open_tokens() == 0 {
            return Err(SequenceError::Empty);
        }
        if !(weight > 0.0 && weight.is_finite()) {
            return Err(SequenceError::Weight(weight));
        }
        if weight != 1.0 && self.weights.is_empty() {
            self.weights.resize(self.len(), 1.0);
        }
        if weight != 1.0 || !self.weights.is_empty() {
            self.weights.push(weight);
        }
        let (token, entry) = (self.labels.len(), self.rows.entries());
        self.starts.push(Start { token, entry });
        Ok(())
    }

    /// Number of tokens pushed since the last sequence was closed.
    pub fn open_tokens(&self) -> usize {
        self.labels.len() - self.last_start()
    }

    fn last_start(&self) -> usize {
        self.starts.last().map_or(0, |start| start.token)
    }

    /// Number of closed sequences.
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Whether there is no closed sequence.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of tokens in all closed sequences.
    pub fn tokens(&self) -> usize {
        self.last_start()
    }

    /// The closed sequence with index `i`.
    ///
    /// ```
    /// # use maxmargin::doc::toy;
    /// let chain = toy();
    /// assert_eq!(chain.data().sequence(1).labels(), [1, 1]);
    /// ```
    ///
    /// # Panics
    /// If `i` is not below [`len`](Self::len).
    #[inline]
    pub fn sequence(&self, i: usize) -> Sequence<'_> {
        Sequence { data: self, start: self.starts[i], end: self.starts[i + 1] }
    }

    /// All closed sequences in order.
    ///
    /// ```
    /// # use maxmargin::doc::toy;
    /// let chain = toy();
    /// let lengths: Vec<_> = chain.data().iter().map(|sequence| sequence.len()).collect();
    /// assert_eq!(lengths, [3, 2, 4, 1]);
    /// ```
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Sequence<'_>> {
        (0..self.len()).map(|i| self.sequence(i))
    }

    /// Example weight of sequence `i`, which must be below [`len`](Self::len).
    pub fn weight(&self, i: usize) -> f64 {
        if self.weights.is_empty() { 1.0 } else { self.weights[i] }
    }

    /// Returns the sequences for whose index `keep` returns `true`, in the same order.
    ///
    /// ```
    /// # use maxmargin::doc::toy;
    /// let all = toy().data().clone();
    /// let some = all.select(|i| i != 1);
    /// assert_eq!(some.len(), 3);
    /// assert_eq!(some.sequence(1).labels(), all.sequence(2).labels());
    /// ```
    #[must_use]
    pub fn select(&self, keep: impl Fn(usize) -> bool) -> Self {
        let mut selected = Self::new();
        for (i, sequence) in self.iter().enumerate().filter(|(i, _)| keep(*i)) {
            for (t, (token, &label)) in sequence.tokens().zip(sequence.labels()).enumerate() {
                // The data were checked when they were added.
                let _ = selected.push_weighted_token(token.pairs(), label, sequence.cost(t));
            }
            let _ = selected.end_sequence(self.weight(i));
        }
        selected
    }

    /// The same sequences with a single attribute per token, `numbers[token]`, whose value is 1. The open
    /// sequence is left out.
    #[must_use]
    pub(crate) fn with_inputs(&self, numbers: &[u32]) -> Self {
        let mut data = Self::new();
        let mut tokens = numbers.iter().zip(&self.labels);
        for (i, sequence) in self.iter().enumerate() {
            for (t, (&number, &label)) in tokens.by_ref().take(sequence.len()).enumerate() {
                // 1 is finite, and costs and weights were checked when they were added.
                let _ = data.push_weighted_token([(number, 1.0)], label, sequence.cost(t));
            }
            let _ = data.end_sequence(self.weight(i));
        }
        data
    }

    /// One more than the largest label, or 0 if there are no tokens. This is the smallest number of
    /// labels that a shape needs. The open sequence counts as well.
    ///
    /// ```
    /// # use maxmargin::doc::toy;
    /// assert_eq!((toy().data().label_bound(), toy().data().attribute_bound()), (2, 4));
    /// ```
    pub fn label_bound(&self) -> usize {
        self.labels.iter().max().map_or(0, |&y| y as usize + 1)
    }

    /// One more than the largest attribute, or 0 if there are no attributes. The open sequence counts as
    /// well.
    pub fn attribute_bound(&self) -> usize {
        self.rows.attribute_bound()
    }
}

/// A view of one sequence of a [`Sequences`].
///
/// ```
/// use maxmargin::model::chain::Sequences;
///
/// let mut data = Sequences::new();
/// data.push_token([(4, 1.0), (2, 0.5)], 1)?;
/// data.push_token([], 0)?;
/// data.end_sequence(1.0)?;
///
/// let sequence = data.sequence(0);
/// assert_eq!((sequence.len(), sequence.entries()), (2, 2));
/// assert_eq!(sequence.labels(), [1, 0]);
/// assert_eq!(sequence.token(0).attributes, [4, 2]);
/// # Ok::<(), maxmargin::model::chain::SequenceError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Sequence<'a> {
    data: &'a Sequences,
    start: Start,
    end: Start,
}

impl<'a> Sequence<'a> {
    /// Number of tokens, at least 1.
    #[expect(clippy::len_without_is_empty, reason = "a sequence is never empty")]
    pub fn len(&self) -> usize {
        self.end.token - self.start.token
    }

    /// The labels of all tokens.
    pub fn labels(&self) -> &'a [u32] {
        &self.data.labels[self.tokens_range()]
    }

    /// The attributes of token `t`, which must be below [`len`](Self::len).
    #[inline]
    pub fn token(&self, t: usize) -> Token<'a> {
        self.data.rows.row(self.start.token + t)
    }

    /// All tokens in order.
    ///
    /// ```
    /// # use maxmargin::doc::toy;
    /// let chain = toy();
    /// let tokens = chain.data().sequence(0).tokens();
    /// assert!(tokens.zip([0, 1, 0]).all(|(token, first)| token.attributes[0] == first));
    /// ```
    pub fn tokens(&self) -> impl ExactSizeIterator<Item = Token<'a>> + use<'a> {
        let view = *self;
        (0..self.len()).map(move |t| view.token(t))
    }

    /// Number of attribute entries of all tokens, counting repeated ones.
    pub fn entries(&self) -> usize {
        self.end.entry - self.start.entry
    }

    /// The factor by which the cost of a mistake at token `t` is multiplied. It is 1 by default.
    ///
    /// # Panics
    /// If there is no such token and any token has a cost other than 1.
    #[inline]
    pub fn cost(&self, t: usize) -> f64 {
        if self.data.costs.is_empty() { 1.0 } else { self.data.costs[self.start.token + t] }
    }

    fn tokens_range(&self) -> Range<usize> {
        self.start.token..self.end.token
    }

    /// Prefetches the memory of this sequence.
    pub(crate) fn prefetch(&self) {
        prefetch(&self.data.labels[self.tokens_range()]);
        self.data.rows.prefetch(self.tokens_range(), self.start.entry..self.end.entry);
    }
}

/// The attributes of one token, in the order in which they were added.
///
/// ```
/// use maxmargin::model::chain::Token;
///
/// let token = Token { attributes: &[4, 2], values: &[] };
/// assert_eq!(token.pairs().collect::<Vec<_>>(), [(4, 1.0), (2, 1.0)]);
/// ```
pub type Token<'a> = Row<'a>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_token_leaves_no_trace() {
        let mut data = Sequences::new();
        data.push_token([(0, 1.0)], 0).unwrap();
        let before = data.clone();
        assert!(matches!(
            data.push_token([(1, 1.0), (2, f64::NAN)], 0),
            Err(SequenceError::Value { attribute: 2, .. })
        ));
        assert_eq!(data, before);
        assert!(data.push_token([(1, 2.0), (2, f64::NAN)], 0).is_err());
        assert_eq!(data, before);
    }

    #[test]
    fn weights_and_empty_sequences_are_checked() {
        let mut data = Sequences::new();
        assert_eq!(data.end_sequence(1.0), Err(SequenceError::Empty));
        data.push_token([], 0).unwrap();
        assert_eq!(data.end_sequence(0.0), Err(SequenceError::Weight(0.0)));
        assert!(data.end_sequence(f64::INFINITY).is_err());
        data.end_sequence(1.0).unwrap();
        data.push_token([], 0).unwrap();
        data.end_sequence(2.0).unwrap();
        assert_eq!((data.weight(0), data.weight(1)), (1.0, 2.0));
    }
}
