//! What reading collects, whether from pieces or in one go: sequences or rows, their names, and the fingerprint.

use super::cut::{Known, Opener, Piece, Pieces};
use super::run::read_pieces;
use crate::error::{DataError, Place};
use crate::fingerprint::{Fingerprinter, encode_sequence};
use crate::names::Names;
use crate::reader::ReadSequences;
use crate::sequence::RawSequence;
use std::collections::HashMap;

/// A collection of sequences or rows, with names of its own.
pub(crate) trait Gather: Send + Sized {
    /// Adds a sequence of a file.
    fn add(&mut self, raw: &RawSequence, file: &str) -> Result<(), DataError>;

    /// Adds those of a piece, which begins after so many lines of a file, and reports what is wrong after them.
    fn append(
        &mut self,
        piece: Self,
        error: Option<DataError>,
        at: (&str, u64),
    ) -> Result<(), DataError>;

    /// All labels so far, if they are kept as they are written.
    fn labels(&self) -> Option<&Names>;

    /// Reads a piece in a shorter way than its reader would, if there is one.
    fn parse_plain(&self, piece: &Piece) -> Option<Parsed<Self>>;

    /// Adds all that it has to a fingerprint, as if it had been read one after the other. Only what was parsed in the
    /// shorter way can be asked for this.
    fn add_to_fingerprint(&self, to: &mut Fingerprinter);
}

/// What was made of a piece.
pub(crate) struct Parsed<G> {
    pub(crate) gathered: G,
    /// What the fingerprint is made of, unless it is [made of what was gathered](Gather::add_to_fingerprint).
    pub(crate) bytes: Option<Vec<u8>>,
    /// The number of its last line.
    pub(crate) lines: u64,
    /// Numbers of its sequences, if they have any, and the lines in which they begin.
    numbers: Vec<(u64, u64)>,
    /// What is wrong after these sequences.
    error: Option<DataError>,
}

impl<G> Parsed<G> {
    pub(super) fn new(gathered: G) -> Self {
        Self { gathered, bytes: Some(Vec::new()), lines: 0, numbers: Vec::new(), error: None }
    }
}

/// What was read.
pub(crate) struct Gathered<G> {
    pub(crate) gathered: G,
    pub(crate) fingerprinter: Fingerprinter,
    /// Lines of the input.
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

/// Reads all sequences of an input, just as if they had been read one after the other. `empty` makes collections
/// for the pieces.
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

/// A piece on its way.
struct Work<G> {
    /// Lines before it.
    before: u64,
    /// What was made of it, unless that depends on the pieces before it.
    parsed: Option<Parsed<G>>,
    /// The piece itself, if it may have to be read once more.
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

/// Puts pieces together, in order.
struct Joiner<G> {
    all: Gathered<G>,
    /// The numbers of all sequences so far, where they have any, and the lines in which they begin.
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
        // A number that comes back, or an error that may come after one: the reader finds the words.
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
        // What the fingerprint is made of may be three times the text, so it is not kept any longer.
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

    /// Reads a piece with all that the pieces before it tell.
    fn parse(&self, piece: Piece, opener: &Opener, empty: G) -> Parsed<G> {
        let known = Known { labels: self.all.gathered.labels(), begun: Some(&self.begun) };
        parse(piece, opener, known, empty)
    }
}

/// The numbers that the names of a piece have in `all`, to which new ones are added.
pub(super) fn join_names(
    all: &mut Names,
    own: &Names,
    (file, before): (&str, u64),
    what: &'static str,
) -> Result<Vec<u32>, DataError> {
    // Nobody knows which line of the piece had the one name too many.
    let too_many = || DataError::TooManyNames { place: Place::new(file, before + 1, 1), what };
    all.absorb(own).ok_or_else(too_many)
}
