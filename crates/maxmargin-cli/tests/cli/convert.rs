//! `maxmargin convert`: data in a compact file.

use crate::common::Desk;

/// Trains on a file and on what it is converted to, and holds the models against each other.
fn compare(desk: &Desk, data: &str, options: &str) {
    desk.run(&format!("convert {data} some.data -q {options}")).ok();
    desk.run(&format!("train {data} -q -o text.model {options}")).ok();
    // The options are about the text.
    desk.run("train some.data -q -o data.model").ok();
    let (one, other) = (desk.model("text.model"), desk.model("data.model"));
    assert_eq!(one.weights, other.weights);
    assert_eq!(one.meta.fingerprint, other.meta.fingerprint);
    assert_eq!((one.labels, one.attributes), (other.labels, other.attributes));
    desk.run("verify text.model some.data").ok();
    let on = |data: &str| desk.run(&format!("evaluate text.model {data} --json")).ok().stdout;
    assert_eq!(on(data), on("some.data"));
    let labels = |data: &str| {
        let all = desk.run(&format!("predict text.model {data}")).ok().stdout;
        all.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(labels(data), labels("some.data"));
}

#[test]
fn every_verb_takes_converted_data() {
    let desk = Desk::new();
    compare(&desk, "pets.crf", "");
    compare(&desk, "tags.hmm", "");
    desk.write("words.conll", "the DT B\ndog NN I\n\nbarks VB O\n\na DT B\ncat NN I\n");
    compare(&desk, "words.conll", "--template words");
    desk.write("rows.svm", "+1 3:0.5 7:1\n-1 2:2\n+1 7:1\n-1 1:1\n");
    compare(&desk, "rows.svm", "");
    desk.write("topics.svm", "10,9 3:1\n9 2:1\n1:1\n10 1:1\n");
    compare(&desk, "topics.svm", "");
}

#[test]
fn what_cannot_be_converted_is_refused() {
    let desk = Desk::new();
    let run = desk.run("convert pets.crf pets.crf");
    assert!(run.stderr.contains("this is an input"), "{}", run.stderr);
    desk.write("graph.jsonl", "{\"variables\":[],\"factors\":[]}\n");
    let run = desk.run("convert graph.jsonl graph.data");
    assert!(run.stderr.contains("holds factor graphs"), "{}", run.stderr);
    desk.run("convert pets.crf pets.data -q").ok();
    let run = desk.run("train pets.data --format svm-hmm");
    assert!(run.stderr.contains("it was converted from crfsuite, not svm-hmm"), "{}", run.stderr);
    let run = desk.run("train pets.data --template words");
    assert!(run.stderr.contains("its attributes were made"), "{}", run.stderr);
}

#[test]
fn the_verb_says_what_it_has_kept() {
    let desk = Desk::new();
    let run = desk.run("convert pets.crf pets.data").ok();
    assert!(
        run.stderr.contains("sequences of") && run.stderr.contains("fingerprint"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("data written to pets.data"), "{}", run.stderr);
}
