//! Stable sorting that is compiled once.
//!
//! The sorts of the standard library are compiled again for every type and every closure, at about 6 kB each. The
//! functions here sort the numbers of the items, behind one closure that compares two of them, so a call adds
//! hardly anything to a program. Each comparison is a call through a pointer, so use these functions to sort few
//! items, or to sort rarely.

use std::cmp::Ordering;

/// Sorts like [`sort_by`](slice::sort_by).
///
/// ```
/// let mut names = ["pear", "fig", "apple", "kiwi"];
/// maxmargin::sort::by(&mut names, |a, b| a.len().cmp(&b.len()));
/// assert_eq!(names, ["fig", "pear", "kiwi", "apple"]);
/// ```
pub fn by<T>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    let order = sorted(items.len(), &|a, b| compare(&items[a], &items[b]));
    arrange(order, &mut |a, b| items.swap(a, b));
}

/// Sorts like [`sort_by_key`](slice::sort_by_key).
///
/// ```
/// let mut numbers = [-3, 2, -1];
/// maxmargin::sort::by_key(&mut numbers, |number: &i32| number.abs());
/// assert_eq!(numbers, [-1, 2, -3]);
/// ```
pub fn by_key<T, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K) {
    by(items, |a, b| key(a).cmp(&key(b)));
}

/// The numbers from 0 to below `n` in the order of `compare`; equal ones keep their order.
fn sorted(n: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| compare(a, b));
    order
}

/// Brings item `order[k]` to every place k, cycle by cycle.
fn arrange(mut order: Vec<usize>, swap: &mut dyn FnMut(usize, usize)) {
    for start in 0..order.len() {
        let mut at = start;
        loop {
            let next = std::mem::replace(&mut order[at], at);
            if next == start {
                break;
            }
            swap(at, next);
            at = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_sorts_as_the_standard_library_does(
            items in proptest::collection::vec((0u8..6, any::<u16>()), 0..60),
        ) {
            let (mut own, mut expected) = (items.clone(), items);
            expected.sort_by_key(|&(key, _)| key);
            super::by_key(&mut own, |&(key, _)| key);
            prop_assert_eq!(&own, &expected);
            expected.sort_by(|a, b| b.cmp(a));
            super::by(&mut own, |a, b| b.cmp(a));
            prop_assert_eq!(own, expected);
        }
    }
}
