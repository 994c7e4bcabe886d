//! Which weights there are, and where they lie.

use crate::problem::bounds::{Bounds, BoundsError};
use std::ops::Range;

/// The shape of the weights of labelled graphs.
///
/// In w come first the unary weights, attribute by attribute with all labels side by side, then one
/// weight per edge attribute: what it costs to disagree.
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
    /// Number of attributes of edges; 0 for nodes that do not know of each other.
    pub edge_attributes: usize,
    /// Whether neighbours may only attract each other: pairwise weights are then kept ≥ 0, and edge
    /// attributes have to be.
    pub attractive: bool,
    /// Whether features are means over the nodes of a graph, not sums. Predictions are the same;
    /// in training, losses lie between 0 and 1 whatever the size of a graph, and means go with them.
    pub mean: bool,
}

impl PottsShape {
    /// Labels for nodes whose neighbours attract each other, with means for features.
    pub fn new(labels: usize, node_attributes: usize, edge_attributes: usize) -> Self {
        Self { labels, node_attributes, edge_attributes, attractive: true, mean: true }
    }

    /// The same with pairwise weights of either sign: neighbours may repel each other as well.
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

    /// Where the unary weights lie: attribute `a` with label `y` at `a * labels + y`.
    pub fn unary(&self) -> Range<usize> {
        0..self.node_attributes * self.labels
    }

    /// Where the pairwise weights lie, one per edge attribute.
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

    /// Bounds that keep the pairwise weights ≥ 0, if they have to be, besides `others`.
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
    /// `others` are of another number than the weights, or allow nothing ≥ 0.
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
