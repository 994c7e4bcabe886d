//! Writes predicted labels, in the layout for an input format.

use std::io::{self, Write};

use crate::format::Format;

/// Writes the predicted labels of one sequence.
///
/// There is one label per line. As with `crfsuite tag`, an empty line follows every sequence. For
/// [`Format::SvmHmm`] (as with `svm_hmm_classify`) and for rows (as with LIBSVM's programs), there are no empty
/// lines: the lines of the output are those of the input without blank lines and comments.
///
/// # Errors
/// If the output fails.
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
        // Formats of other structures have their own writers.
        Format::SvmHmm
        | Format::Libsvm
        | Format::Multilabel
        | Format::FactorGraph
        | Format::Superpixels
        | Format::Alignment
        | Format::Pose => Ok(()),
    }
}
