//! The shape of a matching model.

/// The shape of a matching model: the number of attributes, each with one weight, and the largest number
/// of links of a row and of a column.
///
/// ```
/// use maxmargin::model::matching::MatchingShape;
///
/// let shape = MatchingShape { most_per_row: 2, ..MatchingShape::new(10) };
/// assert_eq!((shape.dim(), shape.most_per_column), (10, 1));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct MatchingShape {
    /// Number of attributes of links.
    pub attributes: usize,
    /// The largest number of links of a row, at least 1.
    pub most_per_row: usize,
    /// The largest number of links of a column, at least 1.
    pub most_per_column: usize,
}

impl MatchingShape {
    /// Creates a shape with at most one link per row and column.
    pub fn new(attributes: usize) -> Self {
        Self { attributes, most_per_row: 1, most_per_column: 1 }
    }

    /// Number of weights.
    pub fn dim(&self) -> usize {
        self.attributes
    }

    /// Whether every row and every column has at most one link.
    pub fn is_one_to_one(&self) -> bool {
        self.most_per_row == 1 && self.most_per_column == 1
    }
}
