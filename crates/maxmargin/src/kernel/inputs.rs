//! Distinct inputs, and kernel values of pairs of inputs.

use super::function::Kernel;
use crate::model::rows::{Row, Rows};
use std::borrow::Borrow;
use std::collections::HashMap;

/// Distinct inputs. Equal inputs are stored once, so that their parts are merged.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Inputs {
    pub(super) rows: Rows,
    /// ‖x‖² of each input.
    norms: Vec<f64>,
    attribute_bound: usize,
}

/// Attributes in increasing order, without repetitions and zeros.
type Entries = Vec<(u32, f64)>;

/// Collects inputs and finds equal ones.
#[derive(Debug, Default)]
pub(super) struct Collector {
    known: HashMap<Vec<(u32, u64)>, u32>,
    inputs: Inputs,
}

impl Collector {
    /// Returns the number of an input, and adds it if it is new.
    pub(super) fn number(&mut self, row: Row<'_>) -> u32 {
        let entries = canonical(row);
        let key = key(&entries);
        let next = self.known.len() as u32;
        let number = *self.known.entry(key).or_insert(next);
        if number == next {
            self.inputs.push(entries);
        }
        number
    }

    pub(super) fn finish(self) -> Inputs {
        self.inputs
    }
}

/// A key that distinguishes inputs.
fn key(entries: &[(u32, f64)]) -> Vec<(u32, u64)> {
    entries.iter().map(|&(attribute, value)| (attribute, value.to_bits())).collect()
}

fn canonical(row: Row<'_>) -> Entries {
    let mut entries: Entries = row.pairs().collect();
    entries.sort_by_key(|&(attribute, _)| attribute);
    entries.dedup_by(|later, first| {
        let same = later.0 == first.0;
        if same {
            first.1 += later.1;
        }
        same
    });
    entries.retain(|(_, value)| *value != 0.0);
    entries
}

impl Inputs {
    /// Adds an input that is known to be new. If the sum of repeated values is infinite, the kernel of
    /// the input with itself is infinite too.
    fn push(&mut self, entries: Entries) {
        let last = entries.last().map_or(0, |&(attribute, _)| attribute as usize + 1);
        self.attribute_bound = self.attribute_bound.max(last);
        let is_finite = entries.iter().all(|(_, value)| value.is_finite());
        // Infinite values cannot be stored. An infinite length marks them.
        let _ = self.rows.push(if is_finite { entries } else { Entries::new() });
        let mut dense = vec![0.0; if is_finite { last } else { 0 }];
        let row = self.rows.row(self.norms.len());
        row.scatter(1.0, dense.as_mut_slice());
        self.norms.push(if is_finite { row.dot(&dense) } else { f64::INFINITY });
    }

    /// Creates inputs from rows.
    pub(super) fn from_rows(rows: impl IntoIterator<Item = Vec<(u32, f64)>>) -> Self {
        let mut inputs = Self::default();
        rows.into_iter().for_each(|entries| inputs.push(entries));
        inputs
    }

    pub(super) fn len(&self) -> usize {
        self.norms.len()
    }

    /// Returns the places of `others` among these inputs, or `None` if one of them is missing.
    pub(super) fn places(&self, others: &Self) -> Option<Vec<usize>> {
        let key_of = |inputs: &Self, m| key(&canonical(inputs.rows.row(m)));
        let known: HashMap<_, usize> = (0..self.len()).map(|m| (key_of(self, m), m)).collect();
        (0..others.len()).map(|m| known.get(&key_of(others, m)).copied()).collect()
    }

    /// The kernel of two inputs.
    pub(super) fn value(&self, kernel: &Kernel, a: u32, b: u32) -> f64 {
        let (a, b) = (a as usize, b as usize);
        let (mut first, mut second) =
            (self.rows.row(a).pairs().peekable(), self.rows.row(b).pairs().peekable());
        let mut product = 0.0;
        while let (Some(&(i, x)), Some(&(j, y))) = (first.peek(), second.peek()) {
            if i == j {
                product += x * y;
            }
            if i <= j {
                first.next();
            }
            if j <= i {
                second.next();
            }
        }
        kernel.value(product, self.norms[a], self.norms[b])
    }

    /// The kernel of input `a` with itself.
    pub(super) fn own_value(&self, kernel: &Kernel, a: u32) -> f64 {
        let norm = self.norms[a as usize];
        kernel.value(norm, norm, norm)
    }

    /// Fills `values` with the kernel of any input with all of these inputs. `dense` is scratch memory,
    /// which is all zeros before and after the call.
    pub(super) fn values(
        &self,
        kernel: &Kernel,
        input: Row<'_>,
        dense: &mut Vec<f64>,
        values: &mut Vec<f64>,
    ) {
        let own = input.attributes.iter().max().map_or(0, |&attribute| attribute as usize + 1);
        dense.resize(dense.len().max(own).max(self.attribute_bound), 0.0);
        input.scatter(1.0, dense.as_mut_slice());
        let norm = input.dot(dense);
        values.clear();
        let each = self.norms.iter().enumerate();
        values
            .extend(each.map(|(m, &other)| kernel.value(self.rows.row(m).dot(dense), norm, other)));
        input.attributes.iter().for_each(|&attribute| dense[attribute as usize] = 0.0);
    }
}

/// Adds Σ_m k_m·β_m to each row of `scores`. There is one row for each of the `rows` of kernel values,
/// and `beta` has `labels` entries for each input.
pub(super) fn add_expansion<R: Borrow<Vec<f64>>>(
    beta: &[f64],
    labels: usize,
    rows: &[R],
    scores: &mut [f64],
) {
    for (m, beta) in beta.chunks_exact(labels).enumerate() {
        // For most inputs either no label or every label has a coefficient.
        if beta.iter().all(|b| *b == 0.0) {
            continue;
        }
        for (row, scores) in rows.iter().zip(scores.chunks_exact_mut(labels)) {
            let value = row.borrow()[m];
            scores.iter_mut().zip(beta).for_each(|(score, b)| *score += value * b);
        }
    }
}
