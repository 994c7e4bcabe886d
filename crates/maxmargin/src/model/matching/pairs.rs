//! Pairs of lists with candidate links in index form, for training and prediction.

use crate::model::InputError;
use crate::model::rows::{Row, Rows};
use std::ops::Range;

/// The annotation of a link.
///
/// ```
/// use maxmargin::model::matching::Gold;
/// assert_eq!(Gold::default(), Gold::Wrong);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Gold {
    /// The link should be absent.
    #[default]
    Wrong,
    /// The link may be present or absent.
    Possible,
    /// The link should be present.
    Sure,
}

/// Pairs of lists with their candidate links, in a few flat arrays.
///
/// Only candidate links can be predicted. Attributes are plain indices; the code that reads files handles
/// names.
///
/// ```
/// use maxmargin::model::matching::{Gold, Pairs};
///
/// let mut data = Pairs::new();
/// data.push_link(0, 0, [(0, 1.0), (3, 0.5)], Gold::Sure)?;
/// data.push_link(0, 1, [(0, 0.2)], Gold::Wrong)?;
/// data.push_link(1, 1, [(0, 0.7)], Gold::Possible)?;
/// data.end_pair(2, 2, 1.0)?; // two rows, two columns, example weight 1
/// let pair = data.pair(0);
/// assert_eq!((pair.rows(), pair.columns(), pair.links().len()), (2, 2, 3));
/// assert_eq!(pair.link(2), (1, 1));
/// # Ok::<(), maxmargin::model::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Pairs {
    /// Attributes, one row per link.
    features: Rows,
    links: Vec<(u32, u32)>,
    gold: Vec<Gold>,
    /// The weight of a mistake at each link, or empty while every weight is 1.
    link_weights: Vec<f64>,
    /// First link of each pair, and one past the last.
    starts: Vec<usize>,
    sizes: Vec<(u32, u32)>,
    weights: Vec<f64>,
}

impl Default for Pairs {
    fn default() -> Self {
        Self::new()
    }
}

impl Pairs {
    /// An empty collection.
    pub fn new() -> Self {
        Self {
            features: Rows::default(),
            links: Vec::new(),
            gold: Vec::new(),
            link_weights: Vec::new(),
            starts: vec![0],
            sizes: Vec::new(),
            weights: Vec::new(),
        }
    }

    /// Adds a candidate link to the open pair: its row, its column, its attributes `(index, value)`, and
    /// its annotation. Links must be added row by row, and from left to right in each row.
    ///
    /// # Errors
    /// If a value is NaN or infinite, or if the link is out of order. The link is not added then.
    pub fn push_link(
        &mut self,
        row: u32,
        column: u32,
        attributes: impl IntoIterator<Item = (u32, f64)>,
        gold: Gold,
    ) -> Result<(), InputError> {
        self.push_weighted_link(row, column, attributes, gold, 1.0)
    }

    /// Like [`push_link`](Self::push_link), but a mistake at this link counts `weight` ≥ 0 times.
    ///
    /// ```
    /// use maxmargin::model::InputError;
    /// use maxmargin::model::matching::{Gold, Pairs};
    ///
    /// let mut data = Pairs::new();
    /// data.push_weighted_link(0, 0, [], Gold::Sure, 2.5)?;
    /// assert!(matches!(
    ///     data.push_weighted_link(0, 1, [], Gold::Sure, -1.0),
    ///     Err(InputError::Number { value: -1.0, .. })
    /// ));
    /// data.end_pair(1, 2, 1.0)?;
    /// assert_eq!(data.pair(0).link_weight(0), 2.5);
    /// # Ok::<(), InputError>(())
    /// ```
    ///
    /// # Errors
    /// The same as for [`push_link`](Self::push_link), and if the weight is negative or not finite.
    pub fn push_weighted_link(
        &mut self,
        row: u32,
        column: u32,
        attributes: impl IntoIterator<Item = (u32, f64)>,
        gold: Gold,
        weight: f64,
    ) -> Result<(), InputError> {
        if !(weight >= 0.0 && weight.is_finite()) {
            let what = format!("the weight of link {row}-{column}");
            return Err(InputError::negative(what, weight));
        }
        if let Some(&before) = self.unfinished().last().filter(|before| **before >= (row, column)) {
            let message = format!(
                "link {row}-{column} comes after link {}-{}; links come row by row, each once",
                before.0, before.1
            );
            return Err(InputError::Structure(message));
        }
        self.features.push(attributes)?;
        if weight != 1.0 && self.link_weights.is_empty() {
            self.link_weights.resize(self.links.len(), 1.0);
        }
        if weight != 1.0 || !self.link_weights.is_empty() {
            self.link_weights.push(weight);
        }
        self.links.push((row, column));
        self.gold.push(gold);
        Ok(())
    }

