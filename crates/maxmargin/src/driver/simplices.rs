//! Visits to blocks that are simplices: straight to the best point of a block, and all together.

use super::Driver;
use crate::error::TrainError;
use crate::face;
use crate::simplex::{self, Simplices};

impl Driver<'_, '_> {
    /// A look at all corners of a block, which is an oracle call, and a step to its best point.
    pub(super) fn visit_simplex(
        &mut self,
        i: usize,
        simplices: &dyn Simplices,
    ) -> Result<(), TrainError> {
        let run = &mut self.run;
        let k = run.totals.visits;
        run.totals.visits += 1;
        run.evaluate(i, simplices);
        let (state, scratch) = run.state_and_scratch();
        let (share, block) = (state.shares.of(i), &state.blocks[i]);
        let gap = share * simplex::gap(simplices, &block.parts, &scratch.values);
        if !gap.is_finite() {
            return Err(TrainError::NotFinite { example: i });
        }
        self.picker.update(i, gap);
        if gap <= 0.0 {
            run.note_step(0.0, 1.0);
            return Ok(());
        }
        let rate = share / state.lambda;
        let slope = share * scratch.find_optimum(simplices, i, rate, &block.parts);
        scratch.step.go_to(block, &scratch.corner);
        self.step(i, slope, k)
    }

    /// A step of all blocks together, where they are simplices, after a sweep that has left so much
    /// gap, if that is known.
    pub(super) fn move_together(&mut self, known_gap: Option<f64>) {
        let Self { run, averager, simplices, face, .. } = self;
        let (Some(simplices), Some(face)) = (*simplices, face) else { return };
        if !face.is_due(known_gap) {
            return;
        }
        let (problem, k) = (run.problem, run.totals.visits);
        let averager = averager.as_mut().map(|averager| (averager, k + 1));
        let state = &mut run.state;
        face.step(&mut face::Place { problem, simplices, state }, averager);
    }
}
