//! The best score of a chain with a given label at a given position.

/// Fills `marginals` with the score of the best path through each label at each position, one row of
/// `labels` per position.
///
/// Scores and transitions are laid out as for [`viterbi`](super::viterbi::viterbi). The largest entry of
/// every row is the score of the best path. Its distance to the second largest entry is the margin of the
/// label at that position.
///
/// ```
/// use maxmargin::inference::max_marginals;
///
/// // Two labels, two positions; changing the label costs 1.
/// let mut marginals = Vec::new();
/// max_marginals(&[2.0, 0.0, 0.0, 0.5], &[0.0, -1.0, -1.0, 0.0], 2, &mut marginals);
/// assert_eq!(marginals, [2.0, 0.5, 2.0, 1.5]);
/// ```
///
/// # Panics
/// The same as for [`viterbi`](super::viterbi::viterbi).
pub fn max_marginals(scores: &[f64], transitions: &[f64], labels: usize, marginals: &mut Vec<f64>) {
    assert!(!scores.is_empty() && scores.len().is_multiple_of(labels), "scores must be whole rows");
    marginals.clear();
    marginals.extend_from_slice(scores);
    if transitions.is_empty() {
        return independent(labels, marginals);
    }
    assert_eq!(transitions.len(), labels * labels, "one transition score per pair of labels");

    // Forwards: the best path up to this position, including this label.
    let positions = scores.len() / labels;
    for t in 1..positions {
        let (before, row) = marginals[(t - 1) * labels..(t + 1) * labels].split_at_mut(labels);
        for (b, score) in row.iter_mut().enumerate() {
            let column = transitions[b..].iter().step_by(labels);
            *score += largest(before.iter().zip(column).map(|(f, t)| f + t));
        }
    }
    // Backwards: the best path after this position, without this label.
    let mut after = vec![0.0; labels];
    let mut next = vec![0.0; labels];
    for t in (0..positions - 1).rev() {
        let row = &scores[(t + 1) * labels..(t + 2) * labels];
        next.iter_mut()
            .zip(row)
            .zip(&after)
            .for_each(|((next, score), after)| *next = score + after);
        for (a, after) in after.iter_mut().enumerate() {
            let row = &transitions[a * labels..(a + 1) * labels];
            *after = largest(row.iter().zip(&next).map(|(t, next)| t + next));
        }
        let marginals = &mut marginals[t * labels..(t + 1) * labels];
        marginals.iter_mut().zip(&after).for_each(|(m, after)| *m += after);
    }
}

fn largest(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(f64::NEG_INFINITY, f64::max)
}

/// Max-marginals without transitions: all other positions have their best labels.
fn independent(labels: usize, marginals: &mut [f64]) {
    let best: Vec<f64> =
        marginals.chunks_exact(labels).map(|row| largest(row.iter().copied())).collect();
    for (t, row) in marginals.chunks_exact_mut(labels).enumerate() {
        let others: f64 = best[..t].iter().chain(&best[t + 1..]).sum();
        row.iter_mut().for_each(|score| *score += others);
    }
}
