//! The meaning of a DATA argument.

use std::fmt;
use std::path::PathBuf;

use crate::builtin::{Builtin, Part, builtin, builtins};
use crate::chunking::ConllReader;
use crate::columns::BuiltInTemplate;
use crate::converted::{ConvertedReader, is_converted, open_converted};
use crate::error::DataError;
use crate::factor_graph::FactorGraphReader;
use crate::format::Format;
use crate::guess::guess_format;
use crate::lines::Lines;
use crate::path_text::path_of;
use crate::reader::{ReadSequences, open_reader, open_row_reader};
use crate::suggest::suggest;
use crate::template::Template;

/// The source of data: a file, standard input, or the program itself.
///
/// ```
/// use maxmargin_io::{Part, Source};
///
/// assert_eq!(Source::resolve("-")?, Source::Stdin);
/// assert!(matches!(Source::resolve("ocr-small")?, Source::Builtin(_, Part::Train)));
/// assert!(matches!(Source::resolve("ocr-small:test")?, Source::Builtin(_, Part::Test)));
/// assert!(matches!(Source::resolve("./ocr-small")?, Source::File(_)));
/// # Ok::<(), maxmargin_io::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Standard input.
    Stdin,
    /// A file, plain or gzip.
    File(PathBuf),
    /// A part of a built-in data set.
    Builtin(&'static Builtin, Part),
}

impl Source {
    /// The meaning of the argument `text`:
    ///
    /// 1. `-` is standard input.
    /// 2. With a path separator in it (as in `./ocr-small`), or if there is such a file (not a
    ///    folder), it is a file.
    /// 3. A built-in name, perhaps with `:train` or `:test`, is that part of the built-in data set;
    ///    without either it is the training part.
    ///
    /// So a built-in name never hides an existing file, and a file can always take the place of a built-in data
    /// set.
    ///
    /// # Errors
    /// If it is none of these. A file with a path separator may still be found missing by [`open`](Self::open).
    ///
    /// ```
    /// use maxmargin_io::Source;
    /// assert_eq!(
    ///     Source::resolve("ocr-smal").unwrap_err().to_string(),
    ///     "ocr-smal: no such file, and not a built-in data set either \
    ///      (these are ocr-small, ocr-large, each with :train or :test); did you mean ocr-small?",
    /// );
    /// ```
    pub fn resolve(text: &str) -> Result<Self, DataError> {
        if text == "-" {
            return Ok(Self::Stdin);
        }
        let path = path_of(text);
        if text.contains(std::path::is_separator) {
            return Ok(Self::File(path));
        }
        // A folder cannot contain data, so a folder with the name of a built-in data set does not hide the data
        // set.
        if let Some(builtin) = Self::builtin(text).filter(|_| !path.exists() || path.is_dir()) {
            return Ok(builtin);
        }
        if path.exists() {
            return Ok(Self::File(path));
        }
        let names: Vec<&str> = builtins().iter().map(|builtin| builtin.name).collect();
        let known = format!("{}, each with :train or :test", names.join(", "));
        let (name, part) = text.split_once(':').unwrap_or((text, ""));
        let meant = match suggest(name, names) {
            None => String::new(),
            Some(meant) if part == "test" => format!("; did you mean {meant}:test?"),
            Some(meant) => format!("; did you mean {meant}?"),
        };
        Err(DataError::NotFound { name: text.into(), known, meant })
    }

    /// `name`, `name:train` or `name:test`.
    fn builtin(text: &str) -> Option<Self> {
        let (name, part) = match text.split_once(':') {
            None => (text, Part::Train),
            Some((name, "train")) => (name, Part::Train),
            Some((name, "test")) => (name, Part::Test),
            Some(_) => return None,
        };
        builtin(name).map(|builtin| Self::Builtin(builtin, part))
    }

