//! Labelled graphs in part space: masses on labels of nodes, relative to the truth, and the change of each edge's
//! disagreement.

use super::{Potts, PottsWorkspace};
use crate::model::potts::feasible::{self, is_forest};
use crate::model::potts::graphs::PottsGraph;
use crate::model::potts::labels::NodeLabels;
use crate::model::rows::{add_scores, scatter_row};
use crate::problem::parts::scatter_into;
use crate::problem::quality::PointCheck;
use crate::problem::sparse::{Sink, SparseVec};
use crate::problem::{CheckPoints, Parts, Target};

impl Potts {
    /// Appends the parts of a labelling: 1 for each node whose label is wrong, and for each edge its
    /// disagreement minus that of the truth. For a fractional corner, masses take the place of 1.
    fn push_parts(&self, graph: PottsGraph<'_>, y: &NodeLabels, parts: &mut SparseVec) {
        let (k, truth) = (self.shape.labels as u64, graph.labels());
        let first = graph.nodes() as u64 * k;
        let mut masses = y.masses.entries().iter().peekable();
        if y.is_fractional() {
            while let Some(&(id, mass)) = masses.next_if(|(id, _)| *id < first) {
                if u64::from(truth[(id / k) as usize]) != id % k {
                    parts.push(id, mass);
                }
            }
        } else {
            // Nodes with a wrong label.
            for (v, (&label, &own)) in y.labels.iter().zip(truth).enumerate() {
                if label != own {
                    parts.push(v as u64 * k + u64::from(label), 1.0);
                }
            }
        }
        if self.shape.edge_attributes == 0 {
            return;
        }
        // Edges, relative to the truth.
        for (e, &(a, b)) in graph.edges().iter().enumerate() {
            let id = first + e as u64;
            let disagree = |y: &[u32]| f64::from(y[a as usize] != y[b as usize]);
            let now = if y.is_fractional() {
                masses.next_if(|(at, _)| *at == id).map_or(0.0, |(_, mass)| *mass)
            } else {
                disagree(&y.labels)
            };
            let change = now - disagree(truth);
            if change != 0.0 {
                parts.push(id, change);
            }
        }
    }
    /// Adds `scale` · Σ value · φ(part) to a sink.
    pub(super) fn scatter_into<S: Sink + ?Sized>(
        &self,
        i: usize,
        scale: f64,
        parts: &SparseVec,
        sink: &mut S,
    ) {
        let (k, graph) = (self.shape.labels, self.data.graph(i));
        let (truth, nodes) = (graph.labels(), graph.nodes() * k);
        let (pairwise, scale) = (self.shape.pairwise().start as u64, scale * self.share(graph));
        for &(id, value) in parts.entries() {
            match (id as usize).checked_sub(nodes) {
                None => {
                    let v = id as usize / k;
                    let masses = [(id % k as u64, value), (u64::from(truth[v]), -value)];
                    scatter_row(k, graph.node(v), scale, &masses, |label| label as usize, sink);
                }
                Some(edge) => {
                    let mass = [(pairwise, -value)];
                    scatter_row(1, graph.edge(edge), scale, &mass, |first| first as usize, sink);
                }
            }
        }
    }
}

impl Parts for Potts {
    fn prepare(&self, i: usize, w: &[f64], workspace: &mut PottsWorkspace) {
        let (graph, k) = (self.data.graph(i), self.shape.labels);
        let (unary, pairwise) = (&w[self.shape.unary()], &w[self.shape.pairwise()]);
        let share = self.share(graph);
        workspace.scores.clear();
        workspace.scores.resize(graph.nodes() * k, 0.0);
        for (v, row) in workspace.scores.chunks_exact_mut(k).enumerate() {
            add_scores(unary, graph.node(v), row);
            row.iter_mut().for_each(|score| *score *= share);
        }
        workspace.edge_costs.clear();
        if !pairwise.is_empty() {
            let costs = (0..graph.edges().len()).map(|e| share * graph.edge(e).dot(pairwise));
            workspace.edge_costs.extend(costs);
        }
    }

