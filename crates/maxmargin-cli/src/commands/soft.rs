//! Rounds of soft training.

use crate::args::{SettingsArgs, SoftArgs, TrainArgs, TrainingName};
use crate::screen::Screen;
use anyhow::{Result, bail};
use maxmargin::model::soft::DlpwSettings;
use maxmargin::{Certificate, Settings};
use maxmargin_io::{SoftRounds, SoftSpec};

/// The rounds that are asked for.
pub(super) fn rounds(args: &SoftArgs) -> SoftRounds {
    let rhos = args.rho_schedule.clone().unwrap_or_default();
    SoftRounds { rhos, most: args.multipliers.unwrap_or(0) }
}

/// What is said before the round after `done` ones, if there are several.
pub(super) fn announce(rounds: &SoftRounds, done: usize, spec: &SoftSpec, screen: &Screen) {
    if rounds.count() > 1 {
        screen.say(format!("round {} of {}, rho {}", done + 1, rounds.count(), spec.rho));
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
    if (args.checkpoint.is_some() || args.resume.is_some()) && rounds(soft).count() > 1 {
        bail!("--checkpoint and --resume know single runs only, not rounds of them");
    }
    if soft.training == Some(TrainingName::Soft) {
        return Ok(());
    }
    refuse_driver_options(args, own)?;
    if own.max_passes.is_none() && own.settings.is_none() {
        settings.max_passes = DlpwSettings::PASSES;
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
