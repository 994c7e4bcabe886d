use std::io::Cursor;

use super::*;
use crate::lines::Lines;
use crate::mapping::{LabelRule, Unknown};
use crate::reader::open_row_reader;

fn open(format: Option<Format>, text: &str) -> Result<Box<dyn ReadSequences + Send>, DataError> {
    open_row_reader(Lines::from_reader("f.svm", Cursor::new(text.to_owned()))?, format)
}

fn read(format: Format, text: &str) -> Result<RowData, String> {
    open(Some(format), text).and_then(read_rows).map_err(|e| e.to_string())
}

fn map(text: &str, rule: LabelRule) -> Result<EvalRows, String> {
    let train = read(Format::Multilabel, "10,9 3:2 5:1\n9 3:1\n").unwrap();
    let open = open(Some(Format::Multilabel), text);
    open.and_then(|reader| read_rows_with(reader, &train.labels, &train.attributes, rule))
        .map_err(|e| e.to_string())
}

fn names(names: &Names) -> Vec<&str> {
    names.iter().collect()
}

#[test]
fn numbers_are_put_in_order_and_everything_else_stays() {
    let data = read(Format::Libsvm, "10 4:2 7:1\n-1\n9.5 1:1 4:1\n+10.0 100:3\n").unwrap();
    assert_eq!(names(&data.labels), ["-1", "9.5", "10"]);
    assert_eq!(names(&data.attributes), ["1", "4", "7", "100"]);
    let labels: Vec<u32> = (0..4).map(|i| data.rows.labels(i)[0]).collect();
    assert_eq!(labels, [2, 0, 1, 2]);
    assert_eq!(data.rows.row(2).pairs().collect::<Vec<_>>(), [(0, 1.0), (1, 1.0)]);
    assert_eq!(data.rows.row(3).pairs().collect::<Vec<_>>(), [(3, 3.0)]);

    let words = read(Format::Libsvm, "cat 2:1\n1 1:1\nant 2:1\n").unwrap();
    assert_eq!(names(&words.labels), ["cat", "1", "ant"]);
    assert_eq!(names(&words.attributes), ["1", "2"]);
    let twice = read(Format::Multilabel, "2,1,2,+1 1:1\n").unwrap();
    assert_eq!((names(&twice.labels), twice.rows.labels(0)), (vec!["1", "2"], &[0, 1][..]));
    let zeros = read(Format::Libsvm, "-0\n0\n0.0\n").unwrap();
    assert_eq!(names(&zeros.labels), ["-0"]);
}

#[test]
fn tokens_of_sequences_are_rows() {
    let data = read(Format::Crfsuite, "@weight:2\nb,c\tx\ty:2\na\n\nb,c\tx\n").unwrap();
    assert_eq!(names(&data.labels), ["b,c", "a"]);
    assert_eq!(names(&data.attributes), ["x", "y"]);
    assert_eq!((data.rows.len(), data.rows.weight(1), data.rows.weight(2)), (3, 2.0, 1.0));
    assert_eq!(data.rows.labels(2), [0]);
    let pixels = format!("1\t1\tz\t0\t{}1\n", "0".repeat(31));
    let letters = read(Format::Ocr, &pixels).unwrap();
    assert_eq!((letters.labels.len(), letters.attributes.len()), (26, 128));
    assert_eq!((letters.rows.labels(0), letters.rows.row(0).attributes), (&[25][..], &[127][..]));
}

#[test]
fn the_most_frequent_labels_stay() {
    let text = "3,1 1:1\n1 1:1\n2 2:1\n2,3,4 1:1\n4 3:1\n";
    let data = read(Format::Multilabel, text).unwrap();
    assert_eq!(names(&data.labels), ["1", "2", "3", "4"]);
    let two = data.clone().with_most_frequent_labels(2);
    assert_eq!(names(&two.labels), ["1", "2"], "all are equally frequent");
    let labels: Vec<&[u32]> = two.rows.iter().map(|(_, labels)| labels).collect();
    assert_eq!(labels, [&[0][..], &[0], &[1], &[1], &[]]);
    assert_eq!(two.fingerprint, data.fingerprint);
    assert_eq!(data.clone().with_most_frequent_labels(9), data);
    assert!(data.with_most_frequent_labels(0).labels.is_empty());
}

#[test]
fn what_is_wrong_is_said_where_it_is() {
    let need = "expected a label, which training and evaluation need in every row, found none";
    assert_eq!(read(Format::Libsvm, "1 1:1\n  2:1\n").unwrap_err(), format!("f.svm:2:3: {need}"));
    assert_eq!(read(Format::Libsvm, "").unwrap_err(), "f.svm: no rows (the input is empty)");
    assert_eq!(read(Format::Multilabel, "\n#\n").unwrap_err(), "f.svm: no rows in 2 lines");
    let error = open(None, " \n").err().unwrap().to_string();
    assert_eq!(error, "f.svm: no rows in 1 line");
}

#[test]
fn unknown_features_are_ignored_and_counted() {
    let data = map("9 3:1 4:1\n7:1\n", LabelRule::Strict).unwrap();
    assert_eq!(data.rows.row(0).pairs().collect::<Vec<_>>(), [(0, 1.0)]);
    assert!(data.rows.row(1).attributes.is_empty() && data.rows.labels(1).is_empty());
    let expected = Unknown { attributes: 2, all_attributes: 3, labels: 0, tokens: 2 };
    assert_eq!(data.unknown, expected);
}

#[test]
fn unknown_labels_are_an_error_or_a_miss() {
    let text = "9 3:1\n9.0,8,7 3:1\n8 3:1\n";
    assert_eq!(
        map(text, LabelRule::Strict).unwrap_err(),
        "f.svm:2:1: expected one of the 2 labels of the model, found `8`"
    );
    let data = map(text, LabelRule::Count).unwrap();
    let labels: Vec<&[u32]> = data.rows.iter().map(|(_, labels)| labels).collect();
    assert_eq!(labels, [&[0][..], &[0, 2, 3], &[2]]);
    assert_eq!((names(&data.labels), data.known), (vec!["9", "10", "8", "7"], 2));
    assert_eq!(data.unknown.labels, 3);
    let data = map(text, LabelRule::Ignore).unwrap();
    assert!(data.rows.iter().all(|(_, labels)| labels.is_empty()));
    assert_eq!((data.unknown.labels, data.labels.len()), (0, 2));
}

#[test]
fn the_fingerprint_is_about_content_not_layout() {
    let plain = read(Format::Libsvm, "1 3:0.5 4:1\n2\n").unwrap();
    let other = read(Format::Libsvm, "# so\r\n1\t3:5e-1 04:1.0\r\n\r\n2 # no\r\n").unwrap();
    assert_eq!(plain, other);
    assert_ne!(plain.fingerprint, read(Format::Libsvm, "1 3:0.5 4:1\n3\n").unwrap().fingerprint);
    let train = "10,9 3:2 5:1\n9 3:1\n";
    let own = read(Format::Multilabel, train).unwrap();
    let mapped = map(train, LabelRule::Strict).unwrap();
    assert_eq!((mapped.rows, mapped.fingerprint), (own.rows, own.fingerprint));
}
