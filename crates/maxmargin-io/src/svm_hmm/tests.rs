use std::collections::BTreeMap;
use std::io::Cursor;

use proptest::prelude::*;

use super::*;

fn read(text: &str) -> Result<Vec<RawSequence>, String> {
    let lines = Lines::from_reader("f.dat", Cursor::new(text.to_owned())).unwrap();
    let mut reader = SvmHmmReader::new(lines);
    let mut list = Vec::new();
    let mut sequence = RawSequence::new();
    while reader.read(&mut sequence).map_err(|e| e.to_string())? {
        list.push(sequence.clone());
    }
    Ok(list)
}

#[test]
fn a_change_of_qid_starts_a_sequence() {
    let list = read("# head\n1 qid:5 1:1\n\n2 qid:5\n  # more\n3 qid:4 2:1\n1\tqid:9").unwrap();
    assert_eq!(list.iter().map(RawSequence::len).collect::<Vec<_>>(), [2, 1, 1]);
    assert_eq!(list.iter().map(RawSequence::id).collect::<Vec<_>>(), [Some(5), Some(4), Some(9)]);
    assert_eq!(list[1].token(0).line(), 6);
    assert_eq!(read("\n# nothing\n").unwrap().len(), 0);
}

#[test]
fn numbers_lose_leading_zeros() {
    let list = read("007 qid:01 03:1.50").unwrap();
    assert_eq!((list[0].token(0).label(), list[0].id()), (Some("7"), Some(1)));
    assert_eq!(list[0].token(0).attributes().collect::<Vec<_>>(), [("3", 1.5)]);
}

#[test]
fn comments_are_kept() {
    let list = read("1 qid:1 1:2# the # dog\n2 qid:1 #\n3 qid:1").unwrap();
    let comments: Vec<_> = list[0].tokens().map(|t| t.comment()).collect();
    assert_eq!(comments, [Some(" the # dog"), Some(""), None]);
}

#[test]
fn golden_errors() {
    let tag = "expected a tag, which is a whole number from 0, found";
    let qid = "expected `qid:` and the number of the sequence, found";
    let feature = "expected the number of a feature, which is a whole number from 1, found";
    for (text, message) in [
        ("B-NP qid:1", format!("1:1: {tag} `B-NP`")),
        ("  -1 qid:1", format!("1:3: {tag} `-1`")),
        ("+1 qid:1", format!("1:1: {tag} `+1`")),
        ("1.5 qid:1", format!("1:1: {tag} `1.5`")),
        ("99999999999999999999 qid:1", format!("1:1: {tag} `99999999999999999999`")),
        ("1", format!("1:2: {qid} nothing")),
        ("1 1:1", format!("1:3: {qid} `1:1`")),
        ("1 qid:x", format!("1:3: {qid} `qid:x`")),
        ("1 qid:1 5", "1:9: expected `feature:value`, found `5`".into()),
        ("1 qid:1 0:1", format!("1:9: {feature} `0`")),
        ("1 qid:1 a:1", format!("1:9: {feature} `a`")),
        ("1 qid:1 :1", format!("1:9: {feature} nothing")),
        (
            "1 qid:1 2:1 2:1",
            "1:13: expected a feature after 2, in increasing order, found `2`".into(),
        ),
        (
            "1 qid:1\n1 qid:1 7:1 3:1",
            "2:13: expected a feature after 7, in increasing order, found `3`".into(),
        ),
        ("1 qid:1 2:x", "1:11: expected a number as the value of feature `2`, found `x`".into()),
        ("1 qid:1 2:", "1:11: expected a number as the value of feature `2`, found nothing".into()),
        (
            "1 qid:1 2:NaN",
            "1:11: expected a finite number as the value of feature `2`, found `NaN`".into(),
        ),
        (
            "1 qid:1 2:1e400",
            "1:11: expected a finite number as the value of feature `2`, found `1e400`".into(),
        ),
        (
            "1 qid:8\n1 qid:9\n2 qid:8",
            "3:3: expected a new qid, found qid 8 again, which began in line 1; \
             the lines of a sequence have to be together"
                .into(),
        ),
    ] {
        assert_eq!(read(text).unwrap_err(), format!("f.dat:{message}"), "{text:?}");
    }
}

