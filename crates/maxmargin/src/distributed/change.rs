//! Changes of w.

use crate::problem::sparse_accumulator::SparseAccumulator;

/// A change of w, sparse where most of w did not move.
///
/// ```
/// use maxmargin::distributed::Change;
///
/// let change = Change::between(&[0.0; 100], &{ let mut w = [0.0; 100]; w[7] = 0.5; w });
/// assert_eq!((change.at.as_deref(), &*change.values), (Some(&[7][..]), &[0.5][..]));
/// assert!(Change::between(&[1.0, 1.0], &[2.0, 3.0]).at.is_none());
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Change {
    /// The places that have moved, in their order. Without them, `values` has an entry for every weight.
    pub at: Option<Vec<u32>>,
    /// By how much.
    pub values: Vec<f64>,
}

impl Change {
    /// The change from `old` to `new`, which are equally long. It is sparse if that takes fewer bytes.
    pub fn between(old: &[f64], new: &[f64]) -> Self {
        let changes = || old.iter().zip(new).map(|(old, new)| new - old);
        let moved = changes().filter(|change| *change != 0.0).count();
        let fits = u32::try_from(old.len()).is_ok();
        if !fits || moved * (size_of::<f64>() + size_of::<u32>()) >= size_of_val(old) {
            return Self { at: None, values: changes().collect() };
        }
        let (mut at, mut values) = (Vec::with_capacity(moved), Vec::with_capacity(moved));
        for (place, change) in changes().enumerate().filter(|(_, change)| *change != 0.0) {
            at.push(place as u32);
            values.push(change);
        }
        Self { at: Some(at), values }
    }

    /// The change from zero to `new`.
    pub(super) fn of(new: &[f64]) -> Self {
        let places = new.iter().enumerate().filter(|(_, value)| **value != 0.0);
        Self::at_places(places.map(|(place, _)| place as u32).collect(), new)
    }

    /// The change from zero to `new`, which is zero but for these places, in their order. It is sparse if that takes fewer
    /// bytes.
    pub(super) fn at_places(places: Vec<u32>, new: &[f64]) -> Self {
        let fits = u32::try_from(new.len()).is_ok();
        if !fits || places.len() * (size_of::<f64>() + size_of::<u32>()) >= size_of_val(new) {
            return Self { at: None, values: new.to_vec() };
        }
        let values = places.iter().map(|&place| new[place as usize]).collect();
        Self { at: Some(places), values }
    }

    /// The change from zero to a sum, which is forgotten.
    pub(super) fn taken_from(sum: &mut SparseAccumulator) -> Self {
        sum.touched.sort_unstable();
        let places = sum.touched.iter().filter(|&&place| sum.change[place] != 0.0);
        let change = Self::at_places(places.map(|&place| place as u32).collect(), &sum.change);
        sum.clear();
        change
    }

    /// Visits all places that move, in their order.
    pub(super) fn for_each(&self, mut visit: impl FnMut(usize, f64)) {
        match &self.at {
            None => {
                let moved = self.values.iter().enumerate().filter(|(_, value)| **value != 0.0);
                moved.for_each(|(place, &value)| visit(place, value));
            }
            Some(at) => {
                at.iter().zip(&self.values).for_each(|(&at, &value)| visit(at as usize, value));
            }
        }
    }

    /// Whether the change is one of `d` weights: as many places as values, in order, and finite numbers.
    pub(super) fn fits(&self, d: usize) -> bool {
        let places = match &self.at {
            None => self.values.len() == d,
            Some(at) => {
                at.len() == self.values.len()
                    && at.windows(2).all(|pair| pair[0] < pair[1])
                    && at.last().is_none_or(|&last| (last as usize) < d)
            }
        };
        places && self.values.iter().all(|value| value.is_finite())
    }

    /// ⟨w, Δ⟩.
    pub(super) fn dot(&self, w: &[f64]) -> f64 {
        match &self.at {
            None => self.values.iter().zip(w).map(|(a, b)| a * b).sum(),
            Some(at) => at.iter().zip(&self.values).map(|(&at, a)| a * w[at as usize]).sum(),
        }
    }

    /// w ← w + `scale`·Δ.
    pub(super) fn add_to(&self, scale: f64, w: &mut [f64]) {
        match &self.at {
            None => w.iter_mut().zip(&self.values).for_each(|(w, a)| *w += scale * a),
            Some(at) => {
                at.iter().zip(&self.values).for_each(|(&at, a)| w[at as usize] += scale * a);
            }
        }
    }
}
