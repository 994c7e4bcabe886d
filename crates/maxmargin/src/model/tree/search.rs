//! Max-sum on a tree whose nodes have kinds and places.

use super::examples::State;
use super::shape::TreeShape;
use crate::inference::distance_transform::{Cost, DistanceTransform};

/// Tables of one example, and the memory to find its best states.
#[derive(Debug, Clone, Default)]
pub(super) struct Search {
    pub(super) width: usize,
    pub(super) places: usize,
    /// The score of every node, kind and place; later it includes the best score of all nodes below it.
    pub(super) scores: Vec<f64>,
    /// The index of the first score of each node.
    starts: Vec<usize>,
    /// For every node and kind, by place of the parent: the best score below.
    best: Vec<Vec<f64>>,
    /// The index of the first kind of each node in `best`.
    kind_starts: Vec<usize>,
    /// For every node and kind, by place of the parent: the scores of the maps there. Empty for nodes without such
    /// maps.
    pub(super) at_parent: Vec<Vec<f64>>,
    transform: DistanceTransform,
}

impl Search {
    /// Makes room for the scores of an example, which are all 0.
    pub(super) fn begin(&mut self, shape: &TreeShape, width: usize, height: usize) {
        (self.width, self.places) = (width, width * height);
        self.starts.clear();
        self.kind_starts.clear();
        let (mut size, mut kinds) = (0, 0);
        for node in shape.nodes() {
            self.starts.push(size);
            self.kind_starts.push(kinds);
            size += node.kinds * self.places;
            kinds += node.kinds;
        }
        self.scores.clear();
        self.scores.resize(size, 0.0);
        if self.best.len() < kinds {
            self.best.resize(kinds, Vec::new());
            self.at_parent.resize(kinds, Vec::new());
        }
        self.at_parent.iter_mut().for_each(Vec::clear);
    }

    /// The index of the first score of a node.
    pub(super) fn start(&self, node: usize) -> usize {
        self.starts[node]
    }

    /// The number of kinds of all nodes before this one.
    pub(super) fn first_kind(&self, node: usize) -> usize {
        self.kind_starts[node]
    }

    /// The scores of one kind of a node, place by place.
    pub(super) fn row(&mut self, node: usize, kind: usize) -> &mut [f64] {
        let start = self.starts[node] + kind * self.places;
        &mut self.scores[start..start + self.places]
    }

    /// Writes the best states to `y`, and returns their score. The scores are overwritten.
    pub(super) fn run(&mut self, shape: &TreeShape, w: &[f64], y: &mut Vec<State>) -> f64 {
        // From the leaves up, add the best scores below each node to its parent.
        for &node in shape.order().iter().rev() {
            if let Some(parent) = shape.nodes()[node].parent {
                self.send(shape, w, node, parent);
            }
        }
        // From the roots down, look up the best state of each node given that of its parent.
        y.clear();
        y.resize(shape.nodes().len(), State::default());
        let mut total = 0.0;
        for &node in shape.order() {
            let (kind, place) = match shape.nodes()[node].parent {
                None => {
                    let size = shape.nodes()[node].kinds * self.places;
                    let own = &self.scores[self.starts[node]..][..size];
                    let best = largest(own.iter().copied());
                    total += own[best];
                    (best / self.places, best % self.places)
                }
                Some(parent) => {
                    let (above, at) = (y[parent].kind as usize, y[parent].place(self.width));
                    let (first, own) = (self.kind_starts[node], &shape.nodes()[node]);
                    let stride = shape.nodes()[parent].kinds;
                    let table = &w[shape.table(node)];
                    let value = |k: usize| self.best[first + k][at] + table[k * stride + above];
                    let kind = largest((0..own.kinds).map(value));
                    let (costs, anchor) = deformation(shape, w, node, kind);
                    let scores = &self.scores[self.starts[node] + kind * self.places..];
                    let scores = &scores[..self.places];
                    (kind, self.transform.best_from(scores, self.width, costs, anchor, at))
                }
            };
            y[node] = State::at(kind, place, self.width);
        }
        total
    }

    /// Adds the best scores of a node and all nodes below it to the scores of its parent.
    fn send(&mut self, shape: &TreeShape, w: &[f64], node: usize, parent: usize) {
        let (own, places) = (&shape.nodes()[node], self.places);
        let first = self.kind_starts[node];
        for kind in 0..own.kinds {
            let (costs, anchor) = deformation(shape, w, node, kind);
            let start = self.starts[node] + kind * places;
            self.transform.values(
                &self.scores[start..start + places],
                self.width,
                costs,
                anchor,
                &mut self.best[first + kind],
            );
            let extra = self.best[first + kind].iter_mut().zip(&self.at_parent[first + kind]);
            extra.for_each(|(best, extra)| *best += extra);
        }
        let table = &w[shape.table(node)];
        let above = shape.nodes()[parent].kinds;
        for kind in 0..above {
            let start = self.starts[parent] + kind * places;
            let scores = &mut self.scores[start..start + places];
            for (place, score) in scores.iter_mut().enumerate() {
                let value = |k: usize| self.best[first + k][place] + table[k * above + kind];
                *score += (0..own.kinds).map(value).fold(f64::NEG_INFINITY, worse_of_none);
            }
        }
    }
}

/// The costs of deformation in steps of the grid, and the anchor.
pub(super) fn deformation(
    shape: &TreeShape,
    w: &[f64],
    node: usize,
    kind: usize,
) -> ([Cost; 2], [f64; 2]) {
    let (x, y) = shape.nodes()[node].anchor(kind);
    let weights = &w[shape.deformation(node)];
    let (unit, costs) = (shape.unit(), weights.get(4 * kind..4 * kind + 4));
    let costs = costs.map_or([Cost::default(); 2], |c| {
        let cost = |at: usize| Cost { square: c[at] / (unit * unit), linear: c[at + 2] / unit };
        [cost(0), cost(1)]
    });
    (costs, [x, y])
}

/// The larger of two numbers, or NaN if one of them is NaN.
fn worse_of_none(a: f64, b: f64) -> f64 {
    if b > a || b.is_nan() { b } else { a }
}

/// The index of the first largest number.
fn largest(values: impl Iterator<Item = f64>) -> usize {
    let mut best = (0, f64::NEG_INFINITY);
    for (at, value) in values.enumerate() {
        if value > best.1 || value.is_nan() && !best.1.is_nan() {
            best = (at, value);
        }
    }
    best.0
}
