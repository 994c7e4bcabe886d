//! The options of training.

use super::parse::{batch, measure_parser, named, number, whole_number};
use clap::Args;
use maxmargin::{Average, Caching, Direction, Order, Solver, Step};
use maxmargin_io::Measure;
use std::path::PathBuf;

/// A regularization strength as it is asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Lambda {
    Value(f64),
    /// 1/n, as in the papers.
    PerExample,
    /// What fits the scale of features and losses.
    Scale,
    Auto,
}

impl Lambda {
    /// The name of the rule, as it is written.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Value(_) => "given",
            Self::PerExample => "1/n",
            Self::Scale => "scale",
            Self::Auto => "auto",
        }
    }
}

fn lambda(text: &str) -> Result<Lambda, String> {
    match text {
        "auto" => Ok(Lambda::Auto),
        "scale" => Ok(Lambda::Scale),
        "1/n" => Ok(Lambda::PerExample),
        text => number(text)
            .map(Lambda::Value)
            .map_err(|error| format!("{error}, or `scale`, `auto` or `1/n`")),
    }
}

/// When a run has converged: at a gap, or at a share of the objective.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Tolerance {
    Gap(f64),
    Share(f64),
}

impl Tolerance {
    /// Writes it into settings, in place of what they say.
    pub(crate) fn set(self, settings: &mut maxmargin::SettingsRecord) {
        (settings.tolerance, settings.relative_tolerance) = match self {
            Self::Gap(gap) => (gap, 0.0),
            Self::Share(share) => (0.0, share),
        };
    }
}

fn tolerance(text: &str) -> Result<Tolerance, String> {
    let Some(percent) = text.strip_suffix('%') else {
        return number(text).map(Tolerance::Gap).map_err(|error| format!("{error}, or `1%`"));
    };
    let share = percent.trim_end().parse::<f64>().ok().map(|percent| percent / 100.0);
    let share = share.filter(|share| (0.0..1.0).contains(share));
    share.map(Tolerance::Share).ok_or_else(|| "a percentage below 100 is needed, as in `1%`".into())
}

/// The methods that Osokin et al. (2016) recommend, by name.
#[derive(Debug, Clone, Copy, PartialEq, clap::ValueEnum)]
pub(crate) enum Preset {
    GapsFast,
    GapsSlow,
}

impl Preset {
    /// Writes the parts of the method into settings.
    pub(crate) fn set(self, settings: &mut maxmargin::SettingsRecord) {
        (settings.solver, settings.order) = (Solver::BlockCoordinate, Order::Gap);
        (settings.direction, settings.cache) = match self {
            Self::GapsFast => (Direction::FrankWolfe, Caching::Off),
            Self::GapsSlow => (Direction::Pairwise, Caching::On),
        };
        if self == Self::GapsSlow {
            // As in the experiments of the paper.
            settings.cache_corners = 50;
        }
    }
}

