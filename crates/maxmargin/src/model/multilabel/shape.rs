//! The layout of the weights of a multi-label model.

use crate::model::rows::add_scores;
use crate::model::{LabelledRows, Row};
use std::ops::Range;

/// The shape of a multi-label model's weights: labels, attributes, and the pairs of labels that have a
/// weight.
///
/// The weights of single labels come first in w, attribute by attribute with all labels side by side. The
/// weights of the pairs follow, in the order of `pairs`.
///
/// ```
/// use maxmargin::model::multilabel::MultilabelShape;
///
/// let shape = MultilabelShape::complete(14, 103);
/// assert_eq!(shape.dim(), 1533); // Yeast: 103·14 + 91
/// assert_eq!((shape.single(), shape.pair_weights()), (0..1442, 1442..1533));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct MultilabelShape {
    /// Number of labels.
    pub labels: usize,
    /// Number of attributes.
    pub attributes: usize,
    /// Pairs of labels that have a weight for being on together.
    pub pairs: Vec<(u32, u32)>,
}

impl MultilabelShape {
    /// Creates a shape without pairs, whose labels are independent.
    ///
    /// ```
    /// use maxmargin::model::multilabel::MultilabelShape;
    /// assert_eq!(MultilabelShape::independent(14, 103).dim(), 1442);
    /// ```
    pub fn independent(labels: usize, attributes: usize) -> Self {
        Self { labels, attributes, pairs: Vec::new() }
    }

    /// Creates a shape with a weight for every pair of labels.
    ///
    /// ```
    /// use maxmargin::model::multilabel::MultilabelShape;
    /// assert_eq!(MultilabelShape::complete(3, 0).pairs, [(0, 1), (0, 2), (1, 2)]);
    /// ```
    pub fn complete(labels: usize, attributes: usize) -> Self {
        let pairs = (0..labels as u32).flat_map(|j| (0..j).map(move |i| (i, j))).collect();
        Self { labels, attributes, pairs }
    }

    /// Creates a shape with weights for the pairs of a tree: the tree of maximum mutual information in
    /// `data` (Chow and Liu). Decoding is then exact for any number of labels.
    ///
    /// ```
    /// use maxmargin::model::LabelledRows;
    /// use maxmargin::model::multilabel::MultilabelShape;
    ///
    /// let mut data = LabelledRows::new();
    /// for labels in [&[0, 2][..], &[0, 2], &[1], &[], &[1, 2]] {
    ///     data.push([], labels, 1.0)?;
    /// }
    /// let shape = MultilabelShape::tree(3, 0, &data);
    /// assert_eq!(shape.pairs, [(0, 1), (0, 2)]); // 0 and 2 go together, 0 and 1 exclude each other
    /// # Ok::<(), maxmargin::model::InputError>(())
    /// ```
    ///
    /// # Panics
    /// If a label of the data is not below `labels`.
    pub fn tree(labels: usize, attributes: usize, data: &LabelledRows) -> Self {
        // Count how often labels occur together.
        let mut both = vec![0.0; labels * labels];
        let mut total = 0.0;
        for (i, (_, on)) in data.iter().enumerate() {
            total += data.weight(i);
            for &a in on {
                on.iter().for_each(|&b| both[a as usize * labels + b as usize] += data.weight(i));
            }
        }
        let information = |a: usize, b: usize| {
            let (one, other) = (both[a * labels + a], both[b * labels + b]);
            let both = both[a * labels + b];
            mutual_information([total - one - other + both, other - both, one - both, both], total)
        };
        // Prim's algorithm: in each round the label nearest to the tree joins it.
        let mut nearest: Vec<(f64, usize)> = (0..labels).map(|b| (information(0, b), 0)).collect();
        let mut outside: Vec<usize> = (1..labels).collect();
        let mut pairs = Vec::new();
        while !outside.is_empty() {
            let better = |best: usize, at: usize| {
                if nearest[outside[at]].0 > nearest[outside[best]].0 { at } else { best }
            };
            let new = outside.remove((0..outside.len()).fold(0, better));
            let old = nearest[new].1;
            pairs.push((old.min(new) as u32, old.max(new) as u32));
            for &b in &outside {
                let found = information(new, b);
                if found > nearest[b].0 {
                    nearest[b] = (found, new);
                }
            }
        }
        pairs.sort_unstable();
        Self { labels, attributes, pairs }
    }

    /// Number of weights.
    pub fn dim(&self) -> usize {
        self.pair_weights().end
    }

    /// The range of the weights of single labels. The weight of attribute `a` with label `k` is at `a *
    /// labels + k` in it.
    pub fn single(&self) -> Range<usize> {
        0..self.attributes * self.labels
    }

    /// Computes the scores of the single labels of a row, without pairs.
    ///
    /// ```
    /// use maxmargin::model::{Row, multilabel::MultilabelShape};
    ///
    /// let (shape, mut scores) = (MultilabelShape::complete(2, 1), Vec::new());
    /// shape.score(&[-1.0, 1.0, 9.0], Row { attributes: &[0], values: &[3.0] }, &mut scores);
    /// assert_eq!(scores, [-3.0, 3.0]);
    /// ```
    ///
    /// # Panics
    /// If `w` has fewer than [`dim`](Self::dim) entries, or the row has an attribute beyond those
    /// of the shape.
    pub fn score(&self, w: &[f64], row: Row<'_>, scores: &mut Vec<f64>) {
        scores.clear();
        scores.resize(self.labels, 0.0);
        add_scores(&w[self.single()], row, scores);
    }

    /// The range of the weights of pairs.
    pub fn pair_weights(&self) -> Range<usize> {
        let start = self.single().end;
        start..start + self.pairs.len()
    }
}

/// The mutual information of two labels, given how often both are off, only the second is on, only the
/// first is on, and both are on.
fn mutual_information(counts: [f64; 4], total: f64) -> f64 {
    let [off, second, first, both] = counts;
    let (rows, columns) = ([off + second, first + both], [off + first, second + both]);
    let term = |at: usize| match counts[at] {
        count if count > 0.0 => {
            count / total * (count * total / (rows[at / 2] * columns[at % 2])).ln()
        }
        _ => 0.0,
    };
    (0..4).map(term).sum()
}
