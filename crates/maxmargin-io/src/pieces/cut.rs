//! Cuts an input into pieces that can be read independently.

use crate::lines::{Lines, PieceOfLines};
use crate::names::Names;
use crate::reader::ReadSequences;
use std::collections::HashMap;
use std::fmt;
use std::io;

/// The number of bytes of a piece. A piece is so large that the names that pieces have in common hardly matter, and
/// so small that it stays in the cache of a core.
const SIZE: usize = 1 << 20;

/// The number of bytes of a piece of rows. Several pieces are in memory at once, and the result of short rows takes
/// many times as much memory as their text. The attributes of most rows are numbers, which need little memory as
/// names.
const SIZE_OF_ROWS: usize = 1 << 18;

/// Where an input may be cut.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Cut {
    /// After any line.
    Lines,
    /// After an empty line that ends a sequence of tokens.
    EmptyLines,
    /// Where the number changes that this function reads from each line.
    Numbers(fn(&[u8]) -> Option<u64>),
}

/// What is known from the pieces before a piece.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Known<'a> {
    /// The labels so far.
    pub(crate) labels: Option<&'a Names>,
    /// The numbers of the sequences so far, and the lines in which they begin.
    pub(crate) begun: Option<&'a HashMap<u64, u64>>,
}

/// Makes a reader for the lines of a piece.
type Open = Box<dyn Fn(Lines, Known<'_>) -> Box<dyn ReadSequences> + Send + Sync>;

/// Whether a text cannot be read without the labels before it.
type NeedsLabels = fn(&[u8]) -> bool;

/// The rest of an input, cut into pieces that several threads can read.
///
/// ```
/// use maxmargin_io::{Format, Lines, ReadSequences, open_reader};
///
/// let lines = Lines::from_reader("pets.txt", "noun\tcat\n\nnoun\tdog\n".as_bytes())?;
/// let mut reader = open_reader(lines, Some(Format::Crfsuite))?;
/// assert!(reader.take_pieces().is_some());
/// # Ok::<(), maxmargin_io::DataError>(())
/// ```
pub struct Pieces {
    input: Lines,
    cut: Cut,
    open: Open,
    needs_labels: NeedsLabels,
    /// The text that was read of the next piece.
    text: Vec<u8>,
    /// Lines before the next piece.
    lines: u64,
    size: usize,
    threads: usize,
    ended: bool,
}

impl fmt::Debug for Pieces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pieces").field("input", &self.input).finish_non_exhaustive()
    }
}

/// A piece of an input.
pub(crate) struct Piece {
    pub(crate) text: Vec<u8>,
    /// Lines before it.
    pub(crate) before: u64,
    /// The error that follows these bytes.
    pub(crate) error: Option<io::Error>,
    /// Whether it is the last one.
    pub(crate) is_last: bool,
}

impl Piece {
    /// A copy of the piece, without the error after it.
    pub(crate) fn copy(&self) -> Self {
        Self { text: self.text.clone(), before: self.before, error: None, is_last: self.is_last }
    }
}

