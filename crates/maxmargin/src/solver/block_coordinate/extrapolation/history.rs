//! Earlier weights, and how far to go on in the directions from them to the present weights.

use crate::dual::DualState;
use crate::run::fits::Fitting;

/// The number of earlier times that are kept. (On OCR and CoNLL-2000, two take up to a fifth more passes, and five as
/// many.)
pub(super) const TIMES: usize = 3;

/// A direction counts if at least this share of its squared length is not in the directions before it.
const LEAST_REST: f64 = 1e-10;

/// Weights are looked through in pieces of this many.
const PIECE: usize = 64;

/// One number for each earlier time, the newest first.
pub(crate) type Each = [f64; TIMES];

/// The weights and the losses of all blocks together at earlier times.
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct History {
    /// How many times are known.
    known: usize,
    losses: Each,
    /// The weights that were not zero at some time, in order, and their values. Most weights may be zero always.
    features: Vec<u32>,
    values: Vec<Each>,
}

impl History {
    pub(super) fn fits(&self, to: &Fitting<'_>) -> bool {
        let is_finite = |each: &Each| each.iter().all(|value| value.is_finite());
        self.known <= TIMES
            && self.features.len() == self.values.len()
            && self.features.is_sorted_by(|a, b| a < b)
            && self.features.last().is_none_or(|&last| (last as usize) < to.dim)
            && self.values.iter().all(is_finite)
    }

    /// How far to go on in the direction from each earlier time to the present. These steps would maximise the dual if
    /// masses could be negative and weights at their bounds were fixed. `loss` is the present loss of all blocks together.
    pub(super) fn best_shares(&mut self, state: &DualState<'_>, loss: f64) -> Each {
        let (w, v) = (&state.w, state.sum());
        self.include_present(v);
        let (mut slopes, mut curvatures) = ([0.0; TIMES], [[0.0; TIMES]; TIMES]);
        for (&feature, earlier) in self.features.iter().zip(&self.values) {
            let (w, v) = (w[feature as usize], v[feature as usize]);
            let way = earlier.map(|value| v - value);
            slopes.iter_mut().zip(way).for_each(|(slope, way)| *slope -= w * way);
            if w == v {
                for (row, a) in curvatures.iter_mut().zip(way) {
                    row.iter_mut().zip(way).for_each(|(sum, b)| *sum += a * b);
                }
            }
        }
        for (slope, earlier) in slopes.iter_mut().zip(self.losses) {
            *slope += (loss - earlier) / state.lambda;
        }
        solve(self.known, curvatures, slopes)
    }

    /// Makes the present the newest of the earlier times.
    pub(super) fn keep_present(&mut self, state: &DualState<'_>, loss: f64) {
        let v = state.sum();
        if self.known == 0 {
            self.include_present(v);
        }
        push(&mut self.losses, loss);
        for (&feature, earlier) in self.features.iter().zip(&mut self.values) {
            push(earlier, v[feature as usize]);
        }
        self.known = (self.known + 1).min(TIMES);
    }

    /// Adds the weights that are not zero now, and leaves out those that were zero all the time.
    fn include_present(&mut self, v: &[f64]) {
        let room = self.features.len();
        let (features, values) = (
            std::mem::replace(&mut self.features, Vec::with_capacity(room)),
            std::mem::replace(&mut self.values, Vec::with_capacity(room)),
        );
        let mut at = 0;
        for (start, piece) in (0..).step_by(PIECE).zip(v.chunks(PIECE)) {
            let next = &features[at..features.len().min(at + PIECE)];
            let known = next.partition_point(|&f| (f as usize) < start + piece.len());
            // Most pieces of most data are zero.
            if known == 0 && piece.iter().all(|v| *v == 0.0) {
                continue;
            }
            let end = at + known;
            for (feature, v) in (start..).zip(piece) {
                let is_known = at < end && features[at] as usize == feature;
                let earlier = if is_known { values[at] } else { Each::default() };
                at += usize::from(is_known);
                if *v != 0.0 || earlier != Each::default() {
                    self.features.push(feature as u32);
                    self.values.push(earlier);
                }
            }
        }
    }
}

