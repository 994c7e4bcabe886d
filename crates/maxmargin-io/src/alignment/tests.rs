use maxmargin::model::matching::{Gold, Pairs};

use super::*;
use crate::lines::Lines;

fn read(text: &'static str) -> Result<Vec<RawAlignment>, String> {
    let lines = Lines::from_reader("x.tsv", text.as_bytes()).map_err(|error| error.to_string())?;
    read_alignments(lines).map_err(|error| error.to_string())
}

#[test]
fn pairs_come_with_or_without_links_and_parts() {
    let pairs = read("#head\na b\tc\t2-1 1p1\n\nd\te f\t\n").unwrap();
    assert_eq!(pairs.len(), 2);
    assert_eq!(pairs[0].links, [(0, 0, Gold::Possible), (1, 0, Gold::Sure)]);
    assert_eq!((pairs[1].line, pairs[1].links.len()), (4, 0));
    let pairs = read("train\ta b\tc\t2-1\r\nvalid\ta\tb\t").unwrap();
    assert_eq!(pairs[1].part.as_deref(), Some("valid"));
    assert_eq!(read("a\tb\n").unwrap()[0].target, ["b"]);
    assert_eq!(read("").unwrap(), []);
}

#[test]
fn errors_name_their_place() {
    for (text, message) in [
        (
            "a b\n",
            "x.tsv:1:1: expected two sentences between tabs, with links and a part of the data or without, found 1 fields",
        ),
        (
            "a\tb\t1-1\na\tb\n",
            "x.tsv:2:1: expected 3 fields between tabs, as in the first line, found 2 fields",
        ),
        (
            "a\tb\t1+1\n",
            "x.tsv:1:5: expected a link, `i-j` if sure and `ipj` if possible, found `1+1`",
        ),
        (
            "a\tb\t1-1 -1\n",
            "x.tsv:1:9: expected a link, `i-j` if sure and `ipj` if possible, found `-1`",
        ),
        (
            "ä\tb c\t1-1 1p3\n",
            "x.tsv:1:11: expected the number of a word of the target sentence, 1 to 2, found `1p3`",
        ),
        (
            "a\tb c\t0-1\n",
            "x.tsv:1:7: expected the number of a word of the source sentence, 1 to 1, found `0-1`",
        ),
        (
            "a\tb\t1-1 1p1\n",
            "x.tsv:1:5: expected each link once, found a link of word 1 with word 1 twice",
        ),
        ("a\t \t1-1\n", "x.tsv:1:3: expected a sentence of at least one word, found ` `"),
        ("\ta\tb\t1-1\n", "x.tsv:1:1: expected the name of a part of the data, found nothing"),
        (
            "a\tb\t1-99999999999999999999\n",
            "x.tsv:1:5: expected a link, `i-j` if sure and `ipj` if possible, found `1-99999999999999999999`",
        ),
    ] {
        assert_eq!(read(text).unwrap_err(), message, "{text:?}");
    }
}

#[test]
fn written_alignments_are_read_back() {
    let text = "train\ta b\tc d\t1-2 2p1\ntrain\tx\ty\t\n";
    let mut written = Vec::new();
    for pair in read(text).unwrap() {
        write_alignment(&mut written, &pair).unwrap();
    }
    assert_eq!(written, text.as_bytes());
}

#[test]
fn features_are_what_their_names_say() {
    let pairs =
        read("The 3 red houses .\tles 3 maisons rouges .\t2-2 4-3\nthe dog .\tle chien .\t2-2\n")
            .unwrap();
    let features = AlignmentFeatures::new(WordCounts::of(&pairs)).with_lexicon(&pairs, 1);
    let names = features.names();
    assert_eq!(names.len(), features.attributes());
    let mut data = Pairs::new();
    pairs.iter().for_each(|pair| features.fill(pair, &mut data).unwrap());
    let value = |pair: usize, row: u32, column: u32, name: &str| {
        let pair = data.pair(pair);
        let at = names.get(name).unwrap();
        let row = pair.attributes(pair.find(row, column).unwrap());
        row.pairs().find(|(a, _)| *a == at).map_or(0.0, |(_, value)| value)
    };
    assert_eq!(value(0, 0, 0, "dice"), 2.0 / 3.0);
    assert_eq!(value(0, 1, 1, "same word"), 1.0);
    assert_eq!((value(0, 4, 4, "same mark"), value(0, 4, 4, "same word")), (1.0, 0.0));
    assert_eq!(value(0, 4, 3, "mark and word"), 1.0);
    assert_eq!(value(0, 2, 3, "prefix"), 1.0 / 6.0);
    assert_eq!((value(0, 0, 0, "distance"), value(0, 0, 0, "nearest")), (0.0, 1.0));
    assert_eq!(value(1, 1, 1, "dog ↔ chien"), 1.0);
    assert_eq!(value(1, 0, 1, "dice before"), 0.0);
    assert_eq!(value(1, 1, 1, "dice before"), 2.0 / 3.0);
    assert_eq!(value(1, 1, 1, "same before or after"), 1.0);
    let file = serde_json::to_string(&features).unwrap();
    assert_eq!(serde_json::from_str::<AlignmentFeatures>(&file).unwrap(), features);
    // Words that were never seen have features too.
    let unseen = read("cat\tchat\n").unwrap();
    features.fill(&unseen[0], &mut data).unwrap();
}

/// More sentences than a thread takes at once, on one thread and on several.
#[test]
fn sentences_are_the_same_on_any_number_of_threads() {
    let words = ["le", "the", "Été", "summer", "1984", ",", "nation", "nationale"];
    let sentence = |seed: usize| -> Vec<String> {
        (0..1 + seed % 5).map(|at| words[(3 * seed + at * at) % words.len()].to_owned()).collect()
    };
    let pair = |i: usize| {
        let (source, target) = (sentence(i), sentence(i / 2 + 1));
        RawAlignment { source, target, links: vec![(0, 0, Gold::Sure)], ..RawAlignment::default() }
    };
    let pairs: Vec<RawAlignment> = (0..100).map(pair).collect();
    let features = AlignmentFeatures::new(WordCounts::of(&pairs)).with_lexicon(&pairs, 2);
    let mut expected = Pairs::new();
    pairs.iter().for_each(|pair| features.fill(pair, &mut expected).unwrap());
    for threads in [1, 2, 5] {
        let data = Alignments::on_threads(pairs.clone(), &features, threads).unwrap();
        assert_eq!(data.links, expected);
    }
}

#[test]
fn counts_are_those_of_all_pairs_of_words() {
    let pairs = read("a b a\tx Y\nb c\ty z z\nd\tx\n").unwrap();
    let counts = WordCounts::of(&pairs);
    for (source, target, together, apart) in [
        ("a", "x", 1, 3),
        ("a", "y", 1, 3),
        ("b", "y", 2, 4),
        ("b", "z", 1, 3),
        ("d", "x", 1, 3),
        ("d", "y", 0, 3),
        ("e", "y", 0, 2),
    ] {
        let expected = 2.0 * f64::from(together) / f64::from(apart);
        assert_eq!(counts.dice(source, target), expected, "{source} {target}");
    }
}
