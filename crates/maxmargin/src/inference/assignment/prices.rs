//! Rows that bid for columns, and columns with prices.
//!
//! The price v_c of a column only rises, from what the column is worth unmatched; a row's profit at a
//! column is s_rc − v_c, and at no column its null. An assignment in which every row makes its largest
//! profit u_r is the best one, as long as nobody's price was raised who is left over.

use super::{AssignmentError, Nulls};

/// In place of a row or column: none.
pub(super) const FREE: u32 = u32::MAX;

/// In place of the column of a row: not settled yet.
const OPEN: u32 = u32::MAX - 1;

/// So many bids per row and no more: with real numbers, two rows can outbid each other by next to
/// nothing without end. What is open then is settled by augmenting paths.
const BIDS_PER_ROW: usize = 4;

/// An assignment in the making. There are at least as many columns as rows, or rows have nulls.
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
    /// The distance of each column as far as it is known; ∞ once it is reached.
    distances: Vec<f64>,
    /// The prices; ∞ for columns that are reached, so that they are never looked at again.
    prices: Vec<f64>,
    /// The row from which a column is reached.
    from: Vec<u32>,
    /// The columns that were reached, each with its distance.
    reached: Vec<(u32, f64)>,
}

/// Where a shortest path ends: at a free column, or at the null of a row.
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
            // All columns will be taken, so any prices will do to begin with.
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

    /// Gives every column the highest price that anyone would pay, and lets it go to that row.
    fn reduce_columns(&mut self, scores: &[f64]) {
        let columns = self.prices.len();
        let Search { distances: highest, from: best, .. } = &mut self.path;
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
        // A column that nobody can have keeps the price 0; there is no answer then.
        for c in (0..columns).filter(|&c| best[c] != FREE) {
            self.prices[c] = highest[c];
            if self.column_of[best[c] as usize] == OPEN {
                self.column_of[best[c] as usize] = c as u32;
                self.row_of[c] = best[c];
            }
        }
    }

    /// Jonker and Volgenant's augmenting row reduction: an open row takes the column of its largest
    /// profit and raises its price until the second largest is as good; who had it is open again.
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
                let (second, second_at) =
                    if null >= second { (null, at) } else { (second, second_at) };
                let raise = profit - second;
                if raise == 0.0 && self.row_of[at] != FREE {
                    at = second_at;
                }
                let old = self.row_of[at];
                // The only column a row can have has no fair price.
                if old != FREE && (raise == f64::INFINITY || raise == 0.0) {
                    break;
                }
                if raise < f64::INFINITY {
                    self.prices[at] += raise;
                }
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

    /// Settles an open row by the shortest augmenting path.
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

    /// Dijkstra's algorithm from an open row, until a free column or a null is nearest.
    fn find_path(
        &mut self,
        scores: &[f64],
        nulls: Nulls<'_>,
        open: usize,
    ) -> Result<(End, f64), AssignmentError> {
        let columns = self.prices.len();
        let Search { distances, prices, from, reached } = &mut self.path;
        distances.clear();
        distances.resize(columns, f64::INFINITY);
        prices.clone_from(&self.prices);
        from.resize(columns.max(from.len()), FREE);
        reached.clear();
        let (mut row, mut base) = (open, 0.0);
        let (mut null_row, mut null_distance) = (open, f64::INFINITY);
        loop {
            // The distance of a column by way of this row is base + v_c − s_rc.
            let null = base - nulls.row(row);
            if null < null_distance {
                (null_row, null_distance) = (row, null);
            }
            let row_scores = &scores[row * columns..][..columns];
            let nearest = relax(row_scores, prices, base, row as u32, distances, from);
            let mut length = nearest;
            let mut at = usize::MAX;
            if nearest < null_distance {
                // Of the nearest columns a free one, if there is any.
                for (c, _) in distances.iter().enumerate().filter(|(_, d)| **d == nearest) {
                    if self.row_of[c] == FREE {
                        return Ok((End::Column(c), nearest));
                    }
                    at = at.min(c);
                }
            } else {
                length = null_distance;
            }
            if at == usize::MAX {
                return match length {
                    f64::INFINITY => Err(AssignmentError::Infeasible),
                    _ => Ok((End::Null(null_row), length)),
                };
            }
            reached.push((at as u32, nearest));
            distances[at] = f64::INFINITY;
            prices[at] = f64::INFINITY;
            row = self.row_of[at] as usize;
            // u_row = s − v at its own column.
            base = nearest + (scores[row * columns + at] - self.prices[at]);
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

/// Columns that are handled side by side.
const LANES: usize = 4;

/// Takes the distances of columns by way of a row where they are shorter; the least of all.
#[inline]
fn relax(
    scores: &[f64],
    prices: &[f64],
    base: f64,
    row: u32,
    distances: &mut [f64],
    from: &mut [u32],
) -> f64 {
    let count = scores.len();
    let (prices, distances, from) = (&prices[..count], &mut distances[..count], &mut from[..count]);
    let mut least = [f64::INFINITY; LANES];
    let whole = count - count % LANES;
    for at in (0..whole).step_by(LANES) {
        for (lane, least) in least.iter_mut().enumerate() {
            let c = at + lane;
            let distance = base + (prices[c] - scores[c]);
            if distance < distances[c] {
                distances[c] = distance;
                from[c] = row;
            }
            *least = if distances[c] < *least { distances[c] } else { *least };
        }
    }
    for c in whole..count {
        let distance = base + (prices[c] - scores[c]);
        if distance < distances[c] {
            distances[c] = distance;
            from[c] = row;
        }
        least[0] = if distances[c] < least[0] { distances[c] } else { least[0] };
    }
    least.into_iter().fold(f64::INFINITY, |a, b| if b < a { b } else { a })
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
