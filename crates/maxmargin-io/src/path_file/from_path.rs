//! Where a model was taken out of.

use maxmargin::PathKind;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The path that a model was taken out of. The gap of such a model is the bound that the path has at its
/// λ; the dual point that proves it was not kept.
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
    /// The gap that it guarantees, or has aimed at.
    pub epsilon: f64,
    /// The λ of the breakpoint whose weights, and whose dual point, serve the λ of the model.
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
