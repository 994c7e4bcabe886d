//! Moves between remembered corners until these are worth no more. No oracle is called.
//!
//! Where many blocks share few features, visits to one block after another converge slowly: each visit undoes a little
//! of what the others have done, and spends an oracle call on it. Remembered corners need no oracle. So sweeps over
//! them go on until little is left to gain there, with a joint step (`joint_cg.rs`) whenever a sweep leaves most
//! of the gap. Only then do oracles look for new corners.
//!
//! The gap that is left is measured at a single w. A sum of the gaps that blocks have when they are visited in turn
//! can be far too small: the first of many similar blocks takes what the others would have gained.

use super::active_set::{ActiveSets, RememberedCorners, Visited};
use super::average::Averager;
use super::joint_cg::{Arena, JointCg};
use crate::dual::Pace;
use crate::error::TrainError;
use crate::run::Run;
use crate::run::fits::Fitting;
use crate::settings::Direction;

/// A sweep that leaves more than this share of the gap is followed by a joint step.
const SLOW_SHARE: f64 = 0.5;

/// This many rounds of conjugate gradients count as one sweep, and take about as long. (Small problems make the same
/// oracle calls as without this rule.)
const ROUNDS_OF_A_SWEEP: usize = 16;

/// Work that raises the dual in none of its digits counts this many times. A gap g is worth about g² in the dual, so gaps
/// below 10⁻⁸ can still fall then, in a few sweeps. Where corners nearly coincide, as they do in a shard after many rounds,
/// they may not fall at all. (A shard of 20 short sentences at a gap of 10⁻⁸ swept hundreds of times in three passes.)
const WEIGHT_OF_IDLE_WORK: usize = 64;

/// Gains below this share of the dual value are rounding. (Without it, a search for λ on three short sequences took
/// 1.6 s, since runs without a tolerance swept a thousand times after each round.)
const LEAST_GAIN: f64 = 1e-14;

/// Work on remembered corners, which a limit can interrupt between two sweeps.
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Exhaustion {
    joint: JointCg,
    task: Option<Task>,
    #[cfg_attr(feature = "serde", serde(skip))]
    gaps: Vec<f64>,
}

/// What is under way.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Task {
    /// Work ends when at most this is left to gain.
    target: f64,
    sweeps_left: usize,
    /// What the last sweep has found.
    last: f64,
}

impl Exhaustion {
    pub(crate) fn fits(&self, to: &Fitting<'_>) -> bool {
        self.joint.fits(to)
    }

    /// Begins a task, which ends when at most `target` is left to gain between remembered corners, when what is left is
    /// rounding relative to the value `dual`, or after the work of `most_sweeps` sweeps.
    pub(crate) fn begin(&mut self, target: f64, dual: f64, most_sweeps: usize) {
        let target = target.max(LEAST_GAIN * (1.0 + dual.abs()));
        self.task = Some(Task { target, sweeps_left: most_sweeps, last: f64::INFINITY });
    }

    /// Works until the task is done. Returns false if a limit comes first; the task then goes on with the next
    /// call.
    pub(crate) fn go_on(
        &mut self,
        run: &mut Run<'_, '_>,
        sets: &mut ActiveSets,
        mut averager: Option<&mut Averager>,
    ) -> Result<bool, TrainError> {
        self.gaps.resize(run.examples(), 0.0);
        while let Some(mut task) = self.task {
            if run.limit_after_work().is_some() {
                return Ok(false);
            }
            let dual = run.state.dual;
            let mut left = sweep(run, sets, averager.as_deref_mut(), task.last.is_finite())?;
            if left <= task.target {
                sets.look_at_all(run, &mut self.gaps);
                left = self.gaps.iter().sum();
            }
            if !left.is_finite() {
                return Err(TrainError::Overflow);
            }
            let is_enough = left <= task.target;
            let mut rounds = 0;
            if !is_enough && task.sweeps_left > 1 && left > SLOW_SHARE * task.last {
                rounds = self.joint_step(run, sets, averager.as_deref_mut());
            }
            task.sweeps_left = task.sweeps_left.saturating_sub(work(rounds, run.state.dual > dual));
            let is_done = is_enough || task.sweeps_left == 0;
            task.last = left;
            self.task = (!is_done).then_some(task);
        }
        Ok(true)
    }

    /// Moves all blocks together. Returns the number of rounds that this took.
    fn joint_step(
        &mut self,
        run: &mut Run<'_, '_>,
        sets: &mut ActiveSets,
        averager: Option<&mut Averager>,
    ) -> usize {
        let (problem, k) = (run.problem, run.totals.visits);
        let (state, workers) = run.moving_state_and_workers();
        let averager = averager.map(|averager| (averager, k + 1));
        let corners = RememberedCorners { problem, sets, averager };
        self.joint.step(&mut Arena { problem, state, workers, corners })
    }
}

/// The work of a sweep and of so many rounds of a joint step, in sweeps, if the dual has risen or not.
fn work(rounds: usize, has_risen: bool) -> usize {
    let sweeps = 1 + rounds / ROUNDS_OF_A_SWEEP;
    if has_risen { sweeps } else { sweeps * WEIGHT_OF_IDLE_WORK }
}

/// Moves every block once between its remembered corners. Returns what the blocks had left to gain, each at the time
/// of its visit. After a first sweep over all corners it is enough to look at `likely` ones, because the work ends
/// only after a look at all of them.
fn sweep(
    run: &mut Run<'_, '_>,
    sets: &mut ActiveSets,
    mut averager: Option<&mut Averager>,
    likely: bool,
) -> Result<f64, TrainError> {
    let (problem, k) = (run.problem, run.totals.visits);
    let mut left = 0.0;
    for i in 0..run.examples() {
        let (state, scratch) = run.state_and_scratch();
        sets.prepare(i, state, &mut *scratch.worker);
        let gap = match likely {
            true => sets.look_at_likely(i, state, &*scratch.worker),
            false => sets.look(i, state, &*scratch.worker),
        };
        left += gap;
        if gap <= 0.0 {
            continue;
        }
        if let Some(averager) = &mut averager {
            sets.refresh(problem, i, &mut state.blocks[i]);
            averager.before_change(i, k + 1, &state.blocks[i]);
        }
        let at = Visited { i, state, worker: &mut *scratch.worker };
        let outcome = sets.step(at, Direction::Corrective, Pace::EXACT);
        let outcome = outcome.ok_or(TrainError::NotFinite { example: i })?;
        run.note_step(outcome.gamma, outcome.longest);
    }
    Ok(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_work_ends_long_before_work_that_raises_the_dual() {
        assert_eq!(work(0, true), 1);
        assert_eq!(work(ROUNDS_OF_A_SWEEP - 1, true), 1);
        assert_eq!(work(200, true), 13);
        assert_eq!(work(0, false), WEIGHT_OF_IDLE_WORK);
        assert_eq!(work(200, false), 13 * WEIGHT_OF_IDLE_WORK);
    }
}
