//! Options of `maxmargin report`.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Traces of runs, as `maxmargin train DATA --trace FILE.jsonl` and `maxmargin compare` write them
    #[arg(required = true, value_name = "FILE.jsonl")]
    pub(crate) traces: Vec<PathBuf>,
    /// Where to write the page
    #[arg(short, long, value_name = "FILE.html", default_value = "report.html")]
    pub(crate) output: PathBuf,
    /// Write the plots of the page as SVG pictures into a folder
    #[arg(long, value_name = "FOLDER")]
    pub(crate) figures: Option<PathBuf>,
    /// Say nothing but errors
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// The command line as it was given.
    #[arg(skip)]
    pub(crate) line: Vec<String>,
}
