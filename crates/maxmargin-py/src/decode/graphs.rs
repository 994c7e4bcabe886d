//! Best states of the variables of factor graphs, and of trees.

use super::input::{Allowed, Loss, Numbers, View, Whole, check, loss_of, view_of, whole_of};
use super::potts::Edges;
use super::{Answers, Batch, Found, Naming, lawler};
use crate::error::value_error;
use maxmargin::Quality;
use maxmargin::inference::algorithms::{Enumerate, MaxSum};
use maxmargin::inference::{Decoder, Inference, Labelling, Topology};
use maxmargin::model::factor_graph::FactorGraph;
use pyo3::prelude::*;

/// The variables of factors.
enum Scopes<'a> {
    /// Two each, as an array.
    Edges(Edges<'a>),
    /// Any number, the same for all items.
    Lists(Vec<Vec<u32>>),
}

/// The tables of factors, in one array or in an array each.
struct Tables<'a> {
    views: Vec<View<'a>>,
    /// From one item to the next, in each array.
    strides: Vec<usize>,
    /// From one factor to the next, if all are in one array.
    step: usize,
}

/// Memory of a thread.
#[derive(Default)]
struct Scratch {
    edges: Vec<(usize, u32, u32)>,
    topology: Option<Topology>,
    rows: Vec<f64>,
    scores: Vec<f64>,
    max_sum: MaxSum,
    enumerate: Enumerate,
    decoder: Decoder,
    labelling: Labelling,
}

struct Graphs<'a> {
    scores: View<'a>,
    variables: usize,
    /// The largest number of states.
    width: usize,
    /// The number of states of each variable; `width` if not given.
    states: Option<&'a [i64]>,
    lengths: Option<&'a [i64]>,
    scopes: Scopes<'a>,
    tables: Tables<'a>,
    inference: Inference,
    loss: Option<Loss<'a>>,
    answers: usize,
}

/// Finds the best states of factor graphs. `scores` has items, variables and states. Factors are `edges`,
/// whose tables are in one array, at a distance of `table_step` from one factor to the next, or `scopes`,
/// whose tables have an array each; `strides` are the distances from one item to the next.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "called from one place, by name")]
pub(crate) fn decode_graphs<'py>(
    py: Python<'py>,
    scores: Numbers<'py>,
    states: Option<Whole<'py>>,
    edges: Option<Whole<'py>>,
    edge_count: usize,
    scopes: Vec<Vec<u32>>,
    tables: Vec<Numbers<'py>>,
    strides: Vec<usize>,
    table_step: usize,
    inference: &str,
    lengths: Option<Whole<'py>>,
    truth: Option<Whole<'py>>,
    loss: Option<Numbers<'py>>,
    is_share: bool,
    answers: usize,
    threads: usize,
    is_batch: bool,
) -> PyResult<Answers<'py>> {
    let [items, variables, width] = scores.sizes()?;
    let edges = whole_of(&edges)?;
    let views = tables.iter().map(Numbers::view).collect::<PyResult<_>>()?;
    let graphs = Graphs {
        scores: scores.view()?,
        variables,
        width,
        states: whole_of(&states)?,
        lengths: whole_of(&lengths)?,
        scopes: match edges {
            Some(edges) => Scopes::Edges(Edges::new(edges, edge_count, items)),
            None => Scopes::Lists(scopes),
        },
        tables: Tables { views, strides, step: table_step },
        inference: inference.parse().map_err(value_error)?,
        loss: loss_of(whole_of(&truth)?, view_of(&loss)?, is_share)?,
        answers,
    };
    let work = variables * width * width;
    let naming = Naming { is_batch };
    let batch = Batch { items, answers, width: variables, work, threads, naming };
    batch.run(py, Scratch::default, |scratch, item| graphs.decode(item, scratch))
}

