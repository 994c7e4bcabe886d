//! A fast parser of CRFsuite's data files.
//!
//! It reads the bytes once and does not copy lines or names. It accepts the contents of nearly all files: tokens
//! with a label and attributes, with or without values and escapes. If a piece contains anything else (weights,
//! costs, carriage returns, mistakes), the [reader](crate::CrfsuiteReader) reads the piece instead. The reader
//! accepts everything and reports errors.

use super::cut::Piece;
use super::gather::Parsed;
use super::sequences::NamedSequences;
use crate::crfsuite::{COST, WEIGHT, name_length, unescape};
use crate::fingerprint::Encoder;
use crate::number::parse_value;

/// The meaning of a byte in the search for the end of a field.
const END: u8 = 1;
const COLON: u8 = 2;
const BACKSLASH: u8 = 4;
const FOREIGN: u8 = 8;

const MEANING: [u8; 256] = {
    let mut meaning = [0; 256];
    meaning[b'\t' as usize] = END;
    meaning[b'\n' as usize] = END;
    meaning[b':' as usize] = COLON;
    meaning[b'\\' as usize] = BACKSLASH;
    meaning[b'\r' as usize] = FOREIGN;
    meaning[0] = FOREIGN;
    meaning
};

/// A piece with more bytes than this contains a long sequence.
const LONG: usize = if cfg!(test) { 1 << 10 } else { 8 << 20 };

/// Returns the sequences of a piece, or `None` if the reader must read it.
pub(super) fn parse(piece: &Piece) -> Option<Parsed<NamedSequences>> {
    let text = std::str::from_utf8(&piece.text).ok()?;
    if piece.before == 0 && text.starts_with('\u{feff}') {
        return None;
    }
    let mut parser = Parser {
        text,
        at: 0,
        parsed: Parsed::new(NamedSequences::default()),
        unescaped: String::new(),
    };
    parser.sequences()?;
    let has_rest = !text.is_empty() && !text.ends_with('\n');
    let lines = text.bytes().filter(|&byte| byte == b'\n').count() as u64;
    parser.parsed.lines = piece.before + lines + u64::from(has_rest);
    Some(parser.parsed)
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    parsed: Parsed<NamedSequences>,
    /// Scratch memory for a name without its escapes.
    unescaped: String,
}

impl<'a> Parser<'a> {
    fn sequences(&mut self) -> Option<()> {
        let (mut bytes, mut row) = (Vec::new(), Vec::new());
        // The bytes of the fingerprint of a long piece would take several times its memory.
        let is_long = self.text.len() > LONG;
        bytes.reserve(if is_long { 0 } else { self.text.len() * 3 });
        while self.at < self.text.len() {
            if self.skip_blank_line() {
                continue;
            }
            let mut encoder = Encoder::begin_sequence(&mut bytes, 1.0);
            while self.at < self.text.len() && !self.skip_blank_line() {
                self.token(&mut encoder, &mut row)?;
                if is_long {
                    encoder.forget_tokens();
                }
            }
            encoder.end_sequence();
            self.parsed.gathered.sequences.end_sequence(1.0).ok()?;
            if is_long {
                bytes.clear();
            }
        }
        self.parsed.bytes = (!is_long).then_some(bytes);
        Some(())
    }

    /// Skips the current line if it contains only spaces.
    fn skip_blank_line(&mut self) -> bool {
        let rest = &self.text.as_bytes()[self.at..];
        let length = rest.iter().position(|&byte| byte != b' ').unwrap_or(rest.len());
        let is_blank = matches!(rest.get(length), None | Some(b'\n'));
        if is_blank {
            self.at = (self.at + length + 1).min(self.text.len());
        }
        is_blank
    }

    fn token(&mut self, encoder: &mut Encoder<'_>, row: &mut Vec<(u32, f64)>) -> Option<()> {
        let (label, meaning) = self.field()?;
        // An empty label counts as absent.
        if label.trim().is_empty() || label.starts_with(WEIGHT) {
            return None;
        }
        let label = Self::plain(label, meaning, &mut self.unescaped);
        encoder.begin_token(label);
        let label = self.parsed.gathered.names.labels.intern(label);
        row.clear();
        while !self.ends_line() {
            let (field, meaning) = self.field()?;
            if field.is_empty() {
                continue;
            }
            if field.starts_with(COST) {
                return None;
            }
            let (mut name, mut value) = (field, 1.0);
            if meaning & COLON != 0 {
                let colon = name_length(field);
                name = &field[..colon];
                if let Some(text) = field.get(colon + 1..) {
                    value = parse_value(text).ok()?;
                }
                if name.is_empty() {
                    return None;
                }
            }
            let name = Self::plain(name, meaning, &mut self.unescaped);
            encoder.attribute(name, value);
            row.push((self.parsed.gathered.names.attributes.intern(name), value));
        }
        encoder.end_token(row.len());
        self.parsed.gathered.sequences.push_token(row.iter().copied(), label).ok()
    }

    /// A name without its escapes.
    #[inline]
    fn plain<'n>(name: &'n str, meaning: u8, unescaped: &'n mut String) -> &'n str {
        if meaning & BACKSLASH == 0 {
            return name;
        }
        unescaped.clear();
        unescape(name, unescaped);
        unescaped
    }

    /// Returns whether the line ends here, after a field. Goes to the next line if it does, and otherwise to the
    /// next field.
    #[inline]
    fn ends_line(&mut self) -> bool {
        let is_tab = self.text.as_bytes().get(self.at) == Some(&b'\t');
        self.at = (self.at + 1).min(self.text.len());
        !is_tab
    }

    /// The text up to the next tab or line end, and the meaning of its bytes. `None` if a byte is not allowed here.
    #[inline]
    fn field(&mut self) -> Option<(&'a str, u8)> {
        let (start, mut all) = (self.at, 0);
        let bytes = self.text.as_bytes();
        let length = bytes[start..].iter().position(|&byte| {
            let meaning = MEANING[byte as usize];
            all |= meaning;
            meaning & END != 0
        });
        self.at = length.map_or(bytes.len(), |length| start + length);
        (all & FOREIGN == 0).then(|| (&self.text[start..self.at], all))
    }
}
