//! Oracle calls, timed and counted.

use super::Run;
use crate::dual::DualState;
use crate::dual::{Scratch, Workers};
use crate::observe::Status;
use crate::problem::simplices::Simplices;
use crate::problem::{Accuracy, Blocks, Worker};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

impl<'p> Run<'p, '_> {
    /// Calls the oracle of block `i` at the current w, timed and counted; the corner is in the
    /// scratch.
    pub(crate) fn oracle(&mut self, i: usize) {
        let scratch = self.workers.scratch();
        self.oracle_timer.time(|| scratch.find_corner(i, &self.state.w));
        self.totals.oracle_calls += 1;
        scratch.describe_corner(i);
    }

    /// As [`oracle`](Self::oracle), but writes no corner. Returns the loss of the output found.
    pub(crate) fn oracle_without_corner(&mut self, i: usize) -> f64 {
        let scratch = self.workers.scratch();
        self.oracle_timer.time(|| scratch.find_corner(i, &self.state.w));
        self.totals.oracle_calls += 1;
        scratch.worker.loss(i)
    }

    /// As [`oracle`](Self::oracle), but of the accuracy that is asked for.
    pub(crate) fn oracle_within(&mut self, i: usize, accuracy: Accuracy) {
        let scratch = self.workers.scratch();
        self.oracle_timer.time(|| scratch.worker.find_corner_within(i, &self.state.w, accuracy));
        self.totals.oracle_calls += 1;
        scratch.describe_corner(i);
    }

    /// Evaluates all corners of block `i`, which is a simplex, at the current w, timed and counted as
    /// an oracle call; their values are in the scratch.
    pub(crate) fn evaluate(&mut self, i: usize, simplices: &dyn Simplices) {
        let values = &mut self.workers.scratch().values;
        self.oracle_timer.time(|| simplices.values(i, &self.state.w, values));
        self.totals.oracle_calls += 1;
    }

    /// The threads of the run.
    pub(crate) fn workers(&mut self) -> &mut Workers<'p> {
        &mut self.workers
    }

    /// The state and the threads, side by side.
    pub(crate) fn state_and_workers(&mut self) -> (&DualState<'p>, &mut Workers<'p>) {
        (&self.state, &mut self.workers)
    }

    /// As [`state_and_workers`](Self::state_and_workers), where the state moves.
    pub(crate) fn moving_state_and_workers(&mut self) -> (&mut DualState<'p>, &mut Workers<'p>) {
        (&mut self.state, &mut self.workers)
    }

    /// Prepares the sequential scratch for block `i` at the current w.
    pub(crate) fn prepare(&mut self, i: usize) {
        self.workers.scratch().worker.prepare(i, &self.state.w);
    }

    /// As [`oracle`](Self::oracle) at other weights, with the loss times `factor`: the corner with the
    /// largest `factor`·L + ⟨w, Bp⟩. Returns false, and counts nothing, if the problem supports no factor
    /// other than 1.
    pub(crate) fn oracle_at(&mut self, i: usize, w: &[f64], factor: f64) -> bool {
        let (timer, scratch) = (&mut self.oracle_timer, self.workers.scratch());
        let found = timer.time(|| match factor == 1.0 {
            true => {
                scratch.worker.find_corner(i, w);
                true
            }
            false => scratch.worker.find_corner_with_loss(i, w, factor),
        });
        if found {
            self.totals.oracle_calls += 1;
            scratch.describe_corner(i);
        }
        found
    }

    /// Predicts the output of example `i` at other weights, timed and counted as an oracle call. The
    /// output becomes the corner in the scratch.
    pub(crate) fn predict_at(&mut self, i: usize, w: &[f64]) {
        let (timer, scratch) = (&mut self.oracle_timer, self.workers.scratch());
        timer.time(|| scratch.worker.predict(i, w));
        self.totals.oracle_calls += 1;
        scratch.describe_corner(i);
    }

    /// Runs `work` with the state and the worker of the sequential thread, timed and counted as an oracle
    /// call.
    pub(crate) fn instead_of_oracle<T>(
        &mut self,
        work: impl FnOnce(&DualState<'p>, &mut dyn Worker) -> T,
    ) -> T {
        let (state, worker) = (&self.state, &mut *self.workers.scratch().worker);
        self.totals.oracle_calls += 1;
        self.oracle_timer.time(|| work(state, worker))
    }

    /// As [`all_oracles`](Self::all_oracles), if `work` calls no oracle.
    pub(crate) fn for_each_block<T: Send>(
        &mut self,
        results: &mut [T],
        work: impl Fn(&dyn Blocks, &DualState<'p>, usize, &mut Scratch<'_>, &mut T) + Sync,
    ) {
        let (problem, state) = (self.problem, &self.state);
        self.workers
            .for_each(results, |i, scratch, result| work(problem, state, i, scratch, result));
    }

    /// As [`for_each_block`](Self::for_each_block), if threads are to take `piece` blocks at a time.
    pub(crate) fn for_pieces_of_blocks<T: Send>(
        &mut self,
        piece: usize,
        results: &mut [T],
        work: impl Fn(&dyn Blocks, &DualState<'p>, usize, &mut Scratch<'_>, &mut T) + Sync,
    ) {
        let (problem, state) = (self.problem, &self.state);
        self.workers.for_each_chunk(results, piece, |first, scratch, results| {
            for (i, result) in (first..).zip(results) {
                work(problem, state, i, scratch, result);
            }
        });
    }

    /// The number of threads.
    pub(crate) fn threads(&self) -> usize {
        self.workers.count()
    }

    /// Runs `work` on every block of a batch on so many threads, timed as oracle calls. The caller counts them.
    pub(crate) fn batch_oracles<T: Send>(
        &mut self,
        batch: &mut [T],
        threads: usize,
        work: impl Fn(&dyn Blocks, &DualState<'p>, &mut Scratch<'_>, &mut T) + Sync,
    ) {
        let begin = Instant::now();
        let (problem, state) = (self.problem, &self.state);
        self.workers.for_each_chunk_on(threads, batch, 1, |_, scratch, one| {
            work(problem, state, scratch, &mut one[0]);
        });
        let seconds = begin.elapsed().as_secs_f64();
        self.oracle_timer.add_batch(seconds, batch.len(), threads);
    }

    /// The state and the scratch of the sequential thread, side by side.
    pub(crate) fn state_and_scratch(&mut self) -> (&mut DualState<'p>, &mut Scratch<'p>) {
        (&mut self.state, self.workers.scratch())
    }

    /// Runs `work` on every block in parallel, counted and timed as oracle calls. If the run is to end before
    /// all are done, leaves the others out, counts nothing, and returns why.
    pub(crate) fn all_oracles<T: Send>(
        &mut self,
        results: &mut [T],
        work: impl Fn(&dyn Blocks, &DualState<'p>, usize, &mut Scratch<'_>, &mut T) + Sync,
    ) -> Option<Status> {
        let (begin, deadline) = (Instant::now(), self.deadline());
        let is_cut = AtomicBool::new(false);
        let (problem, state) = (self.problem, &self.state);
        self.workers.for_each_oracle(&state.w, 0, results, |i, scratch, result| {
            if deadline.passed().is_some() {
                is_cut.store(true, Ordering::Relaxed);
            } else {
                work(problem, state, i, scratch, result);
            }
        });
        self.oracle_timer.add(begin.elapsed().as_secs_f64());
        if is_cut.into_inner() {
            return deadline.passed().or(Some(Status::Interrupted));
        }
        self.totals.oracle_calls += results.len() as u64;
        None
    }
}
