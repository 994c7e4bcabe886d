//! Checks that masses are the marginals of a distribution over labellings.

use super::parts::{Part, decode};
use super::problem::Chain;
use crate::problem::sparse::SparseVec;
use std::collections::BTreeMap;

/// Checks that node and edge marginals are nonnegative, sum to one at every position and agree with each
/// other, and that the loss belongs to them. For a chain these conditions suffice: the masses are then
/// the marginals of a distribution over labellings.
pub(super) fn check(
    chain: &Chain,
    i: usize,
    parts: &SparseVec,
    loss: f64,
    slack: f64,
) -> Result<(), String> {
    let sequence = chain.data().sequence(i);
    let (length, labels) = (sequence.len(), chain.shape().labels);
    let edges = chain.shape().groups.transition;
    let mut node_sums = vec![0.0; length];
    let mut edge_sums = vec![0.0; length];
    // The mass of each node minus the masses of the edges that leave it, and minus those that enter it.
    let mut leaving: BTreeMap<(usize, usize), f64> = BTreeMap::new();
    let mut entering: BTreeMap<(usize, usize), f64> = BTreeMap::new();
    for &(id, mass) in parts.entries() {
        if mass < -slack {
            return Err(format!("a mass is negative: {mass:e}"));
        }
        match decode(id) {
            Part::Node { t, y } if t < length && y < labels => {
                node_sums[t] += mass;
                *leaving.entry((t, y)).or_default() += mass;
                *entering.entry((t, y)).or_default() += mass;
            }
            Part::Edge { t, y, z } if edges && t + 1 < length && y < labels && z < labels => {
                edge_sums[t] += mass;
                *leaving.entry((t, y)).or_default() -= mass;
                *entering.entry((t + 1, z)).or_default() -= mass;
            }
            part => return Err(format!("it has a part that does not exist: {part:?}")),
        }
    }
    // Masses sum to 1 at every position, and nodes agree with their edges.
    let off = |sum: f64| (sum - 1.0).abs() > slack;
    if let Some(t) = node_sums.iter().position(|&sum| off(sum)) {
        return Err(format!("the masses of position {t} sum to {}, not to 1", node_sums[t]));
    }
    if edges {
        if let Some(t) = edge_sums[..length - 1].iter().position(|&sum| off(sum)) {
            return Err(format!("the edges that leave position {t} sum to {}", edge_sums[t]));
        }
        let left = leaving.iter().filter(|((t, _), _)| t + 1 < length);
        let entered = entering.iter().filter(|((t, _), _)| *t > 0);
        if let Some(((t, y), rest)) = left.chain(entered).find(|(_, rest)| rest.abs() > slack) {
            return Err(format!("label {y} at position {t} and its edges differ by {rest:e}"));
        }
    }
    // The loss is the expected loss of the masses.
    let own: f64 = parts.entries().iter().map(|&(id, mass)| chain.part_loss(i, id) * mass).sum();
    if (own - loss).abs() > slack * (1.0 + own.abs()) {
        return Err(format!("its loss is stated as {loss}, but is {own}"));
    }
    Ok(())
}
