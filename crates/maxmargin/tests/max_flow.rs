//! Maximum flow against another implementation, and against its own minimum cut.
#![allow(clippy::unwrap_used, reason = "in a test a panic is a failure")]

mod common;

use common::{assert_close, cases};
use maxmargin::Rng;
use maxmargin::inference::max_flow::MaxFlow;
use petgraph::algo::maximum_flow::ford_fulkerson;
use petgraph::graph::{DiGraph, NodeIndex};
use proptest::prelude::*;

/// A network in the plainest form.
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
    fn the_flow_is_the_one_that_others_find(
        nodes in 1usize..9, edges in 0usize..30, whole in any::<bool>(), seed in any::<u64>()
    ) {
        let mut network = MaxFlow::default();
        // Whatever the network held before does not matter.
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

    /// No minimum cut has fewer nodes on the source's side, or others.
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

    /// Edges that come later are taken in.
    #[test]
    fn solving_can_go_on(nodes in 1usize..8, edges in 0usize..20, seed in any::<u64>()) {
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
fn a_large_grid() {
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
fn capacities_that_are_none_are_refused() {
    for bad in [-1.0, f64::NAN, f64::INFINITY] {
        let tie = std::panic::catch_unwind(|| MaxFlow::new(1).tie(0, bad, 0.0));
        let edge = std::panic::catch_unwind(|| MaxFlow::new(2).connect(0, 1, 0.0, bad));
        assert!(tie.is_err() && edge.is_err());
    }
    assert_eq!(MaxFlow::new(0).solve(), 0.0);
}
