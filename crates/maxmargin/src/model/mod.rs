//! Ready-made structures: [problems](crate::Problem) to train without writing an oracle.

pub mod chain;

pub(crate) mod rows;

pub use rows::Row;
