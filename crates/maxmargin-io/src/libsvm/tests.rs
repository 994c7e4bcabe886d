use std::io::Cursor;

use proptest::prelude::*;

use super::*;

fn read_as(format: Format, text: &str) -> Result<Vec<RawSequence>, String> {
    let lines = Lines::from_reader("f.svm", Cursor::new(text.to_owned())).unwrap();
    let mut reader = LibsvmReader::new(lines, format);
    let (mut list, mut row) = (Vec::new(), RawSequence::new());
    while reader.read(&mut row).map_err(|e| e.to_string())? {
        list.push(row.clone());
    }
    Ok(list)
}

fn read(text: &str) -> Result<Vec<RawSequence>, String> {
    read_as(Format::Libsvm, text)
}

fn labels(rows: &[RawSequence]) -> Vec<Option<&str>> {
    rows.iter().map(|row| row.token(0).label()).collect()
}

#[test]
fn a_line_is_a_row() {
    let text = "# head\n+1 1:0.5 3:1e-3 # so\n\n -1\t2:-1\r\n  # more\ncat\n4:2 # unknown\n0 007:1";
    let rows = read(text).unwrap();
    assert_eq!(labels(&rows), [Some("+1"), Some("-1"), Some("cat"), None, Some("0")]);
    let attributes = |i: usize| rows[i].token(0).attributes().collect::<Vec<_>>();
    assert_eq!(attributes(0), [("1", 0.5), ("3", 0.001)]);
    assert_eq!((attributes(1), attributes(2)), (vec![("2", -1.0)], vec![]));
    assert_eq!((attributes(3), attributes(4)), (vec![("4", 2.0)], vec![("7", 1.0)]));
    assert_eq!(rows[0].token(0).comment(), Some(" so"));
    let places: Vec<_> =
        rows.iter().map(|row| (row.token(0).line(), row.token(0).label_column())).collect();
    assert_eq!(places, [(2, 1), (4, 2), (6, 1), (7, 1), (8, 1)]);
}

#[test]
fn a_list_of_labels_may_be_empty() {
    let text = "2,3 1:1\n 1:1 2:0.5\n1:1\n7\nb,a,c 5:1\n";
    let rows = read_as(Format::Multilabel, text).unwrap();
    assert_eq!(labels(&rows), [Some("2,3"), None, None, Some("7"), Some("b,a,c")]);
    assert_eq!(rows[1].token(0).attributes().len(), 2);
}

#[test]
fn golden_errors() {
    let feature = "expected the number of a feature, which is a whole number from 1, found";
    let one = "expected one label (lists of labels have the format multilabel), found";
    for (text, message) in [
        ("1,2 1:1", format!("1:1: {one} `1,2`")),
        ("1 5", "1:3: expected `feature:value`, found `5`".into()),
        ("1 2 1:1", "1:3: expected `feature:value`, found `2`".into()),
        ("1 0:1", format!("1:3: {feature} `0`")),
        ("1 -1:1", format!("1:3: {feature} `-1`")),
        ("1 qid:3 1:1", format!("1:3: {feature} `qid`")),
        ("1 :1", format!("1:3: {feature} nothing")),
        ("a:b 1:1", format!("1:1: {feature} `a`")),
        ("1 2:1 2:1", "1:7: expected a feature after 2, in increasing order, found `2`".into()),
        (
            "1\n\n1 7:1 3:1",
            "3:7: expected a feature after 7, in increasing order, found `3`".into(),
        ),
        ("ä 2:x", "1:5: expected a number as the value of feature `2`, found `x`".into()),
        ("1 2:", "1:5: expected a number as the value of feature `2`, found nothing".into()),
        ("1 2:1:1", "1:5: expected a number as the value of feature `2`, found `1:1`".into()),
        (
            "1 2:nan",
            "1:5: expected a finite number as the value of feature `2`, found `nan`".into(),
        ),
        (
            "1 2:-inf",
            "1:5: expected a finite number as the value of feature `2`, found `-inf`".into(),
        ),
        (
            "1 2:1e999",
            "1:5: expected a finite number as the value of feature `2`, found `1e999`".into(),
        ),
        ("1 99999999999999999999:1", format!("1:3: {feature} `99999999999999999999`")),
    ] {
        assert_eq!(read(text).unwrap_err(), format!("f.svm:{message}"), "{text:?}");
    }
    let list = "expected labels between commas, without blanks, found";
    for (text, message) in [
        (",1 1:1", format!("1:1: {list} `,1`")),
        ("1,,2 1:1", format!("1:3: {list} `1,,2`")),
        ("1,2, 1:1", format!("1:5: {list} `1,2,`")),
        ("1, 2 1:1", format!("1:3: {list} `1,`")),
    ] {
        let error = read_as(Format::Multilabel, text).unwrap_err();
        assert_eq!(error, format!("f.svm:{message}"), "{text:?}");
    }
}

