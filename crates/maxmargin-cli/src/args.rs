//! The command line as it is written; what it means is decided in `commands`.

mod compare;
mod kernel;
mod model;
mod pictures;
mod predict;
mod report;
mod soft;

pub(crate) use compare::Budget;
pub use compare::CompareArgs;
pub(crate) use kernel::{KernelArgs, KernelName};
pub use model::ModelArgs;
pub(crate) use model::{Group, Loss, ModelName, Pairs, Standardise};
pub(crate) use pictures::Pictures;
pub(crate) use predict::{EvaluateArgs, PredictArgs, RulesName};
pub(crate) use report::ReportArgs;
pub(crate) use soft::{SoftArgs, TrainingName};

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{Args, Parser, Subcommand};
use maxmargin::{Average, Caching, CheckpointEvery, Direction, GridStart, Order, Solver, Step};
use maxmargin_io::{Format, Measure};
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
    pub(crate) data: String,
    /// Where to write the model
    #[arg(short, long, value_name = "MODEL")]
    pub(crate) output: Option<PathBuf>,
    /// Data to test the model on
    #[arg(long, value_name = "DATA")]
    pub(crate) test: Option<String>,
    /// Layout of the data, where it cannot be told from the data
    #[arg(long, value_parser = format_parser(), value_name = "FORMAT")]
    pub(crate) format: Option<Format>,
    /// Data to measure the error on at every gap check, to stop early by with `--patience` and to
    /// choose lambda by with `--lambda auto` [default for these: a tenth of the training data]
    #[arg(long, value_name = "DATA")]
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
    #[command(flatten)]
    pub(crate) talk: TalkArgs,
    /// The command line as it was given.
    #[arg(skip)]
    pub(crate) line: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct PathArgs {
    /// Training data
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
    #[arg(long, value_name = "DATA")]
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
    #[arg(long, value_name = "DATA", conflicts_with = "lambda")]
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
    /// Bytes that remembered corners may take [default: 1073741824]
    #[arg(long, value_name = "N")]
    pub(crate) cache_bytes: Option<u64>,
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
    /// Seed of all random choices [default: 1]
    #[arg(long, allow_negative_numbers = true, value_parser = whole_number::<u64>, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Threads for gap passes, 0 for all cores; the result does not depend on it [default: 0]
    #[arg(long, allow_negative_numbers = true, value_parser = whole_number::<usize>, value_name = "N")]
    pub(crate) threads: Option<usize>,
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

/// A parser that offers `names` in help and errors and gives the value with that name.
fn named<T>(names: &'static [&'static str]) -> impl clap::builder::TypedValueParser<Value = T>
where
    T: std::str::FromStr<Err: std::error::Error + Send + Sync + 'static>
        + Clone
        + Send
        + Sync
        + 'static,
{
    PossibleValuesParser::new(names).try_map(|name| name.parse())
}

/// Reads the name of a format.
pub fn format_parser() -> impl clap::builder::TypedValueParser<Value = Format> {
    PossibleValuesParser::new(Format::ALL.map(Format::name)).try_map(|name| name.parse::<Format>())
}

fn measure_parser() -> impl clap::builder::TypedValueParser<Value = Measure> {
    PossibleValuesParser::new(Measure::ALL.map(Measure::name))
        .try_map(|name| name.parse::<Measure>())
}

fn number(text: &str) -> Result<f64, &'static str> {
    text.parse().map_err(|_| "a number is needed, such as 0.01 or 1e-2")
}

fn whole_number<T: std::str::FromStr>(text: &str) -> Result<T, &'static str> {
    text.parse().map_err(|_| "a whole number is needed, 0 or more")
}

/// The size of a batch; 0 stands for one that adapts.
fn batch(text: &str) -> Result<usize, &'static str> {
    let size = if text == "auto" { Some(0) } else { text.parse().ok().filter(|size| *size > 0) };
    size.ok_or("not a whole number of at least 1, nor `auto`")
}

fn checkpoint_every(text: &str) -> Result<CheckpointEvery, &'static str> {
    let every = match text.strip_suffix('s') {
        Some(seconds) => seconds
            .parse()
            .ok()
            .filter(|s: &f64| *s >= 0.0 && s.is_finite())
            .map(CheckpointEvery::Seconds),
        None => text.parse().ok().filter(|passes| *passes > 0).map(CheckpointEvery::Passes),
    };
    every.ok_or("a number of passes is needed, such as 10, or of seconds, such as 90s")
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

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