    /// Opens the source in the given format, or in the one that is evident.
    ///
    /// # Errors
    /// If the file cannot be read, if the format is neither given nor evident, or if a built-in data set has
    /// another format.
    ///
    /// ```
    /// use maxmargin_io::{Format, ReadSequences, Source};
    ///
    /// let source = Source::resolve("ocr-large:test")?;
    /// assert_eq!(source.open(None)?.format(), Format::Ocr);
    /// assert_eq!(
    ///     source.open(Some(Format::Conll)).err().unwrap().to_string(),
    ///     "ocr-large:test: this built-in data set has the format ocr, not conll; leave out --format",
    /// );
    /// # Ok::<(), maxmargin_io::DataError>(())
    /// ```
    pub fn open(&self, format: Option<Format>) -> Result<Box<dyn ReadSequences + Send>, DataError> {
        self.open_with(format, open_reader, "sequences", Format::is_sequences)
    }

    /// Like [`open`](Self::open), for single rows. If the data are sequences, every token is a row.
    ///
    /// # Errors
    /// The same as for [`open`](Self::open).
    ///
    /// ```
    /// use maxmargin_io::{Source, read_rows};
    ///
    /// let letters = read_rows(Source::resolve("ocr-small")?.open_rows(None)?)?;
    /// assert_eq!((letters.rows.len(), letters.attributes.len()), (4617, 128));
    /// # Ok::<(), maxmargin_io::DataError>(())
    /// ```
    pub fn open_rows(
        &self,
        format: Option<Format>,
    ) -> Result<Box<dyn ReadSequences + Send>, DataError> {
        self.open_with(format, open_row_reader, "single rows", |_| true)
    }

    /// Opens factor graphs, which have only one format.
    ///
    /// # Errors
    /// If the input cannot be read, or if it is known to contain something else.
    ///
    /// ```
    /// use maxmargin_io::Source;
    ///
    /// let error = Source::resolve("ocr-small")?.open_factor_graphs().unwrap_err();
    /// assert!(error.to_string().contains("expected factor graphs, found sequences"));
    /// # Ok::<(), maxmargin_io::DataError>(())
    /// ```
    pub fn open_factor_graphs(&self) -> Result<FactorGraphReader, DataError> {
        Ok(FactorGraphReader::new(self.open_lines("factor graphs")?))
    }

    /// Opens the lines as they are, for another reader. `expected` is what it expects, for messages.
    ///
    /// # Errors
    /// If the input cannot be read, or if it is a built-in or converted data set, which has no such lines.
    ///
    /// ```
    /// let error = maxmargin_io::Source::resolve("ocr-small")?.open_lines("poses").unwrap_err();
    /// assert!(error.to_string().contains("expected poses, found sequences"));
    /// # Ok::<(), maxmargin_io::DataError>(())
    /// ```
    pub fn open_lines(&self, expected: &'static str) -> Result<Lines, DataError> {
        if let Some(reader) = self.converted()? {
            let (file, format) = (self.to_string(), reader.format());
            return Err(DataError::Content { file, expected, format });
        }
        match self {
            Self::Stdin => Lines::stdin(),
            Self::File(path) => Lines::open(path),
            Self::Builtin(builtin, part) => {
                let (file, format) = (self.to_string(), builtin.part(*part).format());
                Err(DataError::Content { file, expected, format })
            }
        }
    }

