//! How a line is divided into columns, and which lines are not tokens.

use crate::error::DataError;
use crate::fields::{blanks, tabs};
use crate::lines::Lines;
use crate::number::parse_index;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// How a line is divided into columns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Layout {
    /// At spaces and tabs.
    #[default]
    Blanks,
    /// At tabs, so that words may have spaces in them.
    Tabs,
    /// The ten columns of CoNLL-U.
    Conllu,
}

/// Number of columns in CoNLL-U.
pub(super) const CONLLU: usize = 10;

/// The columns of CoNLL-U, with the names from its definition.
pub(super) const CONLLU_NAMES: [&str; CONLLU] =
    ["ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC"];

/// A line that begins a document in the files of CoNLL-2003; not a sentence.
const DOCUMENT: &str = "-DOCSTART-";

impl Layout {
    /// Finds the columns of a line. Columns are never empty, except in CoNLL-U.
    pub(super) fn cut(self, line: &str, into: &mut Vec<Range<usize>>) {
        into.clear();
        let ranges = |(at, cell): (usize, &str)| at..at + cell.len();
        match self {
            Self::Blanks => into.extend(blanks(line).map(ranges)),
            Self::Tabs => into.extend(tabs(line).filter_map(|(at, cell)| {
                let start = at + (cell.len() - cell.trim_start_matches(' ').len());
                let cell = cell.trim_matches(' ');
                (!cell.is_empty()).then(|| start..start + cell.len())
            })),
            Self::Conllu if line.contains('\t') => {
                let mut start = 0;
                into.extend(line.split('\t').map(|cell| {
                    let range = start..start + cell.len();
                    start = range.end + 1;
                    range
                }));
            }
            Self::Conllu => into.extend(blanks(line).map(ranges)),
        }
    }

    /// The columns of a line.
    pub(super) fn cells(self, line: &str) -> Vec<&str> {
        let mut ranges = Vec::new();
        self.cut(line, &mut ranges);
        ranges.into_iter().map(|range| &line[range]).collect()
    }

    fn count(self, line: &str) -> usize {
        self.cells(line).len()
    }

    /// How the given lines are divided. If no line has a tab, they are divided at blanks. Otherwise they are
    /// divided at tabs, unless division at blanks gives equally many columns in all lines, and division at tabs
    /// gives fewer or does not give equally many. If neither gives equally many columns, they are divided at tabs
    /// if more than half of them have a tab.
    pub(super) fn of(rows: &[String]) -> Self {
        let with_tabs = rows.iter().filter(|row| row.contains('\t')).count();
        let all_equal = |layout: Self| {
            let first = rows.first().map_or(0, |row| layout.count(row));
            rows.iter().all(|row| layout.count(row) == first).then_some(first)
        };
        match (all_equal(Self::Tabs), all_equal(Self::Blanks)) {
            _ if with_tabs == 0 => Self::Blanks,
            (Some(by_tabs), Some(by_blanks)) if by_blanks > by_tabs => Self::Blanks,
            (Some(_), _) => Self::Tabs,
            (None, Some(_)) => Self::Blanks,
            (None, None) if with_tabs * 2 > rows.len() => Self::Tabs,
            (None, None) => Self::Blanks,
        }
    }

    /// What separates columns, for messages.
    pub(super) const fn between(self) -> &'static str {
        match self {
            Self::Blanks => "between blanks",
            Self::Tabs | Self::Conllu => "between tabs",
        }
    }
}

/// Whether a line is the beginning of a document.
pub(super) fn begins_document(line: &str) -> bool {
    blanks(line).next().is_some_and(|(_, first)| first == DOCUMENT)
}

/// Whether it could be a comment.
pub(super) fn is_like_comment(line: &str) -> bool {
    line.starts_with('#')
}

/// Whether it is a token, a range of them (`1-2`) or an empty node (`1.1`) of CoNLL-U.
pub(crate) fn is_conllu(line: &str) -> bool {
    let cells = Layout::Conllu.cells(line);
    cells.len() == CONLLU
        && id(cells[0]).is_some()
        && (cells[6] == "_" || parse_index(cells[6]).is_some())
}

/// Whether the ID of a line of CoNLL-U is that of a token, and not of a range or an empty node. `None` if it is not
/// an ID.
pub(super) fn id(text: &str) -> Option<bool> {
    let is_number = |text: &str| !text.is_empty() && parse_index(text).is_some();
    let between = text.split_once('-').or_else(|| text.split_once('.'));
    match between {
        Some((a, b)) => (is_number(a) && is_number(b)).then_some(false),
        None => is_number(text).then_some(true),
    }
}

/// The names of words and their properties in headers.
const WORDS: [&str; 7] = ["word", "words", "token", "tokens", "form", "text", "surface"];
const TAGS: [&str; 27] = [
    "tag",
    "tags",
    "label",
    "labels",
    "pos",
    "postag",
    "pos_tag",
    "pos_tags",
    "upos",
    "xpos",
    "ner",
    "ner_tag",
    "ner_tags",
    "ne",
    "entity",
    "entities",
    "chunk",
    "chunks",
    "chunk_tag",
    "chunk_tags",
    "lemma",
    "slot",
    "slots",
    "bio",
    "iob",
    "gold",
    "class",
];

