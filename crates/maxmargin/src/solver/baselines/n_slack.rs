//! Cutting planes with one slack variable per example.
//!
//! A plane of example i is a corner of its block. The dual of the QP over all planes found so far is the
//! dual of the problem with all mass on these corners. So the working set is what blocks remember, and
//! [exhausting](Exhaustion) it solves the QP from its last solution.

use crate::certificate::{Answer, Certificate};
use crate::error::TrainError;
use crate::run::Run;
use crate::run::fits::{Fits, Fitting};
use crate::settings::{Caching, SettingsRecord};
use crate::solver::batch::Round;
use crate::solver::block_coordinate::active_set::ActiveSets;
use crate::solver::block_coordinate::corner_cache::Cache;
use crate::solver::block_coordinate::exhaust::Exhaustion;

/// The QP is solved to this share of the gap. Beyond that, new planes are worth more.
pub(super) const ENOUGH_OF_GAP: f64 = 0.1;

/// Planes without mass for this many rounds are dropped.
pub(super) const MOST_IDLE: u8 = 50;

/// The most sweeps between two rounds of oracles.
const MOST_SWEEPS: usize = 1000;

/// Cutting planes, n-slack.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(in crate::solver) struct NSlack {
    sets: ActiveSets,
    /// For how many rounds each plane of each example has been without mass.
    ages: Vec<Vec<u8>>,
    exhaustion: Exhaustion,
}

impl Fits for NSlack {
    fn fits(&self, to: &Fitting<'_>) -> bool {
        let is_young = |ages: &Vec<u8>| ages.iter().all(|age| *age <= MOST_IDLE);
        self.sets.fits(to)
            && to.are_of_blocks(&self.ages)
            && self.ages.iter().all(is_young)
            && self.exhaustion.fits(to)
    }
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
        self.exhaustion.begin(ENOUGH_OF_GAP * proof.gap, proof.dual, MOST_SWEEPS);
        if !self.exhaustion.go_on(run, &mut self.sets, None)? {
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
        let (cache, cache_bytes) = (Caching::Off, u64::MAX);
        let cache =
            Cache::new(&SettingsRecord { cache, cache_bytes, ..SettingsRecord::default() }, n);
        let sets = ActiveSets::new(run.problem, &run.state.blocks, cache);
        Self { sets, ages: vec![Vec::new(); n], exhaustion: Exhaustion::default() }
    }
}
