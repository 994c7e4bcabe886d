//! Parsing pieces on several threads, and joining them in order.

use super::cut::{Piece, Pieces};
use crate::error::DataError;
use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Pieces that may wait to be joined, for each thread. Together with those at hand they bound the memory in use.
const WAITING: usize = 2;

/// Has threads `parse` the pieces, and `join` what they make of them in the order of the input. Stops at the first
/// error of `join`.
pub(super) fn read_pieces<P: Send>(
    mut pieces: Pieces,
    parse: impl Fn(Piece) -> P + Sync,
    mut join: impl FnMut(P) -> Result<(), DataError> + Send,
) -> Result<(), DataError> {
    let Some(first) = pieces.next() else { return Ok(()) };
    if first.is_last || pieces.threads() == 1 {
        // No other thread is worth its while.
        let mut next = Some(first);
        while let Some(piece) = next {
            join(parse(piece))?;
            next = pieces.next();
        }
        return Ok(());
    }
    let threads = pieces.threads();
    let desk = Desk {
        input: Mutex::new(Input { pieces, next: 0, first: Some(first) }),
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
    let work = || {
        let _guard = StopOnPanic(&desk);
        while let Some((number, piece)) = desk.take() {
            desk.put(number, parse(piece), &join);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    let (_, result) = join.into_inner().unwrap_or_else(PoisonError::into_inner);
    result
}

/// What the threads share.
struct Desk<P> {
    input: Mutex<Input>,
    joined: Mutex<Joined<P>>,
    progress: Condvar,
    /// How many pieces may be ahead of the one that is joined next.
    most: usize,
}

struct Input {
    pieces: Pieces,
    /// Number of the next piece.
    next: usize,
    first: Option<Piece>,
}

struct Joined<P> {
    /// Number of the piece that is joined next.
    next: usize,
    waiting: BTreeMap<usize, P>,
    /// Whether a thread is joining.
    joining: bool,
    stop: bool,
}

/// A thread that has panicked ends the whole reading with its panic, so that nobody sees what it left behind.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Lets no thread wait for one that has panicked.
struct StopOnPanic<'a, P>(&'a Desk<P>);

impl<P> Drop for StopOnPanic<'_, P> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            lock(&self.0.joined).stop = true;
            self.0.progress.notify_all();
        }
    }
}

impl<P> Desk<P> {
    /// The next piece and its number, as soon as there is room for it.
    fn take(&self) -> Option<(usize, Piece)> {
        let mut input = lock(&self.input);
        let mut joined = lock(&self.joined);
        // Whoever has the piece that is joined next is at work on it, so that this ends.
        while !joined.stop && input.next >= joined.next + self.most {
            joined = self.progress.wait(joined).unwrap_or_else(PoisonError::into_inner);
        }
        if joined.stop {
            return None;
        }
        drop(joined);
        let piece = match input.first.take() {
            Some(first) => first,
            None => input.pieces.next()?,
        };
        input.next += 1;
        Some((input.next - 1, piece))
    }

    /// Adds a parsed piece, and joins all those whose turn it is, unless another thread does so already.
    fn put<J>(&self, number: usize, parsed: P, join: &Mutex<(J, Result<(), DataError>)>)
    where
        J: FnMut(P) -> Result<(), DataError>,
    {
        let mut joined = lock(&self.joined);
        joined.waiting.insert(number, parsed);
        while !joined.joining && !joined.stop {
            let next = joined.next;
            let Some(parsed) = joined.waiting.remove(&next) else { break };
            joined.joining = true;
            drop(joined);
            let failed = {
                let (join, result) = &mut *lock(join);
                *result = join(parsed);
                result.is_err()
            };
            joined = lock(&self.joined);
            joined.joining = false;
            joined.next += 1;
            joined.stop |= failed;
            self.progress.notify_all();
        }
    }
}
