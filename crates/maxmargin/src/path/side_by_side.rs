//! Trainings that do not depend on each other run side by side.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The results of `work` for 0, 1, …, `count` − 1, in this order, on at most `threads` threads. The second argument of
/// `work` is the number of threads that it may use itself, since threads without work of their own are shared out.
pub(super) fn side_by_side<T: Send + Sync>(
    count: usize,
    threads: usize,
    work: impl Fn(usize, usize) -> T + Sync,
) -> Vec<T> {
    let workers = threads.min(count).max(1);
    let threads_each = (threads / workers).max(1);
    let found: Vec<OnceLock<T>> = (0..count).map(|_| OnceLock::new()).collect();
    let next = AtomicUsize::new(0);
    let run = || {
        while let Some((at, found)) = {
            let at = next.fetch_add(1, Ordering::Relaxed);
            found.get(at).map(|found| (at, found))
        } {
            found.get_or_init(|| work(at, threads_each));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..workers {
            scope.spawn(run);
        }
        run();
    });
    found.into_iter().filter_map(OnceLock::into_inner).collect()
}

#[cfg(test)]
mod tests {
    use super::side_by_side;

    #[test]
    fn results_are_in_order_and_threads_are_shared_out() {
        for (count, threads, each) in [(0, 3, 3), (1, 4, 4), (2, 5, 2), (7, 3, 1), (9, 1, 1)] {
            let found = side_by_side(count, threads, |at, each| (2 * at, each));
            let expected: Vec<_> = (0..count).map(|at| (2 * at, each)).collect();
            assert_eq!(found, expected);
        }
    }
}
