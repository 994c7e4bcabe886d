//! Reads columns, and turns them into attributes.

use super::built_in::BuiltInTemplate;
use super::choose::choose_labelled;
use super::layout::{
    CONLLU, CONLLU_NAMES, Layout, begins_document, has_header, id, is_conllu, is_like_comment,
    rows_ahead,
};
use super::rules::ColumnRules;
use super::sentence::Sentence;
use crate::error::DataError;
use crate::format::Format;
use crate::kept_lines::{KeptLines, LineKind};
use crate::lines::{Lines, column};
use crate::names::Names;
use crate::pieces::{Cut, Pieces};
use crate::reader::ReadSequences;
use crate::sequence::RawSequence;
use crate::template::Template;
use std::ops::Range;

/// The number of lines that are used to find out how they are divided.
pub(super) const LOOK: usize = 100;

/// The text for an empty column in CoNLL-U.
const NOTHING: &str = "_";

/// Reads columns, and gives every token the attributes of a built-in template.
///
/// * A line is a token; a blank line ends a sentence. Columns are separated by tabs, or by blanks.
/// * All lines have the same number of columns. If there is one column less than in training, the lines have no
///   labels.
/// * Lines that begin with `-DOCSTART-` are skipped, and so is a header such as `word label`. A line that begins
///   with `#` is a comment and is skipped if it has another number of columns. It is also a comment if `#` is a
///   word of its own, if the line is at the start of a sentence, and if no line before it had its label (or its
///   last column).
/// * In CoNLL-U, comments, ranges (`1-2`) and empty nodes (`1.1`) are skipped. A label `_` means that there is no
///   label, except in the columns FEATS and MISC.
///
/// ```
/// use maxmargin_io::{Format, Lines, RawSequence, ReadSequences, open_reader};
///
/// let lines = Lines::from_reader("f", "the DT\ncat NN\npurrs VBZ\n".as_bytes())?;
/// let mut reader = open_reader(lines, None)?;
/// let mut sentence = RawSequence::new();
/// assert!(reader.read(&mut sentence)?);
/// assert_eq!(sentence.token(1).label(), Some("NN"));
/// assert!(sentence.token(1).attributes().any(|(name, _)| name == "lower[-1]=the"));
/// assert!(sentence.token(2).attributes().any(|(name, _)| name == "suffix3[0]=rrs"));
/// # Ok::<(), maxmargin_io::DataError>(())
/// ```
#[derive(Debug)]
pub struct ColumnsReader {
    lines: Lines,
    template: Template,
    rules: ColumnRules,
    /// Whether all lines are tokens, whatever they contain.
    bare: bool,
    shape: Option<Shape>,
    sentence: Sentence,
    /// The labels so far, or the last columns of lines without labels.
    seen: Names,
    /// The places of the columns in the current line.
    cut: Vec<Range<usize>>,
    kept: Option<KeptLines>,
    /// An error that was found while looking ahead.
    failed: Option<DataError>,
}

/// What the lines of this file look like.
#[derive(Debug, Clone)]
struct Shape {
    layout: Layout,
    width: usize,
    label: Option<usize>,
    /// The columns of attributes; the first is the word.
    features: Vec<usize>,
    /// The line with the names of the columns.
    header: Option<u64>,
}

impl Shape {
    /// The column that distinguishes a token from a comment with the same number of columns: its values are
    /// repeated.
    fn telling(&self) -> Option<usize> {
        self.label.or_else(|| self.width.checked_sub(1).filter(|&last| last > 0))
    }
}

impl ColumnsReader {
    /// A reader of the rest of `lines`; `rules` are those of the template.
    pub(crate) fn new(lines: Lines, template: Template, rules: ColumnRules, bare: bool) -> Self {
        Self {
            lines,
            template,
            rules,
            bare,
            shape: None,
            sentence: Sentence::default(),
            seen: Names::new(),
            cut: Vec::new(),
            kept: None,
            failed: None,
        }
    }

