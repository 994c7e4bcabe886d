//! SVM-HMM's data files: reading and writing.

use std::io::Write;

use crate::error::DataError;
use crate::fields::{Fields, blanks};
use crate::format::Format;
use crate::groups::Groups;
use crate::lines::Lines;
use crate::number::parse_index;
use crate::numbered::{canonical, push_index, read_features, split_comment, write_features};
use crate::pieces::{Cut, Pieces};
use crate::reader::ReadSequences;
use crate::sequence::RawSequence;
use crate::write_error::WriteError;

/// Reads the files of [SVM-HMM](https://www.cs.cornell.edu/people/tj/svm_light/svm_hmm.html).
///
/// ```text
/// 1 qid:1 1:1 3:0.5   # The
/// 2 qid:1 2:-1        # dog
/// 1 qid:2 1:1
/// ```
///
/// * A line is a token: its tag (the label), the number of its sequence, then `feature:value`
///   pairs, all between blanks, and perhaps a comment after `#`. Lines with nothing but a comment
///   are skipped, and so are blank lines.
/// * Tags are whole numbers from 0 (SVM-HMM wants them from 1). Features are numbered from 1, in
///   strictly increasing order within a line; those that are absent have the value 0.
/// * A sequence ends where `qid` changes. A `qid` that comes back later is an error.
///
/// Names of labels and attributes are the numbers, without leading zeros. In training, labels are
/// put in numeric order.
///
/// ```
/// use maxmargin_io::{Lines, RawSequence, ReadSequences, SvmHmmReader};
///
/// let lines = Lines::from_reader("example", "1 qid:1 1:1 3:0.5 # The\n2 qid:1\n1 qid:2\n".as_bytes())?;
/// let mut reader = SvmHmmReader::new(lines);
/// let mut sequence = RawSequence::new();
/// assert!(reader.read(&mut sequence)?);
/// assert_eq!((sequence.id(), sequence.len()), (Some(1), 2));
/// assert_eq!(sequence.token(0).attributes().collect::<Vec<_>>(), [("1", 1.0), ("3", 0.5)]);
/// assert_eq!(sequence.token(0).comment(), Some(" The"));
/// # Ok::<(), maxmargin_io::DataError>(())
/// ```
#[derive(Debug)]
pub struct SvmHmmReader {
    lines: Lines,
    groups: Groups,
}

/// The name of the number of a sequence in messages.
const QID: &str = "qid";

/// The number of the sequence that a line belongs to.
fn number_of(line: &[u8]) -> Option<u64> {
    let (data, _) = split_comment(std::str::from_utf8(line).ok()?);
    blanks(data).nth(1)?.1.strip_prefix("qid:").and_then(parse_index)
}

/// The first two fields of a line.
struct Head {
    tag: u64,
    tag_at: usize,
    qid: u64,
    qid_at: usize,
}

impl SvmHmmReader {
    /// A reader of the rest of `lines`.
    ///
    /// ```
    /// use maxmargin_io::{Lines, SvmHmmReader};
    /// let reader = SvmHmmReader::new(Lines::from_reader("empty", std::io::empty())?);
    /// # Ok::<(), maxmargin_io::DataError>(())
    /// ```
    pub fn new(lines: Lines) -> Self {
        Self { lines, groups: Groups::new(QID) }
    }

    fn head(&self, fields: &mut Fields<'_>, end: usize) -> Result<Head, DataError> {
        let (tag_at, text) = fields.next().unwrap_or((end, ""));
        let tag = parse_index(text).ok_or_else(|| {
            self.lines.unexpected(tag_at, "a tag, which is a whole number from 0", text)
        })?;
        let (qid_at, text) = fields.next().unwrap_or((end, ""));
        let qid = text.strip_prefix("qid:").and_then(parse_index).ok_or_else(|| {
            self.lines.unexpected(qid_at, "`qid:` and the number of the sequence", text)
        })?;
        Ok(Head { tag, tag_at, qid, qid_at })
    }
}

impl ReadSequences for SvmHmmReader {
    fn format(&self) -> Format {
        Format::SvmHmm
    }

    fn file(&self) -> &str {
        self.lines.file()
    }

    fn line_number(&self) -> u64 {
        self.lines.number()
    }

    fn take_pieces(&mut self) -> Option<Pieces> {
        let lines = self.lines.take_rest();
        Some(Pieces::new(lines, Cut::Numbers(number_of), |lines, known| {
            Box::new(Self { lines, groups: Groups::after(QID, known.begun) })
        }))
    }

    fn read(&mut self, into: &mut RawSequence) -> Result<bool, DataError> {
        into.clear();
        while self.groups.advance(&mut self.lines, !into.is_empty())? {
            let (data, comment) = split_comment(self.lines.line());
            let mut fields = blanks(data);
            if fields.clone().next().is_none() {
                continue;
            }
            let head = self.head(&mut fields, data.len())?;
            if into.is_empty() {
                self.groups.begin(head.qid, &self.lines, head.qid_at)?;
                into.set_id(Some(head.qid));
            } else if into.id() != Some(head.qid) {
                self.lines.hold();
                return Ok(true);
            }
            into.push_token_with(true, |labels| push_index(labels, head.tag));
            into.set_place(self.lines.number(), self.lines.place(head.tag_at).column);
            read_features(&self.lines, fields, into)?;
            if let Some(comment) = comment {
                into.set_comment(comment);
            }
        }
        Ok(!into.is_empty())
    }
}

/// Writes a sequence in the layout that [`SvmHmmReader`] reads.
///
/// The sequence needs a number ([`set_id`](RawSequence::set_id)) that no other sequence of the file
/// has. Attributes are put in increasing order. Reading it back gives the same sequence. To write
/// predictions in place of labels, [`relabel`](RawSequence::relabel) the sequence first.
///
/// # Errors
/// The output fails, or the format cannot express the sequence: it has no number, a weight other
/// than 1, a token without a label, a label or an attribute that is not a number, an attribute
/// twice in a token, or a comment of several lines. Nothing of the sequence is written then.
///
/// ```
/// use maxmargin_io::{RawSequence, write_svm_hmm};
///
/// let mut sequence = RawSequence::new();
/// sequence.set_id(Some(7));
/// sequence.push_token(Some("2"));
/// sequence.push_attribute("10", 0.5);
/// let mut output = Vec::new();
/// write_svm_hmm(&mut output, &sequence)?;
/// assert_eq!(output, b"2 qid:7 10:0.5\n");
/// # Ok::<(), maxmargin_io::WriteError>(())
/// ```
pub fn write_svm_hmm(mut to: impl Write, sequence: &RawSequence) -> Result<(), WriteError> {
    let format = Format::SvmHmm;
    let qid = sequence.id().ok_or(WriteError::NoId { format })?;
    if sequence.weight() != 1.0 {
        return Err(WriteError::Weight { weight: sequence.weight() });
    }
    let mut text = String::new();
    for token in sequence.tokens() {
        let label = token.label().ok_or(WriteError::NoLabel { format })?;
        let tag = canonical(label)
            .ok_or_else(|| WriteError::label(format, label, "a tag is a whole number from 0"))?;
        push_index(&mut text, tag);
        text.push_str(" qid:");
        push_index(&mut text, qid);
        write_features(&mut text, &token, format)?;
        text.push('\n');
    }
    to.write_all(text.as_bytes())?;
    Ok(())
}

#[cfg(test)]
mod tests;
