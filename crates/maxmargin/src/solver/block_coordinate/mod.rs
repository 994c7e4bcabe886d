//! Block-coordinate Frank-Wolfe: Algorithm 4 of Lacoste-Julien et al. (2013), with the orders, directions
//! and the cache of Osokin et al. (2016).
//!
//! A visit picks a block, finds a corner, aims at it, and steps as far as the dual rises. The order, the
//! direction, the step, the cache and the average are parts that know nothing of each other:
//!
//! | file | part |
//! |---|---|
//! | `mod.rs` | a pass, and plain visits |
//! | `aim.rs` | the way to the oracle's corner, and a guard against oracles that fail |
//! | `order.rs`, `sum_tree.rs` | which block comes next |
//! | `visit_remembering.rs`, `active_set.rs` (`steps.rs`), `kinds.rs`, `atoms.rs` | visits to blocks that remember corners; pairwise, away and corrective steps |
//! | `batches.rs`, `crew.rs` | several visits at once, on all threads |
//! | `accuracies.rs` | how much of the maximum a visit asks its oracle for |
//! | `corner_cache.rs` | when a remembered corner saves an oracle call |
//! | `memory_rounds.rs`, `exhaust.rs` | work on remembered corners between oracle calls, and corners of exact passes |
//! | `extrapolation/` | steps of all blocks together in the directions of earlier passes |
//! | `visit_long.rs` | blocks that are taken piece by piece |
//! | `visit_simplex.rs`, `simplex.rs` | blocks that are simplices |
//! | `joint_cg.rs` | steps that move all blocks together |
//! | `gap_steps.rs` | a batch step with every gap pass |
//! | `staged.rs`, `auto.rs` | the direction `staged` and the choice of `auto` |
//! | `average.rs` | averages of iterates |
//! | `moved.rs` | blocks that something else has moved |
//!
//! A step costs what it changes: w and D follow sparsely, and scores, lengths and updates never leave the
//! parts that a step moves.

mod accuracies;
pub(crate) mod active_set;
mod aim;
mod atoms;
mod auto;
pub(crate) mod average;
mod batches;
pub(crate) mod corner_cache;
mod crew;
pub(crate) mod exhaust;
mod extrapolation;
mod gap_steps;
mod joint_cg;
mod kinds;
mod memory_rounds;
mod moved;
pub(crate) mod order;
mod simplex;
mod staged;
mod sum_tree;
mod visit_long;
mod visit_remembering;
mod visit_simplex;

use crate::dual::{DualPoint, DualState, Pace, has_own_length};
use crate::error::TrainError;
use crate::observe::Status;
use crate::problem::bounds::bounds_in_force;
use crate::run::bytes::to_bytes;
use crate::run::drive::PassEnd;
use crate::run::fits::{Fits, Fitting};
use crate::run::session::{Checked, Method, restored};
use crate::run::{Check, Run};
use crate::settings::{Average, Caching, Direction, Order, Solver};
use crate::util::rng::Rng;
use accuracies::Accuracies;
use active_set::ActiveSets;
use aim::{aim_at_corner, note_curvature};
use average::Averager;
use batches::{Batches, MOST_OF_ROUND};
use corner_cache::Cache;
use gap_steps::GapSteps;
use joint_cg::JointCg;
use memory_rounds::MemoryRounds;
use order::Picker;
use staged::PlainStage;

/// Known gaps that sum to this share of the tolerance are worth an exact pass. They are a little out of
/// date, so they have to be smaller than the tolerance asks for.
const PROMISING_SHARE_OF_TOLERANCE: f64 = 0.8;

/// A step this close to 1 goes all the way, up to rounding.
const ALL_THE_WAY: f64 = 1.0 - 1e-9;

/// The state of the block-coordinate method from visit to visit.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct BlockCoordinate {
    picker: Picker,
    rng: Rng,
    averager: Option<Averager>,
    mode: Mode,
    batches: Batches,
    memory: MemoryRounds,
    accuracies: Accuracies,
    gap_steps: Option<GapSteps>,
}

/// What a visit does with its block.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Mode {
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

