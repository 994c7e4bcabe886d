//! The one loop of all block-coordinate methods.
//!
//! A visit picks a block (order), asks its oracle for a corner, chooses a direction and a step size,
//! and moves. Each of these is a part of its own; none knows of the others.

use crate::active::{Memory, Place};
use crate::average::{Average, Averager};
use crate::bounds::bounds_in_force;
use crate::cache::{Cache, Caching};
use crate::certificate::ROUNDING;
use crate::checkpoint::{Parts, Stage};
use crate::coarse::Coarse;
use crate::crew::Scratch;
use crate::direction::{Corner, Direction};
use crate::dual::DualState;
use crate::error::TrainError;
use crate::face::FaceSteps;
use crate::observe::Choice;
use crate::order::{Order, Picker};
use crate::problem::Blocks;
use crate::rng::Rng;
use crate::run::{Check, Finished, Run};
use crate::simplex::Simplices;
use crate::solver::Solver;
use crate::status::Status;
use crate::step::Pace;
use std::borrow::Cow;

mod simplices;

/// Trains by block-coordinate Frank-Wolfe, from `stage` on, with the parts of a run that is resumed.
pub(crate) fn run(
    run: Run<'_, '_>,
    mut stage: Stage,
    parts: Option<Parts<'static>>,
) -> Result<Finished, TrainError> {
    let mut driver = Driver::new(run, parts);
    loop {
        let (early, known) = match stage {
            Stage::PassDone { early, check } => (early, check),
            Stage::Pass { visits } => {
                let (dual, begin) = (driver.run.state.dual, driver.run.seconds().0);
                let end = driver.pass(visits)?;
                if let PassEnd::Limit { status, visits } = end {
                    return driver.finish(status, Stage::Pass { visits });
                }
                if let (Some(memory), None) = (&mut driver.memory, &driver.coarse) {
                    let (gained, now) = (driver.run.state.dual - dual, driver.run.seconds().0);
                    memory.cache.choose_turn(gained / (now - begin).max(f64::MIN_POSITIVE));
                }
                if end == PassEnd::Trusted {
                    driver.run.trust(driver.picker.known_gaps().unwrap_or_default());
                    let done = Stage::PassDone { early: false, check: None };
                    return driver.finish(Status::Estimated, done);
                }
                (end == PassEnd::Early, None)
            }
        };
        if driver.run.settings.solver == Solver::Auto && driver.run.choice.is_none() {
            driver.choose_direction();
        }
        let last = driver.run.is_last_pass();
        let due = early || driver.run.totals.passes.is_multiple_of(driver.run.settings.gap_every);
        // A check that is made only because the run ends is none of a longer run's, which goes on
        // without it.
        let mut kept = last && !due;
        if kept {
            driver.keep(Stage::PassDone { early, check: None })?;
        }
        let checked = match known {
            _ if !last && !due => None,
            Some(check) => Some((check, driver.average())),
            None => Some(driver.check()?),
        };
        let check = checked.as_ref().map(|(check, _)| *check);
        let ending = last || driver.run.verdict(check.as_ref()).is_some();
        if !kept && (ending || driver.run.is_checkpoint_due()) {
            driver.keep(Stage::PassDone { early, check })?;
            kept = true;
        }
        let ended = driver.run.end_pass(check.as_ref());
        stage = Stage::START;
        match (ended.or(last.then_some(Status::MaxPasses)), checked) {
            (None, _) => {}
            (Some(status), None) => return driver.finish(status, stage),
            (Some(status), Some((check, average))) => {
                if !kept {
                    driver.keep(stage)?;
                }
                return driver.run.finish(status, check, average);
            }
        }
    }
}

/// How a pass has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PassEnd {
    /// After n visits.
    Full,
    /// The gaps known so far promise that little is left, which only an exact pass can confirm.
    Early,
    /// The gaps known so far are within the tolerance, and that is all that was asked for.
    Trusted,
    /// A limit was reached after so many visits.
    Limit { status: Status, visits: usize },
}

/// Known gaps that sum to this share of the tolerance are worth an exact pass: they are a little out
/// of date, so they have to promise more than is asked for.
const PROMISING: f64 = 0.8;

