//! Scratch memory for work on one block, and corners that are added to it.

use crate::dual::Block;
use crate::problem::Blocks;
use crate::problem::sparse::SparseVec;
use crate::solver::block_coordinate::atoms::Atoms;
use crate::util::rounding::ROUNDING;

/// Scratch memory for work on one block.
#[derive(Debug, Clone, Default)]
pub(crate) struct Room {
    /// The way a block has gone in a visit, and differences.
    pub(crate) way: SparseVec,
    pub(crate) difference: SparseVec,
    /// The parts of a truth, and a point relative to it.
    truth: SparseVec,
    pub(crate) relative: SparseVec,
    /// The point of a block, and its bytes.
    point: SparseVec,
    bytes: Vec<u8>,
    /// The masses and the values before a step.
    pub(crate) masses: Vec<f64>,
    pub(crate) values: Vec<f64>,
}

impl Room {
    /// A point of block `i` relative to the truth.
    pub(crate) fn relate(
        &mut self,
        problem: &dyn Blocks,
        i: usize,
        parts: &SparseVec,
    ) -> &SparseVec {
        self.truth.clear();
        problem.truth_parts(i, &mut self.truth);
        self.relative.assign_difference(parts, &self.truth);
        &self.relative
    }

    /// Writes the point of block `i` that its atoms make up.
    pub(crate) fn write_point(
        &mut self,
        problem: &dyn Blocks,
        i: usize,
        atoms: &Atoms,
        block: &mut Block,
    ) {
        self.truth.clear();
        problem.truth_parts(i, &mut self.truth);
        self.truth.scale(-1.0);
        block.loss = atoms.write_to(&mut self.point, &self.truth, &mut self.relative);
        block.parts.pack(&self.point, &mut self.bytes);
    }

    /// Adds a corner of block `i` to its atoms, whose values are known. `score` computes the score of its
    /// parts relative to the truth.
    pub(crate) fn add(
        &mut self,
        problem: &dyn Blocks,
        (i, atoms): (usize, &mut Atoms),
        corner: (&SparseVec, f64),
        score: impl FnOnce(&SparseVec) -> f64,
    ) -> Added {
        let (parts, loss) = corner;
        let score = score(self.relate(problem, i, parts));
        let value = loss + score;
        let ahead = value - atoms.own_value();
        atoms.insert((problem, i), &self.relative, loss, value);
        Added { ahead, value, rounding: ROUNDING * (1.0 + loss + score.abs()) }
    }
}

/// What is known of a corner that was added to a block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Added {
    /// How far its value is above that of the block's own point. Times the block's share, this is its
    /// gap.
    pub(crate) ahead: f64,
    /// Its value, which is 0 for the truth.
    pub(crate) value: f64,
    /// How much of either number may be rounding.
    pub(crate) rounding: f64,
}
