//! Methods that do not move one block at a time.

pub(crate) mod batch;
