//! Whether the state of a method, as a checkpoint has saved it, fits the problem.
//!
//! A check sum reveals damage, but someone who changes a checkpoint on purpose can correct its sum. So every number
//! that leads to a place in memory is checked once, when a run is resumed, and every remembered corner has to be a
//! point of its block. A state that passes may still differ from the one that the run has saved, but the run
//! continues without a panic, and its certificate is about a feasible point.

use super::Run;
use crate::certificate::is_point;
use crate::dual::Block;
use crate::problem::{Blocks, SparseVec};

/// No run can count further than this.
const MOST_COUNTED: u64 = 1 << 60;

/// A state of a method that can be held against a run.
pub(crate) trait Fits {
    /// Whether all its numbers are about places, blocks and weights that exist.
    fn fits(&self, to: &Fitting<'_>) -> bool;
}

/// What a state has to fit.
pub(crate) struct Fitting<'a> {
    pub(crate) problem: &'a dyn Blocks,
    /// Number of blocks and of weights.
    pub(crate) n: usize,
    pub(crate) dim: usize,
    /// Passes and visits that were made.
    pub(crate) passes: u64,
    pub(crate) visits: u64,
}

impl<'a> Fitting<'a> {
    pub(crate) fn of(run: &'a Run<'_, '_>) -> Self {
        let problem = run.problem;
        let (n, dim) = (problem.examples(), problem.dim());
        Self { problem, n, dim, passes: run.totals.passes, visits: run.totals.visits }
    }

    /// Whether there is one finite number for each weight.
    pub(crate) fn are_weights(&self, weights: &[f64]) -> bool {
        weights.len() == self.dim && weights.iter().all(|w| w.is_finite())
    }

    /// Whether there is one value for each block.
    pub(crate) fn are_of_blocks<T>(&self, values: &[T]) -> bool {
        values.len() == self.n
    }

    /// Whether there is a point for each block.
    pub(crate) fn are_points(&self, blocks: &[Block]) -> bool {
        self.are_of_blocks(blocks) && (0..).zip(blocks).all(|(i, block)| self.is_point(i, block))
    }

    /// Whether this is a point of block `i`.
    pub(crate) fn is_point(&self, i: usize, block: &Block) -> bool {
        is_point(self.problem, i, block)
    }

    /// Whether these are the parts of a point of block `i`, relative to the truth, and its loss.
    pub(crate) fn is_relative_point(&self, i: usize, parts: &SparseVec, loss: f64) -> bool {
        if !parts.is_normalised() || !parts.is_finite() {
            return false;
        }
        let mut point = SparseVec::new();
        self.problem.truth_parts(i, &mut point);
        point.add_scaled(1.0, parts);
        is_point(self.problem, i, &Block { parts: point.into(), loss })
    }
}

/// Whether a run can have counted this far.
pub(crate) fn is_count(count: u64) -> bool {
    count < MOST_COUNTED
}
