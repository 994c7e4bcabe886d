//! Assignment as a market, in which rows bid for columns and columns have prices.
//!
//! The price v_c of a column starts at the score of the unmatched column and only rises. The profit of a
//! row at a column is s_rc − v_c, and its profit without a column is the score of its null. An assignment
//! in which every row makes its largest profit u_r is the best one, if no unmatched column has a raised
//! price.

use super::{AssignmentError, Nulls};

/// Marks a missing row or column.
pub(super) const FREE: u32 = u32::MAX;

/// Marks a row whose column is not decided yet.
const OPEN: u32 = u32::MAX - 1;

/// The largest number of bids per row. With real numbers, two rows can outbid each other by tiny amounts
/// without end. Augmenting paths then decide the rows that are still open.
const BIDS_PER_ROW: usize = 4;

/// An assignment under construction. There are at least as many columns as rows, or rows have nulls.
#[derive(Debug, Clone, Default)]
pub(super) struct Market {
    /// The column of each row, or [`FREE`] for its null.
    pub(super) column_of: Vec<u32>,
    /// The row of each column, or [`FREE`].
    row_of: Vec<u32>,
    prices: Vec<f64>,
    /// Rows that are still open.
    open: Vec<u32>,
    path: Search,
}

/// Shortest paths from an open row, in reduced costs.
#[derive(Debug, Clone, Default)]
struct Search {
    /// The columns that are not reached yet.
    ahead: Vec<Ahead>,
    /// The row from which a column was reached.
    from: Vec<u32>,
    /// The columns that were reached, each with its distance.
    reached: Vec<(u32, f64)>,
    /// The highest score of each column, and its row.
    highest: Vec<f64>,
    best: Vec<u32>,
}

/// A column that is not reached yet: its price, its tentative distance, and the row on the path of that
/// distance.
#[derive(Debug, Clone, Copy)]
struct Ahead {
    price: f64,
    distance: f64,
    column: u32,
    from: u32,
}

/// The end of a shortest path: a free column, or the null of a row.
#[derive(Debug, Clone, Copy)]
enum End {
    Column(usize),
    Null(usize),
}

impl Market {
    /// Finds the best assignment.
    pub(super) fn clear(
        &mut self,
        scores: &[f64],
        rows: usize,
        columns: usize,
        nulls: Nulls<'_>,
    ) -> Result<(), AssignmentError> {
        self.column_of.clear();
        self.column_of.resize(rows, OPEN);
        self.row_of.clear();
        self.row_of.resize(columns, FREE);
        self.prices.clear();
        self.prices.extend((0..columns).map(|c| nulls.column(c)));
        if nulls == Nulls::Forbidden && rows == columns {
            // All columns will be taken, so prices may start anywhere.
            self.reduce_columns(scores);
        }
        self.bid(scores, nulls);
        let Self { column_of, open, .. } = self;
        open.clear();
        open.extend((0..).zip(&*column_of).filter(|(_, c)| **c == OPEN).map(|(r, _)| r));
        for at in 0..self.open.len() {
            self.augment(scores, nulls, self.open[at] as usize)?;
        }
        Ok(())
    }

    /// Gives every column the highest price that any row would pay, and assigns it to that row.
    fn reduce_columns(&mut self, scores: &[f64]) {
        let columns = self.prices.len();
        let Search { highest, best, .. } = &mut self.path;
        highest.clear();
        highest.resize(columns, f64::NEG_INFINITY);
        best.clear();
        best.resize(columns, FREE);
        for (r, row) in (0..).zip(scores.chunks_exact(columns.max(1))) {
            for ((highest, best), &score) in highest.iter_mut().zip(best.iter_mut()).zip(row) {
                if score > *highest {
                    (*highest, *best) = (score, r);
                }
            }
        }
        // A column that no row can have keeps the price 0. Then there is no answer.
        for c in (0..columns).filter(|&c| best[c] != FREE) {
            self.prices[c] = highest[c];
            if self.column_of[best[c] as usize] == OPEN {
                self.column_of[best[c] as usize] = c as u32;
                self.row_of[c] = best[c];
            }
        }
    }

    /// Runs Jonker and Volgenant's augmenting row reduction: an open row takes the column of its largest
    /// profit and raises its price until the second largest profit is as good. The row that had the
    /// column is open again.
    fn bid(&mut self, scores: &[f64], nulls: Nulls<'_>) {
        let columns = self.prices.len();
        let mut left = BIDS_PER_ROW * self.column_of.len();
        for first in 0..self.column_of.len() {
            let mut bidder = first;
            while self.column_of[bidder] == OPEN && left > 0 {
                left -= 1;
                let row = &scores[bidder * columns..][..columns];
                let null = nulls.row(bidder);
                let Best { mut at, profit, second, second_at } = Best::of(row, &self.prices);
                if null >= profit {
                    if null > f64::NEG_INFINITY {
                        self.column_of[bidder] = FREE;
                    }
                    break;
                }
                // Raise the price by the lead over the second best choice.
                let (second, second_at) =
                    if null >= second { (null, at) } else { (second, second_at) };
                let raise = profit - second;
                if raise == 0.0 && self.row_of[at] != FREE {
                    at = second_at;
                }
                let old = self.row_of[at];
                // If a row can have only one column, that column has no finite price.
                if old != FREE && (raise == f64::INFINITY || raise == 0.0) {
                    break;
                }
                if raise < f64::INFINITY {
                    self.prices[at] += raise;
                }
                // Take the column, and let its old row bid next.
                self.column_of[bidder] = at as u32;
                self.row_of[at] = bidder as u32;
                if old == FREE {
                    break;
                }
                self.column_of[old as usize] = OPEN;
                bidder = old as usize;
            }
        }
    }

