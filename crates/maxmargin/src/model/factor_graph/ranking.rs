//! Enumeration of all labellings of small graphs.

use super::problem::FactorGraph;
use crate::inference::enumerate::Enumerate;
use crate::inference::labelling::Labelling;
use crate::problem::Parts as _;
use crate::problem::Problem;
use crate::problem::slack_rescaled::Enumerable;

impl FactorGraph {
    /// Returns the `n` best labellings of graph `i` with their scores, best first, by trying all
    /// labellings. Returns `None` if there are more than [`MOST_RANKED`](Self::MOST_RANKED).
    ///
    /// ```
    /// use maxmargin::inference::Inference;
    /// use maxmargin::model::factor_graph::{FactorGraph, Graphs, StateLoss};
    ///
    /// let mut data = Graphs::new();
    /// data.push_variable(3, 0)?;
    /// data.push_factor(0, &[0], [(0, 1.0)])?;
    /// data.end_graph(1.0)?;
    /// let graphs = FactorGraph::new(data.shape()?, data, StateLoss::default(), Inference::Auto)?;
    /// let best = graphs.n_best(0, &[0.5, 0.0, 2.0], 2).expect("there are three");
    /// assert_eq!(best, [(2.0, vec![2]), (0.5, vec![0])]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If there are too few weights.
    pub fn n_best(&self, i: usize, w: &[f64], n: usize) -> Option<Vec<(f64, Vec<u32>)>> {
        let topology = self.structure(i);
        topology.labellings(Self::MOST_RANKED)?;
        let mut workspace = self.workspace();
        self.prepare(i, w, &mut workspace);
        Some(Enumerate::default().n_best(topology, &workspace.scores, n))
    }

    /// The largest number of labellings of a graph that are ranked.
    pub const MOST_RANKED: usize = 1 << 20;

    /// Returns the first graph with too many labellings to try one by one, if there is one.
    ///
    /// ```
    /// use maxmargin::inference::Inference;
    /// use maxmargin::model::factor_graph::{FactorGraph, Graphs, StateLoss};
    ///
    /// let mut data = Graphs::new();
    /// (0..30).try_for_each(|_| data.push_variable(2, 0).map(|_| ()))?;
    /// data.end_graph(1.0)?;
    /// let graphs = FactorGraph::new(data.shape()?, data, StateLoss::default(), Inference::Auto)?;
    /// assert_eq!(graphs.too_large_to_rank(), Some(0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn too_large_to_rank(&self) -> Option<usize> {
        let is_too_large = |i: &usize| self.structure(*i).labellings(Self::MOST_RANKED).is_none();
        (0..self.examples()).find(is_too_large)
    }
}

/// Used for slack rescaling. All labellings are tried, so there must be few.
impl Enumerable for FactorGraph {
    /// # Panics
    /// If there are more than [`MOST_RANKED`](Self::MOST_RANKED) labellings.
    fn for_each_output(&self, i: usize, visit: &mut dyn FnMut(&Labelling)) {
        let topology = self.structure(i);
        let count = topology.labellings(Self::MOST_RANKED).expect("so many cannot be tried out");
        let mut y = Labelling::from(vec![0; topology.variables()]);
        for _ in 0..count {
            visit(&y);
            // The last variable changes fastest.
            for v in (0..topology.variables()).rev() {
                y.states[v] += 1;
                if (y.states[v] as usize) < topology.states(v) {
                    break;
                }
                y.states[v] = 0;
            }
        }
    }
}
