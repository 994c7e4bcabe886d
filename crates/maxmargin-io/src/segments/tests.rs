use super::*;
use crate::{Lines, open_reader, read_training};

fn names(labels: &[&str]) -> Names {
    labels.iter().copied().collect()
}

/// Segments of tags, as (length, label name).
fn read(scheme: SegmentTags, labels: &[&str], tags: &str) -> Vec<(u32, String)> {
    let labels = names(labels);
    let own = TagNames::new(scheme, &labels);
    let number = |tag: &str| own.names().get(tag).unwrap_or(UNKNOWN_LABEL);
    let numbers: Vec<u32> = tags.split(' ').map(number).collect();
    let name = |label: u32| match (label as usize) < labels.len() {
        true => labels.name(label).to_owned(),
        false => "?".to_owned(),
    };
    own.segments(&numbers).iter().map(|s| (s.length, name(s.label))).collect()
}

fn expect(found: &[(u32, String)], expected: &[(u32, &str)]) {
    let found: Vec<(u32, &str)> = found.iter().map(|(n, name)| (*n, name.as_str())).collect();
    assert_eq!(found, expected);
}

#[test]
fn tags_tell_segments() {
    let labels = ["NP", "VP", "O"];
    let bio = |tags| read(SegmentTags::Bio, &labels, tags);
    expect(&bio("B-NP I-NP O O B-NP"), &[(2, "NP"), (1, "O"), (1, "O"), (1, "NP")]);
    expect(&bio("B-NP B-NP I-VP I-NP"), &[(1, "NP"), (1, "NP"), (1, "VP"), (1, "NP")]);
    expect(&bio("I-NP I-NP O I-NP"), &[(2, "NP"), (1, "O"), (1, "NP")]);
    // Both kinds are read by either scheme, and so are their other letters.
    let ends = "S-VP B-NP E-NP I-NP L-NP U-NP I-NP";
    let expected = [(1, "VP"), (2, "NP"), (2, "NP"), (1, "NP"), (1, "NP")];
    expect(&bio(ends), &expected);
    expect(&read(SegmentTags::Bioes, &labels, ends), &expected);
    // A segment of the label O that is longer than a token can be told as well.
    expect(&bio("B-O I-O O"), &[(2, "O"), (1, "O")]);
    expect(&bio("B-NP what I-NP"), &[(1, "NP"), (1, "?"), (1, "NP")]);
    expect(&read(SegmentTags::Runs, &["a", "b"], "a a b a"), &[(2, "a"), (1, "b"), (1, "a")]);
    expect(&read(SegmentTags::Runs, &["a"], "? ? a"), &[(1, "?"), (1, "?"), (1, "a")]);
}

#[test]
fn segments_become_the_tags_they_came_from() {
    for (scheme, tags) in [
        (SegmentTags::Bio, "B-NP I-NP I-NP O O B-VP B-NP O"),
        (SegmentTags::Bioes, "B-NP I-NP E-NP O O S-VP S-NP O B-NP E-NP"),
        (SegmentTags::Runs, "NP NP VP O O NP"),
    ] {
        assert_eq!(SegmentTags::of(tags.split(' ')), scheme);
        let own = TagNames::new(scheme, &names(&["VP", "O", "NP"]));
        let numbers: Vec<u32> = tags.split(' ').map(|tag| own.names().get(tag).unwrap()).collect();
        let segments = own.segments(&numbers);
        let again: Vec<String> = own.tags(&segments).map(Cow::into_owned).collect();
        assert_eq!(again.join(" "), tags);
        assert_eq!(segments.iter().map(|s| s.length as usize).sum::<usize>(), numbers.len());
    }
    let own = TagNames::new(SegmentTags::Bio, &names(&["O"]));
    let long = [Segment { length: 2, label: 0 }, Segment { length: 1, label: UNKNOWN_LABEL }];
    assert_eq!(own.tags(&long).collect::<Vec<_>>(), ["O", "O", "B-(unknown)"]);
}

#[test]
fn schemes_are_told_apart() {
    assert_eq!(SegmentTags::of([]), SegmentTags::Runs);
    assert_eq!(SegmentTags::of(["O"]), SegmentTags::Runs);
    assert_eq!(SegmentTags::of(["B-", "O"]), SegmentTags::Runs);
    assert_eq!(SegmentTags::of(["B-x", "U-x"]), SegmentTags::Bioes);
}

#[test]
fn hits_have_the_same_label_start_and_end() {
    let own = TagNames::new(SegmentTags::Runs, &names(&["a", "O"]));
    let (a, o) = (Segment { length: 2, label: 0 }, Segment { length: 1, label: 1 });
    let mut tally = Tally::default();
    own.count(&[a, o, a], &[a, o, Segment { length: 1, label: 0 }, o], &mut tally);
    // Where tags are plain labels, O is one of them.
    assert_eq!((tally.of("a").hits, tally.of("a").truth, tally.of("O").predicted), (1, 2, 2));
}

#[test]
fn data_are_cut_and_know_their_names() {
    let of = |text: &'static str| {
        let lines = Lines::from_reader("f", text.as_bytes()).unwrap();
        let data = read_training(open_reader(lines, Some(crate::Format::Crfsuite)).unwrap());
        SegmentDataset::of(&data.unwrap()).unwrap()
    };
    let data = of("I-X\ta\nI-X\tb:2\n\nO\ta\nB-X\tc\n");
    assert_eq!(data.tags, SegmentTags::Bio);
    assert_eq!(data.attributes.iter().last(), Some(CONSTANT));
    assert_eq!(data.labels.iter().collect::<Vec<_>>(), ["X", "O"]);
    assert_eq!(data.segments.truth(0), [Segment { length: 2, label: 0 }]);
    assert_eq!(data.segments.token(0, 1).pairs().collect::<Vec<_>>(), [(1, 2.0), (3, 1.0)]);
    // Data that have the constant themselves get no second one.
    let own = of("x\t(constant)\ny\t(constant)\ta\n");
    assert_eq!(own.attributes.iter().collect::<Vec<_>>(), [CONSTANT, "a"]);
    assert_eq!(own.segments.token(0, 1).pairs().collect::<Vec<_>>(), [(1, 1.0), (0, 1.0)]);
    assert_ne!(segment_fingerprint(&own.segments), segment_fingerprint(&data.segments));
}

#[test]
fn costs_of_tokens_are_refused() {
    let tags = TagNames::new(SegmentTags::Runs, &names(&["a"]));
    let mut data = Sequences::new();
    data.push_weighted_token([], 0, 2.0).unwrap();
    data.end_sequence(1.0).unwrap();
    let error = cut_into_segments(&data, &tags, None).unwrap_err();
    assert!(error.to_string().contains("cost of its own"), "{error}");
}
