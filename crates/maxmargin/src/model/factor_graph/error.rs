//! What does not fit together.

use crate::inference::Unsuitable;
use crate::inference::topology::TopologyError;
use thiserror::Error;

/// Data that do not fit a shape or a way of decoding.
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
    /// A factor over variables with other numbers of states than its template.
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
    /// A structure that cannot be decoded at all.
    #[error("graph {graph}: {error}")]
    Topology {
        /// Index of the graph.
        graph: usize,
        /// What is wrong; factors over one variable do not count.
        error: TopologyError,
    },
    /// A structure that cannot be decoded as was asked for.
    #[error("graph {graph}: {error}")]
    Inference {
        /// Index of the graph.
        graph: usize,
        /// What was asked for, and why it cannot be.
        error: Unsuitable,
    },
}
