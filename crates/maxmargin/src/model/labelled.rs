//! Rows with sets of labels in index form, for multiclass, multilabel and binary models.

use super::column::{Column, Offsets, append_unless_ones};
use super::error::InputError;
use super::rows::{BadColumns, Row, Rows};

/// The simplest kind of examples: rows of sparse real-valued attributes, each with a set of labels.
///
/// A multiclass model needs exactly one label in every row. A binary model asks whether a certain label
/// is in the set. Everything is stored in a few flat arrays. Attributes and labels are plain indices; the
/// code that reads files handles names.
///
/// ```
/// use maxmargin::model::LabelledRows;
///
/// let mut data = LabelledRows::new();
/// data.push([(0, 1.0), (3, 0.5)], &[1], 1.0)?; // attributes 0 and 3, label 1, weight 1
/// data.push([], &[2, 0], 2.0)?;                // no attributes, labels 0 and 2, counts twice
/// assert_eq!(data.row(0).attributes, [0, 3]);
/// assert_eq!((data.len(), data.labels(1), data.weight(1)), (2, &[0, 2][..], 2.0));
/// # Ok::<(), maxmargin::model::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct LabelledRows {
    rows: Rows,
    /// First label of each row, and one past the last.
    starts: Offsets,
    labels: Column<u32>,
    /// One weight per row, or empty while every weight is 1.
    weights: Column<f64>,
}

impl Default for LabelledRows {
    fn default() -> Self {
        Self::new()
    }
}

impl LabelledRows {
    /// An empty collection.
    pub fn new() -> Self {
        let (rows, starts) = (Rows::default(), Offsets::new());
        Self { rows, starts, labels: Column::default(), weights: Column::default() }
    }

    /// Adds a row: attributes `(index, value)`, labels, and an example weight.
    ///
    /// Attributes and labels are sorted, and values of a repeated attribute are added up. Any index is
    /// accepted here; the model checks that labels and attributes fit a shape.
    ///
    /// ```
    /// let mut data = maxmargin::model::LabelledRows::new();
    /// data.push([(5, 1.0), (2, 0.5), (5, -3.0)], &[7, 1], 1.0)?;
    /// assert_eq!(data.row(0).pairs().collect::<Vec<_>>(), [(2, 0.5), (5, -2.0)]);
    /// assert_eq!(data.labels(0), [1, 7]);
    /// # Ok::<(), maxmargin::model::InputError>(())
    /// ```
    ///
    /// # Errors
    /// If a value is NaN or infinite, if a label is repeated, or if the weight is not positive and
    /// finite. The row is not added then.
    pub fn push(
        &mut self,
        attributes: impl IntoIterator<Item = (u32, f64)>,
        labels: &[u32],
        weight: f64,
    ) -> Result<(), InputError> {
        InputError::check_weight(weight)?;
        let mut labels = labels.to_vec();
        labels.sort_unstable();
        if let Some(pair) = labels.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(InputError::Structure(format!("the label {} is given twice", pair[0])));
        }
        // Sort the attributes and add up repeated ones.
        let mut row: Vec<(u32, f64)> = attributes.into_iter().collect();
        if !row.is_sorted_by(|a, b| a.0 < b.0) {
            row.sort_by_key(|&(attribute, _)| attribute);
            row.dedup_by(|later, first| {
                let same = later.0 == first.0;
                if same {
                    first.1 += later.1;
                }
                same
            });
        }
        self.rows.push(row)?;
        // Weights are stored from the first one that is not 1.
        if weight != 1.0 && self.weights.is_empty() {
            let before = self.len();
            self.weights.to_mut().resize(before, 1.0);
        }
        if weight != 1.0 || !self.weights.is_empty() {
            self.weights.push(weight);
        }
        self.labels.to_mut().append(&mut labels);
        self.starts.push(self.labels.len());
        Ok(())
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of attribute entries of all rows.
    pub fn entries(&self) -> usize {
        self.rows.entries()
    }

