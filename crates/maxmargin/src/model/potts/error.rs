//! The error of labelled graphs whose data, shape and inference do not fit together.

use super::graphs::PottsGraphs;
use super::inference::PottsInference;
use super::shape::PottsShape;
use thiserror::Error;

/// Why data, a shape and an inference method do not fit together.
///
/// ```
/// use maxmargin::model::potts::{PottsInference, PottsGraphs, NodeLoss, Potts, PottsShape};
///
/// let shape = PottsShape::new(3, 1, 1);
/// let data = PottsGraphs::new();
/// let error = Potts::new(shape, data, NodeLoss::default(), PottsInference::MaxFlow).unwrap_err();
/// assert_eq!(error.to_string(), "max-flow cannot decode these graphs: it needs two labels");
/// ```
#[derive(Debug, Error, Clone, PartialEq)]
#[non_exhaustive]
pub enum PottsError {
    /// There are no labels.
    #[error("a graph model needs at least one label")]
    NoLabels,
    /// A label that the shape does not have.
    #[error("graph {graph} has the label {label}, but there are only {labels} labels")]
    Label {
        /// Index of the graph.
        graph: usize,
        /// The label.
        label: u32,
        /// Number of labels.
        labels: usize,
    },
    /// An attribute that the shape does not have.
    #[error("graph {graph} has the {of} attribute {attribute}, but there are only {attributes}")]
    Attribute {
        /// Index of the graph.
        graph: usize,
        /// What has the attribute: `node` or `edge`.
        of: &'static str,
        /// The attribute.
        attribute: u32,
        /// Number of attributes.
        attributes: usize,
    },
    /// An edge attribute is negative, although neighbours may only attract each other.
    #[error(
        "edge {edge} of graph {graph} has an attribute with the value {value}; pairwise weights ≥ 0 \
         need attributes ≥ 0"
    )]
    Negative {
        /// Index of the graph.
        graph: usize,
        /// Index of the edge.
        edge: usize,
        /// The value.
        value: f64,
    },
    /// The shape does not allow the chosen inference.
    #[error("{inference} cannot decode these graphs: {why}")]
    Inference {
        /// The chosen inference.
        inference: PottsInference,
        /// Why it is not possible.
        why: &'static str,
    },
}

/// Checks that labels and attributes fit the shape.
pub(super) fn check(shape: &PottsShape, data: &PottsGraphs) -> Result<(), PottsError> {
    let labels = shape.labels;
    if labels == 0 {
        return Err(PottsError::NoLabels);
    }
    for (at, graph) in data.iter().enumerate() {
        if let Some(&label) = graph.labels().iter().find(|&&label| label as usize >= labels) {
            return Err(PottsError::Label { graph: at, label, labels });
        }
        let refuse = |of, attribute: Option<&u32>, attributes| match attribute {
            Some(&attribute) => Err(PottsError::Attribute { graph: at, of, attribute, attributes }),
            None => Ok(()),
        };
        for v in 0..graph.nodes() {
            let beyond = |attribute: &&u32| **attribute as usize >= shape.node_attributes;
            refuse("node", graph.node(v).attributes.iter().find(beyond), shape.node_attributes)?;
        }
        // If the shape has no edge attributes, edges are ignored.
        for edge in (0..graph.edges().len()).filter(|_| shape.edge_attributes > 0) {
            let row = graph.edge(edge);
            let beyond = |attribute: &&u32| **attribute as usize >= shape.edge_attributes;
            refuse("edge", row.attributes.iter().find(beyond), shape.edge_attributes)?;
            if let Some((_, value)) = row.pairs().find(|(_, v)| shape.attractive && *v < 0.0) {
                return Err(PottsError::Negative { graph: at, edge, value });
            }
        }
    }
    Ok(())
}
