//! Which states are right, what wrong states cost, and whether masses and a loss belong together.

use super::FactorGraph;
use crate::inference::local_polytope::check_consistency;
use crate::problem::CheckPoints;
use crate::problem::quality::PointCheck;
use crate::problem::sparse::SparseVec;

impl FactorGraph {
    /// Calls `visit` with the place and the cost of every state that is right, of all variables.
    pub(in crate::model::factor_graph) fn for_each_right(
        &self,
        i: usize,
        mut visit: impl FnMut(usize, f64),
    ) {
        let (truth, topology) = (self.data.graph(i).truth(), &self.graphs[i].topology);
        for (v, (&truth, &cost)) in truth.iter().zip(self.costs(i)).enumerate() {
            let node = topology.node(v);
            if self.labels.is_empty() {
                visit(node.start + truth as usize, cost);
            } else {
                let right = |at: &usize| self.is_right(truth, (at - node.start) as u32);
                node.clone().filter(right).for_each(|at| visit(at, cost));
            }
        }
    }

    /// Whether a state has the label of the true one.
    #[inline]
    pub(super) fn is_right(&self, truth: u32, state: u32) -> bool {
        let label = |state: u32| self.labels.get(state as usize);
        truth == state || (!self.labels.is_empty() && label(truth) == label(state))
    }

    pub(in crate::model::factor_graph) fn costs(&self, i: usize) -> &[f64] {
        &self.costs[self.data.graph(i).variable_range()]
    }

    /// The expected loss of masses on states. Masses on joint states have no loss.
    pub(in crate::model::factor_graph) fn loss_of(&self, i: usize, masses: &SparseVec) -> f64 {
        let (topology, truth) = (&self.graphs[i].topology, self.data.graph(i).truth());
        let (mut v, mut loss) = (0, 0.0);
        for &(id, mass) in masses.entries() {
            while v < truth.len() && id as usize >= topology.node(v).end {
                v += 1;
            }
            if v == truth.len() {
                break;
            }
            if !self.is_right(truth[v], (id as usize - topology.node(v).start) as u32) {
                loss += self.costs(i)[v] * mass;
            }
        }
        loss
    }
}

impl CheckPoints for FactorGraph {
    /// Checks that the masses are a point of the local polytope and that the loss belongs to them. If the
    /// graph is a forest, all such points are convex combinations of labellings. Otherwise the check
    /// proves that the point belongs to the relaxed problem. Where factors are given by patterns, it proves neither, and
    /// outputs have to be found that make up the point.
    fn check_point(
        &self,
        i: usize,
        parts: &SparseVec,
        loss: f64,
        slack: f64,
    ) -> Result<PointCheck, String> {
        check_consistency(&self.graphs[i].topology, parts, slack)?;
        let own = self.loss_of(i, parts);
        if (own - loss).abs() > slack * (1.0 + own.abs()) {
            return Err(format!("its loss is stated as {loss}, but is {own}"));
        }
        let topology = &self.graphs[i].topology;
        Ok(match topology.is_forest() {
            // Masses of patterns may not belong to any joint states.
            _ if topology.has_patterns() => PointCheck::Unproven,
            true => PointCheck::Feasible,
            false => PointCheck::Relaxed,
        })
    }
}
