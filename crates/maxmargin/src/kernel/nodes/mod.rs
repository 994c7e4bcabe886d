//! The models that can have a kernel.

mod chain;
mod multiclass;
mod multilabel;
