//! Options of the verbs that predict.

use super::Pictures;
use super::parse::{data_parser, format_parser, named, whole_number};
use clap::{Args, ValueEnum};
use maxmargin::inference::Inference;
use maxmargin_io::{Answering, Format};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct PredictArgs {
    /// A model file
    pub(crate) model: PathBuf,
    /// Data to label; labels in it are not looked at, unless --keep-labels is given
    #[arg(value_parser = data_parser())]
    pub(crate) data: String,
    /// Write the N best labellings of each sequence, each under a line `# rank score`
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    #[arg(conflicts_with = "confidence")]
    pub(crate) n_best: Option<u32>,
    /// Add a column: how much the score would fall if this label, or set of labels, were another
    #[arg(long)]
    pub(crate) confidence: bool,
    /// Keep the rules of chunks: `I-X` only after `B-X` or `I-X`
    #[arg(long, value_enum)]
    pub(crate) rules: Option<RulesName>,
    /// Keep the labels that are in the data, but for `?`, and predict the rest
    #[arg(long)]
    pub(crate) keep_labels: bool,
    /// Repeat the columns of the data, and write each label beside them; into its place in CoNLL-U
    #[arg(long)]
    pub(crate) columns: bool,
    /// How multi-label models and factor graphs are decoded [default: as the model was told in training]
    #[arg(long, value_parser = named::<Inference>(Inference::NAMES), value_name = "NAME")]
    pub(crate) inference: Option<Inference>,
    /// Where to write the labels [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Layout of the data, where it cannot be told from the data
    #[arg(long, value_parser = format_parser(), value_name = "FORMAT")]
    pub(crate) format: Option<Format>,
    /// Threads, 0 for all cores; the answers do not depend on it
    #[arg(long, allow_negative_numbers = true, value_parser = whole_number::<usize>, value_name = "N", default_value_t = 0)]
    pub(crate) threads: usize,
    /// Write one JSON object per example, each on a line of its own
    #[arg(long, conflicts_with = "columns")]
    pub(crate) json: bool,
    /// Say nothing but errors
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

impl PredictArgs {
    /// Whoever waits at the other end of a pipe wants each example as soon as it is done.
    pub(crate) fn flushes(&self) -> bool {
        self.data == "-" && self.output.is_none()
    }

    /// How examples are answered.
    pub(crate) fn answering(&self) -> Answering {
        let answers_each = self.n_best.map_or(1, |n| n as usize);
        Answering { threads: self.threads, follows: self.flushes(), answers_each }
    }
}

/// Rules that labellings can be made to keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RulesName {
    Bio,
}

#[derive(Debug, Args)]
pub(crate) struct EvaluateArgs {
    /// A model file
    pub(crate) model: PathBuf,
    /// Labelled data
    #[arg(value_parser = data_parser())]
    pub(crate) data: String,
    /// Layout of the data, where it cannot be told from the data
    #[arg(long, value_parser = format_parser(), value_name = "FORMAT")]
    pub(crate) format: Option<Format>,
    /// How multi-label models and factor graphs are decoded [default: as the model was told in training]
    #[arg(long, value_parser = named::<Inference>(Inference::NAMES), value_name = "NAME")]
    pub(crate) inference: Option<Inference>,
    /// Write a self-contained report: measures, what is taken for what, and examples to page through
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
    /// Seed that draws the examples of the report [default: that of the training]
    #[arg(long, allow_negative_numbers = true, value_parser = whole_number::<u64>, value_name = "N", requires = "report")]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) pictures: Pictures,
    /// Threads, 0 for all cores; the measures do not depend on it
    #[arg(long, allow_negative_numbers = true, value_parser = whole_number::<usize>, value_name = "N", default_value_t = 0)]
    pub(crate) threads: usize,
    /// Print exactly one JSON object on standard output
    #[arg(long)]
    pub(crate) json: bool,
    /// The command line as it was given.
    #[arg(skip)]
    pub(crate) line: Vec<String>,
}
