//! Sparse rows of attributes. Every model uses them to store its inputs, to compute scores and to scatter
//! updates.

use super::column::{Column, Offsets};
use crate::problem::sparse::Sink;
use crate::util::prefetch::{prefetch, prefetch_first};
use std::ops::Range;
use thiserror::Error;

/// An attribute value that is NaN or infinite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct NotFinite {
    pub(crate) attribute: u32,
    pub(crate) value: f64,
}

/// Why arrays cannot hold examples.
///
/// ```
/// use maxmargin::model::{BadColumns, Column, Offsets};
/// use maxmargin::model::chain::{SequenceColumns, Sequences};
///
/// let columns = SequenceColumns { labels: Column::from(vec![0]), ..SequenceColumns::default() };
/// let error: BadColumns = Sequences::from_columns(columns).unwrap_err();
/// assert_eq!(error.to_string(), "the tokens do not fill the list of labels");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct BadColumns(pub(crate) &'static str);

/// Rows of attributes with values, compressed, so that a pass over them reads memory in order.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Rows {
    /// First entry of each row, and one past the last entry.
    starts: Offsets,
    attributes: Column<u32>,
    /// Parallel to `attributes`, or empty while every value is 1.
    values: Column<f64>,
}

impl Rows {
    /// Adds a row, unless a value is not finite.
    pub(crate) fn push(
        &mut self,
        row: impl IntoIterator<Item = (u32, f64)>,
    ) -> Result<(), NotFinite> {
        let (attributes, values) = (self.attributes.to_mut(), self.values.to_mut());
        let (before, had_values) = (attributes.len(), !values.is_empty());
        for (attribute, value) in row {
            if !value.is_finite() {
                attributes.truncate(before);
                values.truncate(if had_values { before } else { 0 });
                return Err(NotFinite { attribute, value });
            }
            if value != 1.0 && values.is_empty() {
                values.resize(attributes.len(), 1.0);
            }
            // If values are stored, there is one for every attribute.
            if value != 1.0 || !values.is_empty() {
                values.push(value);
            }
            attributes.push(attribute);
        }
        self.starts.push(attributes.len());
        Ok(())
    }

    /// Appends the rows of `other`, whose attribute `a` has the number `number(a)` here.
    pub(crate) fn append(&mut self, other: &Self, number: impl Fn(u32) -> u32) {
        let (before, more) = (self.attributes.len(), other.attributes.len());
        if !(self.values.is_empty() && other.values.is_empty()) {
            // If values are stored, there is one for every attribute.
            let values = self.values.to_mut();
            values.resize(before, 1.0);
            values.extend_from_slice(&other.values);
            values.resize(before + more, 1.0);
        }
        let own = self.attributes.to_mut();
        own.extend(other.attributes.iter().map(|&a| number(a)));
        self.starts.append(&other.starts);
    }

    /// Gives attribute `a` the number `new(a)`, and leaves out the attributes without a number. The entries of a
    /// row keep their order.
    pub(crate) fn renumber(&mut self, new: impl Fn(u32) -> Option<u32>) {
        let (attributes, values) = (self.attributes.to_mut(), self.values.to_mut());
        let has_values = !values.is_empty();
        let mut starts = Offsets::new();
        let (mut from, mut kept) = (0, 0);
        for row in 1..self.starts.len() {
            let to = self.starts.get(row);
            for at in from..to {
                if let Some(attribute) = new(attributes[at]) {
                    attributes[kept] = attribute;
                    if has_values {
                        values[kept] = values[at];
                    }
                    kept += 1;
                }
            }
            from = to;
            starts.push(kept);
        }
        attributes.truncate(kept);
        values.truncate(kept);
        if values.iter().all(|&value| value == 1.0) {
            values.clear();
        }
        self.starts = starts;
    }

    /// Sorts the entries of each row from `first` on by attribute. A row must not have the same attribute twice.
    pub(crate) fn sort(&mut self, first: usize) {
        let (attributes, values) = (self.attributes.to_mut(), self.values.to_mut());
        let mut pairs: Vec<(u32, f64)> = Vec::new();
        for row in first + 1..self.starts.len() {
            let range = self.starts.get(row - 1)..self.starts.get(row);
            let own = &mut attributes[range.clone()];
            if own.is_sorted() {
                continue;
            }
            if values.is_empty() {
                own.sort_unstable();
                continue;
            }
            let own_values = &mut values[range];
            pairs.clear();
            pairs.extend(own.iter().copied().zip(own_values.iter().copied()));
            pairs.sort_unstable_by_key(|&(attribute, _)| attribute);
            for ((attribute, value), &pair) in own.iter_mut().zip(own_values).zip(&pairs) {
                (*attribute, *value) = pair;
            }
        }
    }

