//! Data sets for training. Their alphabets are built while reading.

use maxmargin::model::chain::Sequences;
use maxmargin::sort;

use crate::converted::ABSENT;
use crate::error::{DataError, Place};
use crate::fingerprint::Fingerprint;
use crate::format::Format;
use crate::names::Names;
use crate::pieces::{Gathered, NamedSequences, read_in_order, read_in_pieces};
use crate::reader::ReadSequences;
use crate::rows::{Renumbering, index_order};
use crate::sequence::{RawSequence, RawToken};
use crate::template::Template;

/// Sequences in index form together with the names of their labels and attributes.
///
/// ```
/// use maxmargin_io::{Format, Lines, open_reader, read_training};
///
/// let lines = Lines::from_reader("pets.txt", "noun\tw=cat\nverb\tw=purrs\n".as_bytes())?;
/// let data = read_training(open_reader(lines, None)?)?;
/// assert_eq!(data.sequences.sequence(0).labels(), [0, 1]);
/// assert_eq!(data.labels.name(1), "verb");
/// assert_eq!(data.attributes.name(0), "w=cat");
/// assert_eq!(data.format, Format::Crfsuite);
/// # Ok::<(), maxmargin_io::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    /// The sequences.
    pub sequences: Sequences,
    /// Names of the labels.
    pub labels: Names,
    /// Names of the attributes.
    pub attributes: Names,
    /// Fingerprint of the sequences in name form.
    pub fingerprint: Fingerprint,
    /// The format they were read from.
    pub format: Format,
    /// The template that made the attributes, if it was not the format's own.
    pub template: Option<Template>,
}

/// Reads all sequences for training.
///
/// Labels and attributes are numbered in the order of their first occurrence, with two exceptions:
/// OCR data always have the labels `a` to `z` and all 128 pixels, and the tags of SVM-HMM files are
/// put in numeric order.
///
/// # Errors
/// If the reader fails, if a token has no label, or if the input has no sequences.
///
/// ```
/// use maxmargin_io::{Lines, open_reader, read_training};
///
/// let lines = Lines::from_reader("tags.dat", "10 qid:1 7:1\n9 qid:1 3:1\n".as_bytes())?;
/// let data = read_training(open_reader(lines, None)?)?;
/// assert_eq!(data.labels.iter().collect::<Vec<_>>(), ["9", "10"]);
/// assert_eq!(data.attributes.iter().collect::<Vec<_>>(), ["7", "3"]);
/// assert_eq!(data.sequences.sequence(0).labels(), [1, 0]);
/// # Ok::<(), maxmargin_io::DataError>(())
/// ```
pub fn read_training(reader: impl ReadSequences) -> Result<Dataset, DataError> {
    read_training_on(reader, 0)
}

/// Like [`read_training`], on at most this number of threads, or on one per core if it is 0. The data do not depend
/// on it.
///
/// # Errors
/// The same as for [`read_training`].
///
/// ```
/// use maxmargin_io::{Lines, open_reader, read_training, read_training_on};
///
/// let open = || open_reader(Lines::from_reader("tags.dat", "1 qid:1 7:1\n".as_bytes())?, None);
/// assert_eq!(read_training_on(open()?, 2)?, read_training(open()?)?);
/// # Ok::<(), maxmargin_io::DataError>(())
/// ```
pub fn read_training_on(
    mut reader: impl ReadSequences,
    threads: usize,
) -> Result<Dataset, DataError> {
    if let Some(data) = reader.take_dataset() {
        return Ok(data);
    }
    read_all(reader, false, threads)
}

/// Reads all sequences or rows to keep them with [`save_converted`](crate::save_converted): every row as a sequence
/// of one token, labels as they are written, and tokens without a label as well.
///
/// # Errors
/// If the reader fails, or if the input has no sequences.
///
/// ```
/// use maxmargin_io::{Lines, open_row_reader, read_by_name};
///
/// let lines = Lines::from_reader("topics.svm", "10,9 2:1\n1:1\n".as_bytes())?;
/// let data = read_by_name(open_row_reader(lines, None)?)?;
/// assert_eq!((data.sequences.len(), data.labels.name(0)), (2, "10,9"));
/// assert_eq!(data.attributes.iter().collect::<Vec<_>>(), ["1", "2"]);
/// # Ok::<(), maxmargin_io::DataError>(())
/// ```
pub fn read_by_name(mut reader: impl ReadSequences) -> Result<Dataset, DataError> {
    if let Some(data) = reader.take_dataset() {
        return Ok(data);
    }
    let mut data = read_all(reader, true, 0)?;
    // Rows have their attributes in this order when they are used.
    if data.format.is_rows()
        && let Some(order) = index_order(&data.attributes)
    {
        let new = Renumbering::new(&mut data.attributes, Some(order));
        data.sequences.renumber(|label| label, |attribute| new.of(attribute));
    }
    Ok(data)
}

/// Reads all sequences, in which labels may be absent.
fn read_all(
    mut reader: impl ReadSequences,
    may_lack: bool,
    threads: usize,
) -> Result<Dataset, DataError> {
    let format = reader.format();
    let all = NamedSequences::with_fixed_names(format, may_lack);
    let read = match reader.take_pieces() {
        Some(pieces) => read_in_pieces(pieces.with_threads(threads), all, || {
            NamedSequences::new(format, may_lack)
        })?,
        None => read_in_order(&mut reader, all)?,
    };
    let Gathered { gathered, fingerprinter, lines } = read;
    let NamedSequences { mut sequences, names, .. } = gathered;
    if sequences.is_empty() {
        return Err(DataError::Empty { file: reader.file().into(), lines });
    }
    let TrainingNames { mut labels, attributes, .. } = names;
    if format.labels_are_numbers() {
        put_in_numeric_order(&mut sequences, &mut labels);
    }
    let (fingerprint, template) = (fingerprinter.finish(), reader.template().cloned());
    Ok(Dataset { sequences, labels, attributes, fingerprint, format, template })
}

