//! The averaged structured perceptron: the floor everyone knows.

use super::sweep::{Checked, Sweeper, read_corner, sweep};
use crate::dual::DualPoint;
use crate::error::TrainError;
use crate::problem::Problem;
use crate::run::{Finished, Run};

/// Trains a perceptron.
pub(crate) fn run<P: Problem>(run: Run<'_, '_, P>) -> Result<Finished, TrainError> {
    let d = run.problem.dim();
    sweep(run, Perceptron { w: vec![0.0; d], late: vec![0.0; d], t: 0 })
}

/// With g the steps, w = Σ g; and the mean over t visits is w + (w − Σ s·g)/t, s the visit of a step,
/// so that averaging costs what a step does.
struct Perceptron {
    w: Vec<f64>,
    /// Σ s·g.
    late: Vec<f64>,
    t: u64,
}

impl<'p, P: Problem> Sweeper<'p, P> for Perceptron {
    fn visit(&mut self, run: &mut Run<'p, '_, P>, i: usize) -> Result<(), TrainError> {
        run.predict_at(i, &self.w);
        read_corner(run, i, &self.w, 1.0)?;
        let (problem, n) = (run.problem, run.examples() as f64);
        let (state, scratch) = run.state_and_scratch();
        self.t += 1;
        let (way, pull) = (&scratch.step.parts, -n * state.shares.of(i));
        problem.scatter(i, pull, way, self.w.as_mut_slice());
        problem.scatter(i, self.t as f64 * pull, way, self.late.as_mut_slice());
        let is_mistake = !way.is_empty();
        run.note_step(f64::from(u8::from(is_mistake)), 1.0);
        Ok(())
    }

    fn end_pass(&mut self, _: &mut Run<'p, '_, P>) -> Result<(), TrainError> {
        Ok(())
    }

    fn check(&mut self, run: &mut Run<'p, '_, P>) -> Result<Checked<'p, P>, TrainError> {
        let t = self.t.max(1) as f64;
        let mean = |(w, late): (&f64, &f64)| w + (w - late) / t;
        let weights = self.w.iter().zip(&self.late).map(mean).collect();
        let truth = DualPoint::at_truth(run.problem);
        let (check, other) = run.check_other(truth, Some(weights))?;
        Ok((check, Some(other)))
    }
}
