//! Best assignments.

use super::input::{Allowed, Numbers, Shared, View, Whole, check, view_of, whole_of};
use super::{Answers, Batch, Found, Naming};
use crate::error::value_error;
use maxmargin::inference::{Assignment, Nulls, n_best_assignments};
use numpy::PyReadonlyArrayDyn;
use pyo3::prelude::*;

/// Memory of a thread.
#[derive(Default)]
struct Scratch {
    scores: Vec<f64>,
    rows: Vec<f64>,
    columns: Vec<f64>,
    solver: Assignment,
    links: Vec<Option<u32>>,
}

/// Pairs of lists with the scores of their links.
struct Tables<'a> {
    scores: View<'a>,
    rows: usize,
    columns: usize,
    /// Numbers of rows and columns of each item.
    sizes: Option<&'a [i64]>,
    /// Which links are allowed, of all items or of each.
    mask: Option<&'a [bool]>,
    is_free: bool,
    nulls: Option<(Shared<'a>, Shared<'a>)>,
    truth: Option<&'a [i64]>,
    /// What a wrong row costs.
    cost: f64,
    is_share: bool,
    answers: usize,
}

/// Finds the best assignments. `scores` has items, rows and columns; `nulls` has the scores of unmatched
/// rows and columns, all 0 if `is_free`.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "called from one place, by name")]
pub(crate) fn decode_assignments<'py>(
    py: Python<'py>,
    scores: Numbers<'py>,
    mask: Option<PyReadonlyArrayDyn<'py, bool>>,
    is_free: bool,
    row_nulls: Option<Numbers<'py>>,
    column_nulls: Option<Numbers<'py>>,
    sizes: Option<Whole<'py>>,
    truth: Option<Whole<'py>>,
    cost: f64,
    is_share: bool,
    answers: usize,
    threads: usize,
    is_batch: bool,
) -> PyResult<Answers<'py>> {
    let [items, rows, columns] = scores.sizes()?;
    let mask = mask.as_ref().map(|mask| mask.as_slice()).transpose();
    let nulls = match (view_of(&row_nulls)?, view_of(&column_nulls)?) {
        (Some(of_rows), Some(of_columns)) => {
            Some((Shared::new(of_rows, rows, items)?, Shared::new(of_columns, columns, items)?))
        }
        _ => None,
    };
    let tables = Tables {
        scores: scores.view()?,
        rows,
        columns,
        sizes: whole_of(&sizes)?,
        mask: mask.map_err(|_| value_error("the mask is not contiguous"))?,
        is_free,
        nulls,
        truth: whole_of(&truth)?,
        cost,
        is_share,
        answers,
    };
    let work = rows * columns * rows.min(columns);
    let naming = Naming { is_batch };
    let batch = Batch { items, answers, width: rows, work, threads, naming };
    batch.run(py, Scratch::default, |scratch, item| tables.decode(item, scratch))
}

impl Tables<'_> {
    fn decode(&self, item: usize, memory: &mut Scratch) -> Result<Found, String> {
        let (rows, columns) = self.sizes.map_or((self.rows, self.columns), |sizes| {
            (sizes[2 * item] as usize, sizes[2 * item + 1] as usize)
        });
        let Scratch { scores: own, rows: of_rows, columns: of_columns, solver, links } = memory;
        let is_whole = columns == self.columns && self.mask.is_none() && self.truth.is_none();
        let from = item * self.rows * self.columns;
        let (scores, constant) = if is_whole {
            (self.scores.read(from, rows * columns, own), 0.0)
        } else {
            own.clear();
            for row in 0..rows {
                self.scores.append(from + row * self.columns, columns, own);
            }
            check_scores(own, columns)?;
            self.forbid(item, columns, own);
            let constant = self.augment(item, rows, columns, own)?;
            (&**own, constant)
        };
        check_scores(scores, columns)?;
        let nulls = match self.nulls {
            _ if self.is_free => Nulls::Free,
            None => Nulls::Forbidden,
            Some((of_row, of_column)) => Nulls::Scored {
                rows: &of_row.read(item, of_rows)[..rows],
                columns: &of_column.read(item, of_columns)[..columns],
            },
        };
        let whole = |link: &Option<u32>| link.map_or(-1, i64::from);
        if self.answers == 1 {
            let score = solver.solve(scores, rows, columns, nulls, links);
            let score = constant + score.map_err(|error| error.to_string())?;
            return Ok(Found::one(links.iter().map(whole), score, score));
        }
        let found = n_best_assignments(scores, rows, columns, nulls, self.answers);
        let found = found.map_err(|error| error.to_string())?;
        let outputs = found.iter().flat_map(|found| found.links.iter().map(whole)).collect();
        let scores: Vec<f64> = found.iter().map(|found| constant + found.score).collect();
        let bound = scores.first().copied().unwrap_or(f64::NEG_INFINITY);
        Ok(Found { outputs, scores, bound })
    }

    /// Gives links that are masked out the score −∞.
    fn forbid(&self, item: usize, columns: usize, scores: &mut [f64]) {
        let Some(mask) = self.mask else { return };
        let size = self.rows * self.columns;
        let mask = if mask.len() == size { mask } else { &mask[item * size..][..size] };
        for (row, mask) in scores.chunks_exact_mut(columns.max(1)).zip(mask.chunks(self.columns)) {
            for (score, _) in row.iter_mut().zip(mask).filter(|(_, allowed)| !**allowed) {
                *score = f64::NEG_INFINITY;
            }
        }
    }

    /// Adds the cost of every row whose column is wrong, all but a constant, which is returned: the loss of
    /// leaving all rows unmatched. So scores of unmatched rows need no change.
    fn augment(
        &self,
        item: usize,
        rows: usize,
        columns: usize,
        scores: &mut [f64],
    ) -> Result<f64, String> {
        let Some(truth) = self.truth else { return Ok(0.0) };
        let cost = if self.is_share { self.cost / rows.max(1) as f64 } else { self.cost };
        let mut constant = 0.0;
        let mut taken = vec![false; columns];
        for (r, &truth) in truth[item * self.rows..][..rows].iter().enumerate() {
            let row = &mut scores[r * columns..][..columns];
            match usize::try_from(truth) {
                Ok(column) if column < columns => {
                    if std::mem::replace(&mut taken[column], true) {
                        return Err(format!("the true column {column} belongs to two rows"));
                    }
                    row[column] -= cost;
                    constant += cost;
                }
                Err(_) if truth == -1 => row.iter_mut().for_each(|score| *score += cost),
                _ => {
                    return Err(format!(
                        "the true column of row {r} is {truth}; columns go from 0 to {}, and -1 is \
                         for none",
                        columns.saturating_sub(1)
                    ));
                }
            }
        }
        Ok(constant)
    }
}

fn check_scores(scores: &[f64], columns: usize) -> Result<(), String> {
    check(scores, Allowed::FiniteOrNever, |at| {
        let columns = columns.max(1);
        format!("the score of row {} with column {}", at / columns, at % columns)
    })
}
