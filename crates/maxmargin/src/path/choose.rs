//! Chooses λ: the one with the least error on held-out data.
//!
//! The search begins at a λ that is known to be sensible (see [`scale_lambda`](super::scale_lambda)), and goes
//! outwards from it in both directions, until both ends are clearly worse than the best. A difference that
//! held-out data of this size cannot show counts as none, and the λ at the beginning wins ties: so the search
//! never returns one that did worse than where it began, and it does not run after noise.
//!
//! Each λ is trained from its neighbour for a few passes, and the weighted average of the iterates is judged.
//! After so few passes, averages predict about as well as the optimum, where iterates do not, and nobody needs
//! a certificate of weights that are thrown away. Training every λ to a small gap took up to fifteen times the
//! oracle calls of the training that follows, and did not choose better (`benchmarks/results`). Work is counted
//! in passes and not in seconds, so that runs repeat. Only a time limit depends on the clock; the search may use a part of
//! it ([`SHARE`]).
//!
//! The folds of a λ, and the λ at both ends, are trained side by side. What is tried does not depend on the number
//! of threads, because the same λ go together on one thread as on many. Errors are measured afterwards, one after
//! the other in a fixed order.
//!
//! The regularization path would do as well, but its ε is absolute: where the objective falls below ε, the
//! path ends, although a smaller λ may still predict better.

use super::side_by_side::side_by_side;
use crate::dual::DualPoint;
use crate::error::TrainError;
use crate::observe::Status;
use crate::problem::Blocks;
use crate::run::{Interrupt, Solution};
use crate::settings::{Auto, BlockAverage, BlockCoordinate, BlockStep, Method, Reuse, Settings};
use crate::trainer::Trainer;
use crate::util::sort;
use std::time::Instant;

/// From each λ to the next one outwards. Around the best one, the steps are the root of this.
const FACTOR: f64 = 4.0;

/// The most steps outwards in each direction.
const MOST_STEPS: i32 = 4;

/// The passes of each λ over all folds together, and the fewest passes of a fold. A training to a gap of 1 % makes
/// oracle calls for twenty to forty passes.
const PASSES: usize = 10;
const LEAST_PASSES: usize = 5;

/// A fold with few examples visits them more often, until it has made this many visits.
const LEAST_VISITS: usize = 500;

/// The most λ that are tried.
const MOST_TRIED: usize = 9;

/// The part of the objective that each λ is trained to, where so few passes get there. Rounds over remembered corners end
/// there: those of soft constraints would go on for thousands of sweeps, with nothing to gain for a choice.
const TOLERANCE: f64 = 1e-3;

/// An end is clearly worse if its error is larger by this many standard errors.
const CLEARLY: f64 = 1.0;

/// Errors that differ by less than this many standard errors are ties.
const TIE: f64 = 0.5;

/// The error of weights on data held out.
///
/// ```
/// let found = maxmargin::HeldOutError { error: 0.25, of: 12 };
/// assert_eq!(found.standard_error(), 0.125);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HeldOutError {
    /// The error, between 0 and 1.
    pub error: f64,
    /// The number of predictions that it is measured on.
    pub of: u64,
}

impl HeldOutError {
    /// How far off the error is by chance, if all predictions are made independently of each other.
    ///
    /// ```
    /// assert_eq!(maxmargin::HeldOutError { error: 0.0, of: 10 }.standard_error(), 0.0);
    /// ```
    pub fn standard_error(&self) -> f64 {
        let error = self.error.clamp(0.0, 1.0);
        (error * (1.0 - error) / self.of.max(1) as f64).sqrt()
    }
}

/// A part of the data to train on, and the rest to measure errors on; see [`choose_lambda`].
pub struct LambdaFold<'a> {
    /// The problem of the part to train on.
    pub problem: &'a dyn Blocks,
    /// The λ at which the search begins on this part, which has fewer examples than all the data.
    pub around: f64,
    /// The error of weights on the rest.
    pub error: &'a mut dyn FnMut(&[f64]) -> HeldOutError,
}

