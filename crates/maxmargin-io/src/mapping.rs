//! Data sets for a trained model: names are looked up in the model's alphabets.

use maxmargin::model::chain::Sequences;

use crate::dataset::{end_sequence, push_token, token_place};
use crate::error::{DataError, quote};
use crate::fingerprint::{Fingerprint, Fingerprinter};
use crate::format::Format;
use crate::names::Names;
use crate::reader::ReadSequences;
use crate::sequence::RawSequence;

/// The index of a true label that the model does not know, or that is absent.
///
/// No model predicts it, because no alphabet can have so many names (see [`Names::MOST`]). So a comparison of
/// predictions with true labels counts a mistake. It must not be used as an index or to determine the size of a
/// table: do not call [`Sequences::label_bound`] if it may occur.
///
/// ```
/// use maxmargin_io::{Names, UNKNOWN_LABEL};
/// assert!(UNKNOWN_LABEL as usize > Names::MOST);
/// ```
pub const UNKNOWN_LABEL: u32 = u32::MAX;

/// How labels are treated when data are converted with a model's names.
///
/// ```
/// use maxmargin_io::LabelRule;
/// assert_ne!(LabelRule::Strict, LabelRule::Count);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LabelRule {
    /// Every token needs a label that the model knows. This is for continuing or verifying a training.
    Strict,
    /// Every token needs a label. A label that the model does not know becomes [`UNKNOWN_LABEL`] and is counted.
    /// This is for evaluation.
    Count,
    /// Labels are ignored, and all become [`UNKNOWN_LABEL`]. This is for prediction.
    Ignore,
}

/// How much of the data a model does not know.
///
/// ```
/// assert_eq!(maxmargin_io::Unknown::default().labels, 0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Unknown {
    /// Occurrences of attributes that the model does not know; they were ignored.
    pub attributes: u64,
    /// Occurrences of attributes, known or not.
    pub all_attributes: u64,
    /// Tokens whose label the model does not know.
    pub labels: u64,
    /// Tokens.
    pub tokens: u64,
}

impl Unknown {
    /// Adds the counts of unknown names in other data.
    pub(crate) fn add(&mut self, other: Self) {
        self.attributes += other.attributes;
        self.all_attributes += other.all_attributes;
        self.labels += other.labels;
        self.tokens += other.tokens;
    }
}

/// Converts sequences from name form to index form with the names of a model.
///
/// ```
/// use maxmargin::model::chain::Sequences;
/// use maxmargin_io::{LabelRule, Mapping, Names, RawSequence};
///
/// let (labels, attributes) = (Names::from_iter(["noun", "verb"]), Names::from_iter(["w=cat"]));
/// let mut mapping = Mapping::new(&labels, &attributes, LabelRule::Ignore);
///
/// let mut raw = RawSequence::new();
/// raw.push_token(None);
/// raw.push_attribute("w=cat", 1.0);
/// raw.push_attribute("w=dog", 1.0);
///
/// let mut sequences = Sequences::new();
/// mapping.add("pets.txt", &raw, &mut sequences)?;
/// assert_eq!(sequences.sequence(0).token(0).attributes, [0]);
/// assert_eq!(mapping.unknown().attributes, 1);
/// # Ok::<(), maxmargin_io::DataError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Mapping<'a> {
    labels: &'a Names,
    attributes: &'a Names,
    rule: LabelRule,
    unknown: Unknown,
}

impl<'a> Mapping<'a> {
    /// Creates a mapping with the names of a model.
    ///
    /// ```
    /// use maxmargin_io::{LabelRule, Mapping, Names};
    /// let names = Names::new();
    /// assert_eq!(Mapping::new(&names, &names, LabelRule::Strict).unknown().tokens, 0);
    /// ```
    pub fn new(labels: &'a Names, attributes: &'a Names, rule: LabelRule) -> Self {
        Self { labels, attributes, rule, unknown: Unknown::default() }
    }

