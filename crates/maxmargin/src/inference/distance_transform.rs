//! The generalized distance transform: the best of many places, minus a quadratic cost of the distance to
//! it.
//!
//! ```text
//! D(p) = max_q  f(q) − a·(q − p)² − b·(q − p)
//! ```
//!
//! This computes D for all p together, in linear time (Felzenszwalb and Huttenlocher): every q is a parabola over
//! p, and D is their upper envelope. In the plane, rows are transformed first, then columns. Where lines are short,
//! comparing all places is faster (`short_lines.rs`).

use super::short_lines::{self, ShortLines};

/// The cost `square`·δ² + `linear`·δ of a displacement δ along one axis.
///
/// ```
/// use maxmargin::inference::Cost;
/// assert_eq!(Cost { square: 2.0, linear: 1.0 }.of(-3.0), 15.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Cost {
    /// The coefficient of δ². If it is negative, the transform is a plain search.
    pub square: f64,
    /// The coefficient of δ.
    pub linear: f64,
}

impl Cost {
    /// The cost of the displacement `delta`.
    pub fn of(&self, delta: f64) -> f64 {
        (self.square * delta + self.linear) * delta
    }
}

/// Computes distance transforms. It reuses its memory.
///
/// ```
/// use maxmargin::inference::{Cost, DistanceTransform};
///
/// // A grid of 3 × 1 places; from each, the best one around, at 1 per squared step.
/// let cost = Cost { square: 1.0, linear: 0.0 };
/// let (mut best, mut from) = (Vec::new(), Vec::new());
/// let mut transform = DistanceTransform::default();
/// transform.maximise(&[0.0, 0.5, 4.0], 3, [cost; 2], [0.0, 0.0], &mut best, &mut from);
/// assert_eq!(best, [0.0, 3.0, 4.0]);
/// assert_eq!(from, [0, 2, 2]); // where each found it
/// ```
#[derive(Debug, Clone, Default)]
pub struct DistanceTransform {
    line: Line,
    /// The transform of all rows, and the place at which each maximum is reached.
    rows: Vec<f64>,
    row_from: Vec<u32>,
    column: Vec<f64>,
    found: Vec<(f64, u32)>,
    short: ShortLines,
    from: Vec<u32>,
}

impl DistanceTransform {
    /// Computes, for every place p = (x, y) of a grid with rows of `width` places, the largest value of
    ///
    /// ```text
    /// scores(q) − cost₀(q_x − x − anchor₀) − cost₁(q_y − y − anchor₁)
    /// ```
    ///
    /// over all places q. Writes the value to `best`, and a q at which it is reached to `from`. Places
    /// with the score −∞ are left out; if all are left out, every value is −∞.
    ///
    /// # Panics
    /// If the number of scores is not a multiple of `width`.
    pub fn maximise(
        &mut self,
        scores: &[f64],
        width: usize,
        costs: [Cost; 2],
        anchor: [f64; 2],
        best: &mut Vec<f64>,
        from: &mut Vec<u32>,
    ) {
        assert!(width > 0 && scores.len().is_multiple_of(width), "scores must be whole rows");
        let height = scores.len() / width;
        self.rows.clear();
        self.row_from.clear();
        for row in scores.chunks_exact(width) {
            self.line.maximise(row, costs[0], anchor[0], &mut self.found);
            self.rows.extend(self.found.iter().map(|found| found.0));
            self.row_from.extend(self.found.iter().map(|found| found.1));
        }
        best.clear();
        best.resize(scores.len(), 0.0);
        from.clear();
        from.resize(scores.len(), 0);
        for x in 0..width {
            self.column.clear();
            self.column.extend(self.rows[x..].iter().step_by(width));
            self.line.maximise(&self.column, costs[1], anchor[1], &mut self.found);
            for (y, &(value, row)) in self.found.iter().enumerate() {
                best[y * width + x] = value;
                let row = row as usize * width;
                from[y * width + x] = row as u32 + self.row_from[row + x];
            }
        }
        debug_assert_eq!(self.column.len(), height);
    }

