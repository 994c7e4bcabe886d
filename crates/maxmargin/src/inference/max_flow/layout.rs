//! The memory layout of a network, with the arcs of each node side by side.

use super::MaxFlow;

/// Marks a node without a parent that is not in a tree.
pub(super) const FREE: u32 = u32::MAX;
/// Marks the root of a tree, which is tied to a terminal.
pub(super) const ROOT: u32 = u32::MAX - 1;
/// Marks a node that has lost its parent and needs another.
pub(super) const ORPHAN: u32 = u32::MAX - 2;
/// Marks a missing node or arc.
pub(super) const NONE: u32 = u32::MAX;

#[derive(Debug, Clone)]
pub(super) struct Node {
    /// The amount that the source can still send to the node, or, if negative, the node to the sink.
    pub(super) excess: f64,
    /// The arc to the node's parent, or one of the constants above.
    pub(super) parent: u32,
    /// The next node in the queue of active nodes, or the node itself if it is the last. [`NONE`] if it
    /// is not in the queue.
    pub(super) next_active: u32,
    /// The time at which `distance` was true, and the number of arcs to the terminal.
    pub(super) time: u32,
    pub(super) distance: u32,
    /// Whether it is in the sink's tree, if it is in a tree.
    pub(super) is_sink: bool,
    pub(super) is_changed: bool,
}

impl Default for Node {
    fn default() -> Self {
        Self {
            excess: 0.0,
            parent: FREE,
            next_active: NONE,
            time: 0,
            distance: 0,
            is_sink: false,
            is_changed: false,
        }
    }
}

impl Node {
    pub(super) fn is_in_source_tree(&self) -> bool {
        self.parent != FREE && !self.is_sink
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Arc {
    pub(super) head: u32,
    /// The arc that goes the other way.
    pub(super) sister: u32,
    /// The amount that it can still carry.
    pub(super) residual: f64,
}

#[derive(Debug, Clone)]
pub(super) struct Edge {
    pub(super) a: u32,
    pub(super) b: u32,
    pub(super) capacity: f64,
    pub(super) back: f64,
    arc: u32,
}

impl Edge {
    pub(super) fn new(a: u32, b: u32, capacity: f64, back: f64) -> Self {
        Self { a, b, capacity, back, arc: NONE }
    }

    /// The arc from a to b. `None` until the network is laid out, and for loops, which no cut crosses.
    pub(super) fn arc(&self) -> Option<usize> {
        (self.arc != NONE).then_some(self.arc as usize)
    }

    fn is_loop(&self) -> bool {
        self.a == self.b
    }
}

impl MaxFlow {
    /// Gives every edge its two arcs. Edges that already had arcs keep their flow; the search trees are
    /// dropped.
    pub(super) fn lay_out(&mut self) {
        self.forget_search();
        let n = self.nodes.len();
        self.starts.clear();
        self.starts.resize(n + 1, 0);
        let real = || self.edges.iter().filter(|edge| !edge.is_loop());
        for edge in real() {
            self.starts[edge.a as usize] += 1;
            self.starts[edge.b as usize] += 1;
        }
        // Turn counts into the ends of each node's arcs. Filling from the back turns them into the
        // beginnings.
        let mut total = 0;
        for start in &mut self.starts {
            total += *start;
            *start = total;
        }
        std::mem::swap(&mut self.arcs, &mut self.spare_arcs);
        self.arcs.clear();
        self.arcs.resize(total as usize, Arc { head: NONE, sister: NONE, residual: 0.0 });
        for edge in self.edges.iter_mut().rev().filter(|edge| !edge.is_loop()) {
            let (residual, back) = match edge.arc() {
                None => (edge.capacity, edge.back),
                Some(there) => {
                    let there = self.spare_arcs[there];
                    (there.residual, self.spare_arcs[there.sister as usize].residual)
                }
            };
            let mut place = |node: u32| {
                self.starts[node as usize] -= 1;
                self.starts[node as usize]
            };
            let (there, again) = (place(edge.a), place(edge.b));
            self.arcs[there as usize] = Arc { head: edge.b, sister: again, residual };
            self.arcs[again as usize] = Arc { head: edge.a, sister: there, residual: back };
            edge.arc = there;
        }
        self.is_laid_out = true;
    }

    /// Drops the search trees.
    pub(super) fn forget_search(&mut self) {
        if self.has_trees {
            for node in &mut self.nodes {
                node.is_changed = false;
            }
        }
        self.has_trees = false;
        self.changed.clear();
        self.active = None;
        self.orphans.clear();
    }
}
