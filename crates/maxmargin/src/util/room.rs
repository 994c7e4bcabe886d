//! Memory for long arrays that grow.

/// Makes room for `more` items, and for an eighth of all beyond that. An array that doubles whenever it is full has up
/// to as much memory again as it needs, and there are arrays here with an entry for every example, token or attribute.
pub(crate) fn make_room<T>(items: &mut Vec<T>, more: usize) {
    let needed = items.len() + more;
    if needed > items.capacity() {
        items.reserve_exact(more + needed / 8);
    }
}

#[cfg(test)]
mod tests {
    use super::make_room;

    #[test]
    fn a_growing_array_has_little_more_than_it_needs() {
        let (mut items, mut moves) = (Vec::new(), 0);
        for item in 0..100_000u32 {
            let before = items.capacity();
            make_room(&mut items, 1);
            items.push(item);
            moves += usize::from(items.capacity() != before);
            assert!(items.capacity() <= items.len() + items.len() / 8 + 1);
        }
        assert!(moves < 120, "{moves}");
    }
}
