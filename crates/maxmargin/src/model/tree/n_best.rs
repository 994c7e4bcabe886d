//! The n best outputs of a tree, exactly.

use super::examples::State;
use super::problem::{Tree, TreeWorkspace};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// The states of all nodes, with their score.
///
/// ```
/// # use maxmargin::doc::limbs;
/// let tree = limbs();
/// let best = &tree.n_best(0, &vec![0.0; tree.shape().dim()], 1)[0];
/// assert_eq!((best.score, best.states.len()), (0.0, 2));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ScoredStates {
    /// Their score.
    pub score: f64,
    /// One state per node.
    pub states: Vec<State>,
}

/// The best states of a subset of outputs: of those that agree with an output found earlier up to some
/// node, and differ at that node from it and from others found there.
#[derive(Debug)]
struct Candidate {
    found: ScoredStates,
    /// The first node that is not fixed.
    free: usize,
    /// States that this node must not have.
    forbidden: Vec<State>,
    /// The number of candidates before it, which decides ties.
    number: usize,
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        let score = self.found.score.total_cmp(&other.found.score);
        score.then_with(|| other.number.cmp(&self.number))
    }
}

impl Tree {
    /// The `n` best outputs of example `i`, best first. The list is shorter if there are fewer outputs.
    ///
    /// This is Lawler's scheme: without its best output, a set of outputs is split into one subset per
    /// node, and each subset is decoded once. So each result takes about as many decodings as there are
    /// nodes.
    ///
    /// ```
    /// # use maxmargin::doc::limbs;
    /// let tree = limbs();
    /// let w: Vec<f64> = (0..tree.shape().dim()).map(|at| at as f64 / 10.0).collect();
    /// let best = tree.n_best(0, &w, 3);
    /// assert!(best[0].score >= best[1].score && best[1].score >= best[2].score);
    /// assert_eq!(best[0].states, tree.predict(&w)[0]);
    /// ```
    ///
    /// # Panics
    /// If there is no such example, or there are too few weights.
    pub fn n_best(&self, i: usize, w: &[f64], n: usize) -> Vec<ScoredStates> {
        let mut workspace = TreeWorkspace::default();
        let (mut results, mut waiting, mut number) = (Vec::new(), BinaryHeap::new(), 0);
        let mut add =
            |waiting: &mut BinaryHeap<Candidate>, fixed: &[State], forbidden: Vec<State>| {
                let free = fixed.len();
                if let Some(found) = self.best_within(i, w, fixed, &forbidden, &mut workspace) {
                    number += 1;
                    waiting.push(Candidate { found, free, forbidden, number });
                }
            };
        if n > 0 {
            add(&mut waiting, &[], Vec::new());
        }
        while let Some(Candidate { found, free, forbidden, .. }) = waiting.pop() {
            // Split the other outputs of this set into one subset per node.
            let is_last = results.len() + 1 == n;
            for node in free..found.states.len() {
                if is_last {
                    break;
                }
                let mut other = if node == free { forbidden.clone() } else { Vec::new() };
                other.push(found.states[node]);
                add(&mut waiting, &found.states[..node], other);
            }
            results.push(found);
            if is_last {
                break;
            }
        }
        results
    }

    /// The best states if the first nodes are `fixed` and the next node has none of the `forbidden`
    /// states.
    fn best_within(
        &self,
        i: usize,
        w: &[f64],
        fixed: &[State],
        forbidden: &[State],
        workspace: &mut TreeWorkspace,
    ) -> Option<ScoredStates> {
        let search = &mut workspace.search;
        self.fill(i, w, search);
        let width = search.width;
        for (node, state) in fixed.iter().enumerate() {
            for kind in 0..self.shape().nodes()[node].kinds {
                for (place, score) in search.row(node, kind).iter_mut().enumerate() {
                    if State::at(kind, place, width) != *state {
                        *score = f64::NEG_INFINITY;
                    }
                }
            }
        }
        for state in forbidden {
            search.row(fixed.len(), state.kind as usize)[state.place(width)] = f64::NEG_INFINITY;
        }
        let mut states = Vec::new();
        let score = search.run(self.shape(), w, &mut states);
        (score > f64::NEG_INFINITY).then_some(ScoredStates { score, states })
    }
}