    /// The first entry of each row, and one past the last.
    pub(crate) fn starts(&self) -> &Offsets {
        &self.starts
    }

    /// The arrays that the rows are stored in: the first entry of each row, the attributes, and the values.
    pub(crate) fn into_columns(self) -> (Offsets, Column<u32>, Column<f64>) {
        (self.starts, self.attributes, self.values)
    }

    /// Creates rows that are stored in these arrays. Fails if the arrays do not belong together or if a value is
    /// not finite.
    pub(crate) fn from_columns(
        starts: Offsets,
        attributes: Column<u32>,
        values: Column<f64>,
    ) -> Result<Self, BadColumns> {
        if !starts.cover(attributes.len()) {
            return Err(BadColumns("the rows do not fill the list of attributes"));
        }
        if !values.is_empty() && values.len() != attributes.len() {
            return Err(BadColumns("the number of values is not that of the attributes"));
        }
        if !values.iter().all(|value| value.is_finite()) {
            return Err(BadColumns("a value is not finite"));
        }
        Ok(Self { starts, attributes, values })
    }

    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of entries of all rows.
    pub(crate) fn entries(&self) -> usize {
        self.attributes.len()
    }

    #[inline]
    pub(crate) fn row(&self, i: usize) -> Row<'_> {
        let (from, to) = (self.starts.get(i), self.starts.get(i + 1));
        let values = &*self.values;
        Row {
            attributes: &self.attributes[from..to],
            values: if values.is_empty() { &[] } else { &values[from..to] },
        }
    }

    /// One more than the largest attribute, or 0 if there are no attributes.
    pub(crate) fn attribute_bound(&self) -> usize {
        self.attributes.iter().max().map_or(0, |&a| a as usize + 1)
    }

    /// Prefetches rows whose entries are known to be `entries`.
    pub(crate) fn prefetch(&self, rows: Range<usize>, entries: Range<usize>) {
        self.starts.prefetch(rows);
        prefetch_first(&self.attributes[entries.clone()]);
        prefetch_first(self.values.get(entries).unwrap_or_default());
    }

    /// Like [`prefetch`](Self::prefetch), for rows whose first and last entries must be looked up.
    pub(crate) fn prefetch_rows(&self, rows: Range<usize>) {
        let entries = self.starts.get(rows.start)..self.starts.get(rows.end);
        self.prefetch(rows, entries);
    }

    /// Prefetches a row.
    pub(crate) fn prefetch_row(&self, i: usize) {
        let entries = self.starts.get(i)..self.starts.get(i + 1);
        prefetch(&self.attributes[entries.clone()]);
        prefetch(self.values.get(entries).unwrap_or_default());
    }
}

/// Sparse attributes with their values: the input of a row, or of one token of a sequence.
///
/// ```
/// use maxmargin::model::Row;
///
/// let row = Row { attributes: &[4, 2], values: &[] };
/// assert_eq!(row.pairs().collect::<Vec<_>>(), [(4, 1.0), (2, 1.0)]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row<'a> {
    /// Attribute indices.
    pub attributes: &'a [u32],
    /// The values of the attributes, or empty if every value is 1.
    pub values: &'a [f64],
}

