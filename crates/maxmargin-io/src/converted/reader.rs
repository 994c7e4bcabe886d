//! Reads converted data, like any other format.

use super::ABSENT;
use crate::dataset::Dataset;
use crate::error::DataError;
use crate::format::Format;
use crate::reader::ReadSequences;
use crate::sequence::RawSequence;
use crate::template::Template;

/// Returns the sequences of a converted file one after the other, or all at once.
#[derive(Debug)]
pub(crate) struct ConvertedReader {
    file: String,
    /// `None` after they were taken.
    data: Option<Dataset>,
    format: Format,
    template: Option<Template>,
    next: usize,
}

impl ConvertedReader {
    pub(super) fn new(file: String, data: Dataset) -> Self {
        let (format, template) = (data.format, data.template.clone());
        Self { file, data: Some(data), format, template, next: 0 }
    }
}

impl ReadSequences for ConvertedReader {
    fn format(&self) -> Format {
        self.format
    }

    fn file(&self) -> &str {
        &self.file
    }

    fn line_number(&self) -> u64 {
        self.next as u64
    }

    fn template(&self) -> Option<&Template> {
        self.template.as_ref()
    }

    fn take_dataset(&mut self) -> Option<Dataset> {
        // If sequences are read one by one, absent labels are found and reported then.
        let has_all =
            |data: &Dataset| self.format == Format::Multilabel || data.labels.get(ABSENT).is_none();
        if self.next > 0 || !self.data.as_ref().is_some_and(has_all) {
            return None;
        }
        self.data.take()
    }

    fn read(&mut self, into: &mut RawSequence) -> Result<bool, DataError> {
        into.clear();
        let Some(data) = self.data.as_ref().filter(|data| self.next < data.sequences.len()) else {
            return Ok(false);
        };
        let sequence = data.sequences.sequence(self.next);
        for (t, (token, &label)) in sequence.tokens().zip(sequence.labels()).enumerate() {
            into.push_token(Some(data.labels.name(label)).filter(|&label| label != ABSENT));
            into.set_cost(sequence.cost(t));
            for (attribute, value) in token.pairs() {
                into.push_attribute(data.attributes.name(attribute), value);
            }
        }
        into.set_weight(data.sequences.weight(self.next));
        self.next += 1;
        Ok(true)
    }
}