    /// The attributes of row `i`, in increasing order.
    ///
    /// # Panics
    /// If `i` is not below [`len`](Self::len).
    #[inline]
    pub fn row(&self, i: usize) -> Row<'_> {
        self.rows.row(i)
    }

    /// The labels of row `i`, in increasing order. A row may have no label.
    ///
    /// # Panics
    /// If `i` is not below [`len`](Self::len).
    pub fn labels(&self, i: usize) -> &[u32] {
        &self.labels[self.starts.get(i)..self.starts.get(i + 1)]
    }

    /// The example weight of row `i`, which must be below [`len`](Self::len).
    pub fn weight(&self, i: usize) -> f64 {
        if self.weights.is_empty() { 1.0 } else { self.weights[i] }
    }

    /// All rows in order, each with its labels.
    ///
    /// ```
    /// let mut data = maxmargin::model::LabelledRows::new();
    /// data.push([(4, 2.0)], &[1], 1.0)?;
    /// let (row, labels) = data.iter().next().unwrap();
    /// assert_eq!((row.values, labels), (&[2.0][..], &[1][..]));
    /// # Ok::<(), maxmargin::model::InputError>(())
    /// ```
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (Row<'_>, &[u32])> {
        (0..self.len()).map(|i| (self.row(i), self.labels(i)))
    }

    /// Returns the rows for whose index `keep` returns `true`, in the same order.
    ///
    /// ```
    /// let mut data = maxmargin::model::LabelledRows::new();
    /// for label in 0..3 {
    ///     data.push([(label, 1.0)], &[label], 1.0)?;
    /// }
    /// let some = data.select(|i| i != 1);
    /// assert_eq!((some.len(), some.labels(1)), (2, &[2][..]));
    /// # Ok::<(), maxmargin::model::InputError>(())
    /// ```
    #[must_use]
    pub fn select(&self, keep: impl Fn(usize) -> bool) -> Self {
        let mut selected = Self::new();
        for i in (0..self.len()).filter(|&i| keep(i)) {
            // The data were checked when they were added.
            let _ = selected.push(self.row(i).pairs(), self.labels(i), self.weight(i));
        }
        selected
    }

    /// Appends the rows of `other`, which numbers labels and attributes differently: label `y` of `other` is
    /// `labels[y]` here, and attribute `a` is `attributes[a]`. Different labels or attributes must have different
    /// numbers here.
    ///
    /// ```
    /// use maxmargin::model::LabelledRows;
    ///
    /// let (mut all, mut more) = (LabelledRows::new(), LabelledRows::new());
    /// more.push([(0, 1.0), (1, 0.5)], &[0, 1], 1.0)?;
    /// all.append(&more, &[7, 3], &[4, 2]);
    /// assert_eq!(all.labels(0), [3, 7]);
    /// assert_eq!(all.row(0).pairs().collect::<Vec<_>>(), [(2, 0.5), (4, 1.0)]);
    /// # Ok::<(), maxmargin::model::InputError>(())
    /// ```
    ///
    /// # Panics
    /// If there is no number for a label or an attribute.
    pub fn append(&mut self, other: &Self, labels: &[u32], attributes: &[u32]) {
        append_unless_ones(&mut self.weights, self.starts.len() - 1, &other.weights, other.len());
        let first = self.rows.len();
        self.rows.append(&other.rows, |a| attributes[a as usize]);
        self.rows.sort(first);
        let first = self.len();
        self.labels.to_mut().extend(other.labels.iter().map(|&label| labels[label as usize]));
        self.starts.append(&other.starts);
        self.sort_labels(first);
    }

    /// Gives label `y` the number `labels(y)`, and attribute `a` the number `attributes(a)`. Labels and attributes
    /// without a number are left out. Different ones must have different numbers.
    ///
    /// ```
    /// let mut data = maxmargin::model::LabelledRows::new();
    /// data.push([(0, 1.0), (1, 0.5)], &[0, 1], 1.0)?;
    /// data.renumber(|label| Some(9 - label), |attribute| attribute.checked_sub(1));
    /// assert_eq!(data.labels(0), [8, 9]);
    /// assert_eq!(data.row(0).pairs().collect::<Vec<_>>(), [(0, 0.5)]);
    /// # Ok::<(), maxmargin::model::InputError>(())
    /// ```
    pub fn renumber(
        &mut self,
        labels: impl Fn(u32) -> Option<u32>,
        attributes: impl Fn(u32) -> Option<u32>,
    ) {
        self.rows.renumber(attributes);
        self.rows.sort(0);
        let (own, mut starts, mut kept) = (self.labels.to_mut(), Offsets::new(), 0);
        for i in 1..self.starts.len() {
            for at in self.starts.get(i - 1)..self.starts.get(i) {
                if let Some(label) = labels(own[at]) {
                    own[kept] = label;
                    kept += 1;
                }
            }
            starts.push(kept);
        }
        own.truncate(kept);
        self.starts = starts;
        self.sort_labels(0);
    }

    /// Sorts the labels of each row from `first` on.
    fn sort_labels(&mut self, first: usize) {
        let labels = self.labels.to_mut();
        for i in first + 1..self.starts.len() {
            labels[self.starts.get(i - 1)..self.starts.get(i)].sort_unstable();
        }
    }

    /// The arrays that the rows are stored in, to write them to a file.
    ///
    /// ```
    /// use maxmargin::model::LabelledRows;
    ///
    /// let mut data = LabelledRows::new();
    /// data.push([(4, 2.0)], &[1], 1.0)?;
    /// assert_eq!(LabelledRows::from_columns(data.clone().into_columns())?, data);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "unstable")]
    pub fn into_columns(self) -> RowColumns {
        let Self { rows, starts, labels, weights } = self;
        let (rows, attributes, values) = rows.into_columns();
        RowColumns { rows, attributes, values, starts, labels, weights }
    }

    /// Creates rows that are stored in these arrays, which may be shared with a file.
    ///
    /// # Errors
    /// If the arrays do not belong together, or if they contain a row that [`push`](Self::push) cannot have made.
    #[cfg(feature = "unstable")]
    pub fn from_columns(columns: RowColumns) -> Result<Self, BadColumns> {
        let RowColumns { rows, attributes, values, starts, labels, weights } = columns;
        let rows = Rows::from_columns(rows, attributes, values)?;
        if !starts.cover(labels.len()) || starts.len() != rows.len() + 1 {
            return Err(BadColumns("the rows do not fill the list of labels"));
        }
        let is_weight = |&weight: &f64| weight > 0.0 && weight.is_finite();
        if !(weights.is_empty() || weights.len() == rows.len()) || !weights.iter().all(is_weight) {
            return Err(BadColumns("the weights do not fit the rows"));
        }
        let data = Self { rows, starts, labels, weights };
        let ascend = |list: &[u32]| list.is_sorted_by(|a, b| a < b);
        if !data.iter().all(|(row, labels)| ascend(row.attributes) && ascend(labels)) {
            return Err(BadColumns("the attributes or labels of a row do not ascend"));
        }
        Ok(data)
    }

    /// The same rows with a single attribute each, `numbers[i]`, whose value is 1.
    #[must_use]
    pub(crate) fn with_inputs(&self, numbers: &[u32]) -> Self {
        let mut rows = Rows::default();
        for &number in numbers {
            // 1 is finite.
            let _ = rows.push([(number, 1.0)]);
        }
        Self { rows, ..self.clone() }
    }

    /// One more than the largest label, or 0 if there are no labels. This is the smallest number of
    /// classes that a shape needs.
    ///
    /// ```
    /// let mut data = maxmargin::model::LabelledRows::new();
    /// data.push([(4, 2.0)], &[1, 6], 1.0)?;
    /// assert_eq!((data.label_bound(), data.attribute_bound()), (7, 5));
    /// # Ok::<(), maxmargin::model::InputError>(())
    /// ```
    pub fn label_bound(&self) -> usize {
        self.labels.iter().max().map_or(0, |&label| label as usize + 1)
    }

    /// One more than the largest attribute, or 0 if there are no attributes.
    pub fn attribute_bound(&self) -> usize {
        self.rows.attribute_bound()
    }

    pub(crate) fn prefetch(&self, i: usize) {
        self.rows.prefetch_row(i);
    }
}

