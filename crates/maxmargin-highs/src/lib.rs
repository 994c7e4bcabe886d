//! [HiGHS](https://highs.dev) as the LP solver of maxmargin's factor graphs.
//!
//! The library has a simplex method in pure Rust, which is as good or better for graphs of some dozens
//! of variables. HiGHS is faster on larger ones (three times on grids of a hundred variables, says the
//! example `grids`), but it is written in C++: building it takes minutes and needs cmake, a C++
//! compiler and libclang. So it is a crate of its own, which is empty unless its feature `highs` is
//! switched on.
//!
//! ```toml
//! [dependencies]
//! maxmargin-highs = { version = "0.1", features = ["highs"] }
//! ```
//!
#![cfg_attr(feature = "highs", doc = "```")]
#![cfg_attr(not(feature = "highs"), doc = "```ignore")]
//! use maxmargin::inference::Inference;
//! use maxmargin::model::factor_graph::{FactorGraph, Graphs, StateLoss};
//! use maxmargin_highs::Highs;
//! use std::sync::Arc;
//!
//! # let mut data = Graphs::new();
//! # data.push_variable(2, 0)?;
//! # data.push_factor(0, &[0], [(0, 1.0)])?;
//! # data.end_graph(1.0)?;
//! let problem = FactorGraph::new(data.shape()?, data, StateLoss::default(), Inference::Lp)?;
//! let problem = problem.with_solver(Arc::new(Highs));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "highs")]
mod solver;

#[cfg(feature = "highs")]
pub use solver::Highs;
