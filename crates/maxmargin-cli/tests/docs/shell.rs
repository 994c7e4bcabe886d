//! Commands, run as a reader would run them.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// A folder with the samples in it.
pub(crate) struct Shell {
    folder: TempDir,
}

/// What a command has printed on both streams, in order.
pub(crate) struct Printed {
    pub(crate) is_success: bool,
    pub(crate) lines: Vec<String>,
}

impl Printed {
    pub(crate) fn text(&self) -> String {
        self.lines.join("\n")
    }
}

impl Shell {
    pub(crate) fn new(samples: &Path) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for entry in fs::read_dir(samples).unwrap() {
            let path = entry.unwrap().path();
            fs::copy(&path, folder.path().join(path.file_name().unwrap())).unwrap();
        }
        Self { folder }
    }

    pub(crate) fn run(&self, command: &str) -> Printed {
        // The folder of samples is where it runs, and the program is built.
        if command == "cd docs/samples" {
            return Printed { is_success: true, lines: Vec::new() };
        }
        let command = command.replace("cargo run --release -- ", "maxmargin ");
        let program = Path::new(env!("CARGO_BIN_EXE_maxmargin")).parent().unwrap();
        let path = std::env::var("PATH").unwrap_or_default();
        let printed = tempfile::NamedTempFile::new().unwrap();
        let both: File = printed.reopen().unwrap();
        // What goes through a pipe comes when it comes, so messages are put after it.
        let aside = tempfile::NamedTempFile::new().unwrap();
        let messages = if command.contains(" | ") { aside.reopen() } else { both.try_clone() };
        let status = Command::new("sh")
            .args(["-c", &command])
            .current_dir(self.folder.path())
            .env("PATH", format!("{}:{path}", program.display()))
            .env("NO_COLOR", "1")
            .env("RUST_BACKTRACE", "0")
            .env_remove("CLICOLOR_FORCE")
            .env_remove("COLUMNS")
            .stdin(Stdio::null())
            .stdout(both)
            .stderr(messages.unwrap())
            .status()
            .unwrap();
        let read = |path: &Path| fs::read_to_string(path).unwrap();
        let text = read(printed.path()) + &read(aside.path());
        let lines = text.lines().map(|line| line.trim_end().to_owned()).collect();
        Printed { is_success: status.success(), lines }
    }
}
