//! Answers the sequences of an input, on several threads and in the order of the input.
//!
//! If an input can be cut into pieces, the threads read the pieces as well. Otherwise one thread at a time reads
//! some sequences and answers them, while another thread reads the next ones. Only a few pieces are in memory at a
//! time, so the memory in use does not grow with the input.

use crate::error::DataError;
use crate::in_order::work_in_order;
use crate::kept_lines::KeptLines;
use crate::mapping::Unknown;
use crate::pieces::{Known, Pieces};
use crate::reader::ReadSequences;
use crate::sequence::RawSequence;
use crate::side_by_side::thread_count;
use std::io::{self, Write};
use std::ops::Range;

/// A thread takes at most this many sequences at once, and takes no more after `TOKENS` tokens.
const SEQUENCES: usize = 64;
const TOKENS: usize = 2048;

/// Each thread takes examples at least this many times, so that threads do not wait long for each other at the end.
const TIMES: usize = 8;

/// How the sequences of an input are answered; see [`answer_sequences`].
///
/// ```
/// let plan = maxmargin_io::Answering::default();
/// assert_eq!((plan.threads, plan.follows, plan.answers_each), (0, false, 1));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Answering {
    /// The number of threads; 0 means all cores. Answers do not depend on it.
    pub threads: usize,
    /// Whether each sequence is answered as soon as it is read, even if the next one is not there yet.
    pub follows: bool,
    /// The length of an answer, in answers of the usual length. If answers are long, a thread takes fewer sequences
    /// at once.
    pub answers_each: usize,
}

impl Default for Answering {
    fn default() -> Self {
        Self { threads: 0, follows: false, answers_each: 1 }
    }
}

/// A sequence that is to be answered.
///
/// ```
/// use maxmargin_io::{Asked, RawSequence};
///
/// let asked = Asked { file: "pets.txt", sequence: &RawSequence::new(), kept_lines: None };
/// assert!(asked.sequence.is_empty());
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// The input as messages name it.
    pub file: &'a str,
    /// The sequence.
    pub sequence: &'a RawSequence,
    /// Its lines, if the reader keeps them.
    pub kept_lines: Option<&'a KeptLines>,
}

/// Reads sequences to the end of the input, calls `answer` for them on several threads, and writes the answers to
/// `out` in the order of the input. Returns how much of the sequences was not known. Each thread calls `start` once
/// to create its scratch memory.
///
/// ```
/// use maxmargin_io::{Answering, Format, Lines, Unknown, answer_sequences, open_reader};
/// use std::io::Write as _;
///
/// let lines = Lines::from_reader("pets.txt", "noun\tcat\nverb\tpurrs\n\nnoun\tdog\n".as_bytes())?;
/// let reader = open_reader(lines, Some(Format::Crfsuite))?;
/// let mut lengths = Vec::new();
/// answer_sequences(reader, Answering::default(), &mut lengths, || (), |(), asked, out| {
///     writeln!(out, "{}", asked.sequence.len())?;
///     Ok::<_, Box<dyn std::error::Error + Send + Sync>>(Unknown::default())
/// })?;
/// assert_eq!(lengths, b"2\n1\n");
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
///
/// # Errors
/// Returns the first error of reading, answering or writing. The answers to everything before it in the input were
/// written.
pub fn answer_sequences<S, E: From<DataError> + From<io::Error> + Send>(
    mut reader: impl ReadSequences + Send,
    plan: Answering,
    out: &mut (dyn Write + Send),
    start: impl Fn() -> S + Sync,
    answer: impl Fn(&mut S, &Asked<'_>, &mut Vec<u8>) -> Result<Unknown, E> + Sync,
) -> Result<Unknown, E> {
    let threads = thread_count(plan.threads);
    let mut unknown = Unknown::default();
    let join = |answered: Answered<E>| {
        out.write_all(&answered.text)?;
        if plan.follows {
            out.flush()?;
        }
        unknown.add(answered.unknown);
        answered.error.map_or(Ok(()), Err)
    };
    let in_pieces = !plan.follows && plan.answers_each <= 1 && reader.has_independent_pieces();
    let pieces = if in_pieces { reader.take_pieces() } else { None };
    match pieces {
        Some(pieces) => answer_pieces(pieces, threads, start, answer, join)?,
        None => {
            let (sequences, tokens) = match plan.follows {
                true => (1, 1),
                false => (SEQUENCES / plan.answers_each.max(1), TOKENS / plan.answers_each.max(1)),
            };
            let mut batches = Batches { reader, sequences, tokens, ended: false };
            let next = move || batches.next();
            let work = |scratch: &mut S, batch: Batch| batch.answer(scratch, &answer);
            work_in_order(threads, next, |batch| batch.is_last, start, work, join)?;
        }
    }
    out.flush()?;
    Ok(unknown)
}

/// Calls `answer` for the examples 0, 1, …, `count` − 1 on several threads, and writes the answers to `out` in this
/// order. Each thread calls `start` once to create its scratch memory. [`follows`](Answering::follows) has no
/// effect, because all examples are in memory.
///
/// ```
/// use maxmargin_io::{Answering, answer_examples};
/// use std::io::Write as _;
///
/// let mut squares = Vec::new();
/// answer_examples(3, Answering::default(), &mut squares, || (), |(), i, out| {
///     writeln!(out, "{}", i * i)
/// })?;
/// assert_eq!(squares, b"0\n1\n4\n");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// Returns the first error of answering or writing. The answers to all examples before it were written.
pub fn answer_examples<S, E: From<io::Error> + Send>(
    count: usize,
    plan: Answering,
    out: &mut (dyn Write + Send),
    start: impl Fn() -> S + Sync,
    answer: impl Fn(&mut S, usize, &mut Vec<u8>) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let threads = thread_count(plan.threads);
    let most = (SEQUENCES / plan.answers_each.max(1)).min(count / (TIMES * threads)).max(1);
    let mut next = 0;
    let input = || {
        let examples = next..(next + most).min(count);
        next = examples.end;
        (!examples.is_empty()).then_some(examples)
    };
    let is_last = |examples: &Range<usize>| examples.end == count;
    let work = |scratch: &mut S, mut examples: Range<usize>| {
        let mut text = Vec::new();
        let error = examples.find_map(|i| answer(scratch, i, &mut text).err());
        (text, error)
    };
    let join = |(text, error): (Vec<u8>, Option<E>)| {
        out.write_all(&text)?;
        error.map_or(Ok(()), Err)
    };
    work_in_order(threads, input, is_last, start, work, join)?;
    Ok(out.flush()?)
}

/// Answers an input whose pieces can be read independently.
fn answer_pieces<S, E: From<DataError> + Send>(
    mut pieces: Pieces,
    threads: usize,
    start: impl Fn() -> S + Sync,
    answer: impl Fn(&mut S, &Asked<'_>, &mut Vec<u8>) -> Result<Unknown, E> + Sync,
    join: impl FnMut(Answered<E>) -> Result<(), E> + Send,
) -> Result<(), E> {
    let opener = pieces.opener();
    let work = |(scratch, sequence): &mut (S, RawSequence), piece| {
        let (mut reader, mut answered) =
            (opener.open(piece, Known::default()), Answered::default());
        loop {
            match reader.read(sequence) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    answered.error = Some(error.into());
                    break;
                }
            }
            let asked = Asked { file: reader.file(), sequence, kept_lines: None };
            if !answered.add(scratch, &asked, &answer) {
                break;
            }
        }
        answered
    };
    let start = || (start(), RawSequence::new());
    work_in_order(threads, move || pieces.next(), |piece| piece.is_last, start, work, join)
}

