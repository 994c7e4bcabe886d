//! The command as a user meets it: what it prints, what it writes, and what it refuses.
//!
//! Transcripts of whole sessions are in `snapshots`; after a change on purpose, run the tests with
//! `INSTA_UPDATE=always` and look at the difference.
#![cfg(unix)] // messages of the operating system are part of the transcripts
#![allow(clippy::unwrap_used, reason = "in a test a panic is a failure")]

/// What is tested.
const PROGRAM: (&str, &str) = ("maxmargin", env!("CARGO_BIN_EXE_maxmargin"));

mod baselines;
mod checkpoint;
mod columns;
mod common;
mod compare;
mod completions;
mod convert;
mod defaults;
mod demo;
mod dump_and_data;
mod evaluate;
mod false_certificates;
mod hostile;
mod interrupt;
mod kernels;
mod kinds;
mod options;
mod outputs;
mod pages;
mod path;
mod patience;
mod pipes;
mod predict;
mod refusals;
mod report;
mod segments;
mod soft;
mod structures;
mod tampered;
mod templates;
mod terminal;
mod train;
mod verify;
