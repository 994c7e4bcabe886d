//! Threads with their scratch memory.

use crate::direction::{Corner, Move};
use crate::problem::Problem;
use crate::sparse::SparseVec;
use rayon::prelude::*;
use std::sync::{Mutex, PoisonError};

/// Everything one thread needs to look at a block; reused from visit to visit.
pub(crate) struct Scratch<P: Problem> {
    pub(crate) workspace: P::Workspace,
    pub(crate) corner: Corner<P::Output>,
    pub(crate) step: Move,
    /// For differences that are needed only for their score.
    pub(crate) parts: SparseVec,
}

impl<P: Problem> Scratch<P> {
    pub(crate) fn new(problem: &P) -> Self {
        Self {
            workspace: problem.workspace(),
            corner: Corner::default(),
            step: Move::default(),
            parts: SparseVec::new(),
        }
    }

    /// Calls the oracle of block `i` at `w`; the result is in `self.corner`.
    pub(crate) fn find_corner(&mut self, problem: &P, i: usize, w: &[f64]) {
        problem.prepare(i, w, &mut self.workspace);
        problem.oracle(i, w, &mut self.workspace, &mut self.corner.y);
    }

    /// Looks up the parts and the loss of the corner that was found.
    pub(crate) fn describe_corner(&mut self, problem: &P, i: usize) {
        self.corner.parts.clear();
        problem.parts(i, &self.corner.y, &mut self.corner.parts);
        self.corner.loss = problem.loss(i, &self.corner.y);
    }

    /// Takes the truth for the corner, as when an oracle has found nothing better.
    pub(crate) fn fall_back_to_truth(&mut self, problem: &P, i: usize) {
        self.corner.parts.clear();
        problem.truth_parts(i, &mut self.corner.parts);
        self.corner.loss = 0.0;
    }
}

/// Runs work over all blocks on a fixed number of threads.
///
/// Each block's result goes to its own place, so nothing depends on which thread did what.
pub(crate) struct Crew<P: Problem> {
    pool: Option<rayon::ThreadPool>,
    scratches: Vec<Mutex<Scratch<P>>>,
}

/// Blocks handed out at once: enough to hide the cost of handing out, few enough to balance.
const CHUNK: usize = 32;

impl<P: Problem> Crew<P> {
    /// A crew of at most `threads` threads; where no threads can be had, the caller's own.
    pub(crate) fn new(problem: &P, threads: usize) -> Self {
        let threads = threads.clamp(1, problem.examples().div_ceil(CHUNK).max(1));
        let pool = match threads {
            1 => None,
            _ => rayon::ThreadPoolBuilder::new().num_threads(threads).build().ok(),
        };
        let workers = pool.as_ref().map_or(1, rayon::ThreadPool::current_num_threads);
        let scratches = (0..workers).map(|_| Mutex::new(Scratch::new(problem))).collect();
        Self { pool, scratches }
    }

    /// Calls `work` with every index and its entry of `results`, and a scratch to work with.
    pub(crate) fn for_each<T: Send>(
        &self,
        problem: &P,
        results: &mut [T],
        work: impl Fn(usize, &mut Scratch<P>, &mut T) + Sync,
    ) {
        self.for_each_chunk(results, CHUNK, |first, results| {
            let worker = rayon::current_thread_index().unwrap_or(0).min(self.scratches.len() - 1);
            // An oracle that is parallel inside can start another chunk on a thread that is still
            // busy with one; that chunk then gets a scratch of its own.
            let mut free = self.scratches[worker].try_lock();
            let mut fresh = None;
            let scratch = match &mut free {
                Ok(scratch) => &mut **scratch,
                Err(_) => fresh.insert(Scratch::new(problem)),
            };
            for (offset, result) in results.iter_mut().enumerate() {
                work(first + offset, scratch, result);
            }
        });
    }

    /// Calls `work` with chunks of `items` and the index of their first item.
    pub(crate) fn for_each_chunk<T: Send>(
        &self,
        items: &mut [T],
        size: usize,
        work: impl Fn(usize, &mut [T]) + Sync,
    ) {
        let chunk_work = |(chunk, items): (usize, &mut [T])| work(chunk * size, items);
        match &self.pool {
            Some(pool) => {
                pool.install(|| items.par_chunks_mut(size).enumerate().for_each(chunk_work));
            }
            None => items.chunks_mut(size).enumerate().for_each(chunk_work),
        }
    }

    /// The scratch of the calling thread, for sequential work.
    pub(crate) fn scratch(&mut self) -> &mut Scratch<P> {
        self.scratches[0].get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}
