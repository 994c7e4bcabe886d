//! What goes wrong, in Python's terms.

use maxmargin_io::{DataError, ModelError, SaveError};
use pyo3::PyErr;
use pyo3::exceptions::{
    PyFileNotFoundError, PyIsADirectoryError, PyOSError, PyPermissionError, PyValueError,
};
use std::fmt::Display;
use std::io::ErrorKind;

/// Data, settings or files that make no sense.
pub(crate) fn value_error(error: impl Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// An error that the operating system may have to answer for.
pub(crate) trait FileError: Display {
    /// What the operating system says, if it was its.
    fn kind(&self) -> Option<ErrorKind>;
}

impl FileError for DataError {
    fn kind(&self) -> Option<ErrorKind> {
        match self {
            Self::Read { error, .. } => Some(error.kind()),
            Self::NotFound { .. } => Some(ErrorKind::NotFound),
            _ => None,
        }
    }
}

impl FileError for ModelError {
    fn kind(&self) -> Option<ErrorKind> {
        match self {
            Self::Io { reason, .. } => Some(reason.kind()),
            Self::Save(error) => error.kind(),
            _ => None,
        }
    }
}

impl FileError for SaveError {
    fn kind(&self) -> Option<ErrorKind> {
        Some(self.reason.kind())
    }
}

/// A file that cannot be read or written, or whose content makes no sense.
pub(crate) fn file_error(error: impl FileError) -> PyErr {
    // Messages speak of options as the command line has them.
    let text = error.to_string().replace("--format", "format=");
    match error.kind() {
        Some(ErrorKind::NotFound) => PyFileNotFoundError::new_err(text),
        Some(ErrorKind::PermissionDenied) => PyPermissionError::new_err(text),
        Some(ErrorKind::IsADirectory) => PyIsADirectoryError::new_err(text),
        None | Some(ErrorKind::InvalidData | ErrorKind::UnexpectedEof) => value_error(text),
        Some(_) => PyOSError::new_err(text),
    }
}
