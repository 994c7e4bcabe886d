//! Kinds of steps between the corners of one block: Frank-Wolfe, pairwise and away (2016, Alg. 3 and 4).

use super::atoms::Atoms;
use crate::problem::sparse::SparseVec;
use crate::settings::Direction;

/// The best corner of a block and the worst one that carries mass, between which a step goes.
pub(super) struct Ends {
    pub(super) to: usize,
    pub(super) from: usize,
    /// The values of the best, the worst, and the block's own point.
    best: f64,
    worst: f64,
    own: f64,
    /// The mass of the worst.
    mass: f64,
}

impl Ends {
    pub(super) fn of(atoms: &Atoms) -> Self {
        let (to, from) = (atoms.best(), atoms.worst_active());
        let (best, worst) = (atoms.values[to], atoms.values[from]);
        Self { to, from, best, worst, own: atoms.own_value(), mass: atoms.masses[from] }
    }

    /// The kinds of steps that a direction allows here.
    pub(super) fn kinds(&self, direction: Direction) -> &'static [Kind] {
        // With all mass on one corner there is nothing to move away from, and with nearly all of it the
        // direction would be made of rounding errors.
        let can_leave = 1.0 - self.mass > 1e-8;
        let away_promises = can_leave && self.own - self.worst >= self.best - self.own;
        match direction {
            Direction::Best if can_leave => &[Kind::FrankWolfe, Kind::Pairwise, Kind::Away],
            Direction::Best => &[Kind::FrankWolfe, Kind::Pairwise],
            Direction::Away if away_promises => &[Kind::Away],
            _ => &[Kind::FrankWolfe],
        }
    }

    /// How fast the value of the block rises with a step, and the longest one.
    pub(super) fn slope_and_longest(&self, kind: Kind) -> (f64, f64) {
        let Self { best, worst, own, mass, .. } = *self;
        match kind {
            Kind::FrankWolfe => (best - own, 1.0),
            Kind::Pairwise => (best - worst, mass),
            Kind::Away => (own - worst, mass / (1.0 - mass)),
        }
    }
}

/// A kind of step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    FrankWolfe,
    Pairwise,
    Away,
}

impl Kind {
    /// Writes the change of a block's point, given relative to the truth, by a step of length 1.
    pub(super) fn write_way(
        self,
        way: &mut SparseVec,
        atoms: &Atoms,
        ends: &Ends,
        point: &SparseVec,
    ) {
        let (to, from) = (&atoms.parts()[ends.to], &atoms.parts()[ends.from]);
        match self {
            Self::FrankWolfe => way.assign_difference(to, point),
            Self::Pairwise => way.assign_difference(to, from),
            Self::Away => way.assign_difference(point, from),
        }
    }

    /// Writes the change of all masses by a step of length 1.
    pub(super) fn write_change(self, change: &mut Vec<f64>, masses: &[f64], ends: &Ends) {
        let sign = match self {
            Self::FrankWolfe => -1.0,
            Self::Pairwise => 0.0,
            Self::Away => 1.0,
        };
        change.clear();
        change.extend(masses.iter().map(|mass| sign * mass));
        if self != Self::Away {
            change[ends.to] += 1.0;
        }
        if self != Self::FrankWolfe {
            change[ends.from] -= 1.0;
        }
    }

    /// Moves the masses by a step of size `gamma`. After the longest step, vanishing masses are exactly
    /// zero.
    pub(super) fn move_masses(self, atoms: &mut Atoms, to: usize, from: usize, gamma: f64) {
        let masses = &mut atoms.masses;
        match self {
            Self::FrankWolfe if gamma == 1.0 => {
                masses.fill(0.0);
                masses[to] = 1.0;
            }
            Self::FrankWolfe => {
                masses.iter_mut().for_each(|mass| *mass *= 1.0 - gamma);
                masses[to] += gamma;
            }
            Self::Pairwise => {
                masses[from] -= gamma;
                masses[to] += gamma;
            }
            Self::Away => {
                let is_longest = gamma == masses[from] / (1.0 - masses[from]);
                masses.iter_mut().for_each(|mass| *mass *= 1.0 + gamma);
                masses[from] = if is_longest { 0.0 } else { masses[from] - gamma };
            }
        }
    }
}
