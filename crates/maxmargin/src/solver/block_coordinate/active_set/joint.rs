//! What blocks remember, as corners of joint steps.

use super::ActiveSets;
use crate::dual::Block;
use crate::problem::sparse::SparseVec;
use crate::problem::{Blocks, Worker};
use crate::solver::block_coordinate::atoms::Ruler;
use crate::solver::block_coordinate::average::Averager;
use crate::solver::block_coordinate::joint_cg::{Corners, LEAST_MASS};

/// What blocks remember, as corners of a joint step.
pub(crate) struct RememberedCorners<'a, 'p> {
    pub(crate) problem: &'p dyn Blocks,
    pub(crate) sets: &'a mut ActiveSets,
    pub(crate) worker: &'a mut dyn Worker,
    /// The average of iterates, and the visit in which blocks change.
    pub(crate) averager: Option<(&'a mut Averager, u64)>,
}

impl Corners for RememberedCorners<'_, '_> {
    fn list(&mut self, i: usize, _: &Block, numbers: &mut Vec<u32>, masses: &mut Vec<f64>) -> f64 {
        let atoms = &mut self.sets.atoms[i];
        let start = numbers.len();
        for (at, &mass) in atoms.masses.iter().enumerate().filter(|(_, mass)| **mass > 0.0) {
            numbers.push(at as u32);
            masses.push(mass);
        }
        // Half the mean squared distance from the first.
        let others = &numbers[start..];
        let [first, others @ ..] = others else { return 0.0 };
        let mut ruler =
            Ruler { i, worker: self.worker, difference: &mut self.sets.room.difference };
        let sum: f64 =
            others.iter().map(|&at| atoms.distance(at as usize, *first as usize, &mut ruler)).sum();
        0.5 * sum / others.len().max(1) as f64
    }

    fn score(&mut self, i: usize, w: &[f64], losses: bool, numbers: &[u32], scores: &mut Vec<f64>) {
        let atoms = &self.sets.atoms[i];
        atoms.prepare(i, w, self.worker);
        scores.extend(numbers.iter().map(|&at| {
            let score = atoms.score(at as usize, i, w, &*self.worker);
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