/// A λ that [`choose_lambda`] has tried.
///
/// ```
/// let tried = maxmargin::TriedLambda { lambda: 0.5, error: 0.25 };
/// assert_eq!(tried.lambda, 0.5);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TriedLambda {
    /// λ.
    pub lambda: f64,
    /// The error of the weights that were found with it.
    pub error: f64,
}

/// The result of [`choose_lambda`].
///
/// ```
/// use maxmargin::{LambdaChoice, TriedLambda};
///
/// let tried = vec![TriedLambda { lambda: 0.5, error: 0.25 }];
/// let choice = LambdaChoice { lambda: 0.5, around: 0.5, tried, oracle_calls: 10 };
/// assert_eq!(choice.tried.len(), 1);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct LambdaChoice {
    /// The λ with the least error; among ties, the one nearest to where the search began.
    pub lambda: f64,
    /// Where the search began.
    pub around: f64,
    /// All that were tried, from the largest down, with the mean errors of the folds.
    pub tried: Vec<TriedLambda>,
    /// The oracle calls of all trainings together.
    pub oracle_calls: u64,
}

/// Chooses λ by the error on held-out data, beginning at `around`.
///
/// The folds are parts of the data: one with data of its own to measure on, or several, each of which leaves out
/// some of the examples. Of the settings, the search uses the seed and the number of threads, and the parts of
/// the block-coordinate loop if that is the solver. Otherwise it uses `auto`, which the clock can steer where
/// oracle calls are expensive. Folds, and the λ at both ends, are trained side by side on as many threads as the
/// settings say; the choice does not depend on their number. `watch` sees every λ. An interrupt ends the search
/// with the best λ so far, and so does the end of half of `max_seconds`.
///
/// ```
/// # use maxmargin::doc::toy;
/// use maxmargin::{
///     HeldOutError, Interrupt, LambdaFold, Problem, ProblemExt as _, Settings, choose_lambda,
/// };
///
/// let problem = toy();
/// let mut error = |w: &[f64]| {
///     let (mut workspace, mut y) = (problem.workspace(), Default::default());
///     let loss = |i| {
///         problem.prepare(i, w, &mut workspace);
///         problem.decode(i, w, &mut workspace, &mut y);
///         problem.loss(i, &y)
///     };
///     let n = problem.examples();
///     HeldOutError { error: (0..n).map(loss).sum::<f64>() / n as f64, of: n as u64 }
/// };
/// let mut folds = [LambdaFold { problem: &problem, around: 0.1, error: &mut error }];
/// let (settings, interrupt) = (Settings::default(), Interrupt::new());
/// let choice = choose_lambda(&mut folds, 0.1, &settings, &interrupt, |_| {})?;
/// assert!(choice.tried.iter().any(|tried| tried.lambda == choice.lambda));
/// assert!(choice.tried.len() >= 3);
/// # Ok::<(), maxmargin::TrainError>(())
/// ```
///
/// # Errors
/// A problem that makes no sense, or an error that is not a finite number.
pub fn choose_lambda(
    folds: &mut [LambdaFold<'_>],
    around: f64,
    settings: &Settings,
    interrupt: &Interrupt,
    watch: impl FnMut(&TriedLambda),
) -> Result<LambdaChoice, TrainError> {
    let mut search = Search {
        points: vec![Vec::new(); folds.len()],
        folds,
        around,
        training: training(settings),
        interrupt,
        watch,
        tried: Vec::new(),
        calls: 0,
        begun: Instant::now(),
        seconds: settings.max_seconds.map(|most| SHARE * most),
    };
    search.run()?;
    Ok(search.conclude())
}

/// A λ that was tried, by the step from where the search began: λ = around · [`FACTOR`]^step.
#[derive(Debug, Clone, Copy)]
struct Trial {
    step: f64,
    error: HeldOutError,
}

/// The share of a time limit that the search may use; the rest is left to the training that follows.
const SHARE: f64 = 0.5;

struct Search<'s, 'f, W> {
    begun: Instant,
    /// Seconds that the search may take, if there is a limit.
    seconds: Option<f64>,
    folds: &'s mut [LambdaFold<'f>],
    around: f64,
    training: Settings,
    interrupt: &'s Interrupt,
    watch: W,
    tried: Vec<Trial>,
    /// The dual points that each fold has reached, by their steps.
    points: Vec<Vec<(f64, DualPoint)>>,
    calls: u64,
}

