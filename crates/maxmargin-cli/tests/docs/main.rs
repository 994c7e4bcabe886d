//! The documents: every sample in README.md and in `docs/` is run, and shows what this version prints.
//!
//! Blocks of the language `console` hold commands after `$ ` and what they print. The commands of a page are run in
//! order, in a folder of their own that holds copies of the files of `docs/samples`. `UPDATE_DOCS=1` writes what they
//! print into the pages instead of comparing. Samples in Python are run by `python/tests/test_docs.py`, and samples in
//! Rust as documentation tests; here it is checked that none of them is forgotten.
#![allow(clippy::unwrap_used, reason = "in a test a panic is a failure")]

mod links;
mod output;
mod page;
mod shell;
mod tables;

use libtest_mimic::{Arguments, Failed, Trial};
use page::{Item, Page};
use shell::Shell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// How many blocks may be marked as not run. They are seen by nobody but readers, so there should be few.
const MOST_UNRUN: usize = 8;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = vec![
        Trial::test("every_sample_is_run_or_says_why_not", every_sample_is_run),
        Trial::test("rust_samples_are_documentation_tests", rust_samples_are_tests),
        Trial::test("links_lead_somewhere", || links::check(&root()).map_err(Failed::from)),
    ];
    trials.extend(output::tests());
    for path in pages() {
        let name = format!("page {}", path.display());
        trials.push(Trial::test(name, move || run(&path)));
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// README.md and all pages of the site, relative to the root.
fn pages() -> Vec<PathBuf> {
    let mut found = vec![PathBuf::from("README.md")];
    let mut folders = vec![PathBuf::from("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root().join(&folder)).unwrap() {
            let path = folder.join(entry.unwrap().file_name());
            if root().join(&path).is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn read(path: &Path) -> Page {
    Page::parse(&fs::read_to_string(root().join(path)).unwrap())
}

/// Runs the commands of a page, and compares or updates what it shows.
fn run(path: &Path) -> Result<(), Failed> {
    let mut page = read(path);
    if page.items.is_empty() {
        return Ok(());
    }
    let update = std::env::var_os("UPDATE_DOCS").is_some();
    let shell = Shell::new(&root().join("docs/samples"));
    let mut complaints = Vec::new();
    let mut changes = Vec::new();
    for item in &page.items {
        match item {
            Item::Command(command) => {
                let printed = shell.run(&command.text);
                let shown = &page.lines[command.output.clone()];
                // Pages show errors on purpose; other failures are mistakes.
                let is_told =
                    |line: &String| line.starts_with("error:") || line.contains("does NOT hold");
                let is_refused = printed.lines.iter().any(is_told);
                if !printed.is_success && !is_refused {
                    complaints.push(format!("`{}` fails:\n{}", command.text, printed.text()));
                } else if !output::is_same(shown, &printed.lines) {
                    let complaint = output::difference(&command.text, shown, &printed.lines);
                    changes.push((command.output.clone(), output::updated(shown, &printed.lines)));
                    if !update {
                        complaints.push(complaint);
                    }
                }
            }
            Item::Keys(keys) => complaints.extend(tables::check(keys, &page.lines, &shell)),
        }
    }
    if update && !changes.is_empty() {
        for (range, lines) in changes.into_iter().rev() {
            page.lines.splice(range, lines);
        }
        fs::write(root().join(path), page.lines.join("\n") + "\n").unwrap();
    }
    if complaints.is_empty() { Ok(()) } else { Err(complaints.join("\n\n").into()) }
}

fn every_sample_is_run() -> Result<(), Failed> {
    let mut complaints = Vec::new();
    let mut unrun = 0;
    for path in pages() {
        for block in read(&path).blocks {
            let at = format!("{}:{}", path.display(), block.line);
            let language = block.language.as_str();
            let is_run = match language {
                "console" => block.has_command,
                "rust" | "python" => true,
                // Text that nothing is done with: files, formulas, traces.
                "text" | "json" | "toml" => continue,
                _ => false,
            };
            match block.unrun {
                Some(reason) if reason.is_empty() => complaints.push(format!("{at}: no reason")),
                Some(_) => unrun += 1,
                None if is_run => {}
                None => complaints.push(format!(
                    "{at}: a block of {language:?} that is not run; write `console` with `$ ` before commands, \
                     or put `<!-- not run: REASON -->` before it"
                )),
            }
        }
    }
    if unrun > MOST_UNRUN {
        complaints.push(format!("{unrun} blocks are not run, more than {MOST_UNRUN}"));
    }
    if complaints.is_empty() { Ok(()) } else { Err(complaints.join("\n").into()) }
}

fn rust_samples_are_tests() -> Result<(), Failed> {
    let list = "crates/maxmargin-lab/src/guides.rs";
    let code = fs::read_to_string(root().join(list)).unwrap();
    let is_forgotten = |path: &PathBuf| {
        let has_code = read(path).blocks.iter().any(|block| block.language == "rust");
        has_code && !code.contains(&format!("include_str!(\"../../../{}\")", path.display()))
    };
    let forgotten: Vec<PathBuf> = pages().into_iter().filter(is_forgotten).collect();
    match forgotten.is_empty() {
        true => Ok(()),
        false => Err(format!("not in {list}: {forgotten:?}").into()),
    }
}
