//! The inference methods for labelled graphs.

use super::shape::PottsShape;
use crate::problem::quality::Quality;
use crate::util::names::named_enum;

named_enum! {
    /// The method that finds the best labelling of a graph, or a good one.
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
        /// α-expansion: each label in turn takes over all nodes that gain by it, which a minimum cut
        /// finds, until no label gains. A heuristic for pairwise weights ≥ 0 (the cost of disagreements
        /// is at most twice the optimal one).
        Expansion = "expansion",
        /// The relaxation over the local polytope, for two labels and pairwise weights of either sign,
        /// solved by one minimum cut in a network of twice the size. An upper bound: a node may have half
        /// of each label.
        RoofDuality = "roof-duality",
        /// The same relaxation for any number of labels, solved by linear programs. With pairwise weights
        /// ≥ 0, minimum cuts decide most nodes first; with weights of either sign, graphs must be small.
        Lp = "lp",
        /// Iterated conditional modes: each node in turn takes the best label given all others. A
        /// heuristic.
        Icm = "icm",
        /// Max-product with damped messages. A heuristic.
        MaxProduct = "max-product",
    }
}

impl PottsInference {
    /// The method that is used for graphs of this shape. The result is never [`Auto`](Self::Auto).
    ///
    /// # Errors
    /// Says why the shape does not allow this method.
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

    /// What the method promises for graphs of this shape. Without pairwise weights nodes are independent,
    /// and every method is exact.
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
