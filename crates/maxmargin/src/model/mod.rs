//! Ready-made structures: [problems](crate::Problem) to train without writing an oracle.

pub mod chain;
