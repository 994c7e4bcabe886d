//! The chunking attributes of the real CoNLL-2000 data.

use crate::shared;
use maxmargin_io::{
    CrfsuiteReader, Format, LabelRule, Lines, RawSequence, open_reader, read_training, read_with,
    write_crfsuite,
};

pub(crate) fn the_counts_are_those_of_crfsuite() {
    let [train, test] = ["conll2000_train.txt.gz", "conll2000_test.txt.gz"].map(shared);
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

pub(crate) fn written_as_crfsuite_the_data_are_the_same() {
    let path = shared("conll2000_test.txt.gz");
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
