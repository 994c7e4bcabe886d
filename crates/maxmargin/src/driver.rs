//! The one loop of all block-coordinate methods.
//!
//! A visit picks a block (order), asks its oracle for a corner, chooses a direction and a step size,
//! and moves. Each of these is a part of its own; none knows of the others.

use crate::average::{Average, Averager};
use crate::dual::{Ascent, DualState};
use crate::error::TrainError;
use crate::order::Picker;
use crate::problem::Problem;
use crate::rng::Rng;
use crate::run::{Check, Run};
use crate::status::Status;
use crate::trainer::Solution;

/// Trains by block-coordinate Frank-Wolfe.
pub(crate) fn run<P: Problem>(run: Run<'_, '_, P>) -> Result<Solution, TrainError> {
    let n = run.examples();
    let settings = &run.settings;
    let mut driver = Driver {
        picker: Picker::new(settings.order, n),
        rng: Rng::new(settings.seed),
        averager: (settings.average == Average::Weighted).then(|| Averager::new(n)),
        run,
    };
    loop {
        let interrupted = driver.pass()?;
        let run = &mut driver.run;
        if let Some(status) = interrupted {
            return driver.finish(status);
        }
        let passes = run.totals.passes;
        let last = passes >= run.settings.max_passes;
        if last || passes.is_multiple_of(run.settings.gap_every) {
            let (check, average) = driver.check()?;
            let ended = driver.run.end_pass(Some(&check));
            if let Some(status) = ended.or(last.then_some(Status::MaxPasses)) {
                return Ok(driver.run.finish(status, check, average));
            }
        } else if let Some(status) = run.end_pass(None) {
            return driver.finish(status);
        }
    }
}

struct Driver<'p, 'o, P: Problem> {
    run: Run<'p, 'o, P>,
    picker: Picker,
    rng: Rng,
    averager: Option<Averager>,
}

impl<'p, P: Problem> Driver<'p, '_, P> {
    /// n visits, unless a limit is reached before.
    fn pass(&mut self) -> Result<Option<Status>, TrainError> {
        for visit in 0..self.run.examples() {
            if let Some(status) = self.run.limit() {
                return Ok(Some(status));
            }
            self.run.totals.passes += u64::from(visit == 0);
            let i = self.picker.next(&mut self.rng);
            if let Some(next) = self.picker.peek() {
                self.run.state.prefetch(next);
            }
            self.visit(i)?;
        }
        Ok(None)
    }

    /// One oracle call and one step.
    fn visit(&mut self, i: usize) -> Result<(), TrainError> {
        let run = &mut self.run;
        run.oracle(i);
        let (rule, k, n) = (run.settings.step, run.totals.visits, run.examples());
        run.totals.visits += 1;

        let ascent = self.choose(i)?;
        let (state, scratch) = self.run.state_and_scratch();
        let longest = scratch.step.longest;
        let gamma = rule.size(ascent.slope, ascent.curvature, longest, k, n);
        if gamma > 0.0 {
            if let Some(averager) = &mut self.averager {
                averager.before_change(i, k + 1, &state.blocks[i]);
            }
            state.apply(i, &scratch.step, &scratch.corner, gamma, ascent);
        }
        self.run.note_step(gamma, longest);
        Ok(())
    }

    /// The direction towards the corner in the scratch, or towards the truth if an inexact oracle
    /// has found something worse than the block's own point.
    fn choose(&mut self, i: usize) -> Result<Ascent, TrainError> {
        let problem = self.run.problem;
        let direction = self.run.settings.direction;
        let (state, scratch) = self.run.state_and_scratch();
        let loss = scratch.corner.loss;
        if loss < 0.0 {
            return Err(TrainError::Loss { example: i, loss });
        }
        direction.choose(&state.blocks[i], &scratch.corner, &mut scratch.step);
        let mut ascent = state.ascent(i, &scratch.step, &mut scratch.workspace);
        if ascent.slope < 0.0 && state.is_below_rounding(i, &scratch.corner, &scratch.step, ascent)
        {
            scratch.fall_back_to_truth(problem, i);
            direction.choose(&state.blocks[i], &scratch.corner, &mut scratch.step);
            ascent = state.ascent(i, &scratch.step, &mut scratch.workspace);
            self.run.totals.oracle_failures += 1;
        }
        if ascent.is_finite() { Ok(ascent) } else { Err(TrainError::NotFinite { example: i }) }
    }

    /// The exact gap of what would be returned now: the average if there is one, else the iterate.
    fn check(&mut self) -> Result<(Check, Option<DualState<'p, P>>), TrainError> {
        match &self.averager {
            None => Ok((self.run.check()?, None)),
            Some(averager) => {
                let run = &mut self.run;
                let drift = run.rebuild();
                let point = averager.point(run.totals.visits, &run.state.blocks);
                let (check, average) = run.check_other(point)?;
                Ok((Check { drift: Some(drift), ..check }, Some(average)))
            }
        }
    }

    /// Ends a run whose gap is not known yet.
    fn finish(mut self, status: Status) -> Result<Solution, TrainError> {
        let (check, average) = self.check()?;
        self.run.end_pass(Some(&check));
        Ok(self.run.finish(status, check, average))
    }
}
