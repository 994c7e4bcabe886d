//! The search for augmenting paths, with two trees that grow towards each other.
//!
//! The source's tree contains nodes to which the source can send flow, the sink's tree nodes that can
//! send flow to the sink. Active nodes may have neighbours to take in. In the source's tree, the arc
//! *from* the parent of a node has residual capacity; in the sink's tree, the arc *to* its parent.

use super::MaxFlow;
use super::layout::{FREE, NONE, Node, ORPHAN, ROOT};

impl MaxFlow {
    pub(super) fn search(&mut self) {
        if self.time > u32::MAX / 2 {
            self.nodes.iter_mut().for_each(|node| node.time = 0);
            self.time = 0;
        }
        self.time += 1;
        if self.has_trees {
            self.mend_trees();
        } else {
            self.plant_trees();
        }
        while let Some(node) = self.next_active() {
            // The same node may have more than one path.
            while self.nodes[node].parent != FREE
                && let Some(arc) = self.grow(node)
            {
                self.time += 1;
                self.augment(arc);
                self.adopt_orphans();
            }
        }
    }

    /// Starts the trees with the nodes that are tied to a terminal.
    fn plant_trees(&mut self) {
        self.has_trees = true;
        for at in 0..self.nodes.len() {
            let time = self.time;
            let node = &mut self.nodes[at];
            node.next_active = NONE;
            if node.excess == 0.0 {
                node.parent = FREE;
            } else {
                node.become_root(time);
                self.activate(at);
            }
        }
    }

    /// Repairs the trees around changed nodes.
    fn mend_trees(&mut self) {
        for which in 0..self.changed.len() {
            let at = self.changed[which] as usize;
            let time = self.time;
            let node = &mut self.nodes[at];
            node.is_changed = false;
            let was_in = (node.parent != FREE).then_some(node.is_sink);
            if node.excess != 0.0 {
                node.become_root(time);
                let is_sink = node.is_sink;
                if was_in.is_some_and(|sink| sink != is_sink) {
                    self.leave(at, !is_sink);
                }
                self.activate(at);
            } else if was_in.is_some() {
                if node.parent == ROOT || (node.parent < ORPHAN && self.parent_residual(at) <= 0.0)
                {
                    self.make_orphan(at);
                }
                // Arcs may have residual capacity that they did not have before.
                self.activate(at);
            }
        }
        self.changed.clear();
        self.adopt_orphans();
    }

    /// The residual capacity between a node and its parent, in the direction of the tree.
    fn parent_residual(&self, at: usize) -> f64 {
        let arc = self.arcs[self.nodes[at].parent as usize];
        if self.nodes[at].is_sink { arc.residual } else { self.arcs[arc.sister as usize].residual }
    }

    fn arc_range(&self, at: usize) -> std::ops::Range<usize> {
        self.starts[at] as usize..self.starts[at + 1] as usize
    }

    /// Lets the tree of a node take in its neighbours. Returns an arc to the other tree if they meet, in
    /// the direction from the source to the sink.
    fn grow(&mut self, at: usize) -> Option<usize> {
        let Node { is_sink, time, distance, .. } = self.nodes[at];
        for arc in self.arc_range(at) {
            let (head, sister) = (self.arcs[arc].head as usize, self.arcs[arc].sister);
            let forward = if is_sink { sister as usize } else { arc };
            if self.arcs[forward].residual <= 0.0 {
                continue;
            }
            let other = &mut self.nodes[head];
            if other.parent == FREE {
                other.is_sink = is_sink;
                other.parent = sister;
                (other.time, other.distance) = (time, distance + 1);
                self.activate(head);
            } else if other.is_sink != is_sink {
                return Some(forward);
            } else if other.time <= time && other.distance > distance {
                // As far as is known, this is a shorter path to the terminal.
                other.parent = sister;
                (other.time, other.distance) = (time, distance + 1);
            }
        }
        None
    }

    /// Sends as much as possible from the source through `arc`, which joins the trees, to the sink.
    fn augment(&mut self, arc: usize) {
        let (from, to) = (self.arcs[self.arcs[arc].sister as usize].head, self.arcs[arc].head);
        // Find the amount that the whole path can carry.
        let mut amount = self.arcs[arc].residual;
        for end in [from, to] {
            let mut at = end as usize;
            while self.nodes[at].parent != ROOT {
                amount = amount.min(self.parent_residual(at));
                at = self.arcs[self.nodes[at].parent as usize].head as usize;
            }
            amount = amount.min(self.nodes[at].excess.abs());
        }
        self.flow += amount;
        // Send it. Nodes whose arc to the parent is used up become orphans.
        self.send(arc, amount);
        for end in [from, to] {
            let mut at = end as usize;
            let is_sink = self.nodes[at].is_sink;
            while self.nodes[at].parent != ROOT {
                let up = self.nodes[at].parent as usize;
                let (next, sister) = (self.arcs[up].head as usize, self.arcs[up].sister as usize);
                let forward = if is_sink { up } else { sister };
                self.send(forward, amount);
                if self.arcs[forward].residual <= 0.0 {
                    self.make_orphan(at);
                }
                at = next;
            }
            let excess = &mut self.nodes[at].excess;
            *excess += if is_sink { amount } else { -amount };
            if *excess == 0.0 {
                self.make_orphan(at);
            }
        }
    }

