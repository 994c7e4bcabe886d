//! Cutting planes with one slack variable per example.
//!
//! A plane of example i is a corner of its block. The dual of the QP over all planes found so far is the
//! dual of the problem with all mass on these corners. So the working set is what blocks remember, and the
//! mass shifts of corrective steps solve its QP, sweep by sweep, from where it stood.

use crate::certificate::Certificate;
use crate::dual::Pace;
use crate::error::TrainError;
use crate::run::Run;
use crate::settings::{Caching, Direction};
use crate::solver::batch::{Answer, Round};
use crate::solver::block_coordinate::active_set::{ActiveSets, Visited};
use crate::solver::block_coordinate::corner_cache::Cache;

/// The QP is solved to this share of the gap. Beyond that, new planes are worth more.
pub(super) const ENOUGH_OF_GAP: f64 = 0.1;

/// Planes without mass for this many rounds are dropped.
pub(super) const MOST_IDLE: u8 = 50;

/// The most sweeps between two rounds of oracles.
const MOST_SWEEPS: usize = 1000;

/// Gains below this are rounding.
const LEAST_GAIN: f64 = 1e-14;

/// Cutting planes, n-slack.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(in crate::solver) struct NSlack {
    sets: ActiveSets,
    /// For how many rounds each plane of each example has been without mass.
    ages: Vec<Vec<u8>>,
    /// The examples that the next sweep goes over.
    #[cfg_attr(feature = "serde", serde(skip))]
    active: Vec<usize>,
    /// What was left to gain in each example at its last visit.
    gaps: Vec<f64>,
}

impl Round<'_> for NSlack {
    const CAN_BE_CUT: bool = true;

    fn prepare(&mut self, _: &Run<'_, '_>) {}

    /// Adds the planes that oracles have found, and solves the QP over all.
    fn round(
        &mut self,
        run: &mut Run<'_, '_>,
        answers: &[Answer],
        proof: &Certificate,
    ) -> Result<bool, TrainError> {
        for (i, answer) in answers.iter().enumerate().filter(|(_, a)| a.reading.gap > 0.0) {
            let corner = (&answer.corner.parts, answer.corner.loss);
            // The next sweep evaluates it.
            self.sets.add(run.problem, i, corner, |_| 0.0);
        }
        run.totals.visits += answers.len() as u64;
        if !self.solve(run, proof)? {
            return Ok(false);
        }
        self.sets.refresh_all(run.problem, &mut run.state.blocks);
        for (i, ages) in self.ages.iter_mut().enumerate() {
            self.sets.age(i, ages, MOST_IDLE);
        }
        Ok(true)
    }
}

impl NSlack {
    pub(in crate::solver) fn new(run: &Run<'_, '_>) -> Self {
        let n = run.examples();
        let cache = Cache::new(Caching::Off, n, 0.0, 0.0, u64::MAX);
        let sets = ActiveSets::new(run.problem, &run.state.blocks, cache);
        Self { sets, ages: vec![Vec::new(); n], active: Vec::new(), gaps: vec![0.0; n] }
    }

    /// Sweeps over the examples until little is left to gain. Returns false if a limit comes first.
    /// Examples with next to nothing to gain rest until the others are done.
    fn solve(&mut self, run: &mut Run<'_, '_>, proof: &Certificate) -> Result<bool, TrainError> {
        let n = run.examples();
        let target = (ENOUGH_OF_GAP * proof.gap).max(LEAST_GAIN * (1.0 + proof.primal.abs()));
        let little = 0.25 * target / n as f64;
        let mut whole = true;
        for _ in 0..MOST_SWEEPS {
            if whole {
                self.active.clear();
                self.active.extend(0..n);
            }
            if run.limit().is_some() {
                return Ok(false);
            }
            let left = self.sweep(run)?;
            if whole && left <= target {
                break;
            }
            let gaps = &self.gaps;
            self.active.retain(|&i| gaps[i] > little);
            whole = left <= 0.5 * target || self.active.is_empty();
        }
        Ok(true)
    }

    /// Visits all active examples once. Returns what they had left to gain.
    fn sweep(&mut self, run: &mut Run<'_, '_>) -> Result<f64, TrainError> {
        let mut left = 0.0;
        for &i in &self.active {
            let (state, scratch) = run.state_and_scratch();
            self.sets.prepare(i, state, &mut *scratch.worker);
            let gap = self.sets.look(i, state, &*scratch.worker);
            self.gaps[i] = gap;
            left += gap;
            if gap <= 0.0 {
                continue;
            }
            let at = Visited { i, state, worker: &mut *scratch.worker };
            let outcome = self.sets.step(at, Direction::Corrective, Pace::EXACT);
            let outcome = outcome.ok_or(TrainError::NotFinite { example: i })?;
            run.note_step(outcome.gamma, outcome.longest);
        }
        Ok(left)
    }
}
