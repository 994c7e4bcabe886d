//! Ready-made structures: [problems](crate::Problem) to train without writing an oracle.
//!
//! Each folder contains a model: its data, the shape of its weights, its loss, and the problem that consists of
//! these. Models of rows share their data: [`LabelledRows`].

pub mod binary;
pub mod chain;
pub mod factor_graph;
pub mod matching;
pub mod multiclass;
pub mod multilabel;
#[cfg(feature = "unstable")]
pub mod potts;
#[cfg(feature = "unstable")]
pub mod segment;
#[cfg(feature = "unstable")]
pub mod soft;
#[cfg(feature = "unstable")]
pub mod tree;

mod column;
mod error;
mod labelled;
#[cfg(feature = "unstable")]
pub(crate) mod loss_levels;
pub(crate) mod rows;

#[cfg(feature = "unstable")]
pub use column::{Column, Offsets, SharedSlice};
pub use error::InputError;
pub use labelled::LabelledRows;
#[cfg(feature = "unstable")]
pub use labelled::RowColumns;
#[cfg(feature = "unstable")]
pub use rows::BadColumns;
pub use rows::Row;
