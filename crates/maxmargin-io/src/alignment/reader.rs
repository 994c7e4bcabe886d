//! Sentence pairs with links, one pair per line.

use std::io::Write;

use maxmargin::model::matching::Gold;

use crate::error::DataError;
use crate::fields::blanks;
use crate::fingerprint::{Fingerprint, Fingerprinter};
use crate::lines::Lines;
use crate::number::parse_index;
use crate::write_error::WriteError;

/// Every word can be linked to every word of the other sentence, and each candidate has its own features. With more
/// candidates than this, one line of text would take gigabytes.
const MOST_CANDIDATES: usize = 1 << 22;

/// The words of a sentence and of its translation, with links between them.
///
/// ```
/// use maxmargin::model::matching::Gold;
/// use maxmargin_io::RawAlignment;
///
/// let words = |text: &str| text.split(' ').map(str::to_owned).collect();
/// let pair = RawAlignment {
///     source: words("the house"),
///     target: words("la maison"),
///     links: vec![(0, 0, Gold::Possible), (1, 1, Gold::Sure)],
///     ..RawAlignment::default()
/// };
/// assert_eq!((pair.gold(1, 1), pair.gold(0, 1)), (Gold::Sure, Gold::Wrong));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RawAlignment {
    /// The part of the data that the pair belongs to, if the file states it: `train`, `valid`, `test`.
    pub part: Option<String>,
    /// The words of the sentence: the rows.
    pub source: Vec<String>,
    /// The words of its translation: the columns.
    pub target: Vec<String>,
    /// Links (row, column, sure or possible), counted from 0, in increasing order.
    pub links: Vec<(u32, u32, Gold)>,
    /// The line of the file that it was read from, or 0 if there is none.
    pub line: u64,
}

impl RawAlignment {
    /// The annotation of a link.
    pub fn gold(&self, row: u32, column: u32) -> Gold {
        let at = self.links.binary_search_by_key(&(row, column), |link| (link.0, link.1));
        at.map_or(Gold::Wrong, |at| self.links[at].2)
    }

    /// Its links of one kind.
    ///
    /// ```
    /// use maxmargin::model::matching::Gold;
    /// let pair = maxmargin_io::RawAlignment { links: vec![(0, 2, Gold::Sure)], ..Default::default() };
    /// assert_eq!(pair.of_kind(Gold::Sure), [(0, 2)]);
    /// ```
    pub fn of_kind(&self, gold: Gold) -> Vec<(u32, u32)> {
        self.links.iter().filter(|link| link.2 == gold).map(|&(r, c, _)| (r, c)).collect()
    }
}

/// Reads aligned sentence pairs.
///
/// ```text
/// the house ⇥ la maison ⇥ 1p1 2-2
/// train ⇥ the house ⇥ la maison ⇥ 1p1 2-2
/// the house ⇥ la maison
/// ```
///
/// * A line is a pair, its fields separated by single tabs (⇥ above, without the blanks): the source sentence, the target sentence,
///   and the links, perhaps with the name of a part of the data before them. Without links there are
///   two fields. All lines have the same fields.
/// * Words are separated by blanks. Links are `i-j` if they are sure and `ipj` if they are possible;
///   words count from 1. No link comes twice.
/// * A first line that starts with `#` is a heading. Blank lines are skipped.
///
/// ```
/// use maxmargin_io::{AlignmentReader, Lines, RawAlignment};
///
/// let text = "#src\ttgt\tlinks\nthe house\tla maison\t2-2 1p1\n";
/// let mut reader = AlignmentReader::new(Lines::from_reader("example", text.as_bytes())?);
/// let mut pair = RawAlignment::default();
/// assert!(reader.read(&mut pair)?);
/// assert_eq!((pair.source.len(), pair.links.len(), pair.line), (2, 2, 2));
/// assert!(!reader.read(&mut pair)?);
/// # Ok::<(), maxmargin_io::DataError>(())
/// ```
#[derive(Debug)]
pub struct AlignmentReader {
    lines: Lines,
    /// The number of fields of the first line, after it was read.
    fields: Option<usize>,
}

