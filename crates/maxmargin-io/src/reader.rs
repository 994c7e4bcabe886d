//! The common interface of all readers, and the choice of the reader for a format.
//!
//! A reader of sequences or rows implements [`ReadSequences`] over [`Lines`], and `boxed` opens it for its
//! [`Format`]. Formats of other structures have functions of their own, such as
//! [`read_superpixels`](crate::read_superpixels).

use crate::columns::BuiltInTemplate;
use crate::crfsuite::CrfsuiteReader;
use crate::dataset::Dataset;
use crate::error::DataError;
use crate::format::Format;
use crate::guess::guess_format;
use crate::kept_lines::KeptLines;
use crate::libsvm::LibsvmReader;
use crate::lines::Lines;
use crate::ocr::OcrReader;
use crate::pieces::Pieces;
use crate::sequence::RawSequence;
use crate::svm_hmm::SvmHmmReader;
use crate::template::Template;

/// A source of sequences in name form, one at a time.
///
/// ```
/// use maxmargin_io::{Format, Lines, RawSequence, open_reader};
///
/// let text = "noun\tcat\nverb\tpurrs\n\nnoun\tdog\n";
/// let lines = Lines::from_reader("pets.txt", text.as_bytes())?;
/// let mut reader = open_reader(lines, Some(Format::Crfsuite))?;
/// let mut sequence = RawSequence::new();
/// let mut lengths = Vec::new();
/// while reader.read(&mut sequence)? {
///     lengths.push(sequence.len());
/// }
/// assert_eq!(lengths, [2, 1]);
/// # Ok::<(), maxmargin_io::DataError>(())
/// ```
pub trait ReadSequences {
    /// The format of the input.
    fn format(&self) -> Format;

    /// The input as messages name it.
    fn file(&self) -> &str;

    /// Number of the line that was read last, from 1; 0 before the first.
    fn line_number(&self) -> u64;

    /// The template that makes the attributes, if it is not the format's own.
    fn template(&self) -> Option<&Template> {
        None
    }

    /// Starts to keep the lines of each sequence, so that they can be written again. Returns `false` if the lines
    /// are not columns, because labels cannot be written beside them.
    fn keep_lines(&mut self) -> bool {
        false
    }

    /// The lines that were read in the last [`read`](Self::read), if they are kept. After the last sequence, these
    /// are the remaining lines.
    fn kept_lines(&self) -> Option<&KeptLines> {
        None
    }

    /// Hands over the rest of the input, so that several threads can read it. Returns `None` if lines have to be
    /// read one after the other. After pieces were returned, [`read`](Self::read) has nothing left to read.
    fn take_pieces(&mut self) -> Option<Pieces> {
        None
    }

    /// Whether each of these pieces can be read without those before it.
    fn has_independent_pieces(&self) -> bool {
        false
    }

    /// Hands over all sequences at once, if they are already in memory; otherwise returns `None`. After sequences
    /// were returned, [`read`](Self::read) has nothing left to read.
    fn take_dataset(&mut self) -> Option<Dataset> {
        None
    }

    /// Replaces the content of `into` by the next sequence. Returns `false` at the end of the input.
    ///
    /// A sequence that was read has at least one token, finite values and a positive finite weight.
    ///
    /// # Errors
    /// If the input is wrong. The error says where. The content of `into` must not be used then.
    fn read(&mut self, into: &mut RawSequence) -> Result<bool, DataError>;
}

/// Implements the trait for pointers to readers.
macro_rules! forward_reader {
    ($($pointer:ty),*) => {$(
        impl<R: ReadSequences + ?Sized> ReadSequences for $pointer {
            fn format(&self) -> Format {
                (**self).format()
            }

            fn file(&self) -> &str {
                (**self).file()
            }

            fn line_number(&self) -> u64 {
                (**self).line_number()
            }

            fn template(&self) -> Option<&Template> {
                (**self).template()
            }

            fn keep_lines(&mut self) -> bool {
                (**self).keep_lines()
            }

            fn kept_lines(&self) -> Option<&KeptLines> {
                (**self).kept_lines()
            }

            fn take_pieces(&mut self) -> Option<Pieces> {
                (**self).take_pieces()
            }

            fn has_independent_pieces(&self) -> bool {
                (**self).has_independent_pieces()
            }

            fn take_dataset(&mut self) -> Option<Dataset> {
                (**self).take_dataset()
            }

            fn read(&mut self, into: &mut RawSequence) -> Result<bool, DataError> {
                (**self).read(into)
            }
        }
    )*};
}
forward_reader!(Box<R>, &mut R);

/// A reader that passes each of its sequences to a function first, one by one and in order.
///
/// ```
/// use maxmargin_io::{EachSequence, Format, Lines, RawSequence, ReadSequences as _, open_reader};
///
/// let lines = Lines::from_reader("pets.txt", "noun\tcat\n\nnoun\tdog\n".as_bytes())?;
/// let reader = open_reader(lines, Some(Format::Crfsuite))?;
/// let mut reader = EachSequence::new(reader, |sequence: &mut RawSequence| sequence.set_weight(2.0));
/// let mut sequence = RawSequence::new();
/// assert!(reader.read(&mut sequence)?);
/// assert_eq!(sequence.weight(), 2.0);
/// # Ok::<(), maxmargin_io::DataError>(())
/// ```
#[derive(Debug, Clone)]
pub struct EachSequence<R, F> {
    reader: R,
    each: F,
}

