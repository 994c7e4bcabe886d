//! Threads with their scratch memory.
//!
//! Only maps over blocks run in parallel. Each result has its own place, so the outcome does not depend on
//! which thread did what. The helpers belong to one run and do nothing but its work, so an oracle with
//! threads of its own cannot get entangled with them. See `docs/decisions/0004-deterministic-runs.md`.

use super::point::{Corner, Move};
use super::pool::Pool;
use crate::problem::{Blocks, SparseVec, Worker};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Everything one thread needs to look at a block; reused from visit to visit.
pub(crate) struct Scratch<'p> {
    pub(crate) worker: Box<dyn Worker + 'p>,
    pub(crate) corner: Corner,
    pub(crate) step: Move,
    /// Scratch memory for differences that are only scored.
    pub(crate) parts: SparseVec,
    /// The point of a block, unpacked.
    pub(crate) point: SparseVec,
    /// The values and the masses of all parts of a block that is a simplex.
    pub(crate) values: Vec<f64>,
    pub(crate) masses: Vec<f64>,
}

impl<'p> Scratch<'p> {
    pub(crate) fn new(problem: &'p dyn Blocks) -> Self {
        Self {
            worker: problem.worker(),
            corner: Corner::default(),
            step: Move::default(),
            parts: SparseVec::new(),
            point: SparseVec::new(),
            values: Vec::new(),
            masses: Vec::new(),
        }
    }

    /// Calls the oracle of block `i` at `w`. [`describe_corner`](Self::describe_corner) then writes its
    /// answer.
    pub(crate) fn find_corner(&mut self, i: usize, w: &[f64]) {
        self.worker.find_corner(i, w);
    }

    /// Finds the output with the largest −⟨w, ψᵢ(y)⟩ of block `i`.
    pub(crate) fn find_corner_without_loss(&mut self, i: usize, w: &[f64]) {
        if !self.worker.find_corner_with_loss(i, w, 0.0) {
            self.worker.predict(i, w);
        }
    }

    /// Writes the parts and the loss of the last output found to `self.corner`.
    pub(crate) fn describe_corner(&mut self, i: usize) {
        self.corner.loss = self.worker.describe(i, &mut self.corner.parts);
    }

    /// Gives the memory of long vectors back, so that the work on one long example does not add to that on w.
    pub(crate) fn forget_if_long(&mut self) {
        let Self { corner, step, parts, point, .. } = self;
        for vector in [&mut corner.parts, &mut step.parts, parts, point] {
            vector.forget_if_long();
        }
    }

    /// Makes the truth the corner, as when an oracle has found nothing better.
    pub(crate) fn fall_back_to_truth(&mut self, problem: &dyn Blocks, i: usize) {
        self.corner.parts.clear();
        problem.truth_parts(i, &mut self.corner.parts);
        self.corner.loss = 0.0;
    }
}

/// Runs work over many blocks on a fixed number of threads.
///
/// Each block's result goes to its own place, so nothing depends on which thread did what.
pub(crate) struct Workers<'p> {
    /// The scratch of the calling thread.
    own: Scratch<'p>,
    /// One for each helper.
    others: Vec<Mutex<Scratch<'p>>>,
    pool: Pool,
    /// How many blocks are handed out at once.
    chunk: usize,
    /// Whether work on all blocks has ever taken so long that it is handed out.
    takes_long: bool,
}

/// Blocks handed out at once if nothing is known of them: enough to hide the cost of handing out, and few enough to
/// keep all threads busy.
const CHUNK: usize = 32;

/// Work that takes less time than this stays on one thread. Handing it out takes some microseconds, and far more where
/// other programs keep the cores busy. The clock decides only who works, never what comes out.
const WORTH_HANDING_OUT: Duration = Duration::from_micros(50);

/// The same limit for work that is counted, in additions.
const ADDITIONS_WORTH_HANDING_OUT: usize = 1 << 15;

/// If one thread took longer than this for work that its first block had made seem short, work is handed out from then on.
const SURPRISE: Duration = Duration::from_micros(200);

/// Batches for each thread, so that no thread has to wait long for another at the end.
const BATCHES: usize = 4;

/// The most blocks of a batch, which bounds the memory of its answers.
const MOST_ANNOUNCED: usize = 256;

impl<'p> Workers<'p> {
    /// The number of threads.
    pub(crate) fn count(&self) -> usize {
        1 + self.others.len()
    }

