//! What goes wrong, in Python's terms.

use maxmargin::model::factor_graph::FactorGraph;
use maxmargin::model::multilabel::SetScores;
use maxmargin::{Quality, TrainError};
use maxmargin_io::{
    DataError, FromPath, LambdaError, Measure, ModelError, ProblemError, SaveError, VerifyError,
};
use pyo3::PyErr;
use pyo3::exceptions::{
    PyFileNotFoundError, PyIsADirectoryError, PyOSError, PyPermissionError, PyValueError,
};
use std::fmt::Display;
use std::io::ErrorKind;
use thiserror::Error;

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

/// What goes wrong while Python's lock is released.
#[derive(Debug, Error)]
pub(crate) enum WorkError {
    #[error(transparent)]
    Problem(#[from] ProblemError),
    #[error(transparent)]
    Train(#[from] TrainError),
    #[error(transparent)]
    Verify(#[from] VerifyError),
    #[error(
        "training=\"exact\" needs a decoder that is never wrong, and here {}; \
         training=\"soft\" and training=\"lp\" go over a relaxation",
        .0.explain()
    )]
    NotExact(Quality),
    #[error(transparent)]
    Lambda(#[from] LambdaError),
    #[error("measure={0} is for {1}")]
    Measure(Measure, &'static str),
    #[error(
        "paths are of weights, which models with a kernel or soft training have not; \
         give several lam to fit, or leave kernel and training out"
    )]
    NoPath,
    #[error(
        "the model was taken out of {0}; its gap is the bound of the path, which has no dual \
         point to check it with"
    )]
    TakenOutOfPath(FromPath),
    #[error("the model was saved without its dual point")]
    NoDualPoint,
    #[error(
        "all sets of labels are tried out, and {labels} labels have too many: {} is the most",
        SetScores::MOST_LABELS
    )]
    TooManySets { labels: usize },
    #[error(
        "all labellings are tried out, and graph {graph} has more than {} of them",
        FactorGraph::MOST_RANKED
    )]
    TooManyLabellings { graph: usize },
    #[error("sequence {sequence} has {tokens} tokens and {fixed} fixed labels")]
    FixedLabels { sequence: usize, tokens: usize, fixed: usize },
    #[error("the fixed label {0} does not exist")]
    NoSuchLabel(i64),
    #[error("no labelling of sequence {0} keeps all rules")]
    NoLabelling(usize),
}
