//! What blocks remember, where all blocks go on in the directions of earlier passes.

use super::ActiveSets;
use crate::dual::Shares;
use crate::problem::sparse::SparseVec;
use crate::problem::sparse_accumulator::SparseAccumulator;
use crate::problem::{Blocks, Sink as _};
use crate::solver::block_coordinate::extrapolation::PastMasses;
use crate::solver::block_coordinate::joint_cg::LEAST_MASS;
use crate::solver::block_coordinate::simplex::project;

impl ActiveSets {
    /// The number of corners of block `i`.
    pub(in super::super) fn corners(&self, i: usize) -> usize {
        self.atoms[i].len()
    }

    /// The loss of all blocks together.
    pub(in super::super) fn loss(&self, shares: &Shares) -> f64 {
        shares.iter().zip(&self.atoms).map(|(share, atoms)| share * atoms.own_loss()).sum()
    }

    /// Makes the present masses the newest of the earlier ones.
    pub(in super::super) fn keep_masses(&mut self) {
        self.atoms.iter_mut().for_each(super::Atoms::keep_masses);
    }

    /// Finds the point of block `i` nearest to the one at which its masses would be if they went on by `shares` of the
    /// ways from earlier masses. Appends the changes of all masses to `ways`. Returns the change of the loss, or `None`
    /// if nothing changes.
    pub(in super::super) fn extrapolate(
        &self,
        i: usize,
        shares: &PastMasses,
        ways: &mut Vec<f64>,
        ends: &mut Vec<f64>,
    ) -> Option<f64> {
        let atoms = &self.atoms[i];
        let (masses, past) = (&atoms.masses, atoms.past());
        let start = ways.len();
        if past.is_empty() {
            ways.resize(start + masses.len(), 0.0);
            return None;
        }
        ways.extend(masses.iter().zip(past).map(|(mass, past)| {
            past.iter().zip(shares).map(|(past, share)| share * (mass - past)).sum::<f64>()
        }));
        let ways = &mut ways[start..];
        if ways.iter().all(|way| *way == 0.0) {
            return None;
        }
        // Corners without mass that would get less than none stay as they are.
        let stays = |mass: f64, way: f64| mass == 0.0 && way <= 0.0;
        ends.clear();
        let moving = masses.iter().zip(&*ways).filter(|(mass, way)| !stays(**mass, **way));
        ends.extend(moving.map(|(mass, way)| mass + way));
        project(ends);
        let mut ends = ends.iter();
        let mut loss = 0.0;
        for ((way, &mass), corner) in ways.iter_mut().zip(masses).zip(atoms.losses()) {
            *way = match stays(mass, *way) {
                true => 0.0,
                false => ends.next().map_or(0.0, |end| end - mass),
            };
            loss += *way * corner;
        }
        Some(loss)
    }

    /// Adds `scale` times the features of a change of masses of block `i` to `change`. The two vectors are scratch
    /// memory.
    pub(in super::super) fn spread(
        &self,
        problem: &dyn Blocks,
        i: usize,
        (scale, way): (f64, &[f64]),
        (parts, spare): (&mut SparseVec, &mut SparseVec),
        change: &mut SparseAccumulator,
    ) {
        let atoms = &self.atoms[i];
        let moves = way.iter().copied().enumerate().filter(|(_, way)| *way != 0.0);
        if atoms.has_features() {
            for (at, way) in moves {
                let features = atoms.features(at).iter().enumerate();
                features.for_each(|(feature, x)| change.add(feature, scale * way * x));
            }
        } else {
            atoms.write_change(moves, parts, spare);
            problem.scatter(i, scale, parts, change.into());
        }
    }

    /// Moves the masses of block `i` by `gamma` times `way`.
    pub(in super::super) fn move_masses(&mut self, i: usize, gamma: f64, way: &[f64]) {
        let atoms = &mut self.atoms[i];
        for (mass, way) in atoms.masses.iter_mut().zip(way) {
            *mass += gamma * way;
            if *mass <= LEAST_MASS {
                *mass = 0.0;
            }
        }
        atoms.normalise();
        self.stale[i] = true;
    }
}
