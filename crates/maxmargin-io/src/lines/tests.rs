use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::*;

fn lines(bytes: &[u8]) -> Lines {
    Lines::from_reader("f.txt", Cursor::new(bytes.to_vec())).unwrap()
}

fn all(mut lines: Lines) -> Result<Vec<String>, String> {
    let mut list = Vec::new();
    while lines.advance().map_err(|e| e.to_string())? {
        assert_eq!(lines.number() as usize, list.len() + 1);
        list.push(lines.line().to_owned());
    }
    // The end stays the end.
    assert!(!lines.advance().unwrap());
    Ok(list)
}

fn zip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn line_ends_of_all_kinds() {
    assert_eq!(all(lines(b"")).unwrap(), [""; 0]);
    assert_eq!(all(lines(b"\n")).unwrap(), [""]);
    assert_eq!(all(lines(b"a")).unwrap(), ["a"]);
    assert_eq!(all(lines(b"a\n")).unwrap(), ["a"]);
    assert_eq!(all(lines(b"a\r\n\r\nb")).unwrap(), ["a", "", "b"]);
    assert_eq!(all(lines(b"a\n\n\n")).unwrap(), ["a", "", ""]);
}

#[test]
fn a_byte_order_mark_counts_only_at_the_start() {
    assert_eq!(all(lines("\u{feff}a\n\u{feff}b".as_bytes())).unwrap(), ["a", "\u{feff}b"]);
    assert_eq!(all(lines("\u{feff}".as_bytes())).unwrap(), [""]);
}

#[test]
fn gzip_is_known_by_its_bytes_and_may_have_members() {
    let mut packed = zip(b"one\ntw");
    packed.extend(zip(b"o\nthree"));
    assert_eq!(all(lines(&packed)).unwrap(), ["one", "two", "three"]);
    // One byte of the magic number is not gzip, just not text.
    assert_eq!(
        all(lines(b"\x1f")).unwrap(),
        ["\u{1f}"],
        "a lone control character is odd, but text"
    );
}

#[test]
fn cut_gzip_names_the_file_and_the_last_line() {
    let text: String = (0..2000).map(|i| format!("line {}\n", i * 7919 % 1000)).collect();
    let packed = zip(text.as_bytes());
    let error = all(lines(&packed[..packed.len() - 9])).unwrap_err();
    assert!(
        error.starts_with("f.txt: the gzip data breaks off or is damaged after line "),
        "{error}"
    );
    let error = all(lines(&packed[..5])).unwrap_err();
    assert!(
        error.starts_with("f.txt: the gzip data breaks off or is damaged after line 0: "),
        "{error}"
    );
}

#[test]
fn what_is_not_text_is_refused_with_its_place() {
    let error = |bytes: &[u8]| all(lines(bytes)).unwrap_err();
    assert_eq!(error(b"ok\n\xc3\xa4\xff"), "f.txt:2:2: expected UTF-8 text, found the byte 0xff");
    assert_eq!(error(b"a\0b"), "f.txt:1:2: expected text, found a NUL byte");
    assert_eq!(
        error(b"a\rb\n"),
        "f.txt:1:2: expected lines that end with \\n or \\r\\n, found a carriage return within a line"
    );
}

#[test]
fn overlong_lines_are_refused_and_long_ones_are_not() {
    let long = "x".repeat(3_000_000);
    assert_eq!(all(lines(long.as_bytes())).unwrap(), [&*long]);
    let mut short = lines(b"1234\r\n12345\n");
    short.limit = 4;
    assert!(short.advance().unwrap());
    assert_eq!(
        short.advance().unwrap_err().to_string(),
        "f.txt:2:1: expected lines of text, found a line of more than 4 bytes"
    );
}

#[test]
fn peeked_lines_come_again_with_their_numbers() {
    let mut lines = lines(b"1\n2\n3\n");
    assert_eq!(lines.peek(2).unwrap(), Some("2"));
    assert_eq!(lines.peek(1).unwrap(), Some("1"));
    assert_eq!(all(lines).unwrap(), ["1", "2", "3"]);
}

#[test]
fn directories_and_missing_files_are_named() {
    let error = Lines::open(std::env::temp_dir()).err().unwrap().to_string();
    assert!(error.contains(&*std::env::temp_dir().to_string_lossy()), "{error}");
    let error = Lines::open("no/such.txt").err().unwrap();
    assert!(
        matches!(&error, DataError::Read { error, .. } if error.kind() == io::ErrorKind::NotFound)
    );
    assert!(error.to_string().starts_with("no/such.txt: cannot be read: "), "{error}");
}

#[test]
fn blank_lines_are_looked_at_up_to_a_limit() {
    let blank = vec![b'\n'; 8 << 20];
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    for _ in 0..8 {
        packed.write_all(&blank).unwrap();
    }
    let mut lines = Lines::from_reader("blank.gz", Cursor::new(packed.finish().unwrap())).unwrap();
    let error = crate::guess_format(&mut lines).unwrap_err();
    assert!(matches!(error, DataError::NothingYet { .. }), "{error}");
    assert!(lines.ahead_bytes < 2 * MOST_AHEAD);
    // A few blank lines are fine, and what was looked at is counted once.
    let mut lines = self::lines(b"\n\n\nB-NP\tw=a\n");
    assert_eq!(crate::guess_format(&mut lines).unwrap(), crate::Format::Crfsuite);
    assert_eq!(all(lines).unwrap(), ["", "", "", "B-NP\tw=a"]);
}
