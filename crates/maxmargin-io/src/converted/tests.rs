//! Converted files against the text that they come from.

use super::{is_converted, open_converted};
use crate::dataset::{read_by_name, read_training};
use crate::format::Format;
use crate::lines::Lines;
use crate::mapping::{LabelRule, read_with};
use crate::reader::{ReadSequences, open_row_reader};
use crate::rows::{read_rows, read_rows_with};
use crate::save_converted;
use crate::source::Source;
use proptest::prelude::*;
use std::fs;
use std::io::Cursor;
use std::path::Path;

fn open(text: &str, format: Format) -> Box<dyn ReadSequences + Send> {
    let lines = Lines::from_reader("f", Cursor::new(text.to_owned())).unwrap();
    open_row_reader(lines, Some(format)).unwrap()
}

fn convert(text: &str, format: Format, path: &Path) {
    save_converted(path, read_by_name(open(text, format)).unwrap()).unwrap();
}

/// Texts of every format that can be converted.
fn texts() -> Vec<(Format, String)> {
    vec![
        (Format::Crfsuite, "@weight:2\nB\tw=a\tw=b:0.5\nO\t@cost:3\tw=a\n\nB\tw=c\tw=c\n".into()),
        (Format::SvmHmm, "10 qid:1 7:1\n9 qid:1 3:0.5 # so\n9 qid:2 1:1\n".into()),
        (Format::Conll, "the DT B-NP\ncat NN I-NP\n\nit PRP B-NP\n".into()),
        (
            Format::Conllu,
            "1\tIt\tit\tPRON\t_\t_\t2\tnsubj\t_\t_\n2\trains\train\tVERB\t_\t_\t0\troot\t_\t_\n"
                .into(),
        ),
        (Format::Ocr, "1\t1\to\t0\t000000707c46c3818181838ef8000000\n".into()),
        (Format::Libsvm, "+1 3:0.5 7:1\n-1 2:2\n1.0 1:1\n".into()),
        (Format::Multilabel, "10,9 3:1\n1:1 2:0.5\n9,9,10 2:1\n".into()),
    ]
}

#[test]
fn every_format_that_can_be_converted_has_a_text() {
    let texts: Vec<Format> = texts().into_iter().map(|(format, _)| format).collect();
    for format in Format::ALL {
        let converts = format.is_sequences() || format.is_rows();
        assert_eq!(texts.contains(&format), converts, "`texts` and the format {format}");
    }
}

#[test]
fn a_converted_file_is_read_like_its_source() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    for (format, text) in texts() {
        convert(&text, format, &path);
        assert!(is_converted(&path));
        let source = Source::File(path.clone());
        assert_eq!(source.format().unwrap(), Some(format));
        let rows = read_rows(open(&text, format)).unwrap();
        assert_eq!(read_rows(source.open_rows(None).unwrap()).unwrap(), rows, "{format}");
        let (rule, opened) = (LabelRule::Count, source.open_rows(Some(format)).unwrap());
        let one = read_rows_with(opened, &rows.labels, &rows.attributes, rule).unwrap();
        let text_rows = open(&text, format);
        let other = read_rows_with(text_rows, &rows.labels, &rows.attributes, rule).unwrap();
        assert_eq!(one, other, "{format}");
        if format.is_sequences() {
            let data = read_training(open(&text, format)).unwrap();
            assert_eq!(read_training(source.open(None).unwrap()).unwrap(), data, "{format}");
            let opened = source.open(None).unwrap();
            let one = read_with(opened, &data.labels, &data.attributes, rule).unwrap();
            let other = open(&text, format);
            let other = read_with(other, &data.labels, &data.attributes, rule).unwrap();
            assert_eq!(one, other, "{format}");
        } else {
            let error = source.open(None).err().unwrap().to_string();
            assert!(error.contains("expected sequences, found single rows"), "{error}");
        }
        let other = if format == Format::Libsvm { Format::Crfsuite } else { Format::Libsvm };
        let error = source.open_rows(Some(other)).err().unwrap().to_string();
        assert!(error.contains(&format!("it was converted from {format}, not {other}")), "{error}");
        let error = source.open_lines("poses").unwrap_err().to_string();
        assert!(error.contains("expected poses, found"), "{error}");
    }
}

#[test]
fn built_in_data_can_be_converted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    let source = Source::resolve("ocr-small").unwrap();
    save_converted(&path, read_by_name(source.open(None).unwrap()).unwrap()).unwrap();
    let data = read_training(source.open(None).unwrap()).unwrap();
    assert_eq!(read_training(Source::File(path).open(None).unwrap()).unwrap(), data);
}

#[test]
fn absent_labels_are_kept_and_refused_where_they_are_needed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    convert("\tw=a\n\nO\tw=b\n", Format::Crfsuite, &path);
    let source = Source::File(path);
    let error = read_training(source.open(None).unwrap()).unwrap_err().to_string();
    assert!(error.contains("expected a label, found none"), "{error}");
    let names = crate::Names::from_iter(["O"]);
    let data = read_with(source.open(None).unwrap(), &names, &names, LabelRule::Ignore).unwrap();
    assert_eq!(data.sequences.len(), 2);
}

