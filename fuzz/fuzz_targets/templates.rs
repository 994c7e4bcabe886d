//! See `crates/maxmargin-io/tests/fuzz/targets.rs`.
#![no_main]
#![allow(dead_code, reason = "the other targets")]

#[path = "../../crates/maxmargin-io/tests/fuzz/targets.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::templates(bytes));
