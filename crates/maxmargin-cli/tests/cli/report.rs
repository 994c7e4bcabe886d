//! `maxmargin report`

use crate::common::Desk;

#[test]
fn shows_finished_runs_side_by_side() {
    let desk = Desk::new();
    std::fs::create_dir(desk.path("old")).unwrap();
    desk.run("train pets.crf -q --solver bcfw --trace a.jsonl --validation pets.crf").ok();
    desk.run("train pets.crf -q --solver fw --lambda 0.5 --trace b.jsonl --max-passes 3").ok();
    desk.run("train pets.crf -q --solver bcfw --order gap --seed 9 --trace old/a.jsonl").ok();
    let run = desk.run("report a.jsonl b.jsonl old/a.jsonl --figures pictures").ok();
    assert_eq!(run.stderr, "report of 3 runs written to report.html\n");
    let page = desk.read("report.html");
    for text in [
        "3 runs side by side",
        "The smallest gap is that of",
        "The least validation error is that of <code>a.jsonl</code>",
        "The runs have different λ",
        "<td class=\"tight\">bcfw+gap</td>",
        "a.jsonl (2)",
        "Settings in which they differ",
        "maxmargin report a.jsonl b.jsonl",
    ] {
        assert!(page.contains(text), "{text}");
    }
    assert!(!page.contains("old/"), "no names of folders");
    assert!(desk.files("pictures").contains(&"convergence_gap-passes.svg".to_owned()));
    // One run alone, and one that was cut short.
    let trace = desk.read("a.jsonl");
    let lines: Vec<&str> = trace.lines().collect();
    desk.write("cut.jsonl", lines[..lines.len() - 1].join("\n") + "\n{\"event\":\"pa");
    desk.run("report cut.jsonl -q -o one.html").ok();
    let page = desk.read("one.html");
    assert!(page.contains("<h1>cut.jsonl</h1>") && page.contains("Not over, or cut short"));
}

#[test]
fn takes_the_traces_of_comparisons() {
    let desk = Desk::new();
    desk.run("compare pets.crf -q --methods bcfw+gap,ssg --seeds 1 --budget 4 --test pets.crf")
        .ok();
    let traces = desk.files("compare/traces").into_iter();
    let traces: Vec<String> = traces.map(|file| format!("compare/traces/{file}")).collect();
    desk.run(&format!("report -q {} -o r.html", traces.join(" "))).ok();
    let page = desk.read("r.html");
    assert!(page.contains("<td class=\"tight\">bcfw+gap</td>") && page.contains("Test error"));
}

#[test]
fn refuses_what_is_no_trace() {
    let desk = Desk::with_model("-q --trace t.jsonl");
    desk.write("empty.jsonl", "");
    desk.write("other.jsonl", "{\"a\": 1}\n");
    insta::assert_snapshot!(desk.session(
        "report
         report nosuch.jsonl
         report empty.jsonl
         report other.jsonl
         report pets.crf
         report pets.model
         report t.jsonl -o t.jsonl
         report t.jsonl -o nosuch/r.html"
    ));
}
