//! The best way to pair rows with columns: rectangular assignment.
//!
//! A *matching* pairs each row with at most one column and each column with at most one row. Its
//! score is the sum of the scores of its links, and of what stays unmatched ([`Nulls`]).
//! [`Assignment`] finds the best one, with dual prices that prove it; [`n_best_assignments`] finds the
//! n best. Where rows and columns may have several links each, [`DegreeBounded`] is the one to ask, and
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

/// What may stay unmatched.
///
/// ```
/// use maxmargin::inference::{Assignment, Nulls};
///
/// let (scores, mut links) = ([2.0, -1.0, 3.0, -2.0], Vec::new());
/// let mut solver = Assignment::new();
/// // Two rows, two columns. All must be matched, or whatever is best left alone is left alone.
/// assert_eq!(solver.solve(&scores, 2, 2, Nulls::Forbidden, &mut links), Ok(2.0));
/// assert_eq!(links, [Some(1), Some(0)]);
/// assert_eq!(solver.solve(&scores, 2, 2, Nulls::Free, &mut links), Ok(3.0));
/// assert_eq!(links, [None, Some(0)]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Nulls<'a> {
    /// Nothing on the smaller side: every row has a link, or every column if these are fewer. What
    /// is left on the larger side counts nothing.
    Forbidden,
    /// Anything, at the score 0.
    Free,
    /// Anything, at a finite score of its own: one for each row, and one for each column.
    Scored {
        /// The scores of unmatched rows.
        rows: &'a [f64],
        /// The scores of unmatched columns.
        columns: &'a [f64],
    },
}

impl Nulls<'_> {
    /// What it counts if `row` stays unmatched; −∞ where that is forbidden.
    fn row(&self, row: usize) -> f64 {
        match self {
            Self::Forbidden => f64::NEG_INFINITY,
            Self::Free => 0.0,
            Self::Scored { rows, .. } => rows[row],
        }
    }

    /// What it counts if `column` stays unmatched.
    fn column(&self, column: usize) -> f64 {
        match self {
            Self::Forbidden | Self::Free => 0.0,
            Self::Scored { columns, .. } => columns[column],
        }
    }
}

/// Scores that allow no answer.
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
        /// Which one.
        at: usize,
        /// The score.
        score: f64,
    },
    /// Links are forbidden in such a way that not all can be matched that must be.
    #[error("too many links are forbidden: not everything can be matched")]
    Infeasible,
}

/// Refuses scores that are NaN or +∞, and unmatched ones that are not finite.
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
