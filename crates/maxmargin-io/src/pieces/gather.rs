//! Collects the results of reading, from pieces or from a whole input: sequences or rows, their names, and the
//! fingerprint.

use super::cut::{Known, Opener, Piece, Pieces};
use super::run::read_pieces;
use crate::error::{DataError, Place};
use crate::fingerprint::{Fingerprinter, encode_sequence};
use crate::names::Names;
use crate::reader::ReadSequences;
use crate::sequence::RawSequence;
use std::collections::HashMap;

/// A collection of sequences or rows, with its own names.
pub(crate) trait Gather: Send + Sized {
    /// Adds a sequence of a file.
    fn add(&mut self, raw: &RawSequence, file: &str) -> Result<(), DataError>;

    /// Appends the results of a piece, which begins after this number of lines of a file, and returns the error
    /// that follows them.
    fn append(
        &mut self,
        piece: Self,
        error: Option<DataError>,
        at: (&str, u64),
    ) -> Result<(), DataError>;

    /// All labels so far, if they are stored as they are written.
    fn labels(&self) -> Option<&Names>;

    /// Parses a piece with a faster parser than its reader, if there is one.
    fn parse_plain(&self, piece: &Piece) -> Option<Parsed<Self>>;

    /// Adds all of its contents to a fingerprint, as if they had been read one after the other. This is only
    /// possible for the contents that [`parse_plain`](Self::parse_plain) has parsed.
    fn add_to_fingerprint(&self, to: &mut Fingerprinter);
}

/// The result of parsing a piece.
pub(crate) struct Parsed<G> {
    pub(crate) gathered: G,
    /// The bytes of the fingerprint, unless it is [made of what was gathered](Gather::add_to_fingerprint).
    pub(crate) bytes: Option<Vec<u8>>,
    /// The number of its last line.
    pub(crate) lines: u64,
    /// Numbers of its sequences, if they have any, and the lines in which they begin.
    numbers: Vec<(u64, u64)>,
    /// The error that follows these sequences.
    error: Option<DataError>,
}

impl<G> Parsed<G> {
    pub(super) fn new(gathered: G) -> Self {
        Self { gathered, bytes: Some(Vec::new()), lines: 0, numbers: Vec::new(), error: None }
    }
}

/// The result of reading.
pub(crate) struct Gathered<G> {
    pub(crate) gathered: G,
    pub(crate) fingerprinter: Fingerprinter,
    /// Number of lines of the input.
    pub(crate) lines: u64,
}

/// Reads one sequence after the other.
pub(crate) fn read_in_order<G: Gather>(
    reader: &mut impl ReadSequences,
    mut gathered: G,
) -> Result<Gathered<G>, DataError> {
    let (mut fingerprinter, mut raw) = (Fingerprinter::new(), RawSequence::new());
    while reader.read(&mut raw)? {
        fingerprinter.add(&raw);
        gathered.add(&raw, reader.file())?;
    }
    Ok(Gathered { gathered, fingerprinter, lines: reader.line_number() })
}

/// Reads all sequences of an input. The result is the same as if they had been read one after the other. `empty`
/// creates collections for the pieces.
pub(crate) fn read_in_pieces<G: Gather>(
    mut pieces: Pieces,
    all: G,
    empty: impl Fn() -> G + Sync,
) -> Result<Gathered<G>, DataError> {
    let (opener, file) = (pieces.opener(), pieces.file().to_owned());
    let all = Gathered { gathered: all, fingerprinter: Fingerprinter::new(), lines: 0 };
    let mut joiner = Joiner { all, begun: HashMap::new(), file };
    let parse = |piece: Piece| Work::of(piece, &opener, &empty);
    read_pieces(pieces, parse, |work| joiner.join(work, &opener, &empty))?;
    Ok(joiner.all)
}

/// A piece that is being read.
struct Work<G> {
    /// Number of lines before it.
    before: u64,
    /// Its result, unless that depends on the pieces before it.
    parsed: Option<Parsed<G>>,
    /// The piece itself, if it may have to be read again.
    piece: Option<Piece>,
}