impl BlockCoordinate {
    pub(crate) fn new(run: &Run<'_, '_>) -> Self {
        // What visits do with their blocks.
        let (s, n, problem) = (&run.settings, run.examples(), run.problem);
        let corrects = matches!(s.direction, Direction::Corrective | Direction::Staged);
        let knows_optima = corrects && s.cache == Caching::Off && problem.simplices().is_some();
        let remembers = s.direction != Direction::FrankWolfe || s.cache != Caching::Off;
        // A warm start has its plain steps behind it.
        let from_zero = run.state.norm_sq == 0.0;
        let sets = |waits: bool| {
            let (cache, blocks) = (Cache::new(s, n), &run.state.blocks);
            let mut sets = match waits {
                true => ActiveSets::waiting(problem, blocks, cache),
                false => ActiveSets::new(problem, blocks, cache),
            };
            if let Some(gaps) = &run.block_gaps {
                sets.cache.note_exact(gaps.iter().copied());
            }
            sets
        };
        let mode = match () {
            () if knows_optima => {
                // With bounds the dual is not a quadratic any more.
                Mode::Simplices(bounds_in_force(problem).is_none().then(JointCg::default))
            }
            () if s.direction == Direction::Staged && from_zero => {
                Mode::Staged { stage: PlainStage::new(n), sets: sets(true) }
            }
            () if remembers => Mode::Remembering(sets(false)),
            () => Mode::Plain,
        };
        // The order. It knows the block gaps already if the run has them from elsewhere.
        let order = if matches!(mode, Mode::Staged { .. }) { Order::Permutation } else { s.order };
        let mut picker = Picker::new(order, n, s.gap_power);
        if let Some(gaps) = &run.block_gaps {
            picker.refresh(gaps.iter().copied());
        }
        let averager = (s.average != Average::None).then(|| Averager::new(n, s.average));
        let batches = Batches::new(s.batch_size(), has_own_length(problem));
        Self {
            picker,
            rng: Rng::new(s.seed),
            averager,
            mode,
            batches,
            memory: MemoryRounds::new(s, problem),
            accuracies: Accuracies::new(s, n),
            gap_steps: s.gap_steps.then(GapSteps::default),
        }
    }

    pub(crate) fn resume(run: &Run<'_, '_>, saved: &[u8]) -> Result<Self, TrainError> {
        restored(run, saved)
    }
}

impl Fits for BlockCoordinate {
    fn fits(&self, to: &Fitting<'_>) -> bool {
        let mode = match &self.mode {
            Mode::Plain => true,
            Mode::Staged { stage, sets } => stage.fits(to) && sets.fits_or_waits(to),
            Mode::Remembering(sets) => sets.fits(to),
            Mode::Simplices(joint) => {
                let is_free = bounds_in_force(to.problem).is_none();
                to.problem.simplices().is_some()
                    && joint.as_ref().is_none_or(|joint| is_free && joint.fits(to))
            }
        };
        let averager = self.averager.as_ref().is_none_or(|averager| averager.fits(to));
        mode && averager
            && self.picker.fits(to.n)
            && self.batches.fits(to)
            && self.memory.fits(to)
            && self.accuracies.fits(to)
    }
}

impl<'p> Method<'p> for BlockCoordinate {
    fn pass(&mut self, run: &mut Run<'p, '_>, done: usize) -> Result<PassEnd, TrainError> {
        // The next check reads all blocks again.
        run.readings = Default::default();
        if let Some(steps) = &mut self.gap_steps
            && !steps.take(run)?
        {
            let status = run.limit().unwrap_or(Status::Interrupted);
            return Ok(PassEnd::Limit { status, visits: done });
        }
        let (dual, begin) = (run.state.dual, run.seconds().0);
        let end = self.visit_blocks(run, done)?;
        if matches!(end, PassEnd::Limit { .. }) {
            return Ok(end);
        }
        if let Mode::Remembering(sets) = &mut self.mode {
            let (gained, now) = (run.state.dual - dual, run.seconds().0);
            sets.cache.choose_turn(gained / (now - begin).max(f64::MIN_POSITIVE));
        }
        if end == PassEnd::Trusted {
            run.trust(self.picker.known_gaps().unwrap_or_default());
        } else if run.settings.solver == Solver::Auto && run.choice.is_none() {
            self.decide_auto(run);
        } else if self.batches.wait() {
            self.batches.begin();
        }
        Ok(end)
    }

    fn check(&mut self, run: &mut Run<'p, '_>) -> Result<Option<Checked<'p>>, TrainError> {
        if self.averager.is_none() {
            return Ok(self.check_iterate(run)?.map(|check| (check, None)));
        }
        let remembers = matches!(self.mode, Mode::Remembering(_) | Mode::Staged { .. });
        let drift = match self.picker.follows_gaps() || remembers {
            true => match self.check_iterate(run)? {
                Some(check) => check.drift,
                None => {
                    run.forget_readings();
                    return Ok(None);
                }
            },
            false => {
                let drift = run.rebuild();
                run.note_bound();
                Some(drift)
            }
        };
        let checked = run.check_other(self.average(run), None)?;
        Ok(checked.map(|(check, average)| (Check { drift, ..check }, Some(average))))
    }

    fn result(&mut self, run: &mut Run<'p, '_>) -> Result<Option<DualState<'p>>, TrainError> {
        Ok(self.averager.is_some().then(|| run.state_at(self.average(run))))
    }

    fn save(&self) -> Vec<u8> {
        to_bytes(self)
    }
}

