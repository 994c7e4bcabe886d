//! Guesses the format of an input, if its first lines leave no doubt.
//!
//! `evidence` calls one function `looks_like_…` after the other to ask whether a line proves its format. The first
//! that returns `true` wins, so a narrow layout must come before a wide one that would accept the same lines. If no
//! line proves anything, the columns of all first lines are examined together.

use crate::columns::{Columns, is_conllu, look_at_columns};
use crate::error::DataError;
use crate::fields::{blanks, tabs};
use crate::format::Format;
use crate::lines::Lines;
use crate::number::{parse_index, parse_value};
use crate::numbered::split_comment;
use crate::ocr::Bitmap;

/// The number of lines that are examined. It is small, so that a user who types on standard input gets an answer
/// soon.
const LOOK: usize = 10;

/// Guesses the format of an input from its first lines, which can still be read afterwards.
///
/// A wrong guess would mean training on nonsense, so only clear cases are decided:
///
/// * `ocr`: five columns between tabs, the last with 32 hexadecimal digits; or the header line of
///   such a file.
/// * `svm-hmm`: a number and then `qid:` with a number.
/// * `crfsuite`: a line `@weight:…`; or columns between tabs, of which the first is not a number and a later one
///   has the form `…=…` or `…:number`. Other columns between tabs could also be `word TAB tag`, with the label
///   last.
/// * `libsvm`: a label and then features `number:number` in increasing order, all between spaces.
/// * `multilabel`: the same with several labels between commas, or with none, in one of the lines.
/// * `factor-graph`: a line begins with `{"`.
/// * `superpixels`: a line `G name split` with four numbers. `alignment`: three or four columns between tabs, the
///   last of which consists only of links. `pose`: a name and columns `x,y,flag`.
/// * `conllu`: ten columns, of which the first is the number of a token and the seventh that of another.
/// * `conll`: two columns or more in all lines, or nearly all, of which the last looks more like labels
///   than the first: it has names like `B-NP` or `NN`, or fewer different ones. A header helps.
///
/// # Errors
/// [`DataError::UnclearFormat`], whose message asks for `--format` and lists the names; [`DataError::Empty`] if all
/// lines are blank, because no format would help then.
///
/// ```
/// use maxmargin_io::{Format, Lines, guess_format};
///
/// let mut lines = Lines::from_reader("a.txt", "B-NP\tw[0]=The\n".as_bytes())?;
/// assert_eq!(guess_format(&mut lines)?, Format::Crfsuite);
///
/// let mut lines = Lines::from_reader("b.txt", "The DT\ncat NN\n".as_bytes())?;
/// assert_eq!(guess_format(&mut lines)?, Format::Conll);
///
/// let mut lines = Lines::from_reader("b.txt", "DT\tThe\n".as_bytes())?;
/// let error = guess_format(&mut lines).unwrap_err().to_string();
/// assert!(error.starts_with("b.txt: its format is not evident from its first lines"));
/// # Ok::<(), maxmargin_io::DataError>(())
/// ```
pub fn guess_format(lines: &mut Lines) -> Result<Format, DataError> {
    let (mut seen, mut offset, mut rows) = (0, 1, false);
    while seen < LOOK {
        let Some(line) = lines.peek(offset)? else { break };
        offset += 1;
        if line.trim().is_empty() {
            continue;
        }
        seen += 1;
        match evidence(line) {
            // Only a list of labels in a later line shows that rows can have several labels.
            Some(Format::Libsvm) => rows = true,
            Some(format) => return Ok(format),
            None => {}
        }
    }
    if rows {
        return Ok(Format::Libsvm);
    }
    let file = lines.file().to_owned();
    if seen == 0 {
        return Err(DataError::Empty { file, lines: lines.number() + offset as u64 - 1 });
    }
    let why = match look_at_columns(lines)? {
        Columns::Labelled => return Ok(Format::Conll),
        Columns::Conllu => return Ok(Format::Conllu),
        Columns::Single => " (they have a single column, and so no labels)".to_owned(),
        Columns::Delimited(sign) => {
            format!(
                " (they have a single column; `{sign}` does not separate columns, blanks and tabs do)"
            )
        }
        Columns::Reversed => {
            " (their last column does not look more like labels than their first)".to_owned()
        }
        Columns::Ragged(why) => format!(" ({why})"),
        Columns::Other => String::new(),
    };
    Err(DataError::UnclearFormat { file, why })
}

