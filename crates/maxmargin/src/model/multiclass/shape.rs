//! The layout of the weights of a multiclass model, and how they score a row.

use crate::model::rows::{Row, add_scores};
use std::ops::Range;

/// The shape of a multiclass model: numbers of classes and attributes, and the bias.
///
/// In w the attributes come one after another, each with all classes side by side, so that the scores of
/// a row are sums of contiguous weights. The bias, if there is one, comes last, like one more attribute.
///
/// ```
/// use maxmargin::model::multiclass::MulticlassShape;
///
/// let shape = MulticlassShape { bias: Some(1.0), ..MulticlassShape::new(3, 10) };
/// assert_eq!((shape.dim(), shape.bias_weights()), (33, 30..33));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct MulticlassShape {
    /// Number of classes K ≥ 1.
    pub classes: usize,
    /// Number of attributes.
    pub attributes: usize,
    /// The value of an additional attribute that every row has, positive and finite. `None` means no
    /// bias. The larger the value, the less regularization restricts the bias.
    pub bias: Option<f64>,
}

impl MulticlassShape {
    /// A shape without bias.
    pub fn new(classes: usize, attributes: usize) -> Self {
        Self { classes, attributes, bias: None }
    }

    /// Number of features, the length of w.
    pub fn dim(&self) -> usize {
        self.bias_weights().end
    }

    /// The index of the weight of an attribute for a class.
    ///
    /// ```
    /// use maxmargin::model::multiclass::MulticlassShape;
    /// assert_eq!(MulticlassShape::new(3, 10).feature(2, 1), 7); // attribute 2, class 1
    /// ```
    pub fn feature(&self, attribute: usize, class: usize) -> usize {
        attribute * self.classes + class
    }

    /// The range of the weights of the bias, class by class. It is empty if there is no bias.
    pub fn bias_weights(&self) -> Range<usize> {
        let start = self.attributes * self.classes;
        start..start + if self.bias.is_some() { self.classes } else { 0 }
    }

    /// Fills `scores` with the score of every class.
    ///
    /// ```
    /// use maxmargin::model::{Row, multiclass::MulticlassShape};
    ///
    /// let shape = MulticlassShape { bias: Some(1.0), ..MulticlassShape::new(2, 1) };
    /// let mut scores = Vec::new();
    /// shape.score(&[-1.0, 1.0, 0.5, 0.0], Row { attributes: &[0], values: &[3.0] }, &mut scores);
    /// assert_eq!(scores, [-2.5, 3.0]);
    /// ```
    ///
    /// # Panics
    /// If `w` has fewer than [`dim`](Self::dim) entries, or the row has an attribute beyond those
    /// of the shape.
    #[inline]
    pub fn score(&self, w: &[f64], row: Row<'_>, scores: &mut Vec<f64>) {
        self.score_bias(w, scores);
        add_scores(&w[..self.attributes * self.classes], row, scores);
    }

    /// Fills `scores` with the score that the bias gives to each class.
    #[inline]
    pub(crate) fn score_bias(&self, w: &[f64], scores: &mut Vec<f64>) {
        scores.clear();
        let scale = self.bias.unwrap_or_default();
        scores.extend(w[self.bias_weights()].iter().map(|weight| scale * weight));
        scores.resize(self.classes, 0.0);
    }

    /// Returns the class with the highest score, or the first of them at ties. `scores` is filled with
    /// all scores.
    ///
    /// ```
    /// use maxmargin::model::{Row, multiclass::MulticlassShape};
    ///
    /// let (shape, w) = (MulticlassShape::new(3, 1), [-1.0, 1.0, 1.0]);
    /// let row = Row { attributes: &[0], values: &[3.0] };
    /// assert_eq!(shape.predict(&w, row, &mut Vec::new()), 1);
    /// ```
    ///
    /// # Panics
    /// The same as for [`score`](Self::score).
    pub fn predict(&self, w: &[f64], row: Row<'_>, scores: &mut Vec<f64>) -> u32 {
        self.score(w, row, scores);
        first_largest(scores.iter().copied())
    }
}

/// Returns the index of the largest value, or the first of them at ties. Returns 0 if there are no
/// values.
#[inline]
pub(super) fn first_largest(values: impl Iterator<Item = f64>) -> u32 {
    let (mut best, mut largest) = (0, f64::NEG_INFINITY);
    for (at, value) in (0..).zip(values) {
        if value > largest {
            (best, largest) = (at, value);
        }
    }
    best
}