    /// Adds a sequence to `to`. Messages name the input `file`.
    ///
    /// # Errors
    /// If a label is missing or not known, but [`LabelRule`] requires it. `to` must not be used then.
    ///
    /// ```
    /// use maxmargin::model::chain::Sequences;
    /// use maxmargin_io::{LabelRule, Mapping, Names, RawSequence};
    ///
    /// let names = Names::from_iter(["a", "b"]);
    /// let mut raw = RawSequence::new();
    /// raw.push_token(Some("c"));
    /// raw.set_place(5, 1);
    /// let error = Mapping::new(&names, &names, LabelRule::Strict).add("f.txt", &raw, &mut Sequences::new());
    /// assert_eq!(
    ///     error.unwrap_err().to_string(),
    ///     "f.txt:5:1: expected one of the 2 labels of the model, found `c`",
    /// );
    /// ```
    pub fn add(
        &mut self,
        file: &str,
        raw: &RawSequence,
        to: &mut Sequences,
    ) -> Result<(), DataError> {
        for token in raw.tokens() {
            let label = match (self.rule, token.label()) {
                (LabelRule::Ignore, _) => UNKNOWN_LABEL,
                (_, None) => {
                    return Err(DataError::MissingLabel { place: token_place(file, &token) });
                }
                (rule, Some(name)) => match self.labels.get(name) {
                    Some(label) => label,
                    None if rule == LabelRule::Strict => {
                        return Err(DataError::UnknownLabel {
                            place: token_place(file, &token),
                            known: self.labels.len(),
                            found: quote(name),
                        });
                    }
                    None => {
                        self.unknown.labels += 1;
                        UNKNOWN_LABEL
                    }
                },
            };
            self.unknown.tokens += 1;
            self.unknown.all_attributes += token.attributes().len() as u64;
            let (names, ignored) = (self.attributes, &mut self.unknown.attributes);
            let known = token.attributes().filter_map(|(name, value)| {
                let attribute = names.get(name);
                *ignored += u64::from(attribute.is_none());
                Some((attribute?, value))
            });
            push_token(to, known, label, file, &token)?;
        }
        end_sequence(to, raw, file)
    }

    /// The counts of unknown names so far.
    ///
    /// ```
    /// use maxmargin_io::{LabelRule, Mapping, Names, Unknown};
    /// let names = Names::new();
    /// assert_eq!(Mapping::new(&names, &names, LabelRule::Count).unknown(), Unknown::default());
    /// ```
    pub fn unknown(&self) -> Unknown {
        self.unknown
    }
}

/// Sequences in the index form of a trained model.
///
/// ```
/// use maxmargin_io::{LabelRule, builtin, read_training, read_with};
///
/// let ocr = builtin("ocr-small").unwrap();
/// let train = read_training(ocr.train())?;
/// let test = read_with(ocr.test(), &train.labels, &train.attributes, LabelRule::Count)?;
/// assert_eq!((test.sequences.len(), test.unknown.labels), (6251, 0));
/// # Ok::<(), maxmargin_io::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct EvalData {
    /// The sequences; labels may be [`UNKNOWN_LABEL`] unless the rule was [`LabelRule::Strict`].
    pub sequences: Sequences,
    /// How much of the data the model does not know.
    pub unknown: Unknown,
    /// Fingerprint of the sequences in name form, unknown names included: that of the
    /// [training data](crate::Dataset::fingerprint) if it is the same data.
    pub fingerprint: Fingerprint,
    /// The format they were read from.
    pub format: Format,
}

/// Reads all sequences for a trained model with the given names. Unknown attributes are ignored and
/// counted.
///
/// # Errors
/// If the reader fails, if a label is missing or not known but `rule` requires it, or if the input has no
/// sequences.
///
/// ```
/// use maxmargin_io::{LabelRule, Lines, Names, UNKNOWN_LABEL, open_reader, read_with};
///
/// let (labels, attributes) = (Names::from_iter(["noun"]), Names::from_iter(["w=cat"]));
/// let lines = Lines::from_reader("pets.txt", "verb\tw=purrs\nnoun\tw=cat\n".as_bytes())?;
/// let data = read_with(open_reader(lines, None)?, &labels, &attributes, LabelRule::Count)?;
/// assert_eq!(data.sequences.sequence(0).labels(), [UNKNOWN_LABEL, 0]);
/// assert_eq!((data.unknown.labels, data.unknown.attributes), (1, 1));
/// # Ok::<(), maxmargin_io::DataError>(())
/// ```
pub fn read_with(
    mut reader: impl ReadSequences,
    labels: &Names,
    attributes: &Names,
    rule: LabelRule,
) -> Result<EvalData, DataError> {
    let mut mapping = Mapping::new(labels, attributes, rule);
    let mut sequences = Sequences::new();
    let mut fingerprinter = Fingerprinter::new();
    let mut raw = RawSequence::new();
    while reader.read(&mut raw)? {
        fingerprinter.add(&raw);
        mapping.add(reader.file(), &raw, &mut sequences)?;
    }
    if sequences.is_empty() {
        return Err(DataError::Empty { file: reader.file().into(), lines: reader.line_number() });
    }
    Ok(EvalData {
        sequences,
        unknown: mapping.unknown(),
        fingerprint: fingerprinter.finish(),
        format: reader.format(),
    })
}

#[cfg(test)]
mod tests;
