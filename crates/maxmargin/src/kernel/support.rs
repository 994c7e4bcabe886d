//! The inputs whose kernels a trained model sums over.

use super::function::Kernel;
use super::inputs::Inputs;
use super::model::KernelModelError;
use crate::model::chain::{Sequence, Sequences};
use crate::model::{LabelledRows, Row};
use std::sync::Arc;

/// The inputs of a trained model with a kernel whose coefficients are not all 0. Clones share their
/// memory.
///
/// If the attributes of an input x are its kernel values k(x₁, x), k(x₂, x), … with all of these inputs,
/// the model is linear and its weights are the coefficients. So the code of the linear model can do
/// everything else (n-best, margins, rules). [`Expander`] makes such rows.
///
/// ```
/// use maxmargin::kernel::{Expander, Kernel, Support};
/// use maxmargin::model::Row;
///
/// let support = Support::new([vec![(0, 1.0)], vec![(0, 1.0), (2, 2.0)]])?;
/// assert_eq!((support.len(), support.attribute_bound()), (2, 3));
/// let mut expander = Expander::new(Kernel::Linear, &support);
/// let row = expander.expand(Row { attributes: &[0, 2], values: &[3.0, 0.5] });
/// assert_eq!(row.pairs().collect::<Vec<_>>(), [(0, 3.0), (1, 4.0)]);
/// # Ok::<(), maxmargin::kernel::KernelModelError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Support {
    inputs: Arc<Inputs>,
}

impl Support {
    /// Collects inputs, each as `(attribute, value)` pairs in increasing order of attributes.
    ///
    /// ```
    /// use maxmargin::kernel::Support;
    ///
    /// let twice = Support::new([vec![(1, 1.0), (1, 2.0)]]);
    /// assert_eq!(twice.unwrap_err().to_string(), "the attributes of input 0 are not in order");
    /// ```
    ///
    /// # Errors
    /// If attributes are not in order, or if a value is not finite.
    pub fn new(
        inputs: impl IntoIterator<Item = Vec<(u32, f64)>>,
    ) -> Result<Self, KernelModelError> {
        let inputs: Vec<Vec<(u32, f64)>> = inputs.into_iter().collect();
        for (input, entries) in inputs.iter().enumerate() {
            if !entries.is_sorted_by(|a, b| a.0 < b.0) {
                return Err(KernelModelError::Order { input });
            }
            if !entries.iter().all(|(_, value)| value.is_finite()) {
                return Err(KernelModelError::NotFinite);
            }
        }
        Ok(Self::of(Inputs::from_rows(inputs)))
    }

    pub(super) fn of(inputs: Inputs) -> Self {
        Self { inputs: Arc::new(inputs) }
    }

    pub(super) fn places_in(&self, all: &Inputs) -> Option<Vec<usize>> {
        all.places(&self.inputs)
    }

    /// Number of inputs.
    pub fn len(&self) -> usize {
        self.inputs.len()
    }

    /// Whether there are no inputs.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One more than the largest attribute.
    pub fn attribute_bound(&self) -> usize {
        self.inputs.rows.attribute_bound()
    }

    /// The input with the number `m`.
    ///
    /// # Panics
    /// If there is no such input.
    pub fn input(&self, m: usize) -> Row<'_> {
        self.inputs.rows.row(m)
    }

    /// All inputs.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Row<'_>> {
        (0..self.len()).map(|m| self.input(m))
    }
}

/// Turns inputs into their kernel values with the inputs of a [`Support`]. See there for an example.
#[derive(Debug, Clone)]
pub struct Expander {
    kernel: Kernel,
    support: Support,
    /// 0, 1, 2, …
    numbers: Vec<u32>,
    values: Vec<f64>,
    dense: Vec<f64>,
}

impl Expander {
    /// Creates an expander for a kernel and the inputs of a model.
    pub fn new(kernel: Kernel, support: &Support) -> Self {
        let numbers = (0..support.len() as u32).collect();
        let (values, dense) = (Vec::new(), Vec::new());
        Self { kernel, support: support.clone(), numbers, values, dense }
    }

