//! Plain visits to blocks that are taken piece by piece.

use super::aim::check_loss;
use super::{BlockCoordinate, Mode};
use crate::dual::{End, Pace};
use crate::error::TrainError;
use crate::run::Run;

impl BlockCoordinate {
    /// Whether plain visits take block `i` piece by piece.
    pub(super) fn takes_pieces(&self, run: &Run<'_, '_>, i: usize) -> bool {
        run.problem.pieces(i) > 1
            && run.problem.quality().is_exact()
            && !self.accuracies.allow_less()
            && !self.picker.follows_curvature()
    }

    /// As [`visit`](Self::visit), for such a block.
    pub(super) fn visit_long(&mut self, run: &mut Run<'_, '_>, i: usize) -> Result<(), TrainError> {
        let (problem, k) = (run.problem, run.totals.visits);
        run.totals.visits += 1;
        let loss = run.oracle_without_corner(i);
        check_loss(problem, i, loss)?;
        let (state, scratch) = run.state_and_scratch();
        let mut to = state.long_move(i, End::Output, loss, scratch);
        let has_failed = to.slope < 0.0 && state.is_long_below_rounding(i, to);
        if has_failed {
            to = state.long_move(i, End::Truth, 0.0, scratch);
        }
        if !to.slope.is_finite() {
            return Err(TrainError::NotFinite { example: i });
        }
        run.totals.oracle_failures += u64::from(has_failed);
        self.picker.update(i, to.slope);
        self.mode.note_gap(run, i, to.slope);
        let pace = Pace { rule: run.settings.step, k, blocks: run.examples() };
        let (state, scratch) = run.state_and_scratch();
        let stride = state.long_stride(i, to, pace, scratch);
        let stride = stride.ok_or(TrainError::NotFinite { example: i })?;
        if stride.gamma > 0.0 {
            if let Some(averager) = &mut self.averager {
                averager.before_change(i, k + 1, &state.blocks[i]);
            }
            if let Mode::Staged { stage, sets } = &mut self.mode {
                let is_first = to.loss == 0.0 && {
                    match to.end {
                        End::Output => scratch.describe_corner(i),
                        End::Truth => scratch.fall_back_to_truth(problem, i),
                    }
                    sets.is_first(problem, i, &scratch.corner.parts, 0.0)
                };
                stage.follow(i, stride.gamma, is_first);
            }
            state.go_long(i, to, stride, scratch);
        }
        scratch.forget_if_long();
        run.note_step(stride.gamma, 1.0);
        Ok(())
    }
}
