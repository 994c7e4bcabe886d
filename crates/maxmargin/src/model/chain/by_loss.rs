//! The best labelling of a chain for each possible loss.
//!
//! Where a mistake costs the same at all tokens, or a small multiple of the same unit, there are few different losses. The
//! recursion of Viterbi then keeps the best score for each label *and* each loss so far, which takes T times as long
//! for T tokens. It finds the maximum of any function of loss and score that rises with the score, such as the
//! product of slack rescaling, which no search over weights of the loss can promise.

use super::problem::Chain;
use super::problem::ChainWorkspace;
use crate::model::loss_levels::in_units;

/// Other searches take over a sequence that needs more additions than this. (Plain Viterbi needs about a hundredth.)
const MOST_WORK: usize = 1 << 20;

/// Scratch memory.
#[derive(Debug, Clone, Default)]
pub(super) struct ByLoss {
    /// The multiple of the unit that a mistake costs at each token.
    steps: Vec<usize>,
    /// For each token, level and label the best score of a beginning of the sequence.
    table: Vec<f64>,
    /// The best score of a beginning for each level and next label.
    best: Vec<f64>,
    /// The scores of transitions, where they are not their weights.
    scaled: Vec<f64>,
}

impl Chain {
    /// y ← the labelling of example `i` with the largest `value(loss, score)`, where the value rises with the score.
    /// Returns `false` and leaves `y` unchanged if there are too many losses to try them all.
    pub(super) fn best_by_loss(
        &self,
        i: usize,
        w: &[f64],
        value: &dyn Fn(f64, f64) -> f64,
        workspace: &mut ChainWorkspace,
        y: &mut Vec<u32>,
    ) -> bool {
        let ChainWorkspace { scores, by_loss, .. } = workspace;
        let (sequence, k) = (self.data().sequence(i), self.shape().labels);
        let ByLoss { steps, table, best, scaled } = by_loss;
        let costs = self.costs(sequence);
        let Some(unit) = in_units(costs, steps) else { return false };
        let (length, levels) = (sequence.len(), 1 + steps.iter().sum::<usize>());
        let work = length.checked_mul(levels).and_then(|all| all.checked_mul(k * k));
        if length == 0 || work.is_none_or(|work| work > MOST_WORK) {
            return false;
        }
        // The best scores of all beginnings.
        let (truth, nodes) = (sequence.labels(), &scores.nodes);
        let transitions = self.shape().transition_scores(w, scaled);
        let row = levels * k;
        table.clear();
        table.resize(length * row, f64::NEG_INFINITY);
        best.clear();
        best.resize(row, 0.0);
        let level_after = |t: usize, level: usize, z: usize| match truth[t] as usize == z {
            true => level,
            false => level + steps[t],
        };
        let mut most = 0;
        for t in 0..length {
            if t == 0 {
                best[..k].fill(0.0);
            } else {
                let before = &table[(t - 1) * row..t * row];
                for level in 0..=most {
                    let before = &before[level * k..][..k];
                    best_predecessors(before, transitions, &mut best[level * k..][..k]);
                }
            }
            let now = &mut table[t * row..][..row];
            for level in 0..=most {
                for z in 0..k {
                    now[level_after(t, level, z) * k + z] = best[level * k + z] + nodes[t * k + z];
                }
            }
            most += steps[t];
        }
        // The best end.
        let last = &table[(length - 1) * row..];
        let (mut top, mut end) = (f64::NEG_INFINITY, (0, 0));
        for level in 0..levels {
            for z in 0..k {
                let score = last[level * k + z];
                if score > f64::NEG_INFINITY {
                    let own = value(level as f64 * unit, score);
                    if own > top {
                        (top, end) = (own, (level, z));
                    }
                }
            }
        }
        // The way back: each label's predecessor is the first that reaches its score.
        let (mut level, mut label) = end;
        y.clear();
        y.resize(length, 0);
        for t in (0..length).rev() {
            y[t] = label as u32;
            if t == 0 {
                break;
            }
            if label != truth[t] as usize {
                level -= steps[t];
            }
            let before = &table[(t - 1) * row + level * k..][..k];
            let (mut top, mut from) = (f64::NEG_INFINITY, 0);
            for (a, score) in before.iter().enumerate() {
                let score = score + transitions.get(a * k + label).copied().unwrap_or(0.0);
                if score > top {
                    (top, from) = (score, a);
                }
            }
            label = from;
        }
        true
    }
}

/// `best[z]` ← max over y of before[y] + transitions[y][z].
fn best_predecessors(before: &[f64], transitions: &[f64], best: &mut [f64]) {
    if transitions.is_empty() {
        best.fill(before.iter().copied().fold(f64::NEG_INFINITY, f64::max));
        return;
    }
    best.fill(f64::NEG_INFINITY);
    for (score, row) in before.iter().zip(transitions.chunks_exact(best.len())) {
        if *score > f64::NEG_INFINITY {
            best.iter_mut().zip(row).for_each(|(best, t)| *best = best.max(score + t));
        }
    }
}
