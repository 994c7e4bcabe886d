//! How a topology is put together.

use super::{Link, Topology};
use crate::inference::patterns::Patterns;
use crate::inference::topology_error::{MOST_JOINT_STATES, TopologyError};

impl Topology {
    /// Appends a factor, if it fits the variables.
    pub(super) fn push_factor(
        &mut self,
        scope: &[u32],
        patterns: Option<&Patterns>,
    ) -> Result<(), TopologyError> {
        let (factor, variables) = (self.factors(), self.variables());
        if scope.len() < 2 && patterns.is_none() {
            return Err(TopologyError::Arity { factor, arity: scope.len() });
        }
        let mut size = 1usize;
        for (at, &variable) in scope.iter().enumerate() {
            if variable as usize >= variables {
                return Err(TopologyError::Variable { factor, variable, variables });
            }
            if scope[..at].contains(&variable) {
                return Err(TopologyError::Twice { factor, variable });
            }
            let states = self.states(variable as usize);
            size = size.saturating_mul(states);
            self.messages.push(self.messages[self.messages.len() - 1] + states);
        }
        if let Some(patterns) = patterns {
            let states = |slot| self.states(scope[slot] as usize);
            let fits = |slot| patterns.states(slot) == states(slot);
            if patterns.variables() != scope.len() || !(0..scope.len()).all(fits) {
                return Err(TopologyError::Patterns { factor });
            }
            size = patterns.len();
            self.patterns.push((factor as u32, patterns.clone()));
        }
        if size > MOST_JOINT_STATES {
            return Err(TopologyError::Size { factor });
        }
        self.scopes.extend_from_slice(scope);
        self.scope_starts.push(self.scopes.len());
        self.tables.push(self.tables[factor] + size);
        Ok(())
    }

    /// Lists the factors of each variable.
    pub(super) fn find_links(&mut self) {
        self.link_starts = vec![0; self.variables() + 1];
        for &variable in &self.scopes {
            self.link_starts[variable as usize + 1] += 1;
        }
        for v in 0..self.variables() {
            self.link_starts[v + 1] += self.link_starts[v];
        }
        let mut next = self.link_starts.clone();
        self.links = vec![Link { factor: 0, slot: 0 }; self.scopes.len()];
        for factor in 0..self.factors() {
            for slot in 0..self.scope(factor).len() {
                let variable = self.scope(factor)[slot] as usize;
                self.links[next[variable]] = Link { factor: factor as u32, slot: slot as u32 };
                next[variable] += 1;
            }
        }
    }

    /// Returns the factors in an order in which each is reached from one variable (its parent) and leads
    /// to variables that were not reached before. Returns `None` if the graph has a cycle.
    pub(super) fn find_forest(&self) -> Option<Vec<Link>> {
        let mut order: Vec<Link> = Vec::with_capacity(self.factors());
        let mut reached = vec![false; self.variables()];
        let mut used = vec![false; self.factors()];
        let mut queue = Vec::new();
        for root in 0..self.variables() {
            if std::mem::replace(&mut reached[root], true) {
                continue;
            }
            // Breadth-first search from each root.
            queue.clear();
            queue.push(root);
            let mut head = 0;
            while let Some(&variable) = queue.get(head) {
                head += 1;
                for &link in self.links(variable) {
                    if std::mem::replace(&mut used[link.factor as usize], true) {
                        continue;
                    }
                    order.push(link);
                    for (slot, &other) in self.scope(link.factor as usize).iter().enumerate() {
                        if slot == link.slot as usize {
                            continue;
                        }
                        if std::mem::replace(&mut reached[other as usize], true) {
                            return None; // a second path to the same variable: a cycle
                        }
                        queue.push(other as usize);
                    }
                }
            }
        }
        Some(order)
    }
}