impl AlignmentReader {
    /// A reader of the rest of `lines`.
    pub fn new(lines: Lines) -> Self {
        Self { lines, fields: None }
    }

    /// Reads the next pair. Returns `false` at the end of the input.
    ///
    /// # Errors
    /// If the input cannot be read, or if a line does not have this layout. The error names file, line and column.
    pub fn read(&mut self, into: &mut RawAlignment) -> Result<bool, DataError> {
        while self.lines.advance()? {
            let line = self.lines.line();
            if line.trim().is_empty() || (self.lines.number() == 1 && line.starts_with('#')) {
                continue;
            }
            self.parse(into)?;
            return Ok(true);
        }
        Ok(false)
    }

    fn parse(&mut self, into: &mut RawAlignment) -> Result<(), DataError> {
        let line = self.lines.line();
        let fields: Vec<(usize, &str)> = {
            let mut at = 0;
            let place = |field: &str| {
                let start = at;
                at += field.len() + 1;
                start
            };
            line.split('\t').map(place).zip(line.split('\t')).collect()
        };
        let expected = *self.fields.get_or_insert(fields.len());
        if !(2..=4).contains(&fields.len()) || fields.len() != expected {
            let expected = match expected {
                2..=4 => format!("{expected} fields between tabs, as in the first line"),
                _ => "two sentences between tabs, with links and a part of the data or without"
                    .into(),
            };
            let found = format!("{} fields", fields.len());
            return Err(DataError::Syntax { place: self.lines.place(0), expected, found });
        }
        let (part, rest) =
            if fields.len() == 4 { (Some(fields[0]), &fields[1..]) } else { (None, &fields[..]) };
        if let Some((at, text)) = part.filter(|(_, text)| text.trim() != *text || text.is_empty()) {
            return Err(self.lines.unexpected(at, "the name of a part of the data", text));
        }
        into.part = part.map(|(_, text)| text.to_owned());
        for ((at, text), words) in rest.iter().zip([&mut into.source, &mut into.target]) {
            words.clear();
            words.extend(blanks(text).map(|(_, word)| word.to_owned()));
            if words.is_empty() {
                return Err(self.lines.unexpected(*at, "a sentence of at least one word", text));
            }
        }
        let (rows, columns) = (into.source.len(), into.target.len());
        if rows.saturating_mul(columns) > MOST_CANDIDATES {
            let found = format!("{rows} and {columns} words");
            let expected = format!(
                "at most {MOST_CANDIDATES} pairs of a source and a target word (split the sentences)"
            );
            return Err(DataError::Syntax { place: self.lines.place(0), expected, found });
        }
        into.line = self.lines.number();
        into.links.clear();
        let Some(&(start, text)) = rest.get(2) else { return Ok(()) };
        for (at, link) in blanks(text) {
            let (row, column, gold) = self.link(start + at, link, into)?;
            into.links.push((row, column, gold));
        }
        into.links.sort_by_key(|link| (link.0, link.1));
        let same = |pair: &&[(u32, u32, Gold)]| (pair[0].0, pair[0].1) == (pair[1].0, pair[1].1);
        if let Some(pair) = into.links.windows(2).find(same) {
            let found =
                format!("a link of word {} with word {} twice", pair[0].0 + 1, pair[0].1 + 1);
            let (place, expected) = (self.lines.place(start), "each link once".to_owned());
            return Err(DataError::Syntax { place, expected, found });
        }
        Ok(())
    }

