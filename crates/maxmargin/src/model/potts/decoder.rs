//! Labels for the nodes of a graph from scores, without features.

use super::check::refuse;
use super::inference::PottsInference;
use super::labels::NodeLabels;
use super::search::{Means, Network, Search, Task, topology};
use super::shape::PottsShape;
use crate::inference::lp::SimplexMethod;
use crate::inference::topology::Topology;
use crate::model::InputError;
use crate::problem::quality::Quality;

/// Labels the nodes of a graph by scores of labels and costs of edges whose ends disagree:
///
/// ```text
/// maximise  Σᵥ scores[v][yᵥ]  −  Σ_{(u,v)} [y_u ≠ y_v]·costs[(u,v)]
/// ```
///
/// It reuses its memory.
///
/// ```
/// use maxmargin::model::potts::{PottsDecoder, PottsInference};
///
/// // Three nodes in a row, two labels; the node in the middle would rather have label 0.
/// let mut decoder = PottsDecoder::new(3, 2, vec![(0, 1), (1, 2)]);
/// let scores = [0.0, 2.0,  0.5, 0.0,  0.0, 2.0];
/// let mut labels = Vec::new();
/// let (score, bound) = decoder.decode(PottsInference::Auto, &scores, &[1.0, 1.0], &mut labels)?;
/// assert_eq!((score, bound, &labels), (4.0, 4.0, &vec![1, 1, 1]));
/// decoder.decode(PottsInference::Auto, &scores, &[0.1, 0.1], &mut labels)?;
/// assert_eq!(labels, [1, 0, 1]);
/// # Ok::<(), maxmargin::model::InputError>(())
/// ```
#[derive(Debug)]
pub struct PottsDecoder {
    nodes: usize,
    labels: usize,
    edges: Vec<(u32, u32)>,
    /// The structure of the graph, once a method has needed it.
    structure: Option<Topology>,
    network: Network,
    search: Search,
    found: NodeLabels,
}

impl PottsDecoder {
    /// Creates a decoder for graphs with these numbers of nodes and labels, and these edges.
    ///
    /// # Panics
    /// If there are no labels, or an edge leads to itself or to a node that does not exist.
    pub fn new(nodes: usize, labels: usize, edges: Vec<(u32, u32)>) -> Self {
        assert!(labels > 0, "a graph needs at least one label");
        let exists = |&(a, b): &(u32, u32)| a != b && a.max(b) < nodes as u32;
        assert!(edges.iter().all(exists), "edges need two nodes that exist");
        let (network, search) = (Network::default(), Search::default());
        let (structure, found) = (None, NodeLabels::default());
        Self { nodes, labels, edges, structure, network, search, found }
    }

    /// Writes the best labels, or good ones, to `labels`. Returns their score, and a bound that no labels
    /// exceed: the score itself if the method is exact, the value of the relaxation if it solves one, and
    /// +∞ if it is a heuristic.
    ///
    /// # Errors
    /// If the costs or the number of labels do not allow the method.
    ///
    /// # Panics
    /// If the number of scores or costs is wrong, or if one of them is not finite.
    pub fn decode(
        &mut self,
        inference: PottsInference,
        scores: &[f64],
        costs: &[f64],
        labels: &mut Vec<u32>,
    ) -> Result<(f64, f64), InputError> {
        assert_eq!(scores.len(), self.nodes * self.labels, "one score for each node and label");
        assert_eq!(costs.len(), self.edges.len(), "one cost for each edge");
        let is_finite = scores.iter().chain(costs).all(|number| number.is_finite());
        assert!(is_finite, "scores and costs must be finite");
        let attracts = costs.iter().all(|cost| *cost >= 0.0);
        let shape = PottsShape::new(self.labels, 0, usize::from(!self.edges.is_empty()));
        let shape = if attracts { shape } else { shape.free() };
        let unsuitable = |why| refuse(inference, why);
        let way = inference.resolve(&shape).map_err(unsuitable)?;
        let by_cuts = matches!(way, PottsInference::MaxFlow | PottsInference::Expansion);
        if self.structure.is_none() && !by_cuts {
            self.structure = topology(self.nodes, self.labels, &self.edges);
        }
        let Self { edges, structure, network, search, found, .. } = self;
        let solver = &SimplexMethod;
        let means = Means { way, structure: structure.as_ref(), is_warm: false, solver };
        let task = Task { labels: self.labels, scores, edges, costs };
        let is_as_promised = search.run(means, task, network, found);
        let relaxed = found.is_fractional().then(|| task.relaxed_value(found));
        if relaxed.is_some() {
            search.round(means, task, network, found);
        }
        labels.clone_from(&found.labels);
        let score = task.value(labels);
        let bound = match way.quality(&shape) {
            Quality::Exact if is_as_promised => score,
            Quality::UpperBound if is_as_promised => {
                relaxed.map_or(score, |bound| bound.max(score))
            }
            _ => f64::INFINITY,
        };
        Ok((score, bound))
    }
}
