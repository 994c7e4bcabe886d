//! Maximum flow against another implementation, and against the minimum cut.

use crate::common::{assert_close, cases};
use maxmargin::Rng;
use maxmargin::inference::{MaxFlow, algorithms::Quantum};
use petgraph::algo::maximum_flow::ford_fulkerson;
use petgraph::graph::{DiGraph, NodeIndex};
use proptest::prelude::*;

/// A network in the simplest form.
struct Case {
    nodes: usize,
    /// From the source, to the sink.
    ties: Vec<(usize, f64, f64)>,
    /// From, to, capacity, capacity back.
    edges: Vec<(usize, usize, f64, f64)>,
}

impl Case {
    fn random(nodes: usize, edges: usize, whole: bool, seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let capacity = |rng: &mut Rng| match (rng.below(4), whole) {
            (0, _) => 0.0,
            (_, true) => rng.below(10) as f64,
            (_, false) => rng.unit_f64() * 10f64.powi(rng.below(6) as i32 - 3),
        };
        let ties = (0..nodes).map(|v| (v, capacity(&mut rng), capacity(&mut rng))).collect();
        let edges = (0..edges)
            .map(|_| {
                let (a, b) = (rng.below(nodes), rng.below(nodes));
                (a, b, capacity(&mut rng), capacity(&mut rng))
            })
            .collect();
        Self { nodes, ties, edges }
    }

    fn build(&self, network: &mut MaxFlow) {
        network.reset(self.nodes);
        for &(v, from, to) in &self.ties {
            network.tie(v, from, to);
        }
        for &(a, b, there, back) in &self.edges {
            network.connect(a, b, there, back);
        }
    }

    fn expected(&self) -> f64 {
        let mut graph = DiGraph::<(), f64>::new();
        let nodes: Vec<NodeIndex> = (0..self.nodes + 2).map(|_| graph.add_node(())).collect();
        let (source, sink) = (nodes[self.nodes], nodes[self.nodes + 1]);
        for &(v, from, to) in &self.ties {
            graph.add_edge(source, nodes[v], from);
            graph.add_edge(nodes[v], sink, to);
        }
        for &(a, b, there, back) in &self.edges {
            graph.add_edge(nodes[a], nodes[b], there);
            graph.add_edge(nodes[b], nodes[a], back);
        }
        ford_fulkerson(&graph, source, sink).0
    }

    /// The capacity of the cut with the given nodes on the source's side.
    fn cut(&self, is_source: impl Fn(usize) -> bool) -> f64 {
        let ties = self.ties.iter().map(|&(v, from, to)| if is_source(v) { to } else { from });
        let edges =
            self.edges.iter().map(|&(a, b, there, back)| match (is_source(a), is_source(b)) {
                (true, false) => there,
                (false, true) => back,
                _ => 0.0,
            });
        ties.sum::<f64>() + edges.sum::<f64>()
    }
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn the_flow_equals_that_of_another_implementation(
        nodes in 1usize..9, edges in 0usize..30, whole in any::<bool>(), seed in any::<u64>()
    ) {
        let mut network = MaxFlow::default();
        // The previous contents of the network do not matter.
        for seed in [seed, seed ^ 1] {
            let case = Case::random(nodes, edges, whole, seed);
            case.build(&mut network);
            let (flow, expected) = (network.solve(), case.expected());
            if whole {
                prop_assert_eq!(flow, expected);
            }
            assert_close(flow, expected, 1e-12, expected);
            let cut = case.cut(|v| network.is_on_source_side(v));
            assert_close(flow, cut, 1e-12, expected);
        }
    }

    /// The cut is the unique minimum cut with the fewest nodes on the source's side.
    #[test]
    fn the_cut_is_the_smallest(
        nodes in 1usize..7, edges in 0usize..15, seed in any::<u64>()
    ) {
        let case = Case::random(nodes, edges, true, seed);
        let mut network = MaxFlow::default();
        case.build(&mut network);
        let flow = network.solve();
        let own: u32 = (0..nodes).map(|v| u32::from(network.is_on_source_side(v)) << v).sum();
        for side in 0..1u32 << nodes {
            let cut = case.cut(|v| side >> v & 1 == 1);
            prop_assert!(cut >= flow);
            if cut == flow {
                prop_assert_eq!(side & own, own);
            }
        }
    }

    /// Edges that are added later are used.
    #[test]
    fn a_network_can_grow_after_it_was_solved(
        nodes in 1usize..8, edges in 0usize..20, seed in any::<u64>()
    ) {
        let mut case = Case::random(nodes, edges, true, seed);
        let more = Case::random(nodes, edges, true, seed ^ 1);
        let mut network = MaxFlow::default();
        case.build(&mut network);
        network.solve();
        for &(a, b, there, back) in &more.edges {
            network.connect(a, b, there, back);
        }
        for &(v, from, to) in &more.ties {
            network.tie(v, from, to);
        }
        case.edges.extend(more.edges);
        case.ties.extend(more.ties);
        prop_assert_eq!(network.solve(), case.expected());
    }
}

#[test]
fn a_large_grid_is_solved() {
    let (side, mut rng) = (40, Rng::new(3));
    let mut case = Case { nodes: side * side, ties: Vec::new(), edges: Vec::new() };
    for v in 0..case.nodes {
        case.ties.push((v, rng.below(20) as f64, rng.below(20) as f64));
        for (other, exists) in [(v + 1, (v + 1) % side != 0), (v + side, v + side < case.nodes)] {
            if exists {
                case.edges.push((v, other, rng.below(9) as f64, rng.below(9) as f64));
            }
        }
    }
    let mut network = MaxFlow::default();
    case.build(&mut network);
    let flow = network.solve();
    assert_eq!(flow, case.cut(|v| network.is_on_source_side(v)));
    assert_eq!(flow, case.expected());
}

