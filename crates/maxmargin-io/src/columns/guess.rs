//! Decides whether lines are tokens in columns, with the label last.

use super::layout::{Layout, has_header, is_conllu, rows_ahead};
use super::reader::{LOOK, count};
use crate::error::DataError;
use crate::lines::Lines;
use crate::number::{parse_index, parse_value};
use std::collections::HashSet;

/// What lines look like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Columns {
    /// Tokens with labels.
    Labelled,
    /// CoNLL-U that begins with many comments.
    Conllu,
    /// Words without other columns.
    Single,
    /// As [`Single`](Self::Single), with this sign between what may be meant as columns.
    Delimited(char),
    /// Columns in which the labels may come first.
    Reversed,
    /// Columns, but too many lines have more or fewer of them than the others. The text names the first such line
    /// and what is wrong with it, or two lines that differ.
    Ragged(String),
    /// Something else.
    Other,
}

/// Looks at the lines ahead.
pub(crate) fn look_at_columns(lines: &mut Lines) -> Result<Columns, DataError> {
    let ahead = rows_ahead(lines, LOOK, false)?;
    if ahead.rows.iter().any(|row| is_conllu(row)) {
        return Ok(Columns::Conllu);
    }
    let layout = Layout::of(&ahead.rows);
    let skip = usize::from(has_header(layout, &ahead.rows));
    Ok(classify(layout, &ahead.rows[skip..], &ahead.numbers[skip..], skip == 1))
}

fn classify(layout: Layout, rows: &[String], numbers: &[u64], has_header: bool) -> Columns {
    let cut: Vec<Vec<&str>> = rows.iter().map(|row| layout.cells(row)).collect();
    let Some(width) = most_frequent_width(&cut) else { return Columns::Other };
    let typical: Vec<&[&str]> =
        cut.iter().filter(|cells| cells.len() == width).map(Vec::as_slice).collect();
    let column = |at: usize| typical.iter().map(move |cells| cells[at]);
    let (words, labels) = (|| column(0), || column(width - 1));
    let numbered = words().all(|word| parse_value(word).is_ok());
    let has_features = labels().any(is_feature);
    // Whole texts with one label each are not tokens.
    let texts = words().filter(|word| word.contains(' ')).count();
    if numbered || has_features || texts * 2 > typical.len() {
        return Columns::Other;
    }
    // A few lines may be wrong; the reader will name them.
    if typical.len() * 5 < cut.len() * 4 {
        return ragged(layout, &cut, numbers, width);
    }
    if width == 1 {
        let delimits = |sign: &char| rows.iter().all(|row| row.contains(*sign));
        return [',', ';'].into_iter().find(delimits).map_or(Columns::Single, Columns::Delimited);
    }
    if has_header {
        return Columns::Labelled;
    }
    let share = |cells: &mut dyn Iterator<Item = &str>| {
        cells.filter(|cell| is_like_tag(cell)).count() as f64 / typical.len() as f64
    };
    let (of_words, of_labels) = (share(&mut words()), share(&mut labels()));
    if of_labels >= 0.5 && of_labels > of_words {
        return Columns::Labelled;
    }
    if of_words >= 0.5 && of_words > of_labels {
        return Columns::Reversed;
    }
    // Labels are repeated; most words are not.
    let distinct = |cells: &mut dyn Iterator<Item = &str>| cells.collect::<HashSet<_>>().len();
    let (of_words, of_labels) = (distinct(&mut words()), distinct(&mut labels()));
    // With tabs, lines with equal counts could also be labels, each with one attribute.
    match of_labels.cmp(&of_words) {
        std::cmp::Ordering::Less => Columns::Labelled,
        std::cmp::Ordering::Equal if layout == Layout::Blanks => Columns::Labelled,
        _ => Columns::Reversed,
    }
}

/// Names the first line that does not have this number of columns, if most lines have it. Otherwise no number is the right
/// one, as in prose, and two lines that differ are named.
fn ragged(layout: Layout, cut: &[Vec<&str>], numbers: &[u64], width: usize) -> Columns {
    let mut lines = cut.iter().map(Vec::len).zip(numbers);
    let usual = lines.clone().filter(|(columns, _)| *columns == width).count();
    let between = layout.between();
    let found = if 2 * usual > cut.len() {
        lines.find(|(columns, _)| *columns != width).map(|(columns, line)| {
            let found = count(columns);
            format!("line {line} has {found} {between}, expected {width}, as in most lines")
        })
    } else {
        let first = lines.next();
        let other = first.and_then(|(like, _)| lines.find(|(columns, _)| *columns != like));
        first.zip(other).map(|((columns, line), (others, other))| {
            let found = count(columns);
            format!("line {line} has {found} {between}, but line {other} has {others}")
        })
    };
    found.map_or(Columns::Other, Columns::Ragged)
}

