//! The lines of a sequence as they stand in the file, to be repeated beside predictions.

use crate::columns::Layout;
use std::io::{self, Write};
use std::ops::Range;

/// The name of the column of predictions in a header.
const PREDICTED: &str = "predicted";

/// The lines that a reader has read for its last sequence, including comments and blank lines.
///
/// ```
/// use maxmargin_io::{Format, Lines, RawSequence, open_reader};
///
/// let lines = Lines::from_reader("f", "# first\nthe DT\ncat NN\n\n".as_bytes())?;
/// let mut reader = open_reader(lines, Some(Format::Conll))?;
/// assert!(reader.keep_lines());
/// reader.read(&mut RawSequence::new())?;
/// let mut output = Vec::new();
/// reader.kept_lines().unwrap().write(&mut output, ["B-NP", "I-NP"])?;
/// assert_eq!(output, b"# first\nthe DT B-NP\ncat NN I-NP\n\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct KeptLines {
    text: String,
    lines: Vec<Kept>,
}

/// A line that ends at `end`, and what it is.
#[derive(Debug, Clone)]
struct Kept {
    end: usize,
    what: LineKind,
}

/// What a line is to a reader of columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LineKind {
    /// A token, beside which its label is written.
    Token(Layout),
    /// A token whose label has a place in the line.
    Labelled(Range<usize>),
    /// The names of the columns.
    Header(Layout),
    /// Anything else.
    Other,
}

impl KeptLines {
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.lines.clear();
    }

    pub(crate) fn push(&mut self, line: &str, what: LineKind) {
        self.text.push_str(line);
        self.lines.push(Kept { end: self.text.len(), what });
    }

    /// Writes all lines, and beside each token the next of `labels`. In CoNLL-U, the label takes its place in the
    /// line.
    ///
    /// # Errors
    /// If the output fails.
    pub fn write<'a>(
        &self,
        mut to: impl Write,
        labels: impl IntoIterator<Item = &'a str>,
    ) -> io::Result<()> {
        let (mut labels, mut start) = (labels.into_iter(), 0);
        let beside = |to: &mut dyn Write, line: &str, layout: Layout, label: &str| {
            let has_tabs = layout != Layout::Blanks || line.contains('\t');
            writeln!(to, "{line}{}{label}", if has_tabs { '\t' } else { ' ' })
        };
        for Kept { end, what } in &self.lines {
            let line = &self.text[start..*end];
            start = *end;
            match what {
                LineKind::Token(layout) => {
                    beside(&mut to, line.trim_end(), *layout, labels.next().unwrap_or_default())?;
                }
                LineKind::Header(layout) => {
                    beside(&mut to, line.trim_end(), *layout, PREDICTED)?;
                }
                LineKind::Labelled(place) => {
                    let label = labels.next().unwrap_or_default();
                    writeln!(to, "{}{label}{}", &line[..place.start], &line[place.end..])?;
                }
                LineKind::Other => writeln!(to, "{line}")?,
            }
        }
        Ok(())
    }
}
