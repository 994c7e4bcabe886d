//! Options of `maxmargin compare`.

use super::parse::{data_parser, format_parser, number, whole_number};
use super::{ModelArgs, TalkArgs};
use clap::Args;
use maxmargin_io::Format;
use std::path::PathBuf;

/// What is to be compared, and on what.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// Training data
    #[arg(value_parser = data_parser())]
    pub data: String,
    /// Data to measure the test error on, at every gap check
    #[arg(long, value_name = "DATA", value_parser = data_parser())]
    pub test: Option<String>,
    /// Layout of the data, where it cannot be told from the data
    #[arg(long, value_parser = format_parser(), value_name = "FORMAT")]
    pub(crate) format: Option<Format>,
    /// Methods, each written SOLVER[+PART]…, such as `auto`, `fw`, `bcfw+gap+pairwise+cache` or
    /// `bcfw+weighted`; a part is the name of an order, a direction, a step rule or an average, `cache`,
    /// `cache-auto`, or a setting as in `gap-every=1`. `all` stands for everything that applies
    #[arg(long, value_delimiter = ',', value_name = "METHOD,…", default_value = "all")]
    pub methods: Vec<String>,
    /// Regularization strengths [default: that of `train`, by the scale of features and losses]
    #[arg(long, value_delimiter = ',', allow_negative_numbers = true, value_parser = number, value_name = "NUMBER,…")]
    pub(crate) lambdas: Vec<f64>,
    /// How often each method is run, with the seeds 1 … N
    #[arg(long, allow_negative_numbers = true, value_parser = whole_number::<u64>, value_name = "N", default_value_t = 3)]
    pub(crate) seeds: u64,
    /// What each run may take: effective passes over the data (n oracle calls each), or seconds as in
    /// `10s`
    #[arg(long, allow_negative_numbers = true, value_parser = budget, value_name = "N[s]", default_value = "50")]
    pub(crate) budget: Budget,
    /// A run that reaches this gap is over
    #[arg(long, allow_negative_numbers = true, value_parser = number, value_name = "GAP", default_value_t = 1e-4)]
    pub(crate) tolerance: f64,
    /// Compute the exact gap, and measure errors, every so many passes
    #[arg(long, allow_negative_numbers = true, value_parser = whole_number::<u64>, value_name = "N", default_value_t = 5)]
    pub(crate) gap_every: u64,
    /// Threads for what methods can do in parallel, 0 for all cores
    #[arg(long, allow_negative_numbers = true, value_parser = whole_number::<usize>, value_name = "N", default_value_t = 1)]
    pub(crate) threads: usize,
    /// Runs that are made side by side, 0 for as many as there are cores; they share the machine, so their seconds
    /// are not those of runs on their own. Methods that the clock steers (`auto`, `cache-auto`) run on their own
    #[arg(long, allow_negative_numbers = true, value_parser = whole_number::<usize>, value_name = "N", default_value_t = 1)]
    pub(crate) jobs: usize,
    /// Folder for traces, summary, report and figures; runs found there are not run again
    #[arg(long, value_name = "FOLDER", default_value = "compare")]
    pub out: PathBuf,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    #[command(flatten)]
    pub(crate) talk: TalkArgs,
    /// The command line as it was given.
    #[arg(skip)]
    pub(crate) line: Vec<String>,
    /// Other folders of traces, in which runs are looked for as well.
    #[arg(skip)]
    pub elsewhere: Vec<PathBuf>,
    /// Whether only runs of before count, and none is made.
    #[arg(skip)]
    pub finished_only: bool,
}

/// What a run may take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Budget {
    Passes(f64),
    Seconds(f64),
}

impl std::fmt::Display for Budget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Passes(passes) => write!(f, "{passes} effective passes"),
            Self::Seconds(seconds) => write!(f, "{seconds} seconds"),
        }
    }
}

fn budget(text: &str) -> Result<Budget, &'static str> {
    let (number, unit): (_, fn(f64) -> Budget) = match text.strip_suffix('s') {
        Some(seconds) => (seconds, Budget::Seconds),
        None => (text, Budget::Passes),
    };
    let positive = |amount: &f64| *amount > 0.0 && amount.is_finite();
    number
        .parse()
        .ok()
        .filter(positive)
        .map(unit)
        .ok_or("a number of effective passes is needed, such as 50, or of seconds, such as 10s")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_passes_or_seconds() {
        assert_eq!(budget("50"), Ok(Budget::Passes(50.0)));
        assert_eq!(budget("0.5s"), Ok(Budget::Seconds(0.5)));
        for wrong in ["", "s", "0", "-1", "nan", "infs", "10 s", "10m"] {
            assert!(budget(wrong).is_err(), "{wrong}");
        }
    }
}
