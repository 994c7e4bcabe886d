//! Labelled examples of any kind.
//!
//! Some models have two variants. In one, features were made elsewhere, for example in Python (`Potts`, `Trees`,
//! `Pairs`). In the other, a reader has made them from a file (`Superpixels`, `Poses`, `Alignments`).

use crate::alignment::Alignments;
use crate::held_out::HeldOut;
use crate::pose::SimulatedPoses;
use crate::seen_names::SeenNames;
use crate::superpixels::Superpixels;
use maxmargin::model::LabelledRows;
use maxmargin::model::chain::Sequences;
use maxmargin::model::factor_graph::Graphs;
use maxmargin::model::matching::Pairs;
use maxmargin::model::potts::PottsGraphs;
use maxmargin::model::segment::Segmentations;
use maxmargin::model::tree::TreeExamples;

/// Labelled examples in index form, of any kind that a [`Spec`](crate::Spec) can learn from.
///
/// ```
/// use maxmargin::model::LabelledRows;
/// use maxmargin_io::Examples;
///
/// let mut rows = LabelledRows::new();
/// rows.push([(0, 1.0)], &[0], 1.0)?;
/// rows.push([(0, -1.0)], &[1], 1.0)?;
/// let examples = Examples::from(rows);
/// assert_eq!(examples.len(), 2);
/// assert_eq!(examples.select(|i| i == 1).rows().map(|rows| rows.labels(0)), Some(&[1][..]));
/// assert!(examples.sequences().is_none());
/// # Ok::<(), maxmargin::model::InputError>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Examples {
    /// Sequences of labels.
    Sequences(Sequences),
    /// Rows with one label, or with a set of them.
    Rows(LabelledRows),
    /// Factor graphs.
    FactorGraphs(Graphs),
    /// Graphs whose nodes have labels.
    Potts(PottsGraphs),
    /// The same, for images that were divided into superpixels.
    Superpixels(Superpixels),
    /// Trees of parts.
    Trees(TreeExamples),
    /// The same, for people.
    Poses(SimulatedPoses),
    /// Pairs of lists whose items are linked.
    Pairs(Pairs),
    /// The same, for sentences.
    Alignments(Alignments),
    /// Sequences that are divided into segments.
    Segments(Segmentations),
}

macro_rules! from {
    ($($variant:ident($type:ty),)*) => {
        $(
            impl From<$type> for Examples {
                fn from(data: $type) -> Self {
                    Self::$variant(data)
                }
            }
        )*
    };
}

from! {
    Sequences(Sequences),
    Rows(LabelledRows),
    FactorGraphs(Graphs),
    Potts(PottsGraphs),
    Superpixels(Superpixels),
    Trees(TreeExamples),
    Poses(SimulatedPoses),
    Pairs(Pairs),
    Alignments(Alignments),
    Segments(Segmentations),
}

impl Examples {
    /// Number of examples.
    pub fn len(&self) -> usize {
        match self {
            Self::Sequences(data) => data.len(),
            Self::Rows(data) => data.len(),
            Self::FactorGraphs(data) => data.len(),
            Self::Potts(data) => data.len(),
            Self::Superpixels(data) => data.graphs.len(),
            Self::Trees(data) => data.len(),
            Self::Poses(data) => data.examples.len(),
            Self::Pairs(data) => data.len(),
            Self::Alignments(data) => data.links.len(),
            Self::Segments(data) => data.len(),
        }
    }

    /// Whether there are no examples.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the examples for which `keep` returns `true`.
    #[must_use]
    pub fn select(&self, keep: impl Fn(usize) -> bool) -> Self {
        match self {
            Self::Sequences(data) => Self::Sequences(data.select(keep)),
            Self::Rows(data) => Self::Rows(data.select(keep)),
            Self::FactorGraphs(data) => Self::FactorGraphs(data.select(keep)),
            Self::Potts(data) => Self::Potts(data.select(keep)),
            Self::Superpixels(data) => Self::Superpixels(data.select(keep)),
            Self::Trees(data) => Self::Trees(data.select(keep)),
            Self::Poses(data) => Self::Poses(data.select(keep)),
            Self::Pairs(data) => Self::Pairs(data.select(keep, |_, _| true)),
            Self::Alignments(data) => Self::Alignments(data.select(keep)),
            Self::Segments(data) => Self::Segments(data.select(keep)),
        }
    }

    /// The examples that are not held out, and those that are.
    ///
    /// ```
    /// use maxmargin::model::LabelledRows;
    /// use maxmargin_io::{Examples, HeldOut};
    ///
    /// let mut rows = LabelledRows::new();
    /// for _ in 0..20 {
    ///     rows.push([(0, 1.0)], &[0], 1.0)?;
    /// }
    /// let (rest, out) = Examples::from(rows).split(HeldOut { seed: 1, one_in: 10 });
    /// assert_eq!((rest.len(), out.len()), (18, 2));
    /// # Ok::<(), maxmargin::model::InputError>(())
    /// ```
    pub fn split(&self, held_out: HeldOut) -> (Self, Self) {
        let out = held_out.marks(self.len());
        (self.select(|i| !out[i]), self.select(|i| out[i]))
    }

    /// The names of a model that occur in the examples, for kinds of models whose data have names.
    pub fn seen_names(&self) -> Option<SeenNames> {
        match self {
            Self::Sequences(data) => Some(SeenNames::in_sequences(data)),
            Self::Rows(data) => Some(SeenNames::in_rows(data)),
            Self::Segments(data) => Some(SeenNames::in_segments(data)),
            _ => None,
        }
    }

    /// The sequences, if the examples are sequences.
    pub fn sequences(&self) -> Option<&Sequences> {
        if let Self::Sequences(data) = self { Some(data) } else { None }
    }

    /// The rows, if the examples are rows.
    pub fn rows(&self) -> Option<&LabelledRows> {
        if let Self::Rows(data) = self { Some(data) } else { None }
    }

    /// The factor graphs, if the examples are factor graphs.
    pub fn factor_graphs(&self) -> Option<&Graphs> {
        if let Self::FactorGraphs(data) = self { Some(data) } else { None }
    }

    /// The graphs with labelled nodes, including those of images, if the examples are such graphs.
    pub fn potts(&self) -> Option<&PottsGraphs> {
        match self {
            Self::Potts(data) => Some(data),
            Self::Superpixels(data) => Some(&data.graphs),
            _ => None,
        }
    }

    /// The trees, including those of people, if the examples are trees.
    pub fn trees(&self) -> Option<&TreeExamples> {
        match self {
            Self::Trees(data) => Some(data),
            Self::Poses(data) => Some(&data.examples),
            _ => None,
        }
    }

    /// The pairs of lists, including those of sentences, if the examples are such pairs.
    pub fn pairs(&self) -> Option<&Pairs> {
        match self {
            Self::Pairs(data) => Some(data),
            Self::Alignments(data) => Some(&data.links),
            _ => None,
        }
    }
}