/// Whether the first of the given lines names the columns: all of its words are names of words and tags, and the
/// last one does not occur as a label.
pub(super) fn has_header(layout: Layout, rows: &[String]) -> bool {
    let Some((first, others)) = rows.split_first() else { return false };
    let cells = layout.cells(first);
    let is_one_of = |names: &[&str], cell: &str| names.contains(&cell.to_lowercase().as_str());
    let [word, tags @ .., last] = cells.as_slice() else { return false };
    if layout == Layout::Conllu {
        return word.eq_ignore_ascii_case("id");
    }
    is_one_of(&WORDS, word)
        && tags.iter().chain([last]).all(|tag| is_one_of(&TAGS, tag))
        && others.iter().all(|row| layout.cells(row).last() != Some(last))
}

/// Lines ahead that could be tokens, and their numbers.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    pub(super) rows: Vec<String>,
    pub(super) numbers: Vec<u64>,
}

/// Looks at lines ahead: at this number of tokens at most, and at the first sentence only if `one_sentence` is
/// true.
pub(super) fn rows_ahead(
    lines: &mut Lines,
    most: usize,
    one_sentence: bool,
) -> Result<Ahead, DataError> {
    let without_comments = look(lines, most, one_sentence, false)?;
    // Words may begin with `#`. In rare files, all of them do.
    match without_comments.rows.is_empty() {
        true => look(lines, most, one_sentence, true),
        false => Ok(without_comments),
    }
}

fn look(
    lines: &mut Lines,
    most: usize,
    one_sentence: bool,
    comments: bool,
) -> Result<Ahead, DataError> {
    let (mut ahead, mut offset, before) = (Ahead::default(), 0, lines.number());
    while ahead.rows.len() < most {
        offset += 1;
        let Some(line) = lines.peek(offset)? else { break };
        if line.trim().is_empty() {
            if one_sentence && !ahead.rows.is_empty() {
                break;
            }
        } else if !begins_document(line)
            && (!is_like_comment(line) || (comments && !line.starts_with("# ")))
        {
            ahead.rows.push(line.to_owned());
            ahead.numbers.push(before + offset as u64);
        }
    }
    Ok(ahead)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn tabs_and_blanks_are_told_apart() {
        for (text, layout) in [
            ("a A\nb B", Layout::Blanks),
            ("a\tA\nb\tB", Layout::Tabs),
            ("New York\tA\nb\tB", Layout::Tabs),
            ("a\tA\nb B", Layout::Blanks),
            ("a x\tA\nb y\tB", Layout::Blanks),
            ("New York\nb", Layout::Blanks),
            ("a\tA\nNew York\tB\nc", Layout::Tabs),
            ("a A\nNew\tYork B\nc", Layout::Blanks),
            ("a\nb", Layout::Blanks),
            ("", Layout::Blanks),
        ] {
            assert_eq!(Layout::of(&rows(text)), layout, "{text:?}");
        }
    }

    #[test]
    fn columns_are_found_with_their_places() {
        assert_eq!(Layout::Tabs.cells(" New York \t\tB-LOC "), ["New York", "B-LOC"]);
        assert_eq!(Layout::Blanks.cells(" New York\tB-LOC"), ["New", "York", "B-LOC"]);
        assert_eq!(Layout::Conllu.cells("1\ta\t\tx"), ["1", "a", "", "x"]);
        let mut ranges = Vec::new();
        Layout::Tabs.cut("ä b\t c", &mut ranges);
        assert_eq!(ranges, [0..4, 6..7]);
    }

    #[test]
    fn headers_are_told_from_tokens() {
        for text in ["word label\nthe DT", "Token\tPOS\tNER\na\tDT\tO", "form upos\n"] {
            let rows = rows(text);
            assert!(has_header(Layout::of(&rows), &rows), "{text:?}");
        }
        for text in ["word NN\nthe DT", "text POS\ngood POS", "word\nlabel", "the label\n", ""] {
            let rows = rows(text);
            assert!(!has_header(Layout::of(&rows), &rows), "{text:?}");
        }
    }

    #[test]
    fn numbers_of_conllu_are_understood() {
        assert_eq!([id("1"), id("1-2"), id("3.1")], [Some(true), Some(false), Some(false)]);
        for wrong in ["", "a", "-1", "1-", "1.b", "#"] {
            assert_eq!(id(wrong), None, "{wrong}");
        }
        assert!(is_conllu("1\tThe\tthe\tDET\tDT\t_\t2\tdet\t_\t_"));
        assert!(is_conllu("1 The the DET DT _ 2 det _ _"));
        assert!(!is_conllu("The\tthe\tDET\tDT\t_\t2\tdet\t_\t_\t_"));
    }
}