    /// As [`maximise`](Self::maximise), but only computes the values, which is faster on small grids.
    /// [`best_from`](Self::best_from) finds the places.
    pub(crate) fn values(
        &mut self,
        scores: &[f64],
        width: usize,
        costs: [Cost; 2],
        anchor: [f64; 2],
        best: &mut Vec<f64>,
    ) {
        if width.max(scores.len() / width) <= short_lines::LONGEST && !scores.is_empty() {
            return self.short.maximise(scores, width, costs, anchor, best);
        }
        let mut from = std::mem::take(&mut self.from);
        self.maximise(scores, width, costs, anchor, best, &mut from);
        self.from = from;
    }

    /// Finds the first place q with the largest scores(q) − cost₀(q_x − x − anchor₀) − cost₁(q_y − y − anchor₁), for one
    /// place `at` = (x, y) of a grid with rows of `width` places.
    pub(crate) fn best_from(
        &mut self,
        scores: &[f64],
        width: usize,
        costs: [Cost; 2],
        anchor: [f64; 2],
        at: usize,
    ) -> usize {
        let (x, y) = (at % width, at / width);
        let cost = |axis: usize, to: usize, from: usize| {
            costs[axis].of(to as f64 - from as f64 - anchor[axis])
        };
        let along_row = &mut self.column;
        along_row.clear();
        along_row.extend((0..width).map(|to| cost(0, to, x)));
        let mut best = (0, f64::NEG_INFINITY);
        for (row, values) in scores.chunks_exact(width).enumerate() {
            let along_column = cost(1, row, y);
            for (column, (score, cost)) in values.iter().zip(&*along_row).enumerate() {
                let value = score - cost - along_column;
                if value > best.1 || value.is_nan() && !best.1.is_nan() {
                    best = (row * width + column, value);
                }
            }
        }
        best.0
    }
}

/// The transform along one line.
#[derive(Debug, Clone, Default)]
struct Line {
    /// The parabolas of the envelope from left to right: place, height at 0, and the point from which on
    /// it is the highest.
    hull: Vec<(u32, f64, f64)>,
}

impl Line {
    fn maximise(&mut self, scores: &[f64], cost: Cost, anchor: f64, into: &mut Vec<(f64, u32)>) {
        into.clear();
        if cost.square > 0.0 {
            self.envelope(scores, cost, anchor, into);
            return;
        }
        // If the cost is linear, the same place is best for all. If it is concave, there is no envelope:
        // search all places.
        let places = 0..scores.len();
        let from = |p: usize| {
            let value = |q: usize| scores[q] - cost.of(q as f64 - p as f64 - anchor);
            let better = |best: (f64, u32), q: usize| match value(q) {
                value if value > best.0 || value.is_nan() => (value, q as u32),
                _ => best,
            };
            (0..scores.len()).fold((f64::NEG_INFINITY, 0), better)
        };
        if cost.square == 0.0 {
            let (_, q) = from(0);
            let value = |p: usize| scores[q as usize] - cost.of(f64::from(q) - p as f64 - anchor);
            into.extend(places.map(|p| (value(p), q)));
        } else {
            into.extend(places.map(from));
        }
    }

    fn envelope(&mut self, scores: &[f64], cost: Cost, anchor: f64, into: &mut Vec<(f64, u32)>) {
        let a = cost.square;
        self.hull.clear();
        for (q, score) in scores.iter().enumerate() {
            if *score == f64::NEG_INFINITY {
                continue;
            }
            // f(q) − a(q − p)² − b(q − p) = [f(q) − bq − aq²] + 2aqp + (terms without q)
            let own = score - cost.of(q as f64);
            let mut start = f64::NEG_INFINITY;
            while let Some(&(last, height, from)) = self.hull.last() {
                start = (height - own) / (2.0 * a * (q as f64 - f64::from(last)));
                if start > from {
                    break;
                }
                self.hull.pop();
                start = f64::NEG_INFINITY;
            }
            self.hull.push((q as u32, own, start));
        }
        // Read off the highest parabola at each place.
        let mut at = 0;
        for p in 0..scores.len() {
            let place = p as f64 + anchor;
            while self.hull.get(at + 1).is_some_and(|&(_, _, start)| start < place) {
                at += 1;
            }
            into.push(match self.hull.get(at) {
                None => (f64::NEG_INFINITY, 0),
                Some(&(q, ..)) => (scores[q as usize] - cost.of(f64::from(q) - place), q),
            });
        }
    }
}
