//! The output of a factor graph: a labelling, or a fractional corner of a relaxation.

use super::topology::{Topology, argmax};
use crate::problem::sparse::SparseVec;

/// A labelling of a factor graph, or a fractional corner of its relaxation.
///
/// ```
/// use maxmargin::inference::Labelling;
///
/// let whole = Labelling::from(vec![1, 0, 2]);
/// assert!(!whole.is_fractional());
/// assert_eq!(whole.states, [1, 0, 2]);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Labelling {
    /// A state for each variable. For a fractional corner, these are the states after rounding.
    pub states: Vec<u32>,
    /// The masses of all states and joint states of a fractional corner, in the layout of a [`Topology`].
    /// Empty if all mass is on `states`.
    pub marginals: SparseVec,
}

impl From<Vec<u32>> for Labelling {
    fn from(states: Vec<u32>) -> Self {
        Self { states, marginals: SparseVec::new() }
    }
}

impl Labelling {
    /// Whether this is a fractional corner and not a labelling.
    ///
    /// ```
    /// assert!(!maxmargin::inference::Labelling::from(vec![0, 1]).is_fractional());
    /// ```
    pub fn is_fractional(&self) -> bool {
        !self.marginals.is_empty()
    }

    /// Appends the part vector: the masses, or 1 for each state and joint state.
    ///
    /// ```
    /// use maxmargin::SparseVec;
    /// use maxmargin::inference::{Labelling, Topology};
    ///
    /// let graph = Topology::new([2, 2], [[0, 1]])?;
    /// let mut parts = SparseVec::new();
    /// Labelling::from(vec![0, 1]).push_parts(&graph, &mut parts);
    /// assert_eq!(parts.entries(), [(0, 1.0), (3, 1.0), (5, 1.0)]);
    /// # Ok::<(), maxmargin::inference::TopologyError>(())
    /// ```
    ///
    /// # Panics
    /// If it has too few states for the graph.
    #[cfg(feature = "unstable")]
    pub fn push_parts(&self, graph: &Topology, parts: &mut SparseVec) {
        self.add_parts(graph, parts);
    }

    pub(crate) fn add_parts(&self, graph: &Topology, parts: &mut SparseVec) {
        if self.is_fractional() {
            self.marginals.entries().iter().for_each(|&(at, mass)| parts.push(at, mass));
        } else {
            graph.push_parts(&self.states, parts);
        }
    }

    /// Assigns the labelling in which every variable has its best state if factors are ignored.
    pub(crate) fn best_of_each(&mut self, graph: &Topology, scores: &[f64]) {
        self.marginals.clear();
        self.states.clear();
        let best = (0..graph.variables()).map(|v| argmax(&scores[graph.node(v)]).0 as u32);
        self.states.extend(best);
    }
}