impl Pieces {
    /// The rest of `input`. `open` creates the readers of pieces.
    pub(crate) fn new(
        input: Lines,
        cut: Cut,
        open: impl Fn(Lines, Known<'_>) -> Box<dyn ReadSequences> + Send + Sync + 'static,
    ) -> Self {
        let (mut input, open) = (input, Box::new(open));
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let (text, lines) = input.give_back();
        let needs_labels = |_: &[u8]| false;
        let size = if matches!(cut, Cut::Lines) { SIZE_OF_ROWS } else { SIZE };
        Self { input, cut, open, needs_labels, text, lines, size, threads, ended: false }
    }

    /// The same input, in which some pieces cannot be read without the labels before them.
    pub(crate) fn where_some_need_labels(self, needs_labels: NeedsLabels) -> Self {
        Self { needs_labels, ..self }
    }

    /// The same input, read by this number of threads, or by one per core if it is 0. The result does not depend on
    /// it.
    ///
    /// ```
    /// use maxmargin_io::{Format, Lines, ReadSequences, open_reader};
    ///
    /// let lines = Lines::from_reader("pets.txt", "noun\tcat\n\nnoun\tdog\n".as_bytes())?;
    /// let mut reader = open_reader(lines, Some(Format::Crfsuite))?;
    /// let pieces = reader.take_pieces().map(|pieces| pieces.with_threads(2));
    /// # Ok::<(), maxmargin_io::DataError>(())
    /// ```
    #[must_use]
    pub fn with_threads(self, threads: usize) -> Self {
        Self { threads: if threads == 0 { self.threads } else { threads }, ..self }
    }

    /// The same input in pieces of another size, read by another number of threads. Neither changes the result.
    #[cfg(test)]
    pub(crate) fn with(self, size: usize, threads: usize) -> Self {
        Self { size, threads, ..self }
    }

    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    /// The input as messages name it.
    pub(crate) fn file(&self) -> &str {
        self.input.file()
    }

    /// The part of this input that is needed to read its pieces.
    pub(crate) fn opener(&mut self) -> Opener {
        let none: Open = Box::new(|_, _| unreachable!("the readers are made elsewhere"));
        let open = std::mem::replace(&mut self.open, none);
        let is_numbered = matches!(self.cut, Cut::Numbers(_));
        let (kind, limit) = (self.input.kind(), self.input.limit());
        Opener { kind, limit, open, needs_labels: self.needs_labels, is_numbered }
    }

    /// The next piece, in the order of the input.
    pub(crate) fn next(&mut self) -> Option<Piece> {
        if self.ended {
            return None;
        }
        let (mut searched, mut aim) = (0, self.size);
        loop {
            let read = self.input.read_some(&mut self.text, aim);
            let at_end = !matches!(read, Ok(true));
            let cut = match at_end {
                true => Some(self.text.len()),
                false => self.last_cut(searched).or_else(|| self.endless_line()),
            };
            if let Some(cut) = cut {
                self.ended = at_end;
                let rest = self.text.split_off(cut);
                let text = std::mem::replace(&mut self.text, rest);
                let before = self.lines;
                self.lines += text.iter().filter(|&&byte| byte == b'\n').count() as u64;
                return Some(Piece { text, before, error: read.err(), is_last: at_end });
            }
            // The sequence is long, so all of it becomes one piece.
            (searched, aim) = (self.text.len(), self.text.len() * 2);
        }
    }

    /// The last place at or after `from` where the current text can be cut.
    fn last_cut(&self, from: usize) -> Option<usize> {
        match self.cut {
            Cut::Lines => last_line(&self.text[from..]).map(|at| from + at),
            // An empty line may begin with the last byte that was searched before.
            Cut::EmptyLines => last_empty_line(&self.text, from.saturating_sub(3)),
            Cut::Numbers(number) => last_change(&self.text, number),
        }
    }

    /// The end of the current text, if it ends with a line that is too long for any reader.
    fn endless_line(&self) -> Option<usize> {
        let start = self.text.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        (self.text.len() - start > self.input.limit() + 2).then_some(self.text.len())
    }
}

/// The end of the last whole line of a text.
fn last_line(text: &[u8]) -> Option<usize> {
    text.iter().rposition(|&byte| byte == b'\n').map(|at| at + 1)
}

/// The end of the last empty line after a token that begins at or after `from`.
fn last_empty_line(text: &[u8], from: usize) -> Option<usize> {
    let mut end = text.len();
    while let Some(at) = text[from..end].iter().rposition(|&byte| byte == b'\n') {
        let at = from + at;
        let cut = match &text[at + 1..] {
            [b'\n', ..] => Some(at + 2),
            [b'\r', b'\n', ..] => Some(at + 3),
            _ => None,
        };
        if cut.is_some() && ends_with_token(&text[..at]) {
            return cut;
        }
        end = at;
    }
    None
}

/// The last beginning of a line whose number is another than that of the line before it. Lines without a number
/// belong to those around them.
fn last_change(text: &[u8], number: impl Fn(&[u8]) -> Option<u64>) -> Option<usize> {
    // The last line may be incomplete.
    let mut start = last_line(text)?;
    let mut later: Option<(usize, u64)> = None;
    while start > 0 {
        let end = start - 1;
        start = last_line(&text[..end]).unwrap_or(0);
        match (number(&text[start..end]), later) {
            (Some(own), Some((at, other))) if own != other => return Some(at),
            (Some(own), _) => later = Some((start, own)),
            (None, _) => later = None,
        }
    }
    None
}

/// Whether the last line of a text is a token. A line that begins with `@` might be the weight of a sequence that
/// comes after the empty line.
fn ends_with_token(text: &[u8]) -> bool {
    let start = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let line = &text[start..];
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    !line.starts_with(b"@") && line.iter().any(|&byte| byte != b' ' && byte != b'\r')
}

/// Creates readers of pieces.
pub(crate) struct Opener {
    kind: PieceOfLines,
    /// The longest line that is read.
    limit: usize,
    open: Open,
    needs_labels: NeedsLabels,
    is_numbered: bool,
}

impl Opener {
    /// A reader of a piece, which knows about the pieces before it.
    pub(crate) fn open(&self, piece: Piece, known: Known<'_>) -> Box<dyn ReadSequences> {
        let Piece { text, before, error, .. } = piece;
        (self.open)(self.kind.lines(text, before, error), known)
    }

    /// Whether a piece may contain a line that is too long. Only the reader of the format refuses such lines.
    pub(crate) fn may_have_endless_line(&self, piece: &Piece) -> bool {
        piece.text.len() > self.limit
    }

    /// Whether sequences have numbers, which must not be repeated.
    pub(crate) fn is_numbered(&self) -> bool {
        self.is_numbered
    }

    /// Whether a piece must wait until the pieces before it are joined. If an input error follows a piece, the
    /// piece cannot be read twice.
    pub(crate) fn depends_on_others(&self, piece: &Piece) -> bool {
        (self.is_numbered && piece.error.is_some()) || (self.needs_labels)(&piece.text)
    }
}