    /// A reader for the columns of each token as they are, which [`cells`](Self::cells) returns. The last column is
    /// the label, if there are labels. In CoNLL-U, the label is UPOS, and the words are the only other column.
    ///
    /// # Errors
    /// If there are no lines, or no labels.
    ///
    /// ```
    /// use maxmargin_io::{ColumnsReader, Lines, RawSequence, ReadSequences};
    ///
    /// let lines = Lines::from_reader("f", "the\tDT\tB-NP\n".as_bytes())?;
    /// let mut reader = ColumnsReader::of_cells(lines, true)?;
    /// let mut raw = RawSequence::new();
    /// assert!(reader.read(&mut raw)?);
    /// assert_eq!(reader.cells(0).collect::<Vec<_>>(), ["the", "DT"]);
    /// assert_eq!(raw.token(0).label(), Some("B-NP"));
    /// # Ok::<(), maxmargin_io::DataError>(())
    /// ```
    pub fn of_cells(mut lines: Lines, is_labelled: bool) -> Result<Self, DataError> {
        let words = Some(BuiltInTemplate::Words);
        let (rules, columns) = choose_labelled(&mut lines, words, None, None, is_labelled)?;
        let template = Template::of_rules(rules.clone(), rules.lines(), columns);
        Ok(Self::new(lines, template, rules, false))
    }

    /// Finds out what the lines of this file look like, from the first of them.
    fn find_shape(&mut self) -> Result<Shape, DataError> {
        if self.bare {
            let mut offset = 1;
            while self.lines.peek(offset)?.is_some_and(|line| line.trim().is_empty()) {
                offset += 1;
            }
            let first = self.lines.peek(offset)?.map(str::to_owned);
            let number = self.lines.number() + offset as u64;
            return self.plain(&first.into_iter().collect::<Vec<_>>(), number, None);
        }
        // A user who types on standard input gets an answer after the first sentence.
        let is_typed = self.lines.is_stdin();
        let ahead = rows_ahead(&mut self.lines, LOOK, is_typed)?;
        let rows = ahead.rows.as_slice();
        let layout = match rows.iter().any(|row| is_conllu(row)) {
            true => Layout::Conllu,
            false => Layout::of(rows),
        };
        let is_header = rows.first().is_some_and(|first| {
            self.rules.is_header(&layout.cells(first)) || has_header(layout, rows)
        });
        let (number, header) = match (ahead.numbers.as_slice(), is_header) {
            (&[header, next, ..], true) => (next, Some(header)),
            (&[header], true) => (header + 1, Some(header)),
            (numbers, _) => (numbers.first().copied().unwrap_or(0), None),
        };
        let rows = &rows[usize::from(is_header)..];
        let expects_conllu = self.rules.layout == Layout::Conllu;
        // A line of CoNLL-U that is damaged is still a line of CoNLL-U.
        let is_wide = rows.iter().any(|row| layout.cells(row).len() > self.rules.features + 1);
        let fits = expects_conllu || self.rules.attributes.columns() == 1;
        if (layout == Layout::Conllu && fits) || (expects_conllu && is_wide) {
            return Ok(self.conllu(header));
        }
        let layout = if layout == Layout::Conllu { Layout::of(rows) } else { layout };
        let mut shape = self.plain(rows, number, Some(layout))?;
        shape.header = header;
        Ok(shape)
    }

    /// Lines of CoNLL-U.
    fn conllu(&self, header: Option<u64>) -> Shape {
        let is_own = self.rules.layout == Layout::Conllu;
        let label = if is_own { self.rules.label } else { ColumnRules::UPOS };
        let features = [ColumnRules::FORM, ColumnRules::UPOS];
        let features = features[..self.rules.attributes.columns().min(2)].to_vec();
        let (layout, width) = (Layout::Conllu, CONLLU);
        Shape { layout, width, label: Some(label), features, header }
    }

