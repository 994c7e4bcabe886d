//! Visits to blocks that remember their corners: pairwise, away and corrective steps, and caching.

use crate::atoms::{Atoms, Ruler};
use crate::cache::{Cache, Size};
use crate::direction::Direction;
use crate::dual::{Ascent, Block, DualState};
use crate::problem::Problem;
use crate::sparse::SparseVec;
use crate::step::Step;
use serde::{Deserialize, Serialize};

/// In-block work goes on until the violation has fallen to this share of what it was at first;
/// going on to the end of one block pays less than going to the next. (On OCR, 0.02 takes as many
/// visits and more time, 0.3 more visits and as much time.)
const ENOUGH: f64 = 0.1;

/// Mass is moved at most this often in one visit.
const MOST_MOVES: usize = 10;

/// What all blocks remember.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Memory {
    atoms: Vec<Atoms>,
    /// What each block's atoms took when they were tidied last.
    sizes: Vec<Size>,
    /// Blocks of the state that are behind their atoms.
    stale: Vec<bool>,
    pub(crate) cache: Cache,
    /// The way a block has gone in a visit, and a place for differences.
    #[serde(skip)]
    way: SparseVec,
    #[serde(skip)]
    difference: SparseVec,
    #[serde(skip)]
    masses: Vec<f64>,
}

/// A block that is being visited: its workspace is prepared for it at the state's w.
pub(crate) struct Place<'a, 'p, P: Problem> {
    pub(crate) i: usize,
    pub(crate) state: &'a mut DualState<'p, P>,
    pub(crate) problem: &'a P,
    pub(crate) workspace: &'a mut P::Workspace,
}

/// What a visit has come to.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Outcome {
    /// Step size, and the longest that was possible.
    pub(crate) gamma: f64,
    pub(crate) longest: f64,
}

impl Memory {
    pub(crate) fn new(blocks: &[Block], mut cache: Cache) -> Self {
        let atoms: Vec<Atoms> = blocks.iter().map(Atoms::at).collect();
        let sizes: Vec<Size> = atoms.iter().map(Size::of).collect();
        sizes.iter().for_each(|&size| cache.note_size(Size::default(), size));
        Self {
            stale: vec![false; atoms.len()],
            sizes,
            atoms,
            cache,
            way: SparseVec::new(),
            difference: SparseVec::new(),
            masses: Vec::new(),
        }
    }

    /// Looks at block `i`, whose workspace is prepared: the gap of the best remembered corner.
    pub(crate) fn look<P: Problem>(
        &mut self,
        i: usize,
        state: &DualState<'_, P>,
        problem: &P,
        workspace: &P::Workspace,
    ) -> f64 {
        let atoms = &mut self.atoms[i];
        atoms.evaluate(problem, i, &state.w, workspace);
        let best = atoms.values[atoms.best()];
        state.shares.of(i) * (best - atoms.own_value())
    }

    /// Adds the oracle's corner to those of block `i`, after a [look](Self::look); its gap.
    pub(crate) fn add(
        &mut self,
        i: usize,
        parts: &SparseVec,
        loss: f64,
        value: f64,
        share: f64,
    ) -> f64 {
        let gap = share * (value - self.atoms[i].own_value());
        self.atoms[i].insert(parts, loss, value);
        gap
    }

    /// Moves block `i` towards its best corner, and w with it.
    pub(crate) fn step<P: Problem>(
        &mut self,
        at: Place<'_, '_, P>,
        direction: Direction,
        rule: (Step, u64),
    ) -> Option<Outcome> {
        match direction {
            Direction::Corrective => self.shift(at, MOST_MOVES),
            Direction::Pairwise => self.shift(at, 1),
            Direction::FrankWolfe | Direction::Away | Direction::Best => {
                self.refresh(at.i, &mut at.state.blocks[at.i]);
                self.one_of(at, direction, rule)
            }
        }
    }

    /// Shifts mass from the worst corner to the best, again and again while it pays.
    ///
    /// Moving γ from corner b to corner a changes the value of corner c by −γ·cᵢ/(λC)·½(D_cb − D_ca)
    /// and a constant, with D the squared distances: so all this needs no look at w.
    fn shift<P: Problem>(
        &mut self,
        Place { i, state, problem, workspace }: Place<'_, '_, P>,
        most: usize,
    ) -> Option<Outcome> {
        let rate = state.shares.of(i) / state.lambda;
        let atoms = &mut self.atoms[i];
        self.masses.clear();
        self.masses.extend_from_slice(&atoms.masses);
        let mut ruler = Ruler { problem, i, workspace, difference: &mut self.difference };
        let (mut enough, mut gain) = (0.0, 0.0);
        let mut outcome = None;
        for round in 0..most {
            let (to, from) = (atoms.best(), atoms.worst_active());
            let violation = atoms.values[to] - atoms.values[from];
            if !violation.is_finite() {
                return None;
            }
            if round == 0 {
                enough = ENOUGH * violation;
            }
            if violation <= enough.max(0.0) {
                break;
            }
            let curvature = rate * atoms.distance(to, from, &mut ruler);
            let longest = atoms.masses[from];
            let gamma = Step::LineSearch.size(violation, curvature, longest, 0, 1);
            if !curvature.is_finite() {
                return None;
            }
            if gamma == 0.0 {
                break;
            }
            atoms.masses[from] = if gamma == longest { 0.0 } else { longest - gamma };
            atoms.masses[to] += gamma;
            gain += Ascent { slope: violation, curvature }.gain(gamma);
            if round == 0 {
                outcome = Some(Outcome { gamma, longest });
            }
            if most > 1 {
                atoms.note_move(from, to, gamma, rate, &mut ruler);
            }
        }
        if outcome.is_some() {
            atoms.normalise();
            self.way.clear();
            for (at, (mass, old)) in atoms.masses.iter().zip(&self.masses).enumerate() {
                if mass != old {
                    self.way.add_scaled(mass - old, atoms.parts(at));
                }
            }
            state.follow(i, &self.way, state.shares.of(i) * gain);
            self.stale[i] = true;
        }
        Some(outcome.unwrap_or_default())
    }

