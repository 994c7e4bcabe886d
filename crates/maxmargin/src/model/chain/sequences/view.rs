//! A view of one sequence.

use super::Sequences;
use crate::model::rows::Row;
use crate::util::prefetch::prefetch;
use std::ops::Range;

/// The first token and the first attribute entry of a sequence.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Start {
    pub(super) token: usize,
    pub(super) entry: usize,
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
/// # Ok::<(), maxmargin::model::InputError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Sequence<'a> {
    pub(super) data: &'a Sequences,
    pub(super) start: Start,
    pub(super) end: Start,
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
    pub fn token(&self, t: usize) -> Row<'a> {
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
    pub fn tokens(&self) -> impl ExactSizeIterator<Item = Row<'a>> + use<'a> {
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
