//! Chooses the value of the bias of rows to fit the length of their attributes.
//!
//! A bias is an attribute that all rows have. It has no unit. λ fits the length of the attributes of rows; the
//! longer they are, the more λ holds back a bias with the value 1. A wrong label changes the attributes of one row
//! and the bias. If the bias has the value √m, where m is the mean squared length of the attributes of a row, both
//! changes are equally long in any units. This is the rule of [`transition_scale`](crate::transition_scale),
//! applied to rows. `benchmarks/results/2026-11-19-defaults.md` has the measurements behind this choice.

use crate::lambda::Moments;
use crate::spec::Spec;
use crate::training::Training;
use maxmargin::model::LabelledRows;

/// The mean of about this many rows is close enough to the mean of all rows.
const SAMPLE: usize = 20_000;

impl Training {
    /// Gives the bias of a binary or multiclass model the value that fits the attributes of its rows, and returns
    /// the value; see [`bias_value`]. Models without a bias or with a kernel, and models of other kinds, are not
    /// changed.
    pub fn fit_bias(&mut self) -> Option<f64> {
        let rows = self.examples.rows()?;
        let bias = match &mut self.spec {
            Spec::Binary(own) => &mut own.shape.bias,
            Spec::Multiclass(own) if own.kernel.is_none() => &mut own.shape.bias,
            Spec::Multiclass(_)
            | Spec::Multilabel(_)
            | Spec::Chain(_)
            | Spec::FactorGraph(_)
            | Spec::Potts(_)
            | Spec::Tree(_)
            | Spec::Matching(_)
            | Spec::Segment(_) => return None,
        };
        let value = bias.as_mut()?;
        *value = bias_value(rows);
        Some(*value)
    }
}

/// The value of a bias that fits the attributes of rows: the root of their mean squared length, centred as for λ.
/// Attributes that are the same in all rows count in full. A row counts as many times as its weight says. The value
/// is 1 if rows have no attributes.
///
/// ```
/// use maxmargin::model::LabelledRows;
///
/// let rows = |unit: f64| {
///     let mut rows = LabelledRows::new();
///     rows.push([(0, unit * 9.0), (1, unit * 5.0)], &[0], 1.0)?;
///     rows.push([(0, unit * 11.0), (1, unit * -5.0)], &[1], 1.0)?;
///     Ok::<_, maxmargin::model::InputError>(rows)
/// };
/// assert_eq!(maxmargin_io::bias_value(&rows(1.0)?), 26f64.sqrt()); // 1 + 25
/// assert_eq!(maxmargin_io::bias_value(&rows(2.0)?), 104f64.sqrt());
/// # Ok::<(), maxmargin::model::InputError>(())
/// ```
pub fn bias_value(rows: &LabelledRows) -> f64 {
    value(&moments(rows, step(rows)))
}

/// One row in this many is used.
fn step(rows: &LabelledRows) -> usize {
    rows.len().div_ceil(SAMPLE).max(1)
}

fn moments(rows: &LabelledRows, step: usize) -> Moments {
    let mut moments = Moments::default();
    for (i, (row, _)) in rows.iter().enumerate().step_by(step) {
        moments.add(row, rows.weight(i));
    }
    moments
}

fn value(moments: &Moments) -> f64 {
    let square = moments.mean_left();
    // Lengths that overflow or vanish cannot be used.
    if square.is_normal() { square.sqrt() } else { 1.0 }
}

/// The sums that determine the value of a bias. Sums over parts of the rows add up to those over all rows.
///
/// ```
/// use maxmargin::model::LabelledRows;
/// use maxmargin_io::BiasSums;
///
/// let mut rows = LabelledRows::new();
/// rows.push([(0, 9.0), (1, 5.0)], &[0], 1.0)?;
/// rows.push([(0, 11.0), (1, -5.0)], &[1], 1.0)?;
/// let sums = BiasSums::of(&rows);
/// assert_eq!((sums.rows, sums.attributes[1]), (2.0, [0.0, 50.0, 2.0, -5.0, 5.0]));
/// assert_eq!(sums.bias_value(), maxmargin_io::bias_value(&rows));
/// # Ok::<(), maxmargin::model::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct BiasSums {
    /// The number of rows, each counted as many times as its weight says.
    pub rows: f64,
    /// For each attribute: the sum and the sum of squares of its values, the number of rows that have it, and its
    /// least and largest value.
    pub attributes: Vec<[f64; 5]>,
}

impl BiasSums {
    /// The sums over these rows. If they are many, a sample stands for all of them.
    pub fn of(rows: &LabelledRows) -> Self {
        let step = step(rows);
        let (moments, each) = (moments(rows, step), step as f64);
        let (rows, attributes) = moments.columns();
        let all = |[sum, squares, count, least, largest]: [f64; 5]| {
            [each * sum, each * squares, each * count, least, largest]
        };
        Self { rows: each * rows, attributes: attributes.map(all).collect() }
    }

    /// The value of a bias that fits the attributes; see [`bias_value`].
    pub fn bias_value(&self) -> f64 {
        value(&Moments::from_columns(self.rows, self.attributes.iter().copied()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_parts_that_are_sampled_weigh_as_much_as_their_rows() {
        let rows = |count: usize, value: f64| {
            let mut rows = LabelledRows::new();
            for i in 0..count {
                rows.push([(0, value * [1.0, -1.0][i / 2 % 2]), (1, 3.0)], &[0], 1.0).unwrap();
            }
            rows
        };
        let parts = [BiasSums::of(&rows(2 * SAMPLE, 1.0)), BiasSums::of(&rows(SAMPLE, 4.0))];
        assert_eq!(parts.each_ref().map(|part| part.rows), [40_000.0, 20_000.0]);
        let mut all = parts[0].clone();
        all.rows += parts[1].rows;
        for (a, b) in all.attributes.iter_mut().zip(&parts[1].attributes) {
            *a = [a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3].min(b[3]), a[4].max(b[4])];
        }
        // 1 in two of three rows, 16 in the others, and the constant 3.
        assert!((all.bias_value() - 15f64.sqrt()).abs() < 1e-12, "{}", all.bias_value());
    }

    #[test]
    fn lengths_that_say_nothing_leave_one() {
        assert_eq!(bias_value(&LabelledRows::new()), 1.0);
        for value in [0.0, 1e200, 1e-200] {
            let mut rows = LabelledRows::new();
            rows.push([(0, value)], &[0], 1.0).unwrap();
            assert_eq!(bias_value(&rows), 1.0, "{value:e}");
        }
    }
}
