//! The parts of trees: the state of each node together with that of its parent.
//!
//! An output has one part for each node. Masses of such pairs that agree where pairs meet belong to a
//! distribution over the states of a tree, and this is what `check_point` checks. Features alone would
//! not suffice for the check, because they are means over places.

use super::examples::State;
use super::problem::Tree;
use super::shape::TreeShape;

/// The index of the first part of every node, for grids of any size.
#[derive(Debug, Clone)]
pub(super) struct PartStarts {
    /// With P places, the parts of a node begin at `.0`·P² + `.1`·P. The last entry is the end of all
    /// parts.
    starts: Vec<(u64, u64)>,
}

/// A part: a node with its state, and the state of its parent if it has one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Part {
    pub(super) node: usize,
    pub(super) own: State,
    pub(super) above: Option<State>,
}

impl PartStarts {
    pub(super) fn new(shape: &TreeShape) -> Self {
        let mut starts = vec![(0, 0)];
        let (mut pairs, mut singles) = (0u64, 0u64);
        for node in shape.nodes() {
            match node.parent {
                Some(parent) => pairs += node.kinds as u64 * shape.nodes()[parent].kinds as u64,
                None => singles += node.kinds as u64,
            }
            starts.push((pairs, singles));
        }
        Self { starts }
    }

    /// The index of the first part of a node on a grid with this number of places.
    fn start(&self, node: usize, places: u64) -> u64 {
        let (pairs, singles) = self.starts[node];
        let pairs = pairs.saturating_mul(places).saturating_mul(places);
        pairs.saturating_add(singles.saturating_mul(places))
    }

    /// Number of parts on a grid with this number of places.
    pub(super) fn count(&self, places: u64) -> u64 {
        self.start(self.starts.len() - 1, places)
    }
}

impl Tree {
    /// The coordinate of a part in part vectors of example `i`.
    pub(super) fn part_id(&self, i: usize, part: Part) -> u64 {
        let (width, height) = self.data().grid(i);
        let places = width as u64 * height as u64;
        let number = |state: State| u64::from(state.kind) * places + state.place(width) as u64;
        let start = self.part_starts().start(part.node, places);
        match (part.above, self.shape().nodes()[part.node].parent) {
            (Some(above), Some(parent)) => {
                let above_states = self.shape().nodes()[parent].kinds as u64 * places;
                start + number(part.own) * above_states + number(above)
            }
            _ => start + number(part.own),
        }
    }

    /// The part with this coordinate, if there is one.
    pub(super) fn part(&self, i: usize, id: u64) -> Option<Part> {
        let (width, height) = self.data().grid(i);
        let places = width as u64 * height as u64;
        let (starts, nodes) = (self.part_starts(), self.shape().nodes());
        if id >= starts.count(places) {
            return None;
        }
        let node =
            (1..nodes.len()).take_while(|&v| starts.start(v, places) <= id).last().unwrap_or(0);
        let rest = id - starts.start(node, places);
        let state =
            |number: u64| State::at((number / places) as usize, (number % places) as usize, width);
        Some(match nodes[node].parent {
            None => Part { node, own: state(rest), above: None },
            Some(parent) => {
                let above_states = nodes[parent].kinds as u64 * places;
                let (own, above) = (state(rest / above_states), state(rest % above_states));
                Part { node, own, above: Some(above) }
            }
        })
    }

    /// The parts of an output, node by node, which is the order of their coordinates.
    pub(super) fn parts_of<'a>(&'a self, y: &'a [State]) -> impl Iterator<Item = Part> + 'a {
        let nodes = self.shape().nodes().iter().zip(y).enumerate();
        nodes.map(|(node, (own, &state))| Part {
            node,
            own: state,
            above: own.parent.map(|parent| y[parent]),
        })
    }

    /// Calls `visit` with every feature of a part and its value.
    pub(super) fn for_each_feature(&self, i: usize, part: Part, mut visit: impl FnMut(usize, f64)) {
        let shape = self.shape();
        let (width, _) = self.data().grid(i);
        let Part { node, own: state, above } = part;
        let (own, kind) = (&shape.nodes()[node], state.kind as usize);
        let place = state.place(width);
        for map in 0..own.maps {
            let value = f64::from(self.data().map(i, node, map)[place]);
            visit(shape.unary(node).start + kind * own.maps + map, value);
        }
        visit(shape.bias(node).start + kind, 1.0);
        let (Some(above), Some(parent)) = (above, own.parent) else { return };
        let kinds = shape.nodes()[parent].kinds;
        visit(shape.table(node).start + kind * kinds + above.kind as usize, 1.0);
        for map in 0..own.parent_maps {
            let value = f64::from(self.data().map(i, node, own.maps + map)[above.place(width)]);
            visit(shape.at_parent(node).start + kind * own.parent_maps + map, value);
        }
        if own.deforms {
            let (x, y) = own.anchor(kind);
            let way = |from: u32, to: u32, anchor: f64| {
                (f64::from(to) - f64::from(from) - anchor) / shape.unit()
            };
            let (x, y) = (way(above.x, state.x, x), way(above.y, state.y, y));
            let start = shape.deformation(node).start + 4 * kind;
            for (at, value) in [x * x, y * y, x, y].into_iter().enumerate() {
                visit(start + at, -value);
            }
        }
    }
}