    /// The meaning of a DATA argument if files may have several parts and each example names its own. `FILE:PART`
    /// is a part of a file if there is a `FILE`, and no file has the whole argument as its name.
    ///
    /// # Errors
    /// The same as for [`resolve`](Self::resolve).
    ///
    /// ```
    /// use maxmargin_io::Source;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("horses.txt");
    /// std::fs::write(&path, "G horse train 1 1 1 0\nN 1 0 1\n")?;
    /// let name = path.to_str().expect("UTF-8");
    /// let (source, part) = Source::resolve_part(&format!("{name}:train"))?;
    /// assert_eq!((source, part.as_deref()), (Source::File(path.clone()), Some("train")));
    /// assert_eq!(Source::resolve_part(name)?, (Source::File(path.clone()), None));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn resolve_part(text: &str) -> Result<(Self, Option<String>), DataError> {
        if let Some((file, part)) = text.rsplit_once(':')
            && !part.is_empty()
            && !path_of(text).exists()
            && path_of(file).is_file()
        {
            return Ok((Self::File(path_of(file)), Some(part.to_owned())));
        }
        Ok((Self::resolve(text)?, None))
    }

    /// The format of the data, if it can be found without using up the data. `None` for standard input and other
    /// pipes.
    ///
    /// # Errors
    /// If the file cannot be read.
    ///
    /// ```
    /// use maxmargin_io::{Format, Source};
    ///
    /// assert_eq!(Source::resolve("ocr-small")?.format()?, Some(Format::Ocr));
    /// assert_eq!(Source::Stdin.format()?, None);
    /// # Ok::<(), maxmargin_io::DataError>(())
    /// ```
    pub fn format(&self) -> Result<Option<Format>, DataError> {
        match self {
            Self::Builtin(builtin, part) => Ok(Some(builtin.part(*part).format())),
            Self::File(path) if is_converted(path) => Ok(Some(open_converted(path)?.format())),
            Self::File(path) if path.is_file() => match guess_format(&mut Lines::open(path)?) {
                Ok(format) => Ok(Some(format)),
                Err(DataError::UnclearFormat { .. } | DataError::Empty { .. }) => Ok(None),
                Err(error) => Err(error),
            },
            _ => Ok(None),
        }
    }

    fn open_with(
        &self,
        format: Option<Format>,
        open: Opener,
        expected: &'static str,
        fits: fn(Format) -> bool,
    ) -> Opened {
        if let Some(reader) = self.converted()? {
            check_format(&reader, format)?;
            return match reader.format() {
                own if fits(own) => Ok(Box::new(reader)),
                format => Err(DataError::Content { file: self.to_string(), expected, format }),
            };
        }
        match self {
            Self::Stdin => open(Lines::stdin()?, format),
            Self::File(path) => open(Lines::open(path)?, format),
            Self::Builtin(builtin, part) => {
                let reader = builtin.part(*part);
                match format {
                    Some(asked) if asked != reader.format() => Err(DataError::BuiltinFormat {
                        name: self.to_string(),
                        format: reader.format(),
                        asked,
                    }),
                    _ => Ok(Box::new(reader)),
                }
            }
        }
    }
}

impl Source {
    /// The reader of a converted file, if it is one.
    fn converted(&self) -> Result<Option<ConvertedReader>, DataError> {
        match self {
            Self::File(path) if is_converted(path) => open_converted(path).map(Some),
            _ => Ok(None),
        }
    }
}

/// Refuses a format that is not the one from which a file was converted.
fn check_format(reader: &ConvertedReader, asked: Option<Format>) -> Result<(), DataError> {
    match asked {
        Some(asked) if asked != reader.format() => {
            let (file, format) = (reader.file().to_owned(), reader.format());
            let why = format!("it was converted from {format}, not {asked}; leave out --format");
            Err(DataError::Converted { file, why })
        }
        _ => Ok(()),
    }
}

/// Why the attributes of a converted file cannot be made in another way.
fn made_already(file: &str, option: &str) -> DataError {
    let why = format!("its attributes were made in another way when it was converted{option}");
    DataError::Converted { file: file.into(), why }
}

type Opened = Result<Box<dyn ReadSequences + Send>, DataError>;
type Opener = fn(Lines, Option<Format>) -> Opened;

impl Source {
    /// Opens it as columns, from which a template makes the attributes.
    ///
    /// # Errors
    /// If it cannot be opened, or if it is a built-in data set, which has its own attributes.
    ///
    /// ```
    /// use maxmargin_io::{Lines, Source, Template};
    ///
    /// let template = Template::read(Lines::from_reader("t", "U:%x[0,0]\n".as_bytes())?)?;
    /// let error = Source::resolve("ocr-small")?.open_columns(template).err().unwrap();
    /// assert!(error.to_string().contains("this built-in data set has the format ocr"));
    /// # Ok::<(), maxmargin_io::DataError>(())
    /// ```
    pub fn open_columns(
        &self,
        template: Template,
    ) -> Result<Box<dyn ReadSequences + Send>, DataError> {
        if let Some(reader) = self.converted()? {
            let is_same = reader.template() == Some(&template);
            let refused = || made_already(reader.file(), "");
            return if is_same { Ok(Box::new(reader)) } else { Err(refused()) };
        }
        Ok(template.open(self.column_lines()?))
    }

