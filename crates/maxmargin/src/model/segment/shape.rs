//! The layout of the weights of semi-Markov chains.

use std::ops::Range;

/// The shape of the weights of a semi-Markov chain: those of the attributes of tokens, of the attributes of
/// segments, of lengths, of pairs of neighbouring labels, and perhaps of the attributes of first tokens. In all but
/// those of pairs, the weights of all labels are side by side.
///
/// ```
/// use maxmargin::model::segment::SegmentShape;
///
/// let shape =
///     SegmentShape { labels: 2, token_attributes: 5, segment_attributes: 1, longest: 3, firsts: true };
/// assert_eq!(shape.dim(), 5 * 2 + 1 * 2 + 3 * 2 + 2 * 2 + 5 * 2);
/// assert_eq!((shape.lengths(), shape.transitions()), (12..18, 18..22));
/// assert_eq!(SegmentShape { firsts: false, ..shape }.dim(), 22);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct SegmentShape {
    /// Number of labels.
    pub labels: usize,
    /// Number of attributes of tokens.
    pub token_attributes: usize,
    /// Number of attributes of segments.
    pub segment_attributes: usize,
    /// The largest number of tokens of a segment.
    pub longest: usize,
    /// Whether the first token of a segment has weights of its own, besides those of all tokens. Default: no.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "std::ops::Not::not"))]
    pub firsts: bool,
}

impl SegmentShape {
    /// Number of weights.
    pub fn dim(&self) -> usize {
        self.firsts().end
    }

    /// The range of the weights of attributes of tokens.
    pub fn tokens(&self) -> Range<usize> {
        0..self.token_attributes * self.labels
    }

    /// The range of the weights of attributes of segments.
    pub fn segments(&self) -> Range<usize> {
        let start = self.tokens().end;
        start..start + self.segment_attributes * self.labels
    }

    /// The range of the weights of lengths, from 1 to [`longest`](Self::longest).
    pub fn lengths(&self) -> Range<usize> {
        let start = self.segments().end;
        start..start + self.longest * self.labels
    }

    /// The range of the weights of pairs of neighbouring labels. The second label changes fastest.
    pub fn transitions(&self) -> Range<usize> {
        let start = self.lengths().end;
        start..start + self.labels * self.labels
    }

    /// The range of the weights of the attributes of first tokens; empty if they have none of their own.
    pub fn firsts(&self) -> Range<usize> {
        let start = self.transitions().end;
        start..start + if self.firsts { self.tokens().len() } else { 0 }
    }
}
