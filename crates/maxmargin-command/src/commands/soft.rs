//! Rounds of soft training.

use crate::args::{SoftArgs, TrainArgs, TrainingName};
use crate::screen::Screen;
use anyhow::{Result, bail};
use maxmargin::Certificate;
use maxmargin_io::{SoftRounds, SoftSpec};
use maxmargin_report::format_significant;

/// The rounds that are asked for.
pub(super) fn rounds(args: &SoftArgs) -> SoftRounds {
    let rhos = args.rho_schedule.clone().unwrap_or_default();
    SoftRounds { rhos, most: args.multipliers.unwrap_or(0) }
}

/// What is said before a round, if there are several.
pub(super) fn announce(rounds: &SoftRounds, number: usize, spec: &SoftSpec, screen: &Screen) {
    if rounds.count() > 1 {
        screen.say(format!("round {number} of {}, {}", rounds.count(), spec.rho_in_words()));
    }
}

/// Refuses options that make no sense with a training.
pub(super) fn check(args: &TrainArgs) -> Result<()> {
    let soft = &args.model.soft;
    if soft.training.is_none_or(TrainingName::is_by_decoding) {
        return Ok(());
    }
    if (args.checkpoint.is_some() || args.resume.is_some()) && rounds(soft).count() > 1 {
        bail!("--checkpoint and --resume know single runs only, not rounds of them");
    }
    Ok(())
}

/// What the certificate of a soft problem says, for people.
pub(super) fn in_words(c: &Certificate, own: &SoftSpec) -> String {
    let share = if c.primal > 0.0 { 100.0 * c.gap / c.primal } else { 0.0 };
    format!(
        "The soft objective ({}) is {:.6}. No weights and messages can bring it below {:.6}, \
         so these are within {} of the optimum ({share:.2} % of the objective).\n\
         The hard objective, over the LP relaxation, is at most {:.6}. Variables and factors disagree \
         by {} at most ({} in the mean of squares).\n",
        own.rho_in_words(),
        c.primal,
        c.dual,
        format_significant(c.gap, 4),
        own.hard_objective,
        format_significant(own.violation.0, 4),
        format_significant(own.violation.1, 4)
    )
}
