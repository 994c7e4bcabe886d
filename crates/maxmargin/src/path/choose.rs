//! Chooses λ: the one with the least error on held-out data.
//!
//! The search begins at a λ that is known to be sensible (see [`scale_lambda`](super::scale_lambda)), and goes
//! outwards from it in both directions, until both ends are clearly worse than the best. Each λ is trained
//! from its neighbour, to an accuracy relative to the objective. A difference that held-out data of this
//! size cannot show counts as none, and the λ at the beginning wins ties: so the search never returns one that
//! did worse than where it began, and it does not run after noise. Work is limited in oracle calls, and not by
//! the clock, so that runs repeat.
//!
//! The regularization path would do as well, but its ε is absolute: where the objective falls below ε, the
//! path ends, although a smaller λ may still predict better.

use crate::dual::DualPoint;
use crate::error::TrainError;
use crate::observe::Status;
use crate::problem::Blocks;
use crate::run::Interrupt;
use crate::settings::{BlockCoordinate, BlockStep, Method, Reuse, Settings};
use crate::trainer::Trainer;

/// From each λ to the next one outwards. Around the best one, the steps are the root of this.
const FACTOR: f64 = 4.0;

/// The most steps outwards in each direction.
const MOST_STEPS: i32 = 4;

/// The gap of each solution, as a share of the objective: enough to tell a good λ from a bad one.
const ACCURACY: f64 = 0.05;

/// A search may take so many times the oracle calls that its first λ takes. Training to a gap of 1 % takes
/// about twice as many as training to [`ACCURACY`], so that this is about four trainings.
const BUDGET: f64 = 8.0;

/// The most times the oracle calls of the first λ that another λ may take.
const MOST_TIMES_FIRST: u64 = 3;

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
/// oracle calls are expensive. `watch` is told of every λ. An interrupt ends the search with the best λ so far.
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
        first_calls: 0,
        calls: 0,
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

struct Search<'s, 'f, W> {
    folds: &'s mut [LambdaFold<'f>],
    around: f64,
    training: Settings,
    interrupt: &'s Interrupt,
    watch: W,
    tried: Vec<Trial>,
    /// Of each fold, the dual points that were reached, by their steps.
    points: Vec<Vec<(f64, DualPoint)>>,
    first_calls: u64,
    calls: u64,
}

impl<W: FnMut(&TriedLambda)> Search<'_, '_, W> {
    fn run(&mut self) -> Result<(), TrainError> {
        if !self.try_step(0.0)? {
            return Ok(());
        }
        self.first_calls = self.calls;
        // Outwards, until both ends are clearly worse.
        let (mut low, mut high) = (0, 0);
        loop {
            let goes_down = low > -MOST_STEPS && !self.is_clearly_worse(low);
            let goes_up = high < MOST_STEPS && !self.is_clearly_worse(high);
            if goes_up {
                high += 1;
                if !self.try_step(f64::from(high))? {
                    return Ok(());
                }
            }
            if goes_down {
                low -= 1;
                if !self.try_step(f64::from(low))? {
                    return Ok(());
                }
            }
            if !goes_down && !goes_up {
                break;
            }
        }
        // Then around the best.
        let best = self.best().step;
        for step in [best - 0.5, best + 0.5] {
            if !self.try_step(step)? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Trains all folds at a step; false if the search is to end.
    fn try_step(&mut self, step: f64) -> Result<bool, TrainError> {
        let is_first = self.tried.is_empty();
        // What is left has to be enough for a λ that takes as long as the first.
        let spent = (self.calls + self.first_calls) as f64;
        if !is_first && spent > BUDGET * self.first_calls as f64 {
            return Ok(false);
        }
        // On average over the folds.
        let most = (MOST_TIMES_FIRST * self.first_calls / self.folds.len().max(1) as u64).max(1);
        let factor = FACTOR.powf(step);
        let (mut sum, mut of) = (0.0, 0);
        for (fold, points) in self.folds.iter_mut().zip(&mut self.points) {
            let near = points.iter().min_by(|a, b| {
                let distance = |p: &(f64, DualPoint)| (p.0 - step).abs();
                distance(a).total_cmp(&distance(b))
            });
            let mut trainer = Trainer::new(Settings {
                lambda: Some(fold.around * factor),
                max_oracle_calls: (!is_first).then_some(most),
                ..self.training.clone()
            })
            .interrupt(self.interrupt.clone());
            if let Some((from, point)) = near {
                // At a smaller λ the weights are kept, at a larger one the dual variables.
                let ratio = FACTOR.powf(step - from).min(1.0);
                trainer = trainer.follow(point.rescaled(fold.problem, ratio));
            }
            let solution = trainer.train(fold.problem)?;
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
        (self.watch)(&TriedLambda { lambda: self.around * factor, error: error.error });
        Ok(!self.interrupt.is_raised())
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
        tried.sort_by(|a, b| b.lambda.total_cmp(&a.lambda));
        let (lambda, around, oracle_calls) = (at(best), self.around, self.calls);
        LambdaChoice { lambda, around, tried, oracle_calls }
    }
}

/// The training settings of each λ, except λ.
fn training(settings: &Settings) -> Settings {
    let method = match &settings.method {
        Method::BlockCoordinate(chosen) => {
            let plain = BlockCoordinate::default();
            let reuse = Reuse { bytes: chosen.reuse.bytes, ..plain.reuse };
            let step = match chosen.step {
                BlockStep::FrankWolfe(_) => plain.step,
                step => step,
            };
            BlockCoordinate { step, reuse, average: plain.average, ..chosen.clone() }.into()
        }
        _ => Method::default(),
    };
    Settings {
        seed: settings.seed,
        threads: settings.threads,
        tolerance: 0.0,
        relative_tolerance: ACCURACY,
        method,
        ..Settings::default()
    }
}
