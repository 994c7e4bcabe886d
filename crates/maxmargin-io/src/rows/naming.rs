//! Converts rows from name form to index form: with names to which new ones are added, or with the names of a
//! model.

use super::labels::Labels;
use crate::dataset::{intern, token_place};
use crate::error::{DataError, quote};
use crate::format::Format;
use crate::mapping::{LabelRule, Unknown};
use crate::names::Names;
use crate::sequence::{RawSequence, RawToken};
use maxmargin::model::LabelledRows;

/// The names of rows for training, to which new names are added.
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
    /// Starts with the names that every data set of the format has.
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

/// Converts rows from name form to index form with the names of a model.
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
    /// The labels of the model, followed by those that it does not know.
    pub(super) labels: Labels,
    pub(super) known: usize,
    attributes: &'a Names,
    rule: LabelRule,
    format: Format,
    pub(super) unknown: Unknown,
}

impl<'a> RowMapping<'a> {
    /// Creates a mapping of data in a format with the names of a model.
    pub fn new(labels: &Names, attributes: &'a Names, rule: LabelRule, format: Format) -> Self {
        let (labels, known) = (Labels::of(labels), labels.len());
        Self { labels, known, attributes, rule, format, unknown: Unknown::default() }
    }

    /// Adds the tokens of `raw`, which came from `file`, as rows to `to`.
    ///
    /// A label that the model does not know gets a number after those of the model, so it never equals a
    /// prediction.
    ///
    /// # Errors
    /// If a label is missing or not known, but the rule requires it.
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

    /// The counts of unknown names so far; `tokens` counts rows.
    pub fn unknown(&self) -> Unknown {
        self.unknown
    }

    /// The labels of the model, followed by those that it does not know.
    pub fn labels(&self) -> &Names {
        &self.labels.names
    }
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

/// Adds a label to those of a row, unless the row has it. Returns whether the label is new.
fn push_label(own: &mut Vec<u32>, label: u32) -> bool {
    let new = !own.contains(&label);
    if new {
        own.push(label);
    }
    new
}

/// Like [`LabelledRows::push`], with errors that name the file.
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