    /// Closes the open pair and gives it numbers of rows and columns and an example weight. It may have
    /// no links.
    ///
    /// # Errors
    /// If a link has an end outside the pair, or if the weight is not positive and finite. The pair stays
    /// open then.
    pub fn end_pair(&mut self, rows: u32, columns: u32, weight: f64) -> Result<(), InputError> {
        InputError::check_weight(weight)?;
        let outside = |(row, column): &(u32, u32)| *row >= rows || *column >= columns;
        if let Some(&(row, column)) = self.unfinished().iter().find(|link| outside(link)) {
            let message = format!("link {row}-{column} has an end outside the pair");
            return Err(InputError::Structure(message));
        }
        self.starts.push(self.links.len());
        self.sizes.push((rows, columns));
        self.weights.push(weight);
        Ok(())
    }

    fn unfinished(&self) -> &[(u32, u32)] {
        &self.links[self.starts.last().copied().unwrap_or_default()..]
    }

    /// Number of closed pairs.
    pub fn len(&self) -> usize {
        self.sizes.len()
    }

    /// Whether there is no closed pair.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The closed pair with index `i`.
    ///
    /// # Panics
    /// If `i` is not below [`len`](Self::len).
    #[inline]
    pub fn pair(&self, i: usize) -> Pair<'_> {
        Pair { data: self, i, range: self.starts[i]..self.starts[i + 1] }
    }

    /// All closed pairs in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Pair<'_>> {
        (0..self.len()).map(|i| self.pair(i))
    }

    /// The example weight of pair `i`, which must be below [`len`](Self::len).
    pub fn weight(&self, i: usize) -> f64 {
        self.weights[i]
    }

    /// One more than the largest attribute, or 0 if there are no attributes.
    pub fn attribute_bound(&self) -> usize {
        self.features.attribute_bound()
    }

    /// Adds the closed pairs of `other`. Neither has an open pair.
    ///
    /// ```
    /// use maxmargin::model::matching::{Gold, Pairs};
    ///
    /// let mut pair = Pairs::new();
    /// pair.push_link(0, 1, [(3, 0.5)], Gold::Sure)?;
    /// pair.end_pair(1, 2, 1.0)?;
    /// let mut all = pair.clone();
    /// all.append(&pair);
    /// assert_eq!((all.len(), all.pair(1).links()), (2, pair.pair(0).links()));
    /// # Ok::<(), maxmargin::model::InputError>(())
    /// ```
    ///
    /// # Panics
    /// If a pair is open.
    #[cfg(feature = "unstable")]
    pub fn append(&mut self, other: &Self) {
        assert!(self.unfinished().is_empty() && other.unfinished().is_empty(), "a pair is open");
        let (before, more) = (self.links.len(), other.links.len());
        if !(self.link_weights.is_empty() && other.link_weights.is_empty()) {
            // If weights are stored, there is one for every link.
            self.link_weights.resize(before, 1.0);
            self.link_weights.extend_from_slice(&other.link_weights);
            self.link_weights.resize(before + more, 1.0);
        }
        self.features.append(&other.features, |attribute| attribute);
        self.links.extend_from_slice(&other.links);
        self.gold.extend_from_slice(&other.gold);
        self.starts.extend(other.starts.iter().skip(1).map(|start| before + start));
        self.sizes.extend_from_slice(&other.sizes);
        self.weights.extend_from_slice(&other.weights);
    }

    /// Returns the pairs for whose index `pairs` returns `true`, with those of their links for which
    /// `links` returns `true`, in the same order.
    ///
    /// ```
    /// use maxmargin::model::matching::{Gold, Pairs};
    ///
    /// let mut data = Pairs::new();
    /// for gold in [Gold::Sure, Gold::Possible] {
    ///     data.push_link(0, 0, [(0, 1.0)], gold)?;
    ///     data.end_pair(1, 1, 1.0)?;
    /// }
    /// // Possible links are free, but they have scores; this is how to train without them.
    /// let decided = data.select(|_| true, |pair, link| pair.gold(link) != Gold::Possible);
    /// assert_eq!((decided.len(), decided.pair(1).links().len()), (2, 0));
    /// # Ok::<(), maxmargin::model::InputError>(())
    /// ```
    #[must_use]
    pub fn select(
        &self,
        pairs: impl Fn(usize) -> bool,
        links: impl Fn(&Pair<'_>, usize) -> bool,
    ) -> Self {
        let mut selected = Self::new();
        for (i, pair) in self.iter().enumerate().filter(|(i, _)| pairs(*i)) {
            for k in (0..pair.links().len()).filter(|&k| links(&pair, k)) {
                let ((row, column), attributes) = (pair.link(k), pair.attributes(k).pairs());
                let weight = pair.link_weight(k);
                // The data were checked when they were added.
                let _ = selected.push_weighted_link(row, column, attributes, pair.gold(k), weight);
            }
            let _ = selected.end_pair(pair.rows(), pair.columns(), self.weight(i));
        }
        selected
    }

    pub(super) fn prefetch(&self, i: usize) {
        let range = self.starts[i]..self.starts[i + 1];
        self.features.prefetch_rows(range.clone());
        crate::util::prefetch::prefetch(&self.links[range]);
    }
}

