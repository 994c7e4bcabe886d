//! Examples of trees: maps and true states, for training and prediction.

use super::shape::TreeShape;
use crate::model::InputError;

/// The state of a node: its kind and its place.
///
/// ```
/// use maxmargin::model::tree::State;
/// assert_eq!(State { kind: 1, x: 2, y: 1 }.place(5), 7); // row by row in a grid 5 wide
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct State {
    /// The kind.
    pub kind: u32,
    /// The column.
    pub x: u32,
    /// The row.
    pub y: u32,
}

impl State {
    /// The index of its place in a grid of this width.
    pub fn place(&self, width: usize) -> usize {
        self.y as usize * width + self.x as usize
    }

    pub(super) fn at(kind: usize, place: usize, width: usize) -> Self {
        Self { kind: kind as u32, x: (place % width) as u32, y: (place / width) as u32 }
    }
}

/// Examples for one tree. Each has a grid, the maps of all nodes, and the true states.
///
/// ```
/// use maxmargin::model::tree::{State, TreeExamples, TreeNode, TreeShape};
///
/// let mut data = TreeExamples::new(TreeShape::new(vec![TreeNode::root(1, 1)], 1.0)?);
/// let truth = vec![State { kind: 0, x: 1, y: 0 }];
/// data.push(2, 1, vec![0.1, 0.9], truth, &[], 1.0, 1.0)?;
/// assert_eq!((data.len(), data.grid(0), data.map(0, 0, 0)), (1, (2, 1), &[0.1, 0.9][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct TreeExamples {
    shape: TreeShape,
    /// The index of the first map of each node, and the number of all maps.
    map_starts: Vec<usize>,
    examples: Vec<Example>,
}

#[derive(Debug, Clone, PartialEq)]
struct Example {
    width: usize,
    height: usize,
    maps: Vec<f32>,
    truth: Vec<State>,
    /// The share of each node in the loss.
    shares: Vec<f64>,
    scale: f64,
    weight: f64,
}

impl TreeExamples {
    /// Creates an empty collection of examples for one tree.
    pub fn new(shape: TreeShape) -> Self {
        let mut map_starts = vec![0];
        for node in shape.nodes() {
            map_starts.push(map_starts[map_starts.len() - 1] + node.maps + node.parent_maps);
        }
        Self { shape, map_starts, examples: Vec::new() }
    }

    /// Adds an example: the size of its grid, the maps of all nodes one after the other, each row by row (first those
    /// of a node itself, then those that are read at the place of its parent), the true states, the weight of every
    /// node in the loss (empty for 1 each), the distance s from which on a place has the full loss, and the weight of
    /// the example.
    ///
    /// # Errors
    /// If the number of values, states or weights does not fit, if a value is not finite, if a state does
    /// not exist, or if a weight or the distance is not positive. (Some nodes, but not all, may have the
    /// weight 0.)
    #[expect(clippy::too_many_arguments, reason = "an example has as many parts")]
    pub fn push(
        &mut self,
        width: usize,
        height: usize,
        maps: Vec<f32>,
        truth: Vec<State>,
        node_weights: &[f64],
        scale: f64,
        weight: f64,
    ) -> Result<(), InputError> {
        // Check the maps and the true states.
        let nodes = self.shape.nodes().len();
        let per_place = self.map_starts[nodes];
        let expected = width * height * per_place;
        if maps.len() != expected || width * height == 0 {
            let grid = format!("a grid of {width} × {height} with {per_place} maps");
            let message = format!("{grid} needs {expected} values, not {}", maps.len());
            return Err(InputError::Structure(message));
        }
        if let Some(at) = maps.iter().position(|value| !value.is_finite()) {
            let what = format!("value {at} of the maps");
            return Err(InputError::not_finite(what, f64::from(maps[at])));
        }
        let count = |what, found: usize| {
            InputError::Structure(format!("{found} {what} were given for {nodes} nodes"))
        };
        if truth.len() != nodes {
            return Err(count("states", truth.len()));
        }
        for (node, (&state, own)) in truth.iter().zip(self.shape.nodes()).enumerate() {
            let inside = (state.x as usize) < width && (state.y as usize) < height;
            if !inside || state.kind as usize >= own.kinds {
                let message = format!("node {node} has the state {state:?}, which does not exist");
                return Err(InputError::Structure(message));
            }
        }
        if !node_weights.is_empty() && node_weights.len() != nodes {
            return Err(count("node weights", node_weights.len()));
        }
        // Turn node weights into shares of the loss.
        let positive = |what, value| InputError::check_positive(what, value).map(|()| value);
        let weights =
            if node_weights.is_empty() { vec![1.0; nodes] } else { node_weights.to_vec() };
        if let Some(&value) = weights.iter().find(|weight| **weight < 0.0 || weight.is_nan()) {
            return Err(InputError::not_positive("a node weight", value));
        }
        let total = positive("the sum of node weights", weights.iter().sum())?;
        let shares = weights.iter().map(|weight| weight / total).collect();
        let scale = positive("the distance at which all is wrong", scale)?;
        let weight = positive("the example weight", weight)?;
        self.examples.push(Example { width, height, maps, truth, shares, scale, weight });
        Ok(())
    }

    /// The tree.
    pub fn shape(&self) -> &TreeShape {
        &self.shape
    }

    /// Number of examples.
    pub fn len(&self) -> usize {
        self.examples.len()
    }

    /// Whether there are no examples.
    pub fn is_empty(&self) -> bool {
        self.examples.is_empty()
    }

    /// Width and height of an example's grid.
    pub fn grid(&self, i: usize) -> (usize, usize) {
        (self.examples[i].width, self.examples[i].height)
    }

    /// One map of one node, row by row. Those that are read at the place of the parent come last.
    ///
    /// # Panics
    /// If there is no such example, node or map.
    pub fn map(&self, i: usize, node: usize, map: usize) -> &[f32] {
        let example = &self.examples[i];
        let size = example.width * example.height;
        let at = self.map_starts[node] + map;
        assert!(at < self.map_starts[node + 1], "node {node} has no map {map}");
        &example.maps[at * size..][..size]
    }

    /// The true states.
    pub fn truth(&self, i: usize) -> &[State] {
        &self.examples[i].truth
    }

    /// The distance from which on a place has the full loss.
    pub fn scale(&self, i: usize) -> f64 {
        self.examples[i].scale
    }

    /// The share of each node in the loss.
    pub fn shares(&self, i: usize) -> &[f64] {
        &self.examples[i].shares
    }

    /// The weight of an example.
    pub fn weight(&self, i: usize) -> f64 {
        self.examples[i].weight
    }

    /// Returns the examples for whose index `keep` returns `true`, in the same order.
    #[must_use]
    pub fn select(&self, keep: impl Fn(usize) -> bool) -> Self {
        let kept = self.examples.iter().enumerate().filter(|(i, _)| keep(*i));
        let examples = kept.map(|(_, example)| example.clone()).collect();
        Self { examples, map_starts: self.map_starts.clone(), shape: self.shape.clone() }
    }
}
