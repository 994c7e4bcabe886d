//! The way of a block to the corner that its oracle has found, and a guard against oracles that fail.

use super::order::Picker;
use crate::dual::{DualState, Move, Scratch};
use crate::error::TrainError;
use crate::problem::Blocks;
use crate::run::Run;
use crate::util::rounding::ROUNDING;

/// Aims block `i` at the corner in the scratch, or at the truth if an inexact oracle has found less than
/// the truth or than the block's own point. Returns the slope of the dual on the way, and whether the oracle
/// has failed.
pub(super) fn aim_at_corner(
    problem: &dyn Blocks,
    state: &DualState<'_>,
    scratch: &mut Scratch<'_>,
    i: usize,
) -> Result<(f64, bool), TrainError> {
    check_loss(problem, i, scratch.corner.loss)?;
    let below_truth =
        !problem.quality().is_exact() && is_below_truth(problem, i, &state.w, scratch);
    let aim = |scratch: &mut Scratch<'_>| {
        let Scratch { step, corner, worker, point, .. } = scratch;
        Move::go_to(step, &state.blocks[i], corner, point);
        state.slope(i, step, &**worker)
    };
    let mut slope = aim(scratch);
    let falls = slope < 0.0 && state.is_below_rounding(i, &scratch.corner, &scratch.step, slope);
    let has_failed = falls || below_truth;
    if has_failed {
        scratch.fall_back_to_truth(problem, i);
        slope = aim(scratch);
    }
    if slope.is_finite() {
        Ok((slope, has_failed))
    } else {
        Err(TrainError::NotFinite { example: i })
    }
}

/// Tells the order the curvature 4cᵢ²‖ψᵢ(y)‖²/(λC²) that goes with the corner in the scratch, if it asks for that.
pub(super) fn note_curvature(picker: &mut Picker, run: &mut Run<'_, '_>, i: usize) {
    if !picker.follows_curvature() {
        return;
    }
    let problem = run.problem;
    let (state, scratch) = run.state_and_scratch();
    picker.note_curvature(i, curvature_of(problem, state, scratch, i));
}

/// The curvature 4cᵢ²‖ψᵢ(y)‖²/(λC²) that goes with the corner in the scratch.
pub(super) fn curvature_of(
    problem: &dyn Blocks,
    state: &DualState<'_>,
    scratch: &mut Scratch<'_>,
    i: usize,
) -> f64 {
    let Scratch { worker, corner, step, parts, .. } = scratch;
    parts.clear();
    problem.truth_parts(i, parts);
    step.parts.assign_difference(&corner.parts, parts);
    let share = state.shares.of(i);
    4.0 * share * share / state.lambda * worker.norm_sq(i, &step.parts)
}

/// Refuses a negative loss, unless the problem allows it.
pub(super) fn check_loss(
    problem: &dyn Blocks,
    example: usize,
    loss: f64,
) -> Result<(), TrainError> {
    match loss < 0.0 && !problem.has_signed_losses() {
        true => Err(TrainError::Loss { example, loss }),
        false => Ok(()),
    }
}

/// Whether the corner in the scratch scores below the truth, by more than rounding can explain.
fn is_below_truth(problem: &dyn Blocks, i: usize, w: &[f64], scratch: &mut Scratch<'_>) -> bool {
    let Scratch { worker, corner, step, parts, .. } = scratch;
    parts.clear();
    problem.truth_parts(i, parts);
    step.parts.assign_difference(&corner.parts, parts);
    let score = worker.score(i, w, &step.parts);
    corner.loss + score < -ROUNDING * (1.0 + corner.loss + score.abs())
}
