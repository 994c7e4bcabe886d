//! Labelled rows: data for multiclass and binary models, for training or for a trained model.

mod evaluated;
mod labels;
mod naming;
#[cfg(test)]
mod tests;

pub use evaluated::{EvalRows, read_rows_with};
use labels::numeric_order;
pub(crate) use labels::{Labels, Renumbering, index_order};
pub use naming::RowMapping;
pub(crate) use naming::RowNames;

use maxmargin::model::chain::{SequenceColumns, Sequences};
use maxmargin::model::{Column, InputError, LabelledRows, Offsets, Row, RowColumns};
use maxmargin::sort;

use crate::converted::ABSENT;
use crate::dataset::Dataset;
use crate::error::DataError;
use crate::fingerprint::Fingerprint;
use crate::format::Format;
use crate::names::Names;
use crate::pieces::{Gathered, NamedRows, read_in_order, read_in_pieces};
use crate::reader::ReadSequences;
use crate::template::Template;

/// Rows in index form together with the names of their labels and attributes.
///
/// ```
/// use maxmargin_io::{Lines, open_row_reader, read_rows};
///
/// let lines = Lines::from_reader("pets.svm", "+1 1:0.5 7:1\n-1 7:2\n".as_bytes())?;
/// let data = read_rows(open_row_reader(lines, None)?)?;
/// assert_eq!(data.labels.iter().collect::<Vec<_>>(), ["-1", "+1"]);
/// assert_eq!(data.rows.labels(0), [1]);
/// assert_eq!(data.attributes.name(data.rows.row(1).attributes[0]), "7");
/// # Ok::<(), maxmargin_io::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct RowData {
    /// The rows.
    pub rows: LabelledRows,
    /// Names of the labels, as they were first written.
    pub labels: Names,
    /// Names of the attributes.
    pub attributes: Names,
    /// Fingerprint of the rows in name form.
    pub fingerprint: Fingerprint,
    /// The format they were read from.
    pub format: Format,
    /// The template that made the attributes, if it was not the format's own.
    pub template: Option<Template>,
}

/// Reads all rows for training. If the data are sequences, every token is a row.
///
/// If all labels are numbers, they are put in numeric order, and two that are the same number are one label (`1`,
/// `+1` and `1.0`). Other labels are numbered in the order of their first occurrence. The same holds for
/// attributes. OCR data always have the labels `a` to `z` and all 128 pixels.
///
/// A list of labels is a set: a label that is repeated in it counts once.
///
/// # Errors
/// If the reader fails, if a row has no label in a format with one label per row, or if the input has no rows.
///
/// ```
/// use maxmargin_io::{Format, Lines, open_row_reader, read_rows};
///
/// let lines = Lines::from_reader("topics.svm", "10,9 1:1\n2:1\n9 1:1 3:1\n".as_bytes())?;
/// let data = read_rows(open_row_reader(lines, None)?)?;
/// assert_eq!(data.format, Format::Multilabel);
/// assert_eq!(data.labels.iter().collect::<Vec<_>>(), ["9", "10"]);
/// assert_eq!((data.rows.labels(0), data.rows.labels(1)), (&[0, 1][..], &[][..]));
/// # Ok::<(), maxmargin_io::DataError>(())
/// ```
pub fn read_rows(reader: impl ReadSequences) -> Result<RowData, DataError> {
    read_rows_on(reader, 0)
}

/// Like [`read_rows`], on at most this number of threads, or on one per core if it is 0. The data do not depend on
/// it.
///
/// # Errors
/// The same as for [`read_rows`].
///
/// ```
/// use maxmargin_io::{Lines, open_row_reader, read_rows, read_rows_on};
///
/// let open = || open_row_reader(Lines::from_reader("pets.svm", "+1 1:0.5\n".as_bytes())?, None);
/// assert_eq!(read_rows_on(open()?, 2)?, read_rows(open()?)?);
/// # Ok::<(), maxmargin_io::DataError>(())
/// ```
pub fn read_rows_on(mut reader: impl ReadSequences, threads: usize) -> Result<RowData, DataError> {
    if let Some(data) = reader.take_dataset() {
        let file = || reader.file().to_owned();
        return RowData::of_dataset(data).map_err(|error| DataError::Row {
            file: file(),
            line: 0,
            error,
        });
    }
    let format = reader.format();
    // Whether a line of columns is a comment may depend on all labels before it, as they are written.
    let has_columns = matches!(format, Format::Conll | Format::Conllu);
    let pieces = if has_columns { None } else { reader.take_pieces() };
    let read = match pieces {
        Some(pieces) => {
            read_in_pieces(pieces.with_threads(threads), NamedRows::new(format), || {
                NamedRows::new(format)
            })?
        }
        None => read_in_order(&mut reader, NamedRows::new(format))?,
    };
    let Gathered { gathered: NamedRows { rows, names }, fingerprinter, lines } = read;
    if rows.is_empty() {
        return Err(DataError::NoRows { file: reader.file().into(), lines });
    }
    let data = RowData {
        rows,
        labels: names.labels.names,
        attributes: names.attributes,
        fingerprint: fingerprinter.finish(),
        format,
        template: reader.template().cloned(),
    };
    Ok(data.in_order())
}

