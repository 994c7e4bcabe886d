//! Minimum cuts.

use super::input::{Allowed, Numbers, Shared, Whole, check, whole_of};
use super::potts::Edges;
use super::{Answers, Batch, Found, Naming};
use maxmargin::inference::MaxFlow;
use maxmargin::inference::algorithms::Quantum;
use pyo3::prelude::*;

/// Memory of a thread.
#[derive(Default)]
struct Scratch {
    from_source: Vec<f64>,
    to_sink: Vec<f64>,
    there: Vec<f64>,
    back: Vec<f64>,
    edges: Vec<(usize, u32, u32)>,
    network: MaxFlow,
}

/// Finds minimum cuts: 1 for nodes on the source's side, and the capacity of the cut. `from_source` and
/// `to_sink` have a number per item and node, `there` and `back` one per edge, of all items or of each.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "called from one place, by name")]
pub(crate) fn decode_cuts<'py>(
    py: Python<'py>,
    from_source: Numbers<'py>,
    to_sink: Numbers<'py>,
    edges: Whole<'py>,
    edge_count: usize,
    there: Numbers<'py>,
    back: Numbers<'py>,
    items: usize,
    threads: usize,
    is_batch: bool,
) -> PyResult<Answers<'py>> {
    let nodes = from_source.view()?.len() / items.max(1);
    let edges = Some(edges);
    let edges = Edges::new(whole_of(&edges)?.unwrap_or_default(), edge_count, items);
    let shared = [
        Shared::new(from_source.view()?, nodes, items)?,
        Shared::new(to_sink.view()?, nodes, items)?,
    ];
    let capacities = [
        Shared::new(there.view()?, edge_count, items)?,
        Shared::new(back.view()?, edge_count, items)?,
    ];
    let naming = Naming { is_batch };
    let batch = Batch { items, answers: 1, width: nodes, work: 50 * nodes, threads, naming };
    batch.run(py, Scratch::default, |memory, item| {
        let Scratch { from_source, to_sink, there, back, edges: pairs, network } = memory;
        let from_source = shared[0].read(item, from_source);
        let to_sink = shared[1].read(item, to_sink);
        let there = capacities[0].read(item, there);
        let back = capacities[1].read(item, back);
        let at_node = |side: &'static str| move |v| format!("the capacity {side} of node {v}");
        check_capacities(from_source, at_node("from the source"))?;
        check_capacities(to_sink, at_node("to the sink"))?;
        check_capacities(there, |e| format!("the capacity of edge {e}"))?;
        check_capacities(back, |e| format!("the capacity of edge {e} backwards"))?;
        edges.of(item, nodes, nodes, pairs)?;
        let all = from_source.iter().chain(to_sink).chain(there).chain(back);
        let total: f64 = all.sum();
        if !total.is_finite() {
            return Err("the sum of all capacities is too large".to_owned());
        }
        let quantum = Quantum::of(total);
        network.reset(nodes);
        for (v, (source, sink)) in from_source.iter().zip(to_sink).enumerate() {
            network.tie(v, quantum.round(*source), quantum.round(*sink));
        }
        for &(e, a, b) in &*pairs {
            let (there, back) = (quantum.round(there[e]), quantum.round(back[e]));
            network.connect(a as usize, b as usize, there, back);
        }
        network.solve();
        let side = |v: usize| network.is_on_source_side(v);
        let ties = from_source.iter().zip(to_sink).enumerate();
        let of_ties: f64 = ties.map(|(v, (from, to))| if side(v) { to } else { from }).sum();
        let crossing = pairs.iter().map(|&(e, a, b)| match (side(a as usize), side(b as usize)) {
            (true, false) => there[e],
            (false, true) => back[e],
            _ => 0.0,
        });
        let value = of_ties + crossing.sum::<f64>();
        Ok(Found::one((0..nodes).map(|v| side(v).into()), value, value))
    })
}

fn check_capacities(numbers: &[f64], place: impl Fn(usize) -> String) -> Result<(), String> {
    check(numbers, Allowed::Finite, &place)?;
    match numbers.iter().position(|&x| x < 0.0) {
        Some(at) => Err(format!("{} is {}; it must be at least 0", place(at), numbers[at])),
        None => Ok(()),
    }
}
