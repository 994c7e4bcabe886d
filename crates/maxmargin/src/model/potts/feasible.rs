//! Checks that masses of labels and disagreements are possible in a graph.

use super::graphs::PottsGraph;
use super::labels::disagreement;
use super::shape::PottsShape;
use crate::problem::sparse::SparseVec;

/// Checks a part vector of a graph and its loss; see [`check_point`](crate::problem::CheckPoints::check_point) of
/// [`Potts`](super::Potts).
pub(super) fn check(
    shape: &PottsShape,
    graph: PottsGraph<'_>,
    costs: &[f64],
    parts: &SparseVec,
    loss: f64,
    slack: f64,
) -> Result<(), String> {
    if !parts.is_finite() {
        return Err("a mass is not finite".to_owned());
    }
    let (k, truth) = (shape.labels, graph.labels());
    let edges = if shape.edge_attributes > 0 { graph.edges() } else { &[] };
    // First the masses of wrong labels, then, further below, those of true labels.
    let mut masses = vec![0.0; graph.nodes() * k];
    let disagree = |&(a, b): &(u32, u32)| truth[a as usize] != truth[b as usize];
    let mut disagreements: Vec<f64> = edges.iter().map(|ends| f64::from(disagree(ends))).collect();
    let mut own = 0.0;
    for &(id, mass) in parts.entries() {
        let id = usize::try_from(id).unwrap_or(usize::MAX);
        if id < masses.len() {
            if truth[id / k] as usize == id % k {
                return Err(format!("it has a part for the true label of node {}", id / k));
            }
            masses[id] = mass;
            own += costs[id / k] * mass;
        } else if let Some(disagreement) = disagreements.get_mut(id - masses.len()) {
            *disagreement += mass;
        } else {
            return Err(format!("it has a part that does not exist: {id}"));
        }
    }
    // The true label of a node has the rest of its mass.
    for (v, (row, &label)) in masses.chunks_exact_mut(k).zip(truth).enumerate() {
        row[label as usize] = 1.0 - row.iter().sum::<f64>();
        if let Some(label) = row.iter().position(|mass| *mass < -slack) {
            return Err(format!("label {label} of node {v} has the mass {}", row[label]));
        }
    }
    // The disagreement of every edge is possible for its two nodes.
    for (&(a, b), &mass) in edges.iter().zip(&disagreements) {
        let row = |v: u32| &masses[v as usize * k..][..k];
        let (least, most) = disagreement(row(a), row(b));
        let slack = slack * k as f64;
        if mass < least - slack || mass > most + slack {
            return Err(format!(
                "nodes {a} and {b} disagree with the mass {mass}, which is not between {least} and \
                 {most}"
            ));
        }
    }
    if (own - loss).abs() > slack * (1.0 + own.abs()) {
        return Err(format!("its loss is stated as {loss}, but is {own}"));
    }
    Ok(())
}

/// Whether the graph has no cycle.
pub(super) fn is_forest(graph: PottsGraph<'_>) -> bool {
    fn root(parents: &mut [u32], mut v: u32) -> u32 {
        while parents[v as usize] != v {
            let above = parents[parents[v as usize] as usize];
            parents[v as usize] = above;
            v = above;
        }
        v
    }
    let mut parents: Vec<u32> = (0..graph.nodes() as u32).collect();
    graph.edges().iter().all(|&(a, b)| {
        let (a, b) = (root(&mut parents, a), root(&mut parents, b));
        parents[a as usize] = b;
        a != b
    })
}
