//! Choosing λ by the error on data held out.

use super::validation::split;
use crate::kind::Labelled;
use crate::report::LambdaCurve;
use crate::screen::{Screen, on_ctrl_c};
use anyhow::{Result, bail};
use maxmargin::{Settings, choose_lambda};
use maxmargin_io::{Training, TrainingPlan};
use std::borrow::Cow;

/// Chooses λ by the error on `validation`, or on a random tenth of the data.
pub(super) fn choose(
    plan: &TrainingPlan,
    data: &Training,
    validation: Option<&Labelled>,
    settings: &Settings,
    screen: &Screen,
) -> Result<LambdaCurve> {
    let lowest = 0.1 / data.examples.len() as f64;
    let (train, held_out) = match validation {
        Some(named) => (data.examples.clone(), Cow::Borrowed(named)),
        None => {
            let (rest, out) = split(data, settings.seed, "--lambda auto")?;
            (rest, Cow::Owned(out))
        }
    };
    let problem = data.spec.problem(train, &plan.bounds)?;
    let (blocks, role) = (problem.blocks(), problem.role());
    let interrupt = on_ctrl_c(screen)?;
    screen.busy("choosing lambda");
    let mut tried = 0;
    let choice = choose_lambda(blocks, settings, lowest, &interrupt, |lambda, w| {
        let Ok(found) = data.spec.errors_in(role, w, &held_out.examples) else { return f64::NAN };
        let (error, parts) = (found.parts.share(), found.parts);
        tried += 1;
        screen.tell(format!("{tried} tried, the last {lambda:.2e}"));
        screen.say(format!(
            "lambda {lambda:>10.3e}   error {error:.4} on {} {} held out",
            parts.all, parts.what
        ));
        error
    })?;
    screen.done();
    if interrupt.is_raised() {
        bail!("interrupted while lambda was being chosen");
    }
    let (chosen, tried) = (choice.lambda, choice.tried.len());
    screen.say(format!("lambda auto: {chosen:.4e}, the best of {tried}"));
    let measure = format!("Share of wrong {} held out", data.spec.nouns().parts);
    let points = choice.tried.iter().map(|tried| (tried.lambda, tried.error)).collect();
    Ok(LambdaCurve { measure, points, chosen })
}