/// The names of training data, to which new names are added.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct TrainingNames {
    pub(crate) labels: Names,
    pub(crate) attributes: Names,
    /// Whether labels may be absent.
    pub(crate) may_lack: bool,
}

impl TrainingNames {
    /// No names yet.
    pub(crate) fn new(may_lack: bool) -> Self {
        Self { may_lack, ..Self::default() }
    }

    /// Adds a sequence of a file.
    pub(crate) fn add(
        &mut self,
        raw: &RawSequence,
        file: &str,
        to: &mut Sequences,
    ) -> Result<(), DataError> {
        let mut row = Vec::new();
        for token in raw.tokens() {
            let place = || token_place(file, &token);
            let name = token.label().or(self.may_lack.then_some(ABSENT));
            let name = name.ok_or_else(|| DataError::MissingLabel { place: place() })?;
            let label = intern(&mut self.labels, name)
                .ok_or_else(|| DataError::TooManyNames { place: place(), what: "labels" })?;
            row.clear();
            for (name, value) in token.attributes() {
                let attribute = intern(&mut self.attributes, name).ok_or_else(|| {
                    DataError::TooManyNames { place: place(), what: "attributes" }
                })?;
                row.push((attribute, value));
            }
            push_token(to, row.iter().copied(), label, file, &token)?;
        }
        end_sequence(to, raw, file)
    }
}

impl Dataset {
    /// Leaves out attributes that occur fewer than `least` times in all. Those that stay keep their
    /// order, and the fingerprint is still that of all the data.
    ///
    /// ```
    /// use maxmargin_io::{Lines, open_reader, read_training};
    ///
    /// let lines = Lines::from_reader("f", "x\ta\tb\ny\ta\n".as_bytes())?;
    /// let data = read_training(open_reader(lines, Some(maxmargin_io::Format::Crfsuite))?)?;
    /// let frequent = data.with_min_count(2);
    /// assert_eq!(frequent.attributes.iter().collect::<Vec<_>>(), ["a"]);
    /// assert_eq!(frequent.sequences.sequence(0).token(0).attributes, [0]);
    /// # Ok::<(), maxmargin_io::DataError>(())
    /// ```
    #[must_use]
    pub fn with_min_count(self, least: u64) -> Self {
        let mut counts = vec![0u64; self.attributes.len()];
        for token in self.sequences.iter().flat_map(|sequence| sequence.tokens()) {
            token.attributes.iter().for_each(|&attribute| counts[attribute as usize] += 1);
        }
        if counts.iter().all(|&count| count >= least) {
            return self;
        }
        let (mut attributes, mut new) = (Names::default(), vec![None; counts.len()]);
        for (old, name) in self.attributes.iter().enumerate() {
            new[old] = (counts[old] >= least).then(|| attributes.intern(name));
        }
        let mut sequences = self.sequences;
        sequences.renumber(|label| label, |attribute| new[attribute as usize]);
        Self { sequences, attributes, ..self }
    }
}

/// Like [`Names::intern`], for names from an input: if there are too many, it returns `None` instead of panicking.
#[inline(always)]
pub(crate) fn intern(names: &mut Names, name: &str) -> Option<u32> {
    if names.len() < Names::MOST { Some(names.intern(name)) } else { names.get(name) }
}

pub(crate) fn token_place(file: &str, token: &RawToken<'_>) -> Place {
    Place::new(file, token.line(), token.label_column())
}

/// Like [`Sequences::push_weighted_token`], with errors that name the file.
pub(crate) fn push_token(
    to: &mut Sequences,
    attributes: impl IntoIterator<Item = (u32, f64)>,
    label: u32,
    file: &str,
    token: &RawToken<'_>,
) -> Result<(), DataError> {
    to.push_weighted_token(attributes, label, token.cost()).map_err(|error| DataError::Sequence {
        file: file.into(),
        line: token.line(),
        error,
    })
}

/// Like [`Sequences::end_sequence`], with errors that name the file.
pub(crate) fn end_sequence(
    to: &mut Sequences,
    raw: &RawSequence,
    file: &str,
) -> Result<(), DataError> {
    to.end_sequence(raw.weight()).map_err(|error| DataError::Sequence {
        file: file.into(),
        line: raw.tokens().next().map_or(0, |token| token.line()),
        error,
    })
}

/// Numbers the labels in the order of the numbers that are their names.
fn put_in_numeric_order(sequences: &mut Sequences, labels: &mut Names) {
    let mut order: Vec<u32> = (0..labels.len() as u32).collect();
    // Names have no leading zeros, so a shorter one is a smaller number.
    sort::by_key(&mut order, |&label| (labels.name(label).len(), labels.name(label)));
    if order.is_sorted() {
        return;
    }
    let mut new = vec![0; order.len()];
    for (rank, &label) in (0..).zip(&order) {
        new[label as usize] = rank;
    }
    sequences.renumber(|label| new[label as usize], Some);
    *labels = order.into_iter().map(|label| labels.name(label)).collect();
}

#[cfg(test)]
mod tests;
