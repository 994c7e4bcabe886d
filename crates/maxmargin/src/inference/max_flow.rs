//! Maximum flow and minimum cut, with real capacities.
//!
//! A network has nodes, edges with a capacity in each direction, and two terminals that are not
//! nodes: every node may be tied to the source, to the sink, or to both. That is the form in which
//! energies with two states per variable come, and it leaves the algorithm free: this one is
//! Dinic's, which augments along shortest paths, layer by layer. Its bound O(V²E) does not depend on
//! the capacities, so real numbers are as good as whole ones.
//!
//! ```
//! use maxmargin::inference::max_flow::MaxFlow;
//!
//! let mut network = MaxFlow::new(2);
//! network.tie(0, 5.0, 0.0); // from the source to node 0
//! network.tie(1, 0.0, 4.0); // from node 1 to the sink
//! network.connect(0, 1, 3.0, 0.0);
//! assert_eq!(network.solve(), 3.0);
//! assert!(network.is_on_source_side(0) && !network.is_on_source_side(1));
//! ```

/// Marks the end of a list of arcs, and a node that no search has reached.
const NONE: u32 = u32::MAX;

/// A network, and the memory to find its maximum flow again and again.
///
/// ```
/// use maxmargin::inference::max_flow::MaxFlow;
///
/// let mut network = MaxFlow::default();
/// for capacity in [1.0, 2.5] {
///     network.reset(3);
///     network.tie(0, 9.0, 0.0);
///     network.tie(2, 0.0, 9.0);
///     network.connect(0, 1, capacity, 0.0);
///     network.connect(1, 2, 2.0, 0.0);
///     assert_eq!(network.solve(), capacity.min(2.0));
/// }
/// ```
#[derive(Debug, Clone, Default)]
pub struct MaxFlow {
    /// The first arc that leaves each node.
    first: Vec<u32>,
    /// Arcs come in pairs, each the other's reverse: that of arc `a` is `a ^ 1`.
    arcs: Vec<Arc>,
    /// What the source can still send to each node, or, if negative, the node to the sink.
    excess: Vec<f64>,
    flow: f64,
    levels: Vec<u32>,
    /// The arc of each node to look at next.
    current: Vec<u32>,
    queue: Vec<u32>,
    path: Vec<u32>,
}

#[derive(Debug, Clone, Copy)]
struct Arc {
    to: u32,
    /// The next arc that leaves the same node.
    next: u32,
    /// What it can still carry.
    residual: f64,
}

impl MaxFlow {
    /// A network of so many nodes, without edges.
    pub fn new(nodes: usize) -> Self {
        let mut network = Self::default();
        network.reset(nodes);
        network
    }

    /// Forgets all edges and begins anew with so many nodes; memory is kept.
    pub fn reset(&mut self, nodes: usize) {
        self.arcs.clear();
        self.first.clear();
        self.first.resize(nodes, NONE);
        self.excess.clear();
        self.excess.resize(nodes, 0.0);
        self.levels.clear();
        self.levels.resize(nodes, NONE);
        self.flow = 0.0;
    }

