//! CRFsuite's data files: reading and writing.

use std::io::Write;

use crate::error::DataError;
use crate::fields::tabs;
use crate::format::Format;
use crate::lines::Lines;
use crate::number::{parse_value, write_value};
use crate::pieces::{Cut, Pieces};
use crate::reader::ReadSequences;
use crate::sequence::RawSequence;
use crate::write_error::WriteError;

pub(crate) const WEIGHT: &str = "@weight";
pub(crate) const COST: &str = "@cost";

/// Reads the files of [CRFsuite](http://www.chokkan.org/software/crfsuite/).
///
/// ```text
/// @weight:0.5
/// B-NP    w[0]=London     length:6
/// O       w[0]=\:
/// ```
///
/// * A line is a token: its label, then its attributes, all between tabs. Runs of tabs count as
///   one. A line that begins with a tab has no label; that is fine for prediction.
/// * An empty line ends a sequence; so does one with nothing but spaces.
/// * An attribute may have a value after a colon, otherwise its value is 1. An attribute may occur
///   several times in a token.
/// * `\:` and `\\` stand for `:` and `\`. Other backslashes stand for themselves. A label needs no
///   escapes, but may have them.
/// * `@weight:0.5` (or `@weight`, tab, `0.5`) on a line of its own before the first token of a
///   sequence is the example weight, a positive number.
/// * `@cost:2.5` among the attributes of a token is no attribute: a mistake at this token costs 2.5
///   times as much as elsewhere. It is a number ≥ 0, and comes once at most.
///
/// There are no comments. Two things that CRFsuite lets pass are errors here, since they are nearly
/// always a forgotten escape: a colon without a number after it, and an attribute without a name.
///
/// ```
/// use maxmargin_io::{CrfsuiteReader, Lines, RawSequence, ReadSequences};
///
/// let lines = Lines::from_reader("example", "B\tw=x\tlength:1\nO\ttime=10\\:30\n".as_bytes())?;
/// let mut reader = CrfsuiteReader::new(lines);
/// let mut sequence = RawSequence::new();
/// assert!(reader.read(&mut sequence)?);
/// assert_eq!(sequence.token(0).label(), Some("B"));
/// assert_eq!(sequence.token(1).attributes().next(), Some(("time=10:30", 1.0)));
/// assert!(!reader.read(&mut sequence)?);
/// # Ok::<(), maxmargin_io::DataError>(())
/// ```
#[derive(Debug)]
pub struct CrfsuiteReader {
    lines: Lines,
}

impl CrfsuiteReader {
    /// A reader of the rest of `lines`.
    ///
    /// ```
    /// use maxmargin_io::{CrfsuiteReader, Lines};
    /// let reader = CrfsuiteReader::new(Lines::from_reader("empty", std::io::empty())?);
    /// # Ok::<(), maxmargin_io::DataError>(())
    /// ```
    pub fn new(lines: Lines) -> Self {
        Self { lines }
    }

    /// Reads the weight from the current line, if it is a line with a weight.
    fn weight(&self) -> Result<Option<f64>, DataError> {
        let line = self.lines.line();
        let Some(rest) = line.strip_prefix(WEIGHT) else { return Ok(None) };
        if !(rest.is_empty() || rest.starts_with([':', '\t'])) {
            return Ok(None);
        }
        let mut fields = tabs(rest.get(1..).unwrap_or(""));
        let start = WEIGHT.len() + 1;
        let (at, text) = fields.next().unwrap_or((0, ""));
        let weight = match parse_value(text) {
            Ok(weight) if weight > 0.0 => weight,
            _ => {
                let byte = (start + at).min(line.len());
                return Err(self.lines.unexpected(
                    byte,
                    "a positive number as the weight of the sequence",
                    text,
                ));
            }
        };
        match fields.next() {
            Some((at, more)) => {
                Err(self.lines.unexpected(start + at, "nothing after the weight", more))
            }
            None => Ok(Some(weight)),
        }
    }