impl<G: Gather> Work<G> {
    fn of(piece: Piece, opener: &Opener, empty: &impl Fn() -> G) -> Self {
        let before = piece.before;
        if opener.depends_on_others(&piece) {
            return Self { before, parsed: None, piece: Some(piece) };
        }
        let gathered = empty();
        if piece.error.is_none()
            && !opener.may_have_endless_line(&piece)
            && let Some(parsed) = gathered.parse_plain(&piece)
        {
            return Self { before, parsed: Some(parsed), piece: None };
        }
        let copy = opener.is_numbered().then(|| piece.copy());
        let parsed = parse(piece, opener, Known::default(), gathered);
        Self { before, parsed: Some(parsed), piece: copy }
    }
}

/// Reads a piece with the reader of its format.
fn parse<G: Gather>(piece: Piece, opener: &Opener, known: Known<'_>, empty: G) -> Parsed<G> {
    let (mut parsed, mut raw) = (Parsed::new(empty), RawSequence::new());
    let (mut reader, mut bytes) = (opener.open(piece, known), Vec::new());
    parsed.error = loop {
        match reader.read(&mut raw) {
            Ok(true) => encode_sequence(&raw, &mut bytes),
            Ok(false) => break None,
            Err(error) => break Some(error),
        }
        let line = raw.tokens().next().map_or(0, |token| token.line());
        parsed.numbers.extend(raw.id().map(|number| (number, line)));
        if let Err(error) = parsed.gathered.add(&raw, reader.file()) {
            break Some(error);
        }
    };
    (parsed.lines, parsed.bytes) = (reader.line_number(), Some(bytes));
    parsed
}

/// Joins pieces in order.
struct Joiner<G> {
    all: Gathered<G>,
    /// The numbers of all sequences so far, if they have any, and the lines in which they begin.
    begun: HashMap<u64, u64>,
    file: String,
}

impl<G: Gather> Joiner<G> {
    fn join(
        &mut self,
        work: Work<G>,
        opener: &Opener,
        empty: &impl Fn() -> G,
    ) -> Result<(), DataError> {
        let Work { before, parsed, piece } = work;
        // A number is repeated, or there is an error that such a repetition may precede. The reader finds the right
        // message.
        let is_doubtful = |parsed: &Parsed<G>| {
            let comes_back = |(number, _): &(u64, u64)| self.begun.contains_key(number);
            parsed.error.is_some() || parsed.numbers.iter().any(comes_back)
        };
        let parsed = match (parsed, piece) {
            (None, Some(piece)) => self.parse(piece, opener, empty()),
            (Some(parsed), Some(piece)) if is_doubtful(&parsed) => {
                self.parse(piece, opener, empty())
            }
            (Some(parsed), _) => parsed,
            (None, None) => return Ok(()),
        };
        let Parsed { gathered, bytes, lines, numbers, error } = parsed;
        // The bytes of the fingerprint may be three times as long as the text, so they are dropped here.
        match bytes {
            Some(bytes) => self.all.fingerprinter.add_encoded(&bytes),
            None => gathered.add_to_fingerprint(&mut self.all.fingerprinter),
        }
        self.all.gathered.append(gathered, error, (&self.file, before))?;
        self.all.lines = lines;
        if opener.is_numbered() {
            self.begun.extend(numbers);
        }
        Ok(())
    }

    /// Reads a piece, knowing about all pieces before it.
    fn parse(&self, piece: Piece, opener: &Opener, empty: G) -> Parsed<G> {
        let known = Known { labels: self.all.gathered.labels(), begun: Some(&self.begun) };
        parse(piece, opener, known, empty)
    }
}

/// Returns the numbers that the names of a piece have in `all`. New names are added to it.
pub(super) fn join_names(
    all: &mut Names,
    own: &Names,
    (file, before): (&str, u64),
    what: &'static str,
) -> Result<Vec<u32>, DataError> {
    // It is not known in which line of the piece the first name that is too many is.
    let too_many = || DataError::TooManyNames { place: Place::new(file, before + 1, 1), what };
    all.absorb(own).ok_or_else(too_many)
}