    /// One Frank-Wolfe, away or pairwise step, whichever the direction allows and gains most.
    fn one_of<P: Problem>(
        &mut self,
        Place { i, state, problem, workspace }: Place<'_, '_, P>,
        direction: Direction,
        (rule, k): (Step, u64),
    ) -> Option<Outcome> {
        let (share, n) = (state.shares.of(i), state.blocks.len());
        let atoms = &mut self.atoms[i];
        let (to, from, own) = (atoms.best(), atoms.worst_active(), atoms.own_value());
        let (best, worst) = (atoms.values[to], atoms.values[from]);
        let mass = atoms.masses[from];
        // With all mass on one corner there is nowhere to go away to, and with nearly all of it the
        // way would be made of rounding errors.
        let can_leave = 1.0 - mass > 1e-8;
        let mut ruler = Ruler { problem, i, workspace, difference: &mut self.difference };

        let mut chosen: Option<(Kind, Ascent, f64, f64)> = None;
        for kind in [Kind::FrankWolfe, Kind::Pairwise, Kind::Away] {
            let (slope, longest) = match kind {
                Kind::FrankWolfe => (best - own, 1.0),
                Kind::Pairwise => (best - worst, mass),
                Kind::Away if can_leave => (own - worst, mass / (1.0 - mass)),
                Kind::Away => continue,
            };
            let eligible = match direction {
                Direction::Best => true,
                Direction::Away => match kind {
                    Kind::FrankWolfe => !can_leave || best - own > own - worst,
                    Kind::Away => best - own <= own - worst,
                    Kind::Pairwise => false,
                },
                _ => kind == Kind::FrankWolfe,
            };
            if !eligible {
                continue;
            }
            let length = match kind {
                Kind::Pairwise => atoms.distance(to, from, &mut ruler),
                Kind::FrankWolfe => {
                    ruler.difference.assign_difference(atoms.parts(to), &state.blocks[i].parts);
                    problem.norm_sq(i, ruler.workspace, ruler.difference)
                }
                Kind::Away => {
                    ruler.difference.assign_difference(atoms.parts(from), &state.blocks[i].parts);
                    problem.norm_sq(i, ruler.workspace, ruler.difference)
                }
            };
            let ascent =
                Ascent { slope: share * slope, curvature: share * share / state.lambda * length };
            if !ascent.is_finite() {
                return None;
            }
            let gamma = rule.size(ascent.slope, ascent.curvature, longest, k, n);
            if chosen.is_none_or(|(_, other, step, _)| ascent.gain(gamma) > other.gain(step)) {
                chosen = Some((kind, ascent, gamma, longest));
            }
        }
        let Some((kind, ascent, gamma, longest)) = chosen.filter(|c| c.2 > 0.0) else {
            return Some(Outcome::default());
        };
        let block = &state.blocks[i];
        match kind {
            Kind::FrankWolfe => self.way.assign_difference(atoms.parts(to), &block.parts),
            Kind::Pairwise => {
                self.way.assign_difference(atoms.parts(to), atoms.parts(from));
            }
            Kind::Away => {
                self.way.assign_difference(atoms.parts(from), &block.parts);
                self.way.scale(-1.0);
            }
        }
        self.way.scale(gamma);
        kind.move_masses(atoms, to, from, gamma, gamma == longest);
        state.follow(i, &self.way, ascent.gain(gamma));
        self.stale[i] = true;
        Some(Outcome { gamma, longest })
    }

    /// Brings a block of the state up to date with its atoms.
    pub(crate) fn refresh(&mut self, i: usize, block: &mut Block) {
        if std::mem::take(&mut self.stale[i]) {
            self.atoms[i].write_to(block);
        }
    }

    /// Brings all blocks of the state up to date.
    pub(crate) fn refresh_all(&mut self, blocks: &mut [Block]) {
        blocks.iter_mut().enumerate().for_each(|(i, block)| self.refresh(i, block));
    }

    /// Forgets what need not be remembered of block `i`.
    pub(crate) fn tidy(&mut self, i: usize) {
        self.cache.tidy(&mut self.atoms[i], self.sizes[i]);
        self.sizes[i] = Size::of(&self.atoms[i]);
    }
}

/// A kind of step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    FrankWolfe,
    Pairwise,
    Away,
}

impl Kind {
    /// Moves the masses by a step of size `gamma`; `all_the_way` makes what vanishes exactly zero.
    fn move_masses(self, atoms: &mut Atoms, to: usize, from: usize, gamma: f64, all_the_way: bool) {
        let masses = &mut atoms.masses;
        match self {
            Self::FrankWolfe => {
                masses.iter_mut().for_each(|mass| *mass *= 1.0 - gamma);
                masses[to] += gamma;
                if all_the_way {
                    masses.fill(0.0);
                    masses[to] = 1.0;
                }
            }
            Self::Pairwise => {
                masses[from] = if all_the_way { 0.0 } else { masses[from] - gamma };
                masses[to] += gamma;
            }
            Self::Away => {
                masses.iter_mut().for_each(|mass| *mass *= 1.0 + gamma);
                masses[from] = if all_the_way { 0.0 } else { masses[from] - gamma };
            }
        }
        atoms.normalise();
    }
}
