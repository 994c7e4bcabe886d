//! Maximum flow and minimum cut, with real capacities.
//!
//! A network has nodes, edges with a capacity in each direction, and two terminals that are not nodes:
//! every node may be tied to the source, to the sink, or to both. Energies with two states per variable
//! have this form:
//!
//! ```text
//! minimise  Σᵥ [v ∈ T]·sourceᵥ + [v ∈ S]·sinkᵥ + Σ_{ab} [a ∈ S, b ∈ T]·c_ab + [b ∈ S, a ∈ T]·c_ba
//! ```
//!
//! over all ways to put nodes on the source's side S or on the sink's side T. The minimum is the value of
//! the maximum flow.
//!
//! The algorithm is that of Boykov and Kolmogorov. A tree of nodes that the source can reach and a tree
//! of nodes that can reach the sink grow until they touch. Then as much flow as possible is sent along
//! the path between them, and branches that this cuts off look for new parents. Network, flow and trees
//! are kept between calls, so solving again after some capacities have changed
//! ([`set_tie`](MaxFlow::set_tie), [`set_edge`](MaxFlow::set_edge)) starts from the last result.
//!
//! ```
//! use maxmargin::inference::MaxFlow;
//!
//! let mut network = MaxFlow::new(2);
//! network.tie(0, 5.0, 0.0); // from the source to node 0
//! network.tie(1, 0.0, 4.0); // from node 1 to the sink
//! network.connect(0, 1, 3.0, 0.0);
//! assert_eq!(network.solve(), 3.0);
//! assert!(network.is_on_source_side(0) && !network.is_on_source_side(1));
//! ```
//!
//! # Rounding
//!
//! Sums and differences of whole numbers up to 2⁵³ are exact, and so are those of whole multiples of one
//! power of two. If capacities are first rounded to such a [`Quantum`], the algorithm makes no rounding
//! errors, so it terminates. It finds the cut with the fewest nodes on the source's side, which is
//! unique, so the answer has the same bits whether it started from zero or from an earlier flow.

mod layout;
mod quantum;
mod search;

pub use quantum::Quantum;

use layout::{Arc, Edge, Node};
use std::collections::VecDeque;

/// A network, with the memory to find its maximum flow repeatedly.
///
/// ```
/// use maxmargin::inference::MaxFlow;
///
/// let mut network = MaxFlow::new(3);
/// network.tie(0, 9.0, 0.0);
/// network.tie(2, 0.0, 9.0);
/// let edge = network.connect(0, 1, 1.0, 0.0);
/// network.connect(1, 2, 2.0, 0.0);
/// assert_eq!(network.solve(), 1.0);
/// network.set_edge(edge, 2.5, 0.0); // the flow so far is kept
/// assert_eq!(network.solve(), 2.0);
/// ```
#[derive(Debug, Clone, Default)]
pub struct MaxFlow {
    nodes: Vec<Node>,
    /// The capacities of the ties of each node: from the source, to the sink.
    ties: Vec<(f64, f64)>,
    edges: Vec<Edge>,
    /// The arcs of each node side by side, two for every edge.
    arcs: Vec<Arc>,
    /// The index of the first arc of each node, and the number of all arcs.
    starts: Vec<u32>,
    /// Whether all edges have their arcs.
    is_laid_out: bool,
    /// Whether the search trees belong to the current flow, except around changed nodes.
    has_trees: bool,
    flow: f64,
    /// Counts searches, so that marks need not be cleared.
    time: u32,
    /// Nodes whose ties or edges have changed since the trees were grown.
    changed: Vec<u32>,
    /// The first and the last of the active nodes, which may have neighbours to take in.
    active: Option<(u32, u32)>,
    orphans: VecDeque<u32>,
    spare_arcs: Vec<Arc>,
}

impl MaxFlow {
    /// Creates a network with this number of nodes, without edges.
    pub fn new(nodes: usize) -> Self {
        let mut network = Self::default();
        network.reset(nodes);
        network
    }