    /// Workers for at most `threads` threads.
    pub(crate) fn new(problem: &'p dyn Blocks, threads: usize) -> Self {
        let helpers = threads.clamp(1, problem.examples().max(1)) - 1;
        let others = (0..helpers).map(|_| Mutex::new(Scratch::new(problem))).collect();
        Self {
            own: Scratch::new(problem),
            others,
            pool: Pool::default(),
            chunk: CHUNK,
            takes_long: false,
        }
    }

    /// The number of threads that so many additions are worth.
    pub(crate) fn worth(&self, additions: usize) -> usize {
        if additions < ADDITIONS_WORTH_HANDING_OUT { 1 } else { self.count() }
    }

    /// From now on, hands out blocks one by one: each takes so long that a few are worth all threads.
    pub(crate) fn hand_out_singly(&mut self) {
        self.chunk = 1;
    }

    /// Calls `work` with every index and its entry of `results`, and a scratch to work with.
    ///
    /// Until work has taken long, the calling thread does the first piece alone, and the rest too if that one was quick.
    pub(crate) fn for_each<T: Send>(
        &mut self,
        results: &mut [T],
        work: impl Fn(usize, &mut Scratch<'p>, &mut T) + Sync,
    ) {
        if results.is_empty() {
            return;
        }
        let (mut done, mut threads) = (0, self.count());
        let begin = (!self.takes_long && threads > 1).then(Instant::now);
        if let (Some(begin), Some(first)) = (begin, results.first_mut()) {
            work(0, &mut self.own, first);
            done = 1;
            let all =
                begin.elapsed().saturating_mul(u32::try_from(results.len()).unwrap_or(u32::MAX));
            threads = if all < WORTH_HANDING_OUT { 1 } else { threads };
        }
        self.for_each_chunk_on(
            threads,
            &mut results[done..],
            self.chunk,
            |at, scratch, results| {
                for (offset, result) in results.iter_mut().enumerate() {
                    work(done + at + offset, scratch, result);
                }
            },
        );
        self.takes_long |= threads > 1 || begin.is_some_and(|begin| begin.elapsed() > SURPRISE);
    }

    /// As [`for_each`](Self::for_each), if `work` calls the oracle of each block at `w`, where the first result is that
    /// of block `start`: problems that take batches hear of the calls beforehand.
    pub(crate) fn for_each_oracle<T: Send>(
        &mut self,
        w: &[f64],
        start: usize,
        results: &mut [T],
        work: impl Fn(usize, &mut Scratch<'p>, &mut T) + Sync,
    ) {
        if !self.own.worker.takes_batches() {
            return self.for_each(results, |at, scratch, result| work(start + at, scratch, result));
        }
        let size = results.len().div_ceil(BATCHES * self.count()).clamp(1, MOST_ANNOUNCED);
        self.for_each_chunk(results, size, |first, scratch, results| {
            let first = start + first;
            scratch.worker.announce(first..first + results.len(), w);
            for (offset, result) in results.iter_mut().enumerate() {
                work(first + offset, scratch, result);
            }
        });
    }

    /// Calls `work` with chunks of `items` and the index of their first item, on all threads.
    pub(crate) fn for_each_chunk<T: Send>(
        &mut self,
        items: &mut [T],
        size: usize,
        work: impl Fn(usize, &mut Scratch<'p>, &mut [T]) + Sync,
    ) {
        self.for_each_chunk_on(self.count(), items, size, work);
    }

    /// As [`for_each_chunk`](Self::for_each_chunk), on at most so many threads.
    pub(crate) fn for_each_chunk_on<T: Send>(
        &mut self,
        threads: usize,
        items: &mut [T],
        size: usize,
        work: impl Fn(usize, &mut Scratch<'p>, &mut [T]) + Sync,
    ) {
        let helpers = items.len().div_ceil(size).clamp(1, self.count().min(threads)) - 1;
        let queue = Mutex::new(items.chunks_mut(size).enumerate());
        let next = || lock(&queue).next();
        let work_off = |scratch: &mut Scratch<'p>| {
            while let Some((chunk, items)) = next() {
                work(chunk * size, scratch, items);
            }
        };
        if helpers == 0 {
            return work_off(&mut self.own);
        }
        let (own, others) = (Mutex::new(&mut self.own), &self.others);
        self.pool.run(helpers, &|number| match number {
            0 => work_off(*lock(&own)),
            _ => work_off(&mut lock(&others[number - 1])),
        });
    }

    /// The scratch of the calling thread, for sequential work.
    pub(crate) fn scratch(&mut self) -> &mut Scratch<'p> {
        &mut self.own
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