/// A step that goes so far goes all the way, but for rounding.
const ALL_THE_WAY: f64 = 1.0 - 1e-9;

/// An oracle call that takes longer is worth avoiding, if such calls take this share of the time.
const DEAR_CALL: f64 = 20e-6;
const DEAR_SHARE: f64 = 0.5;

struct Driver<'p, 'o> {
    run: Run<'p, 'o>,
    picker: Picker,
    rng: Rng,
    averager: Option<Averager>,
    /// Where directions or the cache need to know the corners of blocks.
    memory: Option<Memory>,
    /// While the direction `staged` takes plain steps.
    coarse: Option<Coarse>,
    /// Where blocks are simplices and the direction makes use of it.
    simplices: Option<&'p dyn Simplices>,
    /// Steps of all such blocks together.
    face: Option<FaceSteps>,
}

impl<'p, 'o> Driver<'p, 'o> {
    fn new(run: Run<'p, 'o>, parts: Option<Parts<'static>>) -> Self {
        let (s, n) = (&run.settings, run.examples());
        let corrects = matches!(s.direction, Direction::Corrective | Direction::Staged);
        let knows_optima = corrects && s.cache == Caching::Off;
        let simplices = run.problem.simplices().filter(|_| knows_optima);
        if let Some(Parts { picker, rng, averager, memory, coarse, face }) = parts {
            return Self {
                run,
                picker: picker.into_owned(),
                rng: rng.into_owned(),
                averager: averager.map(Cow::into_owned),
                memory: memory.map(Cow::into_owned),
                coarse: coarse.map(Cow::into_owned),
                simplices,
                face: face.map(Cow::into_owned),
            };
        }
        let remembers = simplices.is_none()
            && (s.direction != Direction::FrankWolfe || s.cache != Caching::Off);
        let cache = || Cache::new(s.cache, n, s.cache_factor, s.cache_nu, s.cache_bytes);
        // A point that was worth starting from has its coarse work done.
        let from_zero = run.state.norm_sq == 0.0;
        let begins_coarse = s.direction == Direction::Staged && remembers && from_zero;
        let order = if begins_coarse { Order::Permutation } else { s.order };
        let mut picker = Picker::new(order, n, s.gap_power);
        let mut memory = remembers.then(|| Memory::new(run.problem, &run.state.blocks, cache()));
        if let Some(gaps) = &run.block_gaps {
            picker.refresh(gaps.iter().copied());
            if let Some(memory) = &mut memory {
                memory.cache.note_exact(gaps.iter().copied());
            }
        }
        Self {
            picker,
            rng: Rng::new(s.seed),
            averager: (s.average != Average::None).then(|| Averager::new(n, s.average)),
            memory,
            coarse: begins_coarse.then(|| Coarse::new(n)),
            simplices,
            // With bounds the dual is no quadratic any more.
            face: (simplices.is_some() && bounds_in_force(run.problem).is_none())
                .then(FaceSteps::default),
            run,
        }
    }

    /// Decides for `auto`, from what the first pass took, whether it was the last of plain steps: where
    /// oracles take most of the time, and more than a moment, every call is to be used to the full.
    fn choose_direction(&mut self) {
        let Self { run, memory: Some(_), .. } = self else { return self.choose_no_memory() };
        let (all, oracles) = run.seconds();
        let call = run.undisturbed_call();
        let share = oracles / all.max(f64::MIN_POSITIVE);
        let dear = call > DEAR_CALL && share > DEAR_SHARE;
        let (order, cache) = (run.settings.order, run.settings.cache);
        let direction = if dear { Direction::Corrective } else { run.settings.direction };
        let each =
            if call < 1e-3 { format!("{:.1} µs", 1e6 * call) } else { format!("{call:.3} s") };
        let share = format!("{:.0} %", 100.0 * share);
        let why = format!("oracle calls take {each} each and {share} of the time");
        let reason = format!("order {order}, direction {direction}, cache {cache}: {why}");
        run.choose(Choice { order, direction, cache, reason });
        if dear {
            self.settle();
        }
    }

