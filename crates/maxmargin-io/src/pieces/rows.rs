//! Rows to train on, from pieces.

use super::cut::{Opener, Piece, Pieces};
use super::run::read_pieces;
use super::sequences::join_names;
use crate::error::{DataError, Place};
use crate::fingerprint::{Fingerprinter, encode_sequence};
use crate::format::Format;
use crate::rows::RowNames;
use crate::sequence::RawSequence;
use maxmargin::model::{LabelledRows, RowError};

/// The rows of a piece, with names of its own.
#[derive(Debug)]
struct RowPiece {
    rows: LabelledRows,
    names: RowNames,
    /// What the fingerprint is made of.
    bytes: Vec<u8>,
    /// Lines before the piece.
    before: u64,
    /// The number of its last line.
    lines: u64,
    /// What is wrong after these rows.
    error: Option<DataError>,
}

/// What was read in pieces.
pub(crate) struct JoinedRows {
    pub(crate) rows: LabelledRows,
    pub(crate) names: RowNames,
    pub(crate) fingerprinter: Fingerprinter,
    /// Lines of the input.
    pub(crate) lines: u64,
}

/// Reads all rows of an input, just as if they had been read one after the other.
pub(crate) fn read_rows_in_pieces(
    mut pieces: Pieces,
    format: Format,
) -> Result<JoinedRows, DataError> {
    let (opener, file) = (pieces.opener(), pieces.file().to_owned());
    let mut all = JoinedRows {
        rows: LabelledRows::new(),
        names: RowNames::new(format),
        fingerprinter: Fingerprinter::new(),
        lines: 0,
    };
    let parse = |piece: Piece| parse(piece, format, &opener);
    read_pieces(pieces, parse, |piece| all.join(piece, &file))?;
    Ok(all)
}

fn parse(piece: Piece, format: Format, opener: &Opener) -> RowPiece {
    let (rows, bytes, before) = (LabelledRows::new(), Vec::new(), piece.before);
    let names = RowNames::new(format);
    let mut parsed = RowPiece { rows, names, bytes, before, lines: 0, error: None };
    let (mut reader, mut raw) = (opener.open(piece), RawSequence::new());
    parsed.error = loop {
        match reader.read(&mut raw) {
            Ok(true) => encode_sequence(&raw, &mut parsed.bytes),
            Ok(false) => break None,
            Err(error) => break Some(error),
        }
        if let Err(error) = parsed.names.add(&raw, reader.file(), &mut parsed.rows) {
            break Some(error);
        }
    };
    parsed.lines = reader.line_number();
    parsed
}

impl JoinedRows {
    fn join(&mut self, piece: RowPiece, file: &str) -> Result<(), DataError> {
        let place = || Place::new(file, piece.before + 1, 1);
        let too_many = || DataError::TooManyNames { place: place(), what: "labels" };
        let labels = piece.names.labels.iter().map(|name| self.names.labels.intern(name));
        let labels = labels.collect::<Option<Vec<u32>>>().ok_or_else(too_many)?;
        let (own, more) = (&mut self.names.attributes, &piece.names.attributes);
        let attributes = join_names(own, more, file, piece.before, "attributes")?;
        match piece.error {
            None => {}
            // The piece had a number of its own for the attribute.
            Some(DataError::Row { file, line, error: RowError::Value { attribute, value } }) => {
                let attribute = attributes[attribute as usize];
                let error = RowError::Value { attribute, value };
                return Err(DataError::Row { file, line, error });
            }
            Some(error) => return Err(error),
        }
        self.rows.append(&piece.rows, &labels, &attributes);
        self.fingerprinter.add_encoded(&piece.bytes);
        self.lines = piece.lines;
        Ok(())
    }
}
