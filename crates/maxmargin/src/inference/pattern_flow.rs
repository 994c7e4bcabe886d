//! Factors given by patterns in linear programs: the flows through their sets of patterns.
//!
//! A joint state is a path through the sets of patterns that still fit (see [patterns](super::patterns)), so a mixture of
//! joint states is a flow of size 1:
//!
//! ```text
//! f ≥ 0,    Σ f into a node = Σ f out of it,    Σ_{steps that read y_v = y} f = μ_v(y),    Σ_{steps to ends that count p} f = μ_p
//! ```
//!
//! The linear program has one flow for each step. Flows come after all parts of the graph, one factor after the
//! other.

use super::lp::LinearProgram;
use super::patterns::Patterns;
use super::topology::Topology;

/// Number of the flows of a graph.
pub(super) fn size(graph: &Topology) -> usize {
    (0..graph.factors()).filter_map(|c| graph.patterns(c)).map(Patterns::step_count).sum()
}

/// Adds the rows that make the flows of a factor, the first of which is at `flows`, agree with its variables.
pub(super) fn push_marginals(
    lp: &mut LinearProgram,
    graph: &Topology,
    factor: usize,
    patterns: &Patterns,
    flows: usize,
) {
    for (slot, &v) in graph.scope(factor).iter().enumerate() {
        let node = graph.node(v as usize);
        // For all variables but the first, one row follows from the others and from the size of the flow.
        for y in usize::from(slot > 0)..node.len() {
            let steps = patterns.steps().enumerate();
            let own = steps.filter(|(_, step)| step.slot == slot && step.state == y);
            let entries = own.map(|(at, _)| ((flows + at) as u32, 1.0));
            lp.push_row(entries.chain([((node.start + y) as u32, -1.0)]), 0.0);
        }
    }
}

/// Adds the rows that conserve the flows of all factors, and the rows of the masses of patterns.
pub(super) fn push_flows(lp: &mut LinearProgram, graph: &Topology) {
    let mut flows = graph.size();
    for factor in 0..graph.factors() {
        let Some(patterns) = graph.patterns(factor) else { continue };
        let mut nodes = vec![Vec::new(); patterns.nodes()];
        let mut masses: Vec<_> = graph.table(factor).map(|at| vec![(at as u32, -1.0)]).collect();
        for (at, step) in patterns.steps().enumerate() {
            let flow = (flows + at) as u32;
            nodes[step.to].push((flow, 1.0));
            nodes[step.from].push((flow, -1.0));
            for &pattern in patterns.counted_at(step.to) {
                masses[pattern as usize].push((flow, 1.0));
            }
        }
        // The rows of the first variable make the flow out of the first node 1. There is no flow out of the ends.
        let inner = nodes.into_iter().skip(1);
        let inner = inner.filter(|row| row.iter().any(|&(_, sign)| sign < 0.0));
        inner.for_each(|row| lp.push_row(row, 0.0));
        masses.into_iter().for_each(|row| lp.push_row(row, 0.0));
        flows += patterns.step_count();
    }
}

/// Makes a nearly consistent flow exact: divides the flow into each node among the steps from this node, in the
/// proportions of the old flow. Then adds up the masses of the patterns and of the states of all variables.
pub(super) fn straighten(
    patterns: &Patterns,
    flow: &mut [f64],
    masses: &mut [f64],
    states: &mut [f64],
) {
    let mut out = vec![0.0; patterns.nodes()];
    patterns.steps().zip(&*flow).for_each(|(step, mass)| out[step.from] += mass);
    let mut into = vec![0.0; patterns.nodes()];
    into[0] = 1.0;
    masses.fill(0.0);
    states.fill(0.0);
    for (step, mass) in patterns.steps().zip(flow) {
        // A node without any flow out of it passes everything on through its first state.
        let is_first = f64::from(step.state == 0);
        let share = if out[step.from] > 0.0 { *mass / out[step.from] } else { is_first };
        *mass = into[step.from] * share;
        into[step.to] += *mass;
        states[patterns.start(step.slot) + step.state] += *mass;
        patterns.counted_at(step.to).iter().for_each(|&p| masses[p as usize] += *mass);
    }
}
