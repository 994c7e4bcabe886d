//! Errors in model files and path files.

use crate::atomic::SaveError;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// What is wrong with a model file or a path file. The message names the file where there is one.
///
/// ```
/// use maxmargin_io::Model;
///
/// let error = Model::from_bytes(b"").unwrap_err();
/// assert_eq!(error.to_string(), "not a maxmargin model: the file is empty");
/// assert!(Model::load("no/such/file").unwrap_err().to_string().starts_with("no/such/file: "));
/// ```
#[derive(Debug, Error)]
pub enum ModelError {
    /// The file cannot be read or written.
    #[error("{}: {reason}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: std::io::Error,
    },
    /// The file cannot be put in place.
    #[error(transparent)]
    Save(#[from] SaveError),
    /// The content is not a model (or a path), or is damaged.
    #[error("{}not a maxmargin {what}: {reason}", place(path))]
    Content {
        /// The file, if it is one.
        path: Option<PathBuf>,
        /// What it should have been: `model` or `path`.
        what: &'static str,
        /// What is wrong.
        reason: String,
    },
}

fn place(path: &Option<PathBuf>) -> String {
    path.as_ref().map_or_else(String::new, |path| format!("{}: ", path.display()))
}

impl ModelError {
    pub(crate) fn content(reason: impl Into<String>) -> Self {
        Self::Content { path: None, what: "model", reason: reason.into() }
    }

    pub(crate) fn in_file(self, file: &Path) -> Self {
        match self {
            Self::Content { what, reason, .. } => {
                Self::Content { path: Some(file.into()), what, reason }
            }
            other => other,
        }
    }

    /// The same error for a path file.
    pub(crate) fn of_a_path(self) -> Self {
        match self {
            Self::Content { path, reason, .. } => Self::Content { path, what: "path", reason },
            other => other,
        }
    }
}