    /// Removes all edges and starts again with this number of nodes. The memory is kept.
    ///
    /// ```
    /// let mut network = maxmargin::inference::MaxFlow::new(1);
    /// network.tie(0, 1.0, 1.0);
    /// network.reset(2);
    /// assert_eq!((network.nodes(), network.edges(), network.solve()), (2, 0, 0.0));
    /// ```
    pub fn reset(&mut self, nodes: usize) {
        self.nodes.clear();
        self.nodes.resize(nodes, Node::default());
        self.ties.clear();
        self.ties.resize(nodes, (0.0, 0.0));
        self.edges.clear();
        self.forget_search();
        self.is_laid_out = false;
        self.flow = 0.0;
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.nodes.len()
    }

    /// Number of edges.
    pub fn edges(&self) -> usize {
        self.edges.len()
    }

    /// Adds capacity from the source to `node`, and from `node` to the sink.
    ///
    /// ```
    /// let mut network = maxmargin::inference::MaxFlow::new(1);
    /// network.tie(0, 2.0, 5.0);
    /// network.tie(0, 1.0, 0.0);
    /// assert_eq!(network.solve(), 3.0);
    /// ```
    ///
    /// # Panics
    /// If there is no such node, or a capacity is negative, NaN or infinite.
    pub fn tie(&mut self, node: usize, from_source: f64, to_sink: f64) {
        check(from_source);
        check(to_sink);
        let (source, sink) = &mut self.ties[node];
        *source += from_source;
        *sink += to_sink;
        self.shift(node, from_source, to_sink);
    }

    /// Replaces the capacities that [`tie`](Self::tie) has added up so far.
    ///
    /// ```
    /// let mut network = maxmargin::inference::MaxFlow::new(1);
    /// network.tie(0, 2.0, 5.0);
    /// assert_eq!(network.solve(), 2.0);
    /// network.set_tie(0, 7.0, 4.0);
    /// assert_eq!(network.solve(), 4.0);
    /// ```
    ///
    /// # Panics
    /// The same as for [`tie`](Self::tie).
    pub fn set_tie(&mut self, node: usize, from_source: f64, to_sink: f64) {
        check(from_source);
        check(to_sink);
        let (source, sink) = std::mem::replace(&mut self.ties[node], (from_source, to_sink));
        if (source, sink) != (from_source, to_sink) {
            self.shift(node, from_source - source, to_sink - sink);
        }
    }

    /// Adds an edge from node `a` to node `b` with a capacity in each direction. Returns its number,
    /// counted from 0, for [`set_edge`](Self::set_edge).
    ///
    /// ```
    /// let mut network = maxmargin::inference::MaxFlow::new(2);
    /// network.tie(1, 1.0, 0.0);
    /// network.tie(0, 0.0, 1.0);
    /// assert_eq!(network.connect(0, 1, 9.0, 0.25), 0); // the flow goes from 1 to 0
    /// assert_eq!(network.solve(), 0.25);
    /// ```
    ///
    /// # Panics
    /// If there is no such node, or a capacity is negative, NaN or infinite.
    pub fn connect(&mut self, a: usize, b: usize, capacity: f64, back: f64) -> usize {
        check(capacity);
        check(back);
        assert!(a.max(b) < self.nodes.len(), "there is no node {}", a.max(b));
        self.edges.push(Edge::new(a as u32, b as u32, capacity, back));
        self.is_laid_out = false;
        self.edges.len() - 1
    }

