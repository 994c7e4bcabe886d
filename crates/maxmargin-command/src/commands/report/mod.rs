//! `maxmargin report`: runs that are over, side by side on one page.

mod page;
mod run_file;

use super::figures::{make_folder, write_figures};
use super::train::write_file;
use crate::args::ReportArgs;
use crate::output;
use crate::screen::Screen;
use anyhow::Result;
use run_file::RunFile;
use std::path::PathBuf;
use std::process::ExitCode;

pub(super) fn run(args: &ReportArgs) -> Result<ExitCode> {
    let inputs = args.traces.iter().map(PathBuf::as_path);
    output::check(inputs, [args.output.as_path()])?;
    args.figures.as_deref().map(make_folder).transpose()?;
    let mut runs: Vec<RunFile> = Vec::new();
    for path in &args.traces {
        let run = RunFile::read(path)?;
        // Files of one name, from several folders, are told apart by numbers.
        let twins = runs.iter().filter(|other| other.file == run.file).count();
        let name = match twins {
            0 => run.file.clone(),
            _ => format!("{} ({})", run.file, twins + 1),
        };
        runs.push(RunFile { name, ..run });
    }
    let page = page::page(&runs, &args.line);
    write_file(&args.output, page.to_html().as_bytes())?;
    if let Some(folder) = &args.figures {
        write_figures(folder, &page.figures())?;
    }
    let screen = Screen::new(args.quiet);
    let what = match runs.len() {
        1 => "one run".to_owned(),
        count => format!("{count} runs"),
    };
    screen.say(format!("report of {what} written to {}", args.output.display()));
    Ok(ExitCode::SUCCESS)
}
