//! A graph compiled for decoding: its structure, and the factors behind each table of scores.

use super::graphs::{Graph, Graphs, Scored};
use super::shape::GraphShape;
use super::tie::Tie;
use crate::inference::Inference;
use crate::inference::topology::Topology;
use crate::model::InputError;
use crate::problem::sparse::SparseVec;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// The structure of one example, and the factors behind each of its tables.
///
/// Factors over one variable are not factors of the topology: their scores are added to the table of the
/// variable. All factors over the same two variables, in either order, share one table, because two tables
/// would be a cycle. Every factor over three or more variables has its own table, and so has every factor that is given
/// by patterns.
#[derive(Debug, Clone)]
pub(super) struct Compiled {
    pub(super) topology: Topology,
    pub(super) inference: Inference,
    /// The factors of each table, one table after the other.
    factors: Vec<Placed>,
    /// The position in `factors` at which each table begins, and the number of all factors.
    starts: Vec<u32>,
}

/// A factor in a table of scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Placed {
    /// Its index among the factors of all graphs.
    pub(super) factor: usize,
    /// The numbers of states of the two variables of the table, if the factor has them in the other order.
    flipped: Option<(u32, u32)>,
}

impl Placed {
    fn upright(factor: usize) -> Self {
        Self { factor, flipped: None }
    }

    /// Whether joint states of the table have other numbers in the factor.
    pub(super) fn is_flipped(self) -> bool {
        self.flipped.is_some()
    }

    /// The number that joint state `state` of the table has in the factor.
    #[inline]
    pub(super) fn state(self, state: usize) -> usize {
        match self.flipped {
            None => state,
            Some((first, second)) => {
                let (first, second) = (first as usize, second as usize);
                state % second * first + state / second
            }
        }
    }
}

/// A table of scores: a variable, or a factor over several of them.
#[derive(Debug, Clone)]
pub(super) struct Table<'a> {
    /// The range of its scores.
    pub(super) range: std::ops::Range<usize>,
    /// The factors whose scores it contains.
    pub(super) factors: &'a [Placed],
}

/// Checks that a graph fits the shape and that its tables are not too large.
pub(crate) fn check_fit(shape: &GraphShape, data: &Graphs, i: usize) -> Result<(), InputError> {
    Compiled::new(shape, data, i, Inference::MaxProduct).map(|_| ())
}

impl Compiled {
    pub(super) fn new(
        shape: &GraphShape,
        data: &Graphs,
        i: usize,
        inference: Inference,
    ) -> Result<Self, InputError> {
        let graph = data.graph(i);
        check(shape, i, graph)?;
        let (own, tables) = gather(data, graph);
        let states = graph.states().iter().map(|&states| states as usize);
        let scopes = tables.iter().map(|table| {
            let first = data.factor(table[0].factor);
            (first.variables, first.patterns)
        });
        let wrong = |error| InputError::Structure(format!("graph {i}: {error}"));
        let topology = Topology::with_patterns(states, scopes).map_err(wrong)?;
        let unsuitable = |error| InputError::Inference(format!("graph {i}: {error}"));
        let inference = inference.resolve_for(&topology).map_err(unsuitable)?;
        let (mut factors, mut starts) = (Vec::new(), vec![0]);
        for table in own.into_iter().chain(tables) {
            factors.extend(table);
            starts.push(factors.len() as u32);
        }
        Ok(Self { topology, inference, factors, starts })
    }

    /// The table with index `at`. The tables of variables come first, then those of factors.
    fn table(&self, at: usize) -> Table<'_> {
        let variables = self.topology.variables();
        let range = match at < variables {
            true => self.topology.node(at),
            false => self.topology.table(at - variables),
        };
        let factors = self.starts[at] as usize..self.starts[at + 1] as usize;
        Table { range, factors: &self.factors[factors] }
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

/// The factors over each variable alone, and those of each table over several variables.
fn gather(data: &Graphs, graph: Graph<'_>) -> (Vec<Vec<Placed>>, Vec<Vec<Placed>>) {
    let (mut own, mut tables) = (vec![Vec::new(); graph.variables()], Vec::<Vec<Placed>>::new());
    let mut pairs = HashMap::new();
    for factor in graph.factor_range() {
        let mut place = Placed::upright(factor);
        let own_factor = data.factor(factor);
        match *own_factor.variables {
            _ if own_factor.patterns.is_some() => tables.push(vec![place]),
            [v] => own[v as usize].push(place),
            [a, b] => match pairs.entry((a.min(b), a.max(b))) {
                Entry::Vacant(free) => {
                    free.insert(tables.len());
                    tables.push(vec![place]);
                }
                Entry::Occupied(found) => {
                    let table = &mut tables[*found.get()];
                    if data.factor(table[0].factor).variables != [a, b] {
                        let states = graph.states();
                        place.flipped = Some((states[b as usize], states[a as usize]));
                    }
                    table.push(place);
                }
            },
            _ => tables.push(vec![place]),
        }
    }
    (own, tables)
}

/// Checks that the factors of a graph fit the templates.
fn check(shape: &GraphShape, i: usize, graph: Graph<'_>) -> Result<(), InputError> {
    for (at, factor) in graph.factors().enumerate() {
        let templates = shape.templates.len();
        let Some(template) = shape.templates.get(factor.template as usize) else {
            return Err(InputError::Unknown {
                place: format!("factor {at} of graph {i}"),
                what: "template",
                found: factor.template as usize,
                known: templates,
                unit: "",
            });
        };
        let (found, expected) =
            (graph.scored_by(&factor), (template.states.clone(), template.patterns));
        if found != expected {
            let (found, expected) = (Scored(&found), Scored(&expected));
            let message =
                format!("factor {at} of graph {i} has {found}, but its template is for {expected}");
            return Err(InputError::Structure(message));
        }
        if template.patterns > 0 && matches!(template.tie, Tie::Agree | Tie::Differ) {
            let message = format!(
                "template {} has patterns, so its tie cannot be {:?}: that compares the states of a joint state",
                factor.template,
                template.tie.name()
            );
            return Err(InputError::Structure(message));
        }
        let attributes = template.attributes;
        let beyond = |attribute: &&u32| **attribute as usize >= attributes;
        if let Some(&attribute) = factor.attributes.attributes.iter().find(beyond) {
            let message = format!(
                "factor {at} of graph {i} has the attribute {attribute}, but its template has only \
                 {attributes}"
            );
            return Err(InputError::Structure(message));
        }
    }
    Ok(())
}