#[test]
fn what_cannot_be_written_is_refused() {
    let error = |format, label: Option<&str>, attributes: &[(&str, f64)]| {
        let mut row = RawSequence::new();
        row.push_token(label);
        attributes.iter().for_each(|&(name, value)| row.push_attribute(name, value));
        let mut output = Vec::new();
        let error = write_libsvm(&mut output, &row, format).unwrap_err().to_string();
        assert!(output.is_empty());
        error
    };
    for label in ["", "a b", "a\tb", "a#", "a:b", "a,b", "a\n"] {
        let text = error(Format::Libsvm, Some(label), &[("1", 1.0)]);
        assert!(text.starts_with("label `") && text.contains("as libsvm: "), "{text}");
    }
    for label in ["", "a,", ",a", "a,,b", "a, b"] {
        assert!(error(Format::Multilabel, Some(label), &[("1", 1.0)]).starts_with("label `"));
    }
    for attribute in ["", "0", "w=a", "01"] {
        let text = error(Format::Libsvm, Some("1"), &[(attribute, 1.0)]);
        assert!(text.starts_with("attribute `"), "{text}");
    }
    assert!(error(Format::Libsvm, Some("1"), &[("3", f64::NAN)]).contains("must be finite"));
    assert!(error(Format::Libsvm, Some("1"), &[("3", 1.0), ("3", 2.0)]).contains("twice"));
    assert_eq!(
        error(Format::Multilabel, None, &[]),
        "a token without a label cannot be written as multilabel"
    );
    let mut row = RawSequence::new();
    let empty = write_libsvm(Vec::new(), &row, Format::Libsvm).unwrap_err().to_string();
    assert_eq!(
        empty,
        "a sequence of 0 tokens cannot be written as libsvm, only one of a single token"
    );
    row.push_token(Some("1"));
    row.set_weight(2.0);
    let error = write_libsvm(Vec::new(), &row, Format::Libsvm);
    assert!(matches!(error, Err(WriteError::Weight { .. })));
}

fn row() -> impl Strategy<Value = RawSequence> {
    let value = any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |v| v.is_finite());
    let features = proptest::collection::btree_map(1u64.., value, 1..5);
    let label = proptest::option::of("[a-zäß0-9+.-]{1,5}");
    (label, features, proptest::option::of("[^\\r\\n\\x00]{0,8}")).prop_map(
        |(label, features, comment)| {
            let mut row = RawSequence::new();
            row.push_token(label.as_deref());
            features.iter().for_each(|(name, &v)| row.push_attribute(&name.to_string(), v));
            if let Some(comment) = comment {
                row.set_comment(&comment);
            }
            row
        },
    )
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(rows in proptest::collection::vec(row(), 0..6)) {
        for format in [Format::Libsvm, Format::Multilabel] {
            let mut output = Vec::new();
            for row in &rows {
                write_libsvm(&mut output, row, format).unwrap();
            }
            let text = String::from_utf8(output).unwrap();
            prop_assert_eq!(&read_as(format, &text).unwrap(), &rows);
        }
    }

    #[test]
    fn nothing_makes_it_panic(text in "[-+ \\t\\n,:#.0-9aäq]{0,60}") {
        let _ = read(&text);
        let _ = read_as(Format::Multilabel, &text);
    }
}
