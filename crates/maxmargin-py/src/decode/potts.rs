//! Best labels of the nodes of graphs whose neighbours tend to agree.

use super::input::{
    Allowed, Loss, Numbers, Shared, View, Whole, check, loss_of, view_of, whole_of,
};
use super::{Answers, Batch, Found, Naming};
use crate::error::value_error;
use maxmargin::model::potts::{PottsDecoder, PottsInference};
use pyo3::prelude::*;

/// Edges as pairs of nodes, of all items or of each; −1 fills up.
#[derive(Clone, Copy)]
pub(super) struct Edges<'a> {
    ends: &'a [i64],
    /// Whether each item has edges of its own, and how many numbers that are.
    stride: usize,
    own: usize,
}

impl<'a> Edges<'a> {
    /// Edges that all items share, if there are `own` of them, or edges of each item.
    pub(super) fn new(ends: &'a [i64], own: usize, items: usize) -> Self {
        let is_shared = ends.len() == 2 * own;
        let stride = if is_shared { 0 } else { ends.len() / items.max(1) };
        Self { ends, stride, own: if is_shared { ends.len() } else { stride } }
    }

    pub(super) fn are_shared(&self) -> bool {
        self.stride == 0
    }

    /// Collects the edges among the first `length` nodes of an item, with their numbers.
    ///
    /// # Errors
    /// An edge with a node that does not exist, or from a node to itself.
    pub(super) fn of(
        &self,
        item: usize,
        nodes: usize,
        length: usize,
        into: &mut Vec<(usize, u32, u32)>,
    ) -> Result<(), String> {
        into.clear();
        for (e, ends) in self.ends[item * self.stride..][..self.own].chunks_exact(2).enumerate() {
            if ends == [-1, -1] {
                continue;
            }
            let node = |v: i64| u32::try_from(v).ok().filter(|v| (*v as usize) < nodes);
            match (node(ends[0]), node(ends[1])) {
                (Some(a), Some(b)) if a != b => {
                    if (a.max(b) as usize) < length {
                        into.push((e, a, b));
                    }
                }
                (Some(a), Some(_)) => {
                    return Err(format!("edge {e} leads from node {a} to itself"));
                }
                _ => {
                    let (a, b) = (ends[0], ends[1]);
                    return Err(format!("edge {e} is ({a}, {b}), but there are {nodes} nodes"));
                }
            }
        }
        Ok(())
    }
}

/// Memory of a thread.
#[derive(Default)]
struct Scratch {
    scores: Vec<f64>,
    augmented: Vec<f64>,
    costs: Vec<f64>,
    own_costs: Vec<f64>,
    edges: Vec<(usize, u32, u32)>,
    /// The decoder of the last item, if its edges are those of all.
    decoder: Option<PottsDecoder>,
    labels: Vec<u32>,
}

struct Graphs<'a> {
    scores: View<'a>,
    nodes: usize,
    labels: usize,
    lengths: Option<&'a [i64]>,
    edges: Edges<'a>,
    costs: Shared<'a>,
    inference: PottsInference,
    loss: Option<Loss<'a>>,
}

/// Labels the nodes of graphs. `scores` has items, nodes and labels; `edges` and `costs` are those of all
/// items or of each.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "called from one place, by name")]
pub(crate) fn decode_potts<'py>(
    py: Python<'py>,
    scores: Numbers<'py>,
    edges: Whole<'py>,
    edge_count: usize,
    costs: Numbers<'py>,
    inference: &str,
    lengths: Option<Whole<'py>>,
    truth: Option<Whole<'py>>,
    loss: Option<Numbers<'py>>,
    is_share: bool,
    threads: usize,
    is_batch: bool,
) -> PyResult<Answers<'py>> {
    let [items, nodes, labels] = scores.sizes()?;
    let edges = Some(edges);
    let graphs = Graphs {
        scores: scores.view()?,
        nodes,
        labels,
        lengths: whole_of(&lengths)?,
        edges: Edges::new(whole_of(&edges)?.unwrap_or_default(), edge_count, items),
        costs: Shared::new(costs.view()?, edge_count, items)?,
        inference: inference.parse().map_err(value_error)?,
        loss: loss_of(whole_of(&truth)?, view_of(&loss)?, is_share)?,
    };
    let work = 100 * nodes * labels;
    let naming = Naming { is_batch };
    let batch = Batch { items, answers: 1, width: nodes, work, threads, naming };
    batch.run(py, Scratch::default, |scratch, item| graphs.decode(item, scratch))
}

impl Graphs<'_> {
    fn decode(&self, item: usize, memory: &mut Scratch) -> Result<Found, String> {
        let nodes = self.lengths.map_or(self.nodes, |lengths| lengths[item] as usize);
        let k = self.labels;
        let Scratch { scores: own, augmented, costs, own_costs, edges, decoder, labels } = memory;
        let from = item * self.nodes;
        let mut scores = self.scores.read(from * k, nodes * k, own);
        check(scores, Allowed::Finite, |at| {
            format!("the score of label {} at node {}", at % k, at / k)
        })?;
        if let Some(loss) = &self.loss {
            augmented.clear();
            augmented.extend_from_slice(scores);
            loss.add(from, k, augmented)?;
            scores = augmented;
        }
        let all_costs = self.costs.read(item, costs);
        let is_known = self.edges.are_shared() && self.lengths.is_none() && decoder.is_some();
        if !is_known {
            self.edges.of(item, self.nodes, nodes, edges)?;
            let pairs = edges.iter().map(|&(_, a, b)| (a, b)).collect();
            *decoder = Some(PottsDecoder::new(nodes, k, pairs));
        }
        own_costs.clear();
        own_costs.extend(edges.iter().map(|&(e, _, _)| all_costs[e]));
        check(own_costs, Allowed::Finite, |at| format!("the cost of edge {}", edges[at].0))?;
        let Some(decoder) = decoder else { return Err("there is no graph".to_owned()) };
        let found = decoder.decode(self.inference, scores, own_costs, labels);
        let (score, bound) = found.map_err(|error| error.to_string())?;
        Ok(Found::one(labels.iter().map(|&label| label.into()), score, bound))
    }
}