    /// As [`choose_direction`](Self::choose_direction), where there are no corners to keep.
    fn choose_no_memory(&mut self) {
        let (order, direction) = (self.run.settings.order, self.run.settings.direction);
        let cache = Caching::Off;
        let why = "blocks are simplices, whose best points have a closed form";
        let reason = format!("order {order}, direction {direction}, cache {cache}: {why}");
        self.run.choose(Choice { order, direction, cache, reason });
    }

    /// Hands out a checkpoint, if anyone takes it.
    fn keep(&mut self, stage: Stage) -> Result<(), TrainError> {
        let parts = Parts {
            picker: Cow::Borrowed(&self.picker),
            rng: Cow::Borrowed(&self.rng),
            averager: self.averager.as_ref().map(Cow::Borrowed),
            memory: self.memory.as_ref().map(Cow::Borrowed),
            coarse: self.coarse.as_ref().map(Cow::Borrowed),
            face: self.face.as_ref().map(Cow::Borrowed),
        };
        self.run.keep(stage, Some(parts))
    }

    /// n visits, of which `done` are done already, unless something ends the pass before.
    fn pass(&mut self, done: usize) -> Result<PassEnd, TrainError> {
        let (n, averaging) = (self.run.examples(), self.averager.is_some());
        // The gaps of blocks are those of the iterate, and promise nothing of an average.
        let promising = if averaging { 0.0 } else { PROMISING * self.run.settings.tolerance };
        for visits in done..n {
            if let Some(status) = self.run.limit() {
                return Ok(PassEnd::Limit { status, visits });
            }
            self.run.totals.passes += u64::from(visits == 0);
            let next = self.picker.next(&mut self.rng);
            // Where the iterate is at its end, the average still moves towards it with every visit.
            let any = |rng: &mut Rng| averaging.then(|| rng.below(n));
            let Some(i) = next.or_else(|| any(&mut self.rng)) else { return Ok(PassEnd::Early) };
            if let Some(next) = self.picker.peek() {
                match (&self.memory, &self.coarse) {
                    (Some(memory), None) => memory.prefetch(self.run.problem, next),
                    _ => self.run.state.prefetch(next),
                }
            }
            match (self.simplices, &self.memory) {
                (Some(simplices), _) => self.visit_simplex(i, simplices)?,
                (None, Some(_)) if self.coarse.is_none() => self.visit_remembering(i)?,
                (None, _) => self.visit(i)?,
            }
            let known = self.picker.known_gap();
            if self.run.trusting && known.is_some_and(|gap| gap <= self.run.settings.tolerance) {
                return Ok(PassEnd::Trusted);
            }
            if known.is_some_and(|gap| gap < promising) {
                return Ok(PassEnd::Early);
            }
            if self.picker.ends_sweep(n, visits + 1) {
                self.move_together(known);
            }
        }
        match &mut self.coarse {
            None => Ok(PassEnd::Full),
            Some(coarse) => {
                // Plain steps let all gaps fall from pass to pass, so that what is known is rather too much.
                let early = !averaging && coarse.known_gap() < self.run.settings.tolerance;
                if coarse.is_done(self.run.totals.passes, self.run.settings.tolerance) {
                    self.settle();
                }
                Ok(if early { PassEnd::Early } else { PassEnd::Full })
            }
        }
    }

    /// Ends the coarse work of the direction `staged`, if it is under way.
    fn settle(&mut self) {
        let Self { run, picker, memory: Some(memory), coarse, .. } = self else { return };
        let Some(coarse) = coarse.take() else { return };
        memory.settle(run.problem, &run.state.blocks, coarse.left());
        let gaps = || coarse.gaps().iter().copied();
        memory.cache.note_exact(gaps());
        *picker = Picker::new(run.settings.order, run.examples(), run.settings.gap_power);
        picker.refresh(gaps());
    }

    /// One oracle call and one step.
    fn visit(&mut self, i: usize) -> Result<(), TrainError> {
        let run = &mut self.run;
        run.oracle(i);
        let k = run.totals.visits;
        run.totals.visits += 1;
        if let Some(memory) = &mut self.memory {
            memory.cache.stats.misses += 1;
            run.totals.cache = Some(memory.cache.stats);
        }
        let slope = self.choose(i)?;
        self.picker.update(i, slope);
        if let Some(coarse) = &mut self.coarse {
            coarse.note(i, slope);
        }
        self.step(i, slope, k)
    }

