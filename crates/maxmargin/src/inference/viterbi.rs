//! The best path through a chain.
//!
//! The forward recursion only computes maxima, which vectorises over labels. The predecessor that reached
//! a maximum is found again on the way back, only for the labels of the best path. For T positions and K
//! labels this takes O(TK²) time, and memory for TK numbers, which the caller keeps. The matrix is read
//! in order, four rows at a time, so it may be larger than the caches.
//!
//! ```
//! use maxmargin::inference::viterbi;
//!
//! // Without transitions each position is on its own.
//! let (mut forward, mut path) = (Vec::new(), Vec::new());
//! let score = viterbi(&[1.0, 2.0,  0.5, 0.0], &[], 2, &mut forward, &mut path);
//! assert_eq!((score, path), (2.5, vec![1, 0]));
//! ```

/// The number of rows of the transition matrix that are read together.
const ROWS: usize = 4;

/// The positions of a piece of a long chain.
const PIECE: usize = 1 << 10;

/// With fewer labels than this, reading rows together does not pay.
const FEW: usize = 8;

/// Finds the best labelling of a chain.
///
/// `scores` holds one row of `labels` node scores per position, `transitions` the score of label `a`
/// followed by label `b` at `a * labels + b`; it may be empty, or hold one such matrix for each step from a
/// position to the next. Writes the labels of the best path to `path` and returns its score. At ties, the
/// path with the smaller label at the last position is taken, then at the position before it, and so on. A
/// score of −∞ forbids; if all paths are forbidden, the result is −∞. No score may be NaN.
///
/// `forward` is scratch memory. The contents of `forward` and `path` are overwritten.
///
/// ```
/// use maxmargin::inference::viterbi;
/// let (mut forward, mut path) = (Vec::new(), Vec::new());
/// // Two labels, three positions; changing the label costs 1.
/// let scores = [2.0, 0.0,  0.0, 0.5,  3.0, 0.0];
/// let score = viterbi(&scores, &[0.0, -1.0, -1.0, 0.0], 2, &mut forward, &mut path);
/// assert_eq!((score, &path), (5.0, &vec![0, 0, 0]));
/// // Only the second change costs something.
/// let steps = [[0.0; 4], [0.0, -1.0, -1.0, 0.0]].concat();
/// let score = viterbi(&[2.0, 0.0, 0.0, 0.5, 0.0, 3.0], &steps, 2, &mut forward, &mut path);
/// assert_eq!((score, path), (5.5, vec![0, 1, 1]));
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
    let steps = Steps::new(transitions, labels, scores.len() / labels);

    forward.clear();
    // One more row, as scratch memory.
    forward.reserve_exact(scores.len() + labels);
    forward.extend_from_slice(scores);
    forward.resize(scores.len() + labels, 0.0);
    let (table, best) = forward.split_at_mut(scores.len());
    let mut rows = table.chunks_exact_mut(labels);
    let mut before = rows.next().unwrap_or_default();
    for (step, row) in rows.enumerate() {
        add_best_predecessor(before, steps.matrix(step), best, row);
        before = row;
    }
    trace_back(table, steps, labels, path)
}

/// As [`viterbi`], for chains so long that a table of all scores would take much memory: `write` writes the node scores
/// of a position to a row, twice for each position. The maxima are kept for the first position of each piece alone, and
/// found again on the way back. The path and its score have the same bits.
pub(crate) fn viterbi_in_pieces(
    positions: usize,
    transitions: &[f64],
    labels: usize,
    write: impl Fn(usize, &mut [f64]),
    path: &mut Vec<u32>,
) -> f64 {
    assert!(positions > 0, "a chain has positions");
    path.clear();
    path.reserve_exact(positions);
    let [mut before, mut row, mut best] = [(); 3].map(|()| vec![0.0; labels]);
    if transitions.is_empty() {
        let each = (0..positions).map(|t| {
            write(t, &mut row);
            best_of_each(&row, labels, path)
        });
        return each.fold(0.0, |total, score| total + score);
    }
    let steps = Steps::new(transitions, labels, positions);

    // The maxima at the first position of each piece, and at the last position of all.
    write(0, &mut before);
    let mut firsts = before.clone();
    for t in 1..positions {
        write(t, &mut row);
        add_best_predecessor(&before, steps.matrix(t - 1), &mut best, &mut row);
        std::mem::swap(&mut before, &mut row);
        if t % PIECE == 0 {
            firsts.extend_from_slice(&before);
        }
    }
    let (last, score) = argmax(before.iter().copied());
    let mut label = last;
    path.push(label as u32);

    // From the last piece to the first: the maxima once more, and the labels that lead to those behind.
    let mut table = Vec::new();
    for (piece, first) in firsts.chunks_exact(labels).enumerate().rev() {
        let from = piece * PIECE;
        let until = positions.min(from + PIECE);
        table.clear();
        table.extend_from_slice(first);
        table.resize((until - from) * labels, 0.0);
        let mut rows = table.chunks_exact_mut(labels);
        let mut before = rows.next().unwrap_or_default();
        for (t, row) in (from + 1..).zip(rows) {
            write(t, row);
            add_best_predecessor(before, steps.matrix(t - 1), &mut best, row);
            before = row;
        }
        let rows = (from..until).zip(table.chunks_exact(labels)).rev();
        for (t, row) in rows.filter(|(t, _)| t + 1 < positions) {
            label = best_predecessor(row, steps.matrix(t), label);
            path.push(label as u32);
        }
    }
    path.reverse();
    score
}