    fn link(
        &self,
        at: usize,
        text: &str,
        pair: &RawAlignment,
    ) -> Result<(u32, u32, Gold), DataError> {
        let parts = match text.split_once('-') {
            Some((row, column)) => Some((row, column, Gold::Sure)),
            None => text.split_once('p').map(|(row, column)| (row, column, Gold::Possible)),
        };
        let parsed = parts
            .and_then(|(row, column, gold)| Some((parse_index(row)?, parse_index(column)?, gold)));
        let Some((row, column, gold)) = parsed else {
            let expected = "a link, `i-j` if sure and `ipj` if possible";
            return Err(self.lines.unexpected(at, expected, text));
        };
        for (number, side, words) in
            [(row, "source", &pair.source), (column, "target", &pair.target)]
        {
            if number == 0 || number > words.len() as u64 {
                let expected =
                    format!("the number of a word of the {side} sentence, 1 to {}", words.len());
                return Err(self.lines.unexpected(at, expected, text));
            }
        }
        Ok((row as u32 - 1, column as u32 - 1, gold))
    }
}

/// Reads all pairs of an input.
///
/// # Errors
/// As [`AlignmentReader::read`].
///
/// ```
/// use maxmargin_io::{Lines, read_alignments};
/// let error = read_alignments(Lines::from_reader("x.tsv", "a b\tc\t3-1".as_bytes())?).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "x.tsv:1:7: expected the number of a word of the source sentence, 1 to 2, found `3-1`",
/// );
/// # Ok::<(), maxmargin_io::DataError>(())
/// ```
pub fn read_alignments(lines: Lines) -> Result<Vec<RawAlignment>, DataError> {
    let mut reader = AlignmentReader::new(lines);
    let (mut all, mut pair) = (Vec::new(), RawAlignment::default());
    while reader.read(&mut pair)? {
        all.push(pair.clone());
    }
    Ok(all)
}

/// Writes a pair in the layout that [`AlignmentReader`] reads, with its links.
///
/// # Errors
/// The output fails.
///
/// ```
/// use maxmargin::model::matching::Gold;
/// use maxmargin_io::{RawAlignment, write_alignment};
///
/// let mut pair = RawAlignment { source: vec!["yes".into()], target: vec!["oui".into()], ..Default::default() };
/// pair.links = vec![(0, 0, Gold::Sure)];
/// let mut output = Vec::new();
/// write_alignment(&mut output, &pair)?;
/// assert_eq!(output, b"yes\toui\t1-1\n");
/// # Ok::<(), maxmargin_io::WriteError>(())
/// ```
pub fn write_alignment(mut to: impl Write, pair: &RawAlignment) -> Result<(), WriteError> {
    let mut text = String::new();
    if let Some(part) = &pair.part {
        text.push_str(part);
        text.push('\t');
    }
    text.push_str(&pair.source.join(" "));
    text.push('\t');
    text.push_str(&pair.target.join(" "));
    text.push('\t');
    let mark = |gold: Gold| if gold == Gold::Sure { '-' } else { 'p' };
    let links: Vec<String> = pair
        .links
        .iter()
        .map(|&(row, column, gold)| format!("{}{}{}", row + 1, mark(gold), column + 1))
        .collect();
    text.push_str(&links.join(" "));
    text.push('\n');
    to.write_all(text.as_bytes())?;
    Ok(())
}

/// Fingerprint of aligned pairs.
///
/// ```
/// use maxmargin_io::{Lines, alignment_fingerprint, read_alignments};
///
/// let read = |text: &'static str| read_alignments(Lines::from_reader("example", text.as_bytes())?);
/// let (one, two) = (read("a b\tc\t1-1\n")?, read("a b\tc\t1p1\n")?);
/// assert_ne!(alignment_fingerprint(&one), alignment_fingerprint(&two));
/// # Ok::<(), maxmargin_io::DataError>(())
/// ```
pub fn alignment_fingerprint(pairs: &[RawAlignment]) -> Fingerprint {
    let mut fingerprinter = Fingerprinter::for_records("alignments");
    for pair in pairs {
        let words = |words: &[String]| words.join(" ");
        let (source, target) = (words(&pair.source), words(&pair.target));
        let links = pair.links.iter().flat_map(|&(row, column, gold)| {
            let gold = if gold == Gold::Sure { 1.0 } else { 0.0 };
            [f64::from(row), f64::from(column), gold]
        });
        fingerprinter.add_record([source.as_str(), target.as_str()], links);
    }
    fingerprinter.finish()
}
