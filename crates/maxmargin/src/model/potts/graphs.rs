//! Labelled graphs in index form, for training and prediction.

use crate::model::InputError;
use crate::model::rows::{Row, Rows};
use crate::util::prefetch::prefetch;
use std::ops::Range;

/// Graphs whose nodes have attributes, a label and a weight (for example, an area), and whose edges have
/// attributes.
///
/// Nodes are numbered from 0 in each graph. Two nodes may be joined by several edges, whose scores are
/// added up.
///
/// ```
/// use maxmargin::model::potts::PottsGraphs;
///
/// let mut data = PottsGraphs::new();
/// data.push_node([(0, 0.5), (1, 1.0)], 0, 120.0)?; // attributes, label, weight
/// data.push_node([(0, 0.9), (1, 1.0)], 1, 80.0)?;
/// data.push_edge(0, 1, [(0, 14.0)])?;
/// data.end_graph(1.0)?;
/// assert_eq!((data.len(), data.graph(0).labels()), (1, &[0, 1][..]));
/// # Ok::<(), maxmargin::model::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PottsGraphs {
    /// First node and first edge of each graph, and one past the last of both.
    starts: Vec<(usize, usize)>,
    node_rows: Rows,
    labels: Vec<u32>,
    node_weights: Vec<f64>,
    edge_rows: Rows,
    ends: Vec<(u32, u32)>,
    weights: Vec<f64>,
}

impl Default for PottsGraphs {
    fn default() -> Self {
        Self::new()
    }
}

impl PottsGraphs {
    /// An empty collection.
    pub fn new() -> Self {
        Self {
            starts: vec![(0, 0)],
            node_rows: Rows::default(),
            labels: Vec::new(),
            node_weights: Vec::new(),
            edge_rows: Rows::default(),
            ends: Vec::new(),
            weights: Vec::new(),
        }
    }

    /// Adds a node with its attributes, true label and weight to the open graph, and returns its number.
    ///
    /// # Errors
    /// If a value is NaN or infinite, or if the weight is negative, NaN or infinite. The node is not
    /// added then.
    pub fn push_node(
        &mut self,
        attributes: impl IntoIterator<Item = (u32, f64)>,
        label: u32,
        weight: f64,
    ) -> Result<u32, InputError> {
        InputError::check_not_negative("the weight of the node", weight)?;
        self.node_rows.push(attributes)?;
        self.labels.push(label);
        self.node_weights.push(weight);
        Ok(self.open_nodes() as u32 - 1)
    }

    /// Joins two nodes of the open graph by an edge.
    ///
    /// ```
    /// use maxmargin::model::potts::{PottsGraphs, grid_edges};
    ///
    /// let mut data = PottsGraphs::new();
    /// for pixel in [0.1, 0.2, 0.8, 0.9] {
    ///     data.push_node([(0, pixel)], u32::from(pixel > 0.5), 1.0)?;
    /// }
    /// for (a, b) in grid_edges(2, 2, false) {
    ///     data.push_edge(a, b, [(0, 1.0)])?;
    /// }
    /// data.end_graph(1.0)?;
    /// assert_eq!(data.graph(0).edges().len(), 4);
    /// # Ok::<(), maxmargin::model::InputError>(())
    /// ```
    ///
    /// # Errors
    /// If a node does not exist yet, if the edge joins a node to itself, or if a value is NaN or
    /// infinite. The edge is not added then.
    pub fn push_edge(
        &mut self,
        a: u32,
        b: u32,
        attributes: impl IntoIterator<Item = (u32, f64)>,
    ) -> Result<(), InputError> {
        let nodes = self.open_nodes();
        if a.max(b) as usize >= nodes {
            let node = a.max(b);
            let message = format!("node {node} does not exist; the graph has {nodes} so far");
            return Err(InputError::Structure(message));
        }
        if a == b {
            let message = format!("an edge joins two nodes, not node {a} with itself");
            return Err(InputError::Structure(message));
        }
        self.edge_rows.push(attributes)?;
        self.ends.push((a, b));
        Ok(())
    }

    /// Closes the open graph and gives it an example weight.
    ///
    /// # Errors
    /// If no node was added since the last call, or if the weight is not positive and finite. The graph
    /// stays open then.
    pub fn end_graph(&mut self, weight: f64) -> Result<(), InputError> {
        if self.open_nodes() == 0 {
            return Err(InputError::structure("a graph needs at least one node"));
        }
        InputError::check_weight(weight)?;
        self.weights.push(weight);
        self.starts.push((self.labels.len(), self.ends.len()));
        Ok(())
    }

    /// Number of nodes pushed since the last graph was closed.
    pub fn open_nodes(&self) -> usize {
        self.labels.len() - self.starts[self.starts.len() - 1].0
    }