/// The transition matrices of a chain: the same one for all steps, or one for each step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Steps<'a> {
    matrices: &'a [f64],
    /// The number of scores of a matrix, and their number from one step to the next.
    size: usize,
    stride: usize,
}

impl<'a> Steps<'a> {
    /// # Panics
    /// If there is neither one matrix nor one for each step.
    pub(super) fn new(matrices: &'a [f64], labels: usize, positions: usize) -> Self {
        let size = labels * labels;
        let is_shared = matrices.len() == size;
        assert!(
            is_shared || positions > 0 && matrices.len() == size * (positions - 1),
            "one transition score per pair of labels, for all steps or for each step"
        );
        Self { matrices, size, stride: if is_shared { 0 } else { size } }
    }

    /// The matrix of a step; step 0 leads from the first position to the second.
    #[inline]
    pub(super) fn matrix(&self, step: usize) -> &'a [f64] {
        &self.matrices[step * self.stride..][..self.size]
    }
}

/// Returns the index of the first largest value, and the value.
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

/// `row[b] += max over a of before[a] + transitions[a][b]`; the maxima are taken in `best`.
///
/// The matrix may be too large for the nearer caches, so it is read in order, some rows at a time; only
/// the maxima are read repeatedly.
fn add_best_predecessor(before: &[f64], transitions: &[f64], best: &mut [f64], row: &mut [f64]) {
    let labels = row.len();
    if labels < FEW {
        for (b, score) in row.iter_mut().enumerate() {
            let column = transitions[b..].iter().step_by(labels);
            let best = before.iter().zip(column).map(|(f, t)| f + t);
            *score += best.fold(f64::NEG_INFINITY, larger);
        }
        return;
    }
    best.fill(f64::NEG_INFINITY);
    let (groups, rest) = before.as_chunks::<ROWS>();
    let mut matrix = transitions.chunks_exact(ROWS * labels);
    for (f, rows) in groups.iter().zip(&mut matrix) {
        let (first, others) = rows.split_at(2 * labels);
        let ((t0, t1), (t2, t3)) = (first.split_at(labels), others.split_at(labels));
        for ((((best, t0), t1), t2), t3) in best.iter_mut().zip(t0).zip(t1).zip(t2).zip(t3) {
            let first = larger(larger(*best, f[0] + t0), f[1] + t1);
            *best = larger(larger(first, f[2] + t2), f[3] + t3);
        }
    }
    for (f, t) in rest.iter().zip(matrix.remainder().chunks_exact(labels)) {
        best.iter_mut().zip(t).for_each(|(best, t)| *best = larger(*best, f + t));
    }
    row.iter_mut().zip(best).for_each(|(score, best)| *score += *best);
}

#[inline]
fn larger(a: f64, b: f64) -> f64 {
    if b > a { b } else { a }
}

fn trace_back(forward: &[f64], steps: Steps<'_>, labels: usize, path: &mut Vec<u32>) -> f64 {
    let mut rows = forward.chunks_exact(labels).enumerate().rev();
    let last = rows.next().map(|(_, row)| row).unwrap_or_default();
    let (mut label, score) = argmax(last.iter().copied());
    path.push(label as u32);
    for (step, row) in rows {
        label = best_predecessor(row, steps.matrix(step), label);
        path.push(label as u32);
    }
    path.reverse();
    score
}

/// The label from which the maximum of `label` was reached, given the maxima of the position before.
fn best_predecessor(before: &[f64], transitions: &[f64], label: usize) -> usize {
    let column = transitions[label..].iter().step_by(before.len());
    argmax(before.iter().zip(column).map(|(f, t)| f + t)).0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::util::rng::Rng;

    /// Also where many paths are as good as each other.
    #[test]
    fn a_chain_in_pieces_has_the_same_best_path() {
        let mut rng = Rng::new(5);
        for labels in [1, 2, 3, 9] {
            for positions in [1, 2, PIECE, PIECE + 1, 2 * PIECE, 3 * PIECE + 7] {
                for kinds in [3, 1 << 30] {
                    let mut draw = |count: usize| -> Vec<f64> {
                        (0..count).map(|_| rng.below(kinds) as f64 / 7.0).collect()
                    };
                    let scores = draw(positions * labels);
                    let matrices = [Vec::new(), draw(labels * labels)];
                    for matrix in &matrices {
                        let (mut forward, mut path, mut other) = (Vec::new(), Vec::new(), vec![1]);
                        let score = viterbi(&scores, matrix, labels, &mut forward, &mut path);
                        let write = |t: usize, row: &mut [f64]| {
                            row.copy_from_slice(&scores[t * labels..][..labels]);
                        };
                        let found = viterbi_in_pieces(positions, matrix, labels, write, &mut other);
                        assert_eq!((found.to_bits(), other), (score.to_bits(), path));
                    }
                }
            }
        }
    }
}
