//! Visits to blocks that are simplices: straight to the best point of a block, and all blocks together.
//!
//! While the other blocks rest, the best point of a simplex is a projection: one look at all corners, one
//! step, and no memory of corners. In the order `lazy`, a block without a gap rests until the known gaps of
//! all blocks have fallen to a tenth, as shrinking does elsewhere; an exact pass still has the last word.

use super::{BlockCoordinate, Mode, joint_cg, simplex};
use crate::error::TrainError;
use crate::run::Run;

impl BlockCoordinate {
    /// Evaluates all corners of a block, which counts as an oracle call, and steps to its best point.
    pub(super) fn visit_simplex(
        &mut self,
        run: &mut Run<'_, '_>,
        i: usize,
    ) -> Result<(), TrainError> {
        let Some(simplices) = run.problem.simplices() else { return Ok(()) };
        let k = run.totals.visits;
        run.totals.visits += 1;
        run.evaluate(i, simplices);
        let (state, scratch) = run.state_and_scratch();
        let (share, block) = (state.shares.of(i), &state.blocks[i]);
        let mu = block.parts.read(&mut scratch.point);
        let gap = share * simplex::gap(simplices, mu, &scratch.values);
        if !gap.is_finite() {
            return Err(TrainError::NotFinite { example: i });
        }
        let curvature = share / state.lambda * simplices.length_sq(i);
        self.picker.note_curvature(i, 4.0 * share * curvature);
        self.picker.update(i, gap);
        if gap <= 0.0 {
            run.note_step(0.0, 1.0);
            return Ok(());
        }
        let (values, masses) = (&mut scratch.values, &mut scratch.masses);
        let corner = &mut scratch.corner;
        corner.parts.clear();
        let (loss, growth) =
            simplex::optimum(simplices, i, curvature, mu, values, masses, &mut corner.parts);
        corner.loss = loss;
        scratch.step.go_from(mu, block.loss, corner);
        self.step(run, i, share * growth, k)
    }

    /// Moves all blocks together, if they are simplices, after a sweep that has left this gap, if it is
    /// known.
    pub(super) fn joint_step(&mut self, run: &mut Run<'_, '_>, known_gap: Option<f64>) {
        let Self { averager, mode: Mode::Simplices(Some(joint)), .. } = self else { return };
        let Some(simplices) = run.problem.simplices() else { return };
        if !joint.is_due(known_gap) {
            return;
        }
        let (problem, k) = (run.problem, run.totals.visits);
        let averager = averager.as_mut().map(|averager| (averager, k + 1));
        let scratch = Default::default();
        let corners = joint_cg::SimplexCorners { problem, simplices, averager, scratch };
        let (state, workers) = run.moving_state_and_workers();
        joint.step(&mut joint_cg::Arena { problem, state, workers, corners });
    }
}
