//! Numbered features `number:value`, as SVM-HMM's and LIBSVM's files have them: reading and writing.

use std::fmt::Write as _;

use crate::error::{DataError, quote};
use crate::format::Format;
use crate::lines::Lines;
use crate::number::{parse_index, parse_value, write_value};
use crate::sequence::{RawSequence, RawToken};
use crate::write_error::WriteError;

/// Reads the features of a line into the last token of `into`: numbers from 1 in strictly increasing
/// order, values finite. Their names are the numbers, without leading zeros.
pub(crate) fn read_features<'a>(
    lines: &Lines,
    fields: impl Iterator<Item = (usize, &'a str)>,
    into: &mut RawSequence,
) -> Result<(), DataError> {
    let mut before = 0;
    for (at, field) in fields {
        let Some((index, text)) = field.split_once(':') else {
            return Err(lines.unexpected(at, "`feature:value`", field));
        };
        let number = parse_index(index).filter(|&number| number > 0).ok_or_else(|| {
            let expected = "the number of a feature, which is a whole number from 1";
            lines.unexpected(at, expected, index)
        })?;
        if number <= before {
            let expected = format!("a feature after {before}, in increasing order");
            return Err(lines.unexpected(at, expected, index));
        }
        let value = parse_value(text).map_err(|expected| {
            let expected = format!("{expected} as the value of feature {}", quote(index));
            lines.unexpected(at + index.len() + 1, expected, text)
        })?;
        into.push_attribute_with(value, |names| push_index(names, number));
        before = number;
    }
    Ok(())
}

/// A line without the comment after `#`, and that comment.
pub(crate) fn split_comment(line: &str) -> (&str, Option<&str>) {
    match line.split_once('#') {
        Some((data, comment)) => (data, Some(comment)),
        None => (line, None),
    }
}

/// Writes the features of a token in increasing order, a blank before each, and its comment.
pub(crate) fn write_features(
    text: &mut String,
    token: &RawToken<'_>,
    format: Format,
) -> Result<(), WriteError> {
    let mut features = Vec::with_capacity(token.attributes().len());
    for (name, value) in token.attributes() {
        let wrong = |reason| WriteError::attribute(format, name, reason);
        let number = canonical(name)
            .filter(|&number| number > 0)
            .ok_or_else(|| wrong("a feature is a whole number from 1"))?;
        if !value.is_finite() {
            return Err(wrong("the value of a feature must be finite"));
        }
        features.push((number, value));
    }
    features.sort_unstable_by_key(|&(number, _)| number);
    if let Some(twice) = features.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        let name = twice[0].0.to_string();
        return Err(WriteError::attribute(format, &name, "a feature must not occur twice"));
    }
    for (number, value) in features {
        text.push(' ');
        push_index(text, number);
        text.push(':');
        write_value(text, value);
    }
    if let Some(comment) = token.comment() {
        if comment.contains(['\n', '\r', '\0']) {
            let (what, reason) = ("comment", "a comment must not have line ends or NUL characters");
            return Err(WriteError::Unwritable { what, name: comment.into(), format, reason });
        }
        text.push_str(" #");
        text.push_str(comment);
    }
    Ok(())
}

/// Writes a number without leading zeros.
pub(crate) fn push_index(to: &mut String, number: u64) {
    write!(to, "{number}").expect("writing to a string cannot fail");
}

/// A number that is written as [`push_index`] writes it: otherwise it would come back under another
/// name.
pub(crate) fn canonical(name: &str) -> Option<u64> {
    parse_index(name).filter(|_| name == "0" || !name.starts_with('0'))
}