/// Reads some sequences at once.
struct Batches<R> {
    reader: R,
    /// A batch ends at this number of sequences, or at this number of tokens.
    sequences: usize,
    tokens: usize,
    ended: bool,
}

/// Some sequences that were read one after the other.
struct Batch {
    file: String,
    sequences: Vec<(RawSequence, Option<KeptLines>)>,
    /// Lines after the last sequence.
    rest: Option<KeptLines>,
    /// The error that follows these sequences.
    error: Option<DataError>,
    is_last: bool,
}

impl<R: ReadSequences> Batches<R> {
    fn next(&mut self) -> Option<Batch> {
        if self.ended {
            return None;
        }
        let (mut sequences, mut tokens) = (Vec::new(), 0);
        let (mut rest, mut error) = (None, None);
        loop {
            let mut sequence = RawSequence::new();
            match self.reader.read(&mut sequence) {
                Ok(true) => {
                    tokens += sequence.len();
                    sequences.push((sequence, self.reader.kept_lines().cloned()));
                    if sequences.len() >= self.sequences || tokens >= self.tokens {
                        break;
                    }
                }
                Ok(false) => {
                    self.ended = true;
                    rest = self.reader.kept_lines().cloned();
                    break;
                }
                Err(found) => {
                    self.ended = true;
                    error = Some(found);
                    break;
                }
            }
        }
        let file = self.reader.file().to_owned();
        Some(Batch { file, sequences, rest, error, is_last: self.ended })
    }
}

impl Batch {
    fn answer<S, E: From<DataError> + From<io::Error>>(
        self,
        scratch: &mut S,
        answer: &impl Fn(&mut S, &Asked<'_>, &mut Vec<u8>) -> Result<Unknown, E>,
    ) -> Answered<E> {
        let mut answered = Answered::default();
        for (sequence, kept) in &self.sequences {
            let asked = Asked { file: &self.file, sequence, kept_lines: kept.as_ref() };
            if !answered.add(scratch, &asked, answer) {
                return answered;
            }
        }
        let rest = self.rest.map_or(Ok(()), |rest| rest.write(&mut answered.text, []));
        answered.error = self.error.map(E::from).or(rest.err().map(E::from));
        answered
    }
}

/// The answers of a thread to a piece.
struct Answered<E> {
    text: Vec<u8>,
    unknown: Unknown,
    /// The error that follows this text.
    error: Option<E>,
}

impl<E> Default for Answered<E> {
    fn default() -> Self {
        Self { text: Vec::new(), unknown: Unknown::default(), error: None }
    }
}

impl<E> Answered<E> {
    /// Adds the answer to a sequence. Returns `false` if there is an error, after which no answers may follow.
    fn add<S>(
        &mut self,
        scratch: &mut S,
        asked: &Asked<'_>,
        answer: &impl Fn(&mut S, &Asked<'_>, &mut Vec<u8>) -> Result<Unknown, E>,
    ) -> bool {
        match answer(scratch, asked, &mut self.text) {
            Ok(unknown) => self.unknown.add(unknown),
            Err(error) => self.error = Some(error),
        }
        self.error.is_none()
    }
}

#[cfg(test)]
mod tests;