    /// Moves block `i` along the direction in the scratch, on which the dual rises with `slope` at
    /// first, in visit `k` (counted from 0).
    fn step(&mut self, i: usize, slope: f64, k: u64) -> Result<(), TrainError> {
        let (problem, rule) = (self.run.problem, self.run.settings.step);
        let pace = Pace { rule, k, blocks: self.run.examples() };
        let (state, scratch) = self.run.state_and_scratch();
        let (step, worker) = (&scratch.step, &mut *scratch.worker);
        let stride = state.stride(i, &step.parts, slope, step.longest, pace, worker);
        let mut stride = stride.ok_or(TrainError::NotFinite { example: i })?;
        if self.simplices.is_some() && stride.gamma > ALL_THE_WAY {
            stride.gamma = 1.0;
        }
        if stride.gamma > 0.0 {
            if let Some(averager) = &mut self.averager {
                averager.before_change(i, k + 1, &state.blocks[i]);
            }
            state.move_block(i, step, &scratch.corner, stride.gamma);
            state.follow(i, &step.parts, stride);
            if let (Some(coarse), Some(memory)) = (&mut self.coarse, &mut self.memory) {
                let Corner { parts, loss, .. } = &scratch.corner;
                // Runs begin at the truth, as a rule; and where atoms are need not be looked up then.
                let first = *loss == 0.0 && memory.is_first(problem, i, parts, *loss);
                coarse.follow(i, stride.gamma, first);
            }
        }
        let longest = step.longest;
        self.run.note_step(stride.gamma, longest);
        Ok(())
    }

    /// The direction towards the corner in the scratch, or towards the truth if an inexact oracle
    /// has found something worse than that or than the block's own point; the slope of the dual along
    /// it.
    fn choose(&mut self, i: usize) -> Result<f64, TrainError> {
        let problem = self.run.problem;
        let (state, scratch) = self.run.state_and_scratch();
        let loss = scratch.corner.loss;
        if loss < 0.0 && !problem.has_signed_losses() {
            return Err(TrainError::Loss { example: i, loss });
        }
        let below_truth =
            !problem.quality().is_exact() && is_below_truth(problem, i, &state.w, scratch);
        scratch.step.go_to(&state.blocks[i], &scratch.corner);
        let mut slope = state.slope(i, &scratch.step, &*scratch.worker);
        let falls =
            slope < 0.0 && state.is_below_rounding(i, &scratch.corner, &scratch.step, slope);
        if falls || below_truth {
            scratch.fall_back_to_truth(problem, i);
            scratch.step.go_to(&state.blocks[i], &scratch.corner);
            slope = state.slope(i, &scratch.step, &*scratch.worker);
            self.run.totals.oracle_failures += 1;
        }
        if slope.is_finite() { Ok(slope) } else { Err(TrainError::NotFinite { example: i }) }
    }

