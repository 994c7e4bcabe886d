//! What can be wrong with the examples, the shape and the loss of a ready-made model.

use super::rows::NotFinite;
use crate::inference::decoder::Unsuitable;
use std::borrow::Cow;
use thiserror::Error;

/// Why an example cannot be added, or why examples, shape, loss and decoding do not fit together.
///
/// All ready-made models share this error. Its message names the example, what was found, and what was
/// expected.
///
/// ```
/// use maxmargin::model::chain::{Chain, ChainShape, Hamming, Sequences};
/// use maxmargin::model::{InputError, LabelledRows};
///
/// let mut rows = LabelledRows::new();
/// let error = rows.push([(7, f64::INFINITY)], &[0], 1.0).unwrap_err();
/// assert_eq!(error, InputError::Value { attribute: 7, value: f64::INFINITY });
/// assert_eq!(error.to_string(), "attribute 7 has the value inf; a finite number is needed");
///
/// let mut data = Sequences::new();
/// data.push_token([(0, 1.0)], 2)?;
/// data.end_sequence(1.0)?;
/// let error = Chain::new(ChainShape::new(2, 1), data, &Hamming::default()).unwrap_err();
/// assert!(matches!(error, InputError::Unknown { what: "label", found: 2, known: 2, .. }));
/// assert_eq!(error.to_string(), "sequence 0 has the label 2, but there are only 2 labels");
/// # Ok::<(), InputError>(())
/// ```
#[derive(Debug, Error, Clone, PartialEq)]
#[non_exhaustive]
pub enum InputError {
    /// The value of an attribute is NaN or infinite.
    #[error("attribute {attribute} has the value {value}; a finite number is needed")]
    Value {
        /// Index of the attribute.
        attribute: u32,
        /// The offending value.
        value: f64,
    },
    /// A weight, a cost, a bias or a distance is out of its range.
    #[error("{what} is {value}; {needed} is needed")]
    Number {
        /// The name of the number.
        what: Cow<'static, str>,
        /// Its value.
        value: f64,
        /// What it should be, such as `a positive finite number`.
        needed: &'static str,
    },
    /// An example has a label, an attribute or something else that the shape does not have.
    #[error("{place} has the {what} {found}, but there are only {known}{unit}")]
    Unknown {
        /// The example, or its part, such as `row 3`.
        place: String,
        /// What it has, such as `label`.
        what: &'static str,
        /// The index of the label or attribute.
        found: usize,
        /// How many there are.
        known: usize,
        /// What is counted, after a space. It is empty if `what` says it.
        unit: &'static str,
    },
    /// An example is incomplete, or parts do not fit together.
    #[error("{0}")]
    Structure(String),
    /// The chosen decoding is not possible here.
    #[error("{0}")]
    Inference(String),
}

const POSITIVE: &str = "a positive finite number";
const NOT_NEGATIVE: &str = "a finite number ≥ 0";

impl InputError {
    pub(crate) fn structure(message: impl Into<String>) -> Self {
        Self::Structure(message.into())
    }

    pub(crate) fn negative(what: impl Into<Cow<'static, str>>, value: f64) -> Self {
        Self::Number { what: what.into(), value, needed: NOT_NEGATIVE }
    }

    pub(crate) fn not_positive(what: impl Into<Cow<'static, str>>, value: f64) -> Self {
        Self::Number { what: what.into(), value, needed: POSITIVE }
    }

    pub(crate) fn not_finite(what: impl Into<Cow<'static, str>>, value: f64) -> Self {
        Self::Number { what: what.into(), value, needed: "a finite number" }
    }

    pub(crate) fn label(place: String, label: u32, labels: usize) -> Self {
        let found = label as usize;
        Self::Unknown { place, what: "label", found, known: labels, unit: " labels" }
    }

    pub(crate) fn attribute(place: String, attribute: u32, attributes: usize) -> Self {
        let found = attribute as usize;
        Self::Unknown { place, what: "attribute", found, known: attributes, unit: "" }
    }

    pub(crate) fn inference(error: &Unsuitable) -> Self {
        Self::Inference(error.to_string())
    }

    /// Refuses numbers that are not positive and finite.
    pub(crate) fn check_positive(what: &'static str, value: f64) -> Result<(), Self> {
        if value > 0.0 && value.is_finite() { Ok(()) } else { Err(Self::not_positive(what, value)) }
    }

    /// Refuses numbers that are negative or not finite.
    pub(crate) fn check_not_negative(what: &'static str, value: f64) -> Result<(), Self> {
        if value >= 0.0 && value.is_finite() { Ok(()) } else { Err(Self::negative(what, value)) }
    }

    /// Refuses example weights that are not positive and finite.
    pub(crate) fn check_weight(weight: f64) -> Result<(), Self> {
        Self::check_positive("the example weight", weight)
    }

    /// Refuses weights of labels in a loss that are negative or not finite, or of the wrong number.
    pub(crate) fn check_label_weights(weights: &[f64], labels: usize) -> Result<(), Self> {
        if !weights.is_empty() && weights.len() != labels {
            let found = weights.len();
            let message = format!("{found} label weights were given for {labels} labels");
            return Err(Self::Structure(message));
        }
        match weights.iter().position(|weight| !(*weight >= 0.0 && weight.is_finite())) {
            Some(at) => Err(Self::negative(format!("the loss weight of label {at}"), weights[at])),
            None => Ok(()),
        }
    }
}

impl From<NotFinite> for InputError {
    fn from(NotFinite { attribute, value }: NotFinite) -> Self {
        Self::Value { attribute, value }
    }
}
