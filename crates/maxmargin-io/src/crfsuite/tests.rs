use std::io::Cursor;

use proptest::prelude::*;

use super::*;

fn read(text: &str) -> Result<Vec<RawSequence>, String> {
    let lines = Lines::from_reader("f.txt", Cursor::new(text.to_owned())).unwrap();
    let mut reader = CrfsuiteReader::new(lines);
    let mut list = Vec::new();
    let mut sequence = RawSequence::new();
    while reader.read(&mut sequence).map_err(|e| e.to_string())? {
        list.push(sequence.clone());
    }
    Ok(list)
}

fn one(text: &str) -> RawSequence {
    let mut list = read(text).unwrap();
    assert_eq!(list.len(), 1, "{text:?}");
    list.remove(0)
}

fn attributes(sequence: &RawSequence, t: usize) -> Vec<(&str, f64)> {
    sequence.token(t).attributes().collect()
}

#[test]
fn sequences_end_at_blank_lines_and_at_the_end() {
    let list = read("\n\nA\ta\nB\n   \n\nC\tc").unwrap();
    assert_eq!(list.iter().map(RawSequence::len).collect::<Vec<_>>(), [2, 1]);
    assert_eq!(list[0].token(1).label(), Some("B"));
    assert_eq!(attributes(&list[0], 1), []);
    assert_eq!(list[1].token(0).line(), 7);
    assert_eq!(read("").unwrap().len(), 0);
    assert_eq!(read("\n \n").unwrap().len(), 0);
}

#[test]
fn values_and_escapes() {
    let s = one("L\ta\tb:2.5\tc\\:d:-1e3\te\\\\:0\tf\\g\th\\\\\\:\ta");
    assert_eq!(
        attributes(&s, 0),
        [
            ("a", 1.0),
            ("b", 2.5),
            ("c:d", -1000.0),
            ("e\\", 0.0),
            ("f\\g", 1.0),
            ("h\\:", 1.0),
            ("a", 1.0),
        ]
    );
    // A backslash at the end of a field stands for itself.
    assert_eq!(attributes(&one("L\ta\\"), 0), [("a\\", 1.0)]);
}

#[test]
fn tokens_have_costs() {
    let s = one("L\ta\t@cost:2.5\tb\nM\t@costly\n\t@cost:0\n");
    let costs: Vec<f64> = s.tokens().map(|token| token.cost()).collect();
    assert_eq!(costs, [2.5, 1.0, 0.0]);
    assert_eq!(attributes(&s, 0), [("a", 1.0), ("b", 1.0)]);
    assert_eq!(attributes(&s, 1), [("@costly", 1.0)]);
    let mut output = Vec::new();
    write_crfsuite(&mut output, &s).unwrap();
    assert_eq!(one(std::str::from_utf8(&output).unwrap()), s);
    let of = |text: &str| {
        let mut fingerprinter = crate::Fingerprinter::new();
        fingerprinter.add(&one(text));
        fingerprinter.finish()
    };
    assert_ne!(of("L\ta\t@cost:2"), of("L\ta"));
    assert_eq!(of("L\ta\t@cost:1"), of("L\ta"));
    let expected = "expected a finite number ≥ 0 as the cost of the token, as in `@cost:2.5`";
    for (text, message) in [
        ("L\ta\t@cost", format!("f.txt:1:10: {expected}, found nothing")),
        ("L\t@cost:-1", format!("f.txt:1:9: {expected}, found `-1`")),
        ("L\t@cost:nan", format!("f.txt:1:9: {expected}, found `nan`")),
        (
            "L\t@cost:1\t@cost:2",
            "f.txt:1:11: expected one cost at most, found `@cost:2`".to_owned(),
        ),
    ] {
        assert_eq!(read(text).unwrap_err(), message);
    }
    let mut unwritable = RawSequence::new();
    unwritable.push_token(Some("L"));
    unwritable.push_attribute("@cost", 1.0);
    assert!(write_crfsuite(Vec::new(), &unwritable).is_err());
    unwritable.clear();
    unwritable.push_token(Some("L"));
    unwritable.set_cost(f64::NAN);
    assert!(write_crfsuite(Vec::new(), &unwritable).is_err());
}

#[test]
fn runs_of_tabs_count_as_one() {
    assert_eq!(attributes(&one("L\t\ta\t\t\tb\t"), 0), [("a", 1.0), ("b", 1.0)]);
}

#[test]
fn labels_may_have_colons_escaped_or_not() {
    let s = one("a:b\nc\\:d\n@\n@weights\n@weight\\:2");
    let labels: Vec<_> = s.tokens().filter_map(|t| t.label()).collect();
    assert_eq!(labels, ["a:b", "c:d", "@", "@weights", "@weight:2"]);
}

#[test]
fn a_line_that_begins_with_a_tab_has_no_label() {
    let s = one("\ta\n\t\n");
    assert_eq!((s.len(), s.token(0).label(), s.token(1).label()), (2, None, None));
    assert_eq!(attributes(&s, 0), [("a", 1.0)]);
}

#[test]
fn weights_hold_for_the_sequence_that_follows() {
    let list = read("@weight:0.5\nA\n\n@weight\t3\nB\n\nC\n").unwrap();
    assert_eq!(list.iter().map(RawSequence::weight).collect::<Vec<_>>(), [0.5, 3.0, 1.0]);
    assert_eq!(list.iter().map(RawSequence::len).collect::<Vec<_>>(), [1, 1, 1]);
    // Blank lines between a weight and its sequence do no harm.
    assert_eq!(one("@weight:2\n\nA\n").weight(), 2.0);
}

