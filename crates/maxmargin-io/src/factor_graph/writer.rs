//! Writing factor graphs.

use super::raw::RawFactorGraph;
use crate::write_error::WriteError;
use maxmargin::model::factor_graph::Counting;
use serde_json::{Map, Value, json};
use std::io::Write;

/// Writes a graph as one line of JSON that [`FactorGraphReader`](super::FactorGraphReader) reads back as the same
/// graph, bit for bit.
///
/// ```
/// use maxmargin_io::{RawFactorGraph, RawVariable, write_factor_graph};
///
/// let mut graph = RawFactorGraph::default();
/// graph.variables.push(RawVariable { states: 2, truth: None, cost: 1.0 });
/// let mut output = Vec::new();
/// write_factor_graph(&mut output, &graph)?;
/// assert_eq!(output, b"{\"variables\":[{\"states\":2}],\"factors\":[]}\n");
/// # Ok::<(), maxmargin_io::WriteError>(())
/// ```
///
/// # Errors
/// If the output fails, or if the graph is not one that could be read. Nothing is written then.
pub fn write_factor_graph(mut to: impl Write, graph: &RawFactorGraph) -> Result<(), WriteError> {
    graph.check().map_err(|wrong| WriteError::Graph {
        field: wrong.field,
        reason: format!("expected {}, found {}", wrong.expected, wrong.found),
    })?;
    let variables: Vec<Value> = graph
        .variables
        .iter()
        .map(|variable| {
            let mut fields = Map::new();
            fields.insert("states".into(), json!(variable.states));
            if let Some(truth) = variable.truth {
                fields.insert("truth".into(), json!(truth));
            }
            if variable.cost != 1.0 {
                fields.insert("cost".into(), json!(variable.cost));
            }
            Value::Object(fields)
        })
        .collect();
    let factors: Vec<Value> = graph
        .factors
        .iter()
        .map(|factor| {
            let values = factor.attributes.iter().map(|(name, value)| (name.clone(), json!(value)));
            let attributes: Map<String, Value> = values.collect();
            let (template, variables) = (&factor.template, &factor.variables);
            let mut fields = Map::new();
            fields.insert("template".into(), json!(template));
            fields.insert("variables".into(), json!(variables));
            fields.insert("attributes".into(), Value::Object(attributes));
            if let Some(patterns) = &factor.patterns {
                fields.insert("patterns".into(), json!(patterns.rows()));
                if patterns.counting() != Counting::All {
                    fields.insert("counting".into(), json!(patterns.counting().name()));
                }
            }
            Value::Object(fields)
        })
        .collect();
    let mut line = json!({"variables": variables, "factors": factors});
    if graph.weight != 1.0 {
        line["weight"] = json!(graph.weight);
    }
    let mut text = line.to_string();
    text.push('\n');
    to.write_all(text.as_bytes())?;
    Ok(())
}