    /// A visit to a block that remembers its corners: a remembered corner if it will do, else the
    /// oracle's, and a step in a direction that knows all of them.
    fn visit_remembering(&mut self, i: usize) -> Result<(), TrainError> {
        let Self { run, picker, averager, memory: Some(memory), .. } = self else { return Ok(()) };
        let (problem, k) = (run.problem, run.totals.visits);
        let direction = run.settings.direction;
        let pace = Pace { rule: run.settings.step, k, blocks: run.examples() };
        run.totals.visits += 1;
        let mut remembered = None;
        if memory.cache.may_hit(i) {
            let (state, scratch) = run.state_and_scratch();
            memory.prepare(i, state, &mut *scratch.worker);
            remembered = Some(memory.look(i, state, &*scratch.worker));
        }
        if remembered.is_some_and(|gap| memory.cache.is_hit(i, gap)) {
            memory.cache.stats.hits += 1;
        } else {
            memory.cache.stats.misses += 1;
            run.oracle(i);
            let (state, scratch) = run.state_and_scratch();
            let remembered = remembered.unwrap_or_else(|| memory.look(i, state, &*scratch.worker));
            let loss = scratch.corner.loss;
            if loss < 0.0 && !problem.has_signed_losses() {
                return Err(TrainError::Loss { example: i, loss });
            }
            let mut add = |scratch: &Scratch<'_>| {
                let corner = (&scratch.corner.parts, scratch.corner.loss);
                memory.add(problem, i, corner, |parts| scratch.worker.score(i, &state.w, parts))
            };
            let mut added = add(scratch);
            let mut failed = added.ahead < -added.rounding;
            if !problem.quality().is_exact() && added.value < -added.rounding {
                scratch.fall_back_to_truth(problem, i);
                added = add(scratch);
                failed = true;
            }
            let gap = (state.shares.of(i) * added.ahead).max(remembered);
            run.totals.oracle_failures += u64::from(failed);
            picker.update(i, gap);
            memory.cache.note_oracle(i, gap);
        }
        let (state, scratch) = run.state_and_scratch();
        if let Some(averager) = averager {
            memory.refresh(problem, i, &mut state.blocks[i]);
            averager.before_change(i, k + 1, &state.blocks[i]);
        }
        let at = Place { i, state, worker: &mut *scratch.worker };
        let outcome = memory.step(at, direction, pace);
        memory.tidy(i);
        run.totals.cache = Some(memory.cache.stats);
        let outcome = outcome.ok_or(TrainError::NotFinite { example: i })?;
        run.note_step(outcome.gamma, outcome.longest);
        Ok(())
    }

    /// The exact gap of what would be returned now: the average if there is one, else the iterate.
    fn check(&mut self) -> Result<(Check, Option<DualState<'p>>), TrainError> {
        let Some(averager) = self.averager.take() else {
            let check = self.check_iterate()?;
            return Ok((self.run.validate(check, None)?, None));
        };
        let drift = match self.picker.follows_gaps() || self.memory.is_some() {
            true => self.check_iterate()?.drift,
            false => {
                let drift = self.run.rebuild();
                self.run.note_bound();
                Some(drift)
            }
        };
        let point = averager.point(self.run.totals.visits, &self.run.state.blocks);
        let (check, average) = self.run.check_other(point, None)?;
        self.averager = Some(averager);
        let check = self.run.validate(check, Some(&average))?;
        Ok((Check { drift, ..check }, Some(average)))
    }

    /// The average, if there is one; its gap is known.
    fn average(&mut self) -> Option<DualState<'p>> {
        let point = self.averager.as_ref()?.point(self.run.totals.visits, &self.run.state.blocks);
        Some(self.run.state_at(point))
    }

    /// The exact gap of the iterate, of which all that follow gaps take note.
    fn check_iterate(&mut self) -> Result<Check, TrainError> {
        let Self { run, picker, memory, .. } = self;
        if let Some(memory) = memory {
            memory.refresh_all(run.problem, &mut run.state.blocks);
        }
        run.estimate(picker.known_gap());
        let check = run.check()?;
        let gaps = || run.readings.iter().map(|reading| reading.gap);
        picker.refresh(gaps());
        if let Some(memory) = memory {
            memory.cache.note_exact(gaps());
        }
        Ok(check)
    }

    /// Ends a run at `stage`, where its gap is not known yet.
    fn finish(mut self, status: Status, stage: Stage) -> Result<Finished, TrainError> {
        self.keep(stage)?;
        let (check, average) = self.check()?;
        self.run.end_pass(Some(&check));
        self.run.finish(status, check, average)
    }
}

/// Whether the corner in the scratch scores below the truth, by more than rounding can explain.
fn is_below_truth(problem: &dyn Blocks, i: usize, w: &[f64], scratch: &mut Scratch<'_>) -> bool {
    let Scratch { worker, corner, step, parts, .. } = scratch;
    parts.clear();
    problem.truth_parts(i, parts);
    step.parts.assign_difference(&corner.parts, parts);
    let score = worker.score(i, w, &step.parts);
    corner.loss + score < -ROUNDING * (1.0 + corner.loss + score.abs())
}