#[test]
fn invalid_capacities_are_rejected() {
    for bad in [-1.0, f64::NAN, f64::INFINITY] {
        let tie = std::panic::catch_unwind(|| MaxFlow::new(1).tie(0, bad, 0.0));
        let edge = std::panic::catch_unwind(|| MaxFlow::new(2).connect(0, 1, 0.0, bad));
        assert!(tie.is_err() && edge.is_err());
    }
    assert_eq!(MaxFlow::new(0).solve(), 0.0);
}

/// Capacities as models use them: whole multiples of one quantum.
fn rounded(case: &Case) -> (Case, Quantum) {
    let ties = case.ties.iter().map(|&(_, from, to)| from + to);
    let edges = case.edges.iter().map(|&(_, _, there, back)| there + back);
    let quantum = Quantum::of(ties.sum::<f64>() + edges.sum::<f64>());
    let tie = |&(v, from, to): &(usize, f64, f64)| (v, quantum.round(from), quantum.round(to));
    let edge = |&(a, b, there, back): &(usize, usize, f64, f64)| {
        (a, b, quantum.round(there), quantum.round(back))
    };
    let ties = case.ties.iter().map(tie).collect();
    let edges = case.edges.iter().map(edge).collect();
    (Case { nodes: case.nodes, ties, edges }, quantum)
}

/// Gives a network the capacities of a case. The flow is kept if it is in whole quanta.
fn update(network: &mut MaxFlow, case: &Case, is_same_quantum: bool) {
    for &(v, from, to) in &case.ties {
        network.set_tie(v, from, to);
    }
    for (edge, &(_, _, there, back)) in case.edges.iter().enumerate() {
        network.set_edge(edge, there, back);
    }
    if !is_same_quantum {
        network.forget_flow();
    }
}

proptest! {
    #![proptest_config(cases(256))]

    /// Continuing from an earlier flow gives the same value and the same cut as starting from zero, bit
    /// by bit.
    #[test]
    fn warm_and_cold_starts_find_the_same_cut(
        nodes in 1usize..12,
        edges in 0usize..40,
        kind in 0usize..4,
        seed in any::<u64>(),
    ) {
        let mut case = Case::random(nodes, edges, kind == 0, seed);
        let mut rng = Rng::new(seed ^ 7);
        let mut warm = MaxFlow::default();
        let (first, mut last) = rounded(&case);
        first.build(&mut warm);
        warm.solve();
        for round in 0..8 {
            // Some capacities change: a little, completely, or to 0.
            let mut change = |capacity: &mut f64| match (rng.below(6), kind) {
                (0, _) => *capacity = 0.0,
                (1, 0) => *capacity = rng.below(10) as f64,
                (1, _) => *capacity = rng.unit_f64() * 10f64.powi(rng.below(6) as i32 - 3),
                (2, 1) => *capacity *= 0.9 + 0.2 * rng.unit_f64(),
                (2, 3) => *capacity *= 1e12,
                _ => {}
            };
            for (_, from, to) in &mut case.ties {
                [from, to].into_iter().for_each(&mut change);
            }
            for (_, _, there, back) in &mut case.edges {
                [there, back].into_iter().for_each(&mut change);
            }
            if round == 4 {
                case.edges.push((0, nodes - 1, 0.5, 1.0));
                warm.connect(0, nodes - 1, 0.0, 0.0);
            }
            let (now, quantum) = rounded(&case);
            update(&mut warm, &now, std::mem::replace(&mut last, quantum) == quantum);
            let mut cold = MaxFlow::default();
            now.build(&mut cold);
            prop_assert_eq!(warm.solve(), cold.solve());
            for v in 0..nodes {
                prop_assert_eq!(warm.is_on_source_side(v), cold.is_on_source_side(v));
            }
            let expected = now.expected();
            assert_close(cold.solve(), expected, 1e-12, expected);
            prop_assert_eq!(cold.solve(), now.cut(|v| cold.is_on_source_side(v)));
        }
    }
}

/// On a grid of the size of an image, in which everything changes a little, repeatedly.
#[test]
fn a_large_grid_stays_right() {
    let (side, mut rng) = (60, Rng::new(11));
    let mut case = Case { nodes: side * side, ties: Vec::new(), edges: Vec::new() };
    for v in 0..case.nodes {
        case.ties.push((v, rng.unit_f64(), rng.unit_f64()));
        for (other, exists) in [(v + 1, (v + 1) % side != 0), (v + side, v + side < case.nodes)] {
            if exists {
                let capacity = 0.5 * rng.unit_f64();
                case.edges.push((v, other, capacity, capacity));
            }
        }
    }
    let mut warm = MaxFlow::default();
    let (now, mut last) = rounded(&case);
    now.build(&mut warm);
    warm.solve();
    for _ in 0..3 {
        case.ties.iter_mut().for_each(|tie| tie.1 = (tie.1 + 0.1 * rng.unit_f64()) % 1.0);
        case.edges.iter_mut().for_each(|edge| edge.2 = 0.9 * edge.3 + 0.05 * rng.unit_f64());
        let (now, quantum) = rounded(&case);
        update(&mut warm, &now, std::mem::replace(&mut last, quantum) == quantum);
        let mut cold = MaxFlow::default();
        now.build(&mut cold);
        assert_eq!(warm.solve(), cold.solve());
        assert!((0..case.nodes).all(|v| warm.is_on_source_side(v) == cold.is_on_source_side(v)));
        assert_close(warm.solve(), now.cut(|v| cold.is_on_source_side(v)), 1e-12, 1.0);
    }
}
