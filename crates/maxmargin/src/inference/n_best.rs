//! The n best paths through a chain, exactly.

use super::viterbi::Steps;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A path and its score.
///
/// ```
/// use maxmargin::inference::n_best;
///
/// let best = &n_best(&[1.0, 3.0], &[], 2, 1)[0];
/// assert_eq!((best.score, best.labels.as_slice()), (3.0, &[1][..]));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ScoredPath {
    /// Sum of the scores of its nodes and transitions.
    pub score: f64,
    /// One label per position.
    pub labels: Vec<u32>,
}

/// One of the best paths to a label at a position: its score, and the label and rank it comes from.
#[derive(Debug, Clone, Copy)]
struct Arrival {
    score: f64,
    before: u32,
    rank: u32,
}

/// An arrival in the queue, in which the best comes first and, at ties, the smallest label and rank.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Waiting {
    score: f64,
    before: u32,
    rank: u32,
}

impl Eq for Waiting {}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> Ordering {
        let place = |waiting: &Self| (waiting.before, waiting.rank);
        self.score.total_cmp(&other.score).then_with(|| place(other).cmp(&place(self)))
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Returns the `n` best labellings of a chain, best first. The list is shorter if there are fewer
/// labellings.
///
/// Scores and transitions are laid out as for [`viterbi`](super::viterbi::viterbi). Paths with the score
/// −∞, which a rule forbids, are left out. For T positions and K labels this takes O(TK(K + n log K))
/// time.
///
/// ```
/// use maxmargin::inference::n_best;
///
/// // Two labels, two positions; changing the label costs 1.
/// let paths = n_best(&[2.0, 0.0, 0.0, 0.5], &[0.0, -1.0, -1.0, 0.0], 2, 3);
/// let labels: Vec<_> = paths.iter().map(|path| path.labels.clone()).collect();
/// assert_eq!(labels, [[0, 0], [0, 1], [1, 1]]);
/// assert_eq!(paths[1].score, 1.5);
/// ```
///
/// # Panics
/// The same as for [`viterbi`](super::viterbi::viterbi).
pub fn n_best(scores: &[f64], transitions: &[f64], labels: usize, n: usize) -> Vec<ScoredPath> {
    assert!(!scores.is_empty() && scores.len().is_multiple_of(labels), "scores must be whole rows");
    let steps =
        (!transitions.is_empty()).then(|| Steps::new(transitions, labels, scores.len() / labels));
    // For each position and label, the best paths to it, best first.
    let mut arrivals: Vec<Vec<Vec<Arrival>>> = Vec::with_capacity(scores.len() / labels);
    for (t, row) in scores.chunks_exact(labels).enumerate() {
        let next = match arrivals.last() {
            None => row.iter().map(|&score| start(score, n)).collect(),
            Some(before) => {
                let matrix = steps.map(|steps| steps.matrix(t - 1));
                let transition = |a: usize, b: usize| matrix.map_or(0.0, |m| m[a * labels + b]);
                (0..labels).map(|b| merge(before, |a| transition(a, b) + row[b], n)).collect()
            }
        };
        arrivals.push(next);
    }
    let Some(last) = arrivals.last() else { return Vec::new() };
    let ends = merge(last, |_| 0.0, n);
    ends.iter().map(|end| trace_back(&arrivals, *end)).collect()
}

fn start(score: f64, n: usize) -> Vec<Arrival> {
    let alone = Arrival { score, before: 0, rank: 0 };
    if n > 0 && score > f64::NEG_INFINITY { vec![alone] } else { Vec::new() }
}

/// The `n` best of all paths that continue from `before`, where continuing from label a adds `more(a)`.
fn merge(before: &[Vec<Arrival>], more: impl Fn(usize) -> f64, n: usize) -> Vec<Arrival> {
    let entry = |before_label: u32, rank: u32| {
        let list = &before[before_label as usize];
        let arrival = list.get(rank as usize)?;
        let score = arrival.score + more(before_label as usize);
        (score > f64::NEG_INFINITY).then_some(Waiting { score, before: before_label, rank })
    };
    let mut heap: BinaryHeap<Waiting> =
        (0..before.len() as u32).filter_map(|label| entry(label, 0)).collect();
    let mut best = Vec::with_capacity(n.min(16));
    while best.len() < n
        && let Some(Waiting { score, before, rank }) = heap.pop()
    {
        best.push(Arrival { score, before, rank });
        heap.extend(entry(before, rank + 1));
    }
    best
}

/// Follows an arrival after the last position back to the first position.
fn trace_back(arrivals: &[Vec<Vec<Arrival>>], end: Arrival) -> ScoredPath {
    let mut labels = Vec::with_capacity(arrivals.len());
    let mut at = end;
    for row in arrivals.iter().rev() {
        labels.push(at.before);
        at = row[at.before as usize][at.rank as usize];
    }
    labels.reverse();
    ScoredPath { score: end.score, labels }
}
