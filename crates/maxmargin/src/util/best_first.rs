//! A queue that returns the item with the best score first, for searches for the n best answers.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A queue of items with scores. The item with the largest score comes first; of items with equal scores, the one
/// that was pushed first.
///
/// ```
/// let mut queue = maxmargin::BestFirst::default();
/// for (score, item) in [(1.0, 'a'), (2.0, 'b'), (2.0, 'c')] {
///     queue.push(score, item);
/// }
/// let items: String = std::iter::from_fn(|| queue.pop()).collect();
/// assert_eq!(items, "bca");
/// ```
#[derive(Debug)]
pub struct BestFirst<T> {
    heap: BinaryHeap<Entry<T>>,
    pushed: usize,
}

impl<T> Default for BestFirst<T> {
    fn default() -> Self {
        Self { heap: BinaryHeap::new(), pushed: 0 }
    }
}

impl<T> BestFirst<T> {
    /// Adds an item. Scores are compared by [`f64::total_cmp`].
    pub fn push(&mut self, score: f64, item: T) {
        self.pushed += 1;
        self.heap.push(Entry { score, number: self.pushed, item });
    }

    /// Removes the first item, if there is one.
    pub fn pop(&mut self) -> Option<T> {
        self.heap.pop().map(|entry| entry.item)
    }
}

#[derive(Debug)]
struct Entry<T> {
    score: f64,
    number: usize,
    item: T,
}

impl<T> Ord for Entry<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then(other.number.cmp(&self.number))
    }
}

impl<T> PartialOrd for Entry<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Entry<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<T> Eq for Entry<T> {}