impl<W: FnMut(&TriedLambda)> Search<'_, '_, W> {
    fn run(&mut self) -> Result<(), TrainError> {
        if !self.try_steps(&[0.0])? {
            return Ok(());
        }
        // Outwards, until both ends are clearly worse.
        let (mut low, mut high) = (0, 0);
        loop {
            let goes_down = low > -MOST_STEPS && !self.is_clearly_worse(low);
            let goes_up = high < MOST_STEPS && !self.is_clearly_worse(high);
            let mut steps = Vec::new();
            if goes_up {
                high += 1;
                steps.push(f64::from(high));
            }
            if goes_down {
                low -= 1;
                steps.push(f64::from(low));
            }
            if steps.is_empty() {
                break;
            }
            if !self.try_steps(&steps)? {
                return Ok(());
            }
        }
        // Then around the best.
        let best = self.best().step;
        self.try_steps(&[best - 0.5, best + 0.5])?;
        Ok(())
    }

    /// What is left of the time limit, if there is one.
    fn seconds_left(&self) -> Option<f64> {
        Some(self.seconds? - self.begun.elapsed().as_secs_f64())
    }

    /// Trains all folds at some steps, side by side; false if the search is to end.
    fn try_steps(&mut self, steps: &[f64]) -> Result<bool, TrainError> {
        if !self.tried.is_empty() && self.seconds_left().is_some_and(|left| left <= 0.0) {
            return Ok(false);
        }
        let affordable = steps.len().min(MOST_TRIED - self.tried.len());
        let jobs = self.jobs(&steps[..affordable]);
        let mut solutions = self.train(&jobs).into_iter();
        for &step in &steps[..affordable] {
            let (mut sum, mut of) = (0.0, 0);
            for (fold, points) in self.folds.iter_mut().zip(&mut self.points) {
                let Some(solution) = solutions.next() else { return Ok(false) };
                let solution = solution?;
                self.calls += solution.totals.oracle_calls;
                if solution.status == Status::Interrupted {
                    return Ok(false);
                }
                let found = (fold.error)(&solution.weights);
                if !found.error.is_finite() {
                    return Err(TrainError::Validation { error: found.error });
                }
                sum += found.error;
                of += found.of;
                points.push((step, solution.dual));
            }
            let error = HeldOutError { error: sum / self.folds.len().max(1) as f64, of };
            self.tried.push(Trial { step, error });
            let lambda = self.around * FACTOR.powf(step);
            (self.watch)(&TriedLambda { lambda, error: error.error });
        }
        Ok(affordable == steps.len() && !self.interrupt.is_raised())
    }

