//! The chunking attributes of the real CoNLL-2000 data.

use crate::shared;
use maxmargin_io::chunking::ConllReader;
use maxmargin_io::{
    BuiltInTemplate, CrfsuiteReader, Format, LabelRule, Lines, RawSequence, open_reader,
    read_training, read_with, write_crfsuite,
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

pub(crate) fn the_template_of_chunking_is_the_reader_of_chunking() {
    let path = shared("conll2000_train.txt.gz");
    let lines = || Lines::open(&path).unwrap();
    let old = read_training(ConllReader::new(lines())).unwrap();
    let new = read_training(open_reader(lines(), Some(Format::Conll)).unwrap()).unwrap();
    assert_eq!(new.template.unwrap().name(), Some(BuiltInTemplate::Chunking));
    assert_eq!(new.fingerprint, old.fingerprint);
    assert!(new.sequences == old.sequences && new.attributes == old.attributes);
    // Found out, three columns get a template that looks at what words look like, too.
    let found = read_training(open_reader(lines(), None).unwrap()).unwrap();
    assert_eq!(found.template.unwrap().name(), Some(BuiltInTemplate::WordsPos));
    assert_eq!((found.sequences.tokens(), &found.labels), (211_727, &old.labels));
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
