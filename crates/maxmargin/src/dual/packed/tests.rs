//! What is packed comes out as it was.

use super::*;
use proptest::prelude::*;

/// Coordinates as chains, classes and others have them, and values of which many are the same.
fn entries() -> impl Strategy<Value = Vec<(u64, f64)>> {
    let coordinate = prop_oneof![
        (0u64..6, 0u64..2, 0u64..30, 0u64..20)
            .prop_map(|(t, edge, y, z)| t << 33 | edge << 32 | (edge * y) << 16 | z),
        0u64..400,
        any::<u64>(),
    ];
    let value = prop_oneof![
        (0u8..20).prop_map(|x| f64::from(x) / 3.0),
        Just(1.0),
        any::<u64>().prop_map(f64::from_bits),
    ];
    proptest::collection::vec((coordinate, value), 0..60)
}

fn bits(entries: impl IntoIterator<Item = (u64, f64)>) -> Vec<(u64, u64)> {
    entries.into_iter().map(|(coordinate, value)| (coordinate, value.to_bits())).collect()
}

proptest! {
    /// Whatever is packed comes out with the same bits, in the same order.
    #[test]
    fn packing_loses_nothing(entries in entries(), before in entries()) {
        let mut sparse = SparseVec::new();
        before.iter().for_each(|&(coordinate, value)| sparse.push(coordinate, value));
        let mut packed = PackedVec::from(&sparse);
        sparse.clear();
        entries.iter().for_each(|&(coordinate, value)| sparse.push(coordinate, value));
        packed.pack(&sparse, &mut vec![1, 2, 3]);
        prop_assert_eq!(bits(packed.iter()), bits(entries.iter().copied()));
        prop_assert_eq!(bits(packed.unpacked().entries().iter().copied()), bits(entries.iter().copied()));
        prop_assert_eq!(packed.len(), entries.len());
        prop_assert_eq!(packed.is_empty(), entries.is_empty());
        prop_assert_eq!(packed.is_normalised(), sparse.is_normalised());
        prop_assert_eq!(packed.is_finite(), sparse.is_finite());
        prop_assert_eq!(&packed, &PackedVec::from(&sparse));
        // Written piece by piece, it has the same bytes.
        let mut writer = PackedWriter::new();
        entries.chunks(7).for_each(|entries| writer.add(entries));
        let written = writer.finish();
        prop_assert_eq!(written.0.packed(), packed.0.packed());
        prop_assert_eq!(written.heap_bytes(), packed.heap_bytes());
        // What is plain stays plain, and is the same.
        let mut plain = PackedVec::plain(&SparseVec::new());
        plain.pack(&sparse, &mut Vec::new());
        prop_assert_eq!(&plain, &packed);
        prop_assert_eq!((plain.len(), plain.is_empty()), (packed.len(), packed.is_empty()));
        prop_assert_eq!(bits(plain.unpacked().entries().iter().copied()), bits(entries.iter().copied()));
        prop_assert_eq!(plain.heap_bytes(), 24 + 16 * entries.len());
        let mut scratch = SparseVec::new();
        prop_assert_eq!(bits(plain.read(&mut scratch).entries().iter().copied()), bits(entries.iter().copied()));
        prop_assert_eq!(bits(packed.read(&mut scratch).entries().iter().copied()), bits(entries.iter().copied()));
    }
}

#[test]
fn the_parts_of_a_labelling_take_two_bytes() {
    let ids =
        (0..10u64).flat_map(|t| [(t << 33) | (t % 5), (t << 33) | (1 << 32) | (t << 16) | (t + 1)]);
    let packed: PackedVec = ids.map(|id| (id, 1.0)).collect();
    assert_eq!((packed.len(), packed.heap_bytes()), (20, 40));
}

#[test]
fn few_classes_take_no_memory_of_their_own() {
    let packed: PackedVec = [(3, 0.25), (200, 0.75)].into_iter().collect();
    assert_eq!((packed.len(), packed.heap_bytes(), size_of::<PackedVec>()), (2, 0, 24));
    let packed: PackedVec = [(3, 0.25), (4, 0.5), (5, 0.25)].into_iter().collect();
    assert_eq!((packed.len(), packed.heap_bytes()), (3, 0));
}
