//! Sequences that are cut into segments, for training and prediction.

use crate::model::InputError;
use crate::model::rows::{Row, Rows};
use std::ops::Range;

/// A segment: a number of tokens with one label.
///
/// ```
/// use maxmargin::model::segment::Segment;
/// let sentence = [Segment { length: 2, label: 0 }, Segment { length: 1, label: 3 }];
/// assert_eq!(sentence.iter().map(|segment| segment.length).sum::<u32>(), 3);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Segment {
    /// Number of tokens, at least 1.
    pub length: u32,
    /// The label.
    pub label: u32,
}

/// Sequences with attributes for tokens and for possible segments, and their true segments.
///
/// ```
/// use maxmargin::model::segment::{Segment, Segmentations};
///
/// let mut data = Segmentations::new();
/// for word in [4, 2, 7] {
///     data.push_token([(word, 1.0)])?;
/// }
/// data.push_segment(0, 2, [(0, 1.0)])?; // the first two tokens together have attribute 0
/// data.end_sequence(&[Segment { length: 2, label: 1 }, Segment { length: 1, label: 0 }], 1.0)?;
/// assert_eq!((data.len(), data.tokens(0), data.longest()), (1, 3, 2));
/// assert_eq!(data.truth(0)[1].label, 0);
/// # Ok::<(), maxmargin::model::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Segmentations {
    /// The first token, the first segment with attributes and the first true segment of each sequence, and
    /// the ends of all.
    starts: Vec<Start>,
    tokens: Rows,
    /// First token in its sequence and length of each segment with attributes, sorted in each sequence.
    places: Vec<(u32, u32)>,
    segments: Rows,
    truth: Vec<Segment>,
    weights: Vec<f64>,
    /// Attributes of segments of the open sequence, in the order in which they were added.
    open: Vec<OpenSegment>,
}

/// Place and attributes of a segment of the open sequence.
type OpenSegment = ((u32, u32), Vec<(u32, f64)>);

#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Start {
    token: usize,
    segment: usize,
    truth: usize,
}

impl Default for Segmentations {
    fn default() -> Self {
        Self::new()
    }
}

impl Segmentations {
    /// An empty collection.
    pub fn new() -> Self {
        Self {
            starts: vec![Start::default()],
            tokens: Rows::default(),
            places: Vec::new(),
            segments: Rows::default(),
            truth: Vec::new(),
            weights: Vec::new(),
            open: Vec::new(),
        }
    }

    /// Adds a token with its attributes `(index, value)` to the open sequence.
    ///
    /// # Errors
    /// If a value is NaN or infinite. The token is not added then.
    pub fn push_token(
        &mut self,
        attributes: impl IntoIterator<Item = (u32, f64)>,
    ) -> Result<(), InputError> {
        Ok(self.tokens.push(attributes)?)
    }

    /// Adds attributes of the segment of `length` tokens that begins at token `start` of the open sequence.
    /// They count if the output has that segment.
    ///
    /// # Errors
    /// If a value is NaN or infinite, if the tokens were not added before, or if they have attributes
    /// already.
    pub fn push_segment(
        &mut self,
        start: usize,
        length: usize,
        attributes: impl IntoIterator<Item = (u32, f64)>,
    ) -> Result<(), InputError> {
        let attributes: Vec<(u32, f64)> = attributes.into_iter().collect();
        if let Some(&(attribute, value)) = attributes.iter().find(|(_, value)| !value.is_finite()) {
            return Err(InputError::Value { attribute, value });
        }
        let end = start.checked_add(length).filter(|&end| end <= self.open_tokens());
        if length == 0 || end.is_none() {
            return Err(misplaced(start, length));
        }
        self.open.push(((start as u32, length as u32), attributes));
        Ok(())
    }