    /// Decides an open row by the shortest augmenting path.
    fn augment(
        &mut self,
        scores: &[f64],
        nulls: Nulls<'_>,
        open: usize,
    ) -> Result<(), AssignmentError> {
        let (end, length) = self.find_path(scores, nulls, open)?;
        for &(c, distance) in &self.path.reached {
            self.prices[c as usize] += length - distance;
        }
        // Columns change hands along the path, from its end back to the open row.
        let mut free = match end {
            End::Column(c) => c,
            End::Null(row) => {
                let left = self.column_of[row];
                self.column_of[row] = FREE;
                if row == open {
                    return Ok(());
                }
                left as usize
            }
        };
        loop {
            let row = self.path.from[free] as usize;
            self.row_of[free] = row as u32;
            let next = std::mem::replace(&mut self.column_of[row], free as u32);
            if row == open {
                return Ok(());
            }
            free = next as usize;
        }
    }

    /// Runs Dijkstra's algorithm from an open row, until a free column or a null is nearest.
    fn find_path(
        &mut self,
        scores: &[f64],
        nulls: Nulls<'_>,
        open: usize,
    ) -> Result<(End, f64), AssignmentError> {
        let columns = self.prices.len();
        let Search { ahead, from, reached, .. } = &mut self.path;
        ahead.clear();
        ahead.extend((0..).zip(&self.prices).map(|(column, &price)| Ahead {
            price,
            distance: f64::INFINITY,
            column,
            from: FREE,
        }));
        from.resize(columns.max(from.len()), FREE);
        reached.clear();
        let (mut row, mut base) = (open, 0.0);
        let (mut null_row, mut null_distance) = (open, f64::INFINITY);
        loop {
            // The distance of a column through this row is base + v_c − s_rc.
            let null = base - nulls.row(row);
            if null < null_distance {
                (null_row, null_distance) = (row, null);
            }
            let row_scores = &scores[row * columns..][..columns];
            let (at, nearest) = relax(row_scores, base, row as u32, ahead, &self.row_of);
            if nearest >= null_distance {
                return match null_distance {
                    f64::INFINITY => Err(AssignmentError::Infeasible),
                    _ => Ok((End::Null(null_row), null_distance)),
                };
            }
            let next = ahead.swap_remove(at);
            let column = next.column as usize;
            from[column] = next.from;
            if self.row_of[column] == FREE {
                return Ok((End::Column(column), nearest));
            }
            reached.push((next.column, nearest));
            row = self.row_of[column] as usize;
            // u_row = s − v at its own column.
            base = nearest + (scores[row * columns + column] - self.prices[column]);
        }
    }

    /// Writes the duals of rows and columns.
    pub(super) fn write_duals(
        &self,
        scores: &[f64],
        nulls: Nulls<'_>,
        of_rows: &mut Vec<f64>,
        of_columns: &mut Vec<f64>,
    ) {
        let columns = self.prices.len();
        of_columns.clone_from(&self.prices);
        of_rows.clear();
        of_rows.extend(self.column_of.iter().enumerate().map(|(r, &c)| match c {
            FREE => nulls.row(r),
            _ => scores[r * columns + c as usize] - self.prices[c as usize],
        }));
    }
}

/// Updates the distances of columns that are shorter through this row. Returns the nearest column,
/// preferring a free one at ties, and its distance, which is ∞ if no column can be reached.
#[inline]
fn relax(scores: &[f64], base: f64, row: u32, ahead: &mut [Ahead], row_of: &[u32]) -> (usize, f64) {
    let (mut at, mut nearest) = (0, f64::INFINITY);
    for (i, column) in ahead.iter_mut().enumerate() {
        let distance = base + (column.price - scores[column.column as usize]);
        // Without branches, because they would be unpredictable.
        let shorter = distance < column.distance;
        column.distance = if shorter { distance } else { column.distance };
        column.from = if shorter { row } else { column.from };
        if column.distance <= nearest {
            let is_free = || row_of[column.column as usize] == FREE;
            if column.distance < nearest || is_free() {
                (at, nearest) = (i, column.distance);
            }
        }
    }
    (at, nearest)
}

/// The two largest profits of a row.
struct Best {
    at: usize,
    profit: f64,
    second_at: usize,
    second: f64,
}

impl Best {
    #[inline]
    fn of(scores: &[f64], prices: &[f64]) -> Self {
        let never = f64::NEG_INFINITY;
        let mut best = Self { at: 0, profit: never, second_at: 0, second: never };
        for (c, (score, price)) in scores.iter().zip(prices).enumerate() {
            let profit = score - price;
            if profit > best.second {
                if profit > best.profit {
                    (best.second, best.second_at) = (best.profit, best.at);
                    (best.profit, best.at) = (profit, c);
                } else {
                    (best.second, best.second_at) = (profit, c);
                }
            }
        }
        best
    }
}
