//! Handwritten words: letters of 16 × 8 black and white pixels.

use crate::error::DataError;
use crate::format::Format;
use crate::groups::Groups;
use crate::lines::Lines;
use crate::names::Names;
use crate::number::parse_index;
use crate::pieces::{Cut, Pieces};
use crate::reader::ReadSequences;
use crate::sequence::RawSequence;

mod bitmap;

pub use bitmap::{Bitmap, COLUMNS, ROWS, draw_word};

/// The labels of all OCR data: `a` to `z`.
///
/// ```
/// let labels = maxmargin_io::ocr::labels();
/// assert_eq!((labels.name(0), labels.name(25)), ("a", "z"));
/// ```
pub fn labels() -> Names {
    Names::from_iter(('a'..='z').map(String::from))
}

/// The attributes of all OCR data: the pixels `p0_0` to `p15_7`, row by row from the top, each row
/// from the left.
///
/// ```
/// let attributes = maxmargin_io::ocr::attributes();
/// assert_eq!((attributes.len(), attributes.name(8)), (128, "p1_0"));
/// ```
pub fn attributes() -> Names {
    (0..ROWS).flat_map(|row| (0..COLUMNS).map(move |column| pixel_name(row, column))).collect()
}

fn pixel_name(row: usize, column: usize) -> String {
    format!("p{row}_{column}")
}

/// Which words of an OCR file are read: the file divides them into folds for cross-validation.
///
/// ```
/// use maxmargin_io::ocr::Folds;
/// assert!(Folds::Only(0).has(0) && !Folds::Except(0).has(0) && Folds::All.has(3));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Folds {
    /// All words.
    All,
    /// The words of one fold.
    Only(u64),
    /// All words but those of one fold.
    Except(u64),
}

impl Folds {
    /// Whether the words of `fold` are read.
    ///
    /// ```
    /// assert!(maxmargin_io::ocr::Folds::Except(0).has(1));
    /// ```
    pub fn has(self, fold: u64) -> bool {
        match self {
            Self::All => true,
            Self::Only(only) => fold == only,
            Self::Except(except) => fold != except,
        }
    }
}

/// Reads the layout of the built-in OCR data.
///
/// ```text
/// #word_id  position  letter  fold  pixels_hex
/// 1         1         o       0     000000707c46c3818181838ef8000000
/// ```
///
/// * A line is a letter, with five columns between tabs: the number of its word, its position in
///   the word, the letter `a` to `z` (empty if unknown), the fold of the word, and the pixels as 32
///   hexadecimal digits: 16 bytes, one per row from the top, whose most significant bit is the
///   leftmost pixel.
/// * Lines that begin with `#` are skipped, and so are empty lines.
/// * A word ends where its number changes. Within a word, positions increase and the fold stays the same. A number
///   that occurs again later is an error.
///
/// A black pixel is an attribute with the value 1. A white pixel is absent.
///
/// ```
/// use maxmargin_io::{Lines, RawSequence, ReadSequences, ocr::OcrReader};
///
/// let text = "4\t1\ti\t0\t0c000000000000000010101010302020\n";
/// let mut reader = OcrReader::new(Lines::from_reader("example", text.as_bytes())?);
/// let mut word = RawSequence::new();
/// assert!(reader.read(&mut word)?);
/// assert_eq!((word.id(), word.token(0).label()), (Some(4), Some("i")));
/// assert_eq!(word.token(0).attributes().next(), Some(("p0_4", 1.0)));
/// # Ok::<(), maxmargin_io::DataError>(())
/// ```
#[derive(Debug)]
pub struct OcrReader {
    lines: Lines,
    groups: Groups,
    folds: Folds,
    /// Names of the pixels, in the order of [`attributes`].
    pixels: Names,
}

/// The name of the number of a word in messages.
const WORD: &str = "word";

/// The number of the word that a line belongs to.
fn number_of(line: &[u8]) -> Option<u64> {
    let end = line.iter().position(|&byte| byte == b'\t')?;
    parse_index(std::str::from_utf8(&line[..end]).ok()?)
}

/// A line of an OCR file.
struct Letter<'a> {
    word: u64,
    position: u64,
    position_at: usize,
    letter: &'a str,
    letter_at: usize,
    fold: u64,
    fold_at: usize,
    bitmap: Bitmap,
}

impl OcrReader {
    /// A reader of all words in the rest of `lines`.
    ///
    /// ```
    /// use maxmargin_io::{Lines, ocr::OcrReader};
    /// let reader = OcrReader::new(Lines::from_reader("empty", std::io::empty())?);
    /// # Ok::<(), maxmargin_io::DataError>(())
    /// ```
    pub fn new(lines: Lines) -> Self {
        Self::with_folds(lines, Folds::All)
    }

