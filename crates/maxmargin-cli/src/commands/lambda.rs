//! Choosing λ: the one with the least error on data held out, of a grid from strong to weak
//! regularization, each trained from the one before.
//!
//! The regularization path with its guarantee would do as well, but its ε is absolute: where the
//! objective falls below it, the path ends, though a smaller λ may still predict better. The grid goes
//! on, with an accuracy relative to the objective.

use super::session::{Task, errors_of};
use super::train::on_ctrl_c;
use super::validation::split;
use crate::kind::{self, Beside, Kind, Labelled, Training, UseProblem};
use crate::screen::Screen;
use anyhow::{Context as _, Result, bail};
use maxmargin::evaluate::SequenceErrors;
use maxmargin::observe::Control;
use maxmargin::{PathSettings, Problem, Settings, Trainer, regularization_path_with};
use std::borrow::Cow;

/// From each λ to the next.
const FACTOR: f64 = 0.5;

/// The gap of each solution, as a share of the objective: enough to tell a good λ from a bad one.
const ACCURACY: f64 = 0.05;

/// The search ends when so many in a row have not been better,
const PATIENCE: usize = 5;

/// once the objective has fallen below this share of what it is without any learning: before that,
/// regularization is so strong that errors change by chance only.
const LEARNING: f64 = 0.9;

/// Chooses λ by the error on `validation`, or on a random tenth of the data.
pub(super) fn choose<K: Kind>(
    task: &Task,
    data: &Training<K>,
    validation: Option<&Labelled<K::Examples>>,
    settings: &Settings,
    screen: &Screen,
) -> Result<f64> {
    let lowest = 0.1 / K::count(&data.examples) as f64;
    let (train, held_out) = match validation {
        Some(named) => (data.examples.clone(), Cow::Borrowed(named)),
        None => {
            let (rest, out) = split(data, settings.seed, "--lambda auto")?;
            (rest, Cow::Owned(out))
        }
    };
    let training = Settings {
        seed: settings.seed,
        threads: settings.threads,
        max_passes: u64::MAX,
        ..Settings::default()
    };
    let errors =
        |w: &[f64], beside: Beside<'_>| errors_of::<K>(&data.spec, w, beside, &held_out.examples);
    let bounds = kind::resolve(&task.bounds, &data.spec.clone().into())?;
    let search = Search { lowest, training, errors, labels: K::NOUNS.labels, screen };
    K::with_problem(&data.spec, train, bounds, search)
}

/// A search for λ, on whatever problem.
struct Search<'a, E> {
    lowest: f64,
    training: Settings,
    /// The errors of weights on what is held out.
    errors: E,
    labels: &'static str,
    screen: &'a Screen,
}

impl<E: Fn(&[f64], Beside<'_>) -> SequenceErrors> UseProblem for Search<'_, E> {
    type Result = f64;

    fn go_with<P: Problem>(self, problem: &P, beside: Beside<'_>) -> Result<f64> {
        let Self { lowest, training, errors, labels, screen } = self;
        // The path begins where regularization is so strong that hardly anything is learned.
        let mut start = None;
        let interrupt = on_ctrl_c(screen)?;
        let path = PathSettings { training: training.clone(), ..PathSettings::default() };
        regularization_path_with(problem, &path, &interrupt, |breakpoint, _, point| {
            start = Some((breakpoint.certificate.lambda, point.clone()));
            Control::Stop
        })?;
        let (mut lambda, mut point) = start.context("the path has no beginning")?;

        let (mut best, mut tried, mut since) = (f64::INFINITY, Vec::new(), 0);
        let (mut primal, mut without) = (1.0, None);
        while lambda * FACTOR >= lowest && since < PATIENCE && !interrupt.is_raised() {
            lambda *= FACTOR;
            let (at, tolerance) = (Some(lambda), ACCURACY * primal);
            let solution = Trainer::new(Settings { lambda: at, tolerance, ..training.clone() })
                .start_from(point.rescaled(problem, FACTOR))
                .interrupt(interrupt.clone())
                .train(problem)?;
            let found = errors(&solution.weights, beside);
            let (error, tokens) = (found.hamming(), found.tokens);
            tried.push((lambda, error));
            screen.say(format!(
                "lambda {lambda:>10.3e}   error {error:.4} on {tokens} {labels} held out"
            ));
            (point, primal) = (solution.dual, solution.certificate.primal);
            let learning = primal < LEARNING * *without.get_or_insert(primal);
            if error < best {
                (best, since) = (error, 0);
            } else if learning {
                since += 1;
            }
        }
        if interrupt.is_raised() {
            bail!("interrupted while lambda was being chosen");
        }
        // Errors on few labels tie easily, and the curve is a bowl: its bottom is in the middle of
        // ties.
        let ties: Vec<f64> =
            tried.iter().filter(|(_, error)| *error == best).map(|tie| tie.0).collect();
        let chosen = ties.get(ties.len() / 2).copied().unwrap_or(lambda);
        screen.say(format!("lambda auto: {chosen:.4e}, the best of {}", tried.len()));
        Ok(chosen)
    }
}
