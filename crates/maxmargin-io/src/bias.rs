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
    value(&moments(rows))
}

/// The sums over all rows. They take much less time than one pass of training, and no sample makes the value depend on
/// how rows are spread over workers.
fn moments(rows: &LabelledRows) -> Moments {
    let mut moments = Moments::default();
    for (i, (row, _)) in rows.iter().enumerate() {
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
    /// The sums over these rows.
    pub fn of(rows: &LabelledRows) -> Self {
        let moments = moments(rows);
        let (rows, attributes) = moments.columns();
        Self { rows, attributes: attributes.collect() }
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
    fn sums_of_parts_make_the_value_of_the_whole_however_rows_are_spread() {
        let far = |i: usize| if i.is_multiple_of(1000) { 100.0 } else { 1.0 };
        let row = |i: usize| [(0, far(i)), (1, (i % 7) as f64)];
        let rows = |mut own: std::ops::Range<usize>| {
            let mut rows = LabelledRows::new();
            own.try_for_each(|i| rows.push(row(i), &[0], 1.0)).unwrap();
            rows
        };
        let n = 50_000;
        // The definition, row by row.
        let mean = |f: &dyn Fn(f64) -> f64, a: usize| {
            (0..n).map(|i| f(row(i)[a].1)).sum::<f64>() / n as f64
        };
        let variance = |a| mean(&|x| x * x, a) - mean(&|x| x, a).powi(2);
        let expected = (variance(0) + variance(1)).sqrt();
        for cuts in [vec![0, n], vec![0, n / 2, n], vec![0, 100, n - 1, n]] {
            let sums = cuts.windows(2).map(|part| BiasSums::of(&rows(part[0]..part[1])));
            let all = sums.reduce(|mut all, part| {
                all.rows += part.rows;
                for (a, b) in all.attributes.iter_mut().zip(&part.attributes) {
                    *a = [a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3].min(b[3]), a[4].max(b[4])];
                }
                all
            });
            let found = all.unwrap().bias_value();
            assert!((found - expected).abs() < 1e-9, "{found} for {expected}");
        }
        assert_eq!(bias_value(&rows(0..n)), BiasSums::of(&rows(0..n)).bias_value());
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
