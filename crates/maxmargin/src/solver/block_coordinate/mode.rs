//! What a visit does with its block.

use super::BlockCoordinate;
use super::active_set::ActiveSets;
use super::corner_cache::Cache;
use super::joint_cg::JointCg;
use super::order::Picker;
use super::staged::PlainStage;
use crate::dual::{Corner, Stride};
use crate::problem::Blocks;
use crate::problem::bounds::bounds_in_force;
use crate::run::Run;
use crate::run::fits::{Fits as _, Fitting};
use crate::settings::{Caching, Direction, Order};

/// A step to the best point of a block that is this close to 1 goes all the way, up to rounding.
const ALL_THE_WAY: f64 = 1.0 - 1e-9;

/// What a visit does with its block.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) enum Mode {
    /// Calls the oracle and steps towards its corner.
    Plain,
    /// The first stage of the direction `staged`: as `Plain`, while the active sets wait for the second.
    Staged { stage: PlainStage, sets: ActiveSets },
    /// Steps between the corners that the block remembers, and calls the oracle if these promise little.
    Remembering(ActiveSets),
    /// Goes straight to the best point of a block that is a simplex. Without bounds on weights, all
    /// blocks also move together after each sweep.
    Simplices(Option<JointCg>),
}

impl Mode {
    /// The mode in which a run begins.
    pub(super) fn new(run: &Run<'_, '_>) -> Self {
        let (s, n, problem) = (&run.settings, run.examples(), run.problem);
        let corrects = matches!(s.direction, Direction::Corrective | Direction::Staged);
        let knows_optima = corrects && s.cache == Caching::Off && problem.simplices().is_some();
        let remembers = s.direction != Direction::FrankWolfe || s.cache != Caching::Off;
        // A warm start has its plain steps behind it.
        let from_zero = run.state.norm_sq == 0.0;
        if knows_optima {
            // With bounds the dual is not a quadratic any more.
            Self::Simplices(bounds_in_force(problem).is_none().then(JointCg::default))
        } else if s.direction == Direction::Staged && from_zero {
            let sets = ActiveSets::waiting(problem, &run.state.blocks, cache(run));
            Self::Staged { stage: PlainStage::new(n), sets }
        } else if remembers {
            Self::Remembering(ActiveSets::new(problem, &run.state.blocks, cache(run)))
        } else {
            Self::Plain
        }
    }

    /// The order of visits. The first stage of the direction `staged` has its own.
    pub(super) fn order(&self, asked: Order) -> Order {
        if matches!(self, Self::Staged { .. }) { Order::Permutation } else { asked }
    }

    /// Whether the state of a checkpoint can belong to a run.
    pub(super) fn fits(&self, to: &Fitting<'_>) -> bool {
        match self {
            Self::Plain => true,
            Self::Staged { stage, sets } => stage.fits(to) && sets.fits_or_waits(to),
            Self::Remembering(sets) => sets.fits(to),
            Self::Simplices(joint) => {
                let is_free = bounds_in_force(to.problem).is_none();
                to.problem.simplices().is_some()
                    && joint.as_ref().is_none_or(|joint| is_free && joint.fits(to))
            }
        }
    }

    /// The active sets, if blocks remember corners or will do so in the second stage.
    pub(super) fn sets(&mut self) -> Option<&mut ActiveSets> {
        match self {
            Self::Remembering(sets) | Self::Staged { sets, .. } => Some(sets),
            Self::Plain | Self::Simplices(_) => None,
        }
    }

    /// The first stage of the direction `staged` keeps the gap that a plain visit has found.
    pub(super) fn note_gap(&mut self, run: &mut Run<'_, '_>, i: usize, gap: f64) {
        if let Self::Staged { stage, sets } = self {
            stage.note(i, gap);
            sets.cache.stats.misses += 1;
            run.totals.cache = Some(sets.cache.stats);
        }
    }

    /// It keeps how much each block has left of its starting point, too, as plain visits step towards corners.
    pub(super) fn note_step(
        &mut self,
        problem: &dyn Blocks,
        i: usize,
        Corner { parts, loss }: &Corner,
        gamma: f64,
    ) {
        if let Self::Staged { stage, sets } = self {
            // Runs usually begin at the truth, so corners with a loss need no comparison.
            let is_first = *loss == 0.0 && sets.is_first(problem, i, parts, *loss);
            stage.follow(i, gamma, is_first);
        }
    }

    /// The step to be taken: one that almost reaches the best point of a simplex reaches it.
    #[inline]
    pub(super) fn rounded(&self, stride: Stride) -> Stride {
        match self {
            Self::Simplices(_) if stride.gamma > ALL_THE_WAY => Stride { gamma: 1.0, ..stride },
            _ => stride,
        }
    }
}

/// The cache of a run. It knows the block gaps already if the run has them from elsewhere.
fn cache(run: &Run<'_, '_>) -> Cache {
    let mut cache = Cache::new(&run.settings, run.examples());
    if let Some(gaps) = &run.block_gaps {
        cache.note_exact(gaps.iter().copied());
    }
    cache
}

impl BlockCoordinate {
    /// Ends the first stage of the direction `staged`, if it is still under way.
    pub(super) fn switch_to_corrective(&mut self, run: &Run<'_, '_>) {
        self.mode = match std::mem::replace(&mut self.mode, Mode::Plain) {
            Mode::Staged { stage, mut sets } => {
                sets.start_from(run.problem, &run.state.blocks, stage.left());
                let gaps = || stage.gaps().iter().copied();
                sets.cache.note_exact(gaps());
                let s = &run.settings;
                self.picker = Picker::new(s.order, run.examples(), s.gap_power);
                self.picker.refresh(gaps());
                Mode::Remembering(sets)
            }
            other => other,
        };
    }

    /// Prefetches the next block, if the order knows it.
    pub(super) fn prefetch_next(&self, run: &Run<'_, '_>) {
        let Some(next) = self.picker.peek() else { return };
        match &self.mode {
            Mode::Remembering(sets) => sets.prefetch(run.problem, next),
            _ => run.state.prefetch(next),
        }
    }
}
