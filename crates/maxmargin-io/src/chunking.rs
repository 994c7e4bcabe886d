//! Chunking attributes: from words and parts of speech to what a chain is trained on.
//!
//! The columns of the CoNLL-2000 shared task become the attributes of CRFsuite's chunking example:
//! words and parts of speech in a window of two tokens to each side, some pairs and triples of
//! neighbours, and marks for the first and the last token.

use std::ops::Range;

use crate::error::DataError;
use crate::fields::blanks;
use crate::format::Format;
use crate::lines::Lines;
use crate::reader::ReadSequences;
use crate::sequence::RawSequence;

/// The columns that attributes are made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Word,
    Pos,
}
use Column::{Pos, Word};

/// What an attribute is made from: columns, each at a distance from the token.
type Template = &'static [(Column, isize)];

/// One attribute per line; those that reach beyond the sentence are left out.
const TEMPLATES: [Template; 19] = [
    &[(Word, -2)],
    &[(Word, -1)],
    &[(Word, 0)],
    &[(Word, 1)],
    &[(Word, 2)],
    &[(Word, -1), (Word, 0)],
    &[(Word, 0), (Word, 1)],
    &[(Pos, -2)],
    &[(Pos, -1)],
    &[(Pos, 0)],
    &[(Pos, 1)],
    &[(Pos, 2)],
    &[(Pos, -2), (Pos, -1)],
    &[(Pos, -1), (Pos, 0)],
    &[(Pos, 0), (Pos, 1)],
    &[(Pos, 1), (Pos, 2)],
    &[(Pos, -2), (Pos, -1), (Pos, 0)],
    &[(Pos, -1), (Pos, 0), (Pos, 1)],
    &[(Pos, 0), (Pos, 1), (Pos, 2)],
];

const FIRST: &str = "__BOS__";
const LAST: &str = "__EOS__";

/// Reads columns `word POS chunk` and gives every token its chunking attributes.
///
/// * A line is a token: word, part of speech and chunk tag (the label) between blanks. The tag may
///   be absent for prediction.
/// * A blank line ends a sentence.
///
/// Attributes are called as in CRFsuite's example, such as `w[0]=London`, `w[-1]|w[0]=in|London` or
/// `pos[0]|pos[1]|pos[2]=NNP|NNS|VBD`, and all have the value 1. The first token also has
/// `__BOS__`, the last one `__EOS__`.
///
/// ```
/// use maxmargin_io::{Lines, RawSequence, ReadSequences, chunking::ConllReader};
///
/// let lines = Lines::from_reader("example", "London JJ B-NP\nshares NNS I-NP\n".as_bytes())?;
/// let mut reader = ConllReader::new(lines);
/// let mut sentence = RawSequence::new();
/// assert!(reader.read(&mut sentence)?);
/// assert_eq!(sentence.token(1).label(), Some("I-NP"));
/// let attributes: Vec<_> = sentence.token(1).attributes().map(|(name, _)| name).collect();
/// assert_eq!(
///     attributes,
///     ["w[-1]=London", "w[0]=shares", "w[-1]|w[0]=London|shares", "pos[-1]=JJ", "pos[0]=NNS", "pos[-1]|pos[0]=JJ|NNS", "__EOS__"],
/// );
/// # Ok::<(), maxmargin_io::DataError>(())
/// ```
#[derive(Debug)]
pub struct ConllReader {
    lines: Lines,
    /// What stands before the value in an attribute's name, such as `w[-1]|w[0]=`, for every
    /// template.
    prefixes: Vec<String>,
    rows: Rows,
}

/// The columns of the sentence at hand.
#[derive(Debug, Default)]
struct Rows {
    text: String,
    tokens: Vec<Row>,
}

/// Where the columns of a token are in the text, and where it came from.
#[derive(Debug)]
struct Row {
    word: Range<usize>,
    pos: Range<usize>,
    tag: Option<Range<usize>>,
    line: u64,
    tag_column: u64,
}

impl Rows {
    fn push(&mut self, text: &str) -> Range<usize> {
        let start = self.text.len();
        self.text.push_str(text);
        start..self.text.len()
    }

    fn value(&self, column: Column, t: usize) -> &str {
        let row = &self.tokens[t];
        let range = match column {
            Word => &row.word,
            Pos => &row.pos,
        };
        &self.text[range.clone()]
    }

    /// The token at a distance from `t`, if the sentence has it.
    fn neighbour(&self, t: usize, offset: isize) -> Option<usize> {
        t.checked_add_signed(offset).filter(|&at| at < self.tokens.len())
    }
}

impl ConllReader {
    /// A reader of the rest of `lines`.
    ///
    /// ```
    /// use maxmargin_io::{Lines, chunking::ConllReader};
    /// let reader = ConllReader::new(Lines::from_reader("empty", std::io::empty())?);
    /// # Ok::<(), maxmargin_io::DataError>(())
    /// ```
    pub fn new(lines: Lines) -> Self {
        Self {
            lines,
            prefixes: TEMPLATES.iter().copied().map(prefix).collect(),
            rows: Rows::default(),
        }
    }