    /// Scores the nodes and edges of `points` only, which are those where remembered labellings differ from the
    /// truth.
    fn prepare_scores(
        &self,
        i: usize,
        w: &[f64],
        workspace: &mut PottsWorkspace,
        points: &[SparseVec],
    ) {
        let PottsWorkspace { scores, edge_costs, is_scored, .. } = workspace;
        let (graph, k) = (self.data.graph(i), self.shape.labels);
        let (unary, pairwise) = (&w[self.shape.unary()], &w[self.shape.pairwise()]);
        let (share, nodes) = (self.share(graph), graph.nodes());
        // Other scores keep their old values, which are not used.
        scores.resize(nodes * k, 0.0);
        let edges = if pairwise.is_empty() { 0 } else { graph.edges().len() };
        edge_costs.resize(edges, 0.0);
        is_scored.clear();
        is_scored.resize(nodes + edges, false);
        for &(id, _) in points.iter().flat_map(SparseVec::entries) {
            let id = id as usize;
            match id.checked_sub(nodes * k) {
                None if !std::mem::replace(&mut is_scored[id / k], true) => {
                    let row = &mut scores[id / k * k..][..k];
                    row.fill(0.0);
                    add_scores(unary, graph.node(id / k), row);
                    row.iter_mut().for_each(|score| *score *= share);
                }
                Some(e) if !std::mem::replace(&mut is_scored[nodes + e], true) => {
                    edge_costs[e] = share * graph.edge(e).dot(pairwise);
                }
                _ => {}
            }
        }
    }

    fn prefetch(&self, i: usize) {
        self.data.graph(i).prefetch();
    }

    fn parts(&self, i: usize, y: &NodeLabels, parts: &mut SparseVec) {
        self.push_parts(self.data.graph(i), y, parts);
    }

    fn truth_parts(&self, _i: usize, _parts: &mut SparseVec) {}

    fn score(&self, i: usize, _: &[f64], ws: &PottsWorkspace, parts: &SparseVec) -> f64 {
        let (k, graph) = (self.shape.labels, self.data.graph(i));
        let (truth, nodes) = (graph.labels(), graph.nodes() * k);
        let term = |&(id, value): &(u64, f64)| match (id as usize).checked_sub(nodes) {
            None => {
                let (at, v) = (id as usize, id as usize / k);
                value * (ws.scores[at] - ws.scores[v * k + truth[v] as usize])
            }
            Some(edge) => -value * ws.edge_costs[edge],
        };
        parts.entries().iter().map(term).sum()
    }

    fn norm_sq(&self, i: usize, workspace: &mut PottsWorkspace, parts: &SparseVec) -> f64 {
        workspace.way.clear();
        self.scatter_into(i, 1.0, parts, &mut workspace.way);
        workspace.way.norm_sq()
    }

    fn scatter(&self, i: usize, scale: f64, parts: &SparseVec, target: Target<'_>) {
        scatter_into!(target, sink => self.scatter_into(i, scale, parts, sink));
    }
}

impl CheckPoints for Potts {
    /// Checks that the masses of labels are a distribution at every node, that the disagreement of each
    /// edge is possible for two such nodes, and that the loss belongs to these masses.
    ///
    /// Such masses are a point of the relaxation. On a forest they are also a convex combination of
    /// labellings. With two labels and neighbours that only attract each other, the relaxation has the
    /// same maximum as the labellings for all weights within the bounds, so the dual value of the point
    /// is still a lower bound of the optimum.
    fn check_point(
        &self,
        i: usize,
        parts: &SparseVec,
        loss: f64,
        slack: f64,
    ) -> Result<PointCheck, String> {
        let graph = self.data.graph(i);
        feasible::check(&self.shape, graph, &self.costs[i], parts, loss, slack)?;
        let is_tight = self.shape.attractive && self.shape.labels <= 2;
        Ok(match is_tight || self.shape.edge_attributes == 0 || is_forest(graph) {
            true => PointCheck::Feasible,
            false => PointCheck::Relaxed,
        })
    }
}
