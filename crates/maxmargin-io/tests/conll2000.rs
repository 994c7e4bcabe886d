//! The chunking attributes of the real CoNLL-2000 data, which may not be given away with the
//! program.
#![allow(clippy::unwrap_used, reason = "in a test, a panic is a report")]

use std::io::Write;
use std::path::PathBuf;

use maxmargin_io::{
    CrfsuiteReader, Format, LabelRule, Lines, RawSequence, open_reader, read_training, read_with,
    write_crfsuite,
};

fn file(name: &str) -> Option<PathBuf> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(name);
    if path.exists() {
        return Some(path);
    }
    // Straight to the terminal: the harness would swallow what `eprintln!` says.
    writeln!(std::io::stderr(), "skipped: {} is absent", path.display()).ok();
    None
}

#[test]
fn the_counts_are_those_of_crfsuite() {
    let (Some(train), Some(test)) = (file("conll2000_train.txt.gz"), file("conll2000_test.txt.gz"))
    else {
        return;
    };
    let open = |path| open_reader(Lines::open(path).unwrap(), Some(Format::Conll)).unwrap();
    let train = read_training(open(&train)).unwrap();
    assert_eq!((train.sequences.len(), train.sequences.tokens()), (8936, 211_727));
    assert_eq!((train.labels.len(), train.attributes.len()), (22, 335_674));

    let test = read_with(open(&test), &train.labels, &train.attributes, LabelRule::Count).unwrap();
    assert_eq!((test.sequences.len(), test.sequences.tokens()), (2012, 47_377));
    // I-LST, which training lacks.
    assert!(test.unknown.labels > 0);
    assert!(test.unknown.attributes > 0);
}

#[test]
fn written_as_crfsuite_the_data_are_the_same() {
    let Some(path) = file("conll2000_test.txt.gz") else { return };
    let open = || open_reader(Lines::open(&path).unwrap(), Some(Format::Conll)).unwrap();
    let mut text = Vec::new();
    let mut reader = open();
    let mut sentence = RawSequence::new();
    while reader.read(&mut sentence).unwrap() {
        write_crfsuite(&mut text, &sentence).unwrap();
    }
    let lines = Lines::from_reader("copy", std::io::Cursor::new(text)).unwrap();
    let copy = read_training(CrfsuiteReader::new(lines)).unwrap();
    let original = read_training(open()).unwrap();
    assert_eq!(copy.fingerprint, original.fingerprint);
    assert!(copy.sequences == original.sequences && copy.attributes == original.attributes);
}