#[test]
fn what_cannot_be_written_is_refused() {
    let error = |label: Option<&str>, attributes: &[(&str, f64)]| {
        let mut s = RawSequence::new();
        s.set_id(Some(1));
        s.push_token(label);
        for &(name, value) in attributes {
            s.push_attribute(name, value);
        }
        let mut output = Vec::new();
        let error = write_svm_hmm(&mut output, &s).unwrap_err().to_string();
        assert!(output.is_empty());
        error
    };
    assert_eq!(error(None, &[]), "a token without a label cannot be written as svm-hmm");
    for label in ["", "B", "-1", "01"] {
        assert!(error(Some(label), &[]).starts_with("label `"), "{label:?}");
    }
    for attribute in ["", "0", "w=a", "01"] {
        assert!(error(Some("1"), &[(attribute, 1.0)]).starts_with("attribute `"), "{attribute:?}");
    }
    assert_eq!(
        error(Some("1"), &[("3", 1.0), ("2", 1.0), ("3", 1.0)]),
        "attribute `3` cannot be written as svm-hmm: a feature must not occur twice"
    );
    assert!(error(Some("1"), &[("3", f64::INFINITY)]).contains("must be finite"));

    let mut s = RawSequence::new();
    s.push_token(Some("1"));
    assert!(matches!(write_svm_hmm(Vec::new(), &s), Err(WriteError::NoId { .. })));
    s.set_id(Some(1));
    s.set_comment("two\nlines");
    assert!(matches!(write_svm_hmm(Vec::new(), &s), Err(WriteError::Unwritable { .. })));
    s.set_comment("one line");
    s.set_weight(2.0);
    assert!(matches!(write_svm_hmm(Vec::new(), &s), Err(WriteError::Weight { .. })));
}

#[test]
fn attributes_are_written_in_order() {
    let mut s = RawSequence::new();
    s.set_id(Some(0));
    s.push_token(Some("1"));
    s.push_attribute("10", 1.0);
    s.push_attribute("9", 0.25);
    let mut output = Vec::new();
    write_svm_hmm(&mut output, &s).unwrap();
    assert_eq!(output, b"1 qid:0 9:0.25 10:1\n");
}

fn value() -> impl Strategy<Value = f64> {
    any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |v| v.is_finite())
}

/// Sequences without a number, which is given when the list is complete.
fn sequence() -> impl Strategy<Value = RawSequence> {
    let features = proptest::collection::btree_map(1u64.., value(), 0..5);
    let comment = proptest::option::of("\\PC{0,8}");
    let token = (any::<u64>(), features, comment);
    proptest::collection::vec(token, 1..5).prop_map(|tokens| {
        let mut sequence = RawSequence::new();
        for (tag, features, comment) in tokens {
            let features: BTreeMap<u64, f64> = features;
            sequence.push_token(Some(&tag.to_string()));
            for (number, value) in features {
                sequence.push_attribute(&number.to_string(), value);
            }
            if let Some(comment) = comment {
                sequence.set_comment(&comment);
            }
        }
        sequence
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(mut list in proptest::collection::vec(sequence(), 0..5), step in 1u64..1000) {
        let mut output = Vec::new();
        for (i, sequence) in (0..).zip(&mut list) {
            sequence.set_id(Some(i * step));
            write_svm_hmm(&mut output, sequence).unwrap();
        }
        prop_assert_eq!(read(&String::from_utf8(output).unwrap()), Ok(list));
    }

    #[test]
    fn nothing_makes_it_panic(text in "([qid:# \t\n0-9.\\-e]|[0-9] qid:[0-9]|\\PC){0,40}") {
        if let Ok(list) = read(&text) {
            let mut output = Vec::new();
            for sequence in &list {
                write_svm_hmm(&mut output, sequence).unwrap();
            }
            prop_assert_eq!(read(&String::from_utf8(output).unwrap()), Ok(list));
        }
    }
}
