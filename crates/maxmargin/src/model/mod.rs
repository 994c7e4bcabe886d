//! Ready-made structures: [problems](crate::Problem) to train without writing an oracle.

pub mod chain;
pub mod factor_graph;
pub mod multilabel;

mod labelled;
#[allow(dead_code, reason = "some of it is for models to come")]
pub(crate) mod rows;

pub use labelled::{LabelledRows, RowError};
pub use rows::Row;
