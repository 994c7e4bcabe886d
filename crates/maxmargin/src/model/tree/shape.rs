//! The structure of a tree and the layout of its weights.

use crate::model::InputError;
use crate::problem::bounds::{Bounds, BoundsError};
use crate::util::sort;
use std::ops::Range;

/// One node of a tree.
///
/// ```
/// use maxmargin::model::tree::TreeNode;
///
/// let node = TreeNode::root(3, 2).child_of(0).with_anchors(vec![(0.0, -4.0); 3]);
/// assert_eq!((node.kinds, node.maps, node.parent, node.deforms), (3, 2, Some(0), true));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct TreeNode {
    /// Its parent, if it has one.
    pub parent: Option<usize>,
    /// Number of kinds, at least 1.
    pub kinds: usize,
    /// Number of maps.
    pub maps: usize,
    /// Whether its distance from the parent has a cost.
    pub deforms: bool,
    /// For each kind, the expected position relative to the parent: right, down. Empty if all are (0, 0).
    pub anchors: Vec<(f64, f64)>,
    /// Number of maps that are read at the place of the *parent*: what the picture there says about the kind of this
    /// node, such as the direction in which an arm goes on.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_zero"))]
    pub parent_maps: usize,
}

#[cfg(feature = "serde")]
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl TreeNode {
    /// Creates a node without a parent.
    pub fn root(kinds: usize, maps: usize) -> Self {
        Self { parent: None, kinds, maps, deforms: false, anchors: Vec::new(), parent_maps: 0 }
    }

    /// The same node as a child of `parent`, with a cost of its distance.
    #[must_use]
    pub fn child_of(self, parent: usize) -> Self {
        Self { parent: Some(parent), deforms: true, ..self }
    }

    /// The same node without a cost of its distance, so that only the kinds of node and parent matter.
    ///
    /// ```
    /// use maxmargin::model::tree::TreeNode;
    /// assert!(!TreeNode::root(3, 2).child_of(0).rigid().deforms);
    /// ```
    #[must_use]
    pub fn rigid(self) -> Self {
        Self { deforms: false, ..self }
    }

    /// The same node with these anchors.
    #[must_use]
    pub fn with_anchors(self, anchors: Vec<(f64, f64)>) -> Self {
        Self { anchors, ..self }
    }

    /// The same node with so many maps that are read at the place of its parent.
    ///
    /// ```
    /// use maxmargin::model::tree::TreeNode;
    /// assert_eq!(TreeNode::root(3, 2).child_of(0).with_parent_maps(3).parent_maps, 3);
    /// ```
    #[must_use]
    pub fn with_parent_maps(self, parent_maps: usize) -> Self {
        Self { parent_maps, ..self }
    }

    pub(super) fn anchor(&self, kind: usize) -> (f64, f64) {
        self.anchors.get(kind).copied().unwrap_or_default()
    }
}

/// The shape of a tree's weights: its nodes, and the unit in which deformations are measured.
///
/// In w, each node in turn has its unary weights (one row of maps per kind) and its biases (one per kind). A node with
/// a parent also has a table (a row per kind, with one weight per kind of the parent), costs of deformation (four per
/// kind: of δx², δy², δx, δy), and weights of the maps that are read at the place of the parent (a row per kind).
///
/// ```
/// use maxmargin::model::tree::{TreeNode, TreeShape};
///
/// let body = vec![TreeNode::root(2, 2), TreeNode::root(3, 3).child_of(0)];
/// let shape = TreeShape::new(body, 4.0)?;
/// assert_eq!((shape.unary(1), shape.bias(1)), (6..15, 15..18));
/// assert_eq!((shape.table(1), shape.deformation(1), shape.dim()), (18..24, 24..36, 36));
/// # Ok::<(), maxmargin::model::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Stored", into = "Stored"))]
pub struct TreeShape {
    nodes: Vec<TreeNode>,
    unit: f64,
    /// The index of the first weight of each node, and the number of all weights.
    starts: Vec<usize>,
    /// All nodes, parents before children.
    order: Vec<usize>,
}

