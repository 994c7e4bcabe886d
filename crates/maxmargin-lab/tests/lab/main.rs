//! The lab as its user meets it: what it prints, what it writes, and what it refuses.
//!
//! Transcripts of whole sessions are in `snapshots`; after a change on purpose, run the tests with
//! `INSTA_UPDATE=always` and look at the difference.
#![cfg(unix)] // messages of the operating system are part of the transcripts
#![allow(clippy::unwrap_used, reason = "in a test a panic is a failure")]

/// What is tested.
const PROGRAM: (&str, &str) = ("maxmargin-lab", env!("CARGO_BIN_EXE_maxmargin-lab"));

#[allow(dead_code, reason = "it serves the tests of the command line as well")]
#[path = "../../../maxmargin-cli/tests/cli/common.rs"]
mod common;
mod dlpw;
mod reproduce;
