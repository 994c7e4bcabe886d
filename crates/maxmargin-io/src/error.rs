//! Errors in data. Each says where in the input it is.

use std::fmt;
use std::io;

use maxmargin::model::InputError;
use thiserror::Error;

use crate::columns::BuiltInTemplate;
use crate::format::Format;

/// A place in an input: `file:line:column`.
///
/// Lines and columns count from 1. Columns count characters (Unicode scalar values), not bytes; a
/// byte order mark at the start of a file does not count.
///
/// ```
/// use maxmargin_io::Place;
/// assert_eq!(Place::new("data.txt", 3, 7).to_string(), "data.txt:3:7");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The input as the user named it, or `<stdin>`.
    pub file: String,
    /// Line, from 1.
    pub line: u64,
    /// Column in characters, from 1.
    pub column: u64,
}

impl Place {
    /// The place in `file` at `line` and `column`.
    ///
    /// ```
    /// assert_eq!(maxmargin_io::Place::new("a", 1, 2).column, 2);
    /// ```
    pub fn new(file: impl Into<String>, line: u64, column: u64) -> Self {
        Self { file: file.into(), line, column }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// What is wrong with an input.
///
/// Every message is complete in itself. It names the file, and line and column if there are any. The reason given
/// by the operating system is part of the message and not repeated as a [`source`](std::error::Error::source).
///
/// ```
/// use maxmargin_io::{Format, Lines, RawSequence, open_reader};
///
/// let lines = Lines::from_reader("pets.txt", "cat\tfur:much\n".as_bytes())?;
/// let error = open_reader(lines, Some(Format::Crfsuite))?.read(&mut RawSequence::new()).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     r"pets.txt:1:9: expected a number as the value of attribute `fur` (a colon in a name is written `\:`), found `much`",
/// );
/// # Ok::<(), maxmargin_io::DataError>(())
/// ```
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DataError {
    /// The input cannot be opened or read.
    #[error("{file}: cannot be read: {error}")]
    Read {
        /// The input.
        file: String,
        /// What the operating system says.
        error: io::Error,
    },
    /// The input is gzip data that cannot be unpacked.
    #[error("{file}: the gzip data breaks off or is damaged after line {line}: {error}")]
    Unpack {
        /// The input.
        file: String,
        /// Number of the last complete line, 0 if there is none.
        line: u64,
        /// What the decompressor says.
        error: io::Error,
    },
    /// So many blank lines or comments come first that the format of the input cannot be found out.
    #[error(
        "{file}: no data in its first {bytes} bytes, only blank lines or comments; is this the right file?"
    )]
    NothingYet {
        /// The input.
        file: String,
        /// How many bytes were looked at.
        bytes: usize,
    },
    /// Something else was expected in a line.
    #[error("{place}: expected {expected}, found {found}")]
    Syntax {
        /// Where.
        place: Place,
        /// The text that would have been right.
        expected: String,
        /// The text that is there, shortened and with control characters escaped.
        found: String,
    },
    /// A line that should be JSON but is not.
    #[error("{place}: not valid JSON: {why}")]
    Json {
        /// Where.
        place: Place,
        /// What the parser says.
        why: String,
    },
    /// Something else was expected in a field of a line of JSON.
    #[error("{file}:{line}: {}expected {expected}, found {found}", colon(.field))]
    Field {
        /// The input.
        file: String,
        /// The line.
        line: u64,
        /// The field, like `factors[2].template`; empty for the line as a whole.
        field: String,
        /// The value that would have been right.
        expected: String,
        /// The value that is there.
        found: String,
    },
    /// An input without factor graphs.
    #[error("{file}: no factor graphs {}", in_lines(*lines))]
    NoGraphs {
        /// The input.
        file: String,
        /// How many lines it has.
        lines: u64,
    },
    /// An input that lacks what is looked for.
    #[error("{file}: there are no {what}")]
    Nothing {
        /// The input.
        file: String,
        /// What the input lacks.
        what: String,
    },
    /// The lines of a sequence are not together.
    #[error(
        "{place}: expected a new {what}, found {what} {id} again, which began in line {first}; \
         the lines of a sequence have to be together"
    )]
    ScatteredSequence {
        /// Where the sequence continues.
        place: Place,
        /// The name of the number of a sequence in this format.
        what: &'static str,
        /// The number of the sequence.
        id: u64,
        /// The line in which the sequence began.
        first: u64,
    },
    /// A token without a label where a label is needed.
    #[error(
        "{place}: expected a label, found none; training and evaluation need a label for every token"
    )]
    MissingLabel {
        /// Where the label should be.
        place: Place,
    },
    /// A label that is not among those of the model.
    #[error("{place}: expected one of the {known} labels of the model, found {found}")]
    UnknownLabel {
        /// Where the label is.
        place: Place,
        /// How many labels the model has.
        known: usize,
        /// The label, shortened and escaped.
        found: String,
    },
    /// An input without sequences.
    #[error("{file}: no sequences {}", in_lines(*lines))]
    Empty {
        /// The input.
        file: String,
        /// How many lines it has.
        lines: u64,
    },
    /// A template file without templates.
    #[error("{file}: no templates {}", in_lines(*lines))]
    EmptyTemplate {
        /// The file.
        file: String,
        /// How many lines it has.
        lines: u64,
    },
    /// More names than can be numbered.
    #[error("{place}: more than {most} distinct {what}", most = crate::Names::MOST)]
    TooManyNames {
        /// The place of the first name that is too many.
        place: Place,
        /// `labels` or `attributes`.
        what: &'static str,
    },
    /// A sequence that the caller's own reader should have refused.
    #[error("{file}:{line}: {error}")]
    Sequence {
        /// The input.
        file: String,
        /// Line of the token.
        line: u64,
        /// What is wrong with it.
        error: InputError,
    },
    /// An input without rows.
    #[error("{file}: no rows {}", in_lines(*lines))]
    NoRows {
        /// The input.
        file: String,
        /// How many lines it has.
        lines: u64,
    },
    /// A row that the caller's own reader should have refused.
    #[error("{file}:{line}: {error}")]
    Row {
        /// The input.
        file: String,
        /// Line of the row.
        line: u64,
        /// What is wrong with it.
        error: InputError,
    },
    /// A structure other than the one that is needed, such as single rows instead of sequences.
    #[error("{file}: expected {expected}, found {} (the format {format})", format.content())]
    Content {
        /// The input.
        file: String,
        /// What is needed.
        expected: &'static str,
        /// Its format.
        format: Format,
    },
    /// The layout of the input is not evident.
    #[error(
        "{file}: its format is not evident from its first lines{why}; give one with --format ({names}), \
         or say with --template how attributes are made from columns ({templates}; or a file)",
        names = Format::list(),
        templates = BuiltInTemplate::list()
    )]
    UnclearFormat {
        /// The input.
        file: String,
        /// Why the layout is not evident, if there is something to say.
        why: String,
    },
    /// Columns that cannot be read as asked.
    #[error("{file}: {why}")]
    Columns {
        /// The input, or what was asked for.
        file: String,
        /// What is wrong.
        why: String,
    },
    /// A converted file that cannot be used, or cannot be used as asked.
    #[error("{file}: this file of converted data cannot be used: {why}")]
    Converted {
        /// The file.
        file: String,
        /// What is wrong.
        why: String,
    },
    /// A built-in data set for which another format than its own was asked for.
    #[error(
        "{name}: this built-in data set has the format {format}, not {asked}; leave out --format"
    )]
    BuiltinFormat {
        /// The data set.
        name: String,
        /// Its format.
        format: Format,
        /// The format that was asked for.
        asked: Format,
    },
    /// A name that is neither a file nor a built-in data set.
    #[error("{name}: no such file, and not a built-in data set either (these are {known}){meant}")]
    NotFound {
        /// What was asked for.
        name: String,
        /// The built-in names.
        known: String,
        /// A suggestion of the name that was perhaps meant.
        meant: String,
    },
}

