//! Readers that go away, and streams that cannot be written: no panic, and no noise.

use crate::common::{Desk, Run};
use std::fs::File;
use std::process::Stdio;

/// The writing end of a pipe that nobody reads.
fn abandoned() -> Stdio {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer.into()
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let desk = Desk::with_model("-q");
    for command in [
        "--help",
        "data",
        "data --json",
        "dump pets.model",
        "dump pets.model --json",
        "predict pets.model pets.crf",
        "evaluate pets.model pets.crf",
        "evaluate pets.model pets.crf --json",
        "verify pets.model pets.crf",
        "verify pets.model pets.crf --json",
        "train pets.crf -q -o piped.model",
        "train pets.crf -q -o piped.model --json",
    ] {
        let run = Run::of(desk.command(command).stdout(abandoned()).output().unwrap());
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{command}");
    }
    assert!(desk.path("piped.model").exists(), "the model is kept before anything is said");
}

#[test]
fn talk_that_nobody_hears_changes_nothing() {
    let desk = Desk::new();
    let train = "train pets.crf -o pets.model";
    let run = Run::of(desk.command(train).stderr(abandoned()).output().unwrap()).ok();
    assert!(run.stdout.starts_with("Training ended"), "{}", run.stdout);
    let run = Run::of(desk.command("train nosuch").stderr(abandoned()).output().unwrap());
    assert_eq!(run.code, 1);
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_an_error() {
    let desk = Desk::with_model("-q");
    let full = || Stdio::from(File::options().write(true).open("/dev/full").unwrap());
    for command in ["data --json", "dump pets.model", "predict pets.model pets.crf"] {
        let run = Run::of(desk.command(command).stdout(full()).output().unwrap());
        assert_eq!(run.code, 1, "{command}");
        assert_eq!(run.stderr, "error: No space left on device (os error 28)\n", "{command}");
    }
    let run = desk.run("train pets.crf -q -o /dev/full");
    insta::assert_snapshot!(run.transcript(), @r"
    error: /dev/full: cannot be written: No space left on device (os error 28)
    [exit code 1]
    ");
    let run = Run::of(desk.command("train nosuch").stderr(full()).output().unwrap());
    assert_eq!(run.code, 1);
}
