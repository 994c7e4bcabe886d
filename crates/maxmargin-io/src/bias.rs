//! The value of the bias of rows that fits the length of attributes.
//!
//! A bias is an attribute that all rows have, and has no unit. With the value 1, the longer the attributes of rows are, the
//! more λ, which fits their length, holds the bias back. A wrong label changes the attributes of one row and the bias; with
//! the value √m, where m is the mean squared length of the attributes of a row, both changes are equally long, in any
//! units. It is the rule of [`transition_scale`](crate::transition_scale) for rows.
//! `benchmarks/results/2026-11-19-defaults.md` has what that was chosen by.

use crate::lambda::Moments;
use crate::spec::Spec;
use crate::training::Training;
use maxmargin::model::LabelledRows;

/// About so many rows are enough to know the mean of all.
const SAMPLE: usize = 20_000;

impl Training {
    /// Gives the bias of a binary or multiclass model the value that fits the attributes of its rows; see
    /// [`bias_value`]. Models without a bias or with a kernel, and all others, stay as they are. Returns the value.
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

/// The value of a bias that fits the attributes of rows: the root of their mean squared length, centred, as for λ;
/// attributes that are the same in all rows count in full. A row counts as many times as its weight says. It is 1 if rows
/// have no attributes.
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
    let mut moments = Moments::default();
    let step = rows.len().div_ceil(SAMPLE).max(1);
    for (i, (row, _)) in rows.iter().enumerate().step_by(step) {
        moments.add(row, rows.weight(i));
    }
    let square = moments.mean_left();
    // Lengths that overflow or vanish say nothing.
    if square.is_normal() { square.sqrt() } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

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
