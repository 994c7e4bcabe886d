use std::io::Cursor;

use super::*;
use crate::dataset::read_training;
use crate::lines::Lines;
use crate::reader::open_reader;

const TRAIN: &str = "A\ta\tb\nB\tc\n";

fn map(text: &str, rule: LabelRule) -> Result<EvalData, String> {
    let open = |text: &str| {
        let lines = Lines::from_reader("f.txt", Cursor::new(text.to_owned())).unwrap();
        open_reader(lines, Some(Format::Crfsuite)).unwrap()
    };
    let train = read_training(open(TRAIN)).unwrap();
    read_with(open(text), &train.labels, &train.attributes, rule).map_err(|e| e.to_string())
}

#[test]
fn known_data_keep_their_indices_and_their_fingerprint() {
    for rule in [LabelRule::Strict, LabelRule::Count] {
        let data = map(TRAIN, rule).unwrap();
        assert_eq!(data.sequences.sequence(0).labels(), [0, 1]);
        assert_eq!(data.sequences.sequence(0).token(0).attributes, [0, 1]);
        let expected = Unknown { attributes: 0, all_attributes: 3, labels: 0, tokens: 2 };
        assert_eq!(data.unknown, expected);
        assert_eq!(data.fingerprint, map(TRAIN, LabelRule::Ignore).unwrap().fingerprint);
    }
}

#[test]
fn unknown_attributes_are_ignored_and_counted() {
    let data = map("@weight:2\nA\tx\tb:3\tx\nA\ty\n", LabelRule::Strict).unwrap();
    assert_eq!(data.sequences.sequence(0).token(0).pairs().collect::<Vec<_>>(), [(1, 3.0)]);
    assert!(data.sequences.sequence(0).token(1).attributes.is_empty());
    assert_eq!(data.sequences.weight(0), 2.0);
    let expected = Unknown { attributes: 3, all_attributes: 4, labels: 0, tokens: 2 };
    assert_eq!(data.unknown, expected);
}

#[test]
fn unknown_labels_are_an_error_or_a_miss() {
    let text = "A\n\nB\nC\n";
    assert_eq!(
        map(text, LabelRule::Strict).unwrap_err(),
        "f.txt:4:1: expected one of the 2 labels of the model, found `C`"
    );
    let data = map(text, LabelRule::Count).unwrap();
    assert_eq!(data.sequences.sequence(1).labels(), [1, UNKNOWN_LABEL]);
    assert_eq!(data.unknown.labels, 1);
}

#[test]
fn missing_labels_are_fine_for_prediction_only() {
    let data = map("\ta\nC\tb\n", LabelRule::Ignore).unwrap();
    assert_eq!(data.sequences.sequence(0).labels(), [UNKNOWN_LABEL; 2]);
    assert_eq!(data.unknown.labels, 0);
    for rule in [LabelRule::Strict, LabelRule::Count] {
        assert_eq!(
            map("A\n\ta\n", rule).unwrap_err(),
            "f.txt:2:1: expected a label, found none; training and evaluation need a label for every token"
        );
    }
}

#[test]
fn no_sequences() {
    assert_eq!(map("\n", LabelRule::Ignore).unwrap_err(), "f.txt: no sequences in 1 line");
}

#[test]
fn sequences_of_other_makers_are_checked() {
    let names = Names::from_iter(["a"]);
    let mut mapping = Mapping::new(&names, &names, LabelRule::Strict);
    let mut raw = RawSequence::new();
    let mut error = |raw: &RawSequence| {
        mapping.add("mine", raw, &mut Sequences::new()).unwrap_err().to_string()
    };
    assert_eq!(error(&raw), "mine:0: a sequence needs at least one token");
    raw.push_token(Some("a"));
    raw.set_place(4, 1);
    raw.set_weight(-1.0);
    assert_eq!(error(&raw), "mine:4: the example weight is -1; a positive finite number is needed");
    raw.push_attribute("a", f64::NAN);
    assert_eq!(error(&raw), "mine:4: attribute 0 has the value NaN; a finite number is needed");
}