    /// Sets the capacities of an edge. Flow that exceeds them is taken back.
    ///
    /// # Panics
    /// If there is no such edge, or a capacity is negative, NaN or infinite.
    pub fn set_edge(&mut self, edge: usize, capacity: f64, back: f64) {
        check(capacity);
        check(back);
        let found = &mut self.edges[edge];
        let (a, b) = (found.a as usize, found.b as usize);
        let (before, before_back) = (found.capacity, found.back);
        if (before, before_back) == (capacity, back) {
            return;
        }
        (found.capacity, found.back) = (capacity, back);
        let Some(there) = found.arc() else { return };
        let again = self.arcs[there].sister as usize;
        // The residual capacities if the flow stays. At most one of the two is negative.
        let mut residual = self.arcs[there].residual + (capacity - before);
        let mut residual_back = self.arcs[again].residual + (back - before_back);
        let too_much = (-residual).max(-residual_back);
        if too_much > 0.0 {
            // Take flow off the edge: it accumulates at one end and is missing at the other.
            let (full, short) = if residual < 0.0 { (a, b) } else { (b, a) };
            (residual, residual_back) =
                if residual < 0.0 { (0.0, capacity + back) } else { (capacity + back, 0.0) };
            self.shift(full, 0.0, -too_much);
            self.shift(short, 0.0, too_much);
        }
        self.arcs[there].residual = residual;
        self.arcs[again].residual = residual_back;
        self.mark(a);
        self.mark(b);
    }

    /// Takes all flow back, so that the next search starts from zero. Capacities are kept.
    ///
    /// This is necessary if capacities have changed to another [`Quantum`], because the old flow is not a
    /// whole multiple of it.
    ///
    /// ```
    /// let mut network = maxmargin::inference::MaxFlow::new(1);
    /// network.tie(0, 2.0, 5.0);
    /// network.solve();
    /// network.forget_flow();
    /// assert_eq!(network.solve(), 2.0);
    /// ```
    pub fn forget_flow(&mut self) {
        self.flow = 0.0;
        for (node, &(source, sink)) in self.nodes.iter_mut().zip(&self.ties) {
            node.excess = source - sink;
            self.flow += source.min(sink);
        }
        for edge in &self.edges {
            if let Some(there) = edge.arc() {
                let back = self.arcs[there].sister as usize;
                self.arcs[there].residual = edge.capacity;
                self.arcs[back].residual = edge.back;
            }
        }
        self.forget_search();
    }

    /// Finds the maximum flow, which is the capacity of a minimum cut, and returns its value.
    ///
    /// Capacities may change and edges may be added afterwards. Solving again continues from the current
    /// flow.
    ///
    /// ```
    /// let mut network = maxmargin::inference::MaxFlow::new(2);
    /// network.tie(0, 2.0, 0.0);
    /// network.tie(1, 0.0, 2.0);
    /// network.connect(0, 1, 0.5, 0.0);
    /// assert_eq!(network.solve(), 0.5);
    /// network.connect(0, 1, 0.25, 0.0);
    /// assert_eq!(network.solve(), 0.75);
    /// ```
    pub fn solve(&mut self) -> f64 {
        if !self.is_laid_out {
            self.lay_out();
        }
        self.search();
        self.flow
    }

    /// Whether a node is on the source's side of the minimum cut that [`solve`](Self::solve) has
    /// found: the one with the fewest nodes on that side.
    ///
    /// ```
    /// let mut network = maxmargin::inference::MaxFlow::new(2);
    /// network.tie(0, 2.0, 1.0);
    /// network.solve();
    /// assert!(network.is_on_source_side(0) && !network.is_on_source_side(1));
    /// ```
    ///
    /// # Panics
    /// If there is no such node.
    pub fn is_on_source_side(&self, node: usize) -> bool {
        self.nodes[node].is_in_source_tree()
    }

    /// Adds amounts, which may be negative, to the two ties of a node and keeps the flow.
    fn shift(&mut self, node: usize, from_source: f64, to_sink: f64) {
        let excess = self.nodes[node].excess;
        let (from, to) = (from_source + excess.max(0.0), to_sink + (-excess).max(0.0));
        // Flow that can go from the source to the sink directly never enters the network.
        self.flow += from.min(to);
        self.nodes[node].excess = from - to;
        self.mark(node);
    }

    /// Marks a node around which the search trees must be repaired.
    fn mark(&mut self, node: usize) {
        if self.has_trees && !self.nodes[node].is_changed {
            self.nodes[node].is_changed = true;
            self.changed.push(node as u32);
        }
    }
}

#[track_caller]
fn check(capacity: f64) {
    assert!(
        capacity >= 0.0 && capacity.is_finite(),
        "a capacity must be a finite number, at least 0, not {capacity}"
    );
}
