//! The weights of a binary model, and how they score a row.

use crate::model::rows::Row;

/// The shape of a binary model: the number of attributes, and the bias.
///
/// The weights of the attributes come first in w, then the weight of the bias if there is one.
///
/// ```
/// use maxmargin::model::{Row, binary::BinaryShape};
///
/// let shape = BinaryShape { attributes: 2, bias: Some(1.0) };
/// let row = Row { attributes: &[1], values: &[3.0] };
/// assert_eq!((shape.dim(), shape.score(&[5.0, -1.0, 0.5], row)), (3, -2.5));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct BinaryShape {
    /// Number of attributes.
    pub attributes: usize,
    /// The value of an additional attribute that every row has, positive and finite. `None` means no
    /// bias.
    pub bias: Option<f64>,
}

impl BinaryShape {
    /// A shape without bias.
    pub fn new(attributes: usize) -> Self {
        Self { attributes, bias: None }
    }

    /// Number of features, the length of w.
    pub fn dim(&self) -> usize {
        self.attributes + usize::from(self.bias.is_some())
    }

    /// The score ⟨w, x⟩ of a row, positive for the positive class.
    ///
    /// # Panics
    /// If `w` has fewer than [`dim`](Self::dim) entries, or the row has an attribute beyond those
    /// of the shape.
    #[inline]
    pub fn score(&self, w: &[f64], row: Row<'_>) -> f64 {
        let bias = self.bias.map_or(0.0, |bias| bias * w[self.attributes]);
        row.dot(&w[..self.attributes]) + bias
    }

    /// Whether a row belongs to the positive class: its score is positive.
    ///
    /// ```
    /// use maxmargin::model::{Row, binary::BinaryShape};
    ///
    /// let row = Row { attributes: &[0], values: &[] };
    /// assert!(BinaryShape::new(1).predict(&[0.5], row));
    /// assert!(!BinaryShape::new(1).predict(&[0.0], row));
    /// ```
    ///
    /// # Panics
    /// The same as for [`score`](Self::score).
    pub fn predict(&self, w: &[f64], row: Row<'_>) -> bool {
        self.score(w, row) > 0.0
    }
}
