//! Fetching memory ahead of its use.
//!
//! In random order, the memory of every block is far away. The order often knows the next block one visit ahead.
//! Then the memory of the next block is requested before work on the current one begins, so that the next visit
//! need not wait.
//!
//! This is the only `unsafe` code here: one instruction, which is only a hint. Reading the memory instead would be
//! safe, but the processor waits for such reads (`benchmarks/results/2026-11-15-liblinear.md`). Only the beginning
//! of a long slice is requested. Requesting more was slower: requests beyond the number that the processor can
//! handle at once seem to hold up the current visit.

/// The bytes of a cache line on the machines we know. It affects only the speed.
const CACHE_LINE: usize = 64;

/// How many lines of a slice are fetched. The processor recognises the pattern and fetches the rest by
/// itself.
const LINES: usize = 20;

/// The same for slices that the next visit works through slowly. More lines were slower on chains.
const FIRST_LINES: usize = 8;

/// Requests the first cache lines of a slice.
#[inline]
pub(crate) fn prefetch<T>(slice: &[T]) {
    prefetch_lines(slice, LINES);
}

/// Like [`prefetch`], for a slice that the next visit works through slowly.
#[inline]
pub(crate) fn prefetch_first<T>(slice: &[T]) {
    prefetch_lines(slice, FIRST_LINES);
}

#[inline]
fn prefetch_lines<T>(slice: &[T], lines: usize) {
    one_of_each_line(slice).take(lines).for_each(prefetch_line);
}

/// Returns an item of every cache line of a slice. Each item that is larger than a cache line is returned, for its
/// beginning.
#[inline]
fn one_of_each_line<T>(slice: &[T]) -> impl Iterator<Item = &T> {
    let step = (CACHE_LINE / size_of::<T>().max(1)).max(1);
    slice.iter().step_by(step)
}

/// Requests the cache line of an item, without waiting for it.
#[cfg(target_arch = "x86_64")]
#[inline]
#[allow(unsafe_code)]
fn prefetch_line<T>(item: &T) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: every x86-64 processor has this instruction (it came with SSE), and it is only a hint. It reads and
    // writes nothing that a program could see, and it never faults, whatever the address is; here the address
    // belongs to a live item. Reading the item instead would also be safe, but the processor would have to wait for
    // it, which takes a quarter of the time on sparse text.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(item).cast()) }
}

/// Does nothing, because other processors have no stable instruction for this.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn prefetch_line<T>(item: &T) {
    std::hint::black_box(std::ptr::from_ref(item));
}

#[cfg(test)]
mod tests {
    use super::{CACHE_LINE, one_of_each_line, prefetch, prefetch_first};

    /// The distances in bytes between the items whose cache lines are requested.
    fn strides<T>(slice: &[T]) -> Vec<usize> {
        let places: Vec<usize> =
            one_of_each_line(slice).map(|item| std::ptr::from_ref(item).addr()).collect();
        places.windows(2).map(|pair| pair[1] - pair[0]).collect()
    }

    #[test]
    fn every_cache_line_is_asked_for_once() {
        assert_eq!(strides(&[0.0f64; 1000]), [CACHE_LINE; 124]);
        assert_eq!(strides(&[1u8; 129]), [CACHE_LINE; 2]);
        assert_eq!(strides(&[(0u64, 0.0f64); 8]), [CACHE_LINE; 1]);
        // Items that do not divide a line come as near to it as they can without leaving one out.
        assert_eq!(strides(&[[0u8; 24]; 7]), [48; 3]);
        // Larger items are asked for one by one.
        assert_eq!(strides(&[[7u64; 100]; 5]), [800; 4]);
    }

    #[test]
    fn small_slices_have_one_line_or_none() {
        assert_eq!(one_of_each_line::<u64>(&[]).count(), 0);
        assert_eq!(one_of_each_line(&[1u8]).count(), 1);
        assert_eq!(one_of_each_line(&[(); 3]).count(), 1);
        prefetch::<u64>(&[]);
        prefetch(&[(); 3]);
        prefetch_first(&[1u8]);
    }
}