    /// Lines with any other columns. The first line has the number `number`.
    fn plain(
        &self,
        rows: &[String],
        number: u64,
        layout: Option<Layout>,
    ) -> Result<Shape, DataError> {
        let trained = self.rules.features + 1;
        let likely = layout.unwrap_or_default();
        let other = match (layout, self.rules.layout) {
            (Some(Layout::Tabs), _) => Layout::Blanks,
            // These are words alone, and some contain spaces, as some words in training did.
            (Some(_), Layout::Tabs) => Layout::Tabs,
            _ => likely,
        };
        let mut choices = [likely, other]
            .into_iter()
            .flat_map(|layout| [(layout, trained), (layout, trained - 1)]);
        let fits = |(layout, width): &(Layout, usize)| {
            let has_tabs = || rows.iter().any(|row| row.contains('\t'));
            let alone = rows.iter().filter(|row| !row.trim().contains(' ')).count();
            rows.iter().all(|row| layout.cells(row).len() == *width)
                && (*layout != Layout::Tabs || has_tabs() || alone * 2 > rows.len())
        };
        let found = match choices.find(fits) {
            Some(found) => found,
            // If lines have different lengths, the first one is taken as the right one.
            None => (likely, rows.first().map_or(0, |row| likely.cells(row).len())),
        };
        let (layout, width) = found;
        if !rows.is_empty() && width != trained && width + 1 != trained {
            return Err(self.lines.unexpected_at(number, self.rules.expected(), &count(width)));
        }
        let is_labelled = width == trained;
        let own = if self.rules.layout == Layout::Conllu { width - 1 } else { self.rules.label };
        let label = is_labelled.then_some(own);
        let features = (0..width).filter(|column| Some(*column) != label).collect();
        Ok(Shape { layout, width, label, features, header: None })
    }

    /// Adds the current line to the current sentence, and returns what kind of line it was.
    fn line(&mut self, shape: &Shape) -> Result<LineKind, DataError> {
        let line = self.lines.line();
        shape.layout.cut(line, &mut self.cut);
        let (found, layout) = (self.cut.len(), shape.layout);
        if shape.header == Some(self.lines.number()) {
            return Ok(LineKind::Header(layout));
        }
        if !self.bare && is_like_comment(line) && self.is_comment(shape) {
            return Ok(LineKind::Other);
        }
        if found != shape.width {
            let expected = match layout {
                Layout::Conllu => format!("the {CONLLU} columns of CoNLL-U, {}", layout.between()),
                _ => format!("{} {}, as in the lines before", count(shape.width), layout.between()),
            };
            let place = self.lines.place(line.len());
            return Err(DataError::Syntax { place, expected, found: found.to_string() });
        }
        if layout == Layout::Conllu {
            let number = &line[self.cut[0].clone()];
            match id(number) {
                Some(true) => {}
                Some(false) => return Ok(LineKind::Other),
                None => {
                    let expected = "the number of a token, such as 1, 1-2 or 1.1";
                    return Err(self.lines.unexpected(0, expected, number));
                }
            }
        }
        let label = shape.label.map(|column| self.cut[column].clone());
        let at = label.as_ref().map_or(line.len(), |range| range.start);
        self.sentence.push_token(self.lines.number(), column(line, at));
        for &column in &shape.features {
            self.sentence.push_cell(&line[self.cut[column].clone()]);
        }
        if let (Some(range), Some(column)) = (&label, shape.label) {
            let label = &line[range.clone()];
            let is_none = layout == Layout::Conllu
                && label == NOTHING
                && !matches!(CONLLU_NAMES[column], "FEATS" | "MISC");
            if !is_none {
                self.sentence.set_label(label);
            }
        }
        if let Some(column) = shape.telling().filter(|_| layout != Layout::Conllu) {
            self.seen.intern(&line[self.cut[column].clone()]);
        }
        Ok(match label {
            Some(range) if layout == Layout::Conllu => LineKind::Labelled(range),
            _ => LineKind::Token(layout),
        })
    }

