//! The options of paths, and of models taken out of them.

use super::parse::{data_parser, format_parser, named, number, whole_number};
use super::{ModelArgs, TalkArgs};
use clap::Args;
use maxmargin::GridStart;
use maxmargin_io::Format;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct PathArgs {
    /// Training data
    #[arg(value_parser = data_parser())]
    pub(crate) data: String,
    /// The duality gap that is guaranteed at every lambda
    #[arg(long, allow_negative_numbers = true, value_parser = number, value_name = "GAP", default_value_t = 0.1)]
    pub(crate) epsilon: f64,
    /// The share of epsilon to which each breakpoint is solved [default: 0.9, or 0.7 with
    /// --heuristic]
    #[arg(long, allow_negative_numbers = true, value_parser = number, value_name = "SHARE", conflicts_with = "grid")]
    pub(crate) kappa: Option<f64>,
    /// Where the path may end [default: 1e-5, or 2^-15 with --grid]
    #[arg(long, allow_negative_numbers = true, value_parser = number, value_name = "NUMBER")]
    pub(crate) lambda_min: Option<f64>,
    /// Trust the last known block gaps instead of confirming them: fewer oracle calls, no guarantee
    #[arg(long, conflicts_with = "grid")]
    pub(crate) heuristic: bool,
    /// Train at the values of a grid instead, each half of the one before: the baseline of a path
    #[arg(long, value_parser = named::<GridStart>(GridStart::NAMES), value_name = "START")]
    pub(crate) grid: Option<GridStart>,
    /// Where the grid begins [default: 2^15]
    #[arg(long, allow_negative_numbers = true, value_parser = number, value_name = "NUMBER", requires = "grid")]
    pub(crate) lambda_max: Option<f64>,
    /// Data to measure the error of each breakpoint on, and to find the best lambda by
    #[arg(long, value_name = "DATA", value_parser = data_parser())]
    pub(crate) validation: Option<String>,
    /// Where to write the whole path; `maxmargin pick` takes models out of it, at any lambda
    #[arg(short, long, value_name = "PATH")]
    pub(crate) path_file: Option<PathBuf>,
    /// Where to write the model with the least validation error, or the last one
    #[arg(short, long, value_name = "MODEL")]
    pub(crate) output: Option<PathBuf>,
    /// Layout of the data, where it cannot be told from the data
    #[arg(long, value_parser = format_parser(), value_name = "FORMAT")]
    pub(crate) format: Option<Format>,
    /// Write a self-contained report with plots against lambda
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
    /// Write the plots of the report as SVG pictures into a folder
    #[arg(long, value_name = "FOLDER")]
    pub(crate) figures: Option<PathBuf>,
    /// Seed of all random choices
    #[arg(long, allow_negative_numbers = true, value_parser = whole_number::<u64>, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Threads for exact passes, 0 for all cores
    #[arg(long, allow_negative_numbers = true, value_parser = whole_number::<usize>, value_name = "N", default_value_t = 0)]
    pub(crate) threads: usize,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    #[command(flatten)]
    pub(crate) talk: TalkArgs,
    /// The command line as it was given.
    #[arg(skip)]
    pub(crate) line: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct PickArgs {
    /// A path file, as `maxmargin path DATA --path-file PATH` writes it
    pub(crate) path: PathBuf,
    /// The lambda to take the model at
    #[arg(long, allow_negative_numbers = true, value_parser = number, value_name = "NUMBER")]
    pub(crate) lambda: Option<f64>,
    /// Data on which to choose the lambda with the least error
    #[arg(long, value_name = "DATA", value_parser = data_parser(), conflicts_with = "lambda")]
    pub(crate) validation: Option<String>,
    /// Layout of the data, where it cannot be told from the data
    #[arg(long, value_parser = format_parser(), value_name = "FORMAT", requires = "validation")]
    pub(crate) format: Option<Format>,
    /// Where to write the model
    #[arg(short, long, value_name = "MODEL")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) talk: TalkArgs,
}

#[cfg(test)]
mod tests {
    use crate::args::Cli;
    use clap::CommandFactory as _;

    #[test]
    fn help_states_the_true_defaults_of_paths() {
        let (path, grid) = (maxmargin::PathSettings::default(), maxmargin::GridSettings::default());
        let heuristic = maxmargin::PathSettings { heuristic: true, ..path.clone() };
        let help = Cli::command()
            .find_subcommand_mut("path")
            .map(|path| path.render_long_help().to_string())
            .unwrap();
        for stated in [
            format!("at every lambda [default: {}]", path.epsilon),
            format!("[default: {}, or {} with --heuristic]", path.kappa(), heuristic.kappa()),
            format!("[default: {:e}, or 2^-15 with --grid]", path.lambda_min),
        ] {
            let unfolded = help.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(unfolded.contains(&stated), "{stated:?} is not in\n{help}");
        }
        assert_eq!(grid.epsilon, path.epsilon);
        assert_eq!((grid.lambda_max, grid.lambda_min), (2f64.powi(15), 2f64.powi(-15)));
    }
}