    /// Opens labelled columns for training, with the built-in template and the label that are asked for, or else
    /// with those for the columns: see [`Template::choose`]. If `format` is given, it must be one of columns.
    ///
    /// # Errors
    /// If it cannot be opened, if it is a built-in data set, which has its own attributes, or if the columns do not
    /// fit what is asked for.
    ///
    /// ```
    /// use maxmargin_io::{Source, read_training};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("train.txt");
    /// std::fs::write(&path, "the DT\ncat NN\n")?;
    /// let source = Source::File(path);
    /// let data = read_training(source.open_labelled_columns(None, None, None)?)?;
    /// assert_eq!(data.labels.iter().collect::<Vec<_>>(), ["DT", "NN"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open_labelled_columns(
        &self,
        format: Option<Format>,
        template: Option<BuiltInTemplate>,
        label: Option<&str>,
    ) -> Result<Box<dyn ReadSequences + Send>, DataError> {
        if let Some(reader) = self.converted()? {
            check_format(&reader, format)?;
            if template.is_some() || label.is_some() {
                let option = "; leave out --template and --label-column";
                return Err(made_already(reader.file(), option));
            }
            return Ok(Box::new(reader));
        }
        let mut lines = self.column_lines()?;
        let template = Template::choose(&mut lines, template, format, label)?;
        Ok(template.open(lines))
    }

    /// Opens the columns of a model without a template: the words, parts of speech and chunks of [`ConllReader`].
    ///
    /// # Errors
    /// If it cannot be opened, or if it is a built-in data set, which has its own attributes.
    ///
    /// ```
    /// let source = maxmargin_io::Source::resolve("ocr-small")?;
    /// assert!(source.open_chunking().is_err());
    /// # Ok::<(), maxmargin_io::DataError>(())
    /// ```
    pub fn open_chunking(&self) -> Result<Box<dyn ReadSequences + Send>, DataError> {
        match self.converted()? {
            Some(reader) if reader.template().is_some() => Err(made_already(reader.file(), "")),
            Some(reader) => Ok(Box::new(reader)),
            None => Ok(Box::new(ConllReader::new(self.column_lines()?))),
        }
    }

    fn column_lines(&self) -> Result<Lines, DataError> {
        match self {
            Self::Stdin => Lines::stdin(),
            Self::File(path) => Lines::open(path),
            Self::Builtin(builtin, part) => {
                let (file, format) = (self.to_string(), builtin.part(*part).format());
                let own = "which has attributes of its own and no columns; leave out --template";
                let why = format!("this built-in data set has the format {format}, {own}");
                Err(DataError::Columns { file, why })
            }
        }
    }
}

/// The name of the source in messages.
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdin => f.write_str("<stdin>"),
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Builtin(builtin, part) => write!(f, "{}:{part}", builtin.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sequence::RawSequence;

    #[test]
    fn unknown_parts_and_names_list_what_there_is() {
        let error = Source::resolve("ocr-lage:test").unwrap_err().to_string();
        assert!(error.ends_with("; did you mean ocr-large:test?"), "{error}");
        for text in ["ocr-small:dev", "ocr", "ocr-small:", "", "data.txt"] {
            let error = Source::resolve(text).unwrap_err().to_string();
            assert!(error.starts_with(&format!("{text}: no such file")), "{error}");
            assert!(error.contains("ocr-small, ocr-large"), "{error}");
        }
    }

    #[test]
    fn files_are_opened_and_their_format_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data.txt");
        std::fs::write(&path, "O\tw=a\n").unwrap();
        let source = Source::resolve(path.to_str().unwrap()).unwrap();
        assert_eq!(source.to_string(), path.to_str().unwrap());
        let mut reader = source.open(None).unwrap();
        assert_eq!((reader.format(), reader.file()), (Format::Crfsuite, path.to_str().unwrap()));
        assert!(reader.read(&mut RawSequence::new()).unwrap());
        std::fs::remove_file(&path).unwrap();
        let error = source.open(None).err().unwrap().to_string();
        assert!(error.starts_with(&format!("{}: cannot be read: ", path.display())), "{error}");
    }

    #[test]
    fn a_source_is_shown_as_its_reader_names_itself() {
        for text in ["ocr-small", "ocr-small:train", "ocr-large:test"] {
            let source = Source::resolve(text).unwrap();
            assert_eq!(source.to_string(), source.open(None).unwrap().file());
        }
    }
}
