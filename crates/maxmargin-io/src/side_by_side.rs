//! Work on several threads. The results do not depend on their number.

use maxmargin::sort;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The largest number of items that a thread takes at once. It is large enough to hide the cost of taking them.
const MOST_AT_ONCE: usize = 64;

/// Each thread takes items at least this many times, so that threads do not wait long for each other at the end.
const TIMES: usize = 8;

/// The number of threads that `threads` means: 0 means all cores.
///
/// ```
/// assert_eq!(maxmargin_io::thread_count(3), 3);
/// assert!(maxmargin_io::thread_count(0) >= 1);
/// ```
pub fn thread_count(threads: usize) -> usize {
    match threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        more => more,
    }
}

/// Returns the results of `work` for 0, 1, …, `count` − 1, in this order. It runs on as many threads as
/// [`thread_count`] says. Each thread calls `start` once to create its scratch memory.
///
/// The result is the same on any number of threads, unless a call of `work` depends on what earlier calls have left
/// in its scratch memory.
///
/// ```
/// let squares = maxmargin_io::map_side_by_side(5, 2, || (), |(), i| i * i);
/// assert_eq!(squares, [0, 1, 4, 9, 16]);
/// ```
///
/// # Panics
/// If `work` panics, after all threads have ended.
pub fn map_side_by_side<S, T: Send>(
    count: usize,
    threads: usize,
    start: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize) -> T + Sync,
) -> Vec<T> {
    let threads = thread_count(threads).min(count).max(1);
    if threads == 1 {
        let mut scratch = start();
        return (0..count).map(|i| work(&mut scratch, i)).collect();
    }
    let at_once = (count / (TIMES * threads)).clamp(1, MOST_AT_ONCE);
    let next = AtomicUsize::new(0);
    // Each thread stores its results with the number of the first item.
    let run = || {
        let (mut scratch, mut found) = (start(), Vec::new());
        loop {
            let first = next.fetch_add(at_once, Ordering::Relaxed);
            if first >= count {
                return found;
            }
            let items = first..(first + at_once).min(count);
            found.push((first, items.map(|i| work(&mut scratch, i)).collect::<Vec<T>>()));
        }
    };
    let mut found = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(run)).collect();
        let mut found = run();
        for other in others {
            match other.join() {
                Ok(more) => found.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        found
    });
    sort::by_key(&mut found, |(first, _)| *first);
    found.into_iter().flat_map(|(_, items)| items).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order_on_any_number_of_threads() {
        for count in [0, 1, 2, 63, 64, 1000, 5000] {
            let expected: Vec<usize> = (0..count).map(|i| 3 * i + 1).collect();
            for threads in [0, 1, 2, 3, 16] {
                let found = map_side_by_side(count, threads, || 3, |three, i| *three * i + 1);
                assert_eq!(found, expected, "{count} on {threads} threads");
            }
        }
    }

    #[test]
    fn a_panic_of_any_thread_reaches_the_caller() {
        let bad = |i| {
            let work = |(): &mut (), at: usize| assert_ne!(at, i, "on purpose");
            std::panic::catch_unwind(|| map_side_by_side(500, 3, || (), work))
        };
        assert!([0, 250, 499].into_iter().all(|i| bad(i).is_err()));
    }
}