/// Puts a number before the others, and drops the last.
pub(crate) fn push(each: &mut Each, newest: f64) {
    each.copy_within(..TIMES - 1, 1);
    each[0] = newest;
}

/// Solves the first `known` of the equations, whose matrix is symmetric and has no negative eigenvalue. Directions that
/// are made up of those before them get a share of 0.
fn solve(known: usize, mut matrix: [Each; TIMES], mut right: Each) -> Each {
    let mut counts = [false; TIMES];
    for at in 0..known {
        let whole = matrix[at][at];
        // Subtract what the directions before have in common with this one.
        for before in (0..at).filter(|&before| counts[before]) {
            let pivot = matrix[before];
            let factor = matrix[at][before] / pivot[before];
            for (entry, pivot) in matrix[at][before..known].iter_mut().zip(&pivot[before..]) {
                *entry -= factor * pivot;
            }
            right[at] -= factor * right[before];
        }
        counts[at] = matrix[at][at] > LEAST_REST * whole;
    }
    let mut shares = [0.0; TIMES];
    for at in (0..known).rev().filter(|&at| counts[at]) {
        let others: f64 = (at + 1..known).map(|other| matrix[at][other] * shares[other]).sum();
        shares[at] = (right[at] - others) / matrix[at][at];
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn product(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }

    proptest! {
        /// Where the ways end, no way leads up any more.
        #[test]
        fn the_solution_is_the_largest_value(
            ways in proptest::collection::vec(proptest::collection::vec(-2.0..2.0f64, 5), TIMES),
            gradient in proptest::collection::vec(-2.0..2.0f64, 5),
            known in 0..=TIMES,
            copies in any::<bool>(),
        ) {
            let mut ways = ways;
            if copies {
                ways[1] = ways[0].iter().map(|x| -0.5 * x).collect();
            }
            let matrix: [Each; TIMES] =
                std::array::from_fn(|a| std::array::from_fn(|b| product(&ways[a], &ways[b])));
            let right: Each = std::array::from_fn(|at| product(&ways[at], &gradient));
            let shares = solve(known, matrix, right);
            prop_assert!(shares[known..].iter().all(|share| *share == 0.0));
            prop_assert!(!copies || known < 2 || shares[1] == 0.0);
            let scale = shares.iter().fold(1.0f64, |most, share| most.max(share.abs()));
            for at in 0..known {
                let moved: f64 = (0..TIMES).map(|other| matrix[at][other] * shares[other]).sum();
                prop_assert!((right[at] - moved).abs() < 1e-6 * scale, "{shares:?}");
            }
        }

        /// Weights that were never different from zero take no room, and all others keep their values.
        #[test]
        fn the_history_is_that_of_all_weights(
            times in proptest::collection::vec(proptest::collection::vec(0u8..20, 200), 1..6),
        ) {
            let weight = |x: u8| if x < 17 { 0.0 } else { f64::from(x) };
            let times: Vec<Vec<f64>> =
                times.iter().map(|w| w.iter().map(|&x| weight(x)).collect()).collect();
            let mut history = History::default();
            for w in &times {
                history.include_present(w);
                for (&feature, earlier) in history.features.iter().zip(&mut history.values) {
                    push(earlier, w[feature as usize]);
                }
            }
            let mut at = 0;
            for feature in 0..200 {
                let last = times.iter().rev().take(TIMES).map(|w| w[feature]);
                let mut expected = [0.0; TIMES];
                expected.iter_mut().zip(last).for_each(|(to, w)| *to = w);
                if history.features.get(at) == Some(&(feature as u32)) {
                    prop_assert_eq!(history.values[at], expected);
                    at += 1;
                } else {
                    prop_assert_eq!(expected, [0.0; TIMES]);
                }
            }
            prop_assert_eq!(at, history.features.len());
        }
    }
}
