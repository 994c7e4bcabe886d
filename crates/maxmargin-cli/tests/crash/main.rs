//! What can go wrong around the program: it is killed, the disk is full, files change while they are read, two
//! processes write one file, limits strike at any moment. Files are whole or absent, models verify, nothing panics.
//!
//! The moments differ from run to run, and what is asserted holds at every moment. `MAXMARGIN_CRASHES=1000` asks for
//! more rounds of everything.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "in a test a panic is a failure")]

use maxmargin_io::{Model, load_checkpoint};
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_maxmargin");

/// Rounds of an ordinary test run.
const ROUNDS: u64 = 5;

fn rounds() -> u64 {
    std::env::var("MAXMARGIN_CRASHES").map_or(ROUNDS, |text| text.parse().unwrap())
}

/// A number that depends on the round alone.
fn some(round: u64, bound: u64) -> u64 {
    let mixed = (round + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 32) % bound.max(1)
}

struct Desk(TempDir);

impl Desk {
    fn new() -> Self {
        let desk = Self(tempfile::tempdir().unwrap());
        fs::write(desk.path("data.crf"), data(200)).unwrap();
        desk
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(PROGRAM);
        command.args(arguments.split_whitespace());
        self.at_desk(command)
    }

    /// The command in a shell that has set a limit before.
    fn limited(&self, limit: &str, arguments: &str) -> Output {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{limit}; exec {PROGRAM} {arguments}")]);
        self.at_desk(command).output().unwrap()
    }

    fn at_desk(&self, mut command: Command) -> Command {
        command.current_dir(self.0.path()).env("RUST_BACKTRACE", "0").stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(&self, arguments: &str) -> Output {
        sound(self.command(arguments).output().unwrap())
    }

    /// Temporary files that are left.
    fn leftovers(&self) -> Vec<String> {
        let names = fs::read_dir(self.0.path())
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.starts_with(".maxmargin-")).collect()
    }
}

/// Sentences that take a while to learn.
fn data(sentences: usize) -> String {
    let mut text = String::new();
    for i in 0..sentences {
        for t in 0..8 {
            let word = (i * 31 + t * 17) % 97;
            text.push_str(&format!(
                "L{}\tw={word}\tlast={}\n",
                (word * word + t) % 5,
                (i + t) % 13
            ));
        }
        text.push('\n');
    }
    text
}

/// The output of a program that has not panicked.
fn sound(output: Output) -> Output {
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!text.contains("panicked"), "{text}");
    output
}

fn is_whole(path: &Path) -> bool {
    match path.exists() {
        true => Model::load(path).map(|_| true).unwrap_or_else(|error| panic!("{error}")),
        false => false,
    }
}

fn kill_after(mut child: Child, milliseconds: u64) {
    std::thread::sleep(Duration::from_millis(milliseconds));
    // It may have ended by itself.
    let _ = child.kill();
    sound(child.wait_with_output().unwrap());
}

#[test]
fn a_killed_run_leaves_whole_files_and_can_be_resumed() {
    let desk = Desk::new();
    let (model, checkpoint) = (desk.path("m.model"), desk.path("c.ckpt"));
    for round in 0..rounds() {
        let line = "train data.crf -q -o m.model --checkpoint c.ckpt --checkpoint-every 1 --tolerance 1e-9 --max-passes 60";
        let child = desk.command(line).spawn().unwrap();
        kill_after(child, 5 + some(round, 400));
        is_whole(&model);
        if checkpoint.exists() {
            load_checkpoint::<serde_json::Value>(&checkpoint)
                .unwrap_or_else(|error| panic!("{error}"));
            let resumed = desk.run("train data.crf -q -o m.model --resume c.ckpt --max-passes 62");
            assert!(resumed.status.success(), "{}", String::from_utf8_lossy(&resumed.stderr));
        }
        fs::remove_file(&checkpoint).ok();
    }
    assert!(
        desk.run("train data.crf -q -o m.model --max-passes 3 --checkpoint c.ckpt")
            .status
            .success()
    );
    assert!(is_whole(&model));
    #[cfg(target_os = "linux")]
    assert_eq!(desk.leftovers(), Vec::<String>::new());
}

