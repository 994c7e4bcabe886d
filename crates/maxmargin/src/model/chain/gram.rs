//! Lengths of part vectors in feature space.
//!
//! Nodes of the same label share emission weights, so ‖Bp‖² needs the inner products of an example's
//! tokens with each other. These are few and fixed, so they are computed once. For examples so long that
//! the table would be much larger than the data, features are added up instead. What constant features
//! contribute is the same for all tokens, and is added when a length is computed.

use super::parts::{Part, decode};
use super::sequences::{Sequence, Sequences};
use super::shape::ChainShape;
use crate::model::column::Offsets;
use crate::problem::sparse::{Sink, SparseVec};
use crate::util::prefetch::prefetch;
use std::ops::Range;

/// A table of inner products may have this many entries per attribute entry of its example.
const ENTRIES_PER_ATTRIBUTE: usize = 4;

/// The inner products of the attributes of each example's tokens.
#[derive(Debug, Clone, Default)]
pub(super) struct Grams {
    /// The lower triangles one after another, each row by row.
    products: Products,
    /// The first entry of each example's triangle. The range is empty if an example has no table.
    starts: Offsets,
}

/// Inner products. They are small whole numbers where every value is 1, and then take a byte each: eight times
/// less memory to keep and to wait for. The numbers are the same either way.
#[derive(Debug, Clone)]
enum Products {
    Small(Vec<u8>),
    Wide(Vec<f64>),
}

impl Default for Products {
    fn default() -> Self {
        Self::Small(Vec::new())
    }
}

impl Products {
    fn push(&mut self, product: f64) {
        if let Self::Small(products) = self {
            let small = product as u8;
            // A negative zero is not a zero of this kind.
            if f64::from(small).to_bits() == product.to_bits() {
                return products.push(small);
            }
            *self = Self::Wide(products.iter().map(|&product| f64::from(product)).collect());
        }
        if let Self::Wide(products) = self {
            products.push(product);
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Small(products) => products.len(),
            Self::Wide(products) => products.len(),
        }
    }
}

/// Scratch memory for [`Grams::norm_sq`].
#[derive(Debug, Clone, Default)]
pub(super) struct NormScratch {
    /// For each label, 1 + the index of the latest node entry with this label, or 0.
    latest: Vec<u32>,
    nodes: Vec<NodeEntry>,
    edges: Vec<(usize, f64)>,
    edge_sums: Vec<f64>,
    feature_sums: Vec<f64>,
    /// All zeros between calls, or empty.
    pub(super) weights: Vec<f64>,
}

/// A node of a part vector, linked to the node before it with the same label.
#[derive(Debug, Clone, Copy)]
struct NodeEntry {
    t: u32,
    label: u32,
    before: u32,
    value: f64,
}

/// A part vector of an example without a table is spread over all weights if there are at most this many weights
/// for each of its entries. That needs no list of nodes and edges, which would take more memory.
const WEIGHTS_PER_ENTRY: usize = 4;

/// Adds up the squares of given weights, and sets these to zero.
pub(super) struct TakenSquares<'a> {
    pub(super) weights: &'a mut [f64],
    pub(super) total: f64,
}

impl Sink for TakenSquares<'_> {
    #[inline]
    fn add(&mut self, feature: usize, _value: f64) {
        let weight = std::mem::take(&mut self.weights[feature]);
        self.total += weight * weight;
    }
}

/// Up to this many labels, edge sums have a dense table.
const DENSE_EDGE_LABELS: usize = 256;

impl Grams {
    pub(super) fn new(shape: &ChainShape, data: &Sequences) -> Self {
        let mut grams = Self::default();
        let mut dense = vec![0.0; shape.attributes];
        for sequence in data.iter() {
            let length = sequence.len();
            if length * (length + 1) / 2 <= ENTRIES_PER_ATTRIBUTE * (sequence.entries() + length) {
                grams.push(shape, sequence, &mut dense);
            }
            grams.starts.push(grams.products.len());
        }
        grams
    }

