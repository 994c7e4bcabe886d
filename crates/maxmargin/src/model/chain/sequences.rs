//! Labelled sequences in index form, for training and prediction.

mod columns;
#[cfg(test)]
mod tests;
mod view;

pub use columns::SequenceColumns;
pub use view::Sequence;

use crate::model::InputError;
use crate::model::column::{Column, Offsets, append_unless_ones};
use crate::model::rows::Rows;
use view::Start;

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
/// # Ok::<(), maxmargin::model::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Sequences {
    /// First token of each sequence, and one past the last.
    starts: Offsets,
    /// First attribute entry of each sequence, and one past the last. The rows know it as well, but only by way
    /// of the tokens, and a prefetch cannot wait for that.
    entries: Offsets,
    /// The attributes of each token.
    rows: Rows,
    labels: Column<u32>,
    /// One weight per sequence, or empty while every weight is 1.
    weights: Column<f64>,
    /// The cost of a mistake at each token, or empty while every cost is 1.
    costs: Column<f64>,
}

impl Default for Sequences {
    fn default() -> Self {
        Self::new()
    }
}

impl Sequences {
    /// An empty collection.
    pub fn new() -> Self {
        Self {
            starts: Offsets::new(),
            entries: Offsets::new(),
            rows: Rows::default(),
            labels: Column::default(),
            weights: Column::default(),
            costs: Column::default(),
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
    /// # Ok::<(), maxmargin::model::InputError>(())
    /// ```
    ///
    /// # Errors
    /// If a value is NaN or infinite. The token is not added then.
    pub fn push_token(
        &mut self,
        attributes: impl IntoIterator<Item = (u32, f64)>,
        label: u32,
    ) -> Result<(), InputError> {
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
    /// # Ok::<(), maxmargin::model::InputError>(())
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
    ) -> Result<(), InputError> {
        InputError::check_not_negative("the cost of a mistake", cost)?;
        self.rows.push(attributes)?;
        if cost != 1.0 && self.costs.is_empty() {
            self.costs.to_mut().resize(self.labels.len(), 1.0);
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
    /// # Ok::<(), maxmargin::model::InputError>(())
    /// ```
    ///
    /// # Errors
    /// If no token was added since the last call, or if the weight is not positive and finite. The
    /// sequence stays open then.
    pub fn end_sequence(&mut self, weight: f64) -> Result<(), InputError> {
        if self.open_tokens() == 0 {
            return Err(InputError::structure("a sequence needs at least one token"));
        }
        InputError::check_weight(weight)?;
        if weight != 1.0 && self.weights.is_empty() {
            let before = self.len();
            self.weights.to_mut().resize(before, 1.0);
        }
        if weight != 1.0 || !self.weights.is_empty() {
            self.weights.push(weight);
        }
        self.starts.push(self.labels.len());
        self.entries.push(self.rows.entries());
        Ok(())
    }

    /// Number of tokens pushed since the last sequence was closed.
    pub fn open_tokens(&self) -> usize {
        self.labels.len() - self.last_start()
    }

    fn last_start(&self) -> usize {
        self.starts.last()
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
        let at = |i: usize| Start { token: self.starts.get(i), entry: self.entries.get(i) };
        Sequence { data: self, start: at(i), end: at(i + 1) }
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

    /// Adds the closed sequences of `other`, in which labels and attributes have other numbers: label `y` of
    /// `other` is `labels[y]` here, and attribute `a` is `attributes[a]`. Neither has an open sequence.
    ///
    /// ```
    /// use maxmargin::model::chain::Sequences;
    ///
    /// let (mut all, mut more) = (Sequences::new(), Sequences::new());
    /// more.push_token([(0, 1.0), (1, 0.5)], 0)?;
    /// more.end_sequence(1.0)?;
    /// all.append(&more, &[7], &[4, 2]);
    /// assert_eq!(all.sequence(0).labels(), [7]);
    /// assert_eq!(all.sequence(0).token(0).attributes, [4, 2]);
    /// # Ok::<(), maxmargin::model::InputError>(())
    /// ```
    ///
    /// # Panics
    /// If there is no number for a label or an attribute, or if a sequence is open.
    pub fn append(&mut self, other: &Self, labels: &[u32], attributes: &[u32]) {
        assert!(self.open_tokens() + other.open_tokens() == 0, "a sequence is open");
        append_unless_ones(&mut self.weights, self.starts.len() - 1, &other.weights, other.len());
        append_unless_ones(&mut self.costs, self.labels.len(), &other.costs, other.labels.len());
        self.rows.append(&other.rows, |a| attributes[a as usize]);
        self.labels.to_mut().extend(other.labels.iter().map(|&label| labels[label as usize]));
        self.starts.append(&other.starts);
        self.entries.append(&other.entries);
    }

    /// Gives label `y` the number `labels(y)`, and attribute `a` the number `attributes(a)`; attributes that
    /// get none are left out. There is no open sequence.
    ///
    /// ```
    /// use maxmargin::model::chain::Sequences;
    ///
    /// let mut data = Sequences::new();
    /// data.push_token([(0, 1.0), (1, 0.5)], 0)?;
    /// data.end_sequence(1.0)?;
    /// data.renumber(|label| label + 1, |attribute| attribute.checked_sub(1));
    /// assert_eq!(data.sequence(0).labels(), [1]);
    /// assert_eq!(data.sequence(0).token(0).pairs().collect::<Vec<_>>(), [(0, 0.5)]);
    /// # Ok::<(), maxmargin::model::InputError>(())
    /// ```
    ///
    /// # Panics
    /// If a sequence is open.
    pub fn renumber(
        &mut self,
        labels: impl Fn(u32) -> u32,
        attributes: impl Fn(u32) -> Option<u32>,
    ) {
        assert!(self.open_tokens() == 0, "a sequence is open");
        self.labels.to_mut().iter_mut().for_each(|label| *label = labels(*label));
        self.rows.renumber(attributes);
        self.entries = self.find_entries();
    }

    /// The first attribute entry of each sequence, found by way of the tokens.
    fn find_entries(&self) -> Offsets {
        let starts = self.rows.starts();
        let mut entries = Offsets::new();
        (1..self.starts.len()).for_each(|i| entries.push(starts.get(self.starts.get(i))));
        entries
    }

    /// The same sequences with a single attribute per token, `numbers[token]`, whose value is 1. The open
    /// sequence is left out.
    #[must_use]
    pub(crate) fn with_inputs(&self, numbers: &[u32]) -> Self {
        let mut data = Self::new();
        let mut tokens = numbers.iter().zip(self.labels.iter());
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