impl<'a> Row<'a> {
    /// The attributes as `(index, value)` pairs.
    ///
    /// ```
    /// let row = maxmargin::model::Row { attributes: &[4, 2], values: &[1.0, 0.5] };
    /// assert_eq!(row.pairs().collect::<Vec<_>>(), [(4, 1.0), (2, 0.5)]);
    /// ```
    pub fn pairs(&self) -> impl Iterator<Item = (u32, f64)> + use<'a> {
        let values = self.values;
        let value = move |at: usize| values.get(at).copied().unwrap_or(1.0);
        self.attributes.iter().enumerate().map(move |(at, &a)| (a, value(at)))
    }

    /// Writes the attributes in the order of their indices, each once: the values of an attribute that is named several
    /// times add up, as they do in scores.
    ///
    /// ```
    /// let row = maxmargin::model::Row { attributes: &[4, 2, 4], values: &[1.0, 0.5, 2.0] };
    /// let mut merged = Vec::new();
    /// row.merge_into(&mut merged);
    /// assert_eq!(merged, [(2, 0.5), (4, 3.0)]);
    /// ```
    #[cfg(feature = "unstable")]
    pub fn merge_into(&self, merged: &mut Vec<(u32, f64)>) {
        merged.clear();
        merged.extend(self.pairs());
        if !self.attributes.is_sorted_by(|a, b| a < b) {
            merged.sort_by_key(|pair| pair.0);
            merged.dedup_by(|next, kept| {
                let is_same = next.0 == kept.0;
                kept.1 += if is_same { next.1 } else { 0.0 };
                is_same
            });
        }
    }

    /// Σ value · `weights`[attribute].
    #[inline]
    pub(crate) fn dot(&self, weights: &[f64]) -> f64 {
        self.dot_strided(weights, 1, 0)
    }

    /// Σ value · `weights`[attribute · `stride` + `at`].
    // This is always inlined, so that a stride of 1 costs nothing.
    #[inline(always)]
    pub(crate) fn dot_strided(&self, weights: &[f64], stride: usize, at: usize) -> f64 {
        let weight = |&attribute: &u32| weights[attribute as usize * stride + at];
        // Four sums side by side, so that an addition does not wait for the one before it.
        let mut sums = [0.0; 4];
        let (groups, rest) = self.attributes.as_chunks::<4>();
        if self.values.is_empty() {
            for group in groups {
                sums.iter_mut().zip(group).for_each(|(sum, a)| *sum += weight(a));
            }
            sums.iter_mut().zip(rest).for_each(|(sum, a)| *sum += weight(a));
        } else {
            let (value_groups, value_rest) = self.values.as_chunks::<4>();
            for (group, values) in groups.iter().zip(value_groups) {
                let terms = sums.iter_mut().zip(group).zip(values);
                terms.for_each(|((sum, a), value)| *sum += value * weight(a));
            }
            let terms = sums.iter_mut().zip(rest).zip(value_rest);
            terms.for_each(|((sum, a), value)| *sum += value * weight(a));
        }
        (sums[0] + sums[1]) + (sums[2] + sums[3])
    }

    /// Adds `scale` · value to each attribute.
    #[inline]
    pub(crate) fn scatter<S: Sink + ?Sized>(&self, scale: f64, sink: &mut S) {
        scatter_labels(1, *self, [(0, scale)], sink);
    }
}

/// The largest number of labels whose sums are kept in registers together.
const LANES: usize = 32;

/// Adds the scores of a row to `sums`, one per label. Weights are stored attribute by attribute with all
/// labels side by side.
///
/// The weights of each attribute are read in order, with all sums in registers. This needs a version for
/// every small number of labels; larger numbers are split into groups.
pub(crate) fn add_scores(weights: &[f64], row: Row<'_>, sums: &mut [f64]) {
    let k = sums.len();
    let odd = k % LANES;
    macro_rules! add_odd_lanes {
        ($($n:literal)*) => {
            match odd {
                $( $n => add_lanes::<$n>(weights, k, 0, row, sums), )*
                _ => {}
            }
        };
    }
    add_odd_lanes!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31);
    for (group, sums) in sums[odd..].chunks_exact_mut(LANES).enumerate() {
        add_lanes::<LANES>(weights, k, odd + group * LANES, row, sums);
    }
}

/// Adds the columns `from .. from + K` of the weights of a row to `sums`. The weights of an attribute are
/// `stride` wide.
#[inline]
fn add_lanes<const K: usize>(
    weights: &[f64],
    stride: usize,
    from: usize,
    row: Row<'_>,
    sums: &mut [f64],
) {
    let mut lanes = [0.0; K];
    lanes.copy_from_slice(&sums[..K]);
    if row.values.is_empty() {
        for &a in row.attributes {
            let at = a as usize * stride + from;
            for (s, w) in lanes.iter_mut().zip(&weights[at..at + K]) {
                *s += w;
            }
        }
    } else {
        for (&a, &value) in row.attributes.iter().zip(row.values) {
            let at = a as usize * stride + from;
            for (s, w) in lanes.iter_mut().zip(&weights[at..at + K]) {
                *s += value * w;
            }
        }
    }
    sums[..K].copy_from_slice(&lanes);
}

/// Adds the scores of a few labels of a row to `sums`, with the same bits as [`add_scores`]. The sums wait for each other
/// no more than those of all labels do, and the weights of other labels stay where they are.
#[inline]
pub(crate) fn add_scores_of<const M: usize>(
    weights: &[f64],
    k: usize,
    row: Row<'_>,
    labels: [usize; M],
    sums: &mut [f64; M],
) {
    let mut lanes = *sums;
    let columns = labels.map(|y| &weights[y..]);
    if row.values.is_empty() {
        for &a in row.attributes {
            let at = a as usize * k;
            lanes.iter_mut().zip(columns).for_each(|(s, w)| *s += w[at]);
        }
    } else {
        for (&a, &value) in row.attributes.iter().zip(row.values) {
            let at = a as usize * k;
            lanes.iter_mut().zip(columns).for_each(|(s, w)| *s += value * w[at]);
        }
    }
    *sums = lanes;
}

