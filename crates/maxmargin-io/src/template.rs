//! Feature templates in CRF++'s syntax, and the reader of columns that applies them.
//!
//! A template file says how the attributes of a token are made from the columns around it:
//!
//! ```text
//! # words: the one before, this one, and both
//! U01:%x[-1,0]
//! U02:%x[0,0]
//! U03:%x[-1,0]/%x[0,0]
//! # transitions
//! B
//! ```
//!
//! `%x[row,column]` stands for a column (from 0) of the token `row` places further on; beyond the
//! sentence it is `_B-1`, `_B-2`, … before and `_B+1`, `_B+2`, … behind. The attribute's name is the
//! whole expanded line, such as `U03:the/cat`. `B` on its own asks for transitions between labels;
//! bigram templates that look at columns are not supported, and refused.

mod reader;

use crate::error::DataError;
use crate::lines::Lines;
use serde::{Deserialize, Serialize};

pub use reader::TemplateReader;

/// A template, ready to be applied.
///
/// ```
/// use maxmargin_io::{Lines, Template};
///
/// let text = "U00:%x[0,0]\nU01:%x[-1,0]/%x[0,1]\nB\n";
/// let template = Template::read(Lines::from_reader("chunks.tpl", text.as_bytes())?)?;
/// assert!(template.has_transitions());
///
/// let wrong = Lines::from_reader("chunks.tpl", "U00:%x[0]\n".as_bytes())?;
/// assert_eq!(
///     Template::read(wrong).unwrap_err().to_string(),
///     "chunks.tpl:1:5: expected %x[row,column] with two whole numbers, found `%x[0]`",
/// );
/// # Ok::<(), maxmargin_io::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct Template {
    /// The lines as they were written, comments left out.
    source: Vec<String>,
    unigrams: Vec<Vec<Piece>>,
    transitions: bool,
    /// Number of columns of the training data, the label included.
    columns: Option<usize>,
}

/// A template as it is stored with a model.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    lines: Vec<String>,
    columns: Option<usize>,
}

impl From<Template> for Stored {
    fn from(template: Template) -> Self {
        Self { lines: template.source, columns: template.columns }
    }
}

impl TryFrom<Stored> for Template {
    type Error = DataError;

    fn try_from(stored: Stored) -> Result<Self, DataError> {
        let text = stored.lines.join("\n");
        let lines = Lines::from_reader("the template of the model", std::io::Cursor::new(text))?;
        Ok(Self { columns: stored.columns, ..Self::read(lines)? })
    }
}

/// A piece of an attribute's name.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Column { row: isize, column: usize },
}

impl Template {
    /// Reads a template file.
    ///
    /// # Errors
    /// Whatever cannot be read or understood, with its place.
    pub fn read(mut lines: Lines) -> Result<Self, DataError> {
        let mut template =
            Self { source: Vec::new(), unigrams: Vec::new(), transitions: false, columns: None };
        while lines.advance()? {
            let line = lines.line().trim_end();
            match line.chars().next() {
                None | Some('#') => continue,
                Some('U') => template.unigrams.push(pieces(&lines, line)?),
                Some('B') if line.contains("%x") => {
                    let expected =
                        "`B` without columns, for transitions (others are not supported)";
                    return Err(lines.unexpected(0, expected, line));
                }
                Some('B') => template.transitions = true,
                Some(_) => {
                    let expected = "a line that begins with U, B or #";
                    return Err(lines.unexpected(0, expected, line));
                }
            }
            template.source.push(line.to_owned());
        }
        if template.unigrams.is_empty() && !template.transitions {
            let (file, lines) = (lines.file().to_owned(), lines.number());
            return Err(DataError::EmptyTemplate { file, lines });
        }
        Ok(template)
    }

    /// Whether the template asks for transitions between labels.
    pub fn has_transitions(&self) -> bool {
        self.transitions
    }

    /// How many columns the training data had, the label included, if that is known yet.
    ///
    /// ```
    /// use maxmargin_io::{Lines, Template};
    /// let template = Template::read(Lines::from_reader("t", "U:%x[0,0]\n".as_bytes())?)?;
    /// assert_eq!(template.columns(), None);
    /// assert_eq!(template.for_columns(3).columns(), Some(3));
    /// # Ok::<(), maxmargin_io::DataError>(())
    /// ```
    pub fn columns(&self) -> Option<usize> {
        self.columns
    }

    /// The same template for data of so many columns, the label included.
    #[must_use]
    pub fn for_columns(self, columns: usize) -> Self {
        Self { columns: Some(columns), ..self }
    }

    /// The largest column that it looks at.
    fn last_column(&self) -> usize {
        let pieces = self.unigrams.iter().flatten();
        let columns = pieces.filter_map(|piece| match piece {
            Piece::Column { column, .. } => Some(*column),
            Piece::Text(_) => None,
        });
        columns.max().unwrap_or(0)
    }
}

/// Cuts a line at its columns.
fn pieces(lines: &Lines, line: &str) -> Result<Vec<Piece>, DataError> {
    const OPEN: &str = "%x[";
    let (mut pieces, mut at) = (Vec::new(), 0);
    while let Some(found) = line[at..].find(OPEN) {
        let start = at + found;
        let inside = &line[start + OPEN.len()..];
        let close = inside.find(']').unwrap_or(inside.len());
        let numbers = inside[..close].split_once(',').and_then(|(row, column)| {
            Some((row.trim().parse::<isize>().ok()?, column.trim().parse::<usize>().ok()?))
        });
        let Some((row, column)) = numbers.filter(|_| close < inside.len()) else {
            let end = (start + OPEN.len() + close + 1).min(line.len());
            let expected = "%x[row,column] with two whole numbers";
            return Err(lines.unexpected(start, expected, &line[start..end]));
        };
        pieces.push(Piece::Text(line[at..start].to_owned()));
        pieces.push(Piece::Column { row, column });
        at = start + OPEN.len() + close + 1;
    }
    pieces.push(Piece::Text(line[at..].to_owned()));
    Ok(pieces)
}

#[cfg(test)]
mod tests;
