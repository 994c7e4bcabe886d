//! The steps of a block, one kind after another (Algorithms 3 and 4 of Osokin et al.).

use super::{Atom, Dense, TIE, at_least, largest};
use crate::common::{minus, norm_sq};
use maxmargin::Direction;

/// Masses below this have lost so many digits that steps made of them cannot be compared.
const LEAST_MASS: f64 = 1e-5;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Towards,
    Pairwise,
    Away,
}

struct Plan {
    gain: f64,
    gamma: f64,
    longest: f64,
    masses: Vec<f64>,
}

impl Dense<'_> {
    /// Moves the block as the direction says.
    pub(super) fn move_block(&mut self, i: usize) -> Option<()> {
        match self.recipe.direction {
            Direction::FrankWolfe => self.step(i, Kind::Towards),
            Direction::Pairwise => self.step(i, Kind::Pairwise),
            Direction::Away => {
                let w = self.weights();
                let values = self.values(i, &w);
                let (best, worst) = (largest(&values)?, self.worst(i, &values)?);
                let own: f64 = self.blocks[i].iter().zip(&values).map(|(a, v)| a.mass * v).sum();
                let is_corner = self.blocks[i][worst].mass > 1.0 - 1e-8;
                let away = !is_corner && at_least(own - values[worst], values[best] - own)?;
                self.step(i, if away { Kind::Away } else { Kind::Towards })
            }
            Direction::Best => {
                let kinds = [Kind::Towards, Kind::Pairwise, Kind::Away];
                let plans: Option<Vec<_>> = kinds.iter().map(|&kind| self.plan(i, kind)).collect();
                let plans = plans?;
                let gains: Vec<f64> = plans.iter().map(|plan| plan.gain).collect();
                if gains.iter().all(|gain| *gain == gains[0]) {
                    return self.step(i, Kind::Towards); // there is one way to go, or none
                }
                // The gains of steps that go to the same point are equal.
                let best = gains.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let tied: Vec<usize> =
                    (0..3).filter(|&at| gains[at] >= best - TIE * (1.0 + best)).collect();
                let same = |at: usize| {
                    let (a, b) = (&plans[tied[0]].masses, &plans[at].masses);
                    a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12)
                };
                tied.iter().all(|&at| same(at)).then_some(())?;
                self.step(i, kinds[tied[0]])
            }
            other => panic!("the reference knows nothing of direction {other}"),
        }
    }

    /// The worst corner with mass.
    fn worst(&self, i: usize, values: &[f64]) -> Option<usize> {
        let of = |(atom, value): (&Atom, &f64)| if atom.mass > 0.0 { -value } else { f64::MIN };
        largest(&self.blocks[i].iter().zip(values).map(of).collect::<Vec<_>>())
    }

    /// The masses after a step of one kind (Alg. 3 and 4), and what it gains.
    fn plan(&self, i: usize, kind: Kind) -> Option<Plan> {
        let w = self.weights();
        let values = self.values(i, &w);
        let (to, from) = (largest(&values)?, self.worst(i, &values)?);
        let atoms = &self.blocks[i];
        let (masses, point) = (atoms.iter().map(|a| a.mass).collect::<Vec<_>>(), self.point(i));
        let own: f64 = masses.iter().zip(&values).map(|(mass, value)| mass * value).sum();
        let mass = masses[from];
        let still = Some(Plan { gain: 0.0, gamma: 0.0, longest: 0.0, masses: masses.clone() });
        let (way, slope, longest) = match kind {
            Kind::Towards => (minus(&atoms[to].psi, &point.psi), values[to] - own, 1.0),
            Kind::Pairwise => {
                (minus(&atoms[to].psi, &atoms[from].psi), values[to] - values[from], mass)
            }
            // From a corner nothing leads away.
            Kind::Away if mass > 1.0 - 1e-8 => return still,
            Kind::Away => {
                (minus(&point.psi, &atoms[from].psi), own - values[from], mass / (1.0 - mass))
            }
        };
        let share = self.problem.share(i);
        let (slope, curvature) =
            (share * slope, share * share / self.recipe.lambda * norm_sq(&way));
        if slope <= 0.0 {
            return still;
        }
        let gamma = if curvature > 0.0 { (slope / curvature).min(longest) } else { longest };
        let is_longest = gamma == longest;
        let mut after = masses;
        match kind {
            Kind::Towards => {
                after.iter_mut().for_each(|mass| *mass *= 1.0 - gamma);
                after[to] += gamma;
            }
            Kind::Pairwise => {
                after[to] += gamma;
                after[from] -= gamma;
            }
            Kind::Away => {
                after.iter_mut().for_each(|mass| *mass *= 1.0 + gamma);
                after[from] -= gamma;
                if is_longest {
                    after[from] = 0.0;
                }
            }
        }
        let gain = gamma * slope - 0.5 * gamma * gamma * curvature;
        Some(Plan { gain, gamma, longest, masses: after })
    }

    fn step(&mut self, i: usize, kind: Kind) -> Option<()> {
        let plan = self.plan(i, kind)?;
        // A tiny mass decides which corners count from here on, and its rounding errors are not tiny.
        let nearly = plan.masses.iter().any(|mass| *mass > 0.0 && *mass < LEAST_MASS);
        if nearly {
            return None;
        }
        let is_drop = kind != Kind::Towards && plan.gamma > 0.0 && plan.gamma == plan.longest;
        self.drops += u64::from(is_drop);
        let sum: f64 = plan.masses.iter().sum();
        assert!((sum - 1.0).abs() < 1e-9);
        for (atom, mass) in self.blocks[i].iter_mut().zip(plan.masses) {
            assert!(mass >= 0.0);
            atom.mass = mass;
        }
        Some(())
    }

    /// g^PFW = Σᵢ cᵢ/C·(max Hᵢ − min Hᵢ over the corners with mass), and what a pairwise step gains in all blocks
    /// together, each from here; nothing if one of them would drop a corner, or at a tie.
    pub fn pairwise_outlook(&self) -> (f64, Option<f64>) {
        let w = self.weights();
        let (mut gap, mut gains) = (0.0, Some(0.0));
        for i in 0..self.blocks.len() {
            let mut block = self.clone();
            let corners = &self.problem.blocks[i].corners;
            for (psi, loss) in corners {
                if !block.blocks[i].iter().any(|atom| atom.psi == *psi && atom.loss == *loss) {
                    block.blocks[i].push(Atom { psi: psi.clone(), loss: *loss, mass: 0.0 });
                }
            }
            let values = block.values(i, &w);
            let best = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let with_mass = block.blocks[i].iter().zip(&values).filter(|(atom, _)| atom.mass > 0.0);
            let worst = with_mass.map(|(_, value)| *value).fold(f64::INFINITY, f64::min);
            gap += self.problem.share(i) * (best - worst);
            gains = match block.plan(i, Kind::Pairwise) {
                Some(plan) if plan.gamma < plan.longest || plan.gamma == 0.0 => {
                    gains.map(|gains| gains + plan.gain)
                }
                _ => None,
            };
        }
        (gap, gains)
    }
}
