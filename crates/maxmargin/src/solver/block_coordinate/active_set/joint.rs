//! What blocks remember, as corners of joint steps.

use super::ActiveSets;
use crate::dual::Block;
use crate::problem::sparse::SparseVec;
use crate::problem::{Blocks, Worker};
use crate::solver::block_coordinate::atoms::Ruler;
use crate::solver::block_coordinate::average::Averager;
use crate::solver::block_coordinate::joint_cg::{Corners, LEAST_MASS};

/// About how many additions it takes to score a corner whose features are not kept. The corner differs from the truth in a
/// few parts, each with some features far apart in memory.
pub(super) const COST_OF_PARTS: usize = 256;

/// What blocks remember, as corners of a joint step.
pub(crate) struct RememberedCorners<'a, 'p> {
    pub(crate) problem: &'p dyn Blocks,
    pub(crate) sets: &'a mut ActiveSets,
    /// The average of iterates, and the visit in which blocks change.
    pub(crate) averager: Option<(&'a mut Averager, u64)>,
}

impl Corners for RememberedCorners<'_, '_> {
    fn list(
        &mut self,
        i: usize,
        _: &Block,
        (numbers, masses): (&mut Vec<u32>, &mut Vec<f64>),
        worker: &mut dyn Worker,
    ) -> f64 {
        let atoms = &mut self.sets.atoms[i];
        let start = numbers.len();
        for (at, &mass) in atoms.masses.iter().enumerate().filter(|(_, mass)| **mass > 0.0) {
            numbers.push(at as u32);
            masses.push(mass);
        }
        // Half the mean squared distance from the first.
        let others = &numbers[start..];
        let [first, others @ ..] = others else { return 0.0 };
        let mut ruler = Ruler { i, worker, difference: &mut self.sets.room.difference };
        let sum: f64 =
            others.iter().map(|&at| atoms.distance(at as usize, *first as usize, &mut ruler)).sum();
        0.5 * sum / others.len().max(1) as f64
    }

    fn cost(&self) -> usize {
        match self.sets.atoms.first() {
            Some(atoms) if atoms.has_features() => atoms.width(),
            _ => COST_OF_PARTS,
        }
    }

    fn score(
        &self,
        i: usize,
        (w, losses): (&[f64], bool),
        numbers: &[u32],
        scores: &mut Vec<f64>,
        worker: &mut dyn Worker,
    ) {
        let atoms = &self.sets.atoms[i];
        atoms.prepare(i, w, worker);
        scores.extend(numbers.iter().map(|&at| {
            let score = atoms.score(at as usize, i, w, worker);
            if losses { atoms.losses()[at as usize] + score } else { score }
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
        let atoms = &self.sets.atoms[i];
        let changes = numbers.iter().zip(changes).filter(|(_, change)| **change != 0.0);
        if atoms.has_features() {
            for (&at, change) in changes {
                let features = atoms.features(at as usize);
                w.iter_mut().zip(features).for_each(|(w, x)| *w += scale * change * x);
            }
        } else {
            parts.clear();
            changes
                .for_each(|(&at, &change)| parts.add_scaled(change, &atoms.parts()[at as usize]));
            self.problem.scatter(i, scale, parts, w.into());
        }
    }

    fn assign(
        &mut self,
        i: usize,
        _: &mut Block,
        numbers: &[u32],
        masses: impl Iterator<Item = f64>,
    ) {
        let atoms = &mut self.sets.atoms[i];
        for (&at, mass) in numbers.iter().zip(masses) {
            atoms.masses[at as usize] = if mass > LEAST_MASS { mass } else { 0.0 };
        }
        atoms.normalise();
        self.sets.stale[i] = true;
    }

    fn before_change(&mut self, i: usize, block: &mut Block) {
        if let Some((averager, k)) = &mut self.averager {
            self.sets.refresh(self.problem, i, block);
            averager.before_change(i, *k, block);
        }
    }
}
