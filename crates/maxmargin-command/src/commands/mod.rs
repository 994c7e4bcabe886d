//! What each verb does.

pub(crate) mod compare;
mod completions;
mod conclusion;
mod convert;
mod data;
mod demo;
mod dump;
mod evaluate;
mod figures;
mod lambda;
mod man;
mod path;
mod pick;
mod predict;
mod report;
mod resume;
mod scaling;
mod session;
mod soft;
mod train;
pub(crate) use conclusion::{
    certificate_in_words, errors_in_words, support_in_words, validation_in_words,
};
pub use figures::{make_folder, write_figures};
pub use train::write_file;
mod validation;
mod verify;

use crate::args::Command;
use crate::screen::{harmless, print_above};
use anyhow::Result;
use serde::Serialize;
use std::io::Write as _;
use std::process::ExitCode;

pub(crate) fn run(command: Command) -> Result<ExitCode> {
    match command {
        Command::Demo(args) => demo::run(&args),
        Command::Train(args) => train::run(&args),
        Command::Path(args) => path::run(&args),
        Command::Pick(args) => pick::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Predict(args) => predict::run(&args),
        Command::Evaluate(args) => evaluate::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Verify(args) => verify::run(&args),
        Command::Dump(args) => dump::run(&args),
        Command::Convert(args) => convert::run(&args),
        Command::Data(args) => data::run(&args),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
    }
}

/// Prints the one JSON object of a command.
pub fn print_json(value: &impl Serialize) -> Result<()> {
    let mut text = serde_json::to_string_pretty(value)?;
    text.push('\n');
    write_out(&text)
}

/// Prints text for people to standard output.
pub fn print(text: &str) -> Result<()> {
    write_out(&harmless(text))
}

/// Writes text to standard output as it is.
pub(crate) fn write_out(text: &str) -> Result<()> {
    print_above(|| {
        let mut out = std::io::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()
    })?;
    Ok(())
}
