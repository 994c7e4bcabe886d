//! Options of training where decoding is hard.

use super::kernel::positive;
use super::model::at_least_one;
use super::parse::named;
use clap::{Args, ValueEnum};
use maxmargin::model::soft::RhoScale;

/// How the weights of multi-label models and factor graphs are found.
#[derive(Debug, Args)]
#[command(next_help_heading = "Training of multi-label models and factor graphs")]
pub(crate) struct SoftArgs {
    /// How weights are found [default: with the decoder that --inference names]
    #[arg(long, value_enum, value_name = "NAME")]
    pub(crate) training: Option<TrainingName>,
    /// How soft the constraints of soft training are: small is hard and slow [default: 1]
    #[arg(long, value_parser = positive, allow_negative_numbers = true, value_name = "NUMBER")]
    pub(crate) rho: Option<f64>,
    /// Whether the penalty on messages is inside the mean over examples or a sum over all of them [default: example]
    #[arg(long, value_parser = named::<RhoScale>(RhoScale::NAMES), value_name = "NAME")]
    pub(crate) rho_scale: Option<RhoScale>,
    /// Soft training with one rho after the other, each from where the last one ended
    #[arg(long, value_parser = positive, allow_negative_numbers = true, value_delimiter = ',')]
    #[arg(value_name = "NUMBER,…", conflicts_with = "rho")]
    pub(crate) rho_schedule: Option<Vec<f64>>,
    /// Soft training in up to so many rounds, after each of which messages become multipliers: in the
    /// limit the constraints hold at any rho
    #[arg(long, value_parser = at_least_one, value_name = "N", conflicts_with = "rho_schedule")]
    pub(crate) multipliers: Option<usize>,
    /// Smooths every maximum of soft training by so much
    #[arg(long, value_parser = positive, allow_negative_numbers = true, value_name = "NUMBER")]
    pub(crate) smooth: Option<f64>,
}

/// Ways to find weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TrainingName {
    /// With a decoder that finds the true maxima; refused where there is none
    Exact,
    /// Over the LP relaxation, a linear program for each oracle call
    Lp,
    /// Over the LP relaxation with soft constraints: variables and factors are blocks of their own
    Soft,
}

impl TrainingName {
    /// Whether it is ordinary training, with one decoder or another.
    pub(crate) fn is_by_decoding(self) -> bool {
        matches!(self, Self::Exact | Self::Lp)
    }
}

impl SoftArgs {
    /// Whether any of them is given.
    pub(crate) fn is_given(&self) -> bool {
        let Self { training, rho, rho_scale, rho_schedule, multipliers, smooth } = self;
        let numbers = rho.is_some() || smooth.is_some() || multipliers.is_some();
        training.is_some() || numbers || rho_scale.is_some() || rho_schedule.is_some()
    }
}
