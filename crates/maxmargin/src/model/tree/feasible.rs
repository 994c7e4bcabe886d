//! Are these features and this loss those of a distribution over states?

use super::examples::State;
use super::problem::Tree;
use crate::inference::local_polytope::check_consistency;
use crate::inference::topology::Topology;
use crate::problem::Problem;
use crate::sparse::SparseVec;

/// Checks what features tell of a distribution; see [`check_point`](Problem::check_point) of
/// [`Tree`].
pub(super) fn check(
    tree: &Tree,
    i: usize,
    parts: &SparseVec,
    loss: f64,
    slack: f64,
) -> Result<(), String> {
    if !(parts.is_finite() && loss.is_finite()) {
        return Err("a feature or the loss is not finite".to_owned());
    }
    // Parts are features less those of the truth.
    let mut truth = SparseVec::new();
    tree.push_features(i, tree.data().truth(i), 1.0, &mut truth);
    let mut features = vec![0.0; tree.dim()];
    for &(at, value) in truth.entries().iter().chain(parts.entries()) {
        match usize::try_from(at).ok().and_then(|at| features.get_mut(at)) {
            Some(feature) => *feature += value,
            None => return Err(format!("it has a feature that does not exist: {at}")),
        }
    }
    check_kinds(tree, &features, slack)?;
    for node in 0..tree.shape().nodes().len() {
        check_maps(tree, i, node, &features, slack)?;
        check_deformation(tree, i, node, &features, slack)?;
    }
    check_loss(tree, i, &features, loss, slack)
}

/// Biases are the masses of kinds, tables those of pairs of them: a factor graph without cycles, for
/// which local consistency is enough.
fn check_kinds(tree: &Tree, features: &[f64], slack: f64) -> Result<(), String> {
    let shape = tree.shape();
    let nodes = shape.nodes();
    let parents = || nodes.iter().enumerate().filter_map(|(v, own)| Some((v, own.parent?)));
    let pairs = parents().map(|(v, parent)| [v as u32, parent as u32]);
    let kinds = Topology::new(nodes.iter().map(|node| node.kinds), pairs);
    let kinds = kinds.map_err(|error| error.to_string())?;
    let own = (0..nodes.len()).flat_map(|v| shape.bias(v));
    let tables = parents().flat_map(|(v, _)| shape.table(v));
    let masses = own.chain(tables).zip(0u64..).map(|(at, id)| (id, features[at]));
    check_consistency(&kinds, &masses.collect(), slack)
        .map_err(|why| format!("as for kinds of nodes, {why}"))
}

/// What a kind gathers of a map lies between its least and its largest value, times its mass.
fn check_maps(
    tree: &Tree,
    i: usize,
    node: usize,
    features: &[f64],
    slack: f64,
) -> Result<(), String> {
    let (shape, maps) = (tree.shape(), tree.shape().nodes()[node].maps);
    let rows = features[shape.unary(node)].chunks_exact(maps.max(1));
    for (kind, (row, &mass)) in rows.zip(&features[shape.bias(node)]).enumerate() {
        for (map, &sum) in row.iter().enumerate() {
            let values = tree.data().map(i, node, map).iter().map(|value| f64::from(*value));
            let (least, most) = range(values);
            let slack = slack * (1.0 + least.abs().max(most.abs()));
            let what = || format!("what kind {kind} of node {node} has of map {map}");
            within(sum, (mass * least, mass * most), slack, what)?;
        }
    }
    Ok(())
}

/// A distribution of ways δ between `low` and `high` with mass m has m·low ≤ Σδ ≤ m·high,
/// (Σδ)² ≤ m·Σδ² and Σδ² ≤ (low + high)·Σδ − m·low·high.
fn check_deformation(
    tree: &Tree,
    i: usize,
    node: usize,
    features: &[f64],
    slack: f64,
) -> Result<(), String> {
    let (shape, own) = (tree.shape(), &tree.shape().nodes()[node]);
    let (width, height) = tree.data().grid(i);
    let masses = &features[shape.bias(node)];
    let sums = features[shape.deformation(node)].chunks_exact(4);
    for (kind, (sums, &mass)) in sums.zip(masses).enumerate() {
        let (x, y) = own.anchor(kind);
        for (axis, side, anchor) in [(0, width, x), (1, height, y)] {
            let way = |steps: f64| (steps - anchor) / shape.unit();
            let (low, high) = (way(1.0 - side as f64), way(side as f64 - 1.0));
            let largest = low.abs().max(high.abs());
            let slack = 4.0 * slack * (1.0 + largest).powi(2);
            // Features have a minus.
            let (square, sum) = (-sums[axis], -sums[axis + 2]);
            let name = ["x", "y"][axis];
            let of = |what: &str| format!("the {what} of kind {kind} of node {node} along {name}");
            within(sum, (mass * low, mass * high), slack, || of("deformation"))?;
            let most = (low + high) * sum - mass * low * high;
            within(square, (0.0, most), slack, || of("squared deformation"))?;
            let least = sum * sum;
            within(mass * square, (least, f64::INFINITY), slack, || {
                of("mass times the squared deformation")
            })?;
        }
    }
    Ok(())
}

/// The loss is between what the masses of right and wrong kinds cost at the best and at the worst
/// places; with a single place, that is one number.
fn check_loss(
    tree: &Tree,
    i: usize,
    features: &[f64],
    loss: f64,
    slack: f64,
) -> Result<(), String> {
    let (shape, truth) = (tree.shape(), tree.data().truth(i));
    let (width, height) = tree.data().grid(i);
    let (mut low, mut high) = (0.0, 0.0);
    for (node, own) in shape.nodes().iter().enumerate() {
        let right = truth[node].kind as usize;
        let share = features[shape.bias(node)][right];
        // Any kind but the right one will do for a wrong one, whether it exists or not.
        for (kind, mass) in [(right, share), (own.kinds, 1.0 - share)] {
            let state = |place| State::at(kind, place, width);
            let places = 0..width * height;
            let (least, most) = range(places.map(|at| tree.node_loss(i, node, state(at))));
            low += mass * least;
            high += mass * most;
        }
    }
    within(loss, (low, high), slack * (2.0 + high.abs()), || "its loss".to_owned())
}

fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let start = (f64::INFINITY, f64::NEG_INFINITY);
    values.fold(start, |(least, most), value| (least.min(value), most.max(value)))
}

fn within(
    value: f64,
    (low, high): (f64, f64),
    slack: f64,
    what: impl Fn() -> String,
) -> Result<(), String> {
    match value >= low - slack && value <= high + slack {
        true => Ok(()),
        false => Err(format!("{} is {value}, which is not between {low} and {high}", what())),
    }
}
