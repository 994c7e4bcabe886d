//! The output of a multi-label model.

use crate::problem::sparse::SparseVec;

/// A set of labels, or a fractional corner of the relaxation.
///
/// ```
/// use maxmargin::model::multilabel::LabelSet;
///
/// let set = LabelSet::from(vec![0, 3]);
/// assert!(!set.is_fractional());
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LabelSet {
    /// The labels that are on, in increasing order. For a fractional corner, these are the labels after
    /// rounding.
    pub labels: Vec<u32>,
    /// The masses of labels and pairs of a fractional corner. Empty if all mass is on `labels`.
    pub marginals: SparseVec,
}

impl From<Vec<u32>> for LabelSet {
    /// Converts labels, which must be in increasing order.
    fn from(labels: Vec<u32>) -> Self {
        Self { labels, marginals: SparseVec::new() }
    }
}

impl LabelSet {
    /// Whether this is a fractional corner and not a set.
    ///
    /// ```
    /// assert!(!maxmargin::model::multilabel::LabelSet::default().is_fractional());
    /// ```
    pub fn is_fractional(&self) -> bool {
        !self.marginals.is_empty()
    }

    /// Assigns the set of labels whose bits are on.
    pub(super) fn assign_bits(&mut self, bits: u32) {
        self.marginals.clear();
        self.labels.clear();
        self.labels.extend((0..u32::BITS).filter(|k| bits >> k & 1 == 1));
    }

    /// Assigns the set of labels for which `is_on` returns `true`.
    pub(super) fn assign(&mut self, labels: usize, is_on: impl Fn(usize) -> bool) {
        self.marginals.clear();
        self.labels.clear();
        self.labels.extend((0..labels).filter(|&k| is_on(k)).map(|k| k as u32));
    }
}