    /// Like [`new`](Self::new), but `product` computes the inner product of two tokens.
    pub(super) fn with_products(
        shape: &ChainShape,
        data: &Sequences,
        product: impl Fn(Sequence<'_>, usize, usize) -> f64,
    ) -> Self {
        let mut grams = Self::default();
        for sequence in data.iter() {
            for t in 0..sequence.len() {
                let inputs = |s| if shape.groups.emission { product(sequence, s, t) } else { 0.0 };
                (0..=t).for_each(|s| grams.products.push(inputs(s)));
            }
            grams.starts.push(grams.products.len());
        }
        grams
    }

    /// Adds the table of one example. `dense` is all zeros before and after.
    fn push(&mut self, shape: &ChainShape, sequence: Sequence<'_>, dense: &mut [f64]) {
        for t in 0..sequence.len() {
            if shape.groups.emission {
                sequence.token(t).pairs().for_each(|(a, v)| dense[a as usize] += v);
            }
            for s in 0..=t {
                let inputs = || sequence.token(s).pairs().map(|(a, v)| v * dense[a as usize]).sum();
                self.products.push(if shape.groups.emission { inputs() } else { 0.0 });
            }
            if shape.groups.emission {
                sequence.token(t).pairs().for_each(|(a, _)| dense[a as usize] = 0.0);
            }
        }
    }

    /// Prefetches the position of the table of example `i`.
    pub(super) fn prefetch_place(&self, i: usize) {
        self.starts.prefetch(i..i + 1);
    }

    /// Prefetches the table of example `i`.
    pub(super) fn prefetch(&self, i: usize) {
        let range = self.range(i);
        match &self.products {
            Products::Small(products) => prefetch(&products[range]),
            Products::Wide(products) => prefetch(&products[range]),
        }
    }

    /// Where the table of example `i` is.
    #[inline]
    fn range(&self, i: usize) -> Range<usize> {
        self.starts.get(i)..self.starts.get(i + 1)
    }

    /// Whether a part vector of example `i` with so many entries is best spread over all weights.
    pub(super) fn is_for_all_weights(&self, shape: &ChainShape, i: usize, entries: usize) -> bool {
        self.range(i).is_empty() && shape.dim() <= WEIGHTS_PER_ENTRY * entries
    }

    /// ‖Bᵢp‖² of a part vector of example `i`.
    pub(super) fn norm_sq(
        &self,
        shape: &ChainShape,
        i: usize,
        sequence: Sequence<'_>,
        parts: &SparseVec,
        scratch: &mut NormScratch,
    ) -> f64 {
        let edges = scratch.collect(shape, parts);
        let range = self.range(i);
        let constants = Constants::new(shape, sequence.len());
        let nodes = match &self.products {
            _ if range.is_empty() => scratch.nodes_by_features(shape, constants, sequence),
            Products::Small(products) => scratch.nodes_by_products(constants, &products[range]),
            Products::Wide(products) => scratch.nodes_by_products(constants, &products[range]),
        };
        for node in &scratch.nodes {
            scratch.latest[node.label as usize] = 0;
        }
        nodes + edges
    }
}

/// What constant features add to the inner products of an example's tokens.
#[derive(Clone, Copy)]
struct Constants {
    /// To that of any two tokens: κ² for the bias.
    any: f64,
    /// To that of the first token and of the last one with itself: κ².
    first: f64,
    last: f64,
    length: usize,
}

impl Constants {
    fn new(shape: &ChainShape, length: usize) -> Self {
        let square = shape.transition_scale * shape.transition_scale;
        let value = |on: bool| if on { square } else { 0.0 };
        let groups = &shape.groups;
        Self {
            any: value(groups.bias),
            first: value(groups.first),
            last: value(groups.last),
            length,
        }
    }