#[test]
fn a_full_disk_leaves_the_old_model() {
    let desk = Desk::new();
    assert!(desk.run("train data.crf -q -o m.model --max-passes 2").status.success());
    let before = fs::read(desk.path("m.model")).unwrap();
    for round in 0..rounds() {
        // Blocks of 512 bytes; less than the model takes. The signal is ignored, so that writing fails instead.
        let blocks = some(round, before.len() as u64 / 1024).min(before.len() as u64 / 1024);
        for limit in [format!("ulimit -f {blocks}"), format!("trap '' XFSZ; ulimit -f {blocks}")] {
            let output = sound(desk.limited(&limit, "train data.crf -q -o m.model --max-passes 3"));
            assert!(!output.status.success());
            assert!(output.status.signal().is_some() || !output.stderr.is_empty());
            assert_eq!(fs::read(desk.path("m.model")).unwrap(), before);
        }
    }
}

#[test]
fn data_that_change_while_they_are_read_are_read_or_refused() {
    let desk = Desk::new();
    assert!(desk.run("train data.crf -q -o m.model --max-passes 2").status.success());
    let (path, is_over) = (desk.path("data.crf"), AtomicBool::new(false));
    let texts = [data(200), data(3), String::new(), "L1\tw=1\n".repeat(5000), "\u{0}".to_owned()];
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for text in texts.iter().cycle() {
                fs::write(&path, text).unwrap();
                if is_over.load(Ordering::Relaxed) {
                    return;
                }
            }
        });
        for _ in 0..rounds() {
            for line in [
                "train data.crf -q --max-passes 2",
                "predict m.model data.crf -q",
                "verify m.model data.crf",
            ] {
                let output = desk.run(line);
                assert!(matches!(output.status.code(), Some(0..=2)), "{line}: {:?}", output.status);
            }
        }
        is_over.store(true, Ordering::Relaxed);
    });
}

#[test]
fn two_processes_that_write_one_file_leave_a_whole_one() {
    let desk = Desk::new();
    for _ in 0..rounds() {
        let line =
            "train data.crf -q -o m.model --checkpoint c.ckpt --checkpoint-every 1 --max-passes 5";
        let both = [desk.command(line).spawn().unwrap(), desk.command(line).spawn().unwrap()];
        let ends = both.map(|child| sound(child.wait_with_output().unwrap()));
        // The second may find the checkpoint of the first, which is not written over.
        let is_refused =
            |end: &Output| String::from_utf8_lossy(&end.stderr).contains("not written over");
        assert!(ends.iter().any(|end| end.status.success()));
        assert!(ends.iter().all(|end| end.status.success() || is_refused(end)));
        assert!(is_whole(&desk.path("m.model")));
        load_checkpoint::<serde_json::Value>(desk.path("c.ckpt"))
            .unwrap_or_else(|error| panic!("{error}"));
        assert!(desk.run("verify m.model data.crf").status.success());
        fs::remove_file(desk.path("c.ckpt")).unwrap();
    }
    assert_eq!(desk.leftovers(), Vec::<String>::new());
}

#[test]
fn a_limit_at_any_moment_leaves_a_model_that_verifies() {
    let desk = Desk::new();
    for round in 0..rounds() {
        let limit = match round % 3 {
            0 => format!("--max-oracle-calls {}", 1 + some(round, 3000)),
            1 => format!("--max-seconds {}", some(round, 300) as f64 / 1000.0),
            _ => format!("--max-passes {}", 1 + some(round, 20)),
        };
        let line = format!("train data.crf -q -o m.model --tolerance 1e-9 {limit}");
        let output = desk.run(&line);
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        let output = desk.run("verify m.model data.crf");
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stdout));
    }
}