impl RowData {
    /// The rows of a data set in name form. If their attributes are in order, they are used in place.
    fn of_dataset(data: Dataset) -> Result<Self, InputError> {
        let Dataset { sequences, labels: texts, attributes, fingerprint, format, template } = data;
        let mut labels = Labels::of(&format.fixed_labels());
        let mut meanings: Vec<Vec<u32>> = Vec::with_capacity(texts.len());
        for text in texts.iter() {
            let mut own = Vec::new();
            let parts = text.split(',').filter(|_| text != ABSENT && format == Format::Multilabel);
            let one = Some(text).filter(|_| text != ABSENT && format != Format::Multilabel);
            for name in parts.chain(one) {
                // There are never more labels than texts and commas, which fit in memory.
                own.extend(labels.intern(name).filter(|label| !own.contains(label)));
            }
            own.sort_unstable();
            meanings.push(own);
        }
        let rows = rows_of_sequences(sequences, &meanings)?;
        let labels = labels.names;
        Ok(Self { rows, labels, attributes, fingerprint, format, template }.in_order())
    }

    /// The same rows with labels and attributes in numeric order, if they are numbers.
    fn in_order(mut self) -> Self {
        let has_labels = !self.format.fixed_labels().is_empty();
        let has_attributes = !self.format.fixed_attributes().is_empty();
        let labels = if has_labels { None } else { numeric_order(&self.labels) };
        let attributes = if has_attributes { None } else { index_order(&self.attributes) };
        self.reorder(labels, attributes);
        self
    }

    /// Keeps the `count` labels that most rows have, and removes all others from their rows. Some rows may then
    /// have no label. Among labels with the same number of rows, those that come first are kept. The fingerprint is
    /// still that of all the data.
    ///
    /// ```
    /// use maxmargin_io::{Lines, open_row_reader, read_rows};
    ///
    /// let lines = Lines::from_reader("topics.svm", "4,7 1:1\n7,9 1:1\n9,7 2:1\n".as_bytes())?;
    /// let data = read_rows(open_row_reader(lines, None)?)?.with_most_frequent_labels(2);
    /// assert_eq!(data.labels.iter().collect::<Vec<_>>(), ["7", "9"]);
    /// assert_eq!((data.rows.labels(0), data.rows.labels(1)), (&[0][..], &[0, 1][..]));
    /// # Ok::<(), maxmargin_io::DataError>(())
    /// ```
    #[must_use]
    pub fn with_most_frequent_labels(mut self, count: usize) -> Self {
        let mut frequency = vec![0u64; self.labels.len()];
        for (_, labels) in self.rows.iter() {
            labels.iter().for_each(|&label| frequency[label as usize] += 1);
        }
        let mut order: Vec<u32> = (0..self.labels.len() as u32).collect();
        sort::by_key(&mut order, |&label| std::cmp::Reverse(frequency[label as usize]));
        order.truncate(count);
        order.sort_unstable();
        self.reorder(Some(order), None);
        self
    }

    /// Puts labels and attributes into a new order. Those that are not in it are left out.
    fn reorder(&mut self, labels: Option<Vec<u32>>, attributes: Option<Vec<u32>>) {
        if labels.is_none() && attributes.is_none() {
            return;
        }
        let labels = Renumbering::new(&mut self.labels, labels);
        let attributes = Renumbering::new(&mut self.attributes, attributes);
        self.rows.renumber(|label| labels.of(label), |attribute| attributes.of(attribute));
    }
}

/// The tokens of sequences as rows. Each label of a token represents a set of labels.
fn rows_of_sequences(
    sequences: Sequences,
    meanings: &[Vec<u32>],
) -> Result<LabelledRows, InputError> {
    let has_weights = (0..sequences.len()).any(|i| sequences.weight(i) != 1.0);
    let ascends = |token: Row<'_>| token.attributes.is_sorted_by(|a, b| a < b);
    if has_weights || !sequences.iter().flat_map(|sequence| sequence.tokens()).all(ascends) {
        let mut rows = LabelledRows::new();
        for (i, sequence) in sequences.iter().enumerate() {
            for (token, &label) in sequence.tokens().zip(sequence.labels()) {
                rows.push(token.pairs(), &meanings[label as usize], sequences.weight(i))?;
            }
        }
        return Ok(rows);
    }
    let SequenceColumns { tokens, attributes, values, labels: texts, .. } =
        sequences.into_columns();
    let (mut starts, mut labels) = (vec![0u64], Vec::new());
    for &text in texts.iter() {
        labels.extend_from_slice(&meanings[text as usize]);
        starts.push(labels.len() as u64);
    }
    let starts = match u32::try_from(labels.len()) {
        Ok(_) => Offsets::Short(starts.iter().map(|&at| at as u32).collect::<Vec<_>>().into()),
        Err(_) => Offsets::Long(starts.into()),
    };
    let (labels, weights) = (labels.into(), Column::default());
    let columns = RowColumns { rows: tokens, attributes, values, starts, labels, weights };
    Ok(LabelledRows::from_columns(columns).expect("the arrays of sequences belong together"))
}
