//! Local search: improves a labelling one variable at a time (iterated conditional modes).

use super::topology::Topology;

/// The largest number of sweeps over the variables.
const MOST_SWEEPS: usize = 100;

/// Improves labellings. It reuses its memory.
///
/// ```
/// use maxmargin::inference::algorithms::LocalSearch;
/// use maxmargin::inference::Topology;
///
/// let graph = Topology::new([2, 2], [[0, 1]])?;
/// let scores = [0.0, 1.0,  0.0, 0.0,  0.0, 0.0, 0.0, 3.0];
/// let mut labelling = vec![0, 0];
/// assert_eq!(LocalSearch::default().improve(&graph, &scores, &mut labelling), 4.0);
/// assert_eq!(labelling, [1, 1]);
/// # Ok::<(), maxmargin::inference::TopologyError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct LocalSearch {
    row: Vec<f64>,
}

impl LocalSearch {
    /// Gives variables better states, one after the other, until no single change improves the score.
    /// Returns the score of the result, which is never below that of the original labelling.
    ///
    /// # Panics
    /// If there are too few scores or states.
    pub fn improve(&mut self, graph: &Topology, scores: &[f64], labelling: &mut [u32]) -> f64 {
        for _ in 0..MOST_SWEEPS {
            let mut changed = false;
            for v in 0..graph.variables() {
                changed |= self.improve_one(graph, scores, v, labelling);
            }
            if !changed {
                break;
            }
        }
        graph.value(scores, labelling)
    }

    fn improve_one(&mut self, graph: &Topology, scores: &[f64], v: usize, y: &mut [u32]) -> bool {
        self.row.clear();
        self.row.extend_from_slice(&scores[graph.node(v)]);
        let now = y[v] as usize;
        for &link in graph.links(v) {
            graph.add_factor_values(link, scores, y, &mut self.row);
        }
        let mut best = now;
        for (state, value) in self.row.iter().enumerate() {
            if *value > self.row[best] {
                best = state;
            }
        }
        y[v] = best as u32;
        best != now
    }
}
