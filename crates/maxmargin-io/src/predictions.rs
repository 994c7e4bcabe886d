//! Predicted labels, in the layout that goes with an input format.

use std::io::{self, Write};

use crate::format::Format;

/// Writes the predicted labels of one sequence.
///
/// One label per line. As from `crfsuite tag`, an empty line follows every sequence; only for
/// [`Format::SvmHmm`], as from `svm_hmm_classify`, and for rows, as from LIBSVM's programs, the lines
/// of the output are those of the input without blank lines and comments.
///
/// # Errors
/// The output fails.
///
/// ```
/// use maxmargin_io::{Format, write_predictions};
///
/// let mut output = Vec::new();
/// write_predictions(&mut output, Format::Crfsuite, ["noun", "verb"])?;
/// assert_eq!(output, b"noun\nverb\n\n");
///
/// let mut output = Vec::new();
/// write_predictions(&mut output, Format::SvmHmm, ["2", "1"])?;
/// assert_eq!(output, b"2\n1\n");
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn write_predictions<'a>(
    mut to: impl Write,
    format: Format,
    labels: impl IntoIterator<Item = &'a str>,
) -> io::Result<()> {
    for label in labels {
        to.write_all(label.as_bytes())?;
        to.write_all(b"\n")?;
    }
    match format {
        Format::Ocr | Format::Crfsuite | Format::Conll | Format::Conllu => to.write_all(b"\n"),
        // Formats of other structures have writers of their own.
        Format::SvmHmm
        | Format::Libsvm
        | Format::Multilabel
        | Format::FactorGraph
        | Format::Superpixels
        | Format::Alignment
        | Format::Pose => Ok(()),
    }
}
