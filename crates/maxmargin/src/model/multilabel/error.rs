//! The error of a multi-label problem whose parts do not fit together.

use super::shape::MultilabelShape;
use crate::inference::Unsuitable;
use crate::model::LabelledRows;
use crate::model::chain::Hamming;
use thiserror::Error;

/// Why data, a shape, a loss and an inference method do not fit together.
///
/// ```
/// use maxmargin::inference::Inference;
/// use maxmargin::model::LabelledRows;
/// use maxmargin::model::multilabel::{Hamming, Multilabel, MultilabelShape};
///
/// let mut data = LabelledRows::new();
/// data.push([(0, 1.0)], &[2], 1.0)?;
/// let shape = MultilabelShape::complete(2, 1);
/// let error = Multilabel::new(shape, data, &Hamming::default(), Inference::Auto).unwrap_err();
/// assert_eq!(error.to_string(), "row 0 has the label 2, but there are only 2 labels");
/// # Ok::<(), maxmargin::model::RowError>(())
/// ```
#[derive(Debug, Error, Clone, PartialEq)]
#[non_exhaustive]
pub enum MultilabelError {
    /// There are no labels.
    #[error("a multi-label model needs at least one label")]
    NoLabels,
    /// A pair does not consist of two different labels that exist.
    #[error("({first}, {second}) is not a pair of two different labels below {labels}")]
    Pair {
        /// Its first label.
        first: u32,
        /// Its second label.
        second: u32,
        /// Number of labels.
        labels: usize,
    },
    /// A pair occurs twice.
    #[error("the pair ({first}, {second}) occurs twice")]
    PairTwice {
        /// Its first label.
        first: u32,
        /// Its second label.
        second: u32,
    },
    /// A label that the shape does not have.
    #[error("row {row} has the label {label}, but there are only {labels} labels")]
    Label {
        /// Index of the row.
        row: usize,
        /// The label.
        label: u32,
        /// Number of labels.
        labels: usize,
    },
    /// An attribute that the shape does not have.
    #[error("row {row} has the attribute {attribute}, but there are only {attributes}")]
    Attribute {
        /// Index of the row.
        row: usize,
        /// The attribute.
        attribute: u32,
        /// Number of attributes.
        attributes: usize,
    },
    /// The number of label weights is not the number of labels.
    #[error("{found} label weights were given for {labels} labels")]
    LabelWeightCount {
        /// The number of weights.
        found: usize,
        /// Number of labels.
        labels: usize,
    },
    /// A label weight that is negative, NaN or infinite.
    #[error("the loss weight of label {label} is {weight}; a finite number ≥ 0 is needed")]
    LabelWeight {
        /// The label.
        label: usize,
        /// Its weight.
        weight: f64,
    },
    /// The pairs do not allow the chosen inference.
    #[error(transparent)]
    Inference(#[from] Unsuitable),
}

/// Checks that labels, attributes, pairs and label weights fit the shape.
pub(crate) fn check(
    shape: &MultilabelShape,
    data: &LabelledRows,
    loss: &Hamming,
) -> Result<(), MultilabelError> {
    let (labels, attributes) = (shape.labels, shape.attributes);
    if labels == 0 {
        return Err(MultilabelError::NoLabels);
    }
    // Pairs.
    let mut seen = std::collections::BTreeSet::new();
    for &(first, second) in &shape.pairs {
        if first == second || first.max(second) as usize >= labels {
            return Err(MultilabelError::Pair { first, second, labels });
        }
        if !seen.insert((first.min(second), first.max(second))) {
            return Err(MultilabelError::PairTwice { first, second });
        }
    }
    // Label weights.
    if !loss.label_weights.is_empty() && loss.label_weights.len() != labels {
        return Err(MultilabelError::LabelWeightCount { found: loss.label_weights.len(), labels });
    }
    if let Some(label) = loss.label_weights.iter().position(|c| !(*c >= 0.0 && c.is_finite())) {
        return Err(MultilabelError::LabelWeight { label, weight: loss.label_weights[label] });
    }
    // Rows.
    for (row, (x, on)) in data.iter().enumerate() {
        if let Some(&label) = on.iter().find(|&&label| label as usize >= labels) {
            return Err(MultilabelError::Label { row, label, labels });
        }
        if let Some(&attribute) = x.attributes.iter().find(|&&a| a as usize >= attributes) {
            return Err(MultilabelError::Attribute { row, attribute, attributes });
        }
    }
    Ok(())
}
