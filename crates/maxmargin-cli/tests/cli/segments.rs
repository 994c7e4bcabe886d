//! Segments of sequences: their tags in files, from training to predictions.

use crate::common::Desk;

/// Sentences with chunks, of which amounts have two tokens.
const CHUNKS: &str = "\
2 B-AMOUNT
cups I-AMOUNT
flour B-FOOD

a B-AMOUNT
pinch I-AMOUNT
of O
salt B-FOOD

3 B-AMOUNT
spoons I-AMOUNT
brown B-FOOD
sugar I-FOOD
";

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("chunks.txt", CHUNKS);
    desk
}

#[test]
fn segments_are_trained_tested_and_shown() {
    let desk = desk();
    insta::assert_snapshot!(desk.session(
        "train chunks.txt --model segment --lambda 0.01 -q -o x.model
         evaluate x.model chunks.txt
         predict x.model chunks.txt --columns
         predict x.model chunks.txt --json"
    ));
    let trained = desk.run("train chunks.txt --model segment --test chunks.txt").ok();
    assert!(trained.stdout.contains("of 11 tokens and"), "{}", trained.transcript());
    let verified = desk.run("verify x.model chunks.txt").ok();
    assert!(verified.stdout.contains("The claim holds"), "{}", verified.transcript());
    let shown = desk.run("dump x.model --top 100").ok().stdout;
    let parts = ["label AMOUNT", "(length 1)", "(first) w[0]=of", "transitions"];
    assert!(parts.iter().all(|part| shown.contains(part)), "{shown}");
}

#[test]
fn pages_paths_and_comparisons_know_segments() {
    let desk = desk();
    desk.run("train chunks.txt --model segment -q -o x.model --report r.html --test chunks.txt")
        .ok();
    let page = desk.read("r.html");
    assert!(page.contains("Segment F1") && page.contains("Segments by label"), "{}", page.len());
    desk.run("path chunks.txt --model segment -q -p x.path").ok();
    // A search for λ ends with its time limit, and says what it has chosen by.
    let search =
        "train chunks.txt --model segment --measure chunk-f1 --lambda auto --max-seconds 0.2";
    let search = desk.run(search).ok();
    assert!(search.stderr.contains("by chunk-f1"), "{}", search.transcript());
}

#[test]
fn tags_are_written_as_they_were_read() {
    let desk = desk();
    for (tags, labels) in [
        ("S-A\tx\nB-B\ty\nE-B\ty\n\nO\tz\nS-A\tx\n", vec!["A", "B", "O"]),
        ("a\tx\nb\ty\nb\ty\n\nc\tz\na\tx\n", vec!["a", "b", "c"]),
    ] {
        desk.write("t.crf", tags);
        desk.run("train t.crf --format crfsuite --model segment --lambda 0.001 -q -o t.model").ok();
        let model = desk.model("t.model");
        assert_eq!(model.labels.iter().collect::<Vec<_>>(), labels);
        let found = desk.run("predict t.model t.crf -q").ok().stdout;
        let expected: Vec<&str> =
            tags.lines().map(|line| line.split('\t').next().unwrap_or("")).collect();
        assert_eq!(found.trim_end(), expected.join("\n").trim_end());
        desk.run("verify t.model t.crf").ok();
    }
}

#[test]
fn longer_segments_and_new_labels_of_test_data_are_counted() {
    let desk = desk();
    desk.run("train chunks.txt --model segment -q -o x.model").ok();
    desk.write("long.txt", "a B-FOOD\nb I-FOOD\nc I-FOOD\nd I-FOOD\n\nx B-TOOL\n");
    let found = desk.run("evaluate x.model long.txt --json").ok().json();
    assert_eq!((&found["tokens"], &found["sequences"]), (&5.into(), &2.into()));
    assert_eq!(found["chunks"]["all"]["true"], 2);
    let verified = desk.run("verify x.model long.txt");
    assert_ne!(verified.code, 0);
}

#[test]
fn what_segments_do_not_know_is_refused() {
    let desk = desk();
    desk.run("train chunks.txt --model segment -q -o x.model").ok();
    insta::assert_snapshot!(desk.session(
        "train chunks.txt --model segment --longest 1
         train chunks.txt --model segment --without bias
         train chunks.txt --model chain --longest 3
         train chunks.txt --model segment --kernel rbf
         predict x.model chunks.txt --n-best 2
         predict x.model chunks.txt --confidence
         predict x.model chunks.txt --rules bio"
    ));
    desk.write("cost.crf", "a\tx\t@cost:2\nb\ty\n");
    let run = desk.run("train cost.crf --format crfsuite --model segment");
    assert!(run.stderr.contains("cost of its own"), "{}", run.transcript());
}

#[test]
fn a_run_is_resumed_with_the_same_options_only() {
    let desk = desk();
    let train = "train chunks.txt --model segment --tolerance 0";
    desk.run(&format!("{train} --max-passes 2 --checkpoint c -q")).ok();
    desk.run(&format!("{train} --max-passes 4 --resume c -q -o x.model")).ok();
    let other = desk.run(&format!("{train} --max-passes 4 --resume c --longest 3"));
    assert!(other.stderr.contains("another --longest"), "{}", other.transcript());
}
