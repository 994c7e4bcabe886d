//! `maxmargin predict`

use crate::common::{Desk, TAGS};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::Stdio;
use std::sync::mpsc::channel;
use std::time::Duration;

const LABELS: &str = "DT\nNN\nVB\n\nDT\nNN\nVB\n\nNN\nVB\n\n";

#[test]
fn writes_labels_in_the_layout_of_the_input() {
    let desk = Desk::with_model("-q");
    let run = desk.run("predict pets.model pets.crf").ok();
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), (LABELS, ""));

    desk.run("train tags.hmm -q -o tags.model").ok();
    let run = desk.run("predict tags.model tags.hmm").ok();
    assert_eq!(run.stdout, "1\n2\n1\n3\n", "a line for each line");
}

#[test]
fn writes_to_a_file() {
    let desk = Desk::with_model("-q");
    let run = desk.run("predict pets.model pets.crf -o labels.txt").ok();
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("", ""));
    assert_eq!(desk.read("labels.txt"), LABELS);
}

#[test]
fn follows_standard_input() {
    let desk = Desk::with_model("-q");
    desk.run("train tags.hmm -q -o tags.model").ok();
    let run = desk.run_on("\tw=the\n\tw=dog\n\tw=barks\n", "predict pets.model -").ok();
    assert_eq!(run.stdout, "DT\nNN\nVB\n\n");
    let run = desk.run_on(TAGS, "predict tags.model -").ok();
    assert_eq!(run.stdout, "1\n2\n1\n3\n");
    let run = desk.run_on("", "predict pets.model -").ok();
    assert_eq!(run.stdout, "", "no sequences, no labels");
}

/// How long to wait before giving up; only a failure takes that long.
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn answers_before_the_input_ends() {
    let desk = Desk::with_model("-q");
    let mut command = desk.command("predict pets.model -");
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let (send, receive) = channel();
    let reader = std::thread::spawn(move || {
        let mut line = String::new();
        while output.read_line(&mut line).unwrap() > 0 {
            send.send(std::mem::take(&mut line)).unwrap();
        }
    });
    for (sentence, labels) in [
        ("\tw=the\n\tw=cat\n\tw=sleeps\n\n", "DT\nNN\nVB\n\n"),
        ("\tw=dogs\n\tw=bark\n\n", "NN\nVB\n\n"),
    ] {
        input.write_all(sentence.as_bytes()).unwrap();
        let lines = labels.lines().map(|_| receive.recv_timeout(PATIENCE).unwrap());
        let answer: String = lines.collect();
        assert_eq!(answer, labels);
    }
    drop(input);
    reader.join().unwrap();
    assert!(child.wait().unwrap().success());
    let mut talk = String::new();
    child.stderr.take().unwrap().read_to_string(&mut talk).unwrap();
    assert_eq!(talk, "");
}

#[test]
fn counts_what_it_does_not_know() {
    let desk = Desk::with_model("-q");
    desk.write("some.crf", "?\tw=the\tw=new\n?\tw=newer\tw=cat\n?\tw=bark\n");
    desk.write("none.crf", "\tx\n\ty\n");
    insta::assert_snapshot!(desk.session(
        "predict pets.model some.crf
         predict pets.model some.crf --quiet
         predict pets.model none.crf"
    ), @r"
    $ maxmargin predict pets.model some.crf
    2 of 5 attributes are unknown to the model and were ignored.
    --- stdout
    DT
    NN
    VB


    $ maxmargin predict pets.model some.crf --quiet
    DT
    NN
    VB


    $ maxmargin predict pets.model none.crf
    2 of 2 attributes are unknown to the model and were ignored.
    hint: are these the right data for the model, in the right --format?
    --- stdout
    NN
    VB
    ");
}

/// `gzip -n` of "\tw=the\n\tw=cat\n\tw=barks\n\n".
const PACKED: [u8; 41] = [
    0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xe3, 0x2c, 0xb7, 0x2d, 0xc9, 0x48,
    0xe5, 0xe2, 0x2c, 0xb7, 0x4d, 0x4e, 0x2c, 0x01, 0x51, 0x49, 0x89, 0x45, 0xd9, 0xc5, 0x5c, 0x5c,
    0x00, 0x5a, 0x1a, 0x5b, 0x83, 0x18, 0x00, 0x00, 0x00,
];

#[test]
fn unpacks_gzip() {
    let desk = Desk::with_model("-q");
    desk.write("pets.gz", PACKED);
    assert_eq!(desk.run("predict pets.model pets.gz").ok().stdout, "DT\nNN\nVB\n\n");
    desk.write("torn.gz", &PACKED[..20]);
    let torn = desk.run("predict pets.model torn.gz -o labels.txt");
    assert_eq!(torn.code, 1);
    assert!(torn.stderr.contains("torn.gz: the gzip data breaks off"), "{}", torn.stderr);
    assert!(!desk.path("labels.txt").exists(), "nothing half written");
}

#[test]
fn built_in_data_need_no_format() {
    let desk = Desk::new();
    desk.run("train ocr-small --max-passes 1 -q -o ocr.model").ok();
    let labels = desk.run("predict ocr.model ocr-small").ok().stdout;
    assert_eq!(labels.lines().filter(|line| line.is_empty()).count(), 626);
    assert_eq!(labels.lines().filter(|line| !line.is_empty()).count(), 4617);
}

#[test]
fn answers_more_than_the_best_labels() {
    let desk = Desk::with_model("-q");
    desk.write("known.crf", "VB\tw=the\n?\tw=cat\n\tw=sleeps\n");
    desk.write("odd.crf", "XX\tw=the\n");
    desk.write("chunks.crf", "B-NP\tw=a\nI-NP\tw=b\nO\tw=c\n\nO\tw=c\nB-NP\tw=b\n");
    desk.write("new.crf", "\tw=b\n\tw=b\n");
    desk.write("wrong.crf", "O\tw=b\nI-NP\tw=b\n");
    desk.run("train chunks.crf -q -o chunks.model").ok();
    insta::assert_snapshot!(desk.session(
        "predict pets.model pets.crf --n-best 2
         predict pets.model pets.crf --confidence
         predict pets.model known.crf --keep-labels
         predict pets.model odd.crf --keep-labels
         predict chunks.model new.crf
         predict chunks.model new.crf --rules bio
         predict chunks.model wrong.crf --rules bio --keep-labels
         predict pets.model pets.crf --n-best 0
         predict pets.model pets.crf --n-best 2 --confidence"
    ));
}