#[test]
fn columns_keep_their_template() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    let text = "the DT\ncat NN\n";
    convert(text, Format::Conll, &path);
    let source = Source::File(path);
    let template = open(text, Format::Conll).template().cloned().unwrap();
    assert!(source.open_columns(template).is_ok());
    assert!(source.open_labelled_columns(None, None, None).is_ok());
    let other = Lines::from_reader("t", "U:%x[0,0]\n".as_bytes()).unwrap();
    let other = crate::Template::read(other).unwrap();
    let error = source.open_columns(other).err().unwrap().to_string();
    assert!(error.contains("its attributes were made in another way"), "{error}");
    let error = source.open_labelled_columns(None, None, Some("1")).err().unwrap().to_string();
    assert!(error.contains("leave out --template"), "{error}");
}

/// Writes `bytes`, and opens them; a file that is taken must be one that can be used.
fn try_open(bytes: &[u8], path: &Path) -> Result<(), String> {
    fs::write(path, bytes).unwrap();
    let data = open_converted(path).map_err(|error| error.to_string())?.take_dataset().unwrap();
    for sequence in data.sequences.iter() {
        for (token, &label) in sequence.tokens().zip(sequence.labels()) {
            data.labels.name(label);
            token
                .attributes
                .iter()
                .for_each(|&attribute| assert!(data.attributes.name(attribute).len() < 99));
        }
    }
    Ok(())
}

#[test]
fn every_truncation_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    convert(&texts()[0].1, Format::Crfsuite, &path);
    let bytes = fs::read(&path).unwrap();
    let end = bytes.len() - 64;
    for length in 1..end {
        assert!(try_open(&bytes[..length], &path).is_err(), "{length} of {}", bytes.len());
    }
    let mut newer = bytes.clone();
    newer[15] = 9;
    let error = try_open(&newer, &path).unwrap_err();
    assert!(error.contains("layout 9") && error.contains("convert the data again"), "{error}");
}

/// The header of a file, and the file with another header whose check sum is right.
fn with_header(bytes: &[u8], change: impl Fn(&str) -> String) -> Vec<u8> {
    let length = u64::from_le_bytes(bytes[16..24].try_into().unwrap()) as usize;
    let mut header = change(std::str::from_utf8(&bytes[32..32 + length]).unwrap()).into_bytes();
    header.truncate(header.trim_ascii_end().len());
    header.resize((32 + header.len()).next_multiple_of(64) - 32, b' ');
    let mut new = bytes[..16].to_vec();
    new.extend((header.len() as u64).to_le_bytes());
    new.extend(xxhash_rust::xxh3::xxh3_64(&header).to_le_bytes());
    new.extend(header);
    new.extend(&bytes[32 + length..]);
    new
}

#[test]
fn impossible_lengths_are_refused_before_anything_is_reserved() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    convert(&texts()[0].1, Format::Crfsuite, &path);
    let bytes = fs::read(&path).unwrap();
    assert!(try_open(&with_header(&bytes, str::to_owned), &path).is_ok());
    for (from, to) in [
        ("\"start\":0", "\"start\":18446744073709551552"),
        ("\"start\":64", "\"start\":9223372036854775808"),
        ("\"start\":64", "\"start\":65"),
        ("\"length\":12", "\"length\":18446744073709551615"),
        ("\"length\":12", "\"length\":1152921504606846976"),
        ("\"width\":4", "\"width\":0"),
        ("\"width\":4", "\"width\":8"),
        ("\"labels\"", "\"lables\""),
        ("crfsuite", "crfsweet"),
    ] {
        let wrong = with_header(&bytes, |header| header.replacen(from, to, 1));
        assert_ne!(wrong, bytes, "{from}");
        assert!(try_open(&wrong, &path).is_err(), "{to}");
    }
    let mut long = bytes.clone();
    long[16..24].copy_from_slice(&u64::MAX.to_le_bytes());
    assert!(try_open(&long, &path).is_err());
}

proptest! {
    #[test]
    fn damage_is_noticed(at in any::<proptest::sample::Index>(), bit in 0u8..8) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        convert(&texts()[0].1, Format::Crfsuite, &path);
        let mut bytes = fs::read(&path).unwrap();
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        // Bytes between the arrays mean nothing.
        let _ = try_open(&bytes, &path);
    }

    /// Numbers that were changed together with their check sums are refused, or can be used.
    #[test]
    fn numbers_with_mended_sums_never_panic(
        array in 0usize..7, at in any::<proptest::sample::Index>(), byte in any::<u8>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        convert(&texts()[0].1, Format::Crfsuite, &path);
        let mut bytes = fs::read(&path).unwrap();
        let length = u64::from_le_bytes(bytes[16..24].try_into().unwrap()) as usize;
        let mut header: super::header::Header =
            serde_json::from_slice(&bytes[32..32 + length]).unwrap();
        let own = &mut header.arrays[array];
        prop_assume!(own.length > 0);
        let start = 32 + length + own.start;
        bytes[start + at.index(own.length)] = byte;
        own.sum = super::header::sum_of(&bytes[start..start + own.length]);
        let text = serde_json::to_string(&header).unwrap();
        let _ = try_open(&with_header(&bytes, |_| text.clone()), &path);
    }
}