impl BlockCoordinate {
    /// The average of the iterates, or the iterate itself without averaging.
    fn average(&self, run: &Run<'_, '_>) -> DualPoint {
        let blocks = &run.state.blocks;
        match &self.averager {
            Some(averager) => averager.point(run.totals.visits, blocks),
            None => DualPoint { blocks: blocks.clone() },
        }
    }

    /// Makes n visits, of which `done` are done already, unless something ends the pass early.
    fn visit_blocks(&mut self, run: &mut Run<'_, '_>, done: usize) -> Result<PassEnd, TrainError> {
        let (n, averaging) = (run.examples(), self.averager.is_some());
        // Block gaps belong to the iterate and say nothing about an average.
        let promising = if averaging { 0.0 } else { PROMISING_SHARE_OF_TOLERANCE };
        let mut visits = done;
        loop {
            if let Some(status) = run.limit() {
                return Ok(PassEnd::Limit { status, visits });
            }
            if !self.finish_memory_round(run)? {
                continue;
            }
            if visits >= n {
                break;
            }
            if self.batches.may_begin_after(visits) {
                self.begin_batches_early(run);
            }
            run.totals.passes += u64::from(visits == 0);
            if run.totals.passes == 1 {
                self.batches.grow_after(visits);
            }
            let size = self.batch_size(n, visits);

            // Visit a batch of blocks, or a single one.
            visits += match if size > 1 { self.visit_batch(run, size)? } else { 0 } {
                0 if self.visit_one(run)? => 1,
                0 => return Ok(PassEnd::Early),
                visits => visits,
            };

            // Stop if the gaps that the visits have seen are small enough.
            let known = self.picker.known_gap();
            let tolerance = run.settings.tolerance_at(run.state.dual);
            if run.trusting && known.is_some_and(|gap| gap <= tolerance) {
                return Ok(PassEnd::Trusted);
            }
            if known.is_some_and(|gap| gap < promising * tolerance) {
                return Ok(PassEnd::Early);
            }
            if self.picker.ends_sweep(n, visits) {
                self.joint_step(run, known);
            }
            self.begin_memory_round(run, visits);
        }
        self.batches.adapt();
        let Mode::Staged { stage, .. } = &mut self.mode else { return Ok(PassEnd::Full) };
        // Plain steps reduce all gaps from pass to pass, so the known gaps tend to be too large.
        let tolerance = run.settings.tolerance_at(run.state.dual);
        let early = !averaging && stage.known_gap() < tolerance;
        if stage.is_done(run.totals.passes, tolerance) {
            self.switch_to_corrective(run);
        }
        Ok(if early { PassEnd::Early } else { PassEnd::Full })
    }

    /// Visits one block, unless no block is known to have a gap.
    fn visit_one(&mut self, run: &mut Run<'_, '_>) -> Result<bool, TrainError> {
        // Pick a block: uniformly, in turn, or by its gap                      (2016, Alg. 2).
        let next = self.picker.next(&mut self.rng);
        // If the iterate has converged, the average still moves towards it with every visit.
        let averaging = self.averager.is_some();
        let any = |rng: &mut Rng| averaging.then(|| rng.below(run.examples()));
        let Some(i) = next.or_else(|| any(&mut self.rng)) else { return Ok(false) };
        self.prefetch_next(run);
        match self.mode {
            Mode::Plain | Mode::Staged { .. } => self.visit(run, i)?,
            Mode::Remembering(_) => self.visit_remembering(run, i)?,
            Mode::Simplices(_) => self.visit_simplex(run, i)?,
        }
        Ok(true)
    }

    /// The size of the next batch, after so many `visits` of a pass over `n` blocks.
    fn batch_size(&self, n: usize, visits: usize) -> usize {
        match self.mode {
            Mode::Simplices(_) => 1,
            _ if self.visits_in_rounds() => Self::rest_of_round(n, visits).min(MOST_OF_ROUND),
            _ => self.batches.next_size(n, n - visits),
        }
    }

