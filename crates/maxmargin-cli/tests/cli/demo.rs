//! `maxmargin demo`: three runs, of a few seconds each.

use crate::common::{Desk, keys, mask};
use serde_json::Value;

#[test]
fn shows_and_keeps_everything() {
    let desk = Desk::new();
    let run = desk.run("demo").ok();
    assert_eq!(
        desk.files("maxmargin-demo"),
        ["figures", "model.safetensors", "report.html", "trace.jsonl"],
        "no more and no less"
    );
    let trace = desk.read("maxmargin-demo/trace.jsonl");
    let events: Vec<Value> =
        trace.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events[0]["event"], "start");
    assert_eq!(events.last().unwrap()["event"], "end");
    assert_eq!(events[1]["event"], "choice");
    assert!(events[2..events.len() - 1].iter().all(|event| event["event"] == "pass"));

    let report = desk.read("maxmargin-demo/report.html");
    assert!(report.starts_with("<!") && report.contains("Convergence"), "{}", &report[..80]);
    assert!(!report.contains("src=\"http") && !report.contains("href=\"http"), "self-contained");

    insta::assert_snapshot!("demo_stdout", run.stdout);
    let talk = mask(&run.stderr);
    assert!(!talk.contains('\u{1b}'), "no bar and no colour where nobody watches");
    let lines: Vec<&str> = talk.lines().collect();
    // From the table on, which begins at a banner, its first and last rows will do.
    let table = lines.iter().position(|line| line.contains(" examples, ")).unwrap();
    let (head, tail) = (&lines[..table + 7], &lines[lines.len() - 5..]);
    insta::assert_snapshot!("demo_stderr", [head, &["…"], tail].concat().join("\n"));

    let verified = desk.run("verify maxmargin-demo/model.safetensors ocr-small").ok();
    assert!(verified.stdout.contains("The claim holds"), "{}", verified.stdout);
}

#[test]
fn prints_one_json_object() {
    let desk = Desk::new();
    let run = desk.run("demo --json --out here/and/there").ok();
    let result = run.json();
    assert_eq!(result["status"], "converged");
    assert_eq!(keys(&result["test"]), ["hamming", "zero_one"]);
    assert_eq!(desk.files("here/and/there").len(), 4);
}

#[test]
fn is_silent_when_told() {
    let desk = Desk::new();
    let run = desk.run("demo --quiet").ok();
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("", ""));
    assert_eq!(desk.files("maxmargin-demo").len(), 4);
}