#[test]
fn golden_errors() {
    let positive = "expected a positive number as the weight of the sequence, found";
    let once = "expected one weight at most, before the first token of a sequence, found";
    let hint = "(a colon in a name is written `\\:`)";
    for (text, message) in [
        (
            "A\tä:x",
            format!("1:5: expected a number as the value of attribute `ä` {hint}, found `x`"),
        ),
        (
            "A\ta:",
            format!("1:5: expected a number as the value of attribute `a` {hint}, found nothing"),
        ),
        (
            "A\ta:b:1",
            format!("1:5: expected a number as the value of attribute `a` {hint}, found `b:1`"),
        ),
        (
            "A\n\nB\ta\tc:nan",
            format!(
                "3:7: expected a finite number as the value of attribute `c` {hint}, found `nan`"
            ),
        ),
        (
            "A\ta:1e400",
            format!(
                "1:5: expected a finite number as the value of attribute `a` {hint}, found `1e400`"
            ),
        ),
        (
            "A\ta:-inf",
            format!(
                "1:5: expected a finite number as the value of attribute `a` {hint}, found `-inf`"
            ),
        ),
        ("A\t:1", "1:3: expected the name of an attribute, found `:1`".into()),
        (" \ta", "1:1: expected a label, found ` `".into()),
        ("@weight:0", format!("1:9: {positive} `0`")),
        ("@weight:-1", format!("1:9: {positive} `-1`")),
        ("@weight:inf", format!("1:9: {positive} `inf`")),
        ("@weight:x\nA", format!("1:9: {positive} `x`")),
        ("@weight", format!("1:8: {positive} nothing")),
        ("@weight:", format!("1:9: {positive} nothing")),
        ("@weight:1\tA\ta", "1:11: expected nothing after the weight, found `A`".into()),
        ("A\n@weight:2", format!("2:1: {once} `@weight:2`")),
        ("@weight:1\n@weight:2\nA", format!("2:1: {once} `@weight:2`")),
        (
            "A\n\n@weight:1\n\n",
            "3:1: expected a sequence after its weight, found the end of the input".into(),
        ),
    ] {
        assert_eq!(read(text).unwrap_err(), format!("f.txt:{message}"), "{text:?}");
    }
}

#[test]
fn what_cannot_be_written_is_refused() {
    let error = |label: Option<&str>, attribute: &str, value: f64| {
        let mut s = RawSequence::new();
        s.push_token(label);
        s.push_attribute(attribute, value);
        let mut output = Vec::new();
        let error = write_crfsuite(&mut output, &s).unwrap_err().to_string();
        assert!(output.is_empty());
        error
    };
    for label in ["", " ", "@weight", "a\tb", "a\nb", "a\r", "\0", "\u{feff}a"] {
        assert!(error(Some(label), "a", 1.0).starts_with("label `"), "{label:?}");
    }
    for attribute in ["", "a\tb", "a\n", "\r", "\0"] {
        assert!(error(None, attribute, 1.0).starts_with("attribute `"), "{attribute:?}");
    }
    assert_eq!(
        error(None, "a", f64::NAN),
        "attribute `a` cannot be written as crfsuite: the value of an attribute must be finite"
    );
    let mut s = RawSequence::new();
    s.set_weight(0.0);
    assert!(matches!(write_crfsuite(Vec::new(), &s), Err(WriteError::Weight { .. })));
}

/// Names with everything that might trip the format, minus what it cannot express.
fn name() -> impl Strategy<Value = String> {
    let nasty = proptest::char::ranges(vec!['!'..='~', '¡'..='ʯ', '一'..='十', '😀'..='😆'].into());
    let character = prop_oneof![Just(':'), Just('\\'), Just(' '), Just('@'), Just('#'), nasty];
    proptest::collection::vec(character, 1..8).prop_map(String::from_iter)
}

fn label() -> impl Strategy<Value = Option<String>> {
    let writable = |label: &String| check_label(label).is_ok();
    proptest::option::weighted(0.9, name().prop_filter("writable", writable))
}

fn value() -> impl Strategy<Value = f64> {
    let any_bits = any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |v| v.is_finite());
    prop_oneof![Just(1.0), Just(0.0), Just(-0.0), -1e3..1e3, any_bits]
}

fn sequence() -> impl Strategy<Value = RawSequence> {
    let weight = prop_oneof![Just(1.0), f64::MIN_POSITIVE..1e300];
    let token = (label(), proptest::collection::vec((name(), value()), 0..5));
    (weight, proptest::collection::vec(token, 1..5)).prop_map(|(weight, tokens)| {
        let mut sequence = RawSequence::new();
        sequence.set_weight(weight);
        for (label, attributes) in tokens {
            sequence.push_token(label.as_deref());
            for (name, value) in attributes {
                sequence.push_attribute(&name, value);
            }
        }
        sequence
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(list in proptest::collection::vec(sequence(), 0..5)) {
        let mut output = Vec::new();
        for sequence in &list {
            write_crfsuite(&mut output, sequence).unwrap();
        }
        prop_assert_eq!(read(&String::from_utf8(output).unwrap()), Ok(list));
    }

    #[test]
    fn nothing_makes_it_panic(text in "([@wWeight\\\\:\t\n 0-9.\\-]|\\PC){0,60}") {
        // What is read can be written, and is then read the same.
        if let Ok(list) = read(&text) {
            let mut output = Vec::new();
            for sequence in &list {
                write_crfsuite(&mut output, sequence).unwrap();
            }
            prop_assert_eq!(read(&String::from_utf8(output).unwrap()), Ok(list));
        }
    }
}