/// The serialized form of a shape.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
struct Stored {
    nodes: Vec<TreeNode>,
    unit: f64,
}

impl TryFrom<Stored> for TreeShape {
    type Error = InputError;

    fn try_from(stored: Stored) -> Result<Self, InputError> {
        Self::new(stored.nodes, stored.unit)
    }
}

impl From<TreeShape> for Stored {
    fn from(shape: TreeShape) -> Self {
        Self { nodes: shape.nodes, unit: shape.unit }
    }
}

impl TreeShape {
    /// Creates a tree (or several) from nodes. Distances are divided by `unit`.
    ///
    /// # Errors
    /// If parents do not exist or form a circle, if a node has no kinds, if anchors do not fit, or if the
    /// unit is not positive and finite.
    pub fn new(nodes: Vec<TreeNode>, unit: f64) -> Result<Self, InputError> {
        if nodes.is_empty() {
            return Err(InputError::structure("a tree needs at least one node"));
        }
        InputError::check_positive("the unit of length", unit)?;
        for (at, node) in nodes.iter().enumerate() {
            if node.kinds == 0 {
                return Err(InputError::Structure(format!("node {at} needs at least one kind")));
            }
            if let Some(parent) = node.parent.filter(|&parent| parent >= nodes.len()) {
                return Err(InputError::Unknown {
                    place: format!("node {at}"),
                    what: "parent",
                    found: parent,
                    known: nodes.len(),
                    unit: " nodes",
                });
            }
            if node.parent.is_none() && node.parent_maps > 0 {
                let message = format!("node {at} has maps of its parent, but no parent");
                return Err(InputError::Structure(message));
            }
            let finite = node.anchors.iter().all(|(x, y)| x.is_finite() && y.is_finite());
            if !finite || !node.anchors.is_empty() && node.anchors.len() != node.kinds {
                let needed = "one anchor of finite numbers per kind, or none at all";
                return Err(InputError::Structure(format!("node {at} needs {needed}")));
            }
        }
        let mut shape = Self { nodes, unit, starts: vec![0], order: Vec::new() };
        shape.order = shape.sort()?;
        for node in 0..shape.nodes.len() {
            let end = shape.checked_end(node).ok_or_else(|| {
                InputError::Structure(format!("node {node} has more weights than can be counted"))
            })?;
            shape.starts.push(end);
        }
        Ok(shape)
    }

    /// Sorts the nodes such that parents come before their children.
    fn sort(&self) -> Result<Vec<usize>, InputError> {
        let n = self.nodes.len();
        let mut depths = vec![0; n];
        for (at, depth) in depths.iter_mut().enumerate() {
            let mut ancestor = at;
            while let Some(parent) = self.nodes[ancestor].parent {
                *depth += 1;
                ancestor = parent;
                if *depth > n {
                    return Err(InputError::Structure(format!("node {at} is its own ancestor")));
                }
            }
        }
        let mut order: Vec<usize> = (0..n).collect();
        sort::by_key(&mut order, |&at| depths[at]);
        Ok(order)
    }

    /// One more than the last weight of a node, if there is such a number.
    fn checked_end(&self, node: usize) -> Option<usize> {
        let own = &self.nodes[node];
        let parent = own.parent.map_or(0, |parent| self.nodes[parent].kinds);
        // One bias and four deformation costs per kind, whether or not it deforms.
        let per_kind =
            own.maps.checked_add(parent)?.checked_add(own.parent_maps)?.checked_add(5)?;
        let most = own.kinds.checked_mul(per_kind)?;
        self.starts[node].checked_add(most)?;
        Some(self.starts[node] + self.sizes(node).iter().sum::<usize>())
    }

