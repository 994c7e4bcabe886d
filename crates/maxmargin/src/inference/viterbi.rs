//! The best path through a chain.
//!
//! The forward recursion only takes maxima, which vectorises over labels; which predecessor gave
//! the maximum is found again on the way back, for the labels of the best path alone. For T
//! positions and K labels that takes O(TK²) time, and TK numbers of memory that the caller keeps.
//!
//! ```
//! use maxmargin::inference::viterbi::viterbi;
//!
//! // Without transitions each position is on its own.
//! let (mut forward, mut path) = (Vec::new(), Vec::new());
//! let score = viterbi(&[1.0, 2.0,  0.5, 0.0], &[], 2, &mut forward, &mut path);
//! assert_eq!((score, path), (2.5, vec![1, 0]));
//! ```

/// Columns handled together, so that their running maxima stay in registers.
const LANES: usize = 8;

/// Finds the best labelling of a chain.
///
/// `scores` holds one row of `labels` node scores per position, `transitions` the score of label `a`
/// followed by label `b` at `a * labels + b`; it may be empty, for none. Writes the labels of the
/// best path to `path` and returns its score. Of paths with equal scores, the one with the smaller
/// label is taken at the last position, and then backwards at each before it. No score may be NaN.
///
/// `forward` is scratch memory; what is in it and in `path` before does not matter.
///
/// ```
/// use maxmargin::inference::viterbi::viterbi;
/// let (mut forward, mut path) = (Vec::new(), Vec::new());
/// // Two labels, three positions; changing the label costs 1.
/// let scores = [2.0, 0.0,  0.0, 0.5,  3.0, 0.0];
/// let score = viterbi(&scores, &[0.0, -1.0, -1.0, 0.0], 2, &mut forward, &mut path);
/// assert_eq!((score, path), (5.0, vec![0, 0, 0]));
/// ```
///
/// # Panics
/// If `scores` is empty or not a whole number of rows, or `transitions` has the wrong size.
pub fn viterbi(
    scores: &[f64],
    transitions: &[f64],
    labels: usize,
    forward: &mut Vec<f64>,
    path: &mut Vec<u32>,
) -> f64 {
    assert!(!scores.is_empty() && scores.len().is_multiple_of(labels), "scores must be whole rows");
    path.clear();
    if transitions.is_empty() {
        return best_of_each(scores, labels, path);
    }
    assert_eq!(transitions.len(), labels * labels, "one transition score per pair of labels");

    forward.clear();
    forward.extend_from_slice(scores);
    let mut rows = forward.chunks_exact_mut(labels);
    let mut before = rows.next().unwrap_or_default();
    for row in rows {
        add_best_predecessor(before, transitions, row);
        before = row;
    }
    trace_back(forward, transitions, labels, path)
}

/// The first largest value and where it is.
fn argmax(values: impl Iterator<Item = f64>) -> (usize, f64) {
    let mut best = (0, f64::NEG_INFINITY);
    for (at, value) in values.enumerate() {
        if value > best.1 {
            best = (at, value);
        }
    }
    best
}

fn best_of_each(scores: &[f64], labels: usize, path: &mut Vec<u32>) -> f64 {
    let mut total = 0.0;
    for row in scores.chunks_exact(labels) {
        let (label, score) = argmax(row.iter().copied());
        path.push(label as u32);
        total += score;
    }
    total
}

/// `row[b] += max over a of before[a] + transitions[a][b]`.
fn add_best_predecessor(before: &[f64], transitions: &[f64], row: &mut [f64]) {
    let labels = row.len();
    if labels < LANES {
        for (b, score) in row.iter_mut().enumerate() {
            let column = transitions[b..].iter().step_by(labels);
            let best = before.iter().zip(column).map(|(f, t)| f + t);
            *score += best.fold(f64::NEG_INFINITY, larger);
        }
        return;
    }
    let mut from = 0;
    loop {
        let best = best_of_lanes(before, &transitions[from..], labels);
        // The last group of lanes overlaps the one before it; only the new lanes are written.
        let done = from.next_multiple_of(LANES) - from;
        for (score, best) in row[from + done..].iter_mut().zip(&best[done..]) {
            *score += best;
        }
        if from + LANES >= labels {
            return;
        }
        from = if from + 2 * LANES <= labels { from + LANES } else { labels - LANES };
    }
}

#[inline]
fn larger(a: f64, b: f64) -> f64 {
    if b > a { b } else { a }
}

/// The maxima of `LANES` neighbouring columns, whose first entry is `columns[0]`.
#[inline]
fn best_of_lanes(before: &[f64], columns: &[f64], labels: usize) -> [f64; LANES] {
    let mut best = [f64::NEG_INFINITY; LANES];
    for (a, &f) in before.iter().enumerate() {
        let lanes = &columns[a * labels..a * labels + LANES];
        for (best, t) in best.iter_mut().zip(lanes) {
            *best = larger(*best, f + t);
        }
    }
    best
}

fn trace_back(forward: &[f64], transitions: &[f64], labels: usize, path: &mut Vec<u32>) -> f64 {
    let mut rows = forward.chunks_exact(labels).rev();
    let (mut label, score) = argmax(rows.next().unwrap_or_default().iter().copied());
    path.push(label as u32);
    for row in rows {
        let column = transitions[label..].iter().step_by(labels);
        label = argmax(row.iter().zip(column).map(|(f, t)| f + t)).0;
        path.push(label as u32);
    }
    path.reverse();
    score
}
