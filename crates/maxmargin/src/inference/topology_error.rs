//! Why the structure of a factor graph is refused.

use thiserror::Error;

/// The largest table of scores a factor can have.
pub(super) const MOST_JOINT_STATES: usize = 1 << 24;

/// Why the structure of a factor graph is invalid.
///
/// ```
/// use maxmargin::inference::{Topology, TopologyError};
///
/// let error = Topology::new([2, 2], [[0, 2]]).unwrap_err();
/// assert_eq!(error, TopologyError::Variable { factor: 0, variable: 2, variables: 2 });
/// assert_eq!(error.to_string(), "factor 0 is over variable 2, but there are only 2 variables");
/// ```
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TopologyError {
    /// A variable without states.
    #[error("variable {variable} has no states")]
    NoStates {
        /// Its index.
        variable: usize,
    },
    /// A factor over fewer than two variables. The scores of single variables are not factors.
    #[error("factor {factor} is over {arity} variables; at least 2 are needed")]
    Arity {
        /// Its index.
        factor: usize,
        /// Number of its variables.
        arity: usize,
    },
    /// A factor over a variable that does not exist.
    #[error(
        "factor {factor} is over variable {variable}, but there are only {variables} variables"
    )]
    Variable {
        /// Its index.
        factor: usize,
        /// The variable.
        variable: u32,
        /// How many there are.
        variables: usize,
    },
    /// A factor over the same variable twice.
    #[error("factor {factor} is over variable {variable} twice")]
    Twice {
        /// Its index.
        factor: usize,
        /// The variable.
        variable: u32,
    },
    /// A factor with too many joint states for a table.
    #[error("factor {factor} has more than {MOST_JOINT_STATES} joint states")]
    Size {
        /// Its index.
        factor: usize,
    },
    /// Patterns for variables with other numbers of states.
    #[error("the patterns of factor {factor} are for variables with other numbers of states")]
    Patterns {
        /// Its index.
        factor: usize,
    },
}
