//! Reading in pieces against reading line after line.

use crate::dataset::{Dataset, read_training};
use crate::error::DataError;
use crate::format::Format;
use crate::kept_lines::KeptLines;
use crate::lines::Lines;
use crate::pieces::Pieces;
use crate::reader::{ReadSequences, open_reader, open_row_reader};
use crate::rows::{RowData, read_rows};
use crate::sequence::RawSequence;
use crate::template::Template;
use proptest::prelude::*;
use std::io::{self, Cursor, Read};

/// A reader whose input is read in pieces of this size by this many threads; or in order.
struct Cutting {
    reader: Box<dyn ReadSequences + Send>,
    pieces: Option<(usize, usize)>,
}

impl ReadSequences for Cutting {
    fn format(&self) -> Format {
        self.reader.format()
    }

    fn file(&self) -> &str {
        self.reader.file()
    }

    fn line_number(&self) -> u64 {
        self.reader.line_number()
    }

    fn template(&self) -> Option<&Template> {
        self.reader.template()
    }

    fn kept_lines(&self) -> Option<&KeptLines> {
        None
    }

    fn take_pieces(&mut self) -> Option<Pieces> {
        let (size, threads) = self.pieces?;
        Some(self.reader.take_pieces()?.with(size, threads))
    }

    fn read(&mut self, into: &mut RawSequence) -> Result<bool, DataError> {
        self.reader.read(into)
    }
}

/// A text, and perhaps an input that breaks after it.
#[derive(Debug, Clone)]
struct Input {
    text: Vec<u8>,
    breaks: bool,
}

impl Input {
    fn open(&self, format: Format, pieces: Option<(usize, usize)>) -> Result<Cutting, DataError> {
        Ok(Cutting { reader: open_row_reader(self.lines()?, Some(format))?, pieces })
    }

    /// The same after more sequences than any reader looks at before it begins.
    fn after(&self, sequence: &str) -> Self {
        let mut text = sequence.repeat(AHEAD).into_bytes();
        text.extend_from_slice(self.text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.text));
        Self { text, breaks: self.breaks }
    }

    fn lines(&self) -> Result<Lines, DataError> {
        struct Broken(bool);
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                if self.0 { Err(io::Error::other("the disk is gone")) } else { Ok(0) }
            }
        }
        let input = Cursor::new(self.text.clone()).chain(Broken(self.breaks));
        Lines::from_reader("f", input)
    }
}

/// Enough sequences to fill what readers look at.
const AHEAD: usize = 120;

/// Sizes of pieces, and numbers of threads.
const SIZES: [(usize, usize); 5] = [(1, 1), (1, 3), (7, 2), (30, 3), (1 << 20, 2)];

fn sequences(
    input: &Input,
    format: Format,
    pieces: Option<(usize, usize)>,
) -> Result<Dataset, String> {
    let reader = input.open(format, pieces).map_err(|error| error.to_string())?;
    read_training(reader).map_err(|error| error.to_string())
}

fn rows(input: &Input, format: Format, pieces: Option<(usize, usize)>) -> Result<RowData, String> {
    let reader = input.open(format, pieces).map_err(|error| error.to_string())?;
    read_rows(reader).map_err(|error| error.to_string())
}

/// Holds all ways to read an input against reading it line after line.
fn compare(input: &Input, format: Format) {
    let (one, other) = (rows(input, format, None), sequences(input, format, None));
    for pieces in SIZES {
        assert_eq!(rows(input, format, Some(pieces)), one, "rows in pieces {pieces:?}");
        assert_eq!(sequences(input, format, Some(pieces)), other, "sequences in pieces {pieces:?}");
    }
}