    fn send(&mut self, arc: usize, amount: f64) {
        let sister = self.arcs[arc].sister as usize;
        self.arcs[arc].residual -= amount;
        self.arcs[sister].residual += amount;
    }

    fn make_orphan(&mut self, at: usize) {
        self.nodes[at].parent = ORPHAN;
        self.orphans.push_front(at as u32);
    }

    fn adopt_orphans(&mut self) {
        while let Some(orphan) = self.orphans.pop_front() {
            // The node may have become a root in the meantime.
            if self.nodes[orphan as usize].parent == ORPHAN {
                self.adopt(orphan as usize);
            }
        }
    }

    /// Finds the possible parent of an orphan that is nearest to the terminal, or frees the orphan.
    fn adopt(&mut self, at: usize) {
        let is_sink = self.nodes[at].is_sink;
        let (mut best, mut nearest) = (FREE, u32::MAX);
        for arc in self.arc_range(at) {
            if !self.carries(arc, is_sink) {
                continue;
            }
            let head = self.arcs[arc].head as usize;
            let other = &self.nodes[head];
            if other.is_sink == is_sink
                && other.parent != FREE
                && let Some(distance) = self.distance(head)
                && distance < nearest
            {
                (best, nearest) = (arc as u32, distance);
            }
        }
        let time = self.time;
        let node = &mut self.nodes[at];
        node.parent = best;
        if best != FREE {
            (node.time, node.distance) = (time, nearest + 1);
            return;
        }
        self.leave(at, is_sink);
    }

    /// Updates the neighbours of a node that has left their tree.
    fn leave(&mut self, at: usize, is_sink: bool) {
        for arc in self.arc_range(at) {
            let head = self.arcs[arc].head as usize;
            let other = &mut self.nodes[head];
            if other.parent == FREE || other.is_sink != is_sink {
                continue;
            }
            if other.parent < ORPHAN && self.arcs[other.parent as usize].head as usize == at {
                other.parent = ORPHAN;
                self.orphans.push_back(head as u32);
            }
            if self.carries(arc, is_sink) {
                self.activate(head); // there may be nodes to take in again
            }
        }
    }

    /// Whether the neighbour at the end of an arc could be the parent of the node at its start.
    #[inline]
    fn carries(&self, arc: usize, is_sink: bool) -> bool {
        let arc = self.arcs[arc];
        let residual = if is_sink { arc.residual } else { self.arcs[arc.sister as usize].residual };
        residual > 0.0
    }

    /// The distance of a node from its terminal, if it is still connected to it.
    fn distance(&mut self, from: usize) -> Option<u32> {
        let (mut at, mut steps) = (from, 0);
        loop {
            let node = &mut self.nodes[at];
            if node.time == self.time {
                steps += node.distance;
                break;
            }
            match node.parent {
                ORPHAN => return None,
                ROOT => {
                    (node.time, node.distance) = (self.time, 1);
                    steps += 1;
                    break;
                }
                up => {
                    steps += 1;
                    at = self.arcs[up as usize].head as usize;
                }
            }
        }
        // Mark the nodes on the path, so that the next walk can stop early.
        let (mut at, mut left) = (from, steps);
        while self.nodes[at].time != self.time {
            let node = &mut self.nodes[at];
            (node.time, node.distance) = (self.time, left);
            left -= 1;
            at = self.arcs[node.parent as usize].head as usize;
        }
        Some(steps)
    }

    /// Appends a node to the queue, unless it is in it.
    #[inline]
    fn activate(&mut self, at: usize) {
        if self.nodes[at].next_active != NONE {
            return;
        }
        let own = at as u32;
        self.nodes[at].next_active = own;
        self.active = Some(match self.active {
            None => (own, own),
            Some((first, last)) => {
                self.nodes[last as usize].next_active = own;
                (first, own)
            }
        });
    }

    /// The next active node that is still in a tree.
    fn next_active(&mut self) -> Option<usize> {
        while let Some((first, last)) = self.active {
            let node = &mut self.nodes[first as usize];
            let next = std::mem::replace(&mut node.next_active, NONE);
            self.active = (first != last).then_some((next, last));
            if node.parent != FREE {
                return Some(first as usize);
            }
        }
        None
    }
}

impl Node {
    /// Makes the node the root of the tree that its excess belongs to.
    fn become_root(&mut self, time: u32) {
        self.parent = ROOT;
        self.is_sink = self.excess < 0.0;
        (self.time, self.distance) = (time, 1);
    }
}
