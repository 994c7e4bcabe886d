//! Sequences to train on, from pieces.

use super::crfsuite;
use super::cut::{Opener, Piece, Pieces};
use super::run::read_pieces;
use crate::dataset::TrainingNames;
use crate::error::{DataError, Place};
use crate::fingerprint::{Fingerprinter, encode_sequence};
use crate::format::Format;
use crate::names::Names;
use crate::sequence::RawSequence;
use maxmargin::model::chain::Sequences;

/// The sequences of a piece, with names of its own.
#[derive(Debug, Default)]
pub(super) struct SequencePiece {
    pub(super) sequences: Sequences,
    pub(super) names: TrainingNames,
    /// What the fingerprint is made of.
    pub(super) bytes: Vec<u8>,
    /// The number of its last line.
    pub(super) lines: u64,
    /// What is wrong after these sequences.
    pub(super) error: Option<DataError>,
}

/// What was read in pieces.
pub(crate) struct JoinedSequences {
    pub(crate) sequences: Sequences,
    pub(crate) names: TrainingNames,
    pub(crate) fingerprinter: Fingerprinter,
    /// Lines of the input.
    pub(crate) lines: u64,
}

/// Reads all sequences of an input, just as if they had been read one after the other.
pub(crate) fn read_training_in_pieces(
    mut pieces: Pieces,
    format: Format,
    may_lack: bool,
) -> Result<JoinedSequences, DataError> {
    let (opener, file) = (pieces.opener(), pieces.file().to_owned());
    let mut all = JoinedSequences {
        sequences: Sequences::new(),
        names: TrainingNames::new(may_lack),
        fingerprinter: Fingerprinter::new(),
        lines: 0,
    };
    let parse = |piece: Piece| {
        let before = piece.before;
        (before, parse(piece, format, &opener, may_lack))
    };
    read_pieces(pieces, parse, |(before, piece)| all.join(piece, &file, before))?;
    Ok(all)
}

/// Reads a piece: in the short way if it is plain, else with the reader of its format.
fn parse(piece: Piece, format: Format, opener: &Opener, may_lack: bool) -> SequencePiece {
    if format == Format::Crfsuite
        && piece.error.is_none()
        && let Some(parsed) = crfsuite::parse(&piece)
    {
        return parsed;
    }
    parse_with_reader(piece, opener, may_lack)
}

fn parse_with_reader(piece: Piece, opener: &Opener, may_lack: bool) -> SequencePiece {
    let (mut parsed, mut raw) = (SequencePiece::default(), RawSequence::new());
    parsed.names = TrainingNames::new(may_lack);
    let mut reader = opener.open(piece);
    loop {
        match reader.read(&mut raw) {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => {
                parsed.error = Some(error);
                break;
            }
        }
        encode_sequence(&raw, &mut parsed.bytes);
        if let Err(error) = parsed.names.add(&raw, reader.file(), &mut parsed.sequences) {
            parsed.error = Some(error);
            break;
        }
    }
    parsed.lines = reader.line_number();
    parsed
}

impl JoinedSequences {
    /// Adds a piece after `before` lines of a file.
    fn join(&mut self, piece: SequencePiece, file: &str, before: u64) -> Result<(), DataError> {
        if let Some(error) = piece.error {
            return Err(error);
        }
        let labels =
            join_names(&mut self.names.labels, &piece.names.labels, file, before, "labels")?;
        let own = &mut self.names.attributes;
        let attributes = join_names(own, &piece.names.attributes, file, before, "attributes")?;
        self.sequences.append(&piece.sequences, &labels, &attributes);
        self.fingerprinter.add_encoded(&piece.bytes);
        self.lines = piece.lines;
        Ok(())
    }
}

/// The numbers that the names of a piece have in `all`, to which new ones are added.
pub(super) fn join_names(
    all: &mut Names,
    own: &Names,
    file: &str,
    before: u64,
    what: &'static str,
) -> Result<Vec<u32>, DataError> {
    // Nobody knows which line of the piece had the one name too many.
    let too_many = || DataError::TooManyNames { place: Place::new(file, before + 1, 1), what };
    all.absorb(own).ok_or_else(too_many)
}
