//! Computes the share of the length of attributes that remains after centring.
//!
//! What all inputs have in common says nothing about their labels: lengths between 5 and 7 cm are as different as
//! lengths between 0 and 2 cm. λ has to fit the differences, so λ is smaller for attributes with large means. A
//! constant attribute is a bias, which counts in full.

use crate::examples::Examples;
use maxmargin::model::Row;

/// Sums over rows, attribute by attribute.
#[derive(Debug, Clone, Default)]
pub(crate) struct Moments {
    rows: f64,
    /// For each attribute: the sum and the sum of squares of its values, the number of rows that have it, and its
    /// least and largest value.
    attributes: Vec<Column>,
    /// The row that is counted.
    row: Vec<(u32, f64)>,
}

#[derive(Debug, Clone, Copy)]
struct Column {
    sum: f64,
    squares: f64,
    count: f64,
    least: f64,
    largest: f64,
}

const EMPTY: Column =
    Column { sum: 0.0, squares: 0.0, count: 0.0, least: f64::INFINITY, largest: f64::NEG_INFINITY };

impl Moments {
    /// Counts a row as many times as its weight says.
    pub(crate) fn add(&mut self, row: Row<'_>, weight: f64) {
        self.rows += weight;
        row.merge_into(&mut self.row);
        for &(attribute, value) in &self.row {
            let at = attribute as usize;
            if at >= self.attributes.len() {
                self.attributes.resize(at + 1, EMPTY);
            }
            let column = &mut self.attributes[at];
            column.sum += weight * value;
            column.squares += weight * value * value;
            column.count += weight;
            column.least = column.least.min(value);
            column.largest = column.largest.max(value);
        }
    }

    /// The number of rows, and five numbers for each attribute; see [`from_columns`](Self::from_columns).
    pub(crate) fn columns(&self) -> (f64, impl Iterator<Item = [f64; 5]>) {
        let numbers = |own: &Column| [own.sum, own.squares, own.count, own.least, own.largest];
        (self.rows, self.attributes.iter().map(numbers))
    }

    /// Creates the sums over this number of rows from five numbers for each attribute: the sum and the sum of
    /// squares of its values, the number of rows that have it, and its least and largest value.
    pub(crate) fn from_columns(rows: f64, columns: impl Iterator<Item = [f64; 5]>) -> Self {
        let column = |[sum, squares, count, least, largest]: [f64; 5]| Column {
            sum,
            squares,
            count,
            least,
            largest,
        };
        Self { rows, attributes: columns.map(column).collect(), row: Vec::new() }
    }

    /// The sum of all squares, and the part of it that remains after centring.
    fn squares(&self) -> (f64, f64) {
        let (mut all, mut left) = (0.0, 0.0);
        for column in &self.attributes {
            all += column.squares;
            let is_constant = column.count == self.rows && column.least == column.largest;
            let mean_part = column.sum * column.sum / self.rows;
            left +=
                if is_constant { column.squares } else { (column.squares - mean_part).max(0.0) };
        }
        (all, left)
    }

    /// The share of the squares that remains after centring.
    fn spread(&self) -> f64 {
        let (all, left) = self.squares();
        if all > 0.0 && left > 0.0 { left / all } else { 1.0 }
    }

    /// The mean number of attributes of a row.
    pub(crate) fn mean_count(&self) -> f64 {
        self.attributes.iter().map(|column| column.count).sum::<f64>() / self.rows
    }

    /// The mean squared length of a row after centring.
    pub(crate) fn mean_left(&self) -> f64 {
        self.squares().1 / self.rows
    }
}

/// The share of the squared length of the attributes of rows, tokens, nodes or links that remains after centring.
/// It is 1 for examples of other kinds.
pub(super) fn spread(examples: &Examples) -> f64 {
    let mut moments = Moments::default();
    if let Some(rows) = examples.rows() {
        rows.iter().for_each(|(row, _)| moments.add(row, 1.0));
    } else if let Some(sequences) = examples.sequences() {
        let tokens = sequences.iter().flat_map(|sequence| sequence.tokens());
        tokens.for_each(|token| moments.add(token, 1.0));
    } else if let Some(graphs) = examples.potts() {
        for graph in graphs.iter() {
            (0..graph.nodes()).for_each(|v| moments.add(graph.node(v), 1.0));
        }
    } else if let Some(pairs) = examples.pairs() {
        for pair in pairs.iter() {
            (0..pair.links().len()).for_each(|link| moments.add(pair.attributes(link), 1.0));
        }
    }
    moments.spread()
}

#[cfg(test)]
mod tests {
    use super::*;
    use maxmargin::model::LabelledRows;

    fn rows(values: &[f64], bias: Option<f64>) -> Examples {
        let mut rows = LabelledRows::new();
        for &value in values {
            let constant = bias.map(|bias| (1, bias));
            rows.push([(0, value)].into_iter().chain(constant), &[0], 1.0).unwrap();
        }
        Examples::from(rows)
    }

    #[test]
    fn values_common_to_all_rows_do_not_count() {
        // The variance of 9 and 11 is 1, and their mean square 101.
        assert!((spread(&rows(&[9.0, 11.0], None)) - 1.0 / 101.0).abs() < 1e-12);
        assert!((spread(&rows(&[-1.0, 1.0], None)) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_bias_counts_in_full_and_constants_alone_have_all_of_their_length() {
        assert!((spread(&rows(&[-1.0, 1.0], Some(3.0))) - 1.0).abs() < 1e-12);
        assert_eq!(spread(&rows(&[5.0, 5.0], None)), 1.0);
    }

    #[test]
    fn rare_attributes_keep_nearly_all_of_their_length() {
        let mut data = LabelledRows::new();
        for attribute in 0..100 {
            data.push([(attribute, 1.0)], &[0], 1.0).unwrap();
        }
        assert!((spread(&Examples::from(data)) - 0.99).abs() < 1e-12);
    }
}
