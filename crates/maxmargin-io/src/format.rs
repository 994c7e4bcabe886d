//! The known layouts of data files.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::names::Names;
use crate::ocr;

/// The contents of files of a format.
#[derive(Clone, Copy)]
enum Content {
    Sequences,
    Rows,
    /// Another structure, with its name for messages.
    Other(&'static str),
}

use Content::{Other, Rows, Sequences};

/// Makes [`Format`] and the lists that name every format, so that every list has every format.
macro_rules! formats {
    (
        $(#[$doc:meta])*
        pub enum Format {
            $($(#[$variant_doc:meta])* $variant:ident = $name:literal: $content:expr,)*
        }
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Format {
            $($(#[$variant_doc])* $variant,)*
        }

        impl Format {
            /// All formats.
            ///
            /// ```
            /// assert!(maxmargin_io::Format::ALL.contains(&maxmargin_io::Format::Ocr));
            /// ```
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$variant),*];

            /// Its name for users and files.
            ///
            /// ```
            /// assert_eq!(maxmargin_io::Format::Ocr.name(), "ocr");
            /// ```
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            const fn holds(self) -> Content {
                match self {
                    $(Self::$variant => $content,)*
                }
            }
        }
    };
}

formats! {
    /// A layout of data files.
    ///
    /// Names for users and for files are those of [`Display`](fmt::Display), [`FromStr`] and serde,
    /// which agree.
    ///
    /// ```
    /// use maxmargin_io::Format;
    ///
    /// assert_eq!("svm-hmm".parse::<Format>()?, Format::SvmHmm);
    /// assert_eq!(Format::SvmHmm.to_string(), "svm-hmm");
    /// assert_eq!(
    ///     "xml".parse::<Format>().unwrap_err().to_string(),
    ///     "unknown format `xml`; known are ocr, crfsuite, svm-hmm, conll, conllu, libsvm, multilabel, \
    ///      factor-graph, superpixels, alignment, pose",
    /// );
    /// # Ok::<(), maxmargin_io::UnknownFormat>(())
    /// ```
    pub enum Format {
        /// Handwritten words, one letter of 16 × 8 pixels per line: see
        /// [`OcrReader`](crate::ocr::OcrReader).
        Ocr = "ocr": Sequences,
        /// CRFsuite's items with attributes: see [`CrfsuiteReader`](crate::CrfsuiteReader).
        Crfsuite = "crfsuite": Sequences,
        /// SVM-HMM's tags with numbered features: see [`SvmHmmReader`](crate::SvmHmmReader).
        SvmHmm = "svm-hmm": Sequences,
        /// Words in columns, with the label last. A template makes attributes of the columns: see
        /// [`ColumnsReader`](crate::ColumnsReader) and [`TemplateReader`](crate::TemplateReader).
        Conll = "conll": Sequences,
        /// The ten columns of CoNLL-U: see [`ColumnsReader`](crate::ColumnsReader).
        Conllu = "conllu": Sequences,
        /// LIBSVM's rows with a label and numbered features: see [`LibsvmReader`](crate::LibsvmReader).
        Libsvm = "libsvm": Rows,
        /// The same with a list of labels in each row.
        Multilabel = "multilabel": Rows,
        /// Factor graphs, one JSON object per line: see [`FactorGraphReader`](crate::FactorGraphReader).
        FactorGraph = "factor-graph": Other("factor graphs"),
        /// Images divided into superpixels: see [`read_superpixels`](crate::read_superpixels).
        Superpixels = "superpixels": Other("superpixels"),
        /// Aligned sentences: see [`AlignmentReader`](crate::AlignmentReader).
        Alignment = "alignment": Other("aligned sentences"),
        /// Positions of joints: see [`read_poses`](crate::read_poses).
        Pose = "pose": Other("poses"),
    }
}

impl Format {
    /// Whether files of this format contain single rows, not sequences.
    ///
    /// ```
    /// use maxmargin_io::Format;
    /// assert!(Format::Libsvm.is_rows() && !Format::SvmHmm.is_rows());
    /// ```
    pub const fn is_rows(self) -> bool {
        matches!(self.holds(), Rows)
    }

    /// Whether files of this format contain sequences.
    ///
    /// ```
    /// use maxmargin_io::Format;
    /// assert!(Format::Ocr.is_sequences() && !Format::FactorGraph.is_sequences());
    /// ```
    pub const fn is_sequences(self) -> bool {
        matches!(self.holds(), Sequences)
    }

    /// Whether files of this format contain words in columns, of which templates make attributes.
    ///
    /// ```
    /// use maxmargin_io::Format;
    /// assert!(Format::Conllu.is_columns() && !Format::Crfsuite.is_columns());
    /// ```
    pub const fn is_columns(self) -> bool {
        matches!(self, Self::Conll | Self::Conllu)
    }

    /// What files of this format contain.
    ///
    /// ```
    /// use maxmargin_io::Format;
    /// assert_eq!(Format::Libsvm.content(), "single rows");
    /// ```
    pub const fn content(self) -> &'static str {
        match self.holds() {
            Sequences => "sequences",
            Rows => "single rows",
            Other(what) => what,
        }
    }

    /// Whether all labels are numbers, which models keep in numeric order.
    pub(crate) const fn labels_are_numbers(self) -> bool {
        matches!(self, Self::SvmHmm)
    }

    /// The names of all formats, separated by commas.
    ///
    /// ```
    /// assert!(maxmargin_io::Format::list().starts_with("ocr, crfsuite, svm-hmm, "));
    /// ```
    pub fn list() -> String {
        Self::ALL.map(Self::name).join(", ")
    }

    /// The labels that every data set of this format has, whether they occur or not: `a` to `z` in OCR data,
    /// otherwise none.
    ///
    /// ```
    /// use maxmargin_io::Format;
    /// assert_eq!(Format::Ocr.fixed_labels().len(), 26);
    /// assert!(Format::Crfsuite.fixed_labels().is_empty());
    /// ```
    pub fn fixed_labels(self) -> Names {
        match self {
            Self::Ocr => ocr::labels(),
            _ => Names::new(),
        }
    }

    /// The attributes that every data set of this format has, whether they occur or not: the 128 pixels in OCR
    /// data, otherwise none.
    ///
    /// ```
    /// use maxmargin_io::Format;
    /// assert_eq!(Format::Ocr.fixed_attributes().len(), 128);
    /// ```
    pub fn fixed_attributes(self) -> Names {
        match self {
            Self::Ocr => ocr::attributes(),
            _ => Names::new(),
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        Self::ALL
            .into_iter()
            .find(|format| format.name() == name)
            .ok_or_else(|| UnknownFormat { name: name.into() })
    }
}

/// A name that is not that of a format.
///
/// ```
/// let error = "svmhmm".parse::<maxmargin_io::Format>().unwrap_err();
/// assert_eq!(error.name, "svmhmm");
/// ```
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error("unknown format {name}; known are {known}", name = crate::error::quote(.name), known = Format::list())]
pub struct UnknownFormat {
    /// The name that was given.
    pub name: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_ways_to_name_a_format_agree() {
        for format in Format::ALL {
            assert_eq!(format.name().parse(), Ok(format));
            let json = serde_json::to_string(&format).unwrap();
            assert_eq!(json, format!("\"{format}\""));
            assert_eq!(serde_json::from_str::<Format>(&json).unwrap(), format);
        }
        assert_eq!(format!("{:<8}|", Format::Ocr), "ocr     |");
    }
}
