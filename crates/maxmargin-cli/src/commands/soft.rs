//! Rounds of soft training.

use crate::args::{SettingsArgs, SoftArgs, TrainArgs, TrainingName};
use crate::screen::Screen;
use anyhow::{Result, bail};
use maxmargin::model::soft::SoftGraph;
use maxmargin::observe::Totals;
use maxmargin::{Certificate, Problem as _, Settings};
use maxmargin_io::SoftSpec;

/// Multipliers are done when variables and factors agree so well.
const CLOSE: f64 = 1e-6;

/// Passes of DLPW, unless told otherwise.
const EPOCHS: u64 = 50;

/// What soft training has come to.
pub(super) struct SoftOutcome {
    /// Number of blocks.
    blocks: usize,
    /// Number of weights after those of the model.
    extra: usize,
    hard_objective: f64,
    violation: (f64, f64),
    /// The messages, with the multipliers.
    messages: Vec<f64>,
}

impl SoftOutcome {
    pub(super) fn new(problem: &SoftGraph, weights: &[f64]) -> Self {
        Self {
            blocks: problem.examples(),
            extra: weights.len() - problem.weights(weights).len(),
            hard_objective: problem.hard_objective(weights),
            violation: problem.violation(weights),
            messages: problem.messages(weights),
        }
    }

    /// Takes note of it.
    pub(super) fn note(&self, spec: &mut SoftSpec) {
        spec.blocks = self.blocks;
        spec.messages = self.extra;
        spec.hard_objective = self.hard_objective;
        spec.violation = self.violation;
    }
}

/// Rounds of soft training, each from where the last one ended.
#[derive(Debug, Clone, Default)]
pub(super) struct Rounds {
    /// One ρ after the other.
    rhos: Vec<f64>,
    /// How many rounds with multipliers there may be.
    most: usize,
}

impl Rounds {
    pub(super) fn new(args: &SoftArgs) -> Self {
        let rhos = args.rho_schedule.clone().unwrap_or_default();
        Self { rhos, most: args.multipliers.unwrap_or(0) }
    }

    /// How many there may be.
    fn count(&self) -> usize {
        self.rhos.len().max(self.most).max(1)
    }

    /// Whether no round can follow the one with this number, counted from 1.
    pub(super) fn is_last(&self, number: usize) -> bool {
        number >= self.count()
    }

    /// Prepares the round after `done` ones; none follows if that is `false`.
    pub(super) fn prepare(&self, done: usize, spec: &mut SoftSpec, last: &SoftOutcome) -> bool {
        if self.is_last(done) || (self.most > 0 && last.violation.0 <= CLOSE) {
            return false;
        }
        if let Some(rho) = self.rhos.get(done) {
            spec.rho = *rho;
        }
        if self.most > 0 {
            spec.multipliers.clone_from(&last.messages);
        }
        true
    }

    /// What is said before a round, if there are several.
    pub(super) fn announce(&self, done: usize, spec: &SoftSpec, screen: &Screen) {
        if self.count() > 1 {
            screen.say(format!("round {} of {}, rho {}", done + 1, self.count(), spec.rho));
        }
    }
}

/// What two rounds took.
pub(super) fn together(a: &Totals, b: &Totals) -> Totals {
    Totals {
        passes: a.passes + b.passes,
        visits: a.visits + b.visits,
        oracle_calls: a.oracle_calls + b.oracle_calls,
        seconds: a.seconds + b.seconds,
        oracle_seconds: a.oracle_seconds + b.oracle_seconds,
        gap_seconds: a.gap_seconds + b.gap_seconds,
        ..*b
    }
}

/// Refuses options that make no sense with a training, and sets those that depend on it.
pub(super) fn check(args: &TrainArgs, settings: &mut Settings) -> Result<()> {
    let (soft, own) = (&args.model.soft, &args.settings);
    if soft.training.is_none_or(TrainingName::is_by_decoding) {
        return Ok(());
    }
    if own.lambda == Some(crate::args::Lambda::Auto) {
        bail!(
            "--lambda auto does not go with this --training, whose problem is made for one lambda\n\
             hint: choose lambda without --training, or try several"
        );
    }
    if (args.checkpoint.is_some() || args.resume.is_some()) && Rounds::new(soft).count() > 1 {
        bail!("--checkpoint and --resume know single runs only, not rounds of them");
    }
    if soft.training == Some(TrainingName::Soft) {
        return Ok(());
    }
    refuse_driver_options(args, own)?;
    if own.max_passes.is_none() && own.settings.is_none() {
        settings.max_passes = EPOCHS;
    }
    Ok(())
}

/// DLPW has a loop of its own.
fn refuse_driver_options(args: &TrainArgs, own: &SettingsArgs) -> Result<()> {
    for (given, option) in [
        (own.solver.is_some(), "--solver"),
        (own.order.is_some(), "--order"),
        (own.direction.is_some(), "--direction"),
        (own.cache.is_some(), "--cache"),
        (own.step.is_some(), "--step"),
        (own.average.is_some(), "--average"),
        (own.tolerance.is_some(), "--tolerance"),
        (own.patience.is_some(), "--patience"),
        (own.gap_every.is_some(), "--gap-every"),
        (own.max_oracle_calls.is_some(), "--max-oracle-calls"),
        (args.warm_start.is_some(), "--warm-start"),
        (args.checkpoint.is_some(), "--checkpoint"),
        (args.resume.is_some(), "--resume"),
        (args.validation.is_some(), "--validation"),
    ] {
        if given {
            bail!("{option} has no meaning with DLPW, which has a loop of its own");
        }
    }
    Ok(())
}

/// What the certificate of a soft problem says, for people.
pub(super) fn in_words(c: &Certificate, own: &SoftSpec) -> String {
    let share = if c.primal > 0.0 { 100.0 * c.gap / c.primal } else { 0.0 };
    format!(
        "The soft objective (rho {}) is {:.6}. No weights and messages can bring it below {:.6},\n\
         so these are within {:.3e} of the optimum ({share:.2} % of the objective).\n\
         The hard objective, over the LP relaxation, is at most {:.6}. Variables and factors disagree\n\
         by {:.3e} at most ({:.3e} in the mean of squares).\n",
        own.rho, c.primal, c.dual, c.gap, own.hard_objective, own.violation.0, own.violation.1
    )
}
