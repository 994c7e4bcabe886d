//! Ready-made structures: [problems](crate::Problem) to train without writing an oracle.

pub mod binary;
pub mod chain;
pub mod factor_graph;
pub mod matching;
pub mod multiclass;
pub mod multilabel;
pub mod potts;
pub mod segment;
pub mod soft;
pub mod tree;

mod column;
mod labelled;
pub(crate) mod rows;

pub use column::{Column, Offsets, SharedSlice};
pub use labelled::{LabelledRows, RowColumns, RowError};
pub use rows::{BadColumns, Row};
