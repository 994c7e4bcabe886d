//! A dense vector of which few entries are in use.

use crate::problem::sparse::Sink;

/// A sum of sparse terms, with a list of its features in the order in which they were first touched.
#[derive(Debug, Clone, Default)]
pub struct SparseAccumulator {
    pub(crate) change: Vec<f64>,
    is_touched: Vec<bool>,
    pub(crate) touched: Vec<usize>,
}

impl SparseAccumulator {
    pub(crate) fn new(dim: usize) -> Self {
        Self { change: vec![0.0; dim], is_touched: vec![false; dim], touched: Vec::new() }
    }

    /// Forgets all terms.
    pub(crate) fn clear(&mut self) {
        for feature in self.touched.drain(..) {
            self.change[feature] = 0.0;
            self.is_touched[feature] = false;
        }
    }

    /// The squared length.
    pub(crate) fn norm_sq(&self) -> f64 {
        self.touched.iter().map(|&feature| self.change[feature] * self.change[feature]).sum()
    }
}

impl Sink for SparseAccumulator {
    #[inline]
    fn add(&mut self, feature: usize, value: f64) {
        if !self.is_touched[feature] {
            self.is_touched[feature] = true;
            self.touched.push(feature);
        }
        self.change[feature] += value;
    }
}