/// The format that a single line proves.
fn evidence(line: &str) -> Option<Format> {
    if line.starts_with("#word_id\t") || looks_like_ocr(line) {
        Some(Format::Ocr)
    } else if line.trim_start().starts_with("{\"") {
        Some(Format::FactorGraph)
    } else if looks_like_superpixels(line) {
        Some(Format::Superpixels)
    } else if looks_like_alignment(line) {
        Some(Format::Alignment)
    } else if looks_like_pose(line) {
        Some(Format::Pose)
    } else if is_conllu(line) {
        Some(Format::Conllu)
    } else if looks_like_svm_hmm(line) {
        Some(Format::SvmHmm)
    } else if looks_like_crfsuite(line) {
        Some(Format::Crfsuite)
    } else {
        labels_of_row(line).map(|labels| match labels {
            1 => Format::Libsvm,
            _ => Format::Multilabel,
        })
    }
}

fn looks_like_ocr(line: &str) -> bool {
    let columns: Vec<&str> = line.split('\t').collect();
    matches!(columns[..], [word, position, _, fold, pixels]
        if [word, position, fold].into_iter().all(|number| parse_index(number).is_some())
            && Bitmap::from_hex(pixels).is_some())
}

/// A line that begins an image: `G name split` and four numbers.
fn looks_like_superpixels(line: &str) -> bool {
    let fields: Vec<&str> = blanks(line).map(|(_, field)| field).collect();
    matches!(fields[..], ["G", _, _, ref numbers @ ..]
        if numbers.len() == 4 && numbers.iter().all(|number| parse_index(number).is_some()))
}

/// Two sentences and links between their words, perhaps with the name of a part before them.
fn looks_like_alignment(line: &str) -> bool {
    let columns: Vec<&str> = line.split('\t').collect();
    let is_link = |link: &str| {
        let ends = link.split_once('-').or_else(|| link.split_once('p'));
        ends.is_some_and(|(i, j)| parse_index(i).is_some() && parse_index(j).is_some())
    };
    matches!(columns[..], [.., links] if (3..=4).contains(&columns.len())
        && !links.trim().is_empty() && links.split_whitespace().all(is_link))
}

/// A name, followed only by `x,y,flag`.
fn looks_like_pose(line: &str) -> bool {
    let mut columns = line.split('\t');
    let named = columns.next().is_some_and(|name| !name.is_empty());
    let mut joints = 0;
    let all = columns.all(|joint| {
        joints += 1;
        let numbers: Vec<&str> = joint.split(',').collect();
        numbers.len() == 3 && numbers.iter().all(|number| parse_value(number).is_ok())
    });
    named && all && joints > 1
}

fn looks_like_svm_hmm(line: &str) -> bool {
    let mut fields = blanks(line).map(|(_, field)| field);
    let tag = fields.next().and_then(parse_index);
    let qid = fields.next().and_then(|field| field.strip_prefix("qid:")).and_then(parse_index);
    tag.is_some() && qid.is_some()
}

/// The number of labels of a row: labels between commas, or none, and then features in increasing
/// order, at least one. With tabs between them, it could be almost anything.
fn labels_of_row(line: &str) -> Option<usize> {
    let (data, _) = split_comment(line);
    let mut fields = blanks(data).map(|(_, field)| field).peekable();
    let labels = fields.next_if(|first| !first.contains(':')).map(|labels| {
        let all = labels.split(',').all(|label| !label.is_empty());
        all.then(|| labels.split(',').count())
    });
    let mut before = 0;
    for field in fields {
        let (index, value) = field.split_once(':')?;
        let index = parse_index(index).filter(|&index| index > before)?;
        parse_value(value).ok()?;
        before = index;
    }
    if before > 0 && !data.contains('\t') { labels.unwrap_or(Some(0)) } else { None }
}

