//! The layout of the weights of labelled graphs.

use crate::problem::bounds::{Bounds, BoundsError};
use std::ops::Range;

/// The shape of the weights of labelled graphs.
///
/// The unary weights come first in w, attribute by attribute with all labels side by side. Then comes one
/// weight per edge attribute: the cost of disagreement.
///
/// ```
/// use maxmargin::model::potts::PottsShape;
///
/// let shape = PottsShape::new(2, 46, 5);
/// assert_eq!((shape.unary(), shape.pairwise(), shape.dim()), (0..92, 92..97, 97));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct PottsShape {
    /// Number of labels K ≥ 1.
    pub labels: usize,
    /// Number of attributes of nodes.
    pub node_attributes: usize,
    /// Number of attributes of edges. If it is 0, nodes are independent.
    pub edge_attributes: usize,
    /// Whether neighbours may only attract each other. If so, pairwise weights are kept ≥ 0, and edge
    /// attributes must be ≥ 0.
    pub attractive: bool,
    /// Whether features are means over the nodes of a graph and not sums. Predictions are the same. In
    /// training, means suit losses, which lie between 0 and 1 for graphs of any size.
    pub mean: bool,
}

impl PottsShape {
    /// Creates a shape whose neighbours attract each other and whose features are means.
    pub fn new(labels: usize, node_attributes: usize, edge_attributes: usize) -> Self {
        Self { labels, node_attributes, edge_attributes, attractive: true, mean: true }
    }

    /// The same shape with pairwise weights of either sign, so that neighbours may also repel each other.
    ///
    /// ```
    /// use maxmargin::model::potts::PottsShape;
    /// assert!(!PottsShape::new(2, 3, 1).free().attractive);
    /// ```
    #[must_use]
    pub fn free(self) -> Self {
        Self { attractive: false, ..self }
    }

    /// Number of weights.
    pub fn dim(&self) -> usize {
        self.pairwise().end
    }

    /// The range of the unary weights. The weight of attribute `a` with label `y` is at `a * labels + y`
    /// in it.
    pub fn unary(&self) -> Range<usize> {
        0..self.node_attributes * self.labels
    }

    /// The range of the pairwise weights, one per edge attribute.
    pub fn pairwise(&self) -> Range<usize> {
        let start = self.unary().end;
        start..start + self.edge_attributes
    }

    /// The groups of weights by name.
    ///
    /// ```
    /// use maxmargin::model::potts::PottsShape;
    /// assert_eq!(PottsShape::new(2, 3, 1).named_groups()[1], ("pairwise", 6..7));
    /// ```
    pub fn named_groups(&self) -> [(&'static str, Range<usize>); 2] {
        [("unary", self.unary()), ("pairwise", self.pairwise())]
    }

    /// Returns the bounds `others`, with pairwise weights ≥ 0 in addition if neighbours may only attract
    /// each other.
    ///
    /// ```
    /// use maxmargin::model::potts::PottsShape;
    ///
    /// let shape = PottsShape::new(2, 1, 1);
    /// let bounds = shape.bounds(None)?.unwrap();
    /// assert_eq!(bounds.lower(), [f64::NEG_INFINITY, f64::NEG_INFINITY, 0.0]);
    /// assert!(shape.free().bounds(None)?.is_none());
    /// # Ok::<(), maxmargin::BoundsError>(())
    /// ```
    ///
    /// # Errors
    /// If the number of bounds in `others` is not the number of weights, or if they exclude pairwise
    /// weights ≥ 0.
    pub fn bounds(&self, others: Option<Bounds>) -> Result<Option<Bounds>, BoundsError> {
        if let Some(others) = &others
            && others.lower().len() != self.dim()
        {
            let found = others.lower().len();
            return Err(BoundsError::Size { lower: found, upper: found, expected: self.dim() });
        }
        if !self.attractive || self.edge_attributes == 0 {
            return Ok(others);
        }
        let others = others.unwrap_or_else(|| Bounds::none(self.dim()));
        others.with(self.pairwise(), 0.0, f64::INFINITY).map(Some)
    }
}
