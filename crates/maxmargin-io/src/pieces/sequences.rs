//! Sequences to train on, from pieces.

use super::crfsuite;
use super::cut::Piece;
use super::gather::{Gather, Parsed, join_names};
use crate::dataset::TrainingNames;
use crate::error::DataError;
use crate::fingerprint::Fingerprinter;
use crate::format::Format;
use crate::names::Names;
use crate::sequence::RawSequence;
use maxmargin::model::chain::Sequences;

/// Sequences with the names of their labels and attributes.
#[derive(Debug, Default)]
pub(crate) struct NamedSequences {
    pub(crate) sequences: Sequences,
    pub(crate) names: TrainingNames,
    /// The format from which they are read, if it has a fast parser.
    plain: Option<Format>,
}

impl NamedSequences {
    /// Creates a collection without sequences. Labels may be absent if `may_lack` is true.
    pub(crate) fn new(format: Format, may_lack: bool) -> Self {
        let plain = Some(format).filter(|format| *format == Format::Crfsuite);
        Self { names: TrainingNames::new(may_lack), plain, ..Self::default() }
    }

    /// The same, with the names that every data set of the format has.
    pub(crate) fn with_fixed_names(format: Format, may_lack: bool) -> Self {
        let (labels, attributes) = (format.fixed_labels(), format.fixed_attributes());
        let names = TrainingNames { labels, attributes, may_lack };
        Self { names, ..Self::new(format, may_lack) }
    }
}

impl Gather for NamedSequences {
    fn add(&mut self, raw: &RawSequence, file: &str) -> Result<(), DataError> {
        self.names.attributes.fetch(raw.names());
        self.names.add(raw, file, &mut self.sequences)
    }

    fn append(
        &mut self,
        piece: Self,
        error: Option<DataError>,
        at: (&str, u64),
    ) -> Result<(), DataError> {
        if let Some(error) = error {
            return Err(error);
        }
        let labels = join_names(&mut self.names.labels, &piece.names.labels, at, "labels")?;
        let own = &mut self.names.attributes;
        let attributes = join_names(own, &piece.names.attributes, at, "attributes")?;
        self.sequences.append(&piece.sequences, &labels, &attributes);
        Ok(())
    }

    fn labels(&self) -> Option<&Names> {
        Some(&self.names.labels)
    }

    fn parse_plain(&self, piece: &Piece) -> Option<Parsed<Self>> {
        self.plain.and_then(|_| crfsuite::parse(piece))
    }

    fn add_to_fingerprint(&self, to: &mut Fingerprinter) {
        let TrainingNames { labels, attributes, .. } = &self.names;
        self.sequences.iter().for_each(|sequence| to.add_named(sequence, labels, attributes));
    }
}
