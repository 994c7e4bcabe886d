//! ctrl-C: the run ends with a model that is certified all the same.

use crate::common::{Desk, Run, until};
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Command;

#[test]
fn ctrl_c_ends_with_a_certified_model() {
    let desk = Desk::new();
    let mut child = desk
        .command(
            "train ocr-large --tolerance 0 --max-passes 100000 --json \
             -o ocr.model --trace trace.jsonl",
        )
        .spawn()
        .unwrap();
    let mut talk = until(&mut child, "oracle calls");
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let mut rest = String::new();
    talk.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("interrupted: computing the certificate"), "{rest}");
    assert!(rest.contains("model written to ocr.model"), "{rest}");

    let result = Run::of(child.wait_with_output().unwrap()).interrupted().json();
    assert_eq!(result["status"], "interrupted");
    assert!(result["gap"].as_f64().unwrap() > 0.0);
    assert_eq!(desk.files(""), ["ocr.model", "pets.crf", "tags.hmm", "trace.jsonl"]);
    let trace = desk.read("trace.jsonl");
    let last: Value = serde_json::from_str(trace.lines().last().unwrap()).unwrap();
    assert_eq!((&last["event"], &last["status"]), (&"end".into(), &"interrupted".into()));

    let verified = desk.run("verify ocr.model ocr-large --json").ok().json();
    assert_eq!(verified["holds"], true);
    assert_eq!(verified["claimed"]["gap"], result["gap"]);
}

/// In the second round of soft training.
#[test]
fn ctrl_c_ends_rounds() {
    let rows: String = (0..60)
        .map(|i| format!("{},{} {}:1 {}:0.5 9:1\n", 1 + i % 3, 4 + i % 2, 1 + i % 5, 6 + i % 3))
        .collect();
    // Hardly soft, the second round of the first comes to no end; nor does any run without tolerance.
    for (training, wanted) in [
        ("soft --rho-schedule 1,1e-10 --tolerance 1e-3 --solver bcfw", "round 2 of 2"),
        ("soft --multipliers 5 --tolerance 0 --solver bcfw", "oracle calls"),
    ] {
        let desk = Desk::new();
        desk.write("sets.svm", &rows);
        let limits = "--max-passes 1000000000000 --lambda 0.01";
        let mut child = desk
            .command(&format!("train sets.svm --training {training} {limits} --json -o s.model"))
            .spawn()
            .unwrap();
        let mut talk = until(&mut child, wanted);
        let pid = child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
        let mut rest = String::new();
        talk.read_to_string(&mut rest).unwrap();
        assert!(rest.contains("model written to s.model"), "{training}: {rest}");
        assert!(!rest.contains("round 2 of 5"), "{training}: {rest}");
        let result = Run::of(child.wait_with_output().unwrap()).interrupted().json();
        assert_eq!(result["status"], "interrupted", "{training}");
        assert!(result["gap"].as_f64().unwrap() > 0.0);
        desk.run("verify s.model sets.svm").ok();
    }
}

#[test]
fn ctrl_c_ends_a_path_with_what_it_has() {
    let desk = Desk::new();
    let arguments = "path ocr-large --epsilon 0.001 --json -p ocr.path -o ocr.model";
    let mut child = desk.command(arguments).spawn().unwrap();
    let mut talk = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    // The head of the table, and its first row.
    for wanted in ["lambda", "e"] {
        while !line.contains(wanted) {
            line.clear();
            assert!(talk.read_line(&mut line).unwrap() > 0, "it ended before it began");
        }
        line.clear();
    }
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let mut rest = String::new();
    talk.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("interrupted: "), "{rest}");

    let result = Run::of(child.wait_with_output().unwrap()).interrupted().json();
    let points = result["breakpoints"].as_array().unwrap();
    let last = points.last().unwrap();
    assert_eq!(result["lowest"], last["lambda"], "it promises nothing below");
    assert_eq!(result["guaranteed"], last["status"] == "converged");
    desk.run("verify ocr.model ocr-large").ok();
    let listed = desk.run("pick ocr.path --json").ok().json();
    assert_eq!(listed["breakpoints"].as_array().unwrap().len(), points.len());
    assert_eq!(listed["lowest"], result["lowest"]);
}
