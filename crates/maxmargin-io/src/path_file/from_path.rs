//! Records the path from which a model was taken.

use maxmargin::PathKind;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The path from which a model was taken. The gap of such a model is the bound of the path at its λ. The dual point
/// that proves it was not kept.
///
/// ```
/// use maxmargin::PathKind;
/// use maxmargin_io::FromPath;
///
/// let from = FromPath { kind: PathKind::Exact, epsilon: 0.1, breakpoint: 0.5, is_guaranteed: true };
/// assert_eq!(
///     from.to_string(),
///     "an exact path, from its breakpoint at lambda 0.5, with a gap of at most 0.1 guaranteed",
/// );
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FromPath {
    /// How the path was made.
    pub kind: PathKind,
    /// The gap that the path guarantees, or was meant to reach.
    pub epsilon: f64,
    /// The λ of the breakpoint whose weights and dual point are used for the λ of the model.
    pub breakpoint: f64,
    /// Whether the path guarantees ε.
    pub is_guaranteed: bool,
}

impl fmt::Display for FromPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, epsilon, breakpoint, is_guaranteed } = self;
        let path = match kind {
            PathKind::Exact => "an exact path",
            PathKind::Heuristic => "a heuristic path",
            PathKind::GridCold | PathKind::GridWarmPrimal | PathKind::GridWarmDual => "a grid",
        };
        write!(
            f,
            "{path}, from its breakpoint at lambda {breakpoint}, with a gap of at most {epsilon} "
        )?;
        f.write_str(if *is_guaranteed { "guaranteed" } else { "aimed at" })
    }
}
