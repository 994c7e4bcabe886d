//! Chunking attributes: from words and parts of speech to what a chain is trained on.
//!
//! The columns of the CoNLL-2000 shared task become the attributes of CRFsuite's chunking example:
//! words and parts of speech in a window of two tokens to each side, some pairs and triples of
//! neighbours, and marks for the first and the last token.

use crate::columns::{Attributes, Layout, Sentence, chunking_attributes};
use crate::error::DataError;
use crate::fields::blanks;
use crate::format::Format;
use crate::kept_lines::{KeptLines, LineKind};
use crate::lines::{Lines, column};
use crate::reader::ReadSequences;
use crate::sequence::RawSequence;

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
///
/// Every line is a token here, whatever it looks like, as it was before there were other templates:
/// models of that time are used with this reader. New ones are trained with a
/// [`ColumnsReader`](crate::ColumnsReader) and the template
/// [`chunking`](crate::BuiltInTemplate::Chunking), which makes the same attributes.
#[derive(Debug)]
pub struct ConllReader {
    lines: Lines,
    attributes: Attributes,
    sentence: Sentence,
    kept: Option<KeptLines>,
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
        let (attributes, sentence) = (chunking_attributes(), Sentence::default());
        Self { lines, attributes, sentence, kept: None }
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
        let column = column(line, tag.map_or(line.len(), |(at, _)| at));
        self.sentence.push_token(self.lines.number(), column);
        self.sentence.push_cell(word);
        self.sentence.push_cell(pos);
        if let Some((_, tag)) = tag {
            self.sentence.set_label(tag);
        }
        Ok(())
    }

    fn keep(&mut self, what: LineKind) {
        if let Some(kept) = &mut self.kept {
            kept.push(self.lines.line(), what);
        }
    }
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

    fn keep_lines(&mut self) -> bool {
        self.kept.get_or_insert_default();
        true
    }

    fn kept_lines(&self) -> Option<&KeptLines> {
        self.kept.as_ref()
    }

    fn read(&mut self, into: &mut RawSequence) -> Result<bool, DataError> {
        into.clear();
        self.sentence.clear();
        if let Some(kept) = &mut self.kept {
            kept.clear();
        }
        while self.lines.advance()? {
            if blanks(self.lines.line()).next().is_some() {
                self.row()?;
                self.keep(LineKind::Token(Layout::Blanks));
            } else {
                self.keep(LineKind::Other);
                if !self.sentence.is_empty() {
                    break;
                }
            }
        }
        self.attributes.write_all(&self.sentence, into);
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
