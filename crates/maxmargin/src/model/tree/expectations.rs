//! Expectations over the states of a tree, by sums over all pairs of places of a node and its parent.
//!
//! Scores are linear in w, so potentials are weights: p(y) ∝ exp(⟨θ, φ(y)⟩ + θ_L·L(y)), where θ_L is the
//! last potential. A step that adds η·H adds η·w to θ and η to θ_L.

use super::examples::State;
use super::parts::Part;
use super::problem::{Tree, TreeWorkspace};
use crate::problem::Problem as _;
use crate::problem::expectations::{Expectations, softmax};
use crate::problem::sparse::SparseVec;

/// Tables of one example, with the layout of the scores of `search`: by node, kind and place.
#[derive(Debug, Clone, Default)]
pub(super) struct Sums {
    /// The logarithm of the sum over all places of a node, by kind and place of the parent.
    below: Vec<Vec<f64>>,
    /// The probability of a node's kind together with the state of its parent.
    above: Vec<Vec<f64>>,
    /// Probabilities of states.
    masses: Vec<f64>,
    /// The terms of one sum.
    terms: Vec<f64>,
}

/// ln Σ exp of the terms, or −∞ if there are none.
fn log_sum(terms: &[f64]) -> f64 {
    let largest = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if largest.is_infinite() {
        return largest;
    }
    largest + terms.iter().map(|term| (term - largest).exp()).sum::<f64>().ln()
}

impl Tree {
    /// (δx², δy², δx, δy) of a node of a kind at the place `q`, seen from its parent's place `p`.
    fn deformation_at(
        &self,
        node: usize,
        kind: usize,
        width: usize,
        q: usize,
        p: usize,
    ) -> [f64; 4] {
        let (x, y) = self.shape().nodes()[node].anchor(kind);
        let way =
            |q: usize, p: usize, anchor: f64| (q as f64 - p as f64 - anchor) / self.shape().unit();
        let (x, y) = (way(q % width, p % width, x), way(q / width, p / width, y));
        [x * x, y * y, x, y]
    }

    /// The amount that the distance from the parent adds to the potential of a state.
    fn pull(
        &self,
        theta: &[f64],
        node: usize,
        kind: usize,
        width: usize,
        q: usize,
        p: usize,
    ) -> f64 {
        let own = self.shape().deformation(node);
        let Some(costs) = theta[own].get(4 * kind..4 * kind + 4) else { return 0.0 };
        let way = self.deformation_at(node, kind, width, q, p);
        -costs.iter().zip(way).map(|(cost, way)| cost * way).sum::<f64>()
    }

    /// Goes from the leaves to the roots: adds to the potential of each state the logarithm of the sum
    /// over all states below it.
    fn sum_up(&self, theta: &[f64], workspace: &mut TreeWorkspace) {
        let TreeWorkspace { search, sums, .. } = workspace;
        let (shape, places, width) = (self.shape(), search.places, search.width);
        let kinds: usize = shape.nodes().iter().map(|node| node.kinds).sum();
        sums.below.resize(kinds.max(sums.below.len()), Vec::new());
        sums.above.resize(kinds.max(sums.above.len()), Vec::new());
        for &node in shape.order().iter().rev() {
            let own = &shape.nodes()[node];
            let Some(parent) = own.parent else { continue };
            let first = search.first_kind(node);
            for kind in 0..own.kinds {
                // For each place of the parent, sum over the places of this kind.
                let extras = std::mem::take(&mut search.at_parent[first + kind]);
                let row = search.row(node, kind);
                let below = &mut sums.below[first + kind];
                below.clear();
                for p in 0..places {
                    let pulled = |(q, score): (usize, &f64)| {
                        score + self.pull(theta, node, kind, width, q, p)
                    };
                    sums.terms.clear();
                    sums.terms.extend(row.iter().enumerate().map(pulled));
                    // What the maps at the parent add is the same for all places of the node.
                    below.push(log_sum(&sums.terms) + extras.get(p).copied().unwrap_or(0.0));
                }
                search.at_parent[first + kind] = extras;
            }
            // Sum over the kinds, and add the result to the parent.
            let (table, above) = (&theta[shape.table(node)], shape.nodes()[parent].kinds);
            for kind in 0..above {
                for (p, score) in search.row(parent, kind).iter_mut().enumerate() {
                    let of = |k: usize| sums.below[first + k][p] + table[k * above + kind];
                    sums.terms.clear();
                    sums.terms.extend((0..own.kinds).map(of));
                    *score += log_sum(&sums.terms);
                }
            }
        }
    }

