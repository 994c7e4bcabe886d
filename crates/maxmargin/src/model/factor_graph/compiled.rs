//! A graph made ready for decoding: which factors go into which table of scores.

use super::error::FactorGraphError;
use super::graphs::{Graph, Graphs};
use super::shape::GraphShape;
use crate::inference::Inference;
use crate::inference::topology::Topology;
use crate::problem::sparse::SparseVec;

/// One example: its structure, and the factors behind each table of it.
///
/// The factors over one variable are no factors of the topology: their scores are added up in the
/// variable's own table. All others have a table each.
#[derive(Debug, Clone)]
pub(super) struct Compiled {
    pub(super) topology: Topology,
    pub(super) inference: Inference,
    /// By variable, its factors over that variable alone; then the others, one by one. Indices are
    /// those among the factors of all graphs.
    factors: Vec<usize>,
    /// Where the factors of each variable begin; the last entry is where the others do.
    starts: Vec<u32>,
}

/// A table of scores: a variable, or a factor over several of them.
#[derive(Debug, Clone)]
pub(super) struct Table<'a> {
    /// Where its scores lie.
    pub(super) range: std::ops::Range<usize>,
    /// The factors whose scores are in it, among those of all graphs.
    pub(super) factors: &'a [usize],
}

/// Refuses a graph that does not fit the shape, or whose tables are too large.
pub(crate) fn check_fit(
    shape: &GraphShape,
    data: &Graphs,
    i: usize,
) -> Result<(), FactorGraphError> {
    Compiled::new(shape, data, i, Inference::MaxProduct).map(|_| ())
}

impl Compiled {
    pub(super) fn new(
        shape: &GraphShape,
        data: &Graphs,
        i: usize,
        inference: Inference,
    ) -> Result<Self, FactorGraphError> {
        let graph = data.graph(i);
        check(shape, i, graph)?;
        let (mut own, mut others) = (vec![Vec::new(); graph.variables()], Vec::new());
        for at in graph.factor_range() {
            match data.factor(at).variables {
                [v] => own[*v as usize].push(at),
                _ => others.push(at),
            }
        }
        let states = graph.states().iter().map(|&states| states as usize);
        let scopes = others.iter().map(|&at| data.factor(at).variables);
        let wrong = |error| FactorGraphError::Topology { graph: i, error };
        let topology = Topology::new(states, scopes).map_err(wrong)?;
        let unsuitable = |error| FactorGraphError::Inference { graph: i, error };
        let inference = inference.resolve(&topology).map_err(unsuitable)?;
        let (mut factors, mut starts) = (Vec::new(), vec![0]);
        for own in own {
            factors.extend(own);
            starts.push(factors.len() as u32);
        }
        factors.extend(others);
        Ok(Self { topology, inference, factors, starts })
    }

    /// The table with index `at`: first those of the variables, then those of the factors.
    fn table(&self, at: usize) -> Table<'_> {
        let variables = self.topology.variables();
        if at < variables {
            let factors = self.starts[at] as usize..self.starts[at + 1] as usize;
            Table { range: self.topology.node(at), factors: &self.factors[factors] }
        } else {
            let factor = at - variables;
            let first = self.starts[variables] as usize + factor;
            let factors = &self.factors[first..=first];
            Table { range: self.topology.table(factor), factors }
        }
    }

    pub(super) fn tables(&self) -> impl Iterator<Item = Table<'_>> {
        (0..self.topology.variables() + self.topology.factors()).map(|at| self.table(at))
    }

    /// Calls `visit` with every table that a part vector has entries in, and these entries.
    pub(super) fn for_each_table<'p>(
        &self,
        parts: &'p SparseVec,
        mut visit: impl FnMut(&Table<'_>, &'p [(u64, f64)]),
    ) {
        let mut entries = parts.entries();
        let mut at = 0;
        while let Some(&(first, _)) = entries.first() {
            let mut table = self.table(at);
            while first as usize >= table.range.end {
                at += 1;
                table = self.table(at);
            }
            let inside = entries.iter().take_while(|(id, _)| (*id as usize) < table.range.end);
            let (own, rest) = entries.split_at(inside.count());
            visit(&table, own);
            entries = rest;
        }
    }
}

/// Checks that the factors of a graph fit the templates.
fn check(shape: &GraphShape, i: usize, graph: Graph<'_>) -> Result<(), FactorGraphError> {
    for (at, factor) in graph.factors().enumerate() {
        let templates = shape.templates.len();
        let Some(template) = shape.templates.get(factor.template as usize) else {
            let template = factor.template;
            return Err(FactorGraphError::Template { graph: i, factor: at, template, templates });
        };
        let found = graph.states_of(factor.variables);
        if found != template.states {
            let expected = template.states.clone();
            return Err(FactorGraphError::States { graph: i, factor: at, found, expected });
        }
        let attributes = template.attributes;
        let beyond = |attribute: &&u32| **attribute as usize >= attributes;
        if let Some(&attribute) = factor.attributes.attributes.iter().find(beyond) {
            return Err(FactorGraphError::Attribute {
                graph: i,
                factor: at,
                attribute,
                attributes,
            });
        }
    }
    Ok(())
}
