//! Training where decoding is hard: through soft constraints, or by DLPW.

use super::UseProblem;
use crate::args::{ModelArgs, SoftArgs, TrainingName};
use anyhow::{Result, bail};
use maxmargin::Quality;
use maxmargin::inference::Inference;
use maxmargin::model::soft::{SoftError, SoftGraph};
use maxmargin_io::{FactorTraining, Rescaling, SoftSpec};

/// The temperature of smoothed DLPW, unless told otherwise.
const TEMPERATURE: f64 = 0.1;

/// How weights are to be found, and how outputs.
pub(super) fn training(args: &ModelArgs) -> Result<(FactorTraining, Inference)> {
    let SoftArgs { training, rho, rho_schedule, multipliers, smooth } = &args.soft;
    let (is_soft, is_smooth) = (
        *training == Some(TrainingName::Soft),
        matches!(training, Some(TrainingName::Soft | TrainingName::DlpwSmooth)),
    );
    for (given, option, fits, needed) in [
        (rho.is_some(), "--rho", is_soft, "soft"),
        (rho_schedule.is_some(), "--rho-schedule", is_soft, "soft"),
        (multipliers.is_some(), "--multipliers", is_soft, "soft"),
        (smooth.is_some(), "--smooth", is_smooth, "soft or dlpw-smooth"),
    ] {
        if given && !fits {
            bail!("{option} has no meaning without --training {needed}");
        }
    }
    let inference = args.inference.unwrap_or_default();
    let lambda = 0.0; // which is known later
    let training = match training {
        None | Some(TrainingName::Exact) => return Ok((FactorTraining::Decoding, inference)),
        Some(TrainingName::Lp) => {
            if args.inference.is_some_and(|i| !matches!(i, Inference::Lp | Inference::RoofDuality))
            {
                bail!("--training lp is training with --inference lp, not {inference}");
            }
            return Ok((FactorTraining::Decoding, args.inference.unwrap_or(Inference::Lp)));
        }
        Some(TrainingName::Soft) => {
            let first = rho_schedule.as_ref().and_then(|rhos| rhos.first());
            let soft = SoftSpec::new(first.copied().or(*rho).unwrap_or(1.0));
            SoftSpec { smoothing: *smooth, ..soft }.into()
        }
        Some(TrainingName::Dlpw) => FactorTraining::Dlpw { lambda, temperature: None },
        Some(TrainingName::DlpwSmooth) => {
            FactorTraining::Dlpw { lambda, temperature: Some(smooth.unwrap_or(TEMPERATURE)) }
        }
    };
    for (given, option) in [
        (!args.lower.is_empty(), "--lower"),
        (!args.upper.is_empty(), "--upper"),
        (args.kernel.is_given(), "--kernel"),
        (args.rescaling == Rescaling::Slack, "--rescaling slack"),
    ] {
        if given {
            bail!("{option} does not go with --training {}", training.name());
        }
    }
    Ok((training, inference))
}

/// Refuses a decoder that may be wrong, where training is to be exact.
pub(super) fn check_exact(args: &ModelArgs, quality: Quality) -> Result<()> {
    if args.soft.training == Some(TrainingName::Exact) && !quality.is_exact() {
        bail!(
            "--training exact needs a decoder that is never wrong, and here {}\n\
             hint: --training soft and --training lp go over a relaxation",
            quality.explain()
        );
    }
    Ok(())
}

/// Builds the problem of a training that is not the ordinary one, from its λ and ρ, for `user` to work
/// on.
pub(super) fn go<U: UseProblem>(
    training: &FactorTraining,
    build: impl FnOnce(f64, f64) -> Result<SoftGraph, SoftError>,
    user: U,
) -> Result<U::Result> {
    match training.problem(build)? {
        Some(problem) => user.go_with(&problem, training.beside(&problem)),
        None => bail!("training by {} is not known here", training.name()),
    }
}
