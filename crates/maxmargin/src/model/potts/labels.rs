//! The output of a labelled graph: labels, or a fractional corner of a relaxation.

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
    /// A label for each node. For a fractional corner, these are the labels after rounding.
    pub labels: Vec<u32>,
    /// The masses of a fractional corner: first those of labels, with label y of node v at v·K + y, then
    /// the mass with which the ends of each edge disagree. Empty if all mass is on `labels`.
    pub masses: SparseVec,
}

impl From<Vec<u32>> for NodeLabels {
    fn from(labels: Vec<u32>) -> Self {
        Self { labels, masses: SparseVec::new() }
    }
}

impl NodeLabels {
    /// Whether this is a fractional corner and not a labelling.
    ///
    /// ```
    /// assert!(!maxmargin::model::potts::NodeLabels::default().is_fractional());
    /// ```
    pub fn is_fractional(&self) -> bool {
        !self.masses.is_empty()
    }

    /// Assigns masses of labels, one row per node, with the disagreements that are best for the costs of
    /// edges.
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

/// The smallest and the largest mass with which two nodes with these masses of labels can disagree. They
/// must disagree as far as their masses differ, and they must agree as far as the two masses of a label
/// exceed 1 together.
pub(super) fn disagreement(a: &[f64], b: &[f64]) -> (f64, f64) {
    let pairs = || a.iter().zip(b);
    let least = 0.5 * pairs().map(|(x, y)| (x - y).abs()).sum::<f64>();
    let most = 1.0 - pairs().map(|(x, y)| (x + y - 1.0).max(0.0)).sum::<f64>();
    (least, most)
}
