//! Labelled rows: data for multiclass and binary models, read to train on or for a trained model.

use std::borrow::Cow;

use maxmargin::model::chain::{SequenceColumns, Sequences};
use maxmargin::model::{Column, InputError, LabelledRows, Offsets, Row, RowColumns};

use crate::converted::ABSENT;
use crate::dataset::{Dataset, intern, token_place};
use crate::error::{DataError, quote};
use crate::fingerprint::{Fingerprint, Fingerprinter};
use crate::format::Format;
use crate::mapping::{LabelRule, Unknown};
use crate::names::Names;
use crate::number::{parse_value, write_value};
use crate::numbered::canonical;
use crate::pieces::{Gathered, NamedRows, read_in_order, read_in_pieces};
use crate::reader::ReadSequences;
use crate::sequence::{RawSequence, RawToken};
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
    /// Names of the labels, as they were written first.
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

/// Reads all rows for training. Of data in sequences, every token is a row.
///
/// Labels that are all numbers are put in numeric order, and two that are the same number are one
/// label (`1`, `+1` and `1.0`); other labels are numbered in the order of their first occurrence.
/// Attributes likewise. OCR data always have the labels `a` to `z` and all 128 pixels.
///
/// A list of labels is a set: one that comes twice in it counts once.
///
/// # Errors
/// Whatever the reader finds; a row without a label in a format with one label per row; an input
/// without rows.
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

/// As [`read_rows`], on so many threads at most, or on one per core if that is 0. The data do not depend on it.
///
/// # Errors
/// As [`read_rows`].
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

/// The names of rows to train on, which grow with them.
#[derive(Debug, Clone)]
pub(crate) struct RowNames {
    format: Format,
    pub(crate) labels: Labels,
    pub(crate) attributes: Names,
    /// Scratch memory for a row and its labels.
    row: Vec<(u32, f64)>,
    own: Vec<u32>,
}

impl RowNames {
    /// The names that the format has anyway.
    pub(crate) fn new(format: Format) -> Self {
        let (labels, attributes) = (Labels::of(&format.fixed_labels()), format.fixed_attributes());
        Self { format, labels, attributes, row: Vec::new(), own: Vec::new() }
    }

    /// Adds the tokens of `raw`, which came from `file`, as rows to `to`.
    pub(crate) fn add(
        &mut self,
        raw: &RawSequence,
        file: &str,
        to: &mut LabelledRows,
    ) -> Result<(), DataError> {
        for token in raw.tokens() {
            let too_many =
                |what| DataError::TooManyNames { place: token_place(file, &token), what };
            self.own.clear();
            for name in label_names(file, &token, self.format)? {
                let label = self.labels.intern(name).ok_or_else(|| too_many("labels"))?;
                push_label(&mut self.own, label);
            }
            self.row.clear();
            for (name, value) in token.attributes() {
                let attribute =
                    intern(&mut self.attributes, name).ok_or_else(|| too_many("attributes"))?;
                self.row.push((attribute, value));
            }
            push_row(to, self.row.iter().copied(), &self.own, raw.weight(), file, &token)?;
        }
        Ok(())
    }
}

