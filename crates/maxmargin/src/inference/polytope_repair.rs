//! Makes the masses that a solver of linear programs returns consistent. They are nearly consistent before.

use super::pattern_flow;
use super::topology::Topology;

/// Makes nearly consistent masses consistent.
#[derive(Debug, Clone, Default)]
pub(super) struct Repair {
    sums: Vec<f64>,
    missing: Vec<f64>,
    states: Vec<usize>,
}

impl Repair {
    pub(super) fn run(&mut self, graph: &Topology, masses: &mut [f64]) {
        let (nodes, tables) = masses.split_at_mut(graph.node_size());
        for mass in nodes.iter_mut().chain(tables.iter_mut()) {
            *mass = if *mass < 1e-9 { 0.0 } else { *mass };
        }
        for v in 0..graph.variables() {
            let sum: f64 = nodes[graph.node(v)].iter().sum();
            nodes[graph.node(v)].iter_mut().for_each(|mass| *mass /= sum);
        }
        let (tables, flows) = tables.split_at_mut(graph.size() - graph.node_size());
        let mut first = 0;
        for factor in 0..graph.factors() {
            let range = graph.table(factor);
            let own = range.start - graph.node_size()..range.end - graph.node_size();
            if let Some(patterns) = graph.patterns(factor) {
                self.sums.resize(patterns.all_states(), 0.0);
                let flow = &mut flows[first..first + patterns.step_count()];
                pattern_flow::straighten(patterns, flow, &mut tables[own.clone()], &mut self.sums);
                first += patterns.step_count();
            } else {
                self.add_up(graph, factor, tables);
            }
            self.repair_factor(graph, factor, nodes, &mut tables[own]);
        }
    }

    /// Adds up the masses of a table for each state of its variables.
    fn add_up(&mut self, graph: &Topology, factor: usize, tables: &[f64]) {
        let (scope, offset) = (graph.scope(factor), graph.node_size());
        let first = graph.message(factor, 0).start;
        self.sums.clear();
        self.sums.resize(graph.message(factor, scope.len() - 1).end - first, 0.0);
        for slot in 0..scope.len() {
            let start = graph.message(factor, slot).start - first;
            graph.for_each_state(factor, slot, |at, y| self.sums[start + y] += tables[at - offset]);
        }
    }

    /// Scales a factor down until no state has more mass in it than in its variable, and then adds the
    /// missing mass, one joint state after the other (the north-west corner rule).
    fn repair_factor(&mut self, graph: &Topology, factor: usize, nodes: &[f64], table: &mut [f64]) {
        let scope = graph.scope(factor);
        let first = graph.message(factor, 0).start;
        // Scale the table down.
        let wanted = scope.iter().flat_map(|&v| &nodes[graph.node(v as usize)]);
        let ratios = wanted.clone().zip(&self.sums).filter(|(_, sum)| **sum > 0.0);
        let share = ratios.map(|(wanted, sum)| wanted / sum).fold(1.0, f64::min);
        table.iter_mut().for_each(|mass| *mass *= share);
        // Add the missing mass.
        self.missing.clear();
        self.missing.extend(wanted.zip(&self.sums).map(|(w, sum)| (w - share * sum).max(0.0)));

        self.states.clear();
        self.states.resize(scope.len(), 0);
        loop {
            // Add the smallest missing mass of the current states to their joint state.
            let mut least = f64::INFINITY;
            let (mut joint, mut full) = (0usize, 0);
            for (slot, &v) in scope.iter().enumerate() {
                let missing = self.missing[self.at(graph, factor, slot, first)];
                if missing < least {
                    (least, full) = (missing, slot);
                }
                joint =
                    joint.wrapping_mul(graph.states(v as usize)).wrapping_add(self.states[slot]);
            }
            match graph.patterns(factor) {
                None => table[joint] += least,
                Some(patterns) => {
                    let counted = patterns.counted_for(|slot| self.states[slot] as u32);
                    counted.iter().for_each(|&pattern| table[pattern as usize] += least);
                }
            }
            for slot in 0..scope.len() {
                let at = self.at(graph, factor, slot, first);
                self.missing[at] -= least;
            }
            self.states[full] += 1;
            if self.states[full] == graph.states(scope[full] as usize) {
                return;
            }
        }
    }

    fn at(&self, graph: &Topology, factor: usize, slot: usize, first: usize) -> usize {
        graph.message(factor, slot).start - first + self.states[slot]
    }
}
