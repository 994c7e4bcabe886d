//! The ways to label a graph.

use super::shape::PottsShape;
use crate::problem::quality::Quality;
use crate::util::names::named_enum;

named_enum! {
    /// How the best labelling of a graph is found, or a good one.
    ///
    /// ```
    /// use maxmargin::Quality;
    /// use maxmargin::model::potts::{PottsInference, PottsShape};
    ///
    /// let auto = |shape: PottsShape| PottsInference::Auto.resolve(&shape);
    /// assert_eq!(auto(PottsShape::new(2, 45, 6)), Ok(PottsInference::MaxFlow));
    /// assert_eq!(auto(PottsShape::new(5, 45, 6)), Ok(PottsInference::Expansion));
    /// assert_eq!(auto(PottsShape::new(2, 45, 6).free()), Ok(PottsInference::MaxProduct));
    /// assert!(PottsInference::MaxFlow.resolve(&PottsShape::new(5, 45, 6)).is_err());
    ///
    /// let relaxed = PottsInference::RoofDuality.quality(&PottsShape::new(2, 45, 6).free());
    /// assert_eq!(relaxed, Quality::UpperBound);
    /// ```
    #[derive(Default)]
    #[non_exhaustive]
    PottsInference("graph inference") {
        /// The best that the shape allows: max-flow for two labels with pairwise weights ≥ 0,
        /// expansion for more of them, max-product for weights of either sign.
        #[default]
        Auto = "auto",
        /// A minimum cut: exact, for two labels with pairwise weights ≥ 0.
        MaxFlow = "max-flow",
        /// α-expansion: labels take turns to take over all nodes that gain by it, each time by a
        /// minimum cut, until none gains. A heuristic (at most twice as much disagreement is paid as
        /// need be), for pairwise weights ≥ 0.
        Expansion = "expansion",
        /// The relaxation over the local polytope, for two labels and pairwise weights of either sign,
        /// by one minimum cut in a network of twice the size. An upper bound: nodes may be half of one
        /// label and half of the other.
        RoofDuality = "roof-duality",
        /// The same relaxation for any number of labels, by linear programs. With pairwise weights ≥ 0,
        /// minimum cuts settle most nodes first; weights of either sign need small graphs.
        Lp = "lp",
        /// Iterated conditional modes: nodes take turns to take the best label given all others.
        Icm = "icm",
        /// Max-product with damped messages: a heuristic.
        MaxProduct = "max-product",
    }
}

impl PottsInference {
    /// What is done for graphs of one shape: never [`Auto`](Self::Auto).
    ///
    /// # Errors
    /// The shape does not allow it; in words.
    pub fn resolve(self, shape: &PottsShape) -> Result<Self, &'static str> {
        match self {
            Self::Auto if !shape.attractive => Ok(Self::MaxProduct),
            Self::Auto if shape.labels <= 2 => Ok(Self::MaxFlow),
            Self::Auto => Ok(Self::Expansion),
            Self::MaxFlow | Self::Expansion if !shape.attractive => {
                Err("it needs pairwise weights that are not negative")
            }
            Self::MaxFlow | Self::RoofDuality if shape.labels > 2 => Err("it needs two labels"),
            _ => Ok(self),
        }
    }

    /// What it promises for graphs of one shape. Without pairwise weights nodes do not know of each
    /// other, and every way is exact.
    ///
    /// ```
    /// use maxmargin::Quality;
    /// use maxmargin::model::potts::{PottsInference, PottsShape};
    ///
    /// assert_eq!(PottsInference::Expansion.quality(&PottsShape::new(5, 9, 1)), Quality::Heuristic);
    /// assert_eq!(PottsInference::Expansion.quality(&PottsShape::new(5, 9, 0)), Quality::Exact);
    /// ```
    pub fn quality(self, shape: &PottsShape) -> Quality {
        match self.resolve(shape) {
            _ if shape.edge_attributes == 0 => Quality::Exact,
            Ok(Self::MaxFlow) => Quality::Exact,
            Ok(Self::RoofDuality | Self::Lp) => Quality::UpperBound,
            _ => Quality::Heuristic,
        }
    }
}
