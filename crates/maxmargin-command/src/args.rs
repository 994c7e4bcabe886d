//! The command line as it is written; what it means is decided in `commands`.

mod compare;
mod kernel;
mod model;
mod parse;
mod path;
mod pictures;
mod predict;
mod report;
mod settings;
mod soft;

pub(crate) use compare::Budget;
pub use compare::CompareArgs;
pub(crate) use kernel::{KernelArgs, KernelName};
pub use model::ModelArgs;
pub(crate) use model::{Group, Loss, ModelName, Pairs, Standardise, TransitionScale};
pub use parse::format_parser;
pub(crate) use path::{PathArgs, PickArgs};
pub(crate) use pictures::Pictures;
pub(crate) use predict::{EvaluateArgs, PredictArgs, RulesName};
pub(crate) use report::ReportArgs;
pub(crate) use settings::{Lambda, Preset, SettingsArgs};
pub(crate) use soft::{SoftArgs, TrainingName};

use clap::{Args, Parser, Subcommand};
use maxmargin::CheckpointEvery;
use maxmargin_io::Format;
use parse::{checkpoint_every, data_parser, whole_number};
use std::path::PathBuf;

/// Structured SVMs by Frank-Wolfe methods, with a certificate of how good the training is.
///
/// DATA is a file (gz is fine), `-` for standard input, or a built-in name such as `ocr-small` or
/// `ocr-small:test`; `maxmargin data` lists those.
#[derive(Debug, Parser)]
#[command(name = "maxmargin", version, propagate_version = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    /// Keeps the command line for pages to show.
    pub(crate) fn with_line(mut self, line: Vec<String>) -> Self {
        match &mut self.command {
            Command::Train(args) => args.line = line,
            Command::Demo(args) => args.line = line,
            Command::Path(args) => args.line = line,
            Command::Compare(args) => args.line = line,
            Command::Evaluate(args) => args.line = line,
            Command::Report(args) => args.line = line,
            _ => {}
        }
        self
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Trains a handwriting recogniser on built-in data, and shows what it learned
    Demo(DemoArgs),
    /// Trains a model
    Train(Box<TrainArgs>),
    /// Follows the regularization path: good weights for every lambda
    Path(Box<PathArgs>),
    /// Takes a model out of a path file, or shows what is in it
    Pick(PickArgs),
    /// Runs methods side by side, and shows which wins
    Compare(Box<CompareArgs>),
    /// Labels new data with a model
    Predict(PredictArgs),
    /// Compares a model's predictions with the labels in the data
    Evaluate(EvaluateArgs),
    /// Shows finished runs side by side on one page
    Report(ReportArgs),
    /// Recomputes a model's certificate from its training data
    Verify(VerifyArgs),
    /// Prints what a model file holds
    Dump(DumpArgs),
    /// Keeps data in a compact file that opens at once
    Convert(ConvertArgs),
    /// Lists the built-in data sets
    Data(DataArgs),
    /// Prints a script that completes commands in a shell
    Completions(CompletionsArgs),
    /// Writes manual pages
    Man(ManArgs),
}

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Folder for the model, the trace, the report and its figures
    #[arg(long, value_name = "FOLDER", default_value = "maxmargin-demo")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) talk: TalkArgs,
    /// The command line as it was given.
    #[arg(skip)]
    pub(crate) line: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct TrainArgs {
    /// Training data
    #[arg(value_parser = data_parser())]
    pub(crate) data: String,
    /// Where to write the model
    #[arg(short, long, value_name = "MODEL")]
    pub(crate) output: Option<PathBuf>,
    /// Data to test the model on
    #[arg(long, value_name = "DATA", value_parser = data_parser())]
    pub(crate) test: Option<String>,
    /// Layout of the data, where it cannot be told from the data
    #[arg(long, value_parser = format_parser(), value_name = "FORMAT")]
    pub(crate) format: Option<Format>,
    /// Data to measure the error on at every gap check, to stop early by with `--patience` and to
    /// choose lambda by with `--lambda auto` [default for these: a tenth of the training data]
    #[arg(long, value_name = "DATA", value_parser = data_parser())]
    pub(crate) validation: Option<String>,
    /// Start from a model trained on the same data, at this or another lambda
    #[arg(long, value_name = "MODEL")]
    pub(crate) warm_start: Option<PathBuf>,
    /// Leave the dual point out of the model: a smaller file that cannot be verified
    #[arg(long)]
    pub(crate) no_dual: bool,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    /// Write the trace of the run as JSON lines
    #[arg(long, value_name = "FILE.jsonl")]
    pub(crate) trace: Option<PathBuf>,
    /// Write a self-contained page: the measures of --test with a table per label, the confusions and test
    /// examples to page through, the certificate, plots of the convergence, the heaviest weights, all settings
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
    /// Write the plots of the report as SVG pictures into a folder
    #[arg(long, value_name = "FOLDER")]
    pub(crate) figures: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) pictures: Pictures,
    /// Keep the state of the run in a file, for --resume to go on from if it is cut short
    #[arg(long, value_name = "FILE")]
    pub(crate) checkpoint: Option<PathBuf>,
    /// How often the checkpoint is written: after N passes, or at the end of a pass after N seconds
    /// as in `90s`; and once more when the run ends [default: 60s]
    #[arg(long, value_parser = checkpoint_every, value_name = "N[s]")]
    pub(crate) checkpoint_every: Option<CheckpointEvery>,
    /// Go on with the run of a checkpoint, to the same result as if it had never been cut short. Give
    /// the same data and options; only limits and --threads may be others. The checkpoint is written
    /// on, unless --checkpoint names another
    #[arg(long, value_name = "FILE")]
    pub(crate) resume: Option<PathBuf>,
    /// Train sequences on a cluster, for which the Python package must be installed: ray, ray://host:port,
    /// dask or dask://host:port. Most options differ; `--cluster ray --help` has them
    #[arg(long, value_name = "ENGINE", help_heading = "Training")]
    pub(crate) cluster: Option<String>,
    #[command(flatten)]
    pub(crate) talk: TalkArgs,
    /// The command line as it was given.
    #[arg(skip)]
    pub(crate) line: Vec<String>,
}

