//! Coordinates of a chain's part vectors: nodes (t, y) and edges (t, y, z) between t and t + 1.
//!
//! They are packed such that decoding is a shift and a mask, and such that the parts of a labelling are
//! sorted if they are written position by position: first the node of a position, then the edge that
//! leaves it.

use crate::problem::sparse::SparseVec;
use std::ops::Range;

/// Labels must fit in this many bits.
const LABEL_BITS: u32 = 16;
const EDGE: u64 = 1 << (2 * LABEL_BITS);
const POSITION_SHIFT: u32 = 2 * LABEL_BITS + 1;

/// The largest number of labels a chain can have.
pub(super) const MOST_LABELS: usize = 1 << LABEL_BITS;

/// A part of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Node { t: usize, y: usize },
    Edge { t: usize, y: usize, z: usize },
}

pub(super) fn node(t: usize, y: u32) -> u64 {
    (t as u64) << POSITION_SHIFT | u64::from(y)
}

pub(super) fn edge(t: usize, y: u32, z: u32) -> u64 {
    (t as u64) << POSITION_SHIFT | EDGE | u64::from(y) << LABEL_BITS | u64::from(z)
}

#[inline]
pub(super) fn decode(id: u64) -> Part {
    const MASK: u64 = (1 << LABEL_BITS) - 1;
    let t = (id >> POSITION_SHIFT) as usize;
    if id & EDGE == 0 {
        Part::Node { t, y: (id & MASK) as usize }
    } else {
        Part::Edge { t, y: (id >> LABEL_BITS & MASK) as usize, z: (id & MASK) as usize }
    }
}

/// The label of a node.
#[inline]
pub(super) fn label(node: u64) -> usize {
    (node & ((1 << LABEL_BITS) - 1)) as usize
}

/// The nodes of position `t` at the front of `entries`; its edges come after them.
#[inline]
pub(super) fn nodes_at(t: usize, entries: &[(u64, f64)]) -> &[(u64, f64)] {
    let end = (t as u64) << POSITION_SHIFT | EDGE;
    let count = entries.iter().take_while(|(id, _)| *id < end).count();
    &entries[..count]
}

/// The positions at which sorted entries have nodes, one after another, each once for all nodes that follow each other.
pub(super) fn for_each_position(entries: &[(u64, f64)], mut visit: impl FnMut(usize)) {
    let mut last = usize::MAX;
    for &(id, _) in entries {
        let t = (id >> POSITION_SHIFT) as usize;
        if id & EDGE == 0 && t != last {
            last = t;
            visit(t);
        }
    }
}

/// Appends the parts of a labelling: its nodes, and its edges if `edges` is true.
pub(super) fn push_labelling(labels: &[u32], edges: bool, parts: &mut SparseVec) {
    push_positions(labels, 0..labels.len(), edges, parts);
}

/// As [`push_labelling`], for the nodes of some positions and the edges that leave them.
pub(super) fn push_positions(
    labels: &[u32],
    positions: Range<usize>,
    edges: bool,
    parts: &mut SparseVec,
) {
    for (t, &y) in positions.clone().zip(&labels[positions]) {
        parts.push(node(t, y), 1.0);
        if edges && let Some(&z) = labels.get(t + 1) {
            parts.push(edge(t, y, z), 1.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_those_of_nodes() {
        let mut parts = SparseVec::new();
        for id in [node(0, 1), node(0, 5), edge(0, 1, 2), edge(3, 0, 0), node(4, 2)] {
            parts.push(id, 1.0);
        }
        let mut found = Vec::new();
        for_each_position(parts.entries(), |t| found.push(t));
        assert_eq!(found, [0, 4]);
    }

    #[test]
    fn parts_of_a_labelling_come_sorted_and_decode() {
        let mut parts = SparseVec::new();
        push_labelling(&[3, 65_535, 0], true, &mut parts);
        assert!(parts.is_normalised());
        let decoded: Vec<_> = parts.entries().iter().map(|&(id, _)| decode(id)).collect();
        assert_eq!(
            decoded,
            [
                Part::Node { t: 0, y: 3 },
                Part::Edge { t: 0, y: 3, z: 65_535 },
                Part::Node { t: 1, y: 65_535 },
                Part::Edge { t: 1, y: 65_535, z: 0 },
                Part::Node { t: 2, y: 0 },
            ]
        );
    }
}
