//! Checks that the parts of a multi-label problem fit together.

use super::shape::MultilabelShape;
use crate::model::InputError;
use crate::model::LabelledRows;
use crate::model::chain::Hamming;

/// Checks that labels, attributes, pairs and label weights fit the shape.
pub(crate) fn check(
    shape: &MultilabelShape,
    data: &LabelledRows,
    loss: &Hamming,
) -> Result<(), InputError> {
    let (labels, attributes) = (shape.labels, shape.attributes);
    if labels == 0 {
        return Err(InputError::structure("a multi-label model needs at least one label"));
    }
    // Pairs.
    let mut seen = std::collections::BTreeSet::new();
    for &(first, second) in &shape.pairs {
        if first == second || first.max(second) as usize >= labels {
            let what = format!("({first}, {second}) is not a pair");
            let message = format!("{what} of two different labels below {labels}");
            return Err(InputError::Structure(message));
        }
        if !seen.insert((first.min(second), first.max(second))) {
            let message = format!("the pair ({first}, {second}) occurs twice");
            return Err(InputError::Structure(message));
        }
    }
    InputError::check_label_weights(&loss.label_weights, labels)?;
    // Rows.
    for (row, (x, on)) in data.iter().enumerate() {
        if let Some(&label) = on.iter().find(|&&label| label as usize >= labels) {
            return Err(InputError::label(format!("row {row}"), label, labels));
        }
        if let Some(&attribute) = x.attributes.iter().find(|&&a| a as usize >= attributes) {
            return Err(InputError::attribute(format!("row {row}"), attribute, attributes));
        }
    }
    Ok(())
}