    /// Closes the open sequence with its true segments and an example weight.
    ///
    /// # Errors
    /// If it has no tokens, if the segments do not cover it, if a segment has attributes twice, or if the
    /// weight is not positive and finite. The sequence stays open then.
    pub fn end_sequence(&mut self, truth: &[Segment], weight: f64) -> Result<(), InputError> {
        let tokens = self.open_tokens();
        if tokens == 0 {
            return Err(InputError::structure("a sequence needs at least one token"));
        }
        InputError::check_weight(weight)?;
        if let Some(empty) = truth.iter().position(|segment| segment.length == 0) {
            return Err(InputError::Structure(format!("segment {empty} has no tokens")));
        }
        let found: usize = truth.iter().map(|segment| segment.length as usize).sum();
        if found != tokens {
            let message =
                format!("the segments have {found} tokens, but the sequence has {tokens}");
            return Err(InputError::Structure(message));
        }
        self.open.sort_by_key(|(place, _)| *place);
        if let Some(pair) = self.open.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let (start, length) = pair[0].0;
            return Err(misplaced(start as usize, length as usize));
        }
        for (place, attributes) in std::mem::take(&mut self.open) {
            self.segments.push(attributes)?; // they were checked before
            self.places.push(place);
        }
        self.truth.extend_from_slice(truth);
        self.weights.push(weight);
        let (token, segment) = (self.tokens.len(), self.places.len());
        self.starts.push(Start { token, segment, truth: self.truth.len() });
        Ok(())
    }

    /// Number of tokens added since the last sequence was closed.
    pub fn open_tokens(&self) -> usize {
        self.tokens.len() - self.starts[self.starts.len() - 1].token
    }

    /// Number of closed sequences.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there is no closed sequence.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of tokens of sequence `i`, which must exist.
    pub fn tokens(&self, i: usize) -> usize {
        self.starts[i + 1].token - self.starts[i].token
    }

    /// True segments of sequence `i`, which must exist.
    pub fn truth(&self, i: usize) -> &[Segment] {
        &self.truth[self.starts[i].truth..self.starts[i + 1].truth]
    }

    /// Example weight of sequence `i`, which must exist.
    pub fn weight(&self, i: usize) -> f64 {
        self.weights[i]
    }

    /// Attributes of token `t` of sequence `i`, which must exist.
    pub fn token(&self, i: usize, t: usize) -> Row<'_> {
        self.tokens.row(self.starts[i].token + t)
    }

    /// The segments of sequence `i` that have attributes: first token, length, and attributes.
    pub fn segments(&self, i: usize) -> impl Iterator<Item = (usize, usize, Row<'_>)> {
        self.segment_range(i).map(|at| {
            let (start, length) = self.places[at];
            (start as usize, length as usize, self.segments.row(at))
        })
    }

    /// The number of tokens of the longest true segment.
    pub fn longest(&self) -> usize {
        self.truth.iter().map(|segment| segment.length as usize).max().unwrap_or(0)
    }

    /// One more than the largest attributes of tokens and of segments, or 0 if there are none.
    pub fn attribute_bounds(&self) -> (usize, usize) {
        (self.tokens.attribute_bound(), self.segments.attribute_bound())
    }

    /// Returns the sequences for whose index `keep` returns `true`, in the same order.
    ///
    /// ```
    /// use maxmargin::model::segment::{Segment, Segmentations};
    /// let mut data = Segmentations::new();
    /// for label in [0, 1, 2] {
    ///     data.push_token([(label, 1.0)])?;
    ///     data.end_sequence(&[Segment { length: 1, label }], 1.0)?;
    /// }
    /// assert_eq!(data.select(|i| i == 2).truth(0)[0].label, 2);
    /// # Ok::<(), maxmargin::model::InputError>(())
    /// ```
    #[must_use]
    pub fn select(&self, keep: impl Fn(usize) -> bool) -> Self {
        let mut selected = Self::new();
        for i in (0..self.len()).filter(|&i| keep(i)) {
            // The data were checked when they were added.
            for t in 0..self.tokens(i) {
                let _ = selected.push_token(self.token(i, t).pairs());
            }
            for (start, length, row) in self.segments(i) {
                let _ = selected.push_segment(start, length, row.pairs());
            }
            let _ = selected.end_sequence(self.truth(i), self.weight(i));
        }
        selected
    }

    /// The same sequences with other true segments: one token of the first label each. Prediction takes any truth,
    /// and data to predict on may have segments that no model allows.
    ///
    /// ```
    /// use maxmargin::model::segment::{Segment, Segmentations};
    /// let mut data = Segmentations::new();
    /// data.push_token([(0, 1.0)])?;
    /// data.push_token([(0, 1.0)])?;
    /// data.end_sequence(&[Segment { length: 2, label: 7 }], 1.0)?;
    /// assert_eq!(data.without_truth().truth(0), [Segment { length: 1, label: 0 }; 2]);
    /// # Ok::<(), maxmargin::model::InputError>(())
    /// ```
    #[must_use]
    pub fn without_truth(&self) -> Self {
        let starts = self.starts.iter().map(|start| Start { truth: start.token, ..*start });
        Self {
            starts: starts.collect(),
            truth: vec![Segment { length: 1, label: 0 }; self.starts[self.len()].token],
            ..self.clone()
        }
    }

    /// Attributes of the segment of sequence `i` at this place, if it has any.
    pub(super) fn segment(&self, i: usize, start: usize, length: usize) -> Option<Row<'_>> {
        let range = self.segment_range(i);
        let place = (start as u32, length as u32);
        let found = self.places[range.clone()].binary_search(&place).ok()?;
        Some(self.segments.row(range.start + found))
    }

    fn segment_range(&self, i: usize) -> Range<usize> {
        self.starts[i].segment..self.starts[i + 1].segment
    }
}

/// The error of attributes for tokens that cannot have them.
fn misplaced(start: usize, length: usize) -> InputError {
    let place = format!("{length} tokens from token {start}");
    InputError::Structure(format!("there cannot be attributes for {place} here"))
}
