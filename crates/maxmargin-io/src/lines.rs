//! Text input line by line: files, standard input, plain or gzip.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use crate::error::{DataError, Place, quote};

/// The size of the buffer for reading. It is so large that the time of system calls does not matter.
const BUFFER: usize = 1 << 16;

/// The name of standard input.
const STDIN: &str = "<stdin>";

/// Readers look at lines ahead to find out what they are. Blank lines and comments may come first, but no more than
/// this many bytes of them, because a small packed file can contain any number of blank lines. Up to `FEW_LINES`
/// lines may have any length.
const MOST_AHEAD: usize = 16 << 20;
const FEW_LINES: usize = 200;

/// The approximate memory of a line while it waits.
fn size_ahead(line: &str) -> usize {
    line.len() + size_of::<String>()
}

/// The lines of an input, one at a time. Only a few of them are in memory at any time.
///
/// * gzip data is recognised by its first two bytes, whatever the file is called, and may have
///   several members.
/// * Lines end with `\n` or `\r\n`; the last one need not end at all. A byte order mark at the
///   start is skipped.
/// * Text must be UTF-8 without NUL bytes and without stray carriage returns. Each of these means that the input is
///   not what the user thinks it is.
///
/// ```
/// use maxmargin_io::Lines;
///
/// let mut lines = Lines::from_reader("example", "one\r\ntwo".as_bytes())?;
/// assert!(lines.advance()?);
/// assert_eq!((lines.line(), lines.number()), ("one", 1));
/// assert!(lines.advance()?);
/// assert_eq!((lines.line(), lines.number()), ("two", 2));
/// assert!(!lines.advance()?);
/// # Ok::<(), maxmargin_io::DataError>(())
/// ```
pub struct Lines {
    reader: Box<dyn BufRead + Send>,
    packed: bool,
    file: String,
    line: String,
    number: u64,
    /// Whether the current line is returned once more.
    held: bool,
    /// Lines that were looked at but not returned yet.
    ahead: VecDeque<String>,
    /// The approximate number of bytes of these lines.
    ahead_bytes: usize,
    limit: usize,
    /// Whether there may be a byte order mark at the start.
    may_have_mark: bool,
}

/// The properties that the pieces of an input share, so that each piece can be read independently.
#[derive(Debug, Clone)]
pub(crate) struct PieceOfLines {
    file: String,
    packed: bool,
    limit: usize,
    may_have_mark: bool,
}

impl PieceOfLines {
    /// The lines of a piece that comes after `before` lines. `error` is the error that follows the piece.
    pub(crate) fn lines(&self, text: Vec<u8>, before: u64, error: Option<io::Error>) -> Lines {
        let Self { ref file, packed, limit, may_have_mark } = *self;
        let reader: Box<dyn BufRead + Send> = match error {
            None => Box::new(Cursor::new(text)),
            Some(error) => Box::new(BufReader::new(Cursor::new(text).chain(Broken(Some(error))))),
        };
        let (file, number) = (file.clone(), before);
        let may_have_mark = may_have_mark && before == 0;
        Lines { reader, packed, number, limit, may_have_mark, ..Lines::none(file) }
    }
}

/// An input that cannot be read any further.
struct Broken(Option<io::Error>);

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

impl Lines {
    /// The longest line that is read, in bytes. Without a limit, an endless line would fill the memory.
    ///
    /// ```
    /// assert_eq!(maxmargin_io::Lines::LIMIT, 256 << 20);
    /// ```
    pub const LIMIT: usize = 256 << 20;

    /// Opens a file.
    ///
    /// # Errors
    /// The file cannot be opened or its first bytes cannot be read; the error names it.
    ///
    /// ```
    /// let error = maxmargin_io::Lines::open("no/such/file").err().unwrap();
    /// assert!(error.to_string().starts_with("no/such/file: cannot be read: "));
    /// ```
    pub fn open(path: impl AsRef<Path>) -> Result<Self, DataError> {
        let path = path.as_ref();
        let name = path.display().to_string();
        match File::open(path) {
            Ok(file) => Self::from_reader(name, file),
            Err(error) => Err(DataError::Read { file: name, error }),
        }
    }

