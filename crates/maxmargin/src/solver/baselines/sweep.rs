//! The pass of methods that learn from one example at a time.

use crate::dual::{DualState, Scratch};
use crate::error::TrainError;
use crate::run::Run;
use crate::run::bytes::{Saved, to_bytes};
use crate::run::drive::PassEnd;
use crate::run::fits::{Fits, Fitting};
use crate::run::session::{Checked, Method, restored};
use crate::solver::block_coordinate::order::Picker;
use crate::util::rng::Rng;
use crate::util::rounding::ROUNDING;

/// What a method does with one example after another.
pub(in crate::solver) trait Sweeper<'p>: Saved {
    /// Rebuilds what a checkpoint leaves out.
    fn prepare(&mut self, run: &Run<'p, '_>);

    /// Calls the oracle of example `i` and makes a step.
    fn visit(&mut self, run: &mut Run<'p, '_>, i: usize) -> Result<(), TrainError>;

    /// After a whole pass, sets the dual value of the run, and its estimate of the primal if the method
    /// has one.
    fn end_pass(&mut self, run: &mut Run<'p, '_>) -> Result<(), TrainError>;

    /// As [`Method::check`].
    fn check(&mut self, run: &mut Run<'p, '_>) -> Result<Option<Checked<'p>>, TrainError>;

    /// As [`Method::result`].
    fn result(&mut self, run: &mut Run<'p, '_>) -> Result<Option<DualState<'p>>, TrainError>;
}

/// A method that visits examples in the order of the settings.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(in crate::solver) struct Sweep<M> {
    picker: Picker,
    rng: Rng,
    method: M,
}

impl<M> Sweep<M> {
    pub(in crate::solver) fn new<'p>(run: &Run<'p, '_>, mut method: M) -> Self
    where
        M: Sweeper<'p>,
    {
        method.prepare(run);
        let s = &run.settings;
        let picker = Picker::new(s.order, run.examples(), s.gap_power);
        Self { picker, rng: Rng::new(s.seed), method }
    }

    pub(in crate::solver) fn resume<'p>(run: &Run<'p, '_>, saved: &[u8]) -> Result<Self, TrainError>
    where
        M: Sweeper<'p> + Fits,
    {
        let mut sweep: Self = restored(run, saved)?;
        sweep.method.prepare(run);
        Ok(sweep)
    }
}

impl<M: Fits> Fits for Sweep<M> {
    fn fits(&self, to: &Fitting<'_>) -> bool {
        self.picker.fits(to.n) && self.method.fits(to)
    }
}

impl<'p, M: Sweeper<'p>> Method<'p> for Sweep<M> {
    fn pass(&mut self, run: &mut Run<'p, '_>, done: usize) -> Result<PassEnd, TrainError> {
        for visits in done..run.examples() {
            if let Some(status) = run.limit() {
                return Ok(PassEnd::Limit { status, visits });
            }
            run.totals.passes += u64::from(visits == 0);
            let Some(i) = self.picker.next(&mut self.rng) else { break };
            if let Some(next) = self.picker.peek() {
                run.problem.prefetch(next);
            }
            run.totals.visits += 1;
            self.method.visit(run, i)?;
        }
        self.method.end_pass(run)?;
        Ok(PassEnd::Full)
    }

    fn check(&mut self, run: &mut Run<'p, '_>) -> Result<Option<Checked<'p>>, TrainError> {
        self.method.check(run)
    }

    fn result(&mut self, run: &mut Run<'p, '_>) -> Result<Option<DualState<'p>>, TrainError> {
        self.method.result(run)
    }

    fn save(&self) -> Vec<u8> {
        to_bytes(self)
    }
}

/// Returns the hinge of example `i` from the corner in the scratch, which the max oracle has found at the
/// weights `scale`·`w` with the worker prepared for `w`. Leaves the way from the truth to the corner in
/// `scratch.step.parts`.
///
/// If an inexact oracle has found less than the truth, the truth replaces its corner.
pub(super) fn read_corner(
    run: &mut Run<'_, '_>,
    i: usize,
    w: &[f64],
    scale: f64,
) -> Result<f64, TrainError> {
    let hinge = read_output(run, i, w, scale)?;
    run.totals.oracle_failures += u64::from(hinge.is_none());
    Ok(hinge.unwrap_or(0.0))
}

/// As [`read_corner`], for any output. Returns `None` if the truth is better, which then replaces the
/// output.
pub(super) fn read_output(
    run: &mut Run<'_, '_>,
    i: usize,
    w: &[f64],
    scale: f64,
) -> Result<Option<f64>, TrainError> {
    let problem = run.problem;
    let (_, scratch) = run.state_and_scratch();
    let Scratch { worker, corner, step, parts, .. } = scratch;
    let loss = corner.loss;
    if loss < 0.0 && !problem.has_signed_losses() {
        return Err(TrainError::Loss { example: i, loss });
    }
    parts.clear();
    problem.truth_parts(i, parts);
    step.parts.assign_difference(&corner.parts, parts);
    let score = scale * worker.score(i, w, &step.parts);
    let hinge = loss + score;
    if !hinge.is_finite() {
        return Err(TrainError::NotFinite { example: i });
    }
    if hinge >= -ROUNDING * (1.0 + loss.abs() + score.abs()) {
        return Ok(Some(hinge));
    }
    step.parts.clear();
    scratch.fall_back_to_truth(problem, i);
    Ok(None)
}
