//! The default settings of the command line and Python.
//!
//! The library's own defaults are those of the papers, and its tests and experiments use them. The command line and
//! Python start with settings that have the same meaning for all data: see
//! `benchmarks/results/2026-11-16-defaults.md`.

use maxmargin::Settings;

/// The gap at which a run has converged, as a share of the objective.
///
/// Averages of all steps that are cut at 5 or 10 % predict as well on most data, but worse on superpixels, and need
/// more memory, so the default has no average.
const TOLERANCE: f64 = 0.01;

/// The pairs of labels that have a weight in a multi-label model.
///
/// ```
/// use maxmargin_io::LabelPairs;
///
/// let of = [14, 90, 983].map(LabelPairs::for_labels);
/// assert_eq!(of, [LabelPairs::Complete, LabelPairs::Tree, LabelPairs::None]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LabelPairs {
    /// All pairs: the best predictions of whole sets, as long as the best set can be found quickly.
    Complete,
    /// The pairs of a tree: about half of the gain at hardly any cost.
    Tree,
    /// No pairs: labels are independent.
    None,
}

/// With at most this number of labels, all pairs have weights, because all sets of labels can be tried.
const MOST_LABELS_OF_ALL_PAIRS: usize = 15;

/// With at most this number of labels, the pairs of a tree have weights.
const MOST_LABELS_OF_A_TREE: usize = 100;

impl LabelPairs {
    /// The best choice of pairs for this number of labels.
    ///
    /// ```
    /// assert_eq!(maxmargin_io::LabelPairs::for_labels(101), maxmargin_io::LabelPairs::None);
    /// ```
    pub fn for_labels(labels: usize) -> Self {
        match labels {
            few if few <= MOST_LABELS_OF_ALL_PAIRS => Self::Complete,
            some if some <= MOST_LABELS_OF_A_TREE => Self::Tree,
            _ => Self::None,
        }
    }

    /// Its name, as options write it.
    ///
    /// ```
    /// assert_eq!(maxmargin_io::LabelPairs::Tree.name(), "tree");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Tree => "tree",
            Self::None => "none",
        }
    }
}

/// The default settings of the command line and Python.
///
/// ```
/// assert_eq!(maxmargin_io::default_settings().record().tolerance_text(), "1%");
/// ```
pub fn default_settings() -> Settings {
    Settings { tolerance: 0.0, relative_tolerance: TOLERANCE, ..Settings::default() }
}
