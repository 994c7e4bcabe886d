//! Graphs as SVG: their nodes are put where the distances on paper are like those along the edges.

use std::collections::VecDeque;
use std::fmt::Write as _;

use crate::LabelColours;
use crate::escape::text;
use crate::sections::Network;

/// Length of an edge.
const EDGE: f64 = 46.0;
/// Radius of a node.
const RADIUS: f64 = 12.0;
/// Rounds in which nodes find their places.
const ROUNDS: usize = 150;

pub(super) fn network(out: &mut String, graph: &Network, colours: &LabelColours, name: &str) {
    let places = places(graph);
    let least = |of: fn(&(f64, f64)) -> f64| places.iter().map(of).fold(f64::INFINITY, f64::min);
    let most = |of: fn(&(f64, f64)) -> f64| places.iter().map(of).fold(f64::NEG_INFINITY, f64::max);
    if places.is_empty() {
        out.push_str("<span>–</span>");
        return;
    }
    let margin = RADIUS + 12.0;
    let (left, top) = (least(|place| place.0) - margin, least(|place| place.1) - margin);
    let (width, height) =
        (most(|place| place.0) + margin - left, most(|place| place.1) + margin - top);
    let _ = write!(
        out,
        "<svg class=\"network\" viewBox=\"{left:.0} {top:.0} {width:.0} {height:.0}\" width=\"{width:.0}\" role=\"img\" aria-label=\"{}\">",
        text(name)
    );
    let mut edges = String::new();
    for &(a, b) in graph.edges.iter().filter(|(a, b)| *a < places.len() && *b < places.len()) {
        let ((x, y), (u, v)) = (places[a], places[b]);
        let _ = write!(edges, "M{x:.0} {y:.0}L{u:.0} {v:.0}");
    }
    let _ = write!(out, "<path d=\"{edges}\"/>");
    for ((truth, read), (x, y)) in graph.nodes.iter().zip(&places) {
        if truth != read {
            let ring = RADIUS + 3.5;
            let _ =
                write!(out, "<circle class=\"wrong\" cx=\"{x:.0}\" cy=\"{y:.0}\" r=\"{ring}\"/>");
        }
        let class = colours.class(read);
        let _ = write!(
            out,
            "<circle class=\"{class}\" cx=\"{x:.0}\" cy=\"{y:.0}\" r=\"{RADIUS}\"/>\
             <text x=\"{x:.0}\" y=\"{:.0}\">{}</text>",
            y + 4.0,
            text(read)
        );
        if truth != read {
            let _ = write!(
                out,
                "<text class=\"not\" x=\"{:.0}\" y=\"{:.0}\">{}</text>",
                x + RADIUS + 7.0,
                y - RADIUS + 1.0,
                text(truth)
            );
        }
    }
    out.push_str("</svg><span class=\"unseen\">");
    for (at, (truth, read)) in graph.nodes.iter().enumerate().filter(|(_, (t, p))| t != p) {
        let _ = write!(out, "x{}: true {}, predicted {}. ", at + 1, text(truth), text(read));
    }
    out.push_str("</span>");
}

/// Numbers of edges between all nodes; those that are not connected are a little further apart than any others.
fn distances(graph: &Network) -> Vec<Vec<f64>> {
    let n = graph.nodes.len();
    let mut near = vec![Vec::new(); n];
    for &(a, b) in graph.edges.iter().filter(|(a, b)| a != b && *a < n && *b < n) {
        near[a].push(b);
        near[b].push(a);
    }
    let mut all = vec![vec![f64::INFINITY; n]; n];
    for (from, row) in all.iter_mut().enumerate() {
        row[from] = 0.0;
        let mut queue = VecDeque::from([from]);
        while let Some(node) = queue.pop_front() {
            for &next in &near[node] {
                if row[next].is_infinite() {
                    row[next] = row[node] + 1.0;
                    queue.push_back(next);
                }
            }
        }
    }
    let known = all.iter().flatten().copied().filter(|distance| distance.is_finite());
    let apart = known.fold(0.0, f64::max).min(6.0) + 1.5;
    all.iter_mut().flatten().filter(|distance| distance.is_infinite()).for_each(|d| *d = apart);
    all
}

/// Places of nodes, by majorising the stress Σ (‖pᵢ − pⱼ‖ − dᵢⱼ)²/dᵢⱼ² from a spiral on.
fn places(graph: &Network) -> Vec<(f64, f64)> {
    let n = graph.nodes.len();
    let ideal = distances(graph);
    // A spiral has no symmetries that nodes could be caught in.
    let start = |at: usize| {
        let (turn, away) = (2.399_963 * at as f64, EDGE * (at as f64).sqrt());
        (away * turn.cos(), away * turn.sin())
    };
    let mut places: Vec<(f64, f64)> = (0..n).map(start).collect();
    for _ in 0..ROUNDS {
        for i in 0..n {
            let (mut x, mut y, mut weights) = (0.0, 0.0, 0.0);
            for j in (0..n).filter(|j| *j != i) {
                let (dx, dy) = (places[i].0 - places[j].0, places[i].1 - places[j].1);
                let (length, wanted) = (dx.hypot(dy).max(1e-6), EDGE * ideal[i][j]);
                let weight = 1.0 / (ideal[i][j] * ideal[i][j]);
                x += weight * (places[j].0 + wanted * dx / length);
                y += weight * (places[j].1 + wanted * dy / length);
                weights += weight;
            }
            if weights > 0.0 {
                places[i] = (x / weights, y / weights);
            }
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(nodes: usize) -> Network {
        let states = (0..nodes).map(|at| ("a", if at == 0 { "<b>" } else { "a" }));
        (0..nodes).fold(Network::new(states), |ring, at| ring.edge(at, (at + 1) % nodes))
    }

    #[test]
    fn neighbours_are_an_edge_apart_and_no_two_nodes_meet() {
        for graph in [ring(3), ring(8), Network::new([("a", "a"), ("a", "a")])] {
            let places = places(&graph);
            let away =
                |a: usize, b: usize| (places[a].0 - places[b].0).hypot(places[a].1 - places[b].1);
            for &(a, b) in &graph.edges {
                assert!((0.6 * EDGE..1.4 * EDGE).contains(&away(a, b)), "{}", away(a, b));
            }
            for a in 0..places.len() {
                assert!((0..a).all(|b| away(a, b) > 2.0 * RADIUS), "{places:?}");
            }
        }
        assert_eq!(places(&ring(8)), places(&ring(8)));
    }

    #[test]
    fn wrong_nodes_say_what_is_true() {
        let mut out = String::new();
        network(&mut out, &ring(4).edge(0, 9), &LabelColours::new(["a", "<b>"]), "Graph 1");
        assert_eq!(out.matches("<circle").count(), 5, "four, and a ring");
        assert!(out.contains("class=\"wrong\"") && out.contains("class=\"not\""));
        assert!(out.contains("x1: true a, predicted &lt;b&gt;. "));
        out.clear();
        network(&mut out, &Network::default(), &LabelColours::default(), "");
        assert_eq!(out, "<span>–</span>");
    }
}