fn looks_like_crfsuite(line: &str) -> bool {
    let named = |field: &str| {
        // An equals sign between two other characters, and not a column that is just `=`.
        let equation = field.find('=').is_some_and(|at| at > 0 && at + 1 < field.len());
        let scaled = field.rsplit_once(':').is_some_and(|(name, value)| {
            !name.is_empty() && !name.ends_with('\\') && parse_value(value).is_ok()
        });
        equation || scaled
    };
    if line.starts_with("@weight:") {
        return true;
    }
    let mut columns = tabs(line);
    match columns.next() {
        Some((0, label)) => {
            // Columns that begin with a number are tables of tokens, as in CoNLL-U.
            !label.starts_with('#')
                && parse_value(label).is_err()
                && columns.any(|(_, field)| named(field))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn guess(text: &str) -> Result<Format, String> {
        let mut lines = Lines::from_reader("f", Cursor::new(text.to_owned())).unwrap();
        guess_format(&mut lines).map_err(|e| e.to_string())
    }

    #[test]
    fn clear_cases() {
        assert_eq!(guess("#word_id\tposition\tletter\tfold\tpixels_hex\n"), Ok(Format::Ocr));
        assert_eq!(guess("1\t1\to\t0\t000000707c46c3818181838ef8000000\n"), Ok(Format::Ocr));
        assert_eq!(guess("# a comment\n\n3 qid:7 1:0.5 # x\n"), Ok(Format::SvmHmm));
        assert_eq!(guess("3\tqid:7"), Ok(Format::SvmHmm));
        assert_eq!(guess("\n\n@weight:0.5\nx\ta\n"), Ok(Format::Crfsuite));
        assert_eq!(guess("O\tbias\nB\tbias\tw=x\n"), Ok(Format::Crfsuite));
        assert_eq!(guess("O\tlength:3\n"), Ok(Format::Crfsuite));
    }

    #[test]
    fn rows_of_numbers() {
        assert_eq!(guess("+1 1:0.5 2:1\n"), Ok(Format::Libsvm));
        assert_eq!(guess("# head\n\n-1.5 3:1 # so\n2\n"), Ok(Format::Libsvm));
        assert_eq!(guess("2,3 1:0.5\n"), Ok(Format::Multilabel));
        assert_eq!(guess("1 1:1\n1 1:1\n1,4 2:1\n"), Ok(Format::Multilabel));
        assert_eq!(guess("1 1:1\n 1:1 2:1\n"), Ok(Format::Multilabel));
        assert_eq!(guess("1 1:1\n1 qid:2 1:1\n"), Ok(Format::SvmHmm));
    }

    #[test]
    fn rows_may_have_names_as_labels() {
        assert_eq!(guess("cat 1:0.5 3:1\n"), Ok(Format::Libsvm));
        assert_eq!(guess("cat,dog 1:0.5\ncat 2:1\n"), Ok(Format::Multilabel));
        assert_eq!(guess("1,a 1:0.5\n"), Ok(Format::Multilabel));
    }

    #[test]
    fn words_in_columns() {
        for text in [
            "Confidence NN B-NP\nin IN B-PP\n",
            "Confidence\tNN\tB-NP\nin\tIN\tB-PP\n",
            "=\t=\tO\n",
            "time\t10\\:30\tO\n",
            "# a comment\nword label\nthe DT\n",
        ] {
            assert_eq!(guess(text), Ok(Format::Conll), "{text:?}");
        }
        let text = "1\tThe\tthe\tDET\tDT\tDefinite=Def|PronType=Art\t2\tdet\t_\t_\n";
        assert_eq!(guess(text), Ok(Format::Conllu));
        assert_eq!(guess(&format!("# sent_id = 1\n# text = The\n{text}")), Ok(Format::Conllu));
        assert_eq!(guess(&("# c\n".repeat(30) + text)), Ok(Format::Conllu));
        assert_eq!(guess("1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n"), Ok(Format::Conllu));
    }

    #[test]
    fn unclear_cases_are_left_to_the_user() {
        for text in [
            "+1 2:0.5 1:1\n",
            "+1 0:0.5\n",
            "+1 1:x\n",
            "cat 1:x\n",
            ",a 1:0.5\n",
            "1\t1:0.5\n",
            "3 4\n",
            "O\tbias\n",
            "\tw=x\n",
            "the\ncat\n",
        ] {
            let error = guess(text).unwrap_err();
            assert!(error.contains("--format"), "{text:?}: {error}");
            assert!(error.contains("words for `word label`"), "{text:?}: {error}");
        }
    }

    #[test]
    fn nothing_but_blank_lines_is_no_matter_of_format() {
        let error = "f: no sequences in 3 lines";
        assert_eq!(guess("\n \n\n").unwrap_err(), error);
        assert_eq!(guess("").unwrap_err(), "f: no sequences (the input is empty)");
    }
}