    /// Number of closed graphs.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Whether there is no closed graph.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The closed graph with index `i`.
    ///
    /// # Panics
    /// If `i` is not below [`len`](Self::len).
    #[inline]
    pub fn graph(&self, i: usize) -> PottsGraph<'_> {
        PottsGraph { data: self, start: self.starts[i], end: self.starts[i + 1] }
    }

    /// All closed graphs in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = PottsGraph<'_>> {
        (0..self.len()).map(|i| self.graph(i))
    }

    /// Example weight of graph `i`, which must be below [`len`](Self::len).
    pub fn weight(&self, i: usize) -> f64 {
        self.weights[i]
    }

    /// Returns the graphs for whose index `keep` returns `true`, in the same order.
    ///
    /// ```
    /// # use maxmargin::doc::patches;
    /// let all = patches().data().clone();
    /// let some = all.select(|i| i != 0);
    /// assert_eq!((some.len(), some.graph(0)), (all.len() - 1, all.graph(1)));
    /// ```
    #[must_use]
    pub fn select(&self, keep: impl Fn(usize) -> bool) -> Self {
        let mut selected = Self::new();
        for (i, graph) in self.iter().enumerate().filter(|(i, _)| keep(*i)) {
            // The data were checked when they were added.
            for v in 0..graph.nodes() {
                let (row, label) = (graph.node(v), graph.labels()[v]);
                let _ = selected.push_node(row.pairs(), label, graph.node_weight(v));
            }
            for (e, &(a, b)) in graph.edges().iter().enumerate() {
                let _ = selected.push_edge(a, b, graph.edge(e).pairs());
            }
            let _ = selected.end_graph(self.weight(i));
        }
        selected
    }

    /// One more than the largest label, or 0 if there are no nodes.
    pub fn label_bound(&self) -> usize {
        self.labels.iter().max().map_or(0, |&y| y as usize + 1)
    }

    /// One more than the largest attribute of a node, or 0 if there are no attributes.
    pub fn node_attribute_bound(&self) -> usize {
        self.node_rows.attribute_bound()
    }

    /// One more than the largest attribute of an edge, or 0 if there are no attributes.
    pub fn edge_attribute_bound(&self) -> usize {
        self.edge_rows.attribute_bound()
    }
}

/// A view of one graph of [`PottsGraphs`].
///
/// ```
/// # use maxmargin::doc::patches;
/// let problem = patches();
/// let graph = problem.data().graph(0);
/// assert_eq!((graph.nodes(), graph.edges()[0], graph.node_weight(1)), (6, (0, 1), 1.0));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct PottsGraph<'a> {
    data: &'a PottsGraphs,
    start: (usize, usize),
    end: (usize, usize),
}

impl PartialEq for PottsGraph<'_> {
    fn eq(&self, other: &Self) -> bool {
        let nodes = |graph: &Self| graph.nodes();
        let edges = |graph: &Self| graph.edges().len();
        self.labels() == other.labels()
            && self.edges() == other.edges()
            && (0..nodes(self)).all(|v| {
                self.node(v).pairs().eq(other.node(v).pairs())
                    && self.node_weight(v) == other.node_weight(v)
            })
            && (0..edges(self)).all(|e| self.edge(e).pairs().eq(other.edge(e).pairs()))
    }
}

impl<'a> PottsGraph<'a> {
    /// Number of nodes, at least 1.
    pub fn nodes(&self) -> usize {
        self.end.0 - self.start.0
    }

    /// The labels of all nodes.
    pub fn labels(&self) -> &'a [u32] {
        &self.data.labels[self.node_range()]
    }

    /// The attributes of node `v`.
    #[inline]
    pub fn node(&self, v: usize) -> Row<'a> {
        self.data.node_rows.row(self.start.0 + v)
    }

    /// The weight of node `v`.
    pub fn node_weight(&self, v: usize) -> f64 {
        self.data.node_weights[self.start.0 + v]
    }

    /// The two ends of every edge.
    pub fn edges(&self) -> &'a [(u32, u32)] {
        &self.data.ends[self.start.1..self.end.1]
    }

    /// The attributes of edge `e`.
    #[inline]
    pub fn edge(&self, e: usize) -> Row<'a> {
        self.data.edge_rows.row(self.start.1 + e)
    }

    fn node_range(&self) -> Range<usize> {
        self.start.0..self.end.0
    }

    /// Prefetches the memory of this graph.
    pub(super) fn prefetch(&self) {
        prefetch(self.labels());
        prefetch(self.edges());
        self.data.node_rows.prefetch_row(self.start.0);
    }
}
