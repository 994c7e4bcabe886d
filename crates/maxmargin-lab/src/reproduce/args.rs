//! Options of `maxmargin-lab reproduce`.

use clap::Args;
use maxmargin_command::lab::TalkArgs;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct ReproduceArgs {
    /// The experiments, such as `bcfw-fig1`; `all` stands for all of them, the cheapest first. Without a name all of
    /// them are listed, with the hours that they take on a core
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// Under two minutes: fewer seeds, smaller budgets, fewer data sets
    #[arg(long)]
    pub(crate) quick: bool,
    /// Run nothing: show what the runs that are finished tell so far
    #[arg(long)]
    pub(crate) finished: bool,
    /// Folder for traces, report, figures and the table of claims [default: reproduce/NAME]; several experiments have a
    /// folder each in it [default: reproduce]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
    /// File with the claims of all experiments, a section each. Those that have been made are written anew after each
    /// experiment, and all else in the file stays
    #[arg(long, value_name = "FILE")]
    pub(crate) claims: Option<PathBuf>,
    /// Experiments that are made side by side, 0 for as many as there are cores. They share the machine: seconds of the
    /// clock are then no measure, but claims about time are judged by seconds on a core
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) jobs: usize,
    /// Folder with the data sets that do not ship with the program; what is missing is skipped
    #[arg(long, value_name = "FOLDER")]
    pub(crate) data: Option<PathBuf>,
    /// Only these data sets of the experiment, as in `ocr-small,yeast`
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    #[command(flatten)]
    pub(crate) talk: TalkArgs,
}
