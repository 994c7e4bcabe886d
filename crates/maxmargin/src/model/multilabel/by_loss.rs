//! Finds the best set of labels for each possible loss, if the pairs form a forest.
//!
//! A recursion goes from the leaves to the roots. For each label, it keeps the best score of its subtree for each
//! state of the label and each loss of the subtree, in units of the smallest cost. Two subtrees are joined by a
//! (max, +) convolution, so all of it takes as many additions as the square of the number of losses. The result is
//! the maximum of any function of loss and score that rises with the score, such as the product of slack rescaling.
//! A search over weights of the loss cannot promise this.

use super::labels::LabelSet;
use super::problem::{Multilabel, MultilabelWorkspace};
use crate::model::loss_levels::in_units;

/// With more levels of the loss than this, other searches are faster.
const MOST_LEVELS: usize = 512;

/// The order in which labels are taken: each label with its parent and their pair, roots first.
#[derive(Debug, Clone, Default)]
pub(super) struct Forest {
    order: Vec<(usize, Option<(usize, usize)>)>,
}

/// Scores by the state of a label and the loss of its subtree so far: `scores[state][level]`.
type Table = [Vec<f64>; 2];

/// A merged subtree: for each state of the parent and level, the state and the level of the child.
type Choice = [Vec<(u8, u32)>; 2];

impl Forest {
    /// Orders labels by the pairs between them, which have no cycles.
    pub(super) fn new(labels: usize, pairs: &[(u32, u32)]) -> Self {
        let mut neighbours = vec![Vec::new(); labels];
        for (p, &(a, b)) in pairs.iter().enumerate() {
            neighbours[a as usize].push((b as usize, p));
            neighbours[b as usize].push((a as usize, p));
        }
        let mut seen = vec![false; labels];
        let mut order: Vec<(usize, Option<(usize, usize)>)> = Vec::with_capacity(labels);
        for root in 0..labels {
            if std::mem::replace(&mut seen[root], true) {
                continue;
            }
            let mut head = order.len();
            order.push((root, None));
            while let Some(&(label, _)) = order.get(head) {
                head += 1;
                for &(other, pair) in &neighbours[label] {
                    if !std::mem::replace(&mut seen[other], true) {
                        order.push((other, Some((label, pair))));
                    }
                }
            }
        }
        Self { order }
    }
}

impl Multilabel {
    /// Writes to `y` the set of example `i` with the largest `value(loss, score)`, which must rise with the score.
    /// Returns `false` and leaves `y` unchanged if pairs have cycles, if a score is not finite, if the costs are
    /// not multiples of one unit, or if there are too many losses to try them all.
    pub(super) fn best_by_loss(
        &self,
        i: usize,
        w: &[f64],
        value: &dyn Fn(f64, f64) -> f64,
        workspace: &MultilabelWorkspace,
        y: &mut LabelSet,
    ) -> bool {
        let Some(forest) = self.forest() else { return false };
        let mut steps = Vec::new();
        let Some(unit) = in_units(self.costs.iter().copied(), &mut steps) else { return false };
        let levels = steps.iter().fold(1usize, |sum, step| sum.saturating_add(*step));
        let quadratic = &w[self.shape().pair_weights()];
        let is_finite = workspace.scores.iter().chain(quadratic).all(|score| score.is_finite());
        if levels > MOST_LEVELS || !is_finite {
            return false;
        }
        let (labels, truth) = (self.shape().labels, self.data().labels(i));
        let is_true = |label: usize| truth.binary_search(&(label as u32)).is_ok();
        // The table of each label alone.
        let mut tables: Vec<Table> = (0..labels)
            .map(|label| {
                let own = |state: usize| {
                    let step = if is_true(label) == (state == 1) { 0 } else { steps[label] };
                    let mut row = vec![f64::NEG_INFINITY; steps[label] + 1];
                    row[step] = state as f64 * workspace.scores[label];
                    row
                };
                [own(0), own(1)]
            })
            .collect();
        // Join subtrees with their parents, and those of roots in one table for all.
        let mut all: Table = [vec![0.0], vec![f64::NEG_INFINITY]];
        let mut choices: Vec<Choice> = vec![Choice::default(); labels];
        for &(label, parent) in forest.order.iter().rev() {
            let own = std::mem::take(&mut tables[label]);
            let (into, both) = match parent {
                Some((parent, pair)) => (&mut tables[parent], quadratic[pair]),
                None => (&mut all, 0.0),
            };
            choices[label] = merge(into, &own, both);
        }
        // Find the best loss, and then go back to the states that it comes from.
        let (mut top, mut best) = (f64::NEG_INFINITY, 0);
        for (level, &score) in all[0].iter().enumerate() {
            if score > f64::NEG_INFINITY {
                let own = value(level as f64 * unit, score);
                if own > top {
                    (top, best) = (own, level);
                }
            }
        }
        let mut states = vec![0; labels];
        // The levels that remain for each label, and for all roots together.
        let (mut left, mut rest) = (vec![0; labels], best);
        for &(label, parent) in &forest.order {
            let (state, level) = match parent {
                Some((parent, _)) => (usize::from(states[parent]), &mut left[parent]),
                None => (0, &mut rest),
            };
            let (own, taken) = choices[label][state][*level];
            *level -= taken as usize;
            states[label] = own;
            left[label] = taken as usize;
        }
        y.assign(labels, |label| states[label] == 1);
        true
    }
}

/// Joins the subtree of a child with that of its parent. The score rises by `both` if both labels are on. Returns
/// the choice at each level.
fn merge(parent: &mut Table, child: &Table, both: f64) -> Choice {
    let (parents, children) = (parent[0].len(), child[0].len());
    let mut choice = Choice::default();
    for state in 0..2 {
        // The better state of the child at each level.
        let best: Vec<(f64, u8)> = (0..children)
            .map(|level| {
                let (off, on) = (child[0][level], child[1][level] + both * state as f64);
                if on > off { (on, 1) } else { (off, 0) }
            })
            .collect();
        let levels = parents + children - 1;
        let mut scores = vec![f64::NEG_INFINITY; levels];
        choice[state] = vec![(0, 0); levels];
        for (above, score) in parent[state].iter().enumerate() {
            for (level, &(own, which)) in best.iter().enumerate() {
                let sum = score + own;
                if sum > scores[above + level] {
                    scores[above + level] = sum;
                    choice[state][above + level] = (which, level as u32);
                }
            }
        }
        parent[state] = scores;
    }
    choice
}
