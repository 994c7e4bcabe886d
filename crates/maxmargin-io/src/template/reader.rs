//! Reads columns, and makes attributes of them.

use super::{Piece, Template};
use crate::columns::Layout;
use crate::error::DataError;
use crate::fields::blanks;
use crate::format::Format;
use crate::kept_lines::{KeptLines, LineKind};
use crate::lines::Lines;
use crate::pieces::{Cut, Pieces};
use crate::reader::ReadSequences;
use crate::sequence::RawSequence;
use std::fmt::Write as _;
use std::ops::Range;

/// Reads columns between blanks and gives every token the attributes of a [`Template`].
///
/// All lines have the same number of columns, of which the last is the label. If the template knows the number of
/// columns in training, a file with one column less has no labels. A blank line ends a sequence.
///
/// ```
/// use maxmargin_io::{Lines, RawSequence, ReadSequences, Template, TemplateReader};
///
/// let template = Template::read(Lines::from_reader("t", "U0:%x[-1,0]/%x[0,1]\n".as_bytes())?)?;
/// let text = "the DT B-NP\ncat NN I-NP\n";
/// let mut reader = TemplateReader::new(Lines::from_reader("f", text.as_bytes())?, template);
/// let mut sentence = RawSequence::new();
/// assert!(reader.read(&mut sentence)?);
/// let first = |t: usize| sentence.token(t).attributes().next().map(|(name, _)| name.to_owned());
/// assert_eq!(first(0).as_deref(), Some("U0:_B-1/DT"));
/// assert_eq!(first(1).as_deref(), Some("U0:the/NN"));
/// assert_eq!(sentence.token(1).label(), Some("I-NP"));
/// assert_eq!(reader.template().and_then(|template| template.columns()), Some(3));
/// # Ok::<(), maxmargin_io::DataError>(())
/// ```
#[derive(Debug)]
pub struct TemplateReader {
    lines: Lines,
    template: Template,
    /// The columns of the current sentence, one after the other.
    text: String,
    cells: Vec<Range<usize>>,
    tokens: Vec<Row>,
    kept: Option<KeptLines>,
    /// An error that was found while looking ahead.
    failed: Option<DataError>,
}

/// The place and number of a token's columns, and the line that it came from.
#[derive(Debug, Clone, Copy)]
struct Row {
    first: usize,
    columns: usize,
    line: u64,
    label_column: u64,
}

impl TemplateReader {
    /// A reader of the rest of `lines`, for a template that was read from a file;
    /// [`Template::open`] also applies those that are built in.
    pub fn new(lines: Lines, template: Template) -> Self {
        let (text, cells, tokens) = (String::new(), Vec::new(), Vec::new());
        Self { lines, template, text, cells, tokens, kept: None, failed: None }
    }

    /// Finds out the number of columns from the first line that is not blank.
    fn find_columns(&mut self) -> Result<(), DataError> {
        if self.template.columns.is_some() {
            return Ok(());
        }
        let mut offset = 1;
        while let Some(line) = self.lines.peek(offset)? {
            let columns = blanks(line).count();
            if columns > 0 {
                self.template.columns = Some(columns);
                break;
            }
            offset += 1;
        }
        Ok(())
    }

    fn keep(&mut self, what: LineKind) {
        if let Some(kept) = &mut self.kept {
            kept.push(self.lines.line(), what);
        }
    }

    /// Adds the current line to the current sentence.
    fn row(&mut self) -> Result<(), DataError> {
        let (line, first) = (self.lines.line(), self.cells.len());
        let mut last = 0;
        for (at, cell) in blanks(line) {
            let start = self.text.len();
            self.text.push_str(cell);
            self.cells.push(start..self.text.len());
            last = at;
        }
        let columns = self.cells.len() - first;
        let trained = *self.template.columns.get_or_insert(columns);
        let least = self.template.last_column() + 1;
        let unlabelled = columns + 1 == trained && columns >= least;
        if columns != trained && !unlabelled {
            let expected = format!("{trained} columns, as in the lines before or in training");
            return Err(self.lines.unexpected(line.len(), expected, &format!("{columns}")));
        }
        if trained <= least {
            let needed = format!(
                "at least {} columns: the template looks at column {} in its line `{}`, and the \
                 label comes last",
                least + 1,
                least - 1,
                self.template.line_of_column(least - 1),
            );
            return Err(self.lines.unexpected(line.len(), needed, &format!("{columns}")));
        }
        let label_column = self.lines.place(if unlabelled { line.len() } else { last }).column;
        let line = self.lines.number();
        self.tokens.push(Row { first, columns, line, label_column });
        Ok(())
    }

    fn cell(&self, t: usize, column: usize) -> &str {
        &self.text[self.cells[self.tokens[t].first + column].clone()]
    }

    /// Converts the current sentence to tokens with attributes.
    fn generate(&self, into: &mut RawSequence) {
        for (t, row) in self.tokens.iter().enumerate() {
            let labelled = Some(row.columns) == self.template.columns;
            into.push_token(labelled.then(|| self.cell(t, row.columns - 1)));
            into.set_place(row.line, row.label_column);
            for pieces in &self.template.unigrams {
                into.push_attribute_with(1.0, |name| {
                    pieces.iter().for_each(|piece| self.expand(piece, t, name));
                });
            }
        }
    }

    fn expand(&self, piece: &Piece, t: usize, name: &mut String) {
        match *piece {
            Piece::Text(ref text) => name.push_str(text),
            Piece::Column { row, column } => match t as isize + row {
                at if at < 0 => {
                    let _ = write!(name, "_B{at}");
                }
                at if at as usize >= self.tokens.len() => {
                    let _ = write!(name, "_B+{}", at as usize + 1 - self.tokens.len());
                }
                at => name.push_str(self.cell(at as usize, column)),
            },
        }
    }
}

impl ReadSequences for TemplateReader {
    fn format(&self) -> Format {
        Format::Conll
    }

    fn file(&self) -> &str {
        self.lines.file()
    }

    fn line_number(&self) -> u64 {
        self.lines.number()
    }

    fn template(&self) -> Option<&Template> {
        Some(&self.template)
    }

    fn keep_lines(&mut self) -> bool {
        self.kept.get_or_insert_default();
        true
    }

    fn kept_lines(&self) -> Option<&KeptLines> {
        self.kept.as_ref()
    }

    fn take_pieces(&mut self) -> Option<Pieces> {
        if self.kept.is_some() || self.failed.is_some() {
            return None;
        }
        if let Err(error) = self.find_columns() {
            self.failed = Some(error);
            return None;
        }
        let (lines, template) = (self.lines.take_rest(), self.template.clone());
        Some(Pieces::new(lines, Cut::EmptyLines, move |lines, _| {
            Box::new(Self::new(lines, template.clone()))
        }))
    }

    fn read(&mut self, into: &mut RawSequence) -> Result<bool, DataError> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        into.clear();
        self.text.clear();
        self.cells.clear();
        self.tokens.clear();
        if let Some(kept) = &mut self.kept {
            kept.clear();
        }
        while self.lines.advance()? {
            if blanks(self.lines.line()).next().is_some() {
                self.row()?;
                self.keep(LineKind::Token(Layout::Blanks));
            } else {
                self.keep(LineKind::Other);
                if !self.tokens.is_empty() {
                    break;
                }
            }
        }
        self.generate(into);
        Ok(!into.is_empty())
    }
}
