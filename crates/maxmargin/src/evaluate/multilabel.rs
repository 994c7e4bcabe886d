//! Measures of predicted sets of labels.

use super::{Counts, ratio};

/// Measures of predicted sets of labels, over many examples.
///
/// ```
/// use maxmargin::evaluate::LabelSetScores;
///
/// let mut scores = LabelSetScores::new(4);
/// scores.add(&[0, 2], &[0, 2]);    // right
/// scores.add(&[1, 2], &[1]);       // one label missed
/// assert_eq!(scores.hamming(), 1.0 / 8.0);
/// assert_eq!(scores.subset_accuracy(), 0.5);
/// assert_eq!(scores.example_f1(), (1.0 + 2.0 / 3.0) / 2.0);
/// assert_eq!(scores.micro().f1(), 6.0 / 7.0);
/// assert_eq!(scores.macro_f1(), (1.0 + 1.0 + 2.0 / 3.0 + 0.0) / 4.0); // label 3 never occurred
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct LabelSetScores {
    /// Number of examples.
    pub examples: u64,
    /// Number of examples with exactly the true labels.
    pub exact: u64,
    /// Number of labels that are wrongly on or off.
    pub wrong: u64,
    /// Hits, predictions and true cases of each label.
    pub labels: Vec<Counts>,
    /// Sum of the F1 of all examples.
    example_f1: f64,
}

impl LabelSetScores {
    /// Creates empty counts for this number of labels.
    pub fn new(labels: usize) -> Self {
        Self {
            examples: 0,
            exact: 0,
            wrong: 0,
            labels: vec![Counts::default(); labels],
            example_f1: 0.0,
        }
    }

    /// Adds an example with its true and its predicted labels, both in increasing order.
    ///
    /// ```
    /// let mut scores = maxmargin::evaluate::LabelSetScores::new(3);
    /// scores.add(&[0, 1], &[1, 2]);
    /// assert_eq!((scores.wrong, scores.exact, scores.labels[1].hits), (2, 0, 1));
    /// ```
    ///
    /// # Panics
    /// If a label is too large.
    pub fn add(&mut self, truth: &[u32], predicted: &[u32]) {
        truth.iter().for_each(|&k| self.labels[k as usize].truth += 1);
        predicted.iter().for_each(|&k| self.labels[k as usize].predicted += 1);
        let hits = truth.iter().filter(|k| predicted.binary_search(k).is_ok());
        let hits = hits.map(|&k| self.labels[k as usize].hits += 1).count() as u64;
        let own = Counts { hits, predicted: predicted.len() as u64, truth: truth.len() as u64 };
        self.examples += 1;
        self.wrong += own.predicted + own.truth - 2 * hits;
        self.exact += u64::from(own.predicted == hits && own.truth == hits);
        // Predicting nothing is right if nothing is true.
        self.example_f1 += if own.predicted + own.truth == 0 { 1.0 } else { own.f1() };
    }

    /// Share of labels that are wrongly on or off, in [0, 1], or 0 if there are no examples.
    ///
    /// ```
    /// let mut scores = maxmargin::evaluate::LabelSetScores::new(4);
    /// scores.add(&[0, 1], &[0]);
    /// assert_eq!(scores.hamming(), 0.25);
    /// ```
    pub fn hamming(&self) -> f64 {
        ratio(self.wrong, self.examples * self.labels.len() as u64)
    }

    /// Share of examples with exactly the true labels, or 0 if there are no examples.
    ///
    /// ```
    /// let mut scores = maxmargin::evaluate::LabelSetScores::new(4);
    /// scores.add(&[0, 1], &[0]);
    /// scores.add(&[2], &[2]);
    /// assert_eq!(scores.subset_accuracy(), 0.5);
    /// ```
    pub fn subset_accuracy(&self) -> f64 {
        ratio(self.exact, self.examples)
    }

    /// The sum of the counts of all labels, whose F1 is the micro average.
    ///
    /// ```
    /// let mut scores = maxmargin::evaluate::LabelSetScores::new(4);
    /// scores.add(&[0, 1], &[0]);
    /// assert_eq!((scores.micro().precision(), scores.micro().recall()), (1.0, 0.5));
    /// ```
    pub fn micro(&self) -> Counts {
        self.labels.iter().fold(Counts::default(), |sum, c| Counts {
            hits: sum.hits + c.hits,
            predicted: sum.predicted + c.predicted,
            truth: sum.truth + c.truth,
        })
    }

    /// The mean F1 of the labels (macro average). It is 0 for labels that are never true or predicted.
    ///
    /// ```
    /// let mut scores = maxmargin::evaluate::LabelSetScores::new(2);
    /// scores.add(&[0, 1], &[0]);
    /// assert_eq!(scores.macro_f1(), 0.5);
    /// ```
    pub fn macro_f1(&self) -> f64 {
        let sum: f64 = self.labels.iter().map(Counts::f1).sum();
        if self.labels.is_empty() { 0.0 } else { sum / self.labels.len() as f64 }
    }

    /// The mean F1 of the examples, or 0 if there are no examples. The F1 of an example is 1 if nothing
    /// is true and nothing is predicted.
    ///
    /// ```
    /// let mut scores = maxmargin::evaluate::LabelSetScores::new(2);
    /// scores.add(&[0, 1], &[0]);
    /// assert_eq!(scores.example_f1(), 2.0 / 3.0);
    /// ```
    pub fn example_f1(&self) -> f64 {
        if self.examples == 0 { 0.0 } else { self.example_f1 / self.examples as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn predicting_nothing_is_right_if_nothing_is_true() {
        let mut scores = LabelSetScores::new(2);
        scores.add(&[], &[]);
        assert_eq!(
            (scores.example_f1(), scores.subset_accuracy(), scores.hamming()),
            (1.0, 1.0, 0.0)
        );
        scores.add(&[], &[0, 1]);
        assert_eq!(
            (scores.example_f1(), scores.subset_accuracy(), scores.hamming()),
            (0.5, 0.5, 0.5)
        );
        let none = LabelSetScores::new(0);
        assert_eq!((none.hamming(), none.macro_f1(), none.micro().f1()), (0.0, 0.0, 0.0));
    }
}
