//! What decoding a labelled graph gives: labels, or a fractional corner of a relaxation.

use super::search::Task;
use crate::inference::topology::argmax;
use crate::problem::sparse::SparseVec;

/// Labels for the nodes of a graph, or a fractional corner of the relaxation.
///
/// ```
/// use maxmargin::model::potts::NodeLabels;
///
/// let whole = NodeLabels::from(vec![1, 0, 2]);
/// assert!(!whole.is_fractional());
/// assert_eq!(whole.labels, [1, 0, 2]);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NodeLabels {
    /// A label for each node; of a fractional corner, what it is rounded to.
    pub labels: Vec<u32>,
    /// Of a fractional corner, the masses of labels, with label y of node v at v·K + y, and behind
    /// them the mass with which the ends of each edge disagree; empty if all mass is on `labels`.
    pub masses: SparseVec,
}

impl From<Vec<u32>> for NodeLabels {
    fn from(labels: Vec<u32>) -> Self {
        Self { labels, masses: SparseVec::new() }
    }
}

impl NodeLabels {
    /// Whether it is a corner that is no labelling.
    ///
    /// ```
    /// assert!(!maxmargin::model::potts::NodeLabels::default().is_fractional());
    /// ```
    pub fn is_fractional(&self) -> bool {
        !self.masses.is_empty()
    }

    /// Becomes what has these masses of labels, one row per node, and disagreements that are best
    /// for the costs of edges.
    pub(super) fn assign(&mut self, task: Task<'_>, masses: &[f64]) {
        let k = task.labels;
        self.masses.clear();
        self.labels.clear();
        self.labels.extend(masses.chunks_exact(k).map(|row| argmax(row).0 as u32));
        if masses.iter().all(|&mass| mass == 0.0 || mass == 1.0) {
            return;
        }
        for (at, &mass) in masses.iter().enumerate().filter(|(_, mass)| **mass > 0.0) {
            self.masses.push(at as u64, mass);
        }
        for (e, (&(a, b), &cost)) in task.edges.iter().zip(task.costs).enumerate() {
            let row = |v: u32| &masses[v as usize * k..][..k];
            let (least, most) = disagreement(row(a), row(b));
            let mass = if cost < 0.0 { most } else { least };
            if mass > 0.0 {
                self.masses.push((masses.len() + e) as u64, mass);
            }
        }
    }
}

/// With how much mass two nodes that have these masses of labels disagree at least, and at most: they
/// must where their masses differ, and cannot where one label has more than half of both.
pub(super) fn disagreement(a: &[f64], b: &[f64]) -> (f64, f64) {
    let pairs = || a.iter().zip(b);
    let least = 0.5 * pairs().map(|(x, y)| (x - y).abs()).sum::<f64>();
    let most = 1.0 - pairs().map(|(x, y)| (x + y - 1.0).max(0.0)).sum::<f64>();
    (least, most)
}
