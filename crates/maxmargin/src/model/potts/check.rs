//! Checks that labelled graphs fit a shape.

use super::graphs::PottsGraphs;
use super::inference::PottsInference;
use super::shape::PottsShape;
use crate::model::InputError;

/// The error of an inference that these graphs do not allow.
pub(super) fn refuse(inference: PottsInference, why: &str) -> InputError {
    InputError::Inference(format!("{inference} cannot decode these graphs: {why}"))
}

/// Checks that labels and attributes fit the shape.
pub(super) fn check(shape: &PottsShape, data: &PottsGraphs) -> Result<(), InputError> {
    let labels = shape.labels;
    if labels == 0 {
        return Err(InputError::structure("a graph model needs at least one label"));
    }
    for (at, graph) in data.iter().enumerate() {
        if let Some(&label) = graph.labels().iter().find(|&&label| label as usize >= labels) {
            return Err(InputError::label(format!("graph {at}"), label, labels));
        }
        let refuse = |what, attribute: Option<&u32>, known| match attribute {
            Some(&attribute) => Err(InputError::Unknown {
                place: format!("graph {at}"),
                what,
                found: attribute as usize,
                known,
                unit: "",
            }),
            None => Ok(()),
        };
        for v in 0..graph.nodes() {
            let beyond = |attribute: &&u32| **attribute as usize >= shape.node_attributes;
            let attribute = graph.node(v).attributes.iter().find(beyond);
            refuse("node attribute", attribute, shape.node_attributes)?;
        }
        // If the shape has no edge attributes, edges are ignored.
        for edge in (0..graph.edges().len()).filter(|_| shape.edge_attributes > 0) {
            let row = graph.edge(edge);
            let beyond = |attribute: &&u32| **attribute as usize >= shape.edge_attributes;
            refuse("edge attribute", row.attributes.iter().find(beyond), shape.edge_attributes)?;
            if let Some((_, value)) = row.pairs().find(|(_, v)| shape.attractive && *v < 0.0) {
                let message = format!(
                    "edge {edge} of graph {at} has an attribute with the value {value}; pairwise weights ≥ 0 \
                     need attributes ≥ 0"
                );
                return Err(InputError::Structure(message));
            }
        }
    }
    Ok(())
}
