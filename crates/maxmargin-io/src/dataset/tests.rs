use std::io::Cursor;

use super::*;
use crate::lines::Lines;
use crate::reader::open_reader;

fn read(format: Format, text: &str) -> Result<Dataset, String> {
    let lines = Lines::from_reader("f.txt", Cursor::new(text.to_owned())).unwrap();
    read_training(open_reader(lines, Some(format)).unwrap()).map_err(|e| e.to_string())
}

fn names(names: &Names) -> Vec<&str> {
    names.iter().collect()
}

#[test]
fn names_are_numbered_by_first_occurrence() {
    let data = read(Format::Crfsuite, "z\tb\ta\ny\ta\tc:2\n\n@weight:3\nz\tb\n").unwrap();
    assert_eq!(names(&data.labels), ["z", "y"]);
    assert_eq!(names(&data.attributes), ["b", "a", "c"]);
    assert_eq!(data.sequences.sequence(0).labels(), [0, 1]);
    assert_eq!(
        data.sequences.sequence(0).token(1).pairs().collect::<Vec<_>>(),
        [(1, 1.0), (2, 2.0)]
    );
    assert_eq!((data.sequences.weight(0), data.sequences.weight(1)), (1.0, 3.0));
}

#[test]
fn tags_are_in_numeric_order_and_everything_else_stays() {
    let text = "10 qid:1 4:2 7:1\n9 qid:1\n100 qid:2 4:1\n9 qid:2 1:1\n";
    let data = read(Format::SvmHmm, text).unwrap();
    assert_eq!(names(&data.labels), ["9", "10", "100"]);
    assert_eq!(names(&data.attributes), ["4", "7", "1"]);
    assert_eq!(data.sequences.len(), 2);
    assert_eq!(data.sequences.sequence(0).labels(), [1, 0]);
    assert_eq!(data.sequences.sequence(1).labels(), [2, 0]);
    assert_eq!(
        data.sequences.sequence(0).token(0).pairs().collect::<Vec<_>>(),
        [(0, 2.0), (1, 1.0)]
    );
    assert_eq!(data.sequences.sequence(1).token(1).pairs().collect::<Vec<_>>(), [(2, 1.0)]);
}

#[test]
fn letters_and_pixels_are_complete_from_the_start() {
    let data = read(Format::Ocr, "1\t1\tz\t0\t00000000000000000000000000000001\n").unwrap();
    assert_eq!((data.labels.len(), data.attributes.len()), (26, 128));
    assert_eq!(data.sequences.sequence(0).labels(), [25]);
    assert_eq!(data.sequences.sequence(0).token(0).attributes, [127]);
    assert_eq!(data.attributes.name(127), "p15_7");
}

#[test]
fn missing_labels_and_missing_sequences() {
    let need = "expected a label, found none; training and evaluation need a label for every token";
    assert_eq!(read(Format::Crfsuite, "A\n\ta\n").unwrap_err(), format!("f.txt:2:1: {need}"));
    assert_eq!(read(Format::Conll, "a A\nb B\n").unwrap_err(), format!("f.txt:1:4: {need}"));
    assert_eq!(
        read(Format::Conll, "a A x\nb B\n").unwrap_err(),
        "f.txt:2:4: expected 3 columns between blanks, as in the lines before, found 2"
    );
    let pixels = "0".repeat(32);
    assert_eq!(
        read(Format::Ocr, &format!("1\t1\t\t0\t{pixels}\n")).unwrap_err(),
        format!("f.txt:1:5: {need}")
    );
    for format in Format::ALL.into_iter().filter(|format| format.is_sequences()) {
        assert_eq!(read(format, "").unwrap_err(), "f.txt: no sequences (the input is empty)");
        assert_eq!(read(format, "\n\r\n\n").unwrap_err(), "f.txt: no sequences in 3 lines");
    }
}

#[test]
fn the_fingerprint_is_about_content_not_layout() {
    let plain = read(Format::Crfsuite, "1\t3:0.5\t4\n2\n").unwrap();
    let other = read(Format::Crfsuite, "\r\n1\t\t3:5e-1\t4:1.0\r\n2\r\n\r\n").unwrap();
    let numbered = read(Format::SvmHmm, "1 qid:9 3:0.50 4:1 # so\n2 qid:9").unwrap();
    assert_eq!(plain.fingerprint, other.fingerprint);
    assert_eq!(plain.fingerprint, numbered.fingerprint);
    // The tags come in increasing order already, so that even the indices agree.
    assert_eq!(plain.sequences, numbered.sequences);
    let split = read(Format::Crfsuite, "1\t3:0.5\t4\n\n2\n").unwrap();
    assert_ne!(plain.fingerprint, split.fingerprint);
}
