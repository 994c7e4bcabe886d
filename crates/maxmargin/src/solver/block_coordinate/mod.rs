//! Block-coordinate Frank-Wolfe: Algorithm 4 of Lacoste-Julien et al. (2013), with the orders, directions
//! and the cache of Osokin et al. (2016), whose Algorithm 1 is the same with numbered lines.
//!
//! A visit picks a block, finds a corner, aims at it, and steps as far as the dual rises. The order, the
//! direction, the step, the cache and the average are parts that know nothing of each other:
//!
//! | file | part |
//! |---|---|
//! | `mod.rs` | the algorithm: a pass, and plain visits |
//! | `mode.rs` | what a visit does with its block |
//! | `method.rs` | how a run begins, is resumed and is checked |
//! | `pass_end.rs` | when a pass ends early |
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
mod method;
mod mode;
mod moved;
pub(crate) mod order;
mod pass_end;
mod simplex;
mod staged;
mod sum_tree;
mod visit_long;
mod visit_remembering;
mod visit_simplex;

use crate::dual::Pace;
use crate::error::TrainError;
use crate::run::Run;
use crate::run::drive::PassEnd;
use crate::util::rng::Rng;
use accuracies::Accuracies;
use aim::{aim_at_corner, note_curvature};
use average::Averager;
use batches::Batches;
use gap_steps::GapSteps;
use memory_rounds::MemoryRounds;
use mode::Mode;
use order::Picker;

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

/// The algorithm. The numbers are those of the lines of Algorithm 1 of 2016.
impl BlockCoordinate {
    /// A pass: n visits, of which `done` are done already, unless something ends it early.
    fn visit_blocks(&mut self, run: &mut Run<'_, '_>, done: usize) -> Result<PassEnd, TrainError> {
        let (n, mut visits) = (run.examples(), done);
        //                                                  for k := 0, 1, …                (line 2)
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
            match self.visit_next(run, visits)? {
                0 => return Ok(PassEnd::Early),
                made => visits += made,
            }
            let known_gap = self.picker.known_gap();
            if let Some(end) = self.end_within_pass(run, known_gap) {
                return Ok(end);
            }
            if self.picker.ends_sweep(n, visits) {
                self.joint_step(run, known_gap);
            }
            self.begin_memory_round(run, visits);
        }
        Ok(self.end_of_full_pass(run))
    }

    /// Makes the next visit of a pass after `visits` others, or a batch of visits. Returns how many: none if no block
    /// is known to have a gap.
    fn visit_next(&mut self, run: &mut Run<'_, '_>, visits: usize) -> Result<usize, TrainError> {
        if self.batches.may_begin_after(visits) {
            self.begin_batches_early(run);
        }
        run.totals.passes += u64::from(visits == 0);
        let size = self.batch_size(run.examples(), visits);
        match if size > 1 { self.visit_batch(run, size)? } else { 0 } {
            0 => self.visit_one(run).map(usize::from),
            made => Ok(made),
        }
    }

    /// Visits one block, unless no block is known to have a gap.
    fn visit_one(&mut self, run: &mut Run<'_, '_>) -> Result<bool, TrainError> {
        // Pick i: uniformly, in turn, or by its gap              (line 3; with gaps, Alg. 2, line 4).
        let next = self.picker.next(&mut self.rng);
        // If the iterate has converged, the average still moves towards it with every visit.
        let averaging = self.averager.is_some();
        let any = |rng: &mut Rng| averaging.then(|| rng.below(run.examples()));
        let Some(i) = next.or_else(|| any(&mut self.rng)) else { return Ok(false) };
        self.prefetch_next(run);
        match self.mode {
            Mode::Plain | Mode::Staged { .. } if self.takes_pieces(run, i) => {
                self.visit_long(run, i)?;
            }
            Mode::Plain | Mode::Staged { .. } => self.visit(run, i)?,
            Mode::Remembering(_) => self.visit_remembering(run, i)?, // Alg. 3, 4 and 5
            Mode::Simplices(_) => self.visit_simplex(run, i)?,
        }
        Ok(true)
    }

    /// One plain visit.
    fn visit(&mut self, run: &mut Run<'_, '_>, i: usize) -> Result<(), TrainError> {
        let (problem, k) = (run.problem, run.totals.visits);
        run.totals.visits += 1;
        // y* := argmax Hᵢ(y; w), and with it wₛ and ℓₛ                                 (lines 4, 5).
        self.accuracies.call(run, i, k);
        note_curvature(&mut self.picker, run, i);
        // gᵢ := λ⟨wᵢ − wₛ, w⟩ − ℓᵢ + ℓₛ                                                    (line 6).
        let (state, scratch) = run.state_and_scratch();
        let (gap, has_failed) = aim_at_corner(problem, state, scratch, i)?;
        run.totals.oracle_failures += u64::from(has_failed && !self.accuracies.allow_less());
        // The order learns the gap                                                 (Alg. 2, line 8).
        self.picker.update(i, gap);
        self.mode.note_gap(run, i, gap);
        // γ, and then wᵢ, ℓᵢ, w and ℓ                                                 (lines 7 to 11).
        self.step(run, i, gap, k)?;
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
        let (way, worker) = (&scratch.step, &mut *scratch.worker);
        let longest = way.longest;
        // γ := gᵢ / λ‖wᵢ − wₛ‖², clipped to what is open                                   (line 7).
        let stride = state.stride(i, &way.parts, slope, longest, pace, worker);
        let stride = self.mode.rounded(stride.ok_or(TrainError::NotFinite { example: i })?);
        if stride.gamma > 0.0 {
            // w̄ takes in what the block was until now             (2013, Alg. 4, the optional line).
            if let Some(averager) = &mut self.averager {
                averager.before_change(i, k + 1, &state.blocks[i]);
            }
            // wᵢ := (1 − γ)wᵢ + γwₛ, and ℓᵢ likewise                                   (lines 8, 9).
            state.move_block(i, way, &scratch.corner, stride.gamma);
            // w and ℓ follow: here w and the dual value D                            (lines 10, 11).
            state.follow(i, &way.parts, stride);
            self.mode.note_step(problem, i, &scratch.corner, stride.gamma);
        }
        run.note_step(stride.gamma, longest);
        Ok(())
    }
}
