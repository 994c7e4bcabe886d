//! Oracle calls, timed and counted.

use super::Run;
use crate::crew::Scratch;
use crate::dual::DualState;
use crate::problem::Problem;
use crate::simplex::Simplices;
use std::time::Instant;

impl<'p, P: Problem> Run<'p, '_, P> {
    /// Calls the oracle of block `i` at the current w, timed and counted; the corner is in the
    /// scratch.
    pub(crate) fn oracle(&mut self, i: usize) {
        let scratch = self.crew.scratch();
        self.oracle_timer.time(|| scratch.find_corner(self.problem, i, &self.state.w));
        self.totals.oracle_calls += 1;
        scratch.describe_corner(self.problem, i);
    }

    /// Evaluates all corners of block `i`, which is a simplex, at the current w, timed and counted as
    /// an oracle call; their values are in the scratch.
    pub(crate) fn evaluate(&mut self, i: usize, simplices: &dyn Simplices<P::Workspace>) {
        let Scratch { workspace, values, .. } = self.crew.scratch();
        self.oracle_timer.time(|| {
            self.problem.prepare(i, &self.state.w, workspace);
            simplices.values(i, workspace, values);
        });
        self.totals.oracle_calls += 1;
    }

    /// Prepares the sequential scratch for block `i` at the current w.
    pub(crate) fn prepare(&mut self, i: usize) {
        self.problem.prepare(i, &self.state.w, &mut self.crew.scratch().workspace);
    }

    /// As [`oracle`](Self::oracle) at other weights, with the loss times `factor`: the corner with the
    /// largest `factor`·L + ⟨w, Bp⟩. False if the problem cannot do that for other factors than 1; then
    /// nothing is counted.
    pub(crate) fn oracle_at(&mut self, i: usize, w: &[f64], factor: f64) -> bool {
        let (problem, scratch) = (self.problem, self.crew.scratch());
        let Scratch { workspace, corner, .. } = scratch;
        let found = self.oracle_timer.time(|| {
            problem.prepare(i, w, workspace);
            if factor == 1.0 {
                problem.oracle(i, w, workspace, &mut corner.y);
                return true;
            }
            problem.oracle_with_loss(i, w, factor, workspace, &mut corner.y)
        });
        if found {
            self.totals.oracle_calls += 1;
            scratch.describe_corner(problem, i);
        }
        found
    }

    /// Predicts the output of example `i` at other weights, timed and counted as an oracle call; it is
    /// the corner in the scratch.
    pub(crate) fn predict_at(&mut self, i: usize, w: &[f64]) {
        let (problem, scratch) = (self.problem, self.crew.scratch());
        let Scratch { workspace, corner, .. } = scratch;
        self.oracle_timer.time(|| {
            problem.prepare(i, w, workspace);
            problem.decode(i, w, workspace, &mut corner.y);
        });
        self.totals.oracle_calls += 1;
        scratch.describe_corner(problem, i);
    }

    /// Does something with the state and the workspace of the sequential thread that is timed and
    /// counted as an oracle call.
    pub(crate) fn instead_of_oracle<T>(
        &mut self,
        work: impl FnOnce(&DualState<'p, P>, &mut P::Workspace) -> T,
    ) -> T {
        let (state, workspace) = (&self.state, &mut self.crew.scratch().workspace);
        self.totals.oracle_calls += 1;
        self.oracle_timer.time(|| work(state, workspace))
    }

    /// Runs `work` on every block in parallel, as [`all_oracles`](Self::all_oracles), where no oracle
    /// is called.
    pub(crate) fn for_each_block<T: Send>(
        &mut self,
        results: &mut [T],
        work: impl Fn(&P, &DualState<'p, P>, usize, &mut Scratch<P>, &mut T) + Sync,
    ) {
        let (problem, state) = (self.problem, &self.state);
        self.crew.for_each(results, |i, scratch, result| work(problem, state, i, scratch, result));
    }

    /// The state and the scratch of the sequential thread, side by side.
    pub(crate) fn state_and_scratch(&mut self) -> (&mut DualState<'p, P>, &mut Scratch<P>) {
        (&mut self.state, self.crew.scratch())
    }

    /// Runs `work` on every block in parallel, counted and timed as oracle calls.
    pub(crate) fn all_oracles<T: Send>(
        &mut self,
        results: &mut [T],
        work: impl Fn(&P, &DualState<'p, P>, usize, &mut Scratch<P>, &mut T) + Sync,
    ) {
        let begin = Instant::now();
        self.for_each_block(results, work);
        self.oracle_timer.add(begin.elapsed().as_secs_f64());
        self.totals.oracle_calls += results.len() as u64;
    }
}
