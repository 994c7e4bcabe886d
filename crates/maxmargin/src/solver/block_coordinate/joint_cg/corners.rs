//! The corners between which joint steps move mass, and those of blocks that are simplices.

use crate::dual::Block;
use crate::problem::sparse::SparseVec;
use crate::problem::{Blocks, Simplices, Worker};
use crate::solver::block_coordinate::average::Averager;

/// The part of a truth that has no part.
const NO_PART: u32 = u32::MAX;

/// If a truth without a part has less mass than this, the mass is rounding.
const ROUNDING_MASS: f64 = 1e-12;

/// About how many additions the score of a row takes.
const COST_OF_ROW: usize = 32;

/// Less mass than this counts as 0: a corner at which a step has ended must not obstruct the next step.
pub(crate) const LEAST_MASS: f64 = 1e-15;

/// The corners of all blocks between which a joint step moves mass. They have numbers within their block.
pub(crate) trait Corners: Sync {
    /// Appends the corners of block `i` that carry mass, and their masses. Returns the squared length in feature space
    /// from which the curvature of the dual in each mass is computed.
    fn list(
        &mut self,
        i: usize,
        block: &Block,
        found: (&mut Vec<u32>, &mut Vec<f64>),
        worker: &mut dyn Worker,
    ) -> f64;

    /// About how many additions the score of a corner takes.
    fn cost(&self) -> usize;

    /// Appends the score at `w` of the corners of block `i` with these numbers, and with `losses` their loss
    /// as well.
    fn score(
        &self,
        i: usize,
        at: (&[f64], bool),
        numbers: &[u32],
        scores: &mut Vec<f64>,
        worker: &mut dyn Worker,
    );

    /// Adds `scale` times the features of a change of masses to `w`. `parts` is scratch memory.
    fn spread(
        &self,
        i: usize,
        scale: f64,
        changes: (&[u32], &[f64]),
        parts: &mut SparseVec,
        w: &mut [f64],
    );

    /// Gives the corners of block `i` with these numbers their new masses, and all others none.
    fn assign(
        &mut self,
        i: usize,
        block: &mut Block,
        numbers: &[u32],
        masses: impl Iterator<Item = f64>,
    );

    /// Lets the average take in block `i` before it changes.
    fn before_change(&mut self, i: usize, block: &mut Block);
}

/// Blocks that are simplices.
pub(crate) struct SimplexCorners<'a, 'p> {
    pub(crate) problem: &'p dyn Blocks,
    pub(crate) simplices: &'p dyn Simplices,
    /// The average of iterates, and the visit in which blocks change.
    pub(crate) averager: Option<(&'a mut Averager, u64)>,
    /// Scratch memory for a new point and its bytes.
    pub(crate) scratch: (SparseVec, Vec<u8>),
}

impl Corners for SimplexCorners<'_, '_> {
    fn list(
        &mut self,
        i: usize,
        block: &Block,
        (numbers, masses): (&mut Vec<u32>, &mut Vec<f64>),
        _: &mut dyn Worker,
    ) -> f64 {
        let mut rest = 1.0;
        let point = block.parts.read(&mut self.scratch.0);
        for &(part, mass) in point.entries().iter().filter(|(_, mass)| *mass > 0.0) {
            numbers.push(part as u32);
            masses.push(mass);
            rest -= mass;
        }
        if !self.simplices.truth_has_part() && rest > ROUNDING_MASS {
            numbers.push(NO_PART);
            masses.push(rest);
        }
        self.simplices.length_sq(i)
    }

    fn cost(&self) -> usize {
        COST_OF_ROW
    }

    fn score(
        &self,
        i: usize,
        (w, losses): (&[f64], bool),
        numbers: &[u32],
        scores: &mut Vec<f64>,
        _: &mut dyn Worker,
    ) {
        scores.extend(numbers.iter().map(|&part| match part {
            NO_PART => 0.0,
            _ if losses => {
                let part = u64::from(part);
                self.simplices.loss(i, part) + self.simplices.score(i, w, part)
            }
            _ => self.simplices.score(i, w, u64::from(part)),
        }));
    }

    fn spread(
        &self,
        i: usize,
        scale: f64,
        (numbers, changes): (&[u32], &[f64]),
        parts: &mut SparseVec,
        w: &mut [f64],
    ) {
        parts.clear();
        let changes = numbers.iter().zip(changes);
        for (&part, &change) in changes.filter(|(part, x)| **part != NO_PART && **x != 0.0) {
            parts.push(u64::from(part), change);
        }
        self.problem.scatter(i, scale, parts, w.into());
    }

    fn assign(
        &mut self,
        i: usize,
        block: &mut Block,
        numbers: &[u32],
        masses: impl Iterator<Item = f64>,
    ) {
        let Self { simplices, scratch, .. } = self;
        let Block { parts, loss } = block;
        *loss = 0.0;
        parts.rewrite(scratch, |point| {
            point.clear();
            for (&part, mass) in numbers.iter().zip(masses) {
                if part != NO_PART && mass > LEAST_MASS {
                    point.push(u64::from(part), mass);
                    *loss += mass * simplices.loss(i, u64::from(part));
                }
            }
        });
    }

    fn before_change(&mut self, i: usize, block: &mut Block) {
        if let Some((averager, k)) = &mut self.averager {
            averager.before_change(i, *k, block);
        }
    }
}
