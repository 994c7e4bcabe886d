//! Factor graphs as JSON lines: reading, writing, and the way to index form.

mod dataset;
mod json;
mod raw;
mod reader;
mod writer;

pub use dataset::{GraphDataset, GraphEvalData, GraphNames, read_graphs, read_graphs_with};
pub use raw::{RawFactor, RawGraph, RawVariable};
pub use reader::GraphReader;
pub use writer::write_graph;

#[cfg(test)]
mod tests;