    /// The trainings of some steps: all folds of the first one, then those of the next.
    fn jobs(&self, steps: &[f64]) -> Vec<Job<'_>> {
        let shared = (PASSES / self.folds.len().max(1)).max(LEAST_PASSES);
        let job = |step: f64, fold: &LambdaFold<'_>| {
            let passes = shared.max(LEAST_VISITS / fold.problem.examples().max(1)) as u64;
            let lambda = Some(fold.around * FACTOR.powf(step));
            let max_seconds = self.seconds_left().map(|left| left.max(f64::MIN_POSITIVE));
            let training = self.training.clone();
            Settings { lambda, max_passes: passes, gap_every: passes, max_seconds, ..training }
        };
        let mut jobs = Vec::new();
        for &step in steps {
            for (fold, points) in self.folds.iter().zip(&self.points) {
                let near = points.iter().min_by(|a, b| {
                    let distance = |p: &(f64, DualPoint)| (p.0 - step).abs();
                    distance(a).total_cmp(&distance(b))
                });
                // At a smaller λ the weights are kept, at a larger one the dual variables.
                let start = near.map(|(from, point)| (point, FACTOR.powf(step - from).min(1.0)));
                jobs.push(Job { problem: fold.problem, settings: job(step, fold), start });
            }
        }
        jobs
    }

    /// The solutions of all jobs, in their order. Threads that have no job of their own are shared out.
    fn train(&self, jobs: &[Job<'_>]) -> Vec<Result<Solution, TrainError>> {
        let threads = self.training.checked().map_or(1, |checked| checked.thread_count());
        side_by_side(jobs.len(), threads, |at, threads| jobs[at].train(threads, self.interrupt))
    }

    /// The trial with the least error; among ties, the one nearest to where the search began.
    fn best(&self) -> Trial {
        let least = |a: &&Trial, b: &&Trial| a.error.error.total_cmp(&b.error.error);
        let Some(least) = self.tried.iter().min_by(least) else {
            return Trial { step: 0.0, error: HeldOutError { error: 0.0, of: 0 } };
        };
        let enough = least.error.error + TIE * least.error.standard_error();
        let ties = self.tried.iter().filter(|trial| trial.error.error <= enough);
        let nearest = ties.min_by(|a, b| a.step.abs().total_cmp(&b.step.abs()));
        *nearest.unwrap_or(least)
    }

    fn is_clearly_worse(&self, step: i32) -> bool {
        let least = self.tried.iter().map(|trial| trial.error.error).fold(f64::INFINITY, f64::min);
        let end = self.tried.iter().find(|trial| trial.step == f64::from(step));
        end.is_some_and(|end| {
            let margin = CLEARLY * end.error.standard_error();
            step != 0 && end.error.error > least + margin
        })
    }

    fn conclude(self) -> LambdaChoice {
        let best = self.best().step;
        let at = |step: f64| self.around * FACTOR.powf(step);
        let tried =
            |trial: &Trial| TriedLambda { lambda: at(trial.step), error: trial.error.error };
        let mut tried: Vec<TriedLambda> = self.tried.iter().map(tried).collect();
        sort::by(&mut tried, |a, b| b.lambda.total_cmp(&a.lambda));
        let (lambda, around, oracle_calls) = (at(best), self.around, self.calls);
        LambdaChoice { lambda, around, tried, oracle_calls }
    }
}

/// One training of a search.
struct Job<'a> {
    problem: &'a dyn Blocks,
    settings: Settings,
    /// A dual point of the same problem to begin at, and what to rescale it by.
    start: Option<(&'a DualPoint, f64)>,
}

impl Job<'_> {
    fn train(&self, threads: usize, interrupt: &Interrupt) -> Result<Solution, TrainError> {
        let settings = Settings { threads, ..self.settings.clone() };
        let own = settings.lambda.and_then(|lambda| self.problem.at_lambda(lambda));
        let problem = own.as_deref().unwrap_or(self.problem);
        let mut trainer = Trainer::new(settings).interrupt(interrupt.clone());
        if let Some((point, ratio)) = self.start {
            trainer = trainer.follow(point.rescaled(problem, ratio));
        }
        trainer.train_unproven(problem)
    }
}

/// The training settings of each λ, except λ.
fn training(settings: &Settings) -> Settings {
    let method = match &settings.method {
        Method::BlockCoordinate(chosen) => {
            let plain = BlockCoordinate::default();
            let Reuse { bytes, corners, .. } = chosen.reuse;
            let reuse = Reuse { bytes, corners, ..plain.reuse };
            let step = match chosen.step {
                BlockStep::FrankWolfe(_) => plain.step,
                step => step,
            };
            let average = BlockAverage::Weighted;
            BlockCoordinate { step, reuse, average, ..chosen.clone() }.into()
        }
        _ => Auto { average: BlockAverage::Weighted, ..Auto::default() }.into(),
    };
    Settings {
        seed: settings.seed,
        threads: settings.threads,
        tolerance: 0.0,
        relative_tolerance: TOLERANCE,
        method,
        ..Settings::default()
    }
}
