//! Rectangular assignment: the best way to pair rows with columns.
//!
//! A *matching* pairs each row with at most one column and each column with at most one row. Its score is
//! the sum of the scores of its links and of unmatched rows and columns ([`Nulls`]). [`Assignment`] finds
//! the best one, with dual prices that prove it; [`n_best_assignments`] finds the n best. If rows and
//! columns may have several links each, [`DegreeBounded`] finds the best set of links, and
//! [`n_best_links`] finds the n best.

mod degree;
mod n_best;
mod n_best_links;
mod prices;
mod solver;

pub use degree::DegreeBounded;
pub use n_best::{ScoredAssignment, n_best_assignments};
pub use n_best_links::{LinkSet, n_best_links};
pub use solver::Assignment;

use thiserror::Error;

/// Which rows and columns may stay unmatched, and at what score.
///
/// ```
/// use maxmargin::inference::{Assignment, Nulls};
///
/// let (scores, mut links) = ([2.0, -1.0, 3.0, -2.0], Vec::new());
/// let mut solver = Assignment::new();
/// // Two rows, two columns. First all must be matched, then any may stay unmatched.
/// assert_eq!(solver.solve(&scores, 2, 2, Nulls::Forbidden, &mut links), Ok(2.0));
/// assert_eq!(links, [Some(1), Some(0)]);
/// assert_eq!(solver.solve(&scores, 2, 2, Nulls::Free, &mut links), Ok(3.0));
/// assert_eq!(links, [None, Some(0)]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Nulls<'a> {
    /// Everything on the smaller side must be matched: every row, or every column if there are fewer
    /// columns. The rest of the larger side has the score 0.
    Forbidden,
    /// Any row or column may stay unmatched, at the score 0.
    Free,
    /// Any row or column may stay unmatched, at its own finite score.
    Scored {
        /// The scores of unmatched rows.
        rows: &'a [f64],
        /// The scores of unmatched columns.
        columns: &'a [f64],
    },
}

impl Nulls<'_> {
    /// The score of leaving `row` unmatched, or −∞ if that is forbidden.
    fn row(&self, row: usize) -> f64 {
        match self {
            Self::Forbidden => f64::NEG_INFINITY,
            Self::Free => 0.0,
            Self::Scored { rows, .. } => rows[row],
        }
    }

    /// The score of leaving `column` unmatched.
    fn column(&self, column: usize) -> f64 {
        match self {
            Self::Forbidden | Self::Free => 0.0,
            Self::Scored { columns, .. } => columns[column],
        }
    }
}

/// Why scores have no best assignment.
///
/// ```
/// use maxmargin::inference::{Assignment, AssignmentError, Nulls};
///
/// let never = f64::NEG_INFINITY; // forbids a link
/// let scores = [1.0, never, 2.0, never];
/// let answer = Assignment::new().solve(&scores, 2, 2, Nulls::Forbidden, &mut Vec::new());
/// assert_eq!(answer, Err(AssignmentError::Infeasible));
/// ```
#[derive(Debug, Error, Clone, PartialEq)]
#[non_exhaustive]
pub enum AssignmentError {
    /// A score that is NaN or +∞.
    #[error(
        "the score of row {row} with column {column} is {score}; it must be finite, or −∞ for never"
    )]
    Score {
        /// The row.
        row: usize,
        /// The column.
        column: usize,
        /// The score.
        score: f64,
    },
    /// An unmatched row or column whose score is not finite.
    #[error("the score of leaving {side} {at} unmatched is {score}; a finite number is needed")]
    Null {
        /// `row` or `column`.
        side: &'static str,
        /// The index of the row or column.
        at: usize,
        /// The score.
        score: f64,
    },
    /// So many links are forbidden that not all rows or columns that must be matched can be.
    #[error("too many links are forbidden: not everything can be matched")]
    Infeasible,
}

/// Checks that no score is NaN or +∞, and that the scores of unmatched rows and columns are finite.
///
/// # Panics
/// If sizes do not fit.
fn check(
    scores: &[f64],
    rows: usize,
    columns: usize,
    nulls: Nulls<'_>,
) -> Result<(), AssignmentError> {
    assert_eq!(scores.len(), rows * columns, "one score for each row and column");
    // Comparisons with NaN are false.
    if !scores.iter().all(|&score| score < f64::INFINITY) {
        let at = scores.iter().position(|score| score.is_nan() || *score == f64::INFINITY);
        let at = at.unwrap_or_default();
        let (row, column, score) = (at / columns, at % columns, scores[at]);
        return Err(AssignmentError::Score { row, column, score });
    }
    if let Nulls::Scored { rows: of_rows, columns: of_columns } = nulls {
        let fits = of_rows.len() == rows && of_columns.len() == columns;
        assert!(fits, "one score for each unmatched row and column");
        for (side, scores) in [("row", of_rows), ("column", of_columns)] {
            if let Some(at) = scores.iter().position(|score| !score.is_finite()) {
                return Err(AssignmentError::Null { side, at, score: scores[at] });
            }
        }
    }
    Ok(())
}
