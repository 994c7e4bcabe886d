//! Ready-made structures.

pub mod chain;
