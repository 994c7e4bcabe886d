//! Training where decoding is hard: through soft constraints.

use crate::args::{ModelArgs, SoftArgs, TrainingName};
use anyhow::{Result, bail};
use maxmargin::Quality;
use maxmargin::inference::Inference;
use maxmargin_io::{FactorTraining, Rescaling, SoftSpec};

/// How weights are to be found, and how outputs.
pub(super) fn training(args: &ModelArgs) -> Result<(FactorTraining, Inference)> {
    let SoftArgs { training, rho, rho_scale, rho_schedule, multipliers, smooth } = &args.soft;
    let is_soft = *training == Some(TrainingName::Soft);
    for (given, option) in [
        (rho.is_some(), "--rho"),
        (rho_scale.is_some(), "--rho-scale"),
        (rho_schedule.is_some(), "--rho-schedule"),
        (multipliers.is_some(), "--multipliers"),
        (smooth.is_some(), "--smooth"),
    ] {
        if given && !is_soft {
            bail!("{option} has no meaning without --training soft");
        }
    }
    let inference = args.inference.unwrap_or_default();
    let training: FactorTraining = match training {
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
            let rho_scale = rho_scale.unwrap_or_default();
            SoftSpec { smoothing: *smooth, rho_scale, ..soft }.into()
        }
    };
    for (given, option) in [
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
