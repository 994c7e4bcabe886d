//! Factor graphs as JSON lines: reading, writing, and the way to index form.

mod dataset;
mod json;
mod raw;
mod reader;
mod writer;

pub use dataset::{
    FactorGraphDataset, FactorGraphEvalData, FactorGraphNames, TieError, read_factor_graphs,
    read_factor_graphs_with,
};
pub use raw::{RawFactor, RawFactorGraph, RawVariable};
pub use reader::FactorGraphReader;
pub use writer::write_factor_graph;

#[cfg(test)]
mod tests;