    /// Adds the current line to the sentence at hand.
    fn row(&mut self) -> Result<(), DataError> {
        let line = self.lines.line();
        let mut fields = blanks(line);
        let (_, word) = fields.next().unwrap_or((0, ""));
        let Some((_, pos)) = fields.next() else {
            let expected = "the columns word, part of speech and chunk tag";
            return Err(self.lines.unexpected(line.len(), expected, ""));
        };
        let tag = fields.next();
        if let Some((at, more)) = fields.next() {
            return Err(self.lines.unexpected(at, "three columns at most", more));
        }
        let row = Row {
            word: self.rows.push(word),
            pos: self.rows.push(pos),
            tag: tag.map(|(_, tag)| self.rows.push(tag)),
            line: self.lines.number(),
            tag_column: self.lines.place(tag.map_or(line.len(), |(at, _)| at)).column,
        };
        self.rows.tokens.push(row);
        Ok(())
    }

    /// Turns the sentence at hand into tokens with attributes.
    fn generate(&self, into: &mut RawSequence) {
        let rows = &self.rows;
        for (t, row) in rows.tokens.iter().enumerate() {
            into.push_token(row.tag.clone().map(|range| &rows.text[range]));
            into.set_place(row.line, row.tag_column);
            for (template, prefix) in TEMPLATES.iter().zip(&self.prefixes) {
                if template.iter().any(|&(_, offset)| rows.neighbour(t, offset).is_none()) {
                    continue;
                }
                into.push_attribute_with(1.0, |name| {
                    name.push_str(prefix);
                    let tokens =
                        template.iter().filter_map(|&(c, o)| Some((c, rows.neighbour(t, o)?)));
                    for (i, (column, at)) in tokens.enumerate() {
                        if i > 0 {
                            name.push('|');
                        }
                        name.push_str(rows.value(column, at));
                    }
                });
            }
            if t == 0 {
                into.push_attribute(FIRST, 1.0);
            }
            if t + 1 == rows.tokens.len() {
                into.push_attribute(LAST, 1.0);
            }
        }
    }
}

/// The name of a template with the sign of equality.
fn prefix(template: Template) -> String {
    let parts: Vec<String> = template
        .iter()
        .map(|&(column, offset)| match column {
            Word => format!("w[{offset}]"),
            Pos => format!("pos[{offset}]"),
        })
        .collect();
    parts.join("|") + "="
}

impl ReadSequences for ConllReader {
    fn format(&self) -> Format {
        Format::Conll
    }

    fn file(&self) -> &str {
        self.lines.file()
    }

    fn line_number(&self) -> u64 {
        self.lines.number()
    }

    fn read(&mut self, into: &mut RawSequence) -> Result<bool, DataError> {
        into.clear();
        self.rows.text.clear();
        self.rows.tokens.clear();
        while self.lines.advance()? {
            if blanks(self.lines.line()).next().is_some() {
                self.row()?;
            } else if !self.rows.tokens.is_empty() {
                break;
            }
        }
        self.generate(into);
        Ok(!into.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        let lines = Lines::from_reader("f", std::io::Cursor::new(text.to_owned())).unwrap();
        let mut sentence = RawSequence::new();
        assert!(ConllReader::new(lines).read(&mut sentence).unwrap());
        let line =
            |t: crate::RawToken<'_>| t.attributes().map(|(n, _)| n).collect::<Vec<_>>().join(" ");
        sentence.tokens().map(line).collect()
    }

    fn error(text: &str) -> String {
        let lines = Lines::from_reader("f", std::io::Cursor::new(text.to_owned())).unwrap();
        let mut sentence = RawSequence::new();
        ConllReader::new(lines).read(&mut sentence).unwrap_err().to_string()
    }

    #[test]
    fn a_token_in_the_middle_has_all_nineteen() {
        let middle = &names("a A x\nb B x\nc C y\nd D z\ne E z\n")[2];
        assert_eq!(
            middle,
            "w[-2]=a w[-1]=b w[0]=c w[1]=d w[2]=e w[-1]|w[0]=b|c w[0]|w[1]=c|d \
             pos[-2]=A pos[-1]=B pos[0]=C pos[1]=D pos[2]=E \
             pos[-2]|pos[-1]=A|B pos[-1]|pos[0]=B|C pos[0]|pos[1]=C|D pos[1]|pos[2]=D|E \
             pos[-2]|pos[-1]|pos[0]=A|B|C pos[-1]|pos[0]|pos[1]=B|C|D pos[0]|pos[1]|pos[2]=C|D|E"
        );
    }

    #[test]
    fn a_lone_token_is_first_and_last() {
        assert_eq!(names("\n\n: : O\n\n"), ["w[0]=: pos[0]=: __BOS__ __EOS__"]);
    }

    #[test]
    fn columns_are_counted() {
        assert_eq!(names("a\tA\n"), ["w[0]=a pos[0]=A __BOS__ __EOS__"]);
        assert_eq!(
            error("a A x\nä\n"),
            "f:2:2: expected the columns word, part of speech and chunk tag, found nothing"
        );
        assert_eq!(error("ä A x y\n"), "f:1:7: expected three columns at most, found `y`");
    }
}