    /// The lines of standard input, called `<stdin>` in messages.
    ///
    /// # Errors
    /// The first bytes cannot be read.
    ///
    /// ```no_run
    /// let mut lines = maxmargin_io::Lines::stdin()?;
    /// while lines.advance()? {
    ///     println!("{}", lines.line());
    /// }
    /// # Ok::<(), maxmargin_io::DataError>(())
    /// ```
    pub fn stdin() -> Result<Self, DataError> {
        Self::from_reader(STDIN, io::stdin())
    }

    /// Whether a user may be typing the lines.
    pub(crate) fn is_stdin(&self) -> bool {
        self.file == STDIN
    }

    /// The lines of anything readable, called `name` in messages.
    ///
    /// # Errors
    /// The first bytes cannot be read.
    ///
    /// ```
    /// let lines = maxmargin_io::Lines::from_reader("example", "some text".as_bytes())?;
    /// assert_eq!(lines.file(), "example");
    /// # Ok::<(), maxmargin_io::DataError>(())
    /// ```
    pub fn from_reader(
        name: impl Into<String>,
        mut input: impl Read + Send + 'static,
    ) -> Result<Self, DataError> {
        let file = name.into();
        let mut magic = Vec::with_capacity(2);
        if let Err(error) = input.by_ref().take(2).read_to_end(&mut magic) {
            return Err(DataError::Read { file, error });
        }
        let packed = magic == [0x1f, 0x8b];
        let whole = BufReader::with_capacity(BUFFER, Cursor::new(magic).chain(input));
        let reader: Box<dyn BufRead + Send> = if packed {
            Box::new(BufReader::with_capacity(BUFFER, MultiGzDecoder::new(whole)))
        } else {
            Box::new(whole)
        };
        Ok(Self { reader, packed, ..Self::none(file) })
    }

    /// Creates an input without lines.
    fn none(file: String) -> Self {
        Self {
            reader: Box::new(io::empty()),
            packed: false,
            file,
            line: String::new(),
            number: 0,
            held: false,
            ahead: VecDeque::new(),
            ahead_bytes: 0,
            limit: Self::LIMIT,
            may_have_mark: true,
        }
    }

    /// The same lines. None may be longer than this number of bytes.
    #[cfg(test)]
    pub(crate) fn with_limit(self, limit: usize) -> Self {
        Self { limit, ..self }
    }

    /// The longest line that is read.
    pub(crate) fn limit(&self) -> usize {
        self.limit
    }

    /// Takes all lines from the current one on. No lines are left here.
    pub(crate) fn take_rest(&mut self) -> Self {
        let none = Self { number: self.number, ..Self::none(self.file.clone()) };
        std::mem::replace(self, none)
    }

    /// The properties that the pieces of this input share.
    pub(crate) fn kind(&self) -> PieceOfLines {
        let Self { ref file, packed, limit, may_have_mark, .. } = *self;
        PieceOfLines { file: file.clone(), packed, limit, may_have_mark }
    }

    /// The text of the lines that were looked at but not returned yet, and the number of lines before them.
    pub(crate) fn give_back(&mut self) -> (Vec<u8>, u64) {
        if std::mem::take(&mut self.held) {
            self.ahead.push_front(std::mem::take(&mut self.line));
            self.number -= 1;
        }
        self.may_have_mark = self.number == 0 && self.ahead.is_empty();
        self.ahead_bytes = 0;
        let mut text = Vec::new();
        for line in self.ahead.drain(..) {
            text.extend_from_slice(line.as_bytes());
            text.push(b'\n');
        }
        (text, self.number)
    }

