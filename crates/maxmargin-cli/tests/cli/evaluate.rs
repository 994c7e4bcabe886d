//! `maxmargin evaluate`

use crate::common::{Desk, mask_json};

/// Gold labels for the pets: one wrong label, one that the model does not know.
const GOLD: &str = "DT\tw=the\nVB\tw=dog\nVB\tw=barks\n\nDT\tw=a\nNN\tw=cat\nXX\tw=sleeps\tnew\n\nNN\tw=dogs\nVB\tw=bark\n";

const CHUNKS: &str = "\
B-NP\tw=the
I-NP\tw=dog
B-VP\tw=barks
O\tw=.

B-NP\tw=a
I-NP\tw=cat
B-VP\tw=sleeps
O\tw=.
";

#[test]
fn counts_labels_and_sequences() {
    let desk = Desk::with_model("-q");
    desk.write("gold.crf", GOLD);
    insta::assert_snapshot!(desk.session(
        "evaluate pets.model pets.crf
         evaluate pets.model gold.crf
         evaluate pets.model tags.hmm"
    ));
}

#[test]
fn counts_chunks_of_bio_labels() {
    let desk = Desk::new();
    desk.write("chunks.crf", CHUNKS);
    desk.run("train chunks.crf -q -o chunks.model").ok();
    desk.write("gold.crf", CHUNKS.replacen("I-NP", "B-NP", 1));
    insta::assert_snapshot!(desk.session(
        "evaluate chunks.model chunks.crf
         evaluate chunks.model gold.crf"
    ));
}

#[test]
fn prints_one_json_object() {
    let desk = Desk::with_model("-q");
    desk.write("gold.crf", GOLD);
    let run = desk.run("evaluate pets.model gold.crf --json").ok();
    assert_eq!(run.stderr, "");
    let mut json = run.json();
    mask_json(&mut json);
    insta::assert_snapshot!(serde_json::to_string_pretty(&json).unwrap());
}

#[test]
fn needs_labels() {
    let desk = Desk::with_model("-q");
    desk.write("unlabelled.crf", "DT\tw=the\n\tw=dog\n");
    insta::assert_snapshot!(desk.session("evaluate pets.model unlabelled.crf"), @r"
    $ maxmargin evaluate pets.model unlabelled.crf
    error: unlabelled.crf:2:1: expected a label, found none; training and evaluation need a label for every token
    [exit code 1]
    ");
}
