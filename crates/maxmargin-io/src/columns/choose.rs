//! Chooses the built-in template for the columns of a file.

use super::attributes::Attributes;
use super::built_in::BuiltInTemplate;
use super::layout::{CONLLU_NAMES, Layout, has_header, is_conllu, rows_ahead};
use super::reader::{LOOK, count};
use super::rules::ColumnRules;
use crate::error::{DataError, quote};
use crate::format::Format;
use crate::lines::Lines;
use crate::number::parse_index;
use crate::suggest::suggest;

/// Returns the rules for the labelled columns of `lines`, and the number of columns. The rules are those of the
/// template that is asked for, or else of the template for this number of columns. It looks ahead only, so the
/// lines can still be read.
pub(crate) fn choose(
    lines: &mut Lines,
    name: Option<BuiltInTemplate>,
    format: Option<Format>,
    label: Option<&str>,
) -> Result<(ColumnRules, usize), DataError> {
    choose_labelled(lines, name, format, label, true)
}

/// The rules to read columns as they are. The last column is the label, or there is no label.
pub(super) fn choose_labelled(
    lines: &mut Lines,
    name: Option<BuiltInTemplate>,
    format: Option<Format>,
    label: Option<&str>,
    is_labelled: bool,
) -> Result<(ColumnRules, usize), DataError> {
    let ahead = rows_ahead(lines, LOOK, false)?;
    let rows = ahead.rows.as_slice();
    let is_conllu = match format {
        Some(format) => format == Format::Conllu,
        None => rows.iter().any(|row| is_conllu(row)),
    };
    let layout = if is_conllu { Layout::Conllu } else { Layout::of(rows) };
    let Some(first) = rows.first() else {
        let (file, lines) = (lines.file().to_owned(), lines_of(lines)?);
        return Err(DataError::Empty { file, lines });
    };
    let header = match has_header(layout, rows) {
        true => layout.cells(first).into_iter().map(str::to_owned).collect(),
        false => Vec::new(),
    };
    if is_conllu {
        let label = label_column(lines, label, &CONLLU_NAMES)?.unwrap_or(ColumnRules::UPOS);
        let name = name.unwrap_or(BuiltInTemplate::Words);
        if name != BuiltInTemplate::Words && label == ColumnRules::UPOS {
            let (file, name) = (lines.file().to_owned(), name.name());
            let why = format!("--template {name} looks at UPOS, which is the label");
            let hint = "--template words looks at words only, --label-column names another label";
            return Err(DataError::Columns { file, why: format!("{why}; {hint}") });
        }
        let features = if name == BuiltInTemplate::Words { 1 } else { 2 };
        let rules = rules(name, layout, features, label, header);
        return Ok((rules, CONLLU_NAMES.len()));
    }
    let at = usize::from(!header.is_empty());
    let columns = rows.get(at).map_or(header.len(), |row| layout.cells(row).len());
    let columns = columns + usize::from(!is_labelled);
    let number = ahead.numbers.get(at).or(ahead.numbers.first()).copied().unwrap_or(1);
    if columns < 2 {
        let expected = "two columns or more, the word first and its label last";
        return Err(lines.unexpected_at(number, expected, &count(columns)));
    }
    let names: Vec<&str> = header.iter().map(String::as_str).collect();
    let label = label_column(lines, label, &names)?.unwrap_or(columns - 1);
    if label >= columns {
        let why = format!("--label-column is {}, and there are {}", label + 1, count(columns));
        return Err(DataError::Columns { file: lines.file().to_owned(), why });
    }
    let features = columns - 1;
    let fitting = match (format, features) {
        // The meaning of this format in versions without other templates.
        (Some(Format::Conll), 2) => BuiltInTemplate::Chunking,
        _ => BuiltInTemplate::for_features(features),
    };
    let name = name.unwrap_or(fitting);
    if !name.takes(features) {
        let expected = format!("the columns `{}` of --template {name}", name.columns());
        let other = BuiltInTemplate::for_features(features);
        let found = format!("{}; --template {other} takes `{}`", count(columns), other.columns());
        return Err(lines.unexpected_at(number, expected, &found));
    }
    Ok((rules(name, layout, features, label, header), columns))
}

/// The rules of a template for this number of columns besides the label.
pub(crate) fn rules(
    name: BuiltInTemplate,
    layout: Layout,
    features: usize,
    label: usize,
    header: Vec<String>,
) -> ColumnRules {
    let lines = name.lines(features);
    let attributes = Attributes::parse(lines.iter().map(String::as_str));
    let attributes = attributes.expect("built-in lines make sense");
    ColumnRules { name, attributes, layout, label, features, header }
}

/// The column of the label, from 0, if one is asked for: by its number from 1, or by its name.
fn label_column(
    lines: &Lines,
    label: Option<&str>,
    names: &[&str],
) -> Result<Option<usize>, DataError> {
    let Some(label) = label else { return Ok(None) };
    if let Some(number) = parse_index(label).filter(|&number| number > 0) {
        return Ok(Some(number as usize - 1));
    }
    let found = names.iter().position(|name| name.eq_ignore_ascii_case(label));
    if found.is_some() {
        return Ok(found);
    }
    let known = match names {
        [] => "the file has no header; give the number of the column, from 1".to_owned(),
        names => format!("the columns are {}", names.join(", ")),
    };
    let meant = suggest(&label.to_uppercase(), names.iter().copied());
    let meant = meant.map(|name| format!("; did you mean {name}?")).unwrap_or_default();
    let why = format!("--label-column: there is no column {}; {known}{meant}", quote(label));
    Err(DataError::Columns { file: lines.file().to_owned(), why })
}

/// How many lines there are ahead.
fn lines_of(lines: &mut Lines) -> Result<u64, DataError> {
    let mut ahead = 0;
    while lines.peek(ahead + 1)?.is_some() {
        ahead += 1;
    }
    Ok(lines.number() + ahead as u64)
}