    /// Returns k(x_m, x) for all inputs x_m, as a row whose attributes are the numbers m. Infinite values
    /// are replaced by the largest finite number.
    pub fn expand(&mut self, input: Row<'_>) -> Row<'_> {
        self.support.inputs.values(&self.kernel, input, &mut self.dense, &mut self.values);
        for value in &mut self.values {
            *value = if value.is_nan() { 0.0 } else { value.clamp(f64::MIN, f64::MAX) };
        }
        Row { attributes: &self.numbers, values: &self.values }
    }

    /// Returns a sequence with the kernel values of each token as attributes, and with the same labels.
    /// Its example weight is 1.
    ///
    /// ```
    /// use maxmargin::kernel::{Expander, Kernel, Support};
    /// use maxmargin::model::chain::Sequences;
    ///
    /// let mut data = Sequences::new();
    /// data.push_token([(0, 3.0)], 1)?;
    /// data.end_sequence(1.0)?;
    /// let support = Support::new([vec![(0, 2.0)], vec![(1, 1.0)]])?;
    /// let seen = Expander::new(Kernel::Linear, &support).expand_sequence(data.sequence(0));
    /// assert_eq!(seen.sequence(0).labels(), [1]);
    /// assert_eq!(seen.sequence(0).token(0).values, [6.0, 0.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn expand_sequence(&mut self, sequence: Sequence<'_>) -> Sequences {
        let mut one = Sequences::new();
        for (token, &label) in sequence.tokens().zip(sequence.labels()) {
            one.push_token(self.expand(token).pairs(), label)
                .expect("kernel values are made finite");
        }
        one.end_sequence(1.0).expect("a sequence has tokens, and 1 is a weight");
        one
    }

    /// Returns a row with its kernel values as attributes, and without labels.
    ///
    /// ```
    /// use maxmargin::kernel::{Expander, Kernel, Support};
    /// use maxmargin::model::Row;
    ///
    /// let support = Support::new([vec![(0, 2.0)]])?;
    /// let input = Row { attributes: &[0], values: &[3.0] };
    /// let seen = Expander::new(Kernel::Linear, &support).expand_row(input);
    /// assert_eq!((seen.len(), seen.labels(0).len()), (1, 0));
    /// # Ok::<(), maxmargin::kernel::KernelModelError>(())
    /// ```
    pub fn expand_row(&mut self, row: Row<'_>) -> LabelledRows {
        let mut one = LabelledRows::new();
        one.push(self.expand(row).pairs(), &[], 1.0).expect("kernel values are made finite");
        one
    }
}

impl Kernel {
    /// Returns the parameter γ = 1/(d·σ²), where σ² is the variance of all d attributes of all `inputs`.
    /// With this γ, distances are about 1 for data of any scale. Returns 1 if all values are the same.
    ///
    /// ```
    /// use maxmargin::kernel::Kernel;
    /// use maxmargin::model::Row;
    ///
    /// let inputs = [Row { attributes: &[0], values: &[4.0] }, Row { attributes: &[], values: &[] }];
    /// assert_eq!(Kernel::scale(inputs, 1), 0.25); // 4 and 0: the variance is 4
    /// ```
    pub fn scale<'a>(inputs: impl IntoIterator<Item = Row<'a>>, attributes: usize) -> f64 {
        let (mut count, mut sum, mut squares) = (0usize, 0.0, 0.0);
        let mut merged = Vec::new();
        for input in inputs {
            count += attributes;
            input.merge_into(&mut merged);
            for &(_, value) in &merged {
                sum += value;
                squares += value * value;
            }
        }
        let (count, d) = (count.max(1) as f64, attributes.max(1) as f64);
        let variance = squares / count - (sum / count) * (sum / count);
        let gamma = 1.0 / (d * variance);
        if gamma > 0.0 && gamma.is_finite() { gamma } else { 1.0 }
    }

    /// The name of the kernel: `linear`, `poly` or `rbf`.
    ///
    /// ```
    /// assert_eq!(maxmargin::kernel::Kernel::Rbf { gamma: 1.0 }.name(), "rbf");
    /// ```
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Polynomial { .. } => "poly",
            Self::Rbf { .. } => "rbf",
        }
    }
}