impl RowData {
    /// The rows of a data set in name form, whose attributes are used where they are if they are in order.
    fn of_dataset(data: Dataset) -> Result<Self, InputError> {
        let Dataset { sequences, labels: texts, attributes, fingerprint, format, template } = data;
        let mut labels = Labels::of(&format.fixed_labels());
        let mut meanings: Vec<Vec<u32>> = Vec::with_capacity(texts.len());
        for text in texts.iter() {
            let mut own = Vec::new();
            let parts = text.split(',').filter(|_| text != ABSENT && format == Format::Multilabel);
            let one = Some(text).filter(|_| text != ABSENT && format != Format::Multilabel);
            for name in parts.chain(one) {
                // There are no more labels than texts and commas, which fit in memory.
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

    /// Keeps the `count` labels that most rows have, and takes all others off their rows, of which
    /// some may be left without label. Among labels of the same number of rows those that come first
    /// are kept. The fingerprint is still that of all the data.
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
        order.sort_by_key(|&label| std::cmp::Reverse(frequency[label as usize]));
        order.truncate(count);
        order.sort_unstable();
        self.reorder(Some(order), None);
        self
    }

    /// Brings labels and attributes into a new order; those that are not in it are left out.
    fn reorder(&mut self, labels: Option<Vec<u32>>, attributes: Option<Vec<u32>>) {
        if labels.is_none() && attributes.is_none() {
            return;
        }
        let labels = Renumbering::new(&mut self.labels, labels);
        let attributes = Renumbering::new(&mut self.attributes, attributes);
        self.rows.renumber(|label| labels.of(label), |attribute| attributes.of(attribute));
    }
}

/// The tokens of sequences as rows, where each label means a set of labels.
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

/// The new numbers of old ones; none where nothing changes.
pub(crate) struct Renumbering(Option<Vec<Option<u32>>>);

impl Renumbering {
    /// Brings names into a new order.
    pub(crate) fn new(names: &mut Names, order: Option<Vec<u32>>) -> Self {
        let Some(order) = order else { return Self(None) };
        let mut new = vec![None; names.len()];
        for (rank, &old) in (0..).zip(&order) {
            new[old as usize] = Some(rank);
        }
        *names = order.into_iter().map(|old| names.name(old)).collect();
        Self(Some(new))
    }

    pub(crate) fn of(&self, old: u32) -> Option<u32> {
        match &self.0 {
            None => Some(old),
            Some(new) => new[old as usize],
        }
    }
}

/// The labels by the numbers they are, if all are numbers and not in order yet.
fn numeric_order(names: &Names) -> Option<Vec<u32>> {
    let values: Result<Vec<f64>, _> = names.iter().map(parse_value).collect();
    let values = values.ok().filter(|values| !values.is_sorted())?;
    let mut order: Vec<u32> = (0..names.len() as u32).collect();
    order.sort_by(|&a, &b| values[a as usize].total_cmp(&values[b as usize]));
    Some(order)
}

/// Likewise the attributes, if all are whole numbers.
pub(crate) fn index_order(names: &Names) -> Option<Vec<u32>> {
    let values: Option<Vec<u64>> = names.iter().map(canonical).collect();
    let values = values.filter(|values| !values.is_sorted())?;
    let mut order: Vec<u32> = (0..names.len() as u32).collect();
    order.sort_by_key(|&attribute| values[attribute as usize]);
    Some(order)
}

/// Names of labels as they are written, found by what they mean.
#[derive(Debug, Clone)]
pub(crate) struct Labels {
    names: Names,
    /// The same in the one spelling that counts.
    spellings: Names,
    /// All texts that were asked for, and the label that each means.
    texts: Names,
    meanings: Vec<u32>,
}

impl Labels {
    fn of(names: &Names) -> Self {
        let spellings = names.iter().map(spelling).collect();
        Self { names: names.clone(), spellings, texts: Names::new(), meanings: Vec::new() }
    }

    /// The index of a label, which is added if it is new; none if there are too many.
    pub(crate) fn intern(&mut self, name: &str) -> Option<u32> {
        // The same few texts come again and again, and spelling takes time.
        if let Some(text) = self.texts.get(name) {
            return Some(self.meanings[text as usize]);
        }
        let label = intern(&mut self.spellings, &spelling(name))?;
        if label as usize == self.names.len() {
            self.names.intern(name);
        }
        if self.texts.len() < Names::MOST {
            self.texts.intern(name);
            self.meanings.push(label);
        }
        Some(label)
    }

    /// The names, as they were written first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.names.iter()
    }
}

/// The one spelling of a label: numbers are what they are, however they are written.
fn spelling(name: &str) -> Cow<'_, str> {
    let Ok(value) = parse_value(name) else { return name.into() };
    let mut text = String::new();
    write_value(&mut text, if value == 0.0 { 0.0 } else { value });
    text.into()
}

/// The labels of a token, one or a list.
fn label_names<'a>(
    file: &str,
    token: &RawToken<'a>,
    format: Format,
) -> Result<impl Iterator<Item = &'a str> + use<'a>, DataError> {
    let many = format == Format::Multilabel;
    if token.label().is_none() && !many {
        let expected = "a label, which training and evaluation need in every row";
        let (expected, found) = (expected.into(), "none".into());
        return Err(DataError::Syntax { place: token_place(file, token), expected, found });
    }
    let (one, list) = if many { (None, token.label()) } else { (token.label(), None) };
    Ok(one.into_iter().chain(list.into_iter().flat_map(|list| list.split(','))))
}