fn most_frequent_width(cut: &[Vec<&str>]) -> Option<usize> {
    let most = cut.iter().map(Vec::len).max()?;
    let mut counts = vec![0; most + 1];
    cut.iter().for_each(|cells| counts[cells.len()] += 1);
    (1..=most).max_by_key(|&width| counts[width])
}

/// `number:anything`, which is a feature of a row.
fn is_feature(cell: &str) -> bool {
    cell.split_once(':').is_some_and(|(index, _)| !index.is_empty() && parse_index(index).is_some())
}

/// What looks like a tag: `O`, `B-…` and the like, or capital letters with signs, as `NN` and `PRP$`.
fn is_like_tag(cell: &str) -> bool {
    let bytes = cell.as_bytes();
    let is_chunk = matches!(bytes, [b'B' | b'I' | b'E' | b'S' | b'L' | b'U', b'-', _, ..]);
    let has_capitals = bytes.iter().any(u8::is_ascii_uppercase);
    is_chunk || (has_capitals && cell.chars().all(|c| c.is_ascii() && !c.is_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(text: &str) -> Columns {
        let lines = Lines::from_reader("f", std::io::Cursor::new(text.to_owned()));
        look_at_columns(&mut lines.unwrap()).unwrap()
    }

    #[test]
    fn tokens_with_labels_are_recognised() {
        for text in [
            "the DT\ncat NN\n",
            "the\tDT\ncat\tNN\n",
            "word\tlabel\nthe\tx\ncat\ty\n",
            "the det\ncat noun\n\na det\ndog noun\n",
            "the\tdet\ncat\tnoun\n\na\tdet\ndog\tnoun\n",
            "EU NNP B-NP B-ORG\nrejects VBZ B-VP O\n",
            "-DOCSTART- -X- O O\n\nEU NNP B-NP B-ORG\n",
            "# id 7\tdomain=en\nEU _ _ B-ORG\nrejects _ _ O\n",
            "New York\tB-LOC\nis\tO\nbig\tO\n",
            "a O\nb O\nc O\nd O\ne\nf O\n",
        ] {
            assert_eq!(look(text), Columns::Labelled, "{text:?}");
        }
    }

    #[test]
    fn other_lines_are_not() {
        for (text, columns) in [
            ("", Columns::Other),
            ("3 4\n", Columns::Other),
            ("1 0.5 0.25\n2 0.5 1\n", Columns::Other),
            ("+1 2:0.5 1:1\n", Columns::Other),
            ("cat 1:x\n", Columns::Other),
            ("a fine film\tGOOD\nso bad\tBAD\n", Columns::Other),
            ("the\ncat\n", Columns::Single),
            ("so,\nno;\n", Columns::Single),
            ("word,label\nthe,DT\n", Columns::Delimited(',')),
            ("the;DT\ncat;NN\n", Columns::Delimited(';')),
            ("O\tbias\n", Columns::Reversed),
            ("noun\tcat\nverb\tpurrs\n", Columns::Reversed),
            ("noun cat\nnoun dog\n", Columns::Reversed),
            ("NN cat\nVB purrs\n", Columns::Reversed),
        ] {
            assert_eq!(look(text), columns, "{text:?}");
        }
    }

    #[test]
    fn the_first_line_with_another_number_of_columns_is_named() {
        for (text, why) in [
            (
                "# c\n\nthe DT O\ncat NN\nis VBZ O\n\na DT O\nbig\nbird NN B-X\n",
                "line 4 has 2 columns between blanks, expected 3, as in most lines",
            ),
            (
                "New York\tNNP\tB-LOC\nis\tVBZ\nbig\tJJ\tO\n",
                "line 2 has 2 columns between tabs, expected 3, as in most lines",
            ),
            (
                "word pos label\nthe\na DT O\ncat NN O\n",
                "line 2 has 1 column between blanks, expected 3, as in most lines",
            ),
            (
                "It was a dark night\nand then\nnothing came of it\nat all\n",
                "line 1 has 5 columns between blanks, but line 2 has 2",
            ),
        ] {
            assert_eq!(look(text), Columns::Ragged(why.to_owned()), "{text:?}");
        }
    }
}
