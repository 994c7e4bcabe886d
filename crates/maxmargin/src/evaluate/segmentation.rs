//! Measures of predicted regions.

use super::ratio;

/// Counts of pixels by true and predicted label.
///
/// ```
/// use maxmargin::evaluate::Segmentation;
///
/// let mut found = Segmentation::new(2);
/// found.add(0, 0, 70); // background, and predicted as such
/// found.add(0, 1, 10);
/// found.add(1, 1, 15);
/// found.add(1, 0, 5);
/// assert_eq!(found.accuracy(), 0.85);
/// assert_eq!(found.balanced_accuracy(), (70.0 / 80.0 + 15.0 / 20.0) / 2.0);
/// assert_eq!(found.iou(1), 15.0 / 30.0); // hits, among all that is true or predicted foreground
/// assert_eq!(found.mean_iou(), (70.0 / 85.0 + 15.0 / 30.0) / 2.0);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Segmentation {
    labels: usize,
    /// Row by row. Rows are true labels, columns are predicted labels.
    counts: Vec<u64>,
}

impl Segmentation {
    /// Creates empty counts for this number of labels.
    pub fn new(labels: usize) -> Self {
        Self { labels, counts: vec![0; labels * labels] }
    }

    /// Adds a number of pixels with the same true and predicted label.
    ///
    /// # Panics
    /// If there is no such label.
    pub fn add(&mut self, truth: u32, predicted: u32, pixels: u64) {
        let (truth, predicted) = (truth as usize, predicted as usize);
        assert!(truth.max(predicted) < self.labels, "there are only {} labels", self.labels);
        self.counts[truth * self.labels + predicted] += pixels;
    }

    /// The number of pixels with this true and this predicted label.
    ///
    /// ```
    /// let mut found = maxmargin::evaluate::Segmentation::new(2);
    /// found.add(1, 0, 3);
    /// assert_eq!((found.count(1, 0), found.count(0, 1)), (3, 0));
    /// ```
    pub fn count(&self, truth: usize, predicted: usize) -> u64 {
        self.counts[truth * self.labels + predicted]
    }

    fn truth(&self, label: usize) -> u64 {
        (0..self.labels).map(|other| self.count(label, other)).sum()
    }

    fn predicted(&self, label: usize) -> u64 {
        (0..self.labels).map(|other| self.count(other, label)).sum()
    }

    /// Share of pixels that are right, or 0 if there are no pixels.
    pub fn accuracy(&self) -> f64 {
        let right = (0..self.labels).map(|label| self.count(label, label)).sum();
        ratio(right, self.counts.iter().sum())
    }

    /// The share of each label's pixels that are right, averaged over labels that occur.
    pub fn balanced_accuracy(&self) -> f64 {
        let present = (0..self.labels).filter(|&label| self.truth(label) > 0);
        mean(present.map(|label| ratio(self.count(label, label), self.truth(label))))
    }

    /// Intersection over union: among the pixels for which a label is true or predicted, the share for
    /// which it is both. It is 0 if there are none.
    pub fn iou(&self, label: usize) -> f64 {
        let both = self.count(label, label);
        ratio(both, self.truth(label) + self.predicted(label) - both)
    }

    /// The mean of [`iou`](Self::iou) over labels that occur or were predicted.
    pub fn mean_iou(&self) -> f64 {
        let present = (0..self.labels).filter(|&l| self.truth(l) + self.predicted(l) > 0);
        mean(present.map(|label| self.iou(label)))
    }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0u32), |(sum, count), value| (sum + value, count + 1));
    if count == 0 { 0.0 } else { sum / f64::from(count) }
}
