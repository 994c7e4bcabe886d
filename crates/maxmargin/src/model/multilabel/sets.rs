//! Enumeration of all sets of a few labels.

use super::labels::LabelSet;
use super::problem::Multilabel;
use super::shape::MultilabelShape;
use crate::model::Row;
use crate::problem::slack_rescaled::Enumerable;
use std::cmp::Ordering;

/// The scores of all sets of labels of a row, if there are few labels. They yield the n best sets and the
/// margin of each label.
///
/// ```
/// use maxmargin::model::LabelledRows;
/// use maxmargin::model::multilabel::{MultilabelShape, SetScores};
///
/// let mut data = LabelledRows::new();
/// data.push([(0, 1.0)], &[], 1.0)?;
/// let shape = MultilabelShape::complete(2, 1);
/// let w = [1.0, 0.5, -2.0]; // labels 0 and 1, and the pair of them
/// let scores = SetScores::new(&shape, &w, data.row(0)).expect("there are few labels");
/// let best = scores.n_best(3);
/// assert_eq!((best[0].0.as_slice(), best[0].1), (&[0][..], 1.0));
/// assert_eq!((best[1].0.as_slice(), best[1].1), (&[1][..], 0.5));
/// assert_eq!((best[2].0.as_slice(), best[2].1), (&[][..], 0.0));
/// assert_eq!(scores.margins(), [0.5, -0.5]);
/// # Ok::<(), maxmargin::model::InputError>(())
/// ```
#[derive(Debug, Clone)]
pub struct SetScores {
    labels: usize,
    /// The scores, indexed by the bits of the labels that are on.
    scores: Vec<f64>,
}

impl SetScores {
    /// The largest number of labels of which all sets are scored.
    pub const MOST_LABELS: usize = 20;

    /// Scores all sets of labels of a row. Returns `None` if there are more than
    /// [`MOST_LABELS`](Self::MOST_LABELS) labels.
    ///
    /// # Panics
    /// If there are too few weights, or if the row has an attribute that the shape does not have.
    pub fn new(shape: &MultilabelShape, w: &[f64], row: Row<'_>) -> Option<Self> {
        let k = shape.labels;
        if k > Self::MOST_LABELS {
            return None;
        }
        let mut linear = Vec::new();
        shape.score(w, row, &mut linear);
        let mut quadratic = vec![0.0; k * k];
        for (&(i, j), &c) in shape.pairs.iter().zip(&w[shape.pair_weights()]) {
            quadratic[j.max(i) as usize * k + j.min(i) as usize] += c;
        }
        let mut scores = vec![0.0];
        for (label, &own) in linear.iter().enumerate() {
            // The sets with this label follow those without it. Each adds the terms of this label to the
            // score of the set without it.
            for set in 0..1usize << label {
                let pairs: f64 = (0..label)
                    .filter(|other| set >> other & 1 == 1)
                    .map(|other| quadratic[label * k + other])
                    .sum();
                scores.push(scores[set] + own + pairs);
            }
        }
        Some(Self { labels: k, scores })
    }

    /// The `n` best sets with their scores, best first. At ties, sets with lower labels come first.
    pub fn n_best(&self, n: usize) -> Vec<(Vec<u32>, f64)> {
        let mut order: Vec<u32> = (0..self.scores.len() as u32).collect();
        let better = |a: &u32, b: &u32| -> Ordering {
            let score = |set: u32| self.scores[set as usize];
            score(*b).total_cmp(&score(*a)).then(a.cmp(b))
        };
        let n = n.min(order.len());
        if n < order.len() && n > 0 {
            order.select_nth_unstable_by(n - 1, better);
        }
        order.truncate(n);
        order.sort_unstable_by(better);
        let mut labels = LabelSet::default();
        let describe = |set: u32| {
            labels.assign_bits(set);
            (labels.labels.clone(), self.scores[set as usize])
        };
        order.into_iter().map(describe).collect()
    }

    /// The margin of each label: the score of the best set with the label minus that of the best set
    /// without it. It is positive if the label is on in the best set.
    pub fn margins(&self) -> Vec<f64> {
        let best = |label: usize, on: usize| {
            let sets = self.scores.iter().enumerate().filter(|(set, _)| set >> label & 1 == on);
            sets.fold(f64::NEG_INFINITY, |most, (_, &score)| most.max(score))
        };
        (0..self.labels).map(|label| best(label, 1) - best(label, 0)).collect()
    }
}

/// Used for slack rescaling. All sets are tried, so there must be few labels.
impl Enumerable for Multilabel {
    /// # Panics
    /// If there are more labels than [`SetScores::MOST_LABELS`].
    fn for_each_output(&self, _i: usize, visit: &mut dyn FnMut(&LabelSet)) {
        let k = self.shape().labels;
        assert!(k <= SetScores::MOST_LABELS, "{k} labels are too many to try all sets of them");
        let mut set = LabelSet::default();
        for bits in 0..1u32 << k {
            set.assign_bits(bits);
            visit(&set);
        }
    }
}
