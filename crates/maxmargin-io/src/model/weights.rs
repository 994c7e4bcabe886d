//! Stores weights as tensors: all of them, or only those that are not zero.
//!
//! A group such as `emission` is one `f64` tensor of its shape. If two tensors take less room, they replace it:
//! `emission.at` has the places of the weights that are not zero, in increasing order, as `u32`, and
//! `emission.values` has these weights. Both forms return the same bits; a weight of −0 counts as not zero.

use super::ModelError;
use super::pack::Tensor;
use super::tensors::File;
use crate::spec::WeightGroup;

/// The number of bytes of a weight that is stored with its place, and of one that is stored among all weights.
const WITH_PLACE: usize = 12;
const IN_ROW: usize = 8;

/// The largest number of weights for each byte of a file. Valid files have far fewer, because every label and every
/// attribute has a name there.
const MOST_PER_BYTE: usize = 1000;

/// Adds the weights of a group to the tensors of a file, in the form that takes less room.
pub(super) fn push_group(group: WeightGroup, weights: &[f64], tensors: &mut Vec<Tensor<'_>>) {
    let WeightGroup { name, range, shape } = group;
    let weights = &weights[range];
    let stored = || weights.iter().enumerate().filter(|(_, w)| w.to_bits() != 0);
    let count = stored().count();
    if weights.is_empty() {
        return;
    }
    if u32::try_from(weights.len()).is_err() || WITH_PLACE * count >= IN_ROW * weights.len() {
        tensors.push(Tensor::f64(name, shape, weights.iter().copied()));
        return;
    }
    tensors.push(Tensor::u32(places(&name), stored().map(|(at, _)| at as u32)));
    tensors.push(Tensor::f64(values(&name), vec![count], stored().map(|(_, w)| *w)));
}

/// The weights of a group, from either form.
///
/// # Errors
/// If tensors are missing or have the wrong form, or if places are out of order or beyond the group.
pub(super) fn read_group(
    file: &File<'_>,
    group: &WeightGroup,
    weights: &mut Vec<f64>,
) -> Result<(), ModelError> {
    let WeightGroup { name, range, shape } = group;
    if range.is_empty() {
        return Ok(());
    }
    let place_name = places(name);
    if !file.has(&place_name) {
        weights.extend(file.f64s(name, shape)?);
        return Ok(());
    }
    let at = file.u32s(&place_name)?;
    let stored = file.f64s(&values(name), &[at.len()])?;
    let in_order = at.is_sorted_by(|a, b| a < b);
    if !in_order || at.last().is_some_and(|last| *last as usize >= range.len()) {
        let reason = format!("the places `{place_name}` are not in order below {}", range.len());
        return Err(ModelError::content(reason));
    }
    // A file that was made on purpose must not cause a huge allocation.
    if range.len() / MOST_PER_BYTE > file.size() {
        let reason = format!("a file of this size has no {} weights", range.len());
        return Err(ModelError::content(reason));
    }
    let start = weights.len();
    weights.try_reserve_exact(range.len()).map_err(|_| {
        ModelError::content(format!("{} weights do not fit the memory", range.len()))
    })?;
    weights.resize(start + range.len(), 0.0);
    for (at, weight) in at.into_iter().zip(stored) {
        weights[start + at as usize] = weight;
    }
    Ok(())
}

fn places(group: &str) -> String {
    format!("{group}.at")
}

fn values(group: &str) -> String {
    format!("{group}.values")
}
