//! A graph compiled for decoding: its structure, and the factors behind each table of scores.

use super::error::FactorGraphError;
use super::graphs::{Graph, Graphs};
use super::shape::GraphShape;
use crate::inference::Inference;
use crate::inference::topology::Topology;
use crate::problem::sparse::SparseVec;

/// The structure of one example, and the factors behind each of its tables.
///
/// Factors over one variable are not factors of the topology: their scores are added to the table of the
/// variable. Every other factor has its own table.
#[derive(Debug, Clone)]
pub(super) struct Compiled {
    pub(super) topology: Topology,
    pub(super) inference: Inference,
    /// For each variable, the factors over that variable alone; then the other factors, one by one.
    /// Indices count the factors of all graphs.
    factors: Vec<usize>,
    /// The position in `factors` at which each variable begins. The last entry is the position of the
    /// other factors.
    starts: Vec<u32>,
}

/// A table of scores: a variable, or a factor over several of them.
#[derive(Debug, Clone)]
pub(super) struct Table<'a> {
    /// The range of its scores.
    pub(super) range: std::ops::Range<usize>,
    /// The factors whose scores it contains, as indices among the factors of all graphs.
    pub(super) factors: &'a [usize],
}

/// Checks that a graph fits the shape and that its tables are not too large.
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

    /// The table with index `at`. The tables of variables come first, then those of factors.
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

    /// Calls `visit` with every table in which a part vector has entries, and with these entries.
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
