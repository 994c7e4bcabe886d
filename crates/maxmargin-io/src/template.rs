//! Feature templates in CRF++'s syntax. A reader of columns applies them.
//!
//! A template file defines how the attributes of a token are made from the columns around it:
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
//!
//! Templates that are [built in](crate::BuiltInTemplate) make attributes that this syntax cannot
//! express.

mod reader;

use crate::columns::{
    BuiltInTemplate, ColumnRules, ColumnsReader, Layout, StoredRules, choose, rules,
};
use crate::error::DataError;
use crate::format::Format;
use crate::lines::Lines;
use crate::reader::ReadSequences;
use serde::{Deserialize, Serialize};

pub use reader::TemplateReader;

/// A template that can be applied.
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
    /// The lines as they were written, without comments.
    source: Vec<String>,
    unigrams: Vec<Vec<Piece>>,
    transitions: bool,
    /// Number of columns of the training data, including the label.
    columns: Option<usize>,
    /// The rules that make the attributes in place of `unigrams`, if the template is built in.
    rules: Option<ColumnRules>,
}

/// A template as it is stored with a model.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    lines: Vec<String>,
    columns: Option<usize>,
    /// The rules of a built-in template, whose lines are not in CRF++'s syntax.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    built_in: Option<StoredRules>,
}

impl From<Template> for Stored {
    fn from(template: Template) -> Self {
        let built_in = template.rules.as_ref().map(ColumnRules::stored);
        Self { lines: template.source, columns: template.columns, built_in }
    }
}

impl TryFrom<Stored> for Template {
    type Error = DataError;

    fn try_from(stored: Stored) -> Result<Self, DataError> {
        const FILE: &str = "the template of the model";
        let Stored { lines, columns, built_in } = stored;
        if columns.is_some_and(|columns| columns > FURTHEST) {
            let why = format!("it is for more than {FURTHEST} columns");
            return Err(DataError::Columns { file: FILE.to_owned(), why });
        }
        if let Some(built_in) = built_in {
            let all = columns.unwrap_or(0);
            let rules = ColumnRules::restore(built_in, &lines, all)
                .map_err(|why| DataError::Columns { file: FILE.to_owned(), why })?;
            return Ok(Self::of_rules(rules, lines, all));
        }
        let lines = Lines::from_reader(FILE, std::io::Cursor::new(lines.join("\n")))?;
        // Do not check for slips. This is for authors of templates; a model was trained with its template as it is.
        Ok(Self { columns, ..Self::parse(lines, false)? })
    }
}

