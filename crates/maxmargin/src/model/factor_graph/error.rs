//! The error of factor graphs that do not fit a shape or a decoder.

use crate::inference::Unsuitable;
use crate::inference::topology::TopologyError;
use thiserror::Error;

/// Why data do not fit a shape or an inference method.
///
/// ```
/// use maxmargin::inference::Inference;
/// use maxmargin::model::factor_graph::{FactorGraph, GraphShape, Graphs, StateLoss};
///
/// let mut data = Graphs::new();
/// data.push_variable(2, 0)?;
/// data.push_factor(3, &[0], [])?;
/// data.end_graph(1.0)?;
/// let (shape, loss) = (GraphShape::default(), StateLoss::default());
/// let error = FactorGraph::new(shape, data, loss, Inference::Auto).unwrap_err();
/// assert_eq!(error.to_string(), "factor 0 of graph 0 has the template 3, but there are only 0");
/// # Ok::<(), maxmargin::model::factor_graph::GraphError>(())
/// ```
#[derive(Debug, Error, Clone, PartialEq)]
#[non_exhaustive]
pub enum FactorGraphError {
    /// A template that the shape does not have.
    #[error(
        "factor {factor} of graph {graph} has the template {template}, but there are only \
         {templates}"
    )]
    Template {
        /// Index of the graph.
        graph: usize,
        /// Index of the factor in it.
        factor: usize,
        /// The template.
        template: u32,
        /// How many there are.
        templates: usize,
    },
    /// The variables of a factor have other numbers of states than its template.
    #[error(
        "factor {factor} of graph {graph} is over variables with {found:?} states, but its template \
         is for {expected:?}"
    )]
    States {
        /// Index of the graph.
        graph: usize,
        /// Index of the factor in it.
        factor: usize,
        /// The numbers of states of its variables.
        found: Vec<usize>,
        /// Those of its template.
        expected: Vec<usize>,
    },
    /// An attribute that the template does not have.
    #[error(
        "factor {factor} of graph {graph} has the attribute {attribute}, but its template has only \
         {attributes}"
    )]
    Attribute {
        /// Index of the graph.
        graph: usize,
        /// Index of the factor in it.
        factor: usize,
        /// The attribute.
        attribute: u32,
        /// How many there are.
        attributes: usize,
    },
    /// The structure of a graph is invalid.
    #[error("graph {graph}: {error}")]
    Topology {
        /// Index of the graph.
        graph: usize,
        /// What is wrong. Factors over one variable are not counted.
        error: TopologyError,
    },
    /// The structure of a graph does not allow the chosen inference.
    #[error("graph {graph}: {error}")]
    Inference {
        /// Index of the graph.
        graph: usize,
        /// The chosen inference, and why it is not possible.
        error: Unsuitable,
    },
    /// A variable has more states than there are labels of states.
    #[error("a variable has {states} states, but only {labels} states have a label")]
    Labels {
        /// Number of states.
        states: usize,
        /// Number of states with a label.
        labels: usize,
    },
}
