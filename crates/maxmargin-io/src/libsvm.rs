//! LIBSVM's data files, with one label per row or with several: reading and writing.

use std::io::Write;

use crate::error::DataError;
use crate::fields::blanks;
use crate::format::Format;
use crate::lines::Lines;
use crate::numbered::{read_features, split_comment, write_features};
use crate::pieces::{Cut, Pieces};
use crate::reader::ReadSequences;
use crate::sequence::RawSequence;
use crate::write_error::WriteError;

/// Reads the files of [LIBSVM and LIBLINEAR](https://www.csie.ntu.edu.tw/~cjlin/libsvm/), one row per
/// line.
///
/// ```text
/// +1 1:0.5 3:1        # one label per row: the format libsvm
/// -1 2:-1
/// ```
/// ```text
/// 2,7 1:0.5 3:1       # a list of labels: the format multilabel
/// 1:0.25              # no label at all
/// ```
///
/// * A line is a row: its label (numbers or any other words) or its labels between commas, then
///   `feature:value` pairs, all between blanks, and perhaps a comment after `#`. Blank lines and
///   lines with nothing but a comment are skipped.
/// * Features are numbered from 1, in strictly increasing order within a line; those that are absent
///   have the value 0.
/// * A line that begins with a feature has no label: in `libsvm` that is for data to predict, in
///   `multilabel` it is an empty list.
///
/// Each row is given as a sequence of one token. Labels are kept as they are written, a list of them
/// as one text with its commas; [`read_rows`](crate::read_rows) takes it apart.
///
/// ```
/// use maxmargin_io::{Format, LibsvmReader, Lines, RawSequence, ReadSequences};
///
/// let lines = Lines::from_reader("example", "2,7 1:0.5 3:1\n".as_bytes())?;
/// let mut reader = LibsvmReader::new(lines, Format::Multilabel);
/// let mut row = RawSequence::new();
/// assert!(reader.read(&mut row)?);
/// assert_eq!((row.len(), row.token(0).label()), (1, Some("2,7")));
/// assert_eq!(row.token(0).attributes().collect::<Vec<_>>(), [("1", 0.5), ("3", 1.0)]);
/// # Ok::<(), maxmargin_io::DataError>(())
/// ```
#[derive(Debug)]
pub struct LibsvmReader {
    lines: Lines,
    many: bool,
}

impl LibsvmReader {
    /// A reader of the rest of `lines`, with lists of labels if the format is
    /// [`Multilabel`](Format::Multilabel), else with one label per row.
    ///
    /// ```
    /// use maxmargin_io::{Format, LibsvmReader, Lines};
    /// let lines = Lines::from_reader("empty", std::io::empty())?;
    /// let reader = LibsvmReader::new(lines, Format::Libsvm);
    /// # Ok::<(), maxmargin_io::DataError>(())
    /// ```
    pub fn new(lines: Lines, format: Format) -> Self {
        Self { lines, many: format == Format::Multilabel }
    }

    /// Refuses a text at `at` that is not a label, or not a list of labels.
    fn check_labels(&self, at: usize, text: &str) -> Result<(), DataError> {
        if !self.many {
            if text.contains(',') {
                let expected = "one label (lists of labels have the format multilabel)";
                return Err(self.lines.unexpected(at, expected, text));
            }
            return Ok(());
        }
        let mut before = 0;
        for label in text.split(',') {
            if label.is_empty() {
                let expected = "labels between commas, without blanks";
                return Err(self.lines.unexpected(at + before, expected, text));
            }
            before += label.len() + 1;
        }
        Ok(())
    }
}

impl ReadSequences for LibsvmReader {
    fn format(&self) -> Format {
        if self.many { Format::Multilabel } else { Format::Libsvm }
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
        let (lines, many) = (self.lines.take_rest(), self.many);
        Some(Pieces::new(lines, Cut::Lines, move |lines, _| Box::new(Self { lines, many })))
    }

    fn read(&mut self, into: &mut RawSequence) -> Result<bool, DataError> {
        into.clear();
        while self.lines.advance()? {
            let (data, comment) = split_comment(self.lines.line());
            let mut fields = blanks(data).peekable();
            let Some(&(at, first)) = fields.peek() else { continue };
            let labels = (!first.contains(':')).then_some(first);
            if let Some(labels) = labels {
                self.check_labels(at, labels)?;
                fields.next();
            }
            into.push_token(labels);
            into.set_place(self.lines.number(), self.lines.place(at).column);
            read_features(&self.lines, fields, into)?;
            if let Some(comment) = comment {
                into.set_comment(comment);
            }
            return Ok(true);
        }
        Ok(false)
    }
}

/// Writes a sequence of one token as a row in the layout that [`LibsvmReader`] reads; the format
/// says whether its label is a list.
///
/// Attributes are put in increasing order. Reading it back gives the same row.
///
/// # Errors
/// The output fails, or the format cannot express the row: it has not exactly one token, a weight
/// other than 1, a label or an attribute that cannot be written, an attribute twice, a comment of
/// several lines, or neither labels nor attributes. Nothing is written then.
///
/// ```
/// use maxmargin_io::{Format, RawSequence, write_libsvm};
///
/// let mut row = RawSequence::new();
/// row.push_token(Some("+1"));
/// row.push_attribute("10", 0.5);
/// let mut output = Vec::new();
/// write_libsvm(&mut output, &row, Format::Libsvm)?;
/// assert_eq!(output, b"+1 10:0.5\n");
/// # Ok::<(), maxmargin_io::WriteError>(())
/// ```
pub fn write_libsvm(
    mut to: impl Write,
    row: &RawSequence,
    format: Format,
) -> Result<(), WriteError> {
    if row.len() != 1 {
        return Err(WriteError::NotARow { format, tokens: row.len() });
    }
    if row.weight() != 1.0 {
        return Err(WriteError::Weight { weight: row.weight() });
    }
    let token = row.token(0);
    let mut text = String::new();
    if let Some(label) = token.label() {
        let many = format == Format::Multilabel;
        let unreadable = |c: char| matches!(c, ' ' | '\t' | '\n' | '\r' | '\0' | '#' | ':');
        let reason = if label.contains(unreadable) {
            "a label must not have blanks, line ends, NUL characters, `#` or `:`"
        } else if label.is_empty() || (many && label.split(',').any(str::is_empty)) {
            "a label must not be empty"
        } else if !many && label.contains(',') {
            "a label must not have commas"
        } else {
            ""
        };
        if !reason.is_empty() {
            return Err(WriteError::label(format, label, reason));
        }
        text.push_str(label);
    } else if token.attributes().len() == 0 {
        return Err(WriteError::NoLabel { format });
    }
    write_features(&mut text, &token, format)?;
    text.push('\n');
    to.write_all(text.trim_start_matches(' ').as_bytes())?;
    Ok(())
}

#[cfg(test)]
mod tests;
