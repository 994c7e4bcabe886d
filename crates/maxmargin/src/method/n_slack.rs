//! Cutting planes with one slack variable per example.
//!
//! A plane of example i is a corner of its block, and the dual of the QP over all planes found so far
//! is the dual of the problem with all mass on these corners. So the working set is what blocks
//! remember, and its QP is solved by the shifts of mass that corrective steps make as well, sweep by
//! sweep, from where it stood.

use super::batch::{Part, run_with};
use crate::active::{Memory, Place};
use crate::cache::{Cache, Caching};
use crate::certificate::Certificate;
use crate::checkpoint::Stage;
use crate::direction::Direction;
use crate::error::TrainError;
use crate::run::{Finished, Run};
use crate::step::Pace;

/// The QP is solved to this share of the gap: beyond that, new planes are worth more.
pub(super) const ENOUGH: f64 = 0.1;

/// Planes without mass in so many rounds are dropped.
pub(super) const MOST_IDLE: u8 = 50;

/// More sweeps than this are not made between two rounds of oracles.
const MOST_SWEEPS: usize = 1000;

/// What is left to gain where rounding is all there is.
const ROUNDING: f64 = 1e-14;

/// Trains by cutting planes, n-slack.
pub(crate) fn run(run: Run<'_, '_>) -> Result<Finished, TrainError> {
    let n = run.examples();
    let cache = Cache::new(Caching::Off, n, 0.0, 0.0, u64::MAX);
    let mut planes = NSlack {
        memory: Memory::new(run.problem, &run.state.blocks, cache),
        ages: vec![Vec::new(); n],
        active: Vec::new(),
        gaps: vec![0.0; n],
    };
    run_with(run, Stage::START, |run, parts, proof| planes.round(run, parts, proof))
}

struct NSlack {
    memory: Memory,
    /// For how many rounds each plane of each example has had no mass.
    ages: Vec<Vec<u8>>,
    /// The examples that the next sweep goes over.
    active: Vec<usize>,
    /// What was left to gain in each example at its last visit.
    gaps: Vec<f64>,
}

impl NSlack {
    /// Adds the planes that oracles have found, and solves the QP over all.
    fn round(
        &mut self,
        run: &mut Run<'_, '_>,
        parts: &[Part],
        proof: &Certificate,
    ) -> Result<(), TrainError> {
        for (i, part) in parts.iter().enumerate().filter(|(_, part)| part.reading.gap > 0.0) {
            let corner = (&part.corner.parts, part.corner.loss);
            // The sweep to come evaluates it.
            self.memory.add(run.problem, i, corner, |_| 0.0);
        }
        run.totals.visits += parts.len() as u64;
        self.solve(run, proof)?;
        self.memory.refresh_all(run.problem, &mut run.state.blocks);
        for (i, ages) in self.ages.iter_mut().enumerate() {
            self.memory.age(i, ages, MOST_IDLE);
        }
        Ok(())
    }

    /// Sweeps over the examples until little is left to gain. Examples with next to nothing to gain
    /// rest until the others are done.
    fn solve(&mut self, run: &mut Run<'_, '_>, proof: &Certificate) -> Result<(), TrainError> {
        let n = run.examples();
        let target = (ENOUGH * proof.gap).max(ROUNDING * (1.0 + proof.primal.abs()));
        let little = 0.25 * target / n as f64;
        let mut whole = true;
        for _ in 0..MOST_SWEEPS {
            if whole {
                self.active.clear();
                self.active.extend(0..n);
            }
            let left = self.sweep(run)?;
            if whole && left <= target || run.limit().is_some() {
                break;
            }
            let gaps = &self.gaps;
            self.active.retain(|&i| gaps[i] > little);
            whole = left <= 0.5 * target || self.active.is_empty();
        }
        Ok(())
    }

    /// Visits all active examples once; what they had left to gain.
    fn sweep(&mut self, run: &mut Run<'_, '_>) -> Result<f64, TrainError> {
        let mut left = 0.0;
        for &i in &self.active {
            let (state, scratch) = run.state_and_scratch();
            self.memory.prepare(i, state, &mut *scratch.worker);
            let gap = self.memory.look(i, state, &*scratch.worker);
            self.gaps[i] = gap;
            left += gap;
            if gap <= 0.0 {
                continue;
            }
            let at = Place { i, state, worker: &mut *scratch.worker };
            let outcome = self.memory.step(at, Direction::Corrective, Pace::EXACT);
            let outcome = outcome.ok_or(TrainError::NotFinite { example: i })?;
            run.note_step(outcome.gamma, outcome.longest);
        }
        Ok(left)
    }
}
