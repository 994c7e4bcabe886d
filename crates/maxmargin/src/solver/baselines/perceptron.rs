//! The averaged structured perceptron (Collins, 2002). With bounds, each step is clipped.

use super::sweep::{Sweeper, read_output};
use crate::dual::{DualPoint, DualState};
use crate::error::TrainError;
use crate::problem::bounds::bounds_in_force;
use crate::problem::sparse_accumulator::SparseAccumulator;
use crate::run::Run;
use crate::run::fits::{Fits, Fitting, is_count};
use crate::run::session::Checked;

/// With g the steps, w = w₀ + Σ g. The mean over t visits is w + (w − w₀ − Σ s·g)/t, where s is the visit
/// of a step, so averaging costs as much as a step.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(in crate::solver) struct Perceptron {
    w: Vec<f64>,
    /// w₀ + Σ s·g.
    late: Vec<f64>,
    /// Scratch memory for a step before it is clipped, if there are bounds.
    #[cfg_attr(feature = "serde", serde(skip))]
    way: Option<SparseAccumulator>,
    t: u64,
}

impl Perceptron {
    pub(in crate::solver) fn new(run: &Run<'_, '_>) -> Self {
        let mut w = vec![0.0; run.problem.dim()];
        if let Some(bounds) = bounds_in_force(run.problem) {
            bounds.clip_all(&mut w);
        }
        Self { late: w.clone(), w, way: None, t: 0 }
    }

    /// The mean of w over all visits.
    fn mean(&self, run: &Run<'_, '_>) -> Vec<f64> {
        let t = self.t.max(1) as f64;
        let mean = |(w, late): (&f64, &f64)| w + (w - late) / t;
        let mut weights: Vec<f64> = self.w.iter().zip(&self.late).map(mean).collect();
        // A mean of weights within bounds is within them up to rounding.
        if let Some(bounds) = bounds_in_force(run.problem) {
            bounds.clip_all(&mut weights);
        }
        weights
    }
}

impl Fits for Perceptron {
    fn fits(&self, to: &Fitting<'_>) -> bool {
        to.are_weights(&self.w) && to.are_weights(&self.late) && is_count(self.t)
    }
}

impl<'p> Sweeper<'p> for Perceptron {
    fn prepare(&mut self, run: &Run<'p, '_>) {
        let is_bounded = bounds_in_force(run.problem).is_some();
        self.way = is_bounded.then(|| SparseAccumulator::new(run.problem.dim()));
    }

    fn visit(&mut self, run: &mut Run<'p, '_>, i: usize) -> Result<(), TrainError> {
        run.predict_at(i, &self.w);
        // A prediction does not maximise with the loss, so it does not count as a failure of the max
        // oracle.
        read_output(run, i, &self.w, 1.0)?;
        let (problem, n) = (run.problem, run.examples() as f64);
        let (state, scratch) = run.state_and_scratch();
        self.t += 1;
        let (parts, pull, t) = (&scratch.step.parts, -n * state.shares.of(i), self.t as f64);
        match (&mut self.way, bounds_in_force(problem)) {
            (Some(way), Some(bounds)) => {
                way.clear();
                problem.scatter(i, pull, parts, way.into());
                for &j in &way.touched {
                    let moved = bounds.clip(j, self.w[j] + way.change[j]);
                    self.late[j] += t * (moved - self.w[j]);
                    self.w[j] = moved;
                }
            }
            _ => {
                problem.scatter(i, pull, parts, self.w.as_mut_slice().into());
                problem.scatter(i, t * pull, parts, self.late.as_mut_slice().into());
            }
        }
        let is_mistake = !parts.is_empty();
        run.note_step(f64::from(u8::from(is_mistake)), 1.0);
        Ok(())
    }

    fn end_pass(&mut self, _: &mut Run<'p, '_>) -> Result<(), TrainError> {
        Ok(())
    }

    fn check(&mut self, run: &mut Run<'p, '_>) -> Result<Option<Checked<'p>>, TrainError> {
        let truth = DualPoint::at_truth(run.problem);
        let checked = run.check_other(truth, Some(self.mean(run)))?;
        Ok(checked.map(|(check, other)| (check, Some(other))))
    }

    fn result(&mut self, run: &mut Run<'p, '_>) -> Result<Option<DualState<'p>>, TrainError> {
        let truth = DualPoint::at_truth(run.problem);
        Ok(Some(run.state_with(truth, Some(self.mean(run)))))
    }
}