/// The furthest row and column that a template may look at.
const FURTHEST: usize = 1_000_000;

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
    /// If the file cannot be read, or if a line is not valid. The error names the place.
    pub fn read(lines: Lines) -> Result<Self, DataError> {
        Self::parse(lines, true)
    }

    fn parse(mut lines: Lines, refuse_slips: bool) -> Result<Self, DataError> {
        let mut template = Self {
            source: Vec::new(),
            unigrams: Vec::new(),
            transitions: false,
            columns: None,
            rules: None,
        };
        while lines.advance()? {
            let line = lines.line().trim_end();
            match line.chars().next() {
                None | Some('#') => continue,
                Some('U') => {
                    let pieces = pieces(&lines, line)?;
                    if refuse_slips {
                        check_slips(&lines, line, &pieces)?;
                    }
                    template.unigrams.push(pieces);
                }
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

    /// The number of columns of the training data, including the label, if it is known yet.
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

    /// The same template for data with this number of columns, including the label. Built-in templates already know
    /// their number.
    #[must_use]
    pub fn for_columns(self, columns: usize) -> Self {
        match self.rules {
            Some(_) => self,
            None => Self { columns: Some(columns), ..self },
        }
    }

    /// A built-in template for data with this number of columns, of which the label is the last.
    ///
    /// # Errors
    /// If the template is for other columns.
    ///
    /// ```
    /// use maxmargin_io::{BuiltInTemplate, Template};
    ///
    /// let template = Template::built_in(BuiltInTemplate::WordsPos, 3)?;
    /// assert_eq!(template.name(), Some(BuiltInTemplate::WordsPos));
    /// let error = Template::built_in(BuiltInTemplate::Chunking, 2).unwrap_err().to_string();
    /// assert_eq!(error, "--template chunking: it is for the columns `word pos chunk`, not for 2 columns");
    /// # Ok::<(), maxmargin_io::DataError>(())
    /// ```
    pub fn built_in(name: BuiltInTemplate, columns: usize) -> Result<Self, DataError> {
        let features = columns.saturating_sub(1);
        if !name.takes(features) {
            let file = format!("--template {name}");
            let why =
                format!("it is for the columns `{}`, not for {columns} columns", name.columns());
            return Err(DataError::Columns { file, why });
        }
        let rules = rules(name, Layout::Blanks, features, features, Vec::new());
        Ok(Self::of_rules(rules, name.lines(features), columns))
    }

    /// The built-in template for the labelled columns of `lines`: the one that is asked for, or the one for this
    /// number of columns. It looks ahead only, so the lines can still be read. If `format` is given, it must be one
    /// of columns. The label is the last column, or UPOS in CoNLL-U, or the column `label`, given by its number
    /// from 1 or by its name in CoNLL-U or in the header.
    ///
    /// # Errors
    /// If the template is for other columns, if there is only one column, or if there is no such label.
    ///
    /// ```
    /// use maxmargin_io::{BuiltInTemplate, Lines, Template};
    ///
    /// let mut lines = Lines::from_reader("f", "the DT\ncat NN\n".as_bytes())?;
    /// let template = Template::choose(&mut lines, None, None, None)?;
    /// assert_eq!(template.name(), Some(BuiltInTemplate::Words));
    /// assert_eq!(
    ///     template.describe().unwrap(),
    ///     "columns `word label` between blanks; attributes by --template words",
    /// );
    /// # Ok::<(), maxmargin_io::DataError>(())
    /// ```
    pub fn choose(
        lines: &mut Lines,
        name: Option<BuiltInTemplate>,
        format: Option<Format>,
        label: Option<&str>,
    ) -> Result<Self, DataError> {
        let (rules, columns) = choose(lines, name, format, label)?;
        let source = rules.lines();
        Ok(Self::of_rules(rules, source, columns))
    }

    pub(crate) fn of_rules(rules: ColumnRules, source: Vec<String>, columns: usize) -> Self {
        let (rules, columns) = (Some(rules), Some(columns));
        Self { source, unigrams: Vec::new(), transitions: true, columns, rules }
    }

    /// The name of the built-in template, if it is one.
    pub fn name(&self) -> Option<BuiltInTemplate> {
        self.rules.as_ref().map(ColumnRules::name)
    }

    /// A description in one line of what a built-in template reads and makes.
    pub fn describe(&self) -> Option<String> {
        self.rules.as_ref().map(ColumnRules::describe)
    }

    /// A reader of columns that applies the template.
    ///
    /// ```
    /// use maxmargin_io::{BuiltInTemplate, Lines, RawSequence, ReadSequences, Template};
    ///
    /// let template = Template::built_in(BuiltInTemplate::Words, 2)?;
    /// let mut reader = template.open(Lines::from_reader("new", "cats\npurr\n".as_bytes())?);
    /// let mut sentence = RawSequence::new();
    /// assert!(reader.read(&mut sentence)?);
    /// assert_eq!((sentence.len(), sentence.token(0).label()), (2, None));
    /// # Ok::<(), maxmargin_io::DataError>(())
    /// ```
    pub fn open(self, lines: Lines) -> Box<dyn ReadSequences + Send> {
        match self.rules.clone() {
            Some(rules) => Box::new(ColumnsReader::new(lines, self, rules, false)),
            None => Box::new(TemplateReader::new(lines, self)),
        }
    }

    /// Like [`open`](Self::open), but every line is a token between blanks, whatever it contains.
    pub fn open_bare(self, lines: Lines) -> Box<dyn ReadSequences + Send> {
        match self.rules.clone() {
            Some(rules) => Box::new(ColumnsReader::new(lines, self, rules, true)),
            None => Box::new(TemplateReader::new(lines, self)),
        }
    }

    /// The first line that uses a column.
    fn line_of_column(&self, wanted: usize) -> &str {
        let is_wanted =
            |piece: &Piece| matches!(piece, Piece::Column { column, .. } if *column == wanted);
        let place = self.unigrams.iter().position(|pieces| pieces.iter().any(is_wanted));
        let mut lines = self.source.iter().filter(|line| line.starts_with('U'));
        place.and_then(|place| lines.nth(place)).map_or("", String::as_str)
    }

    /// The largest column that it uses.
    fn last_column(&self) -> usize {
        let pieces = self.unigrams.iter().flatten();
        let columns = pieces.filter_map(|piece| match piece {
            Piece::Column { column, .. } => Some(*column),
            Piece::Text(_) => None,
        });
        columns.max().unwrap_or(0)
    }
}

/// Refuses text between columns that was meant to be a column: `%` without `x[`, or `x[row,column]` without `%`.
fn check_slips(lines: &Lines, line: &str, pieces: &[Piece]) -> Result<(), DataError> {
    let mut at = 0;
    for piece in pieces {
        let Piece::Text(text) = piece else {
            at += line[at..].find(']').map_or(0, |end| end + 1);
            continue;
        };
        let found = text.find('%').or_else(|| {
            let mut starts = text.match_indices(['x', 'X']).map(|(start, _)| start);
            starts.find(|&start| is_column(&text[start + 1..]))
        });
        if let Some(found) = found {
            let rest = &text[found..];
            let end = rest.find(']').map_or(rest.len(), |end| end + 1);
            let expected = "%x[row,column], as in %x[-1,0] (a name has no `%`)";
            return Err(lines.unexpected(at + found, expected, &rest[..end]));
        }
        at += text.len();
    }
    Ok(())
}

/// Whether a text begins with two numbers in brackets.
fn is_column(text: &str) -> bool {
    let inside = text.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let numbers = inside.and_then(|(inside, _)| inside.split_once(','));
    numbers.is_some_and(|(row, column)| {
        row.trim().parse::<isize>().is_ok() && column.trim().parse::<usize>().is_ok()
    })
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
        let far = |(row, column): (isize, usize)| row.unsigned_abs().max(column) > FURTHEST;
        if numbers.is_some_and(far) {
            let expected = format!("a row and a column of at most {FURTHEST}");
            let end = (start + OPEN.len() + close + 1).min(line.len());
            return Err(lines.unexpected(start, expected, &line[start..end]));
        }
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