/// How much is said, and how.
#[derive(Debug, Clone, Copy, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct TalkArgs {
    /// Say nothing but errors
    #[arg(short, long)]
    pub quiet: bool,
    /// Print exactly one JSON object on standard output
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// A model file
    pub(crate) model: PathBuf,
    /// The data it was trained on
    #[arg(value_parser = data_parser())]
    pub(crate) data: String,
    /// Layout of the data, where it cannot be told from the data
    #[arg(long, value_parser = format_parser(), value_name = "FORMAT")]
    pub(crate) format: Option<Format>,
    /// Threads, 0 for all cores
    #[arg(long, allow_negative_numbers = true, value_parser = whole_number::<usize>, value_name = "N", default_value_t = 0)]
    pub(crate) threads: usize,
    /// Print exactly one JSON object on standard output
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DumpArgs {
    /// A model file
    pub(crate) model: PathBuf,
    /// How many weights to show per label
    #[arg(long, allow_negative_numbers = true, value_parser = whole_number::<usize>, value_name = "N", default_value_t = 10)]
    pub(crate) top: usize,
    /// Print exactly one JSON object on standard output
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    /// Sequences or rows
    #[arg(value_parser = data_parser())]
    pub(crate) data: String,
    /// Where to write the compact file; all verbs take it in place of the data
    pub(crate) output: PathBuf,
    /// Layout of the data, where it cannot be told from the data
    #[arg(long, value_parser = format_parser(), value_name = "FORMAT")]
    pub(crate) format: Option<Format>,
    /// How attributes are made from columns: a built-in template, or a file
    #[arg(long, value_name = "NAME|FILE")]
    pub(crate) template: Option<String>,
    /// The column with the labels: a number from 1, or a name
    #[arg(long, value_name = "COLUMN")]
    pub(crate) label_column: Option<String>,
    /// Say nothing but errors
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DataArgs {
    /// Print exactly one JSON object on standard output
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Folder for the pages, one for each verb
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    pub(crate) out: PathBuf,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
