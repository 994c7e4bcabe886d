//! The `maxmargin-lab` command: experiments with the methods of `maxmargin`, which its users need not have.
//!
//! Data go to standard output, talk goes to standard error; with `--json` standard output carries
//! exactly one JSON object.

mod reproduce;
mod train;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Experiments with the methods of maxmargin.
#[derive(Debug, Parser)]
#[command(name = "maxmargin-lab", version, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Trains sets of labels or factor graphs by DLPW, without a certificate
    Dlpw(Box<train::DlpwArgs>),
    /// Repeats an experiment of the papers, and puts their claims beside what is measured
    Reproduce(reproduce::ReproduceArgs),
}

fn main() -> ExitCode {
    maxmargin_command::exit_code(match Cli::parse().command {
        Command::Dlpw(args) => train::run(&args),
        Command::Reproduce(args) => reproduce::run(&args),
    })
}
