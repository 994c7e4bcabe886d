//! Works on items on several threads, and passes on the results in the order of the items.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The number of results per thread that may wait to be joined. Together with the items in work, they bound the
/// memory in use.
const WAITING: usize = 2;

/// Calls `work` for the items of `input` on `threads` threads, and `join` for the results in the order of the
/// input. Each thread calls `start` once to create its scratch memory. Stops at the first error of `join`.
///
/// `is_last` returns whether an item is the last one. If there is only one item, no thread is started.
pub(crate) fn work_in_order<I: Send, S, P: Send, E: Send>(
    threads: usize,
    mut input: impl FnMut() -> Option<I> + Send,
    is_last: impl Fn(&I) -> bool,
    start: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, I) -> P + Sync,
    mut join: impl FnMut(P) -> Result<(), E> + Send,
) -> Result<(), E> {
    let mut first = None;
    let mut is_short = threads == 1;
    if !is_short {
        match input() {
            Some(item) => {
                is_short = is_last(&item);
                first = Some(item);
            }
            None => return Ok(()),
        }
    }
    let mut next = move || first.take().or_else(&mut input);
    if is_short {
        let mut scratch = start();
        while let Some(item) = next() {
            join(work(&mut scratch, item))?;
        }
        return Ok(());
    }
    let desk = Desk {
        input: Mutex::new(Input { items: next, next: 0 }),
        joined: Mutex::new(Joined {
            next: 0,
            waiting: BTreeMap::new(),
            joining: false,
            stop: false,
        }),
        progress: Condvar::new(),
        most: threads * (1 + WAITING),
    };
    let join = Mutex::new((join, Ok(())));
    let run = || {
        let _guard = StopOnPanic(&desk);
        let mut scratch = start();
        while let Some((number, item)) = desk.take() {
            desk.put(number, work(&mut scratch, item), &join);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(run);
        }
        run();
    });
    let (_, result) = join.into_inner().unwrap_or_else(PoisonError::into_inner);
    result
}

/// What the threads share.
struct Desk<F, P> {
    input: Mutex<Input<F>>,
    joined: Mutex<Joined<P>>,
    progress: Condvar,
    /// The largest number of items that may be ahead of the one that is joined next.
    most: usize,
}

struct Input<F> {
    items: F,
    /// Number of the next item.
    next: usize,
}

struct Joined<P> {
    /// Number of the item that is joined next.
    next: usize,
    waiting: BTreeMap<usize, P>,
    /// Whether a thread is joining.
    joining: bool,
    stop: bool,
}

/// Locks a mutex even if a thread has panicked. Its panic ends the whole work, so nobody sees its partial results.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// If a thread panics, stops the threads that would wait for it.
struct StopOnPanic<'a, F, P>(&'a Desk<F, P>);

impl<F, P> Drop for StopOnPanic<'_, F, P> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            lock(&self.0.joined).stop = true;
            self.0.progress.notify_all();
        }
    }
}

impl<I, F: FnMut() -> Option<I>, P> Desk<F, P> {
    /// The next item and its number, as soon as there is room for it.
    fn take(&self) -> Option<(usize, I)> {
        let mut input = lock(&self.input);
        let mut joined = lock(&self.joined);
        // Another thread works on the item that is joined next, so this loop ends.
        while !joined.stop && input.next >= joined.next + self.most {
            joined = self.progress.wait(joined).unwrap_or_else(PoisonError::into_inner);
        }
        if joined.stop {
            return None;
        }
        drop(joined);
        let item = (input.items)()?;
        input.next += 1;
        Some((input.next - 1, item))
    }

    /// Adds a result, and joins all results that are next, unless another thread is joining already.
    fn put<J, E>(&self, number: usize, result: P, join: &Mutex<(J, Result<(), E>)>)
    where
        J: FnMut(P) -> Result<(), E>,
    {
        let mut joined = lock(&self.joined);
        joined.waiting.insert(number, result);
        while !joined.joining && !joined.stop {
            let next = joined.next;
            let Some(result) = joined.waiting.remove(&next) else { break };
            joined.joining = true;
            drop(joined);
            let failed = {
                let (join, outcome) = &mut *lock(join);
                *outcome = join(result);
                outcome.is_err()
            };
            joined = lock(&self.joined);
            joined.joining = false;
            joined.next += 1;
            joined.stop |= failed;
            self.progress.notify_all();
        }
    }
}