    /// Adds capacity from the source to `node`, and from `node` to the sink.
    ///
    /// ```
    /// let mut network = maxmargin::inference::max_flow::MaxFlow::new(1);
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
        // What comes from the source and can go to the sink at once never enters the network.
        let before = self.excess[node];
        let (from, to) = (from_source + before.max(0.0), to_sink + (-before).max(0.0));
        self.flow += from.min(to);
        self.excess[node] = from - to;
    }

    /// Adds an edge from node `a` to node `b` with the given capacity, and one back.
    ///
    /// ```
    /// let mut network = maxmargin::inference::max_flow::MaxFlow::new(2);
    /// network.tie(1, 1.0, 0.0);
    /// network.tie(0, 0.0, 1.0);
    /// network.connect(0, 1, 9.0, 0.25); // the flow goes from 1 to 0
    /// assert_eq!(network.solve(), 0.25);
    /// ```
    ///
    /// # Panics
    /// If there is no such node, or a capacity is negative, NaN or infinite.
    pub fn connect(&mut self, a: usize, b: usize, capacity: f64, back: f64) {
        check(capacity);
        check(back);
        for (from, to, residual) in [(a, b, capacity), (b, a, back)] {
            let arc = Arc { to: to as u32, next: self.first[from], residual };
            self.first[from] = self.arcs.len() as u32;
            self.arcs.push(arc);
        }
    }

    /// Finds the maximum flow, which is the capacity of a minimum cut, and returns its value.
    ///
    /// Edges may be added afterwards; solving again goes on from the flow there is.
    ///
    /// ```
    /// let mut network = maxmargin::inference::max_flow::MaxFlow::new(2);
    /// network.tie(0, 2.0, 0.0);
    /// network.tie(1, 0.0, 2.0);
    /// network.connect(0, 1, 0.5, 0.0);
    /// assert_eq!(network.solve(), 0.5);
    /// network.connect(0, 1, 0.25, 0.0);
    /// assert_eq!(network.solve(), 0.75);
    /// ```
    pub fn solve(&mut self) -> f64 {
        while let Some(depth) = self.find_layers() {
            self.current.clone_from(&self.first);
            for at in 0..self.queue.len() {
                let source = self.queue[at];
                if self.levels[source as usize] != 0 {
                    break; // the queue has the nodes of the first layer in front
                }
                self.send_from(source, depth);
            }
        }
        self.flow
    }

    /// Whether a node is on the source's side of the minimum cut that [`solve`](Self::solve) has
    /// found: the one with the fewest nodes on that side.
    ///
    /// ```
    /// let mut network = maxmargin::inference::max_flow::MaxFlow::new(2);
    /// network.tie(0, 2.0, 1.0);
    /// network.solve();
    /// assert!(network.is_on_source_side(0) && !network.is_on_source_side(1));
    /// ```
    ///
    /// # Panics
    /// If there is no such node.
    pub fn is_on_source_side(&self, node: usize) -> bool {
        self.levels[node] != NONE
    }

    /// Sorts nodes by their distance from the source; the distance at which the sink is nearest.
    fn find_layers(&mut self) -> Option<u32> {
        let Self { levels, queue, excess, first, arcs, .. } = self;
        levels.fill(NONE);
        queue.clear();
        for (node, _) in excess.iter().enumerate().filter(|(_, excess)| **excess > 0.0) {
            levels[node] = 0;
            queue.push(node as u32);
        }
        let (mut head, mut depth) = (0, None);
        while let Some(&node) = queue.get(head) {
            head += 1;
            let level = levels[node as usize];
            if depth.is_some_and(|depth| level >= depth) {
                break;
            }
            let mut at = first[node as usize];
            while at != NONE {
                let arc = arcs[at as usize];
                at = arc.next;
                let to = arc.to as usize;
                if arc.residual > 0.0 && levels[to] == NONE {
                    levels[to] = level + 1;
                    queue.push(arc.to);
                    if excess[to] < 0.0 {
                        depth = Some(level + 1);
                    }
                }
            }
        }
        depth
    }

    /// Sends what the source can send to `source` on to nodes that are tied to the sink and `depth`
    /// layers away, until the way is blocked.
    fn send_from(&mut self, source: u32, depth: u32) {
        self.path.clear();
        let mut node = source;
        while self.excess[source as usize] > 0.0 {
            if self.levels[node as usize] == depth && self.excess[node as usize] < 0.0 {
                node = self.augment(source, node);
                continue;
            }
            match self.advance(node, depth) {
                Some(arc) => {
                    self.path.push(arc);
                    node = self.arcs[arc as usize].to;
                }
                None => {
                    // A dead end: nothing goes this way until the layers change.
                    let Some(arc) = self.path.pop() else { return };
                    node = self.arcs[arc as usize ^ 1].to;
                    self.current[node as usize] = self.arcs[arc as usize].next;
                }
            }
        }
    }

    /// The next arc of `node` that leads on to the next layer.
    fn advance(&mut self, node: u32, depth: u32) -> Option<u32> {
        let level = self.levels[node as usize];
        let mut at = if level < depth { self.current[node as usize] } else { NONE };
        while at != NONE {
            let arc = self.arcs[at as usize];
            if arc.residual > 0.0 && self.levels[arc.to as usize] == level + 1 {
                break;
            }
            at = arc.next;
        }
        self.current[node as usize] = at;
        (at != NONE).then_some(at)
    }

    /// Sends as much as possible along the path; the node up to which it can still be used.
    fn augment(&mut self, source: u32, sink: u32) -> u32 {
        let (from, to) = (source as usize, sink as usize);
        let most = self.excess[from].min(-self.excess[to]);
        let residuals = self.path.iter().map(|&arc| self.arcs[arc as usize].residual);
        let amount = residuals.fold(most, f64::min);
        self.flow += amount;
        self.excess[from] -= amount;
        self.excess[to] += amount;
        let mut full = None;
        for (at, &arc) in self.path.iter().enumerate() {
            self.arcs[arc as usize].residual -= amount;
            self.arcs[arc as usize ^ 1].residual += amount;
            if self.arcs[arc as usize].residual <= 0.0 && full.is_none() {
                full = Some(at);
            }
        }
        match full {
            // Either the source or the sink is exhausted. The path is still good for the latter's
            // neighbours, but going back to its start is simpler, and rarely matters.
            None => {
                self.path.clear();
                source
            }
            Some(at) => {
                let tail = self.arcs[self.path[at] as usize ^ 1].to;
                self.path.truncate(at);
                tail
            }
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