    /// Reads until `text` has at least `aim` bytes. Returns `false` at the end of the input.
    pub(crate) fn read_some(&mut self, text: &mut Vec<u8>, aim: usize) -> io::Result<bool> {
        while text.len() < aim {
            let bytes = match self.reader.fill_buf() {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if bytes.is_empty() {
                return Ok(false);
            }
            text.extend_from_slice(bytes);
            let read = bytes.len();
            self.reader.consume(read);
        }
        Ok(true)
    }

    /// Goes to the next line. Returns `false` at the end of the input.
    ///
    /// # Errors
    /// If the input cannot be read any further, or if the line is not clean text.
    ///
    /// ```
    /// let mut lines = maxmargin_io::Lines::from_reader("example", &b"ok\n\xff"[..])?;
    /// assert!(lines.advance()?);
    /// assert_eq!(
    ///     lines.advance().unwrap_err().to_string(),
    ///     "example:2:1: expected UTF-8 text, found the byte 0xff",
    /// );
    /// # Ok::<(), maxmargin_io::DataError>(())
    /// ```
    pub fn advance(&mut self) -> Result<bool, DataError> {
        if std::mem::take(&mut self.held) {
            return Ok(true);
        }
        let spare = std::mem::take(&mut self.line);
        let next = match self.ahead.pop_front() {
            Some(line) => {
                self.ahead_bytes = self.ahead_bytes.saturating_sub(size_ahead(&line));
                Some(line)
            }
            None => self.fetch(spare, self.number + 1)?,
        };
        let Some(line) = next else { return Ok(false) };
        self.line = line;
        self.number += 1;
        Ok(true)
    }

    /// The current line without its end; empty before the first and after the last.
    ///
    /// ```
    /// let lines = maxmargin_io::Lines::from_reader("example", "text".as_bytes())?;
    /// assert_eq!(lines.line(), "");
    /// # Ok::<(), maxmargin_io::DataError>(())
    /// ```
    pub fn line(&self) -> &str {
        &self.line
    }

    /// Number of the current line, from 1; 0 before the first.
    ///
    /// ```
    /// let lines = maxmargin_io::Lines::from_reader("example", "text".as_bytes())?;
    /// assert_eq!(lines.number(), 0);
    /// # Ok::<(), maxmargin_io::DataError>(())
    /// ```
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The input as messages name it.
    ///
    /// ```
    /// let lines = maxmargin_io::Lines::from_reader("example", "text".as_bytes())?;
    /// assert_eq!(lines.file(), "example");
    /// # Ok::<(), maxmargin_io::DataError>(())
    /// ```
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Makes the next [`advance`](Self::advance) return the current line once more. Readers need this if they
    /// notice the end of a sequence only at the first line of the next one.
    ///
    /// ```
    /// let mut lines = maxmargin_io::Lines::from_reader("example", "1\n2".as_bytes())?;
    /// lines.advance()?;
    /// lines.hold();
    /// lines.advance()?;
    /// assert_eq!(lines.line(), "1");
    /// # Ok::<(), maxmargin_io::DataError>(())
    /// ```
    pub fn hold(&mut self) {
        self.held = self.number > 0;
    }

    /// The line `offset` lines after the current one (1 is the next), without going there.
    ///
    /// # Errors
    /// The same as for [`advance`](Self::advance), and [`DataError::NothingYet`] if more text would have to be
    /// looked at than is allowed.
    ///
    /// ```
    /// let mut lines = maxmargin_io::Lines::from_reader("example", "1\n2".as_bytes())?;
    /// assert_eq!(lines.peek(2)?, Some("2"));
    /// assert_eq!(lines.peek(3)?, None);
    /// lines.advance()?;
    /// assert_eq!(lines.line(), "1");
    /// # Ok::<(), maxmargin_io::DataError>(())
    /// ```
    pub fn peek(&mut self, offset: usize) -> Result<Option<&str>, DataError> {
        while self.ahead.len() < offset {
            if self.ahead.len() >= FEW_LINES && self.ahead_bytes > MOST_AHEAD {
                let (file, bytes) = (self.file.clone(), MOST_AHEAD);
                return Err(DataError::NothingYet { file, bytes });
            }
            let number = self.number + self.ahead.len() as u64 + 1;
            match self.fetch(String::new(), number)? {
                Some(line) => {
                    self.ahead_bytes += size_ahead(&line);
                    self.ahead.push_back(line);
                }
                None => return Ok(None),
            }
        }
        Ok(Some(if offset == 0 { &self.line } else { &self.ahead[offset - 1] }))
    }

    /// The place in the current line that is `byte` bytes from its start.
    pub(crate) fn place(&self, byte: usize) -> Place {
        Place::new(&*self.file, self.number, column(&self.line, byte))
    }

    /// An error about the text `found` at `byte` in the current line.
    pub(crate) fn unexpected(
        &self,
        byte: usize,
        expected: impl Into<String>,
        found: &str,
    ) -> DataError {
        let found = if found.is_empty() { "nothing".into() } else { quote(found) };
        DataError::Syntax { place: self.place(byte), expected: expected.into(), found }
    }

    /// An error about a line ahead.
    pub(crate) fn unexpected_at(
        &self,
        number: u64,
        expected: impl Into<String>,
        found: &str,
    ) -> DataError {
        let place = Place::new(&*self.file, number, 1);
        DataError::Syntax { place, expected: expected.into(), found: found.into() }
    }

    /// Reads the line with the given number into the memory of `spare`.
    fn fetch(&mut self, spare: String, number: u64) -> Result<Option<String>, DataError> {
        let mut bytes = spare.into_bytes();
        bytes.clear();
        // Two more bytes than allowed: room for the line end.
        let most = self.limit as u64 + 2;
        if let Err(error) = self.reader.by_ref().take(most).read_until(b'\n', &mut bytes) {
            let file = self.file.clone();
            return Err(if self.packed {
                DataError::Unpack { file, line: number - 1, error }
            } else {
                DataError::Read { file, error }
            });
        }
        if bytes.is_empty() {
            return Ok(None);
        }
        if bytes.last() == Some(&b'\n') {
            bytes.pop();
            if bytes.last() == Some(&b'\r') {
                bytes.pop();
            }
        }
        if number == 1 && self.may_have_mark && bytes.starts_with(b"\xef\xbb\xbf") {
            bytes.drain(..3);
        }
        self.clean(bytes, number).map(Some)
    }

    fn clean(&self, bytes: Vec<u8>, number: u64) -> Result<String, DataError> {
        let wrong = |column: u64, expected: &str, found: String| DataError::Syntax {
            place: Place::new(&*self.file, number, column),
            expected: expected.into(),
            found,
        };
        if bytes.len() > self.limit {
            let found = format!("a line of more than {} bytes", self.limit);
            return Err(wrong(1, "lines of text", found));
        }
        let line = match String::from_utf8(bytes) {
            Ok(line) => line,
            Err(error) => {
                let at = error.utf8_error().valid_up_to();
                let valid = String::from_utf8_lossy(&error.as_bytes()[..at]);
                let found = format!("the byte 0x{:02x}", error.as_bytes()[at]);
                return Err(wrong(column(&valid, at), "UTF-8 text", found));
            }
        };
        if line.as_bytes().contains(&0) {
            let at = line.find('\0').unwrap_or(0);
            return Err(wrong(column(&line, at), "text", "a NUL byte".into()));
        }
        if line.as_bytes().contains(&b'\r') {
            let at = line.find('\r').unwrap_or(0);
            let found = "a carriage return within a line".into();
            return Err(wrong(column(&line, at), "lines that end with \\n or \\r\\n", found));
        }
        Ok(line)
    }
}

impl std::fmt::Debug for Lines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lines")
            .field("file", &self.file)
            .field("number", &self.number)
            .field("line", &self.line)
            .finish_non_exhaustive()
    }
}

/// Column, in characters from 1, of the character that starts at `byte`.
pub(crate) fn column(line: &str, byte: usize) -> u64 {
    line.char_indices().take_while(|&(at, _)| at < byte).count() as u64 + 1
}

#[cfg(test)]
mod tests;