    /// One visit, as in Algorithm 4 of 2013.
    fn visit(&mut self, run: &mut Run<'_, '_>, i: usize) -> Result<(), TrainError> {
        if self.takes_pieces(run, i) {
            return self.visit_long(run, i);
        }
        let (problem, k) = (run.problem, run.totals.visits);
        run.totals.visits += 1;
        self.accuracies.call(run, i, k); //             y* = argmax Hᵢ(y; w), wₛ and ℓₛ   (lines 4, 5)
        note_curvature(&mut self.picker, run, i);
        let (state, scratch) = run.state_and_scratch();
        let (slope, has_failed) = aim_at_corner(problem, state, scratch, i)?;
        //                                              gᵢ = λ⟨wᵢ − wₛ, w⟩ − ℓᵢ + ℓₛ         (line 6)
        let has_failed = has_failed && !self.accuracies.allow_less();
        run.totals.oracle_failures += u64::from(has_failed);
        self.picker.update(i, slope); //                gap sampling                 (2016, Alg. 2)
        if let Mode::Staged { stage, sets } = &mut self.mode {
            stage.note(i, slope);
            sets.cache.stats.misses += 1;
            run.totals.cache = Some(sets.cache.stats);
        }
        self.step(run, i, slope, k)?; //                γ, then wᵢ, ℓᵢ, w and ℓ        (lines 6 to 9)
        run.state_and_scratch().1.forget_if_long();
        Ok(())
    }

    /// Moves block `i` along the direction in the scratch, along which the dual initially rises with
    /// `slope`, in visit `k`, counted from 0.
    fn step(
        &mut self,
        run: &mut Run<'_, '_>,
        i: usize,
        slope: f64,
        k: u64,
    ) -> Result<(), TrainError> {
        let problem = run.problem;
        let pace = Pace { rule: run.settings.step, k, blocks: run.examples() };
        let (state, scratch) = run.state_and_scratch();
        let (step, worker) = (&scratch.step, &mut *scratch.worker);
        // γ = gᵢ / λ‖wᵢ − wₛ‖², clipped to what is open                          (2013, line 6).
        let stride = state.stride(i, &step.parts, slope, step.longest, pace, worker);
        let mut stride = stride.ok_or(TrainError::NotFinite { example: i })?;
        if matches!(self.mode, Mode::Simplices(_)) && stride.gamma > ALL_THE_WAY {
            stride.gamma = 1.0;
        }
        if stride.gamma > 0.0 {
            // w̄ takes in what the block was until now                    (2013, Section 5, averaging).
            if let Some(averager) = &mut self.averager {
                averager.before_change(i, k + 1, &state.blocks[i]);
            }
            // wᵢ ← (1 − γ)wᵢ + γwₛ, and w and D follow                             (2013, lines 7 to 9).
            state.move_block(i, step, &scratch.corner, stride.gamma);
            state.follow(i, &step.parts, stride);
            if let Mode::Staged { stage, sets } = &mut self.mode {
                let corner = &scratch.corner;
                // Runs usually begin at the truth, so corners with a loss need no comparison.
                let is_first =
                    corner.loss == 0.0 && sets.is_first(problem, i, &corner.parts, corner.loss);
                stage.follow(i, stride.gamma, is_first);
            }
        }
        let longest = step.longest;
        run.note_step(stride.gamma, longest);
        Ok(())
    }

    /// Prefetches the next block, if the order knows it.
    fn prefetch_next(&self, run: &Run<'_, '_>) {
        let Some(next) = self.picker.peek() else { return };
        match &self.mode {
            Mode::Remembering(sets) => sets.prefetch(run.problem, next),
            _ => run.state.prefetch(next),
        }
    }

    /// Ends the first stage of the direction `staged`, if it is still under way.
    fn switch_to_corrective(&mut self, run: &Run<'_, '_>) {
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

    /// The exact gap of the iterate. The order and the cache learn the block gaps from it.
    fn check_iterate(&mut self, run: &mut Run<'_, '_>) -> Result<Option<Check>, TrainError> {
        if let Mode::Remembering(sets) | Mode::Staged { sets, .. } = &mut self.mode {
            sets.refresh_all(run.problem, &mut run.state.blocks);
        }
        run.estimate(self.picker.known_gap());
        run.keeps_corners = self.uses_exact_corners();
        let Some(check) = run.check()? else { return Ok(None) };
        let gaps = || run.readings.gaps().iter().copied();
        self.picker.refresh(gaps());
        if let Some(steps) = &mut self.gap_steps {
            steps.note_pass();
        }
        if let Mode::Remembering(sets) | Mode::Staged { sets, .. } = &mut self.mode {
            sets.cache.note_exact(gaps());
        }
        self.learn_exact_corners(run);
        if let (Mode::Remembering(sets), true) = (&mut self.mode, run.settings.diagnose) {
            run.pairwise_gap = Some(check.certificate.gap + sets.away_gap(run));
        }
        Ok(Some(check))
    }
}