/// Adds a label to those of a row, unless it is there; whether it is new.
fn push_label(own: &mut Vec<u32>, label: u32) -> bool {
    let new = !own.contains(&label);
    if new {
        own.push(label);
    }
    new
}

/// [`LabelledRows::push`] with errors that name the file.
fn push_row(
    to: &mut LabelledRows,
    attributes: impl IntoIterator<Item = (u32, f64)>,
    labels: &[u32],
    weight: f64,
    file: &str,
    token: &RawToken<'_>,
) -> Result<(), DataError> {
    to.push(attributes, labels, weight).map_err(|error| DataError::Row {
        file: file.into(),
        line: token.line(),
        error,
    })
}

/// Turns rows in name form into index form by the names of a model.
///
/// ```
/// use maxmargin::model::LabelledRows;
/// use maxmargin_io::{Format, LabelRule, Names, RawSequence, RowMapping};
///
/// let (labels, attributes) = (Names::from_iter(["-1", "+1"]), Names::from_iter(["3"]));
/// let mut mapping = RowMapping::new(&labels, &attributes, LabelRule::Count, Format::Libsvm);
/// let mut raw = RawSequence::new();
/// raw.push_token(Some("1")); // the label +1, otherwise written
/// raw.push_attribute("3", 0.5);
/// raw.push_attribute("4", 0.5);
///
/// let mut rows = LabelledRows::new();
/// mapping.add("some.svm", &raw, &mut rows)?;
/// assert_eq!((rows.labels(0), rows.row(0).attributes), (&[1][..], &[0][..]));
/// assert_eq!(mapping.unknown().attributes, 1);
/// # Ok::<(), maxmargin_io::DataError>(())
/// ```
#[derive(Debug, Clone)]
pub struct RowMapping<'a> {
    /// Those of the model, and after them those that it does not know.
    labels: Labels,
    known: usize,
    attributes: &'a Names,
    rule: LabelRule,
    format: Format,
    unknown: Unknown,
}

impl<'a> RowMapping<'a> {
    /// A mapping of data in a format through the names of a model.
    pub fn new(labels: &Names, attributes: &'a Names, rule: LabelRule, format: Format) -> Self {
        let (labels, known) = (Labels::of(labels), labels.len());
        Self { labels, known, attributes, rule, format, unknown: Unknown::default() }
    }

    /// Adds the tokens of `raw`, which came from `file`, as rows to `to`.
    ///
    /// A label that the model does not know gets a number after those of the model, so that no
    /// prediction is equal to it.
    ///
    /// # Errors
    /// A label that is missing or not known, where the rule forbids it.
    pub fn add(
        &mut self,
        file: &str,
        raw: &RawSequence,
        to: &mut LabelledRows,
    ) -> Result<(), DataError> {
        let mut own = Vec::new();
        for token in raw.tokens() {
            own.clear();
            if self.rule != LabelRule::Ignore {
                for name in label_names(file, &token, self.format)? {
                    let place = || token_place(file, &token);
                    let too_many = || DataError::TooManyNames { place: place(), what: "labels" };
                    let label = self.labels.intern(name).ok_or_else(too_many)?;
                    let unknown = label as usize >= self.known;
                    if unknown && self.rule == LabelRule::Strict {
                        let (known, found) = (self.known, quote(name));
                        return Err(DataError::UnknownLabel { place: place(), known, found });
                    }
                    self.unknown.labels += u64::from(push_label(&mut own, label) && unknown);
                }
            }
            self.unknown.tokens += 1;
            self.unknown.all_attributes += token.attributes().len() as u64;
            let (names, ignored) = (self.attributes, &mut self.unknown.attributes);
            let known = token.attributes().filter_map(|(name, value)| {
                let attribute = names.get(name);
                *ignored += u64::from(attribute.is_none());
                Some((attribute?, value))
            });
            push_row(to, known, &own, raw.weight(), file, &token)?;
        }
        Ok(())
    }

    /// What was not known so far; `tokens` counts rows.
    pub fn unknown(&self) -> Unknown {
        self.unknown
    }

    /// The labels of the model, and after them those that it does not know.
    pub fn labels(&self) -> &Names {
        &self.labels.names
    }
}

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
    /// The rows. Labels from `known` on are none of the model's.
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
/// Whatever the reader finds; a label that is missing or not known, where `rule` forbids it; an
/// input without rows.
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

#[cfg(test)]
mod tests;