    /// What the ends add to the squared length of token `t`.
    #[inline]
    fn ends(self, t: usize) -> f64 {
        let first = if t == 0 { self.first } else { 0.0 };
        first + if t + 1 == self.length { self.last } else { 0.0 }
    }
}

impl NormScratch {
    /// Finds the nodes of a part vector and links those with the same label. Returns the squared length
    /// of its edges; edges share a weight if they join the same pair of labels, at any position.
    fn collect(&mut self, shape: &ChainShape, parts: &SparseVec) -> f64 {
        let k = shape.labels;
        self.latest.resize(k, 0);
        self.nodes.clear();
        self.edges.clear();
        let is_dense = k <= DENSE_EDGE_LABELS;
        if is_dense {
            self.edge_sums.resize(k * k, 0.0);
        }
        for &(id, value) in parts.entries() {
            match decode(id) {
                Part::Node { t, y } => {
                    let before = self.latest[y];
                    self.nodes.push(NodeEntry { t: t as u32, label: y as u32, before, value });
                    self.latest[y] = self.nodes.len() as u32;
                }
                Part::Edge { y, z, .. } => {
                    let pair = y * k + z;
                    if is_dense {
                        self.edge_sums[pair] += value;
                    }
                    self.edges.push((pair, value));
                }
            }
        }
        let edges = if is_dense { self.dense_edges() } else { self.sorted_edges() };
        shape.transition_scale * shape.transition_scale * edges
    }

    /// Returns the squared length of the edges from the dense table, and resets the table.
    fn dense_edges(&mut self) -> f64 {
        let mut total = 0.0;
        for &(pair, _) in &self.edges {
            let sum = std::mem::take(&mut self.edge_sums[pair]);
            total += sum * sum;
        }
        total
    }

    /// The squared length of the edges, sorted by pairs of labels, because a table would be too large.
    fn sorted_edges(&mut self) -> f64 {
        self.edges.sort_by_key(|&(pair, _)| pair);
        let same = self.edges.chunk_by(|a, b| a.0 == b.0);
        let sums = same.map(|edges| edges.iter().map(|(_, value)| value).sum::<f64>());
        sums.map(|sum| sum * sum).sum()
    }

    /// The squared length of the nodes, from the table of inner products: a sum over pairs of nodes with
    /// the same label.
    fn nodes_by_products<T: Copy + Into<f64>>(&self, constants: Constants, triangle: &[T]) -> f64 {
        let mut total = 0.0;
        for node in &self.nodes {
            let t = node.t as usize;
            let row = &triangle[t * (t + 1) / 2..][..=t];
            // Nodes come in order of position, so those before have smaller or equal positions.
            let mut other = node.before;
            let mut sum = 0.0;
            while other != 0 {
                let earlier = self.nodes[other as usize - 1];
                let inputs: f64 = row[earlier.t as usize].into();
                sum += earlier.value * (constants.any + inputs);
                other = earlier.before;
            }
            let inputs: f64 = row[t].into();
            let own = constants.any + inputs + constants.ends(t);
            total += node.value * (2.0 * sum + node.value * own);
        }
        total
    }

    /// The squared length of the nodes, by adding up the features of each label.
    fn nodes_by_features(
        &mut self,
        shape: &ChainShape,
        constants: Constants,
        sequence: Sequence<'_>,
    ) -> f64 {
        self.feature_sums.resize(shape.attributes, 0.0);
        let mut total = 0.0;
        for at in 0..self.nodes.len() {
            let last = self.nodes[at];
            if self.latest[last.label as usize] as usize != at + 1 {
                continue; // a later node with this label takes care of it
            }
            total += self.label_norm_sq(shape, constants, sequence, at as u32 + 1);
        }
        total
    }

    /// The squared length of all nodes linked from entry `from` (counted from 1) backwards.
    fn label_norm_sq(
        &mut self,
        shape: &ChainShape,
        constants: Constants,
        sequence: Sequence<'_>,
        from: u32,
    ) -> f64 {
        let groups = &shape.groups;
        let (nodes, sums) = (&self.nodes, &mut self.feature_sums);
        let linked = || {
            let entry = |at: u32| (at != 0).then(|| nodes[at as usize - 1]);
            std::iter::successors(entry(from), move |node| entry(node.before))
        };
        // Add up the features of all nodes with this label.
        let (mut bias, mut total) = (0.0, 0.0);
        for node in linked() {
            let t = node.t as usize;
            bias += node.value;
            total += constants.ends(t) * node.value * node.value;
            if groups.emission {
                sequence.token(t).pairs().for_each(|(a, v)| sums[a as usize] += v * node.value);
            }
        }
        total += constants.any * bias * bias;
        if groups.emission {
            for attribute in linked().flat_map(|node| sequence.token(node.t as usize).attributes) {
                let sum = std::mem::take(&mut sums[*attribute as usize]);
                total += sum * sum;
            }
        }
        total
    }
}
