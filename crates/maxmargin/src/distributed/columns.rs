//! Products of many changes with one vector, and sums of changes, at the cost of the places that have moved.
//!
//! Most weights of sparse data belong to attributes that only one shard knows. So a product of one vector with all
//! changes of a round looks at each place of the vector once, and there only at the changes that move this place. (On
//! CoNLL-2000 in 16 shards, products one by one took most of the driver's time.)

use super::change::Change;
use crate::problem::Sink as _;
use crate::problem::sparse_accumulator::SparseAccumulator;

/// Changes of the same weights, by place.
pub(super) struct Columns {
    /// Where the entries of each place begin; one more for the end.
    begins: Vec<usize>,
    /// Which change moves the place, and by how much.
    entries: Vec<(u32, f64)>,
    count: usize,
}

impl Columns {
    /// The columns of changes of `d` weights.
    pub(super) fn of(changes: &[&Change], d: usize) -> Self {
        let mut begins = vec![0; d + 1];
        changes.iter().for_each(|change| change.for_each(|place, _| begins[place + 1] += 1));
        for place in 0..d {
            begins[place + 1] += begins[place];
        }
        let mut entries = vec![(0, 0.0); begins[d]];
        // Fill the columns. Each beginning moves to the end of its column, which is where the next one begins.
        for (at, change) in changes.iter().enumerate() {
            change.for_each(|place, value| {
                entries[begins[place]] = (at as u32, value);
                begins[place] += 1;
            });
        }
        begins.rotate_right(1);
        begins[0] = 0;
        Self { begins, entries, count: changes.len() }
    }

    /// The products of a vector with all changes.
    pub(super) fn times(&self, vector: &Change) -> Vec<f64> {
        let mut products = vec![0.0; self.count];
        vector.for_each(|place, value| {
            for &(at, other) in &self.entries[self.begins[place]..self.begins[place + 1]] {
                products[at as usize] += value * other;
            }
        });
        products
    }
}

/// The sum of some changes, each with its factor. `room` is empty before and after.
pub(super) fn sum_of<'c>(
    room: &mut SparseAccumulator,
    changes: impl IntoIterator<Item = (f64, &'c Change)>,
) -> Change {
    for (factor, change) in changes {
        change.for_each(|place, value| room.add(place, factor * value));
    }
    Change::taken_from(room)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A change of seven weights, sparse or not.
    fn any_change() -> impl Strategy<Value = Change> {
        let value = prop_oneof![2 => Just(0.0), 1 => -2.0..2.0f64];
        (proptest::collection::vec(value, 7), any::<bool>()).prop_map(|(values, is_sparse)| {
            let (at, kept) = (0u32..).zip(&values).filter(|(_, v)| **v != 0.0).unzip();
            match is_sparse {
                true => Change { at: Some(at), values: kept },
                false => Change { at: None, values },
            }
        })
    }

    fn dense(change: &Change) -> Vec<f64> {
        let mut dense = vec![0.0; 7];
        change.add_to(1.0, &mut dense);
        dense
    }

    proptest! {
        #[test]
        fn products_and_sums_are_those_of_dense_vectors(
            changes in proptest::collection::vec((any_change(), -1.0..1.0f64), 0..5),
            vector in any_change(),
        ) {
            let all: Vec<&Change> = changes.iter().map(|(change, _)| change).collect();
            let products = Columns::of(&all, 7).times(&vector);
            for (product, change) in products.iter().zip(&all) {
                prop_assert!((product - change.dot(&dense(&vector))).abs() < 1e-12);
            }
            let mut room = SparseAccumulator::new(7);
            for _ in 0..2 {
                // The second sum finds the room as the first one has.
                let sum = sum_of(&mut room, changes.iter().map(|(change, factor)| (*factor, change)));
                let mut expected = vec![0.0; 7];
                changes.iter().for_each(|(change, factor)| change.add_to(*factor, &mut expected));
                prop_assert_eq!(dense(&sum), expected);
            }
        }
    }
}
