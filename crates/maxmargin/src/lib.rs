//! maxmargin
pub mod model;
