//! The `maxmargin` command, as a library for its own program and for `maxmargin-lab`. It is no interface for others:
//! the libraries are `maxmargin` and `maxmargin-io`.
//!
//! Data go to standard output, talk goes to standard error; with `--json` standard output carries
//! exactly one JSON object.

mod args;
mod cluster;
mod commands;
mod help;
mod kind;
#[doc(hidden)]
pub mod lab;
mod output;
mod report;
mod screen;
mod tally;

use clap::{FromArgMatches as _, Parser as _};
use screen::Screen;
use std::process::ExitCode;

/// Does what the command line asks for.
pub fn main() -> ExitCode {
    let given: Vec<std::ffi::OsString> = std::env::args_os().collect();
    if cluster::is_asked_for(&given) {
        return exit_code(cluster::run(&given));
    }
    let line =
        std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect();
    let (mut command, arguments) = help::asked_for(std::env::args_os());
    let matches = command.try_get_matches_from_mut(arguments).unwrap_or_else(|e| e.exit());
    let cli = args::Cli::from_arg_matches(&matches).unwrap_or_else(|e| e.exit());
    exit_code(commands::run(cli.with_line(line).command))
}

/// Does what other arguments ask for.
///
/// # Errors
/// Those of the command, and arguments that it does not know.
#[doc(hidden)]
pub fn run(arguments: &[&str]) -> anyhow::Result<ExitCode> {
    let all = ["maxmargin"].iter().chain(arguments);
    commands::run(args::Cli::try_parse_from(all)?.command)
}

/// The exit code of a program, once an error has been told.
#[doc(hidden)]
pub fn exit_code(result: anyhow::Result<ExitCode>) -> ExitCode {
    screen::clear();
    match result {
        Ok(code) => screen::exit_status(code),
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            Screen::new(false).warn(format!("error: {error:#}"));
            match error.downcast_ref::<screen::Interrupted>() {
                Some(_) => screen::exit_status(ExitCode::FAILURE),
                None => ExitCode::FAILURE,
            }
        }
    }
}

/// Whether the reader of our output has gone away (`maxmargin … | head`), which is no fault of ours.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<std::io::Error>())
        .any(|cause| cause.kind() == std::io::ErrorKind::BrokenPipe)
}