impl Graphs<'_> {
    fn states(&self, variable: usize) -> usize {
        self.states.map_or(self.width, |states| states[variable] as usize)
    }

    fn decode(&self, item: usize, memory: &mut Scratch) -> Result<Found, String> {
        let length = self.lengths.map_or(self.variables, |lengths| lengths[item] as usize);
        let Scratch { edges, topology, rows, scores, .. } = memory;
        let is_shared = match &self.scopes {
            Scopes::Edges(all) => all.are_shared() && self.lengths.is_none(),
            Scopes::Lists(_) => self.lengths.is_none(),
        };
        if !(is_shared && topology.is_some()) {
            *topology = Some(self.topology(item, length, edges)?);
        }
        let Some(graph) = topology else { return Err("there is no graph".to_owned()) };
        self.fill_nodes(item, length, rows, scores)?;
        self.fill_tables(item, graph, edges, scores)?;
        let inference = self.inference.resolve(graph).map_err(|error| error.to_string())?;
        if self.answers > 1 {
            return self.rank(graph, inference, scores);
        }
        self.find(inference, memory)
    }

    fn topology(
        &self,
        item: usize,
        length: usize,
        edges: &mut Vec<(usize, u32, u32)>,
    ) -> Result<Topology, String> {
        let states = (0..length).map(|v| self.states(v));
        let graph = match &self.scopes {
            Scopes::Edges(all) => {
                all.of(item, self.variables, length, edges)?;
                Topology::new(states, edges.iter().map(|&(_, a, b)| [a, b]))
            }
            Scopes::Lists(lists) => Topology::new(states, lists),
        };
        graph.map_err(|error| error.to_string())
    }

    /// Lays out the scores of single variables, with the loss.
    fn fill_nodes(
        &self,
        item: usize,
        length: usize,
        rows: &mut Vec<f64>,
        scores: &mut Vec<f64>,
    ) -> Result<(), String> {
        let (from, width) = (item * self.variables, self.width);
        rows.clear();
        self.scores.append(from * width, length * width, rows);
        if let Some(loss) = &self.loss {
            loss.add(from, width, rows)?;
        }
        scores.clear();
        for (v, row) in rows.chunks_exact(width).enumerate() {
            let row = &row[..self.states(v)];
            check(row, Allowed::FiniteOrNever, |state| {
                format!("the score of state {state} of variable {v}")
            })?;
            if let Some(loss) = self.loss.filter(|loss| loss.truth[from + v] >= row.len() as i64) {
                let (truth, states) = (loss.truth[from + v], row.len());
                return Err(format!("the true state of variable {v} is {truth} of {states}"));
            }
            scores.extend_from_slice(row);
        }
        Ok(())
    }

    fn fill_tables(
        &self,
        item: usize,
        graph: &Topology,
        edges: &[(usize, u32, u32)],
        scores: &mut Vec<f64>,
    ) -> Result<(), String> {
        let Tables { views, strides, step } = &self.tables;
        for factor in 0..graph.factors() {
            let (size, begin) = (graph.table(factor).len(), scores.len());
            match &self.scopes {
                Scopes::Lists(_) => {
                    views[factor].append(item * strides[factor], size, scores);
                }
                Scopes::Edges(_) => {
                    let start = item * strides[0] + edges[factor].0 * step;
                    let scope = graph.scope(factor);
                    let (a, b) = (graph.states(scope[0] as usize), graph.states(scope[1] as usize));
                    if (a, b) == (self.width, self.width) {
                        views[0].append(start, size, scores);
                    } else {
                        (0..a).for_each(|y| views[0].append(start + y * self.width, b, scores));
                    }
                }
            }
            let number = edges.get(factor).map_or(factor, |edge| edge.0);
            check(&scores[begin..], Allowed::FiniteOrNever, |at| {
                format!("entry {at} of the table of factor {number}")
            })?;
        }
        Ok(())
    }

    /// The best states, or good ones.
    fn find(&self, inference: Inference, memory: &mut Scratch) -> Result<Found, String> {
        let Scratch { topology, scores, max_sum, enumerate, decoder, labelling: y, .. } = memory;
        let Some(graph) = topology else { return Err("there is no graph".to_owned()) };
        let (score, bound) = match inference {
            Inference::MaxSum | Inference::Enumerate => {
                let found = match inference {
                    Inference::MaxSum => max_sum.maximise(graph, scores, &mut y.states),
                    _ => enumerate.maximise(graph, scores, &mut y.states),
                };
                if found == f64::NEG_INFINITY {
                    return Err(NONE.to_owned());
                }
                let score = graph.value(scores, &y.states);
                (score, score)
            }
            _ => {
                if scores.contains(&f64::NEG_INFINITY) {
                    return Err(format!(
                        "{inference} takes finite scores only; -inf is for max-sum and enumerate"
                    ));
                }
                let quality = decoder.decode(inference, graph, scores, y);
                let masses = y.marginals.entries().iter();
                let relaxed = y
                    .is_fractional()
                    .then(|| masses.map(|&(at, mass)| mass * scores[at as usize]).sum::<f64>());
                decoder.polish(graph, scores, y);
                let score = graph.value(scores, &y.states);
                let bound = match quality {
                    Quality::Exact => score,
                    Quality::UpperBound => relaxed.map_or(score, |bound| bound.max(score)),
                    _ => f64::INFINITY,
                };
                (score, bound)
            }
        };
        Ok(Found::one(y.states.iter().map(|&state| state.into()), score, bound))
    }

    /// The best labellings: of forests one after the other, of other graphs by trying all.
    fn rank(
        &self,
        graph: &Topology,
        inference: Inference,
        scores: &[f64],
    ) -> Result<Found, String> {
        let mut found = match inference {
            Inference::MaxSum => lawler::n_best(graph, scores, self.answers),
            _ if graph.labellings(FactorGraph::MOST_RANKED).is_none() => {
                return Err(format!(
                    "the graph has a cycle and more than {} labellings, too many to rank",
                    FactorGraph::MOST_RANKED
                ));
            }
            _ => Enumerate::default().n_best(graph, scores, self.answers),
        };
        found.retain(|(score, _)| *score > f64::NEG_INFINITY);
        if found.is_empty() {
            return Err(NONE.to_owned());
        }
        let outputs = found.iter().flat_map(|(_, states)| states.iter().map(|&y| y.into()));
        let outputs = outputs.collect();
        let scores: Vec<f64> = found.iter().map(|(score, _)| *score).collect();
        Ok(Found { outputs, bound: scores[0], scores })
    }
}

const NONE: &str = "no labelling is allowed: each has a score of -inf";
