//! Restores a run from a checkpoint.

use super::checkpoint::{Checkpoint, signature};
use super::clock::Clock;
use super::drive::Stage;
use super::fits::is_count;
use super::{Check, Run, RunHooks};
use crate::certificate::{check_problem, first_misfit};
use crate::dual::{DualPoint, DualState, Workers};
use crate::error::TrainError;
use crate::problem::Blocks;
use crate::settings::CheckedSettings;
use std::borrow::Cow;

/// No run takes longer: a thousand years.
const MOST_SECONDS: f64 = 3.2e10;

/// A run taken up again: its stage of the loop, and what its method has saved.
pub(crate) struct Resumed<'p, 'o> {
    pub(crate) run: Run<'p, 'o>,
    pub(crate) stage: Stage<Check>,
    pub(crate) method: Vec<u8>,
}

impl<'p, 'o> Run<'p, 'o> {
    /// Continues a run where `checkpoint` was made. Returns the run, its stage in the loop, and what its
    /// method has saved.
    pub(crate) fn resume(
        problem: &'p dyn Blocks,
        settings: CheckedSettings,
        hooks: RunHooks<'o>,
        checkpoint: Checkpoint<'static>,
    ) -> Result<Resumed<'p, 'o>, TrainError> {
        check_problem(problem)?;
        checkpoint.check_resolved(&settings)?;
        // Is it the same problem?
        let Checkpoint { stage, w, blocks, dual, norm_sq, totals, method, .. } = checkpoint;
        for (what, then, now) in
            [("examples", blocks.len(), problem.examples()), ("features", w.len(), problem.dim())]
        {
            if then != now {
                let why = format!("it has {then} {what}, the problem has {now}");
                return Err(TrainError::Resume { why });
            }
        }
        if checkpoint.signature != signature(problem) {
            let why = "its examples, its losses or its bounds are others".to_owned();
            return Err(TrainError::Resume { why });
        }
        // Corners of a decoder with another quality say nothing about this problem. But the same decoder has another
        // quality if it has failed before the checkpoint was made, or since.
        let (then, now) = (checkpoint.quality, problem.quality());
        if then != now && then != now.after_failures(1) && now != then.after_failures(1) {
            let why = format!("its decoding was {then}, that of the problem is {now}");
            return Err(TrainError::Resume { why });
        }
        // Are the numbers those of a run?
        let counts = [totals.passes, totals.visits, totals.oracle_calls, totals.oracle_failures];
        let seconds = [totals.seconds, totals.oracle_seconds, totals.gap_seconds];
        let is_time = |seconds: &f64| (0.0..=MOST_SECONDS).contains(seconds);
        let too_far = matches!(stage, Stage::Pass { visits } if visits > problem.examples());
        let bound_fits = checkpoint.bound.as_ref().is_none_or(|b| b.blocks.len() == blocks.len());
        if too_far
            || !bound_fits
            || !counts.into_iter().all(is_count)
            || !seconds.iter().all(is_time)
            || !w.iter().all(|w| w.is_finite())
            || !checkpoint.judge.fits(problem)
        {
            let why = "its numbers are not those of a run on the problem".to_owned();
            return Err(TrainError::Resume { why });
        }
        let point = DualPoint { blocks: blocks.into_owned() };
        let lambda = settings.lambda_for(problem.examples());
        let mut workers = Workers::new(problem, settings.thread_count());
        // Are the blocks points of the problem? The signature knows the losses of a few outputs only.
        let bound = checkpoint.bound.as_ref().map(|bound| &bound.blocks);
        for blocks in [Some(&point.blocks), bound].into_iter().flatten() {
            if let Some((example, why)) = first_misfit(problem, &mut workers, blocks) {
                let why = format!("in example {example}, {why}");
                return Err(TrainError::Resume { why });
            }
        }
        let mut state = DualState::new(problem, lambda, point, &mut workers);
        // From the sum of the blocks back to the bits that the steps had left.
        state.restore(w.into_owned(), dual, norm_sq);

        // Continue the counts, and tell the observers.
        let clock = Clock::start_at(totals.seconds);
        let mut run = Self::new(problem, settings, hooks, state, workers, clock)?;
        run.signature = Some(checkpoint.signature);
        run.oracle_timer.add(totals.oracle_seconds);
        (run.totals, run.steps) = (totals, checkpoint.steps);
        run.is_resumed = true;
        run.judge = checkpoint.judge.into_owned();
        run.bound = checkpoint.bound.map(Cow::into_owned);
        run.estimate = checkpoint.estimate;
        run.announce(Some(totals.passes), None);
        if let Some(choice) = checkpoint.choice {
            run.announce_choice(choice.into_owned());
        }
        Ok(Resumed { run, stage, method: method.into_owned() })
    }
}