    /// Goes from the roots to the leaves: computes the probabilities of states, and those of states
    /// together with the state of the parent. It uses conditional probabilities, so that all of these
    /// agree.
    fn share_out(
        &self,
        i: usize,
        theta: &[f64],
        workspace: &mut TreeWorkspace,
        parts: &mut SparseVec,
    ) {
        let TreeWorkspace { search, sums, .. } = workspace;
        let (shape, places, width) = (self.shape(), search.places, search.width);
        let Sums { below, above: joint, masses, terms } = sums;
        masses.clear();
        masses.resize(search.scores.len(), 0.0);
        let mut push = |node: usize, own: State, above: Option<State>, mass: f64| {
            if mass > 0.0 {
                parts.push(self.part_id(i, Part { node, own, above }), mass);
            }
        };
        for &node in shape.order() {
            let own = &shape.nodes()[node];
            let (first, start) = (search.first_kind(node), search.start(node));
            let Some(parent) = own.parent else {
                // A root has the probabilities of its own potentials.
                let states = start..start + own.kinds * places;
                masses[states.clone()].copy_from_slice(&search.scores[states.clone()]);
                softmax(&mut masses[states.clone()]);
                for (at, &mass) in masses[states].iter().enumerate() {
                    push(node, State::at(at / places, at % places, width), None, mass);
                }
                continue;
            };
            let above = shape.nodes()[parent].kinds;
            let (table, places_of) = (shape.table(node), search.start(parent));
            joint[first..first + own.kinds].iter_mut().for_each(|row| {
                row.clear();
                row.resize(above * places, 0.0);
            });
            // Distribute the mass of each state of the parent among the kinds of this node.
            for state in 0..above * places {
                let (kind, p) = (state / places, state % places);
                let mass = masses[places_of + state];
                terms.clear();
                terms.extend(
                    (0..own.kinds)
                        .map(|k| below[first + k][p] + theta[table.start + k * above + kind]),
                );
                softmax(terms);
                for (k, share) in terms.iter().enumerate() {
                    joint[first + k][state] = mass * share;
                }
            }
            for kind in 0..own.kinds {
                // Then distribute the mass of each kind among its places.
                let row = start + kind * places..start + (kind + 1) * places;
                for p in 0..places {
                    let scores = search.scores[row.clone()].iter().enumerate();
                    terms.clear();
                    terms.extend(
                        scores.map(|(q, score)| score + self.pull(theta, node, kind, width, q, p)),
                    );
                    softmax(terms);
                    for above_kind in 0..above {
                        let mass = joint[first + kind][above_kind * places + p];
                        let above = Some(State::at(above_kind, p, width));
                        for (q, share) in terms.iter().enumerate() {
                            masses[row.start + q] += mass * share;
                            push(node, State::at(kind, q, width), above, mass * share);
                        }
                    }
                }
            }
        }
        parts.normalise();
    }
}

impl Expectations<TreeWorkspace> for Tree {
    fn potentials(&self, _i: usize) -> usize {
        self.dim() + 1
    }

    fn add_values(
        &self,
        _i: usize,
        w: &[f64],
        _workspace: &TreeWorkspace,
        scale: f64,
        theta: &mut [f64],
    ) {
        for (theta, w) in theta.iter_mut().zip(w.iter().chain(&[1.0])) {
            *theta += scale * w;
        }
    }

    fn expect(
        &self,
        i: usize,
        theta: &[f64],
        workspace: &mut TreeWorkspace,
        parts: &mut SparseVec,
    ) -> f64 {
        let Some((&of_loss, theta)) = theta.split_last() else { return f64::NAN };
        self.fill(i, theta, &mut workspace.search);
        self.add_losses(i, of_loss, workspace);
        self.sum_up(theta, workspace);
        self.share_out(i, theta, workspace, parts);
        let TreeWorkspace { search, sums, .. } = workspace;
        let mut loss = 0.0;
        for (node, own) in self.shape().nodes().iter().enumerate() {
            for kind in 0..own.kinds {
                let start = search.start(node) + kind * search.places;
                for (place, mass) in sums.masses[start..start + search.places].iter().enumerate() {
                    loss += mass * self.node_loss(i, node, State::at(kind, place, search.width));
                }
            }
        }
        loss
    }
}