/// A view of one pair of lists: their lengths and the candidate links, which are numbered from 0.
///
/// ```
/// use maxmargin::model::matching::{Gold, Pairs};
///
/// let mut data = Pairs::new();
/// data.push_link(0, 1, [(4, 0.5)], Gold::Sure)?;
/// data.end_pair(1, 2, 1.0)?;
/// let pair = data.pair(0);
/// assert_eq!((pair.link(0), pair.gold(0), pair.attributes(0).attributes), ((0, 1), Gold::Sure, &[4][..]));
/// assert_eq!(pair.find(0, 1), Some(0));
/// assert_eq!(pair.find(0, 0), None); // no candidate
/// # Ok::<(), maxmargin::model::InputError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Pair<'a> {
    data: &'a Pairs,
    i: usize,
    range: Range<usize>,
}

impl<'a> Pair<'a> {
    /// Number of rows.
    pub fn rows(&self) -> u32 {
        self.data.sizes[self.i].0
    }

    /// Number of columns.
    pub fn columns(&self) -> u32 {
        self.data.sizes[self.i].1
    }

    /// Row and column of every candidate link, in increasing order.
    #[inline]
    pub fn links(&self) -> &'a [(u32, u32)] {
        &self.data.links[self.range.clone()]
    }

    /// Row and column of a candidate.
    ///
    /// # Panics
    /// If there is no such candidate. The same holds for all methods that take the number of a candidate.
    #[inline]
    pub fn link(&self, candidate: usize) -> (u32, u32) {
        self.links()[candidate]
    }

    /// The number of the candidate with this row and column, if there is one.
    pub fn find(&self, row: u32, column: u32) -> Option<usize> {
        self.links().binary_search(&(row, column)).ok()
    }

    /// The attributes of a candidate.
    #[inline]
    pub fn attributes(&self, candidate: usize) -> Row<'a> {
        self.data.features.row(self.range.start + candidate)
    }

    /// The annotations of all candidates.
    #[inline]
    pub fn golds(&self) -> &'a [Gold] {
        &self.data.gold[self.range.clone()]
    }

    /// The annotation of a candidate.
    pub fn gold(&self, candidate: usize) -> Gold {
        self.golds()[candidate]
    }

    /// The weight of a mistake at a candidate.
    #[inline]
    pub fn link_weight(&self, candidate: usize) -> f64 {
        self.data.link_weights.get(self.range.start + candidate).copied().unwrap_or(1.0)
    }

    /// The candidates with this annotation.
    pub fn of_kind(&self, gold: Gold) -> impl Iterator<Item = usize> + use<'a> {
        let golds = self.golds();
        (0..golds.len()).filter(move |&k| golds[k] == gold)
    }
}
