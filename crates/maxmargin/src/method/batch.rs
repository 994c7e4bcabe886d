//! Batch Frank-Wolfe: all oracles at one w, then one step for all blocks together.
//!
//! It is the batch subgradient method with step γ/λ, for the direction of w is −1/λ times a
//! subgradient of the primal; and since all oracles are at one w, every pass knows its exact gap.

use crate::certificate::{BlockReading, Certificate, read_block};
use crate::checkpoint::Stage;
use crate::direction::{Corner, Move};
use crate::dual::Stride;
use crate::error::TrainError;
use crate::run::{Check, Finished, Run};
use crate::status::Status;
use crate::step::Pace;
use crate::sums::length_sq;

/// What one block contributes to a batch step.
pub(super) struct Part {
    pub(super) corner: Corner,
    step: Move,
    pub(super) reading: BlockReading,
}

/// Trains by batch Frank-Wolfe, from `stage` on.
pub(crate) fn run(run: Run<'_, '_>, stage: Stage) -> Result<Finished, TrainError> {
    let mut direction = vec![0.0; run.problem.dim()];
    run_with(run, stage, |run, parts, _| step(run, parts, &mut direction))
}

/// The loop of all methods that call all oracles at one w and then do something about it: `step`, which
/// is given what the oracles have said, and their certificate, and leaves the blocks of the state where
/// they are to be.
pub(super) fn run_with<'p, 'o>(
    mut run: Run<'p, 'o>,
    mut stage: Stage,
    mut step: impl FnMut(&mut Run<'p, 'o>, &[Part], &Certificate) -> Result<(), TrainError>,
) -> Result<Finished, TrainError> {
    let mut parts: Vec<Part> = Vec::new();
    parts.resize_with(run.examples(), || Part {
        corner: Corner::default(),
        step: Move::default(),
        reading: BlockReading::default(),
    });
    loop {
        let check = match stage {
            Stage::PassDone { check: Some(check), .. } => look_again(&mut run, &mut parts, check)?,
            _ => {
                if let Some(status) = run.limit() {
                    run.keep(Stage::START, None)?;
                    let check = run.check()?;
                    let check = run.validate(check, None)?;
                    run.end_pass(Some(&check));
                    return run.finish(status, check, None);
                }
                let check = look(&mut run, &mut parts)?;
                run.totals.passes += 1;
                run.validate(check, None)?
            }
        };
        let last = run.is_last_pass();
        let kept = last || run.verdict(Some(&check)).is_some() || run.is_checkpoint_due();
        if kept {
            run.keep(Stage::PassDone { early: false, check: Some(check) }, None)?;
        }
        let ended = run.end_pass(Some(&check));
        if let Some(status) = ended.or(last.then_some(Status::MaxPasses)) {
            if !kept {
                run.keep(Stage::PassDone { early: false, check: Some(check) }, None)?;
            }
            return run.finish(status, check, None);
        }
        step(&mut run, &parts, &check.certificate)?;
        stage = Stage::START;
    }
}

/// Finds the corners of a pass once more that was done before a checkpoint; they are not in it.
fn look_again(
    run: &mut Run<'_, '_>,
    parts: &mut [Part],
    check: Check,
) -> Result<Check, TrainError> {
    let totals = run.totals;
    look(run, parts)?;
    run.totals = totals;
    Ok(check)
}

/// Calls all oracles at the current w; their corners give the step as well as the exact gap.
fn look(run: &mut Run<'_, '_>, parts: &mut [Part]) -> Result<Check, TrainError> {
    let drift = run.rebuild();
    run.all_oracles(parts, |problem, state, i, scratch, part| {
        part.reading = read_block(problem, &state.shares, &state.blocks, &state.w, i, scratch);
        std::mem::swap(&mut part.corner, &mut scratch.corner);
        std::mem::swap(&mut part.step, &mut scratch.step);
    });
    run.readings.clear();
    run.readings.extend(parts.iter().map(|part| part.reading));
    run.totals.oracle_failures += run.readings.iter().filter(|r| r.failed).count() as u64;
    let certificate = run.certificate_of_readings(None)?;
    let second = run.second_objective(None);
    let drift = Some(drift);
    Ok(Check { certificate, drift, second, average_dual: None, validation: None })
}

/// Moves all blocks by the same γ along their own directions.
fn step(run: &mut Run<'_, '_>, parts: &[Part], direction: &mut [f64]) -> Result<(), TrainError> {
    let problem = run.problem;
    let pace = Pace { rule: run.settings.step, k: run.totals.passes - 1, blocks: 1 };
    let state = &mut run.state;
    let slope: f64 = parts.iter().map(|part| part.reading.gap).sum();
    let rates: Vec<f64> = state.shares.iter().map(|share| -share / state.lambda).collect();
    let stride = if let Some(clipped) = &mut state.clipped {
        let way = clipped.new_way();
        for (i, part) in parts.iter().enumerate() {
            problem.scatter(i, rates[i], &part.step.parts, way.into());
        }
        let stride = clipped.stride(state.lambda, slope, 1.0, pace);
        if let Some(Stride { gamma, .. }) = stride {
            clipped.go(gamma, &mut state.w);
        }
        stride
    } else {
        direction.fill(0.0);
        for (i, part) in parts.iter().enumerate() {
            problem.scatter(i, rates[i], &part.step.parts, direction.into());
        }
        let stride = pace.stride(slope, state.lambda * length_sq(problem, direction), 1.0);
        if let Some(Stride { gamma, .. }) = stride {
            state.w.iter_mut().zip(direction.iter()).for_each(|(w, change)| *w += gamma * change);
        }
        stride
    };
    let Stride { gamma, gain } = stride.ok_or(TrainError::Overflow)?;
    for (i, part) in parts.iter().enumerate() {
        state.move_block(i, &part.step, &part.corner, gamma);
    }
    state.dual += gain;
    run.totals.visits += parts.len() as u64;
    run.note_step(gamma, 1.0);
    Ok(())
}
