//! Checks that masses belong to a distribution over the states of a tree.

use super::examples::State;
use super::problem::Tree;
use crate::problem::sparse::SparseVec;
use std::collections::BTreeMap;

/// Checks that the masses of pairs of states are nonnegative, sum to one at every root, and agree on the
/// states of every parent, and that the loss belongs to them. On a tree these conditions suffice: the
/// masses then belong to a distribution.
pub(super) fn check(
    tree: &Tree,
    i: usize,
    parts: &SparseVec,
    loss: f64,
    slack: f64,
) -> Result<(), String> {
    let (width, _) = tree.data().grid(i);
    let key = |state: State| (state.kind, state.place(width));
    let nodes = tree.shape().nodes();
    let mut own: Vec<BTreeMap<_, f64>> = vec![BTreeMap::new(); nodes.len()];
    // The masses of the parent minus the masses of a node together with its parent.
    let mut left: Vec<BTreeMap<_, f64>> = vec![BTreeMap::new(); nodes.len()];
    let mut losses = 0.0;
    for &(id, mass) in parts.entries() {
        let part = tree.part(i, id);
        let part = part.ok_or_else(|| format!("it has a part that does not exist: {id}"))?;
        if mass < -slack || mass.is_nan() {
            return Err(format!("a mass of node {} is negative: {mass:e}", part.node));
        }
        *own[part.node].entry(key(part.own)).or_default() += mass;
        if let Some(above) = part.above {
            *left[part.node].entry(key(above)).or_default() -= mass;
        }
        losses += mass * tree.node_loss(i, part.node, part.own);
    }
    for (node, shape) in nodes.iter().enumerate() {
        let Some(parent) = shape.parent else {
            let sum: f64 = own[node].values().sum();
            if (sum - 1.0).abs() > slack || sum.is_nan() {
                return Err(format!("the masses of node {node} sum to {sum}, not to 1"));
            }
            continue;
        };
        for (&state, mass) in &own[parent] {
            *left[node].entry(state).or_default() += mass;
        }
        let off = left[node].iter().find(|(_, rest)| rest.abs() > slack || rest.is_nan());
        if let Some(((kind, place), rest)) = off {
            return Err(format!(
                "the masses of node {node} and its parent differ by {rest:e} where that is of kind \
                 {kind} at place {place}"
            ));
        }
    }
    if (losses - loss).abs() > slack * (1.0 + losses.abs()) || loss.is_nan() {
        return Err(format!("its loss is stated as {loss}, but is {losses}"));
    }
    Ok(())
}
