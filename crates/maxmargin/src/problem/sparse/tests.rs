use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

fn sparse() -> impl Strategy<Value = SparseVec> {
    proptest::collection::vec((0u64..12, -4i32..5), 0..14)
        .prop_map(|pairs| pairs.into_iter().map(|(i, v)| (i, f64::from(v))).collect())
}

fn dense(v: &SparseVec) -> BTreeMap<u64, f64> {
    v.entries().iter().copied().filter(|(_, x)| *x != 0.0).collect()
}

/// A vector with between `least` and `most` entries in each of `groups` groups.
fn grouped(groups: u64, least: usize, most: usize) -> impl Strategy<Value = SparseVec> {
    let group = proptest::collection::btree_map(0u64..6, -4.0..4.0f64, least..=most);
    proptest::collection::vec(group, groups as usize).prop_map(|groups| {
        let numbered = (0..).zip(groups);
        let entries = numbered.flat_map(|(group, entries)| {
            entries.into_iter().map(move |(low, value)| (group << GROUP_BITS | low, value))
        });
        entries.collect()
    })
}

proptest! {
    /// `assign_between` has the same bits as adding the difference, and refuses coordinates that are
    /// not in groups.
    #[test]
    fn going_part_of_the_way_is_adding_a_share_of_the_difference(
        (from, to, gap) in (2u64..7).prop_flat_map(|groups| {
            (grouped(groups, 1, 4), grouped(groups, 1, 1), 0..groups)
        }),
        share in 0.0..1.0f64,
    ) {
        let (mut difference, mut expected) = (SparseVec::new(), from.clone());
        difference.assign_difference(&to, &from);
        expected.add_scaled(share, &difference);
        let mut between = SparseVec::from_iter([(3, 1.0)]);
        prop_assert!(between.assign_between(&from, &to, share));
        prop_assert_eq!(&between, &expected);

        let without_gap = |v: &SparseVec| {
            let rest = v.entries().iter().filter(|entry| entry.0 >> GROUP_BITS != gap);
            rest.copied().collect::<SparseVec>()
        };
        prop_assert!(!between.assign_between(&without_gap(&from), &to, share));
        prop_assert!(!between.assign_between(&from, &without_gap(&to), share));
        prop_assert!(!between.assign_between(&to, &from, share) || from.len() == to.len());
        prop_assert!(!between.assign_between(&from, &SparseVec::new(), share));
    }

    #[test]
    fn sums_are_those_of_coordinates_without_zeros(
        a in sparse(), b in sparse(), s in -2i32..3, t in -2i32..3, before in sparse(),
    ) {
        let (s, t, mut sum) = (f64::from(s), f64::from(t), before);
        sum.assign_sum((s, &a), (t, &b));
        let mut expected = SparseVec::new();
        expected.add_scaled(s, &a);
        expected.add_scaled(t, &b);
        prop_assert_eq!(dense(&sum), dense(&expected));
        prop_assert!(sum.is_normalised() && sum.entries().iter().all(|(_, x)| *x != 0.0));
    }

    #[test]
    fn adding_equals_adding_coordinate_by_coordinate(
        a in sparse(), b in sparse(), factor in -3i32..4
    ) {
        let mut sum = a.clone();
        sum.add_scaled(f64::from(factor), &b);
        prop_assert!(sum.is_normalised());
        let mut expected = BTreeMap::new();
        for &(id, v) in a.entries() { *expected.entry(id).or_insert(0.0) += v; }
        for &(id, v) in b.entries() { *expected.entry(id).or_insert(0.0) += f64::from(factor) * v; }
        expected.retain(|_, v| *v != 0.0);
        prop_assert_eq!(dense(&sum), expected);
    }

    #[test]
    fn shared_coordinates_are_counted(a in sparse(), b in sparse()) {
        let has = |id: u64| b.entries().iter().any(|entry| entry.0 == id);
        let expected = a.entries().iter().filter(|entry| has(entry.0)).count();
        prop_assert_eq!(a.coordinates_shared_with(&b), expected);
    }

    #[test]
    fn difference_is_addition_of_the_negative(a in sparse(), b in sparse()) {
        let mut difference = SparseVec::new();
        difference.assign_difference(&a, &b);
        prop_assert!(difference.is_normalised());
        let mut sum = a.clone();
        sum.add_scaled(-1.0, &b);
        prop_assert_eq!(dense(&difference), dense(&sum));
    }
}
#[test]
fn vectors_take_little_more_memory_than_they_need() {
    let many = |step: u64| -> SparseVec {
        (0..MANY as u64 + 10).map(|id| (id * step, 1.0 / (1.0 + id as f64))).collect()
    };
    let (a, b) = (many(2), many(3));
    let shared = a.coordinates_shared_with(&b);
    let mut difference = SparseVec::new();
    difference.assign_difference(&a, &b);
    assert_eq!(difference.entries.capacity(), a.len() + b.len() - shared);
    // The zero at coordinate 0 is left out, and others are all different.
    assert_eq!(difference.len(), a.len() + b.len() - shared - 1);

    let mut copy = SparseVec::from_iter([(0, 1.0)]);
    copy.assign(&a);
    assert_eq!((&copy, copy.entries.capacity()), (&a, a.len() + a.len() / 8));
    copy.add_scaled(1.0, &b);
    assert!(copy.entries.capacity() <= (a.len() + b.len()) * 9 / 8);
}
