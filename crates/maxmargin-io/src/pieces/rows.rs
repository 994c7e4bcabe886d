//! Rows to train on, from pieces.

use super::cut::Piece;
use super::gather::{Gather, Parsed, join_names};
use crate::error::{DataError, Place};
use crate::fingerprint::Fingerprinter;
use crate::format::Format;
use crate::names::Names;
use crate::rows::RowNames;
use crate::sequence::RawSequence;
use maxmargin::model::{InputError, LabelledRows};

/// Rows with the names of their labels and attributes.
#[derive(Debug)]
pub(crate) struct NamedRows {
    pub(crate) rows: LabelledRows,
    pub(crate) names: RowNames,
}

impl NamedRows {
    /// Creates a collection without rows, but with the names that every data set of the format has.
    pub(crate) fn new(format: Format) -> Self {
        Self { rows: LabelledRows::new(), names: RowNames::new(format) }
    }
}

impl Gather for NamedRows {
    fn add(&mut self, raw: &RawSequence, file: &str) -> Result<(), DataError> {
        self.names.add(raw, file, &mut self.rows)
    }

    fn append(
        &mut self,
        piece: Self,
        error: Option<DataError>,
        (file, before): (&str, u64),
    ) -> Result<(), DataError> {
        let place = || Place::new(file, before + 1, 1);
        let too_many = || DataError::TooManyNames { place: place(), what: "labels" };
        let labels = piece.names.labels.iter().map(|name| self.names.labels.intern(name));
        let labels = labels.collect::<Option<Vec<u32>>>().ok_or_else(too_many)?;
        let (own, more) = (&mut self.names.attributes, &piece.names.attributes);
        let attributes = join_names(own, more, (file, before), "attributes")?;
        match error {
            None => {}
            // The piece used its own number for the attribute.
            Some(DataError::Row { file, line, error: InputError::Value { attribute, value } }) => {
                let attribute = attributes[attribute as usize];
                let error = InputError::Value { attribute, value };
                return Err(DataError::Row { file, line, error });
            }
            Some(error) => return Err(error),
        }
        self.rows.append(&piece.rows, &labels, &attributes);
        Ok(())
    }

    /// `None`, because two spellings of a number are one label here.
    fn labels(&self) -> Option<&Names> {
        None
    }

    fn parse_plain(&self, _piece: &Piece) -> Option<Parsed<Self>> {
        None
    }

    fn add_to_fingerprint(&self, _to: &mut Fingerprinter) {
        unreachable!("rows are parsed by their reader alone")
    }
}
