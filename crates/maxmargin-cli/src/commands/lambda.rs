//! Choosing λ by the error on data held out.

use super::session::{Task, errors_of};
use super::train::on_ctrl_c;
use super::validation::split;
use crate::kind::{self, Kind, Labelled, ProblemRole, Training, UseProblem};
use crate::screen::Screen;
use anyhow::{Result, bail};
use maxmargin::evaluate::SequenceErrors;
use maxmargin::{Problem, Settings, choose_lambda};
use std::borrow::Cow;

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
    let errors = |w: &[f64], beside: ProblemRole<'_>| {
        errors_of::<K>(&data.spec, w, beside, &held_out.examples)
    };
    let bounds = kind::resolve(&task.bounds, &data.spec.clone().into())?;
    let search = Search { lowest, settings, errors, labels: K::NOUNS.labels, screen };
    K::with_problem(&data.spec, train, bounds, search)
}

/// A search for λ, on whatever problem.
struct Search<'a, E> {
    lowest: f64,
    settings: &'a Settings,
    /// The errors of weights on what is held out.
    errors: E,
    labels: &'static str,
    screen: &'a Screen,
}

impl<E: Fn(&[f64], ProblemRole<'_>) -> SequenceErrors> UseProblem for Search<'_, E> {
    type Result = f64;

    fn go_with<P: Problem>(self, problem: &P, beside: ProblemRole<'_>) -> Result<f64> {
        let Self { lowest, settings, errors, labels, screen } = self;
        let interrupt = on_ctrl_c(screen)?;
        let choice = choose_lambda(problem, settings, lowest, &interrupt, |lambda, w| {
            let found = errors(w, beside);
            let (error, tokens) = (found.hamming(), found.tokens);
            screen.say(format!(
                "lambda {lambda:>10.3e}   error {error:.4} on {tokens} {labels} held out"
            ));
            error
        })?;
        if interrupt.is_raised() {
            bail!("interrupted while lambda was being chosen");
        }
        let (chosen, tried) = (choice.lambda, choice.tried.len());
        screen.say(format!("lambda auto: {chosen:.4e}, the best of {tried}"));
        Ok(chosen)
    }
}
