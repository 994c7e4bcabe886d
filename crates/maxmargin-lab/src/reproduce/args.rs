//! Options of `maxmargin-lab reproduce`.

use clap::Args;
use maxmargin_cli::lab::TalkArgs;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct ReproduceArgs {
    /// The experiment, such as `bcfw-fig1`; without a name all of them are listed
    pub(crate) name: Option<String>,
    /// Under two minutes: fewer seeds, smaller budgets, fewer data sets
    #[arg(long)]
    pub(crate) quick: bool,
    /// Folder for traces, report, figures and the table of claims [default: reproduce/NAME]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
    /// Folder with the data sets that do not ship with the program; what is missing is skipped
    #[arg(long, value_name = "FOLDER")]
    pub(crate) data: Option<PathBuf>,
    /// Only these data sets of the experiment, as in `ocr-small,yeast`
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    #[command(flatten)]
    pub(crate) talk: TalkArgs,
}
