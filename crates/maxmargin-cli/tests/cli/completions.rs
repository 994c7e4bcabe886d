//! Scripts for shells, and manual pages.

use crate::common::Desk;
use std::process::Command;

#[test]
fn every_shell_has_a_script_that_knows_verbs_and_options() {
    let desk = Desk::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = desk.run(&format!("completions {shell}")).ok().stdout;
        for wanted in ["train", "evaluate", "max-seconds", "rho-schedule"] {
            assert!(script.contains(wanted), "{shell}: {wanted}");
        }
    }
    let refused = desk.run("completions csh");
    assert!(refused.code == 2 && refused.stderr.contains("possible values: bash,"));
}

/// What bash offers for a line, whose last word is being written.
fn completed(desk: &Desk, words: &[&str]) -> Vec<String> {
    let words: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    let (line, last) = (words.join(" "), words.len() - 1);
    let script = format!(
        "source <({} completions bash) && COMP_WORDS=({line}) COMP_CWORD={last} && \\
         _maxmargin maxmargin {} {} && printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        crate::PROGRAM.1,
        words[last],
        words[last - 1],
    );
    let output = Command::new("bash")
        .args(["--norc", "-c", &script])
        .current_dir(desk.path(""))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn bash_completes_verbs_options_and_names() {
    let desk = Desk::new();
    assert_eq!(completed(&desk, &["maxmargin", "tr"]), ["train"]);
    let options = completed(&desk, &["maxmargin", "train", "--max"]);
    assert_eq!(options, ["--max-passes", "--max-oracle-calls", "--max-seconds"]);
    let names = completed(&desk, &["maxmargin", "train", "--model", "multi"]);
    assert_eq!(names, ["multiclass", "multilabel"]);
}

#[test]
fn every_verb_has_a_manual_page() {
    let desk = Desk::new();
    let run = desk.run("man --out pages/man1").ok();
    let pages = desk.files("pages/man1");
    assert_eq!(run.stderr, format!("{} pages are in pages/man1\n", pages.len()));
    let verbs = "compare completions convert data demo dump evaluate man path pick predict report train verify";
    let verbs = verbs.split(' ').map(|verb| format!("maxmargin-{verb}.1"));
    assert_eq!(pages, verbs.chain(["maxmargin.1".to_owned()]).collect::<Vec<_>>());
    let page = desk.read("pages/man1/maxmargin-train.1");
    assert!(page.contains(".TH maxmargin-train 1"), "{page}");
    for wanted in ["maxmargin train", "\\-\\-max\\-seconds", "\\-\\-rho\\-schedule", "Examples"] {
        assert!(page.contains(wanted), "{wanted}");
    }
    assert!(!page.contains('\x1b'), "{page}");
    assert!(desk.read("pages/man1/maxmargin.1").contains("maxmargin\\-train(1)"));

    desk.write("taken", "");
    let refused = desk.run("man --out taken/man1");
    assert!(refused.code == 1 && refused.stderr.contains("taken/man1: the folder cannot be made"));
}