    /// A reader of some words in the rest of `lines`.
    ///
    /// ```
    /// use maxmargin_io::{Lines, RawSequence, ReadSequences, ocr::{Folds, OcrReader}};
    /// let text = "4\t1\ti\t0\t0c000000000000000010101010302020\n";
    /// let lines = Lines::from_reader("example", text.as_bytes())?;
    /// assert!(!OcrReader::with_folds(lines, Folds::Except(0)).read(&mut RawSequence::new())?);
    /// # Ok::<(), maxmargin_io::DataError>(())
    /// ```
    pub fn with_folds(lines: Lines, folds: Folds) -> Self {
        Self { lines, groups: Groups::new(WORD), folds, pixels: attributes() }
    }

    /// Reads a word of any fold, and returns its fold. A word of a fold that is not asked for has no pixels: to name them
    /// would take most of the time.
    fn word(&mut self, into: &mut RawSequence) -> Result<Option<u64>, DataError> {
        into.clear();
        let mut fold = None;
        let mut position = 0;
        while self.groups.advance(&mut self.lines, !into.is_empty())? {
            let line = self.lines.line();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            // The line of another word is read with that word, so that mistakes in this word are reported first.
            let number = number_of(line.as_bytes());
            if !into.is_empty() && number.is_some() && number != into.id() {
                self.lines.hold();
                return Ok(fold);
            }
            let letter = letter(&self.lines)?;
            if into.is_empty() {
                self.groups.begin(letter.word, &self.lines, 0)?;
                into.set_id(Some(letter.word));
            } else if letter.position <= position {
                let expected = format!("a position after {position}");
                let found = letter.position.to_string();
                return Err(self.lines.unexpected(letter.position_at, expected, &found));
            }
            let before = *fold.get_or_insert(letter.fold);
            if letter.fold != before {
                let expected = format!("the fold {before} of the word's other letters");
                let found = letter.fold.to_string();
                return Err(self.lines.unexpected(letter.fold_at, expected, &found));
            }
            position = letter.position;
            into.push_token((!letter.letter.is_empty()).then_some(letter.letter));
            into.set_place(self.lines.number(), letter.letter_at as u64 + 1);
            if self.folds.has(before) {
                for pixel in letter.bitmap.pixels() {
                    into.push_attribute(self.pixels.name(pixel), 1.0);
                }
            }
        }
        Ok(fold)
    }
}

/// Divides the current line into its fields.
fn letter(lines: &Lines) -> Result<Letter<'_>, DataError> {
    let line = lines.line();
    let mut at = 0;
    let mut columns = line.split('\t').map(|text| {
        let start = at;
        at += text.len() + 1;
        (start, text)
    });
    let mut next = || columns.next().unwrap_or((line.len(), ""));
    let number = |(at, text), what: &str| {
        parse_index(text)
            .map(|number| (number, at))
            .ok_or_else(|| lines.unexpected(at, format!("{what}, which is a whole number"), text))
    };
    let (word, _) = number(next(), "the number of the word")?;
    let (position, position_at) = number(next(), "the position of the letter")?;
    let (letter_at, letter) = next();
    if !matches!(letter.as_bytes(), [] | [b'a'..=b'z']) {
        return Err(lines.unexpected(letter_at, "a letter from a to z", letter));
    }
    let (fold, fold_at) = number(next(), "the fold of the word")?;
    let (pixels_at, pixels) = next();
    let bitmap = Bitmap::from_hex(pixels).ok_or_else(|| {
        lines.unexpected(pixels_at, "the pixels as 32 hexadecimal digits", pixels)
    })?;
    if let Some((at, more)) = columns.next() {
        return Err(lines.unexpected(at, "five columns between tabs", more));
    }
    Ok(Letter { word, position, position_at, letter, letter_at, fold, fold_at, bitmap })
}

impl ReadSequences for OcrReader {
    fn format(&self) -> Format {
        Format::Ocr
    }

    fn file(&self) -> &str {
        self.lines.file()
    }

    fn line_number(&self) -> u64 {
        self.lines.number()
    }

    fn take_pieces(&mut self) -> Option<Pieces> {
        // The numbers of words that are left out must be checked as well, and pieces would not report them.
        if self.folds != Folds::All {
            return None;
        }
        let lines = self.lines.take_rest();
        Some(Pieces::new(lines, Cut::Numbers(number_of), |lines, known| {
            let (groups, pixels) = (Groups::after(WORD, known.begun), attributes());
            Box::new(Self { lines, groups, folds: Folds::All, pixels })
        }))
    }

    fn read(&mut self, into: &mut RawSequence) -> Result<bool, DataError> {
        while let Some(fold) = self.word(into)? {
            if self.folds.has(fold) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests;
