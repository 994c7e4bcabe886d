//! Cutting an input into pieces that can be read by themselves.

use crate::lines::{Lines, PieceOfLines};
use crate::reader::ReadSequences;
use std::fmt;
use std::io;

/// Bytes of a piece. It is large enough that the names that pieces have in common do not count much, and small
/// enough that a piece stays in the cache of a core.
const SIZE: usize = 1 << 20;

/// Where an input may be cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// After any line.
    Lines,
    /// After an empty line that ends a sequence of tokens.
    EmptyLines,
}

/// Makes a reader for the lines of a piece.
type Open = Box<dyn Fn(Lines) -> Box<dyn ReadSequences> + Send + Sync>;

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
    /// What was read of the next piece.
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
    /// What stopped the reading after these bytes.
    pub(crate) error: Option<io::Error>,
    /// Whether it is the last one.
    pub(crate) is_last: bool,
}

impl Pieces {
    /// The rest of `input`, where `open` makes the readers of pieces.
    pub(crate) fn new(
        input: Lines,
        cut: Cut,
        open: impl Fn(Lines) -> Box<dyn ReadSequences> + Send + Sync + 'static,
    ) -> Self {
        let (mut input, open) = (input, Box::new(open));
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let (text, lines) = input.give_back();
        Self { input, cut, open, text, lines, size: SIZE, threads, ended: false }
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

    /// What a reader needs to know of the input to read its pieces.
    pub(crate) fn opener(&mut self) -> Opener {
        let none: Open = Box::new(|_| unreachable!("the readers are made elsewhere"));
        let open = std::mem::replace(&mut self.open, none);
        Opener { kind: self.input.kind(), open }
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
            // A long sequence: all of it is one piece.
            (searched, aim) = (self.text.len(), self.text.len() * 2);
        }
    }

    /// The last place at or after `from` where the text at hand can be cut.
    fn last_cut(&self, from: usize) -> Option<usize> {
        let text = self.text.as_slice();
        // An empty line may begin with the last byte that was searched before.
        let from = from.saturating_sub(3);
        let mut end = text.len();
        while let Some(at) = text[from..end].iter().rposition(|&byte| byte == b'\n') {
            let at = from + at;
            let cut = match self.cut {
                Cut::Lines => Some(at + 1),
                Cut::EmptyLines => match &text[at + 1..] {
                    [b'\n', ..] => Some(at + 2),
                    [b'\r', b'\n', ..] => Some(at + 3),
                    _ => None,
                },
            };
            if cut.is_some() && (self.cut == Cut::Lines || ends_with_token(&text[..at])) {
                return cut;
            }
            end = at;
        }
        None
    }

    /// The end of the text at hand, if it ends with a line that is longer than any reader takes.
    fn endless_line(&self) -> Option<usize> {
        let start = self.text.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        (self.text.len() - start > Lines::LIMIT + 2).then_some(self.text.len())
    }
}

/// Whether the last line of a text is a token. A line that begins with `@` might be the weight of a sequence that
/// comes after the empty line.
fn ends_with_token(text: &[u8]) -> bool {
    let start = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let line = &text[start..];
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    !line.starts_with(b"@") && line.iter().any(|&byte| byte != b' ' && byte != b'\r')
}

/// Makes readers of pieces.
pub(crate) struct Opener {
    kind: PieceOfLines,
    open: Open,
}

impl Opener {
    /// A reader of a piece.
    pub(crate) fn open(&self, piece: Piece) -> Box<dyn ReadSequences> {
        let Piece { text, before, error, .. } = piece;
        (self.open)(self.kind.lines(text, before, error))
    }
}