    fn token(&self, into: &mut RawSequence) -> Result<(), DataError> {
        let line = self.lines.line();
        let end = line.find('\t').unwrap_or(line.len());
        let label = &line[..end];
        if label.trim().is_empty() && !label.is_empty() {
            return Err(self.lines.unexpected(0, "a label", label));
        }
        into.push_token_with(!label.is_empty(), |labels| unescape(label, labels));
        into.set_place(self.lines.number(), 1);
        let mut has_cost = false;
        for (at, field) in tabs(&line[end..]) {
            match field.strip_prefix(COST) {
                Some(rest) if rest.is_empty() || rest.starts_with(':') => {
                    if has_cost {
                        return Err(self.lines.unexpected(end + at, "one cost at most", field));
                    }
                    into.set_cost(self.cost(end + at, rest)?);
                    has_cost = true;
                }
                _ => self.attribute(end + at, field, into)?,
            }
        }
        Ok(())
    }

    /// The cost of a token, from what comes after its name.
    fn cost(&self, at: usize, rest: &str) -> Result<f64, DataError> {
        let text = rest.get(1..).unwrap_or("");
        match parse_value(text) {
            Ok(cost) if cost >= 0.0 => Ok(cost),
            _ => {
                let byte = at + COST.len() + usize::from(!rest.is_empty());
                let expected = "a finite number ≥ 0 as the cost of the token, as in `@cost:2.5`";
                Err(self.lines.unexpected(byte, expected, text))
            }
        }
    }

    fn attribute(&self, at: usize, field: &str, into: &mut RawSequence) -> Result<(), DataError> {
        let colon = name_length(field);
        let name = &field[..colon];
        if name.is_empty() {
            return Err(self.lines.unexpected(at, "the name of an attribute", field));
        }
        let mut value = 1.0;
        if let Some(text) = field.get(colon + 1..) {
            value = match parse_value(text) {
                Ok(value) => value,
                Err(expected) => {
                    let of = crate::error::quote(name);
                    let expected = format!(
                        "{expected} as the value of attribute {of} (a colon in a name is written `\\:`)"
                    );
                    return Err(self.lines.unexpected(at + colon + 1, expected, text));
                }
            };
        }
        into.push_attribute_with(value, |names| unescape(name, names));
        Ok(())
    }
}

impl ReadSequences for CrfsuiteReader {
    fn format(&self) -> Format {
        Format::Crfsuite
    }

    fn file(&self) -> &str {
        self.lines.file()
    }

    fn line_number(&self) -> u64 {
        self.lines.number()
    }

    fn has_independent_pieces(&self) -> bool {
        true
    }

    fn take_pieces(&mut self) -> Option<Pieces> {
        let lines = self.lines.take_rest();
        Some(Pieces::new(lines, Cut::EmptyLines, |lines, _| Box::new(Self::new(lines))))
    }

    fn read(&mut self, into: &mut RawSequence) -> Result<bool, DataError> {
        into.clear();
        let mut weight = None;
        while self.lines.advance()? {
            let line = self.lines.line();
            if line.bytes().all(|b| b == b' ') {
                if into.is_empty() {
                    continue;
                }
                break;
            }
            if let Some(given) = self.weight()? {
                if !into.is_empty() || weight.is_some() {
                    let expected = "one weight at most, before the first token of a sequence";
                    return Err(self.lines.unexpected(0, expected, line));
                }
                weight = Some((given, self.lines.place(0)));
                continue;
            }
            self.token(into)?;
        }
        match weight {
            Some((_, place)) if into.is_empty() => Err(DataError::Syntax {
                place,
                expected: "a sequence after its weight".into(),
                found: "the end of the input".into(),
            }),
            Some((given, _)) => {
                into.set_weight(given);
                Ok(true)
            }
            None => Ok(!into.is_empty()),
        }
    }
}

/// Bytes before the first colon that is not escaped.
pub(crate) fn name_length(field: &str) -> usize {
    let bytes = field.as_bytes();
    let mut at = 0;
    while at < bytes.len() && bytes[at] != b':' {
        let escape = bytes[at] == b'\\' && matches!(bytes.get(at + 1), Some(b':' | b'\\'));
        at += if escape { 2 } else { 1 };
    }
    at
}

