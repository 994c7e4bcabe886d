//! The n best assignments.

use super::{Assignment, AssignmentError, Nulls, check};
use crate::util::best_first::BestFirst;

/// An assignment and its score.
///
/// ```
/// use maxmargin::inference::{Nulls, n_best_assignments};
///
/// let best = n_best_assignments(&[2.0, 1.0], 1, 2, Nulls::Free, 1)?;
/// assert_eq!((best[0].score, best[0].links.as_slice()), (2.0, &[Some(0)][..]));
/// # Ok::<(), maxmargin::inference::AssignmentError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ScoredAssignment {
    /// The score.
    pub score: f64,
    /// The column of every row, if it has one.
    pub links: Vec<Option<u32>>,
}

/// Finds the `n` best assignments, best first. The list is shorter if there are fewer assignments.
///
/// This is Murty's method: all assignments other than the best one are divided into classes by the first
/// row at which they differ from it. The best of each class is an assignment under constraints, and the
/// best of these is the next answer, whose class is divided in turn. Each of the n answers takes at most
/// as many solutions of an [`Assignment`] as there are rows.
///
/// ```
/// use maxmargin::inference::{Nulls, n_best_assignments};
///
/// let scores = [3.0, 1.0, 2.0, 2.0];
/// let best = n_best_assignments(&scores, 2, 2, Nulls::Forbidden, 5)?;
/// let found: Vec<_> = best.iter().map(|a| (a.score, a.links.clone())).collect();
/// assert_eq!(found, [(5.0, vec![Some(0), Some(1)]), (3.0, vec![Some(1), Some(0)])]);
/// # Ok::<(), maxmargin::inference::AssignmentError>(())
/// ```
///
/// # Errors
/// The same as for [`Assignment::solve`].
///
/// # Panics
/// The same as for [`Assignment::solve`].
pub fn n_best_assignments(
    scores: &[f64],
    rows: usize,
    columns: usize,
    nulls: Nulls<'_>,
    n: usize,
) -> Result<Vec<ScoredAssignment>, AssignmentError> {
    check(scores, rows, columns, nulls)?;
    if nulls == Nulls::Forbidden && rows > columns {
        // Every column has a row, so exchange rows and columns.
        let transposed: Vec<f64> =
            (0..scores.len()).map(|at| scores[at % rows * columns + at / rows]).collect();
        let found = n_best_assignments(&transposed, columns, rows, nulls, n)?;
        let turn = |ScoredAssignment { score, links: of_columns }| {
            let mut links = vec![None; rows];
            for (c, &row) in (0..).zip(&of_columns) {
                row.into_iter().for_each(|row: u32| links[row as usize] = Some(c));
            }
            ScoredAssignment { score, links }
        };
        return Ok(found.into_iter().map(turn).collect());
    }
    let mut search = Murty { scores, rows, columns, nulls, solver: Assignment::new() };
    let mut waiting = BestFirst::default();
    if n > 0 {
        let first = search.solve(0, Vec::new(), &[])?;
        waiting.push(first.best.score, first);
    }
    let mut found = Vec::new();
    while let Some(Class { best, fixed, excluded }) = waiting.pop() {
        let done = found.len() + 1 == n;
        if !done {
            for row in fixed..rows {
                // The rows before this one are fixed to their links; the link of this one must change.
                let mut excluded: Vec<_> =
                    excluded.iter().copied().filter(|(at, _)| *at == row).collect();
                excluded.push((row, best.links[row]));
                match search.solve(row, excluded, &best.links) {
                    Ok(class) => waiting.push(class.best.score, class),
                    Err(AssignmentError::Infeasible) => {}
                    Err(other) => return Err(other),
                }
            }
        }
        found.push(best);
        if done {
            break;
        }
    }
    Ok(found)
}

/// All assignments that agree with `best` in the first `fixed` rows and avoid the `excluded` links of the
/// next row.
struct Class {
    best: ScoredAssignment,
    fixed: usize,
    excluded: Vec<(usize, Option<u32>)>,
}

struct Murty<'a> {
    scores: &'a [f64],
    rows: usize,
    columns: usize,
    nulls: Nulls<'a>,
    solver: Assignment,
}

impl Murty<'_> {
    /// Finds the best assignment of a class. The first `fixed` rows have the same links as in `like`.
    fn solve(
        &mut self,
        fixed: usize,
        excluded: Vec<(usize, Option<u32>)>,
        like: &[Option<u32>],
    ) -> Result<Class, AssignmentError> {
        let never = f64::NEG_INFINITY;
        let (rows, columns) = (self.rows, self.columns);
        // An additional column for each row stands for its null, so that nulls can be forbidden too.
        let nullable = self.nulls != Nulls::Forbidden;
        let width = columns + if nullable { rows } else { 0 };
        let mut scores = vec![never; rows * width];
        for (r, row) in scores.chunks_exact_mut(width.max(1)).enumerate() {
            row[..columns].copy_from_slice(&self.scores[r * columns..][..columns]);
            if nullable {
                row[columns + r] = self.nulls.row(r);
                row[..columns].iter_mut().enumerate().for_each(|(c, s)| *s -= self.nulls.column(c));
            }
        }
        let place = |row: usize, link: Option<u32>| {
            row * width + link.map_or(columns + row, |c| c as usize)
        };
        // Fix the links of the first rows, and forbid the excluded ones.
        for (row, &link) in like.iter().enumerate().take(fixed) {
            let kept = scores[place(row, link)];
            scores[row * width..][..width].fill(never);
            scores[place(row, link)] = kept;
        }
        for &(row, link) in &excluded {
            scores[place(row, link)] = never;
        }
        let mut links = Vec::new();
        let score = self.solver.solve(&scores, rows, width, Nulls::Forbidden, &mut links)?;
        let base: f64 = (0..columns).map(|c| self.nulls.column(c)).sum();
        links.iter_mut().for_each(|link| *link = link.filter(|c| (*c as usize) < columns));
        let best = ScoredAssignment { score: base + score, links };
        Ok(Class { best, fixed, excluded })
    }
}
