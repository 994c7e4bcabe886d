//! The solver for best assignments.

use super::prices::{FREE, Market};
use super::{AssignmentError, Nulls, check};

/// Finds best assignments. Calls after the first of a size do not allocate.
///
/// Rows bid for columns (Jonker and Volgenant's reductions), and rows that are still without a column
/// take the shortest augmenting path in reduced costs. For R rows and C columns this takes O(R²C) steps
/// at worst, and usually far fewer. The duals of the last answer prove it:
///
/// ```text
/// u_r + v_c ≥ s_rc                      for every link
/// u_r ≥ null_r,  v_c ≥ null_c           for what may stay unmatched
/// Σ_r u_r + Σ_c v_c = the score
/// ```
///
/// So no assignment scores more: each link scores at most u_r + v_c, and an unmatched row or column at
/// most its dual.
///
/// ```
/// use maxmargin::inference::{Assignment, Nulls};
///
/// let (mut solver, mut links) = (Assignment::new(), Vec::new());
/// let scores = [5.0, 4.0, 1.0,   // row 0 with columns 0, 1, 2
///               5.0, 1.0, 1.0];
/// let score = solver.solve(&scores, 2, 3, Nulls::Forbidden, &mut links)?;
/// assert_eq!((score, &links), (9.0, &vec![Some(1), Some(0)]));
/// let (u, v) = (solver.row_duals(), solver.column_duals());
/// assert!((0..6).all(|at| u[at / 3] + v[at % 3] >= scores[at]));
/// assert_eq!(u.iter().chain(v).sum::<f64>(), score);
/// # Ok::<(), maxmargin::inference::AssignmentError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Assignment {
    market: Market,
    transposed: Vec<f64>,
    row_duals: Vec<f64>,
    column_duals: Vec<f64>,
}

impl Assignment {
    /// Creates a solver.
    pub fn new() -> Self {
        Self::default()
    }

    /// Writes the column of every row to `links`, and returns the score.
    ///
    /// `scores` are stored row by row; −∞ forbids a link. At ties, the answer depends on the scores
    /// alone.
    ///
    /// ```
    /// use maxmargin::inference::{Assignment, Nulls};
    ///
    /// let (mut solver, mut links) = (Assignment::new(), Vec::new());
    /// // Staying unmatched costs row 0 nothing and row 1 much; there is only one column.
    /// let nulls = Nulls::Scored { rows: &[0.0, -9.0], columns: &[0.0] };
    /// assert_eq!(solver.solve(&[3.0, -2.0], 2, 1, nulls, &mut links)?, -2.0);
    /// assert_eq!(links, [None, Some(0)]);
    /// # Ok::<(), maxmargin::inference::AssignmentError>(())
    /// ```
    ///
    /// # Errors
    /// If a score is NaN or +∞, or if so many links are forbidden that there is no answer. The contents
    /// of `links` are then meaningless.
    ///
    /// # Panics
    /// If the number of scores is not `rows` · `columns`, or if the number of scores of unmatched rows or
    /// columns is wrong.
    pub fn solve(
        &mut self,
        scores: &[f64],
        rows: usize,
        columns: usize,
        nulls: Nulls<'_>,
        links: &mut Vec<Option<u32>>,
    ) -> Result<f64, AssignmentError> {
        check(scores, rows, columns, nulls)?;
        let Self { market, transposed, row_duals, column_duals } = self;
        links.clear();
        links.resize(rows, None);
        // If all of the smaller side must be matched, that side bids.
        if nulls == Nulls::Forbidden && rows > columns {
            transposed.clear();
            for c in 0..columns {
                transposed.extend((0..rows).map(|r| scores[r * columns + c]));
            }
            market.clear(transposed, columns, rows, nulls)?;
            for (c, &r) in market.column_of.iter().enumerate() {
                links[r as usize] = Some(c as u32);
            }
            market.write_duals(transposed, nulls, column_duals, row_duals);
        } else {
            market.clear(scores, rows, columns, nulls)?;
            for (link, &c) in links.iter_mut().zip(&market.column_of) {
                *link = (c != FREE).then_some(c);
            }
            market.write_duals(scores, nulls, row_duals, column_duals);
        }
        let matched = links.iter().enumerate().map(|(r, link)| match link {
            Some(c) => scores[r * columns + *c as usize],
            None if nulls == Nulls::Forbidden => 0.0,
            None => nulls.row(r),
        });
        let matched: f64 = matched.sum();
        let Nulls::Scored { columns: scores, .. } = nulls else { return Ok(matched) };
        let mut unmatched: f64 = scores.iter().sum();
        links.iter().flatten().for_each(|&c| unmatched -= scores[c as usize]);
        Ok(matched + unmatched)
    }

    /// The duals u of the rows of the last answer.
    pub fn row_duals(&self) -> &[f64] {
        &self.row_duals
    }

    /// The duals v of the columns of the last answer.
    pub fn column_duals(&self) -> &[f64] {
        &self.column_duals
    }
}
