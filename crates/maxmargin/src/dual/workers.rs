//! Threads with their scratch memory.
//!
//! Only maps over blocks run in parallel. Each result has its own place, so the outcome does not depend on
//! which thread did what. Threads are scoped and started for each piece of work: that takes tens of
//! microseconds, next to nothing beside an exact pass, and leaves no pool behind that an oracle with
//! threads of its own could get entangled with. See `docs/decisions/0004-deterministic-runs.md`.

use super::point::{Corner, Move};
use crate::problem::{Blocks, SparseVec, Worker};
use std::sync::{Mutex, PoisonError};

/// Everything one thread needs to look at a block; reused from visit to visit.
pub(crate) struct Scratch<'p> {
    pub(crate) worker: Box<dyn Worker + 'p>,
    pub(crate) corner: Corner,
    pub(crate) step: Move,
    /// Scratch memory for differences that are only scored.
    pub(crate) parts: SparseVec,
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

    /// Makes the truth the corner, as when an oracle has found nothing better.
    pub(crate) fn fall_back_to_truth(&mut self, problem: &dyn Blocks, i: usize) {
        self.corner.parts.clear();
        problem.truth_parts(i, &mut self.corner.parts);
        self.corner.loss = 0.0;
    }
}

/// Runs work over all blocks on a fixed number of threads.
///
/// Each block's result goes to its own place, so nothing depends on which thread did what.
pub(crate) struct Workers<'p> {
    /// One for each thread. The first belongs to the calling thread.
    scratches: Vec<Scratch<'p>>,
}

/// Blocks handed out at once: enough to hide the cost of handing out, few enough to balance.
const CHUNK: usize = 32;

impl<'p> Workers<'p> {
    /// The number of threads.
    pub(crate) fn count(&self) -> usize {
        self.scratches.len()
    }

    /// Workers for at most `threads` threads.
    pub(crate) fn new(problem: &'p dyn Blocks, threads: usize) -> Self {
        let threads = threads.clamp(1, problem.examples().div_ceil(CHUNK).max(1));
        Self { scratches: (0..threads).map(|_| Scratch::new(problem)).collect() }
    }

    /// Calls `work` with every index and its entry of `results`, and a scratch to work with.
    pub(crate) fn for_each<T: Send>(
        &mut self,
        results: &mut [T],
        work: impl Fn(usize, &mut Scratch<'p>, &mut T) + Sync,
    ) {
        self.for_each_chunk(results, CHUNK, |first, scratch, results| {
            for (offset, result) in results.iter_mut().enumerate() {
                work(first + offset, scratch, result);
            }
        });
    }

    /// Calls `work` with chunks of `items` and the index of their first item.
    pub(crate) fn for_each_chunk<T: Send>(
        &mut self,
        items: &mut [T],
        size: usize,
        work: impl Fn(usize, &mut Scratch<'p>, &mut [T]) + Sync,
    ) {
        let helpers = items.len().div_ceil(size).clamp(1, self.scratches.len()) - 1;
        let queue = Mutex::new(items.chunks_mut(size).enumerate());
        let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
        let work_off = |scratch: &mut Scratch<'p>| {
            while let Some((chunk, items)) = next() {
                work(chunk * size, scratch, items);
            }
        };
        let (own, others) = self.scratches.split_at_mut(1);
        std::thread::scope(|scope| {
            for scratch in &mut others[..helpers] {
                scope.spawn(|| work_off(scratch));
            }
            work_off(&mut own[0]);
        });
    }

    /// The scratch of the calling thread, for sequential work.
    pub(crate) fn scratch(&mut self) -> &mut Scratch<'p> {
        &mut self.scratches[0]
    }
}