pub(crate) fn unescape(text: &str, to: &mut String) {
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        to.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        // A colon or a second backslash is taken as it is.
        let escaped = rest.chars().next().filter(|&c| c == ':' || c == '\\');
        to.push(escaped.unwrap_or('\\'));
        rest = &rest[escaped.map_or(0, char::len_utf8)..];
    }
    to.push_str(rest);
}

fn escape(text: &str, to: &mut String) {
    for c in text.chars() {
        if c == ':' || c == '\\' {
            to.push('\\');
        }
        to.push(c);
    }
}

/// Writes a sequence in the layout that [`CrfsuiteReader`] reads, with an empty line after it.
///
/// Reading it back gives the same sequence, except for its number and its comments, for which the
/// format has no place. To write predictions in place of labels, [`relabel`](RawSequence::relabel)
/// the sequence first.
///
/// # Errors
/// The output fails, or a name cannot be written in this format: one with a tab, a line end or a
/// NUL; an empty or blank label; the label `@weight`; an empty attribute name. Nothing of the
/// sequence is written then.
///
/// ```
/// use maxmargin_io::{RawSequence, write_crfsuite};
///
/// let mut sequence = RawSequence::new();
/// sequence.set_weight(0.5);
/// sequence.push_token(Some("O"));
/// sequence.push_attribute("time=10:30", 1.0);
/// sequence.push_attribute("length", 5.0);
/// let mut output = Vec::new();
/// write_crfsuite(&mut output, &sequence)?;
/// assert_eq!(output, b"@weight:0.5\nO\ttime=10\\:30\tlength:5\n\n");
/// # Ok::<(), maxmargin_io::WriteError>(())
/// ```
pub fn write_crfsuite(mut to: impl Write, sequence: &RawSequence) -> Result<(), WriteError> {
    if !(sequence.weight() > 0.0 && sequence.weight().is_finite()) {
        return Err(WriteError::Weight { weight: sequence.weight() });
    }
    let mut text = String::new();
    if sequence.weight() != 1.0 {
        text.push_str("@weight:");
        write_value(&mut text, sequence.weight());
        text.push('\n');
    }
    for token in sequence.tokens() {
        match token.label() {
            Some(label) => {
                check_label(label)?;
                escape(label, &mut text);
            }
            // Without a label and without attributes the line would be blank.
            None if token.attributes().len() == 0 && token.cost() == 1.0 => text.push('\t'),
            None => {}
        }
        if token.cost() != 1.0 {
            if !(token.cost() >= 0.0 && token.cost().is_finite()) {
                let reason = "the cost of a token must be a finite number ≥ 0";
                return Err(WriteError::attribute(Format::Crfsuite, COST, reason));
            }
            text.push_str("\t@cost:");
            write_value(&mut text, token.cost());
        }
        for (name, value) in token.attributes() {
            check_attribute(name, value)?;
            text.push('\t');
            escape(name, &mut text);
            if value != 1.0 {
                text.push(':');
                write_value(&mut text, value);
            }
        }
        text.push('\n');
    }
    text.push('\n');
    to.write_all(text.as_bytes())?;
    Ok(())
}

fn check_label(label: &str) -> Result<(), WriteError> {
    let reason = if label.trim().is_empty() {
        "a label must not be blank"
    } else if label.starts_with('\u{feff}') {
        "a label must not begin with a byte order mark"
    } else if label == WEIGHT {
        "the label would be taken for an example weight"
    } else if label.contains(UNWRITABLE) {
        "a label must not have tabs, line ends or NUL characters"
    } else {
        return Ok(());
    };
    Err(WriteError::label(Format::Crfsuite, label, reason))
}

fn check_attribute(name: &str, value: f64) -> Result<(), WriteError> {
    let reason = if name.is_empty() {
        "the name of an attribute must not be empty"
    } else if name == COST {
        "the attribute would be taken for the cost of a token"
    } else if name.contains(UNWRITABLE) {
        "the name of an attribute must not have tabs, line ends or NUL characters"
    } else if !value.is_finite() {
        "the value of an attribute must be finite"
    } else {
        return Ok(());
    };
    Err(WriteError::attribute(Format::Crfsuite, name, reason))
}

const UNWRITABLE: [char; 4] = ['\t', '\n', '\r', '\0'];

#[cfg(test)]
mod tests;