impl<R: ReadSequences, F: FnMut(&mut RawSequence)> EachSequence<R, F> {
    /// Calls `each` with every sequence of `reader`, which it may change.
    pub fn new(reader: R, each: F) -> Self {
        Self { reader, each }
    }
}

/// It hands over no pieces and no data sets, because the function must get the sequences one by one.
impl<R: ReadSequences, F: FnMut(&mut RawSequence)> ReadSequences for EachSequence<R, F> {
    fn format(&self) -> Format {
        self.reader.format()
    }

    fn file(&self) -> &str {
        self.reader.file()
    }

    fn line_number(&self) -> u64 {
        self.reader.line_number()
    }

    fn template(&self) -> Option<&Template> {
        self.reader.template()
    }

    fn keep_lines(&mut self) -> bool {
        self.reader.keep_lines()
    }

    fn kept_lines(&self) -> Option<&KeptLines> {
        self.reader.kept_lines()
    }

    fn read(&mut self, into: &mut RawSequence) -> Result<bool, DataError> {
        let found = self.reader.read(into)?;
        if found {
            (self.each)(into);
        }
        Ok(found)
    }
}

/// A reader of sequences for `lines` in the given format, or in the one that [`guess_format`] finds.
///
/// # Errors
/// If the format is neither given nor evident, if it is one of single rows, or if the first lines cannot be read.
///
/// ```
/// use maxmargin_io::{Format, Lines, ReadSequences, open_reader};
///
/// let lines = Lines::from_reader("tags.dat", "3 qid:1 1:0.5\n".as_bytes())?;
/// assert_eq!(open_reader(lines, None)?.format(), Format::SvmHmm);
///
/// let lines = Lines::from_reader("rows.svm", "+1 1:0.5\n".as_bytes())?;
/// assert_eq!(
///     open_reader(lines, None).err().unwrap().to_string(),
///     "rows.svm: expected sequences, found single rows (the format libsvm)",
/// );
/// # Ok::<(), maxmargin_io::DataError>(())
/// ```
pub fn open_reader(
    mut lines: Lines,
    format: Option<Format>,
) -> Result<Box<dyn ReadSequences + Send>, DataError> {
    let (format, given) = match format {
        Some(given) => (given, true),
        None => (guess_format(&mut lines)?, false),
    };
    boxed(lines, format, given, "sequences", format.is_sequences())
}

/// A reader of rows for `lines` in the given format, or in the one that [`guess_format`] finds. If the data are
/// sequences, every token is a row.
///
/// # Errors
/// If the format is neither given nor evident, or if the first lines cannot be read.
///
/// ```
/// use maxmargin_io::{Format, Lines, ReadSequences, open_row_reader};
///
/// let lines = Lines::from_reader("rows.svm", "+1 1:0.5\n".as_bytes())?;
/// assert_eq!(open_row_reader(lines, None)?.format(), Format::Libsvm);
/// # Ok::<(), maxmargin_io::DataError>(())
/// ```
pub fn open_row_reader(
    mut lines: Lines,
    format: Option<Format>,
) -> Result<Box<dyn ReadSequences + Send>, DataError> {
    let (format, given) = match format {
        Some(given) => (given, true),
        None => {
            let guess = guess_format(&mut lines).map_err(|error| match error {
                DataError::Empty { file, lines } => DataError::NoRows { file, lines },
                other => other,
            });
            (guess?, false)
        }
    };
    // Sequences can be divided into rows.
    boxed(lines, format, given, "single rows", format.is_rows() || format.is_sequences())
}

/// A reader of columns, with the template for these columns. As in earlier versions, two or three columns that are
/// given as `conll` are those of chunking, with or without labels.
fn columns(
    mut lines: Lines,
    format: Format,
    given: bool,
) -> Result<Box<dyn ReadSequences + Send>, DataError> {
    let wanted = given.then_some(format);
    let template = match Template::choose(&mut lines, None, wanted, None) {
        Ok(template) if given && format == Format::Conll && template.columns() == Some(2) => {
            Template::built_in(BuiltInTemplate::Chunking, 3)
        }
        // There are no lines, which the reader will report.
        Err(DataError::Empty { .. }) => Template::built_in(BuiltInTemplate::Words, 2),
        chosen => chosen,
    };
    Ok(template?.open(lines))
}

fn boxed(
    lines: Lines,
    format: Format,
    given: bool,
    expected: &'static str,
    fits: bool,
) -> Result<Box<dyn ReadSequences + Send>, DataError> {
    let unfit = |file: &str| DataError::Content { file: file.to_owned(), expected, format };
    if !fits {
        return Err(unfit(lines.file()));
    }
    Ok(match format {
        Format::Ocr => Box::new(OcrReader::new(lines)),
        Format::Crfsuite => Box::new(CrfsuiteReader::new(lines)),
        Format::SvmHmm => Box::new(SvmHmmReader::new(lines)),
        Format::Conll | Format::Conllu => return columns(lines, format, given),
        Format::Libsvm | Format::Multilabel => Box::new(LibsvmReader::new(lines, format)),
        Format::FactorGraph | Format::Superpixels | Format::Alignment | Format::Pose => {
            return Err(unfit(lines.file()));
        }
    })
}