/// Lines of which files of the format consist, right and wrong ones.
fn lines_of(format: Format) -> Vec<&'static str> {
    match format {
        Format::Crfsuite => vec![
            "",
            "",
            "",
            " ",
            "B-NP\tw=a\tw=b",
            "O\tw=c",
            "I-NP",
            "B-NP\tw=b\tlen:2.5\tw=b",
            "O\ttime=10\\:30\tx\\\\y",
            "a\\:b\tw=ä\\z",
            "O\t\tw=a\t",
            "O\tw=1:1",
            "@weight:2",
            "@weight\t0.5",
            "O\t@cost:3\tw=a",
            "@home\tw=a",
            "\tw=a",
            "O\tx:",
            "O\t:1",
            " \tw=a",
            "O\tw:1e999",
            "  ",
            "O \tw= a",
            "\u{feff}O\tw=z",
            "O\t@costly",
            "@weight:x",
        ],
        Format::SvmHmm => vec![
            "",
            "1 qid:1 1:1 3:0.5",
            "2 qid:2 2:-1",
            "3 qid:3",
            "# note",
            "1 qid:4 1:1 # so",
            "2 qid:5",
            "1 qid:6 7:1",
            "10 qid:7 1:1",
            "1 qid:007 1:1",
            "x qid:1",
            "1 qi:1",
            " ",
            "1 qid:9 2:1 1:1",
            "1",
        ],
        Format::Ocr => vec![
            "",
            "1\t1\to\t0\t000000707c46c3818181838ef8000000",
            "1\t2\tm\t0\t000000707c46c3818181838ef8000000",
            "2\t1\t\t0\t000000707c46c3818181838ef8000000",
            "#word_id",
            "3\t1\tz\t1\t00000070000000000000008ef8000000",
            "4\t1\tz\t1\t00000070000000000000008ef8000001",
            "5\t1\tb\t1\t00000070000000000000008ef8000001",
            "5\t3\tb\t1\t00000070000000000000008ef8000001",
            "5\t2\tb\t0\t00000070000000000000008ef8000001",
            "6\t1\tB\t0\t00000070000000000000008ef8000001",
            "x\t1\tb\t0\t00000070000000000000008ef8000001",
            "6\t1\tb\t0",
        ],
        Format::Conll => vec![
            "",
            "",
            "the DT B-NP",
            "cat NN I-NP",
            "purrs VBZ B-VP",
            "# CD I-NP",
            "# two more",
            "# a comment of words",
            "-DOCSTART- -X- O",
            "#hash NN B-NP",
            "#\tNN\tO",
            " ",
            "cat NN",
            "the DT O",
            "\tx",
            "one two three four",
            "# NN",
        ],
        Format::Conllu => vec![
            "",
            "",
            "1\tThe\tthe\tDET\t_\t_\t2\tdet\t_\t_",
            "2\tcat\tcat\tNOUN\t_\t_\t0\troot\t_\t_",
            "# text = The cat",
            "# ",
            "1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_",
            "1.1\tx\tx\tVERB\t_\t_\t0\troot\t_\t_",
            "3\tpurrs\tpurr\tVERB\t_\t_\t2\tx\t_\t_",
            "4\t#\t#\tSYM\t_\t_\t2\tx\t_\t_",
            "5\tx\tx\t_\t_\t_\t2\tx\t_\t_",
            "x\tx\tx\tX\t_\t_\t2\tx\t_\t_",
            "1\tThe\tthe",
            "the DT",
        ],
        Format::Libsvm | Format::Multilabel => vec![
            "",
            "# note",
            "+1 1:0.5 3:1",
            "-1 2:1",
            "1 1:1 2:0.25 7:1",
            "1.0 3:1",
            "+1",
            "2 9:-1",
            "1,2 1:1",
            "3:1 4:2",
            " ",
            "-1 5:1 # so",
            "x 1:1",
            "1 2:1 1:1",
            "1 0:1",
            "y 3:x",
            "1 007:2",
        ],
        Format::FactorGraph | Format::Superpixels | Format::Alignment | Format::Pose => {
            panic!("{format} is not read in pieces")
        }
    }
}

/// A format that is read in pieces, and an input in it.
fn any_input() -> impl Strategy<Value = (Format, Input)> {
    let is_cut = |format: &Format| format.is_sequences() || format.is_rows();
    let formats: Vec<Format> = Format::ALL.into_iter().filter(is_cut).collect();
    let with_input = |format| input(format).prop_map(move |input| (format, input));
    proptest::sample::select(formats).prop_flat_map(with_input)
}