impl DataError {
    /// The place, for errors that have one.
    ///
    /// ```
    /// use maxmargin_io::{DataError, Place};
    /// let place = Place::new("a.txt", 2, 1);
    /// assert_eq!(DataError::MissingLabel { place: place.clone() }.place(), Some(&place));
    /// ```
    pub fn place(&self) -> Option<&Place> {
        match self {
            Self::Syntax { place, .. }
            | Self::Json { place, .. }
            | Self::ScatteredSequence { place, .. }
            | Self::MissingLabel { place }
            | Self::UnknownLabel { place, .. }
            | Self::TooManyNames { place, .. } => Some(place),
            _ => None,
        }
    }
}

/// The name of a field, for use before a message about it.
fn colon(field: &str) -> String {
    if field.is_empty() { String::new() } else { format!("{field}: ") }
}

fn in_lines(lines: u64) -> String {
    match lines {
        0 => "(the input is empty)".into(),
        1 => "in 1 line".into(),
        _ => format!("in {lines} lines"),
    }
}

/// The number of characters of a wrong text that a message shows.
const SHOWN: usize = 40;

/// `text` for a message: between backquotes and shortened, with control characters escaped.
pub(crate) fn quote(text: &str) -> String {
    let mut quoted = String::from("`");
    let mut characters = text.chars();
    for c in characters.by_ref().take(SHOWN) {
        // Backslashes and quotes are shown as they are, because only invisible characters need escapes.
        if matches!(c, '\\' | '"' | '\'') {
            quoted.push(c);
        } else {
            quoted.extend(c.escape_debug());
        }
    }
    if characters.next().is_some() {
        quoted.push('…');
    }
    quoted.push('`');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_short_and_harmless() {
        assert_eq!(quote("a\\b \"c\""), "`a\\b \"c\"`");
        assert_eq!(quote("a\tb\u{7}\u{1b}[31m"), r"`a\tb\u{7}\u{1b}[31m`");
        assert_eq!(quote(&"ä".repeat(40)), format!("`{}`", "ä".repeat(40)));
        assert_eq!(quote(&"ä".repeat(41)), format!("`{}…`", "ä".repeat(40)));
    }
}
