//! The loop of methods that visit one example after the other and keep no checkpoints.

use crate::certificate::ROUNDING;
use crate::crew::Scratch;
use crate::dual::DualState;
use crate::error::TrainError;
use crate::order::Picker;
use crate::rng::Rng;
use crate::run::{Check, Finished, Run};
use crate::status::Status;

/// An exact check, and what was checked if that is not the run's own state.
pub(super) type Checked<'p> = (Check, Option<DualState<'p>>);

/// A method that learns from one example at a time.
pub(super) trait Sweeper<'p> {
    /// Calls the oracle of example `i` and makes a step.
    fn visit(&mut self, run: &mut Run<'p, '_>, i: usize) -> Result<(), TrainError>;

    /// After a whole pass, tells the run its dual value, and what it can tell of the primal.
    fn end_pass(&mut self, run: &mut Run<'p, '_>) -> Result<(), TrainError>;

    /// The exact gap of what would be returned now.
    fn check(&mut self, run: &mut Run<'p, '_>) -> Result<Checked<'p>, TrainError>;
}

/// Trains by `method`, pass by pass.
pub(super) fn sweep<'p>(
    mut run: Run<'p, '_>,
    mut method: impl Sweeper<'p>,
) -> Result<Finished, TrainError> {
    let n = run.examples();
    let mut picker = Picker::new(run.settings.order, n, run.settings.gap_power);
    let mut rng = Rng::new(run.settings.seed);
    loop {
        for visit in 0..n {
            if let Some(status) = run.limit() {
                return finish(run, method, status);
            }
            run.totals.passes += u64::from(visit == 0);
            let Some(i) = picker.next(&mut rng) else { break };
            if let Some(next) = picker.peek() {
                run.problem.prefetch(next);
            }
            run.totals.visits += 1;
            method.visit(&mut run, i)?;
        }
        method.end_pass(&mut run)?;
        let last = run.is_last_pass();
        let due = last || run.totals.passes.is_multiple_of(run.settings.gap_every);
        let checked = match due {
            true => Some(check(&mut run, &mut method)?),
            false => None,
        };
        let ended = run.end_pass(checked.as_ref().map(|(check, _)| check));
        match (ended.or(last.then_some(Status::MaxPasses)), checked) {
            (None, _) => {}
            (Some(status), None) => return finish(run, method, status),
            (Some(status), Some((check, other))) => return run.finish(status, check, other),
        }
    }
}

fn check<'p>(
    run: &mut Run<'p, '_>,
    method: &mut impl Sweeper<'p>,
) -> Result<Checked<'p>, TrainError> {
    let (check, other) = method.check(run)?;
    Ok((run.validate(check, other.as_ref())?, other))
}

/// Ends a run whose gap is not known yet.
fn finish<'p>(
    mut run: Run<'p, '_>,
    mut method: impl Sweeper<'p>,
    status: Status,
) -> Result<Finished, TrainError> {
    let (check, other) = check(&mut run, &mut method)?;
    run.end_pass(Some(&check));
    run.finish(status, check, other)
}

/// Reads the corner of example `i` in the scratch, which the max oracle has found at the weights
/// `scale`·`w` with the workspace prepared for `w`: its hinge. The way from the truth to it is left in
/// `scratch.step.parts`.
///
/// An inexact oracle may have found less than the truth, which then takes its place.
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

/// As [`read_corner`], of any output; none if it is worth less than the truth, which has taken its place.
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