    /// Whether the current line, which begins with `#`, is a comment.
    fn is_comment(&self, shape: &Shape) -> bool {
        let line = self.lines.line();
        if shape.layout == Layout::Conllu || self.cut.len() != shape.width {
            return true;
        }
        let is_alone = self.cut.first().is_some_and(|range| &line[range.clone()] == "#");
        let is_new = shape
            .telling()
            .is_some_and(|column| self.seen.get(&line[self.cut[column].clone()]).is_none());
        is_alone && self.sentence.is_empty() && is_new
    }

    fn keep(&mut self, what: LineKind) {
        if let Some(kept) = &mut self.kept {
            kept.push(self.lines.line(), what);
        }
    }

    /// Reads the lines of the next sentence.
    fn read_sentence(&mut self, shape: &Shape) -> Result<(), DataError> {
        while self.lines.advance()? {
            let line = self.lines.line();
            let is_blank = line.trim().is_empty();
            if is_blank || (!self.bare && begins_document(line)) {
                self.keep(LineKind::Other);
                if !self.sentence.is_empty() {
                    break;
                }
            } else {
                let what = self.line(shape)?;
                self.keep(what);
            }
        }
        Ok(())
    }

    /// The columns of token `t` of the last sentence, without its label.
    pub fn cells(&self, t: usize) -> impl ExactSizeIterator<Item = &str> {
        self.sentence.cells(t)
    }
}

/// Whether a line begins with `#` as a word of its own, which may be a comment or a token.
fn has_lone_hash(text: &[u8]) -> bool {
    let ends_word = |byte: &u8| byte.is_ascii_whitespace() || !byte.is_ascii();
    let mut lines = text.split(|&byte| byte == b'\n');
    lines.any(|line| line.first() == Some(&b'#') && line.get(1).is_none_or(ends_word))
}

/// A number of columns, in words.
pub(super) fn count(columns: usize) -> String {
    match columns {
        1 => "1 column".to_owned(),
        _ => format!("{columns} columns"),
    }
}

impl ReadSequences for ColumnsReader {
    fn format(&self) -> Format {
        self.rules.format()
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
        // A user who types gets an answer after each sentence, and lines that are kept must stay in order.
        if self.kept.is_some() || self.failed.is_some() || self.lines.is_stdin() {
            return None;
        }
        let found = match self.shape.take() {
            Some(shape) => Ok(shape),
            None => self.find_shape(),
        };
        let shape = match found {
            Ok(shape) => self.shape.insert(shape).clone(),
            Err(error) => {
                self.failed = Some(error);
                return None;
            }
        };
        let is_conllu = shape.layout == Layout::Conllu;
        // Without labels, comments are recognised by the last column, which pieces do not collect.
        if shape.label.is_none() && !is_conllu && !self.bare {
            return None;
        }
        let lines = self.lines.take_rest();
        let (template, rules, bare) = (self.template.clone(), self.rules.clone(), self.bare);
        let pieces = Pieces::new(lines, Cut::EmptyLines, move |lines, known| {
            let mut reader = Self::new(lines, template.clone(), rules.clone(), bare);
            reader.shape = Some(shape.clone());
            reader.seen = known.labels.cloned().unwrap_or_default();
            Box::new(reader)
        });
        Some(match is_conllu || bare {
            true => pieces,
            false => pieces.where_some_need_labels(has_lone_hash),
        })
    }

    fn read(&mut self, into: &mut RawSequence) -> Result<bool, DataError> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        into.clear();
        self.sentence.clear();
        if let Some(kept) = &mut self.kept {
            kept.clear();
        }
        let shape = match self.shape.take() {
            Some(shape) => shape,
            None => self.find_shape()?,
        };
        let read = self.read_sentence(&shape);
        self.shape = Some(shape);
        read?;
        self.rules.attributes.write_all(&self.sentence, into);
        Ok(!into.is_empty())
    }
}