    /// Numbers of unary weights, biases, table entries, deformation costs and weights of maps at the parent, of a node.
    fn sizes(&self, node: usize) -> [usize; 5] {
        let own = &self.nodes[node];
        let parent = own.parent.map_or(0, |parent| self.nodes[parent].kinds);
        let deforms = own.deforms && own.parent.is_some();
        let deformation = if deforms { 4 * own.kinds } else { 0 };
        let at_parent = own.kinds * own.parent_maps;
        [own.kinds * own.maps, own.kinds, own.kinds * parent, deformation, at_parent]
    }

    fn group(&self, node: usize, group: usize) -> Range<usize> {
        let sizes = self.sizes(node);
        let start = self.starts[node] + sizes[..group].iter().sum::<usize>();
        start..start + sizes[group]
    }

    /// The nodes.
    pub fn nodes(&self) -> &[TreeNode] {
        &self.nodes
    }

    /// The unit that distances are divided by.
    pub fn unit(&self) -> f64 {
        self.unit
    }

    pub(super) fn order(&self) -> &[usize] {
        &self.order
    }

    /// Number of weights.
    pub fn dim(&self) -> usize {
        self.starts[self.nodes.len()]
    }

    /// The range of the unary weights of a node. The weight of kind `k` with map `m` is at `k * maps + m`
    /// in it.
    pub fn unary(&self, node: usize) -> Range<usize> {
        self.group(node, 0)
    }

    /// The range of the biases of a node, one per kind.
    pub fn bias(&self, node: usize) -> Range<usize> {
        self.group(node, 1)
    }

    /// The range of the table of a node and its parent. The weight of kind `k` under a parent of kind `p`
    /// is at `k * (kinds of the parent) + p` in it.
    pub fn table(&self, node: usize) -> Range<usize> {
        self.group(node, 2)
    }

    /// The range of the costs of deformation. Those of kind `k` begin at `4 * k`: of δx², δy², δx and δy.
    pub fn deformation(&self, node: usize) -> Range<usize> {
        self.group(node, 3)
    }

    /// The range of the weights of maps that are read at the place of the parent. The weight of kind `k` with map `m`
    /// is at `k * parent_maps + m` in it.
    ///
    /// ```
    /// use maxmargin::model::tree::{TreeNode, TreeShape};
    ///
    /// let arm = TreeNode::root(2, 1).child_of(0).with_parent_maps(2);
    /// let shape = TreeShape::new(vec![TreeNode::root(1, 1), arm], 1.0)?;
    /// assert_eq!((shape.deformation(1), shape.at_parent(1)), (8..16, 16..20));
    /// # Ok::<(), maxmargin::model::InputError>(())
    /// ```
    pub fn at_parent(&self, node: usize) -> Range<usize> {
        self.group(node, 4)
    }

    /// Returns the bounds `others`, with quadratic costs of deformation ≥ 0 in addition.
    ///
    /// ```
    /// use maxmargin::model::tree::{TreeNode, TreeShape};
    ///
    /// let shape = TreeShape::new(vec![TreeNode::root(1, 1), TreeNode::root(1, 1).child_of(0)], 1.0)?;
    /// let bounds = shape.bounds(None)?;
    /// let free = f64::NEG_INFINITY;
    /// assert_eq!(bounds.lower()[shape.deformation(1)], [0.0, 0.0, free, free]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the number of bounds in `others` is not the number of weights, or if they exclude quadratic
    /// costs ≥ 0.
    pub fn bounds(&self, others: Option<Bounds>) -> Result<Bounds, BoundsError> {
        let mut bounds = others.unwrap_or_else(|| Bounds::none(self.dim()));
        let found = bounds.lower().len();
        if found != self.dim() {
            return Err(BoundsError::Size { lower: found, upper: found, expected: self.dim() });
        }
        for node in 0..self.nodes.len() {
            for first in self.deformation(node).step_by(4) {
                bounds = bounds.with(first..first + 2, 0.0, f64::INFINITY)?;
            }
        }
        Ok(bounds)
    }
}
