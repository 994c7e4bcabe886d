//! Rows in the index form of a trained model.

use super::naming::RowMapping;
use crate::error::DataError;
use crate::fingerprint::{Fingerprint, Fingerprinter};
use crate::format::Format;
use crate::mapping::{LabelRule, Unknown};
use crate::names::Names;
use crate::reader::ReadSequences;
use crate::sequence::RawSequence;
use maxmargin::model::LabelledRows;

/// Rows in the index form of a trained model.
///
/// ```
/// use maxmargin_io::{LabelRule, Source, read_rows, read_rows_with};
///
/// let letters = read_rows(Source::resolve("ocr-small")?.open_rows(None)?)?;
/// let test = Source::resolve("ocr-small:test")?.open_rows(None)?;
/// let test = read_rows_with(test, &letters.labels, &letters.attributes, LabelRule::Count)?;
/// assert_eq!((letters.rows.len(), test.rows.len()), (4617, 47535));
/// # Ok::<(), maxmargin_io::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct EvalRows {
    /// The rows. The model does not know labels from `known` on.
    pub rows: LabelledRows,
    /// Names of the labels: those of the model, then those it does not know.
    pub labels: Names,
    /// Number of labels of the model.
    pub known: usize,
    /// What the model does not know; `tokens` counts rows.
    pub unknown: Unknown,
    /// Fingerprint of the rows in name form, unknown names included.
    pub fingerprint: Fingerprint,
    /// The format they were read from.
    pub format: Format,
}

/// Reads all rows for a trained model with the given names. Unknown attributes are ignored and
/// counted; so are unknown labels, unless `rule` is [`LabelRule::Strict`].
///
/// # Errors
/// If the reader fails, if a label is missing or not known but `rule` requires it, or if the input has no rows.
///
/// ```
/// use maxmargin_io::{LabelRule, Lines, Names, open_row_reader, read_rows_with};
///
/// let (labels, attributes) = (Names::from_iter(["0", "1"]), Names::from_iter(["1", "2"]));
/// let lines = Lines::from_reader("new.svm", "1 1:1 5:1\n2 2:1\n".as_bytes())?;
/// let data = read_rows_with(open_row_reader(lines, None)?, &labels, &attributes, LabelRule::Count)?;
/// assert_eq!((data.rows.labels(1), data.labels.name(2), data.known), (&[2][..], "2", 2));
/// assert_eq!((data.unknown.labels, data.unknown.attributes), (1, 1));
/// # Ok::<(), maxmargin_io::DataError>(())
/// ```
pub fn read_rows_with(
    mut reader: impl ReadSequences,
    labels: &Names,
    attributes: &Names,
    rule: LabelRule,
) -> Result<EvalRows, DataError> {
    let format = reader.format();
    let mut mapping = RowMapping::new(labels, attributes, rule, format);
    let (mut rows, mut fingerprinter) = (LabelledRows::new(), Fingerprinter::new());
    let mut raw = RawSequence::new();
    while reader.read(&mut raw)? {
        fingerprinter.add(&raw);
        mapping.add(reader.file(), &raw, &mut rows)?;
    }
    if rows.is_empty() {
        return Err(DataError::NoRows { file: reader.file().into(), lines: reader.line_number() });
    }
    let (unknown, known, fingerprint) = (mapping.unknown, mapping.known, fingerprinter.finish());
    Ok(EvalRows { rows, labels: mapping.labels.names, known, unknown, fingerprint, format })
}
