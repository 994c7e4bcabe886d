//! Yeast and Reuters as they are.

use crate::shared;
use maxmargin_io::{Format, LabelRule, RowData, Source, read_rows, read_rows_with};

fn source(name: &str) -> Source {
    Source::File(shared(name))
}

fn read(source: &Source) -> RowData {
    let data = read_rows(source.open_rows(None).unwrap()).unwrap();
    assert_eq!(data.format, Format::Multilabel);
    data
}

pub(crate) fn yeast() {
    let [train, test] = ["yeast_train.svm.gz", "yeast_test.svm.gz"].map(source);
    let data = read(&train);
    assert_eq!((data.rows.len(), data.attributes.len(), data.labels.len()), (1500, 103, 14));
    assert!(data.labels.iter().eq((0..14).map(|label| label.to_string())));
    assert!(data.attributes.iter().eq((1..=103).map(|attribute| attribute.to_string())));
    let (labels, attributes) = (&data.labels, &data.attributes);
    let test = read_rows_with(test.open_rows(None).unwrap(), labels, attributes, LabelRule::Strict);
    assert_eq!(test.unwrap().rows.len(), 917);
}

pub(crate) fn reuters() {
    let [train, test] = ["reuters21578_train.svm.gz", "reuters21578_test.svm.gz"].map(source);
    let data = read(&train);
    assert_eq!((data.rows.len(), data.attributes.len(), data.labels.len()), (7769, 10163, 90));
    let frequent = data.with_most_frequent_labels(30);
    assert_eq!(frequent.labels.len(), 30);
    let counts = |label: &str| {
        let label = frequent.labels.get(label).unwrap();
        frequent.rows.iter().filter(|(_, labels)| labels.contains(&label)).count()
    };
    assert_eq!((counts("21"), counts("0"), counts("46")), (2877, 1650, 538));
    assert!(frequent.rows.iter().any(|(_, labels)| labels.is_empty()));
    let (labels, attributes) = (&frequent.labels, &frequent.attributes);
    let test = read_rows_with(test.open_rows(None).unwrap(), labels, attributes, LabelRule::Count);
    let test = test.unwrap();
    assert_eq!((test.rows.len(), test.known), (3019, 30));
    assert!(test.unknown.labels > 0 && test.labels.len() > 30);
}