fn input(format: Format) -> impl Strategy<Value = Input> {
    let lines: Vec<&'static str> = lines_of(format);
    let count = lines.len();
    // Right lines come more often than wrong ones, so that most files have something to read.
    let right: usize = match format {
        Format::Crfsuite => 12,
        Format::Conll | Format::Conllu => 10,
        _ => 8,
    };
    let line = prop_oneof![9 => 0..right, 1 => 0..count];
    let end = prop_oneof![9 => Just("\n"), 1 => Just("\r\n")];
    let body = proptest::collection::vec((line, end), 0..60);
    (body, any::<bool>(), 0u8..12, any::<proptest::sample::Index>(), any::<u8>()).prop_map(
        move |(body, ends, kind, at, byte)| {
            let mut text = Vec::new();
            for (line, end) in body {
                let line: usize = line;
                text.extend_from_slice(lines[line].as_bytes());
                text.extend_from_slice(end.as_bytes());
            }
            if !ends {
                text.pop();
            }
            match kind {
                0 => text.splice(..0, *b"\xef\xbb\xbf").for_each(drop),
                1 if !text.is_empty() => {
                    let at = at.index(text.len());
                    text[at] = byte;
                }
                _ => {}
            }
            Input { text, breaks: kind == 2 }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn pieces_of_every_format_make_the_same_data((format, input) in any_input()) {
        compare(&input, format);
    }

    #[test]
    fn pieces_of_crfsuite_files_make_the_same_data(input in input(Format::Crfsuite)) {
        compare(&input, Format::Crfsuite);
    }

    #[test]
    fn pieces_of_numbered_sequences_make_the_same_data(
        svm_hmm in input(Format::SvmHmm), ocr in input(Format::Ocr)
    ) {
        compare(&svm_hmm, Format::SvmHmm);
        compare(&ocr, Format::Ocr);
    }

    #[test]
    fn pieces_of_columns_make_the_same_data(
        conll in input(Format::Conll), conllu in input(Format::Conllu)
    ) {
        compare(&conll, Format::Conll);
        compare(&conllu, Format::Conllu);
        // What readers look at before they begin is one piece.
        compare(&conll.after("a X O\n\n"), Format::Conll);
        compare(&conllu.after("1\tThe\tthe\tDET\t_\t_\t2\tdet\t_\t_\n\n"), Format::Conllu);
    }

    #[test]
    fn pieces_of_numbers_in_order_make_the_same_data(
        runs in proptest::collection::vec((1usize..5, 0u8..20), 1..40)
    ) {
        let mut text = String::new();
        for (at, (length, kind)) in runs.iter().enumerate() {
            let number = if *kind == 0 { at / 2 } else { at };
            (0..*length).for_each(|t| text.push_str(&format!("{t} qid:{number} {}:1\n", at + 1)));
            text.push_str(if *kind == 1 { "# note\n\n" } else { "" });
            text.push_str(if *kind == 2 { "nonsense\n" } else { "" });
        }
        compare(&Input { text: text.into_bytes(), breaks: false }, Format::SvmHmm);
    }

    #[test]
    fn pieces_with_a_template_make_the_same_data(input in input(Format::Conll)) {
        let read = |pieces| -> Result<Dataset, String> {
            let words = |error: DataError| error.to_string();
            let template = Lines::from_reader("t", "U0:%x[-1,0]/%x[0,1]\n".as_bytes());
            let template = template.and_then(Template::read).map_err(words)?;
            let lines = input.lines().map_err(words)?;
            read_training(Cutting { reader: template.open(lines), pieces }).map_err(words)
        };
        let one = read(None);
        for pieces in SIZES {
            prop_assert_eq!(&read(Some(pieces)), &one);
        }
    }

    #[test]
    fn pieces_of_rows_make_the_same_data(input in input(Format::Libsvm)) {
        compare(&input, Format::Libsvm);
        compare(&input, Format::Multilabel);
    }
}

#[test]
fn a_weight_stays_with_its_sequence() {
    let text = b"O\ta\n\n@weight:2\n\n\nO\tb\n\n@weight:3\nO\tc".to_vec();
    let input = Input { text, breaks: false };
    compare(&input, Format::Crfsuite);
    let data = sequences(&input, Format::Crfsuite, Some((1, 3))).unwrap();
    assert_eq!([0, 1, 2].map(|i| data.sequences.weight(i)), [1.0, 2.0, 3.0]);
}

#[test]
fn a_number_that_comes_back_in_another_piece_is_an_error() {
    let text = b"1 qid:1\n1 qid:2\n1 qid:3\n2 qid:1\n1 nonsense\n".to_vec();
    let input = Input { text, breaks: false };
    compare(&input, Format::SvmHmm);
    let error = sequences(&input, Format::SvmHmm, Some((1, 2))).unwrap_err();
    assert!(error.starts_with("f:4:3: "), "{error}");
}

#[test]
fn a_lone_hash_is_a_token_if_its_label_has_come_before() {
    let text = b"# Y B\n\nb X B\n\n# Y B\n".to_vec();
    let input = Input { text, breaks: false }.after("a X O\n\n");
    compare(&input, Format::Conll);
    let data = sequences(&input, Format::Conll, Some((1, 2))).unwrap();
    assert_eq!(data.sequences.len(), AHEAD + 2, "the first is a comment, the second a token");
}

#[test]
fn an_attribute_whose_sum_overflows_is_named_by_its_number_in_the_file() {
    // Rows of CRFsuite's format may repeat an attribute.
    let text = b"x\ta\tb\n\ny\tc:1e308\tc:1e308\n".to_vec();
    let input = Input { text, breaks: false };
    compare(&input, Format::Crfsuite);
    let error = rows(&input, Format::Crfsuite, Some((1, 2))).unwrap_err();
    assert!(error.contains("attribute 2 has the value inf"), "{error}");
}

#[test]
fn a_damaged_archive_is_read_up_to_the_damage() {
    use std::io::Write as _;
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    for i in 0..20_000 {
        write!(packer, "B\tw={}\n\n", i * 7919 % 10_007).unwrap();
    }
    let mut text = packer.finish().unwrap();
    compare(&Input { text: text.clone(), breaks: false }, Format::Crfsuite);
    let half = text.len() / 2;
    text[half] ^= 0x55;
    compare(&Input { text: text.clone(), breaks: false }, Format::Crfsuite);
    text.truncate(half);
    compare(&Input { text, breaks: false }, Format::Crfsuite);
}

/// The first word lacks a letter, and the line after it has a mistake of another kind.
#[test]
fn the_mistakes_of_a_word_come_before_those_of_the_next() {
    let pixels = "0000007".to_owned() + &"0".repeat(25);
    let text = format!("2\t1\t\t0\t{pixels}\n1\t:\to\t0\t{pixels}\n");
    let mut text = text.into_bytes();
    compare(&Input { text: text.clone(), breaks: false }, Format::Ocr);
    let colon = text.iter().position(|&byte| byte == b':').unwrap();
    text[colon] = 0x80; // no text at all
    compare(&Input { text, breaks: false }, Format::Ocr);
    let text = b"qid:1 1:1\n2 qid:2 1:\x80\n".to_vec();
    compare(&Input { text, breaks: false }, Format::SvmHmm);
}

/// The short way through CRFsuite's files once took such a line for two tokens.
#[test]
fn a_line_that_is_too_long_is_refused_in_pieces_too() {
    for text in ["a".repeat(200), format!("a\tb\n{}\tc\n\na\tb\n", "a".repeat(200))] {
        for (size, threads) in [(16, 1), (16, 2), (64, 2), (1 << 20, 1)] {
            let lines = Lines::from_reader("f", Cursor::new(text.clone())).unwrap().with_limit(100);
            let reader = open_reader(lines, Some(Format::Crfsuite)).unwrap();
            let reader = Cutting { reader, pieces: Some((size, threads)) };
            let error = read_training(reader).unwrap_err().to_string();
            assert!(error.contains("a line of more than 100 bytes"), "{error}");
        }
    }
}