/// The arrays that [`LabelledRows`] are stored in; see [`LabelledRows::into_columns`].
///
/// ```
/// assert_eq!(maxmargin::model::RowColumns::default().rows.len(), 1);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RowColumns {
    /// First attribute of each row, and one past the last.
    pub rows: Offsets,
    /// The attributes of all rows.
    pub attributes: Column<u32>,
    /// Their values, or nothing if every value is 1.
    pub values: Column<f64>,
    /// First label of each row, and one past the last.
    pub starts: Offsets,
    /// The labels of all rows.
    pub labels: Column<u32>,
    /// The weight of each row, or nothing if every weight is 1.
    pub weights: Column<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_row_leaves_no_trace() {
        let mut data = LabelledRows::new();
        data.push([(0, 1.0)], &[0], 1.0).unwrap();
        let before = data.clone();
        assert!(data.push([(1, f64::NAN)], &[0], 1.0).is_err());
        assert!(data.push([(1, 1.0)], &[0, 1, 0], 1.0).is_err());
        for weight in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let refused = data.push([(1, 1.0)], &[0], weight).unwrap_err();
            assert!(refused.to_string().starts_with("the example weight is "), "{refused}");
        }
        // Two finite values whose sum is infinite.
        let twice = [(3, f64::MAX), (3, f64::MAX)];
        assert!(matches!(data.push(twice, &[0], 1.0), Err(InputError::Value { attribute: 3, .. })));
        assert_eq!(data, before);
    }

    #[test]
    fn weights_start_to_be_stored_with_the_first_that_is_not_one() {
        let mut data = LabelledRows::new();
        data.push([], &[0], 1.0).unwrap();
        assert!(data.weights.is_empty());
        data.push([], &[], 2.0).unwrap();
        data.push([], &[1], 1.0).unwrap();
        assert_eq!([0, 1, 2].map(|i| data.weight(i)), [1.0, 2.0, 1.0]);
        assert_eq!(data.select(|i| i != 0).weight(0), 2.0);
        assert!(data.labels(1).is_empty());
    }
}
