//! `maxmargin completions`

use crate::args::CompletionsArgs;
use crate::help;
use anyhow::{Context as _, Result};
use std::process::ExitCode;

pub(super) fn run(args: &CompletionsArgs) -> Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut help::command(), "maxmargin", &mut script);
    let script = String::from_utf8(script).context("the script is not text")?;
    super::write_out(&script)?;
    Ok(ExitCode::SUCCESS)
}