/// How it is learned. Options left out are taken from `--settings`, then from the defaults.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Training")]
pub(crate) struct SettingsArgs {
    /// Read settings from a TOML file; options given here win
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) settings: Option<PathBuf>,
    /// Regularization strength: a number; `scale`, which fits the scale of features and losses; `auto`, the
    /// one with the least error on held-out data; or `1/n` with n examples, as in the papers
    /// [default: scale]
    #[arg(long, allow_negative_numbers = true, value_parser = lambda, value_name = "NUMBER|scale|auto|1/n")]
    pub(crate) lambda: Option<Lambda>,
    /// What `--lambda auto` chooses by: the share of wrong parts (error) or of examples with any (subset), or
    /// what is usual in the field [default: chunk-f1 for BIO tags, micro-f1 for sets of labels, aer for
    /// matchings, iou for graphs, pdj for poses, else error]
    #[arg(long, value_parser = measure_parser(), value_name = "NAME")]
    pub(crate) measure: Option<Measure>,
    /// Method: batch (fw) or block-coordinate Frank-Wolfe (bcfw), or what is best; options for the parts
    /// of bcfw imply it [default: auto]. To compare with: stochastic subgradients (ssg, adagrad), the
    /// averaged perceptron, cutting planes (n-slack, 1-slack), exponentiated gradient (eg)
    #[arg(long, value_parser = named::<Solver>(Solver::NAMES), value_name = "NAME")]
    pub(crate) solver: Option<Solver>,
    /// One of the two methods that Osokin et al. (2016) recommend: gaps-fast, gap sampling with plain steps, for fast
    /// oracles; gaps-slow, gap sampling with pairwise steps and a cache of 50 corners, for slow ones. Other
    /// options change parts of it
    #[arg(long, value_enum, value_name = "NAME")]
    pub(crate) preset: Option<Preset>,
    /// Order in which blocks are visited [default: permutation]
    #[arg(long, value_parser = named::<Order>(Order::NAMES), value_name = "NAME")]
    pub(crate) order: Option<Order>,
    /// Exponent on block gaps in the orders that follow them [default: 1]
    #[arg(long, allow_negative_numbers = true, value_name = "NUMBER")]
    pub(crate) gap_power: Option<f64>,
    /// Blocks to visit as one batch, whose oracles run side by side on all threads; the result depends on
    /// this number, and not on --threads [default: auto, or 1 with --solver bcfw]
    #[arg(long, value_parser = batch, value_name = "N|auto")]
    pub(crate) batch: Option<usize>,
    /// Direction of steps [default: fw]
    #[arg(long, value_parser = named::<Direction>(Direction::NAMES), value_name = "NAME")]
    pub(crate) direction: Option<Direction>,
    /// Keep the corners that oracles have found, and use them again [default: off]
    #[arg(long, value_parser = named::<Caching>(Caching::NAMES), value_name = "NAME")]
    pub(crate) cache: Option<Caching>,
    /// Share F of a block's gap at its last oracle call that a remembered corner must promise, with `--cache on`
    /// [default: 0.25]
    #[arg(long, allow_negative_numbers = true, value_parser = number, value_name = "NUMBER")]
    pub(crate) cache_factor: Option<f64>,
    /// Share ν of the mean block gap at the last exact pass that a remembered corner must promise, with
    /// `--cache on` [default: 0.01]
    #[arg(long, allow_negative_numbers = true, value_parser = number, value_name = "NUMBER")]
    pub(crate) cache_nu: Option<f64>,
    /// Corners without mass that a block may remember [default: 10]
    #[arg(long, allow_negative_numbers = true, value_parser = whole_number::<usize>, value_name = "N")]
    pub(crate) cache_corners: Option<usize>,
    /// Bytes that remembered corners may take [default: 1073741824]
    #[arg(long, value_name = "N")]
    pub(crate) cache_bytes: Option<u64>,
    /// Share ν of block gaps that oracles of visits must find [default: 1]
    #[arg(long, allow_negative_numbers = true, value_parser = number, value_name = "NUMBER")]
    pub(crate) oracle_share: Option<f64>,
    /// Factor δ of the error that oracles of visits may make [default: 0]
    #[arg(long, allow_negative_numbers = true, value_parser = number, value_name = "NUMBER")]
    pub(crate) oracle_slack: Option<f64>,
    /// Take a batch Frank-Wolfe step with every gap pass, whose corners are known anyway
    #[arg(long)]
    pub(crate) gap_steps: bool,
    /// Step sizes [default: line-search]
    #[arg(long, value_parser = named::<Step>(Step::NAMES), value_name = "NAME")]
    pub(crate) step: Option<Step>,
    /// Return the last weights, or an average of all of them [default: none]
    #[arg(long, value_parser = named::<Average>(Average::NAMES), value_name = "NAME")]
    pub(crate) average: Option<Average>,
    /// Learning rate of adagrad, relative to the size that weights can have [default: 0.1]
    #[arg(long, allow_negative_numbers = true, value_parser = number, value_name = "NUMBER")]
    pub(crate) rate: Option<f64>,
    /// Stop when the duality gap is at most this, or this share of the objective, as in `1%`; 0 never
    /// does [default: 1%]
    #[arg(long, allow_negative_numbers = true, value_parser = tolerance, value_name = "GAP|SHARE%")]
    pub(crate) tolerance: Option<Tolerance>,
    /// Stop after this many passes over the data [default: 1000]
    #[arg(long, allow_negative_numbers = true, value_parser = whole_number::<u64>, value_name = "N")]
    pub(crate) max_passes: Option<u64>,
    /// Stop after this many oracle calls
    #[arg(long, allow_negative_numbers = true, value_parser = whole_number::<u64>, value_name = "N")]
    pub(crate) max_oracle_calls: Option<u64>,
    /// Stop after this many seconds
    #[arg(long, allow_negative_numbers = true, value_parser = number, value_name = "SECONDS")]
    pub(crate) max_seconds: Option<f64>,
    /// Stop when the validation error has not improved in so many gap checks in a row, and keep the
    /// model with the least error
    #[arg(long, allow_negative_numbers = true, value_parser = whole_number::<u64>, value_name = "N")]
    pub(crate) patience: Option<u64>,
    /// Compute the exact gap every so many passes [default: 10]
    #[arg(long, allow_negative_numbers = true, value_parser = whole_number::<u64>, value_name = "N")]
    pub(crate) gap_every: Option<u64>,
    /// Measure the constants of the rate theorems (R, L_max, the curvatures, h₀, k₀), and tell what they promise; this
    /// takes oracle calls that do not count
    #[arg(long)]
    pub(crate) diagnose: bool,
    /// Seed of all random choices [default: 1]
    #[arg(long, allow_negative_numbers = true, value_parser = whole_number::<u64>, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Threads for gap passes, 0 for all cores; the result does not depend on it [default: 0]
    #[arg(long, allow_negative_numbers = true, value_parser = whole_number::<usize>, value_name = "N")]
    pub(crate) threads: Option<usize>,
}

#[cfg(test)]
mod tests {
    use crate::args::Cli;
    use clap::CommandFactory as _;

    #[test]
    fn help_states_the_true_defaults() {
        let settings = maxmargin_io::default_settings().record();
        let help = Cli::command()
            .find_subcommand_mut("train")
            .map(|train| train.render_long_help().to_string())
            .unwrap();
        for stated in [
            format!("imply it [default: {}]", settings.solver),
            format!("weights can have [default: {}]", settings.rate),
            format!("blocks are visited [default: {}]", settings.order),
            format!("follow them [default: {}]", settings.gap_power),
            format!("Direction of steps [default: {}]", settings.direction),
            format!("use them again [default: {}]", settings.cache),
            format!("corners may take [default: {}]", settings.cache_bytes),
            format!("`--cache on` [default: {}]", settings.cache_factor),
            format!("`--cache on` [default: {}]", settings.cache_nu),
            format!("may remember [default: {}]", settings.cache_corners),
            format!("visits must find [default: {}]", settings.oracle_share),
            format!("of visits may make [default: {}]", settings.oracle_slack),
            format!("Step sizes [default: {}]", settings.step),
            format!("average of all of them [default: {}]", settings.average),
            format!("[default: {}]", settings.tolerance_text()),
            format!("passes over the data [default: {}]", settings.max_passes),
            format!("every so many passes [default: {}]", settings.gap_every),
            format!("random choices [default: {}]", settings.seed),
            format!("does not depend on it [default: {}]", settings.threads),
        ] {
            assert!(help.contains(&stated), "{stated:?} is not in\n{help}");
        }
    }
}
