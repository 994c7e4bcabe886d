//! Chooses the λ with the smallest error on held-out data, from a grid that goes from strong to weak
//! regularization. The training of each λ starts from the result of the one before.
//!
//! The regularization path is not used because its ε is absolute: if the objective falls below ε, the
//! path ends, although a smaller λ may still predict better. The grid continues, with an accuracy
//! relative to the objective.

use super::settings::PathSettings;
use super::start::first;
use crate::certificate::check_problem;
use crate::error::TrainError;
use crate::observe::Status;
use crate::problem::Blocks;
use crate::run::Interrupt;
use crate::settings::{BlockCoordinate, BlockStep, Method, Reuse, Settings};
use crate::trainer::Trainer;

/// The factor from each λ to the next.
const FACTOR: f64 = 0.5;

/// The gap of each solution, as a share of the objective: enough to tell a good λ from a bad one.
const ACCURACY: f64 = 0.05;

/// The search ends when this many λ in a row have not been better, once something is learned (see
/// [`LEARNING`]).
const PATIENCE: usize = 5;

/// Patience counts only after the objective has fallen below this share of its value without any
/// learning. Before that, regularization is so strong that errors change by chance only.
const LEARNING: f64 = 0.9;

/// A λ that [`choose_lambda`] has tried.
///
/// ```
/// let tried = maxmargin::TriedLambda { lambda: 0.5, error: 0.25 };
/// assert_eq!(tried.lambda, 0.5);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
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
/// let choice = LambdaChoice { lambda: 0.5, tried: vec![TriedLambda { lambda: 0.5, error: 0.25 }] };
/// assert_eq!(choice.tried.len(), 1);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct LambdaChoice {
    /// The λ with the smallest error, or the middle one at ties.
    pub lambda: f64,
    /// All λ that were tried, from the largest down.
    pub tried: Vec<TriedLambda>,
}

/// Chooses λ by the error that `error` measures, given λ and its weights, usually on held-out data.
///
/// The search begins at regularization so strong that hardly anything is learned, halves λ each time, and
/// ends at `lowest`, or when the last five errors were not better than the best one before. Of the
/// settings, it uses the seed and the number of threads, and the parts of the block-coordinate loop if
/// that is the solver. Otherwise it uses `auto`, which the clock can steer where oracle calls are
/// expensive. An interrupt ends it with the best λ so far.
///
/// ```
/// # use maxmargin::doc::toy;
/// use maxmargin::{Interrupt, Problem, ProblemExt as _, Settings, choose_lambda};
///
/// let problem = toy();
/// let losses = |_: f64, w: &[f64]| {
///     let (mut workspace, mut y) = (problem.workspace(), Default::default());
///     let loss = |i| {
///         problem.prepare(i, w, &mut workspace);
///         problem.decode(i, w, &mut workspace, &mut y);
///         problem.loss(i, &y)
///     };
///     (0..problem.examples()).map(loss).sum::<f64>()
/// };
/// let choice = choose_lambda(&problem, &Settings::default(), 1e-3, &Interrupt::new(), losses)?;
/// assert!(choice.tried.iter().any(|tried| tried.lambda == choice.lambda));
/// assert!(choice.tried.iter().all(|tried| tried.lambda >= 1e-3));
/// # Ok::<(), maxmargin::TrainError>(())
/// ```
///
/// # Errors
/// If the problem is invalid, or if an error is not finite.
pub fn choose_lambda(
    problem: &dyn Blocks,
    settings: &Settings,
    lowest: f64,
    interrupt: &Interrupt,
    mut error: impl FnMut(f64, &[f64]) -> f64,
) -> Result<LambdaChoice, TrainError> {
    let training = training(settings);
    check_problem(problem)?;
    let path = PathSettings { training: training.clone(), ..PathSettings::default() };
    let start = first(problem, &path)?.solution;
    let (mut lambda, mut point) = (start.lambda, start.dual);
    let (mut best, mut tried, mut since) = (f64::INFINITY, Vec::new(), 0);
    let (mut primal, mut without) = (1.0, None);
    // Train at smaller and smaller λ, each time from the last dual point.
    while lambda * FACTOR >= lowest && since < PATIENCE && !interrupt.is_raised() {
        lambda *= FACTOR;
        let (at, tolerance) = (Some(lambda), ACCURACY * primal);
        let solution = Trainer::new(Settings { lambda: at, tolerance, ..training.clone() })
            .follow(point.rescaled(problem, FACTOR))
            .interrupt(interrupt.clone())
            .train(problem)?;
        if solution.status == Status::Interrupted {
            break;
        }
        let error = error(lambda, &solution.weights);
        if !error.is_finite() {
            return Err(TrainError::Validation { error });
        }
        tried.push(TriedLambda { lambda, error });
        (point, primal) = (solution.dual, solution.certificate.primal);
        // Count the λ without improvement, once something is learned.
        let learning = primal < LEARNING * *without.get_or_insert(primal);
        if error < best {
            (best, since) = (error, 0);
        } else if learning {
            since += 1;
        }
    }
    // Errors on few labels tie easily, and the curve is a bowl: its bottom is in the middle of the ties.
    let ties: Vec<f64> = tried.iter().filter(|t| t.error == best).map(|t| t.lambda).collect();
    let lambda = ties.get(ties.len() / 2).copied().unwrap_or(lambda);
    Ok(LambdaChoice { lambda, tried })
}

/// The training settings of each λ, except λ and the tolerance.
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
        max_passes: u64::MAX,
        method,
        ..Settings::default()
    }
}
