//! The number of mistakes of predictions, and the units in which they are counted.

use crate::spec::Spec;

/// The names, in the plural, of the examples of a kind of model and of the parts of their outputs.
///
/// ```
/// use maxmargin::model::chain::{ChainShape, Hamming};
/// use maxmargin_io::{ChainSpec, Nouns, Spec};
///
/// let (shape, loss) = (ChainShape::new(2, 3), Hamming::default());
/// let nouns = Spec::from(ChainSpec { shape, loss, kernel: None, rescaling: Default::default() }).nouns();
/// assert_eq!(nouns, Nouns { parts: "labels", examples: "sequences" });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nouns {
    /// What is predicted in each example.
    pub parts: &'static str,
    /// The examples.
    pub examples: &'static str,
}

impl Nouns {
    /// The nouns for rows with labels.
    pub(crate) const ROWS: Self = Self { parts: "labels", examples: "rows" };
}

impl Spec {
    /// The nouns for its examples and the parts of their outputs.
    pub const fn nouns(&self) -> Nouns {
        let (parts, examples) = match self {
            Self::Chain(_) => ("labels", "sequences"),
            Self::Binary(_) | Self::Multiclass(_) | Self::Multilabel(_) => return Nouns::ROWS,
            Self::FactorGraph(_) => ("variables", "graphs"),
            Self::Potts(_) => ("superpixels", "images"),
            Self::Tree(_) => ("joints", "people"),
            Self::Matching(_) => ("links", "pairs"),
            Self::Segment(_) => ("tokens", "sequences"),
        };
        Nouns { parts, examples }
    }
}

/// The number of wrong things among some things.
///
/// ```
/// use maxmargin_io::Wrong;
///
/// let labels = Wrong { what: "labels", wrong: 1, all: 4 };
/// assert_eq!(labels.share(), 0.25);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wrong {
    /// What is counted, in the plural.
    pub what: &'static str,
    /// Number of wrong ones.
    pub wrong: u64,
    /// Number of all.
    pub all: u64,
}

impl Wrong {
    /// The share of wrong ones, in [0, 1]. It is 0 if there are none at all.
    pub fn share(&self) -> f64 {
        if self.all == 0 { 0.0 } else { self.wrong as f64 / self.all as f64 }
    }
}

/// The mistakes of predicted outputs: how many of their parts are wrong, and how many of the examples have a
/// wrong part.
///
/// ```
/// use maxmargin_io::{ErrorCounts, Nouns};
///
/// let mut errors = ErrorCounts::new(Nouns { parts: "labels", examples: "sequences" });
/// errors.add_labels(&[1, 2, 3], &[1, 2, 0]);
/// errors.add(0, 1);
/// assert_eq!((errors.parts.share(), errors.examples.share()), (0.25, 0.5));
/// assert_eq!(errors.parts.what, "labels");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorCounts {
    /// Parts of outputs.
    pub parts: Wrong,
    /// Examples.
    pub examples: Wrong,
}

impl ErrorCounts {
    /// Creates counts without examples.
    pub const fn new(nouns: Nouns) -> Self {
        Self {
            parts: Wrong { what: nouns.parts, wrong: 0, all: 0 },
            examples: Wrong { what: nouns.examples, wrong: 0, all: 0 },
        }
    }

    /// Adds an example in which `wrong` of `all` parts are wrong.
    pub fn add(&mut self, wrong: usize, all: usize) {
        self.parts.wrong += wrong as u64;
        self.parts.all += all as u64;
        self.examples.wrong += u64::from(wrong > 0);
        self.examples.all += 1;
    }

    /// Adds an example with one part for each label, given its true and its predicted labels.
    ///
    /// # Panics
    /// If the numbers of true and predicted labels differ.
    pub fn add_labels<T: PartialEq>(&mut self, truth: &[T], predicted: &[T]) {
        assert_eq!(truth.len(), predicted.len(), "every label has a prediction");
        self.add(truth.iter().zip(predicted).filter(|(a, b)| a != b).count(), truth.len());
    }
}
