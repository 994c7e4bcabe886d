//! Soft constraints (2015), on sets of labels: `runs` trains and keeps what was trained, `table` shows it, and each
//! figure has a file.

mod figure_1;
mod figure_2;
mod figure_3;
mod runs;
mod table;

pub(super) use figure_1::figure_1;
pub(super) use figure_2::figure_2;
pub(super) use figure_3::figure_3;

use super::lab::{DataSet, YEAST, YEAST_CONSTANT};

/// Regularization: the paper chose it by cross-validation and does not state it.
const LAMBDA: f64 = 0.01;

/// Labels without and with a threshold of their own: the paper does not say which it had, and it matters.
const SETS: [DataSet; 2] = [YEAST, YEAST_CONSTANT];