/// Adds `scale` · (row ⊗ masses) to weights that are stored attribute by attribute with `k` labels side
/// by side. Up to four labels are added at a time, so that each attribute is looked up once for all of
/// them.
#[inline]
pub(crate) fn scatter_row<S: Sink + ?Sized>(
    k: usize,
    row: Row<'_>,
    scale: f64,
    masses: &[(u64, f64)],
    label: impl Fn(u64) -> usize,
    sink: &mut S,
) {
    for group in masses.chunks(4) {
        let mass = |at: usize| (label(group[at].0), scale * group[at].1);
        match group.len() {
            1 => scatter_labels(k, row, [mass(0)], sink),
            2 => scatter_labels(k, row, [mass(0), mass(1)], sink),
            3 => scatter_labels(k, row, [mass(0), mass(1), mass(2)], sink),
            _ => scatter_labels(k, row, [mass(0), mass(1), mass(2), mass(3)], sink),
        }
    }
}

#[inline]
fn scatter_labels<const M: usize, S: Sink + ?Sized>(
    k: usize,
    row: Row<'_>,
    labels: [(usize, f64); M],
    sink: &mut S,
) {
    if row.values.is_empty() {
        for &a in row.attributes {
            let at = a as usize * k;
            labels.iter().for_each(|&(y, change)| sink.add(at + y, change));
        }
    } else {
        for (&a, value) in row.attributes.iter().zip(row.values) {
            let at = a as usize * k;
            labels.iter().for_each(|&(y, change)| sink.add(at + y, change * value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_start_to_be_stored_with_the_first_that_is_not_one() {
        let mut rows = Rows::default();
        rows.push([(4, 1.0), (2, 1.0)]).unwrap();
        assert!(rows.values.is_empty());
        rows.push([(1, 1.0), (0, -2.5)]).unwrap();
        assert_eq!(rows.row(0).pairs().collect::<Vec<_>>(), [(4, 1.0), (2, 1.0)]);
        assert_eq!(rows.row(1).pairs().collect::<Vec<_>>(), [(1, 1.0), (0, -2.5)]);
        assert_eq!((rows.attribute_bound(), rows.entries()), (5, 4));
    }

    #[test]
    fn a_refused_row_leaves_no_trace() {
        let mut rows = Rows::default();
        rows.push([(0, 1.0)]).unwrap();
        let before = rows.clone();
        for first in [1.0, 2.0] {
            let error = rows.push([(1, first), (2, f64::NAN)]).unwrap_err();
            assert_eq!(error.attribute, 2);
            assert_eq!(rows, before);
        }
    }

    #[test]
    fn scores_of_a_few_labels_have_the_bits_of_those_of_all() {
        for k in [2, 5, 31, 32, 40] {
            let weights: Vec<f64> = (0..7 * k).map(|at| (at as f64 + 0.3).sin()).collect();
            let attributes = [4, 0, 6, 3];
            for values in [&[][..], &[0.7, -1.3, 0.1, 2.9]] {
                let row = Row { attributes: &attributes, values };
                let mut all = vec![0.1; k];
                add_scores(&weights, row, &mut all);
                let labels = [k - 1, 0, 1];
                let mut few = [0.1; 3];
                add_scores_of(&weights, k, row, labels, &mut few);
                assert_eq!(few.map(f64::to_bits), labels.map(|y| all[y].to_bits()));
            }
        }
    }

    #[test]
    fn dot_products_of_every_length() {
        let weights: Vec<f64> = (0..20).map(|a| f64::from(a) - 7.0).collect();
        for length in 0..20u32 {
            let attributes: Vec<u32> = (0..length).rev().collect();
            let ones = Row { attributes: &attributes, values: &[] };
            let sum: f64 = weights[..length as usize].iter().sum();
            assert_eq!(ones.dot(&weights), sum);
            let values: Vec<f64> = attributes.iter().map(|&a| f64::from(a % 3)).collect();
            let row = Row { attributes: &attributes, values: &values };
            let sum: f64 = row.pairs().map(|(a, value)| value * weights[a as usize]).sum();
            assert_eq!(row.dot(&weights), sum);
            let wide: Vec<f64> = weights.iter().flat_map(|&w| [0.5, w, f64::NAN]).collect();
            assert_eq!(row.dot_strided(&wide, 3, 1), sum);
        }
    }
}
