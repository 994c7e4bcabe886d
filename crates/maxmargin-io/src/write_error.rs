//! Errors of writing sequences.

use std::io;

use thiserror::Error;

use crate::error::quote;
use crate::format::Format;

/// Why a sequence could not be written.
///
/// ```
/// use maxmargin_io::{RawSequence, write_crfsuite};
///
/// let mut sequence = RawSequence::new();
/// sequence.push_token(Some("two\tcolumns"));
/// assert_eq!(
///     write_crfsuite(std::io::sink(), &sequence).unwrap_err().to_string(),
///     r"label `two\tcolumns` cannot be written as crfsuite: a label must not have tabs, line ends or NUL characters",
/// );
/// ```
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The output fails.
    #[error(transparent)]
    Output(#[from] io::Error),
    /// The format has no way to write a name or a value.
    #[error("{what} {name} cannot be written as {format}: {reason}", name = quote(.name))]
    Unwritable {
        /// `label`, `attribute` or `comment`.
        what: &'static str,
        /// What cannot be written.
        name: String,
        /// The format.
        format: Format,
        /// Why not.
        reason: &'static str,
    },
    /// A factor graph that could not be read again.
    #[error("the graph cannot be written: {field}: {reason}")]
    Graph {
        /// The field, like `factors[2].attributes`.
        field: String,
        /// What is wrong with it.
        reason: String,
    },
    /// An example weight that the format cannot express.
    #[error("the example weight {weight} cannot be written in this format")]
    Weight {
        /// The weight.
        weight: f64,
    },
    /// A token without a label in a format that needs one.
    #[error("a token without a label cannot be written as {format}")]
    NoLabel {
        /// The format.
        format: Format,
    },
    /// A sequence of several tokens, or of none, in a format of single rows.
    #[error(
        "a sequence of {tokens} tokens cannot be written as {format}, only one of a single token"
    )]
    NotARow {
        /// The format.
        format: Format,
        /// Number of tokens.
        tokens: usize,
    },
    /// A sequence without a number in a format that needs one.
    #[error("a sequence without a number cannot be written as {format}")]
    NoId {
        /// The format.
        format: Format,
    },
}

impl WriteError {
    pub(crate) fn label(format: Format, name: &str, reason: &'static str) -> Self {
        Self::Unwritable { what: "label", name: name.into(), format, reason }
    }

    pub(crate) fn attribute(format: Format, name: &str, reason: &'static str) -> Self {
        Self::Unwritable { what: "attribute", name: name.into(), format, reason }
    }
}
