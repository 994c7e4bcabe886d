//! Measures of predicted links.

use super::ratio;

/// Precision, recall and error rate of predicted links, of which some are sure and others possible.
///
/// Let A be the predicted links, S the sure links, and P the links that are sure or possible (Och and
/// Ney, 2003). Then
///
/// ```text
/// precision = |A ∩ P| / |A|        recall = |A ∩ S| / |S|
/// AER = 1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|)
/// ```
///
/// ```
/// use maxmargin::evaluate::AlignmentScores;
///
/// let mut scores = AlignmentScores::default();
/// scores.add(&[(0, 0), (1, 1)], &[(0, 0), (1, 1), (1, 2)], &[(0, 0), (1, 2), (2, 2)]);
/// assert_eq!((scores.precision(), scores.recall()), (2.0 / 3.0, 0.5));
/// assert_eq!(scores.aer(), 1.0 - 3.0 / 5.0);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct AlignmentScores {
    /// Number of pairs.
    pub pairs: u64,
    /// Number of predicted links.
    pub predicted: u64,
    /// Number of sure links.
    pub sure: u64,
    /// Number of predicted links that are sure.
    pub sure_hits: u64,
    /// Number of predicted links that are sure or possible.
    pub possible_hits: u64,
}

impl AlignmentScores {
    /// Adds a pair: its sure links, its sure and possible links, and the predicted links, each in
    /// increasing order.
    pub fn add<T: Ord>(&mut self, sure: &[T], possible: &[T], predicted: &[T]) {
        let is_in = |links: &[T], link: &T| links.binary_search(link).is_ok();
        self.pairs += 1;
        self.predicted += predicted.len() as u64;
        self.sure += sure.len() as u64;
        for link in predicted {
            let hit = is_in(sure, link);
            self.sure_hits += u64::from(hit);
            self.possible_hits += u64::from(hit || is_in(possible, link));
        }
    }

    /// Share of the predicted links that are sure or possible, or 0 if there are none.
    pub fn precision(&self) -> f64 {
        ratio(self.possible_hits, self.predicted)
    }

    /// Share of the sure links that are predicted, or 0 if there are none.
    pub fn recall(&self) -> f64 {
        ratio(self.sure_hits, self.sure)
    }

    /// The alignment error rate, in [0, 1]. It is 0 if there are no sure links and none were predicted.
    ///
    /// ```
    /// assert_eq!(maxmargin::evaluate::AlignmentScores::default().aer(), 0.0);
    /// ```
    pub fn aer(&self) -> f64 {
        let all = self.predicted + self.sure;
        if all == 0 { 0.0 } else { 1.0 - ratio(self.sure_hits + self.possible_hits, all) }
    }
}
