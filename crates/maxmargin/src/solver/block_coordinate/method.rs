//! How a run of the block-coordinate method begins, goes on from a checkpoint and is checked: what the outer loop asks of
//! every [`Method`].

use super::accuracies::Accuracies;
use super::average::Averager;
use super::batches::Batches;
use super::gap_steps::GapSteps;
use super::memory_rounds::MemoryRounds;
use super::order::Picker;
use super::{BlockCoordinate, Mode};
use crate::dual::{DualPoint, DualState, has_own_length};
use crate::error::TrainError;
use crate::observe::Status;
use crate::run::bytes::to_bytes;
use crate::run::drive::PassEnd;
use crate::run::fits::{Fits, Fitting};
use crate::run::session::{Checked, Method, restored};
use crate::run::{Check, Run};
use crate::settings::{Average, Solver};
use crate::util::rng::Rng;

impl BlockCoordinate {
    pub(crate) fn new(run: &Run<'_, '_>) -> Self {
        let (s, n, problem) = (&run.settings, run.examples(), run.problem);
        let mode = Mode::new(run);
        let mut picker = Picker::new(mode.order(s.order), n, s.gap_power);
        // The order knows the block gaps already if the run has them from elsewhere.
        if let Some(gaps) = &run.block_gaps {
            picker.refresh(gaps.iter().copied());
        }
        Self {
            picker,
            rng: Rng::new(s.seed),
            averager: (s.average != Average::None).then(|| Averager::new(n, s.average)),
            mode,
            batches: Batches::new(s.batch_size(), has_own_length(problem)),
            memory: MemoryRounds::new(s, problem),
            accuracies: Accuracies::new(s, n),
            gap_steps: s.gap_steps.then(GapSteps::default),
        }
    }

    pub(crate) fn resume(run: &Run<'_, '_>, saved: &[u8]) -> Result<Self, TrainError> {
        restored(run, saved)
    }
}

impl Fits for BlockCoordinate {
    fn fits(&self, to: &Fitting<'_>) -> bool {
        self.mode.fits(to)
            && self.averager.as_ref().is_none_or(|averager| averager.fits(to))
            && self.picker.fits(to.n)
            && self.batches.fits(to)
            && self.memory.fits(to)
            && self.accuracies.fits(to)
    }
}

impl<'p> Method<'p> for BlockCoordinate {
    fn pass(&mut self, run: &mut Run<'p, '_>, done: usize) -> Result<PassEnd, TrainError> {
        // The next check reads all blocks again.
        run.readings = Default::default();
        if let Some(steps) = &mut self.gap_steps
            && !steps.take(run)?
        {
            let status = run.limit().unwrap_or(Status::Interrupted);
            return Ok(PassEnd::Limit { status, visits: done });
        }
        let (dual, begin) = (run.state.dual, run.seconds().0);
        let end = self.visit_blocks(run, done)?;
        if matches!(end, PassEnd::Limit { .. }) {
            return Ok(end);
        }
        if let Mode::Remembering(sets) = &mut self.mode {
            let (gained, now) = (run.state.dual - dual, run.seconds().0);
            sets.cache.choose_turn(gained / (now - begin).max(f64::MIN_POSITIVE));
        }
        if end == PassEnd::Trusted {
            run.trust(self.picker.known_gaps().unwrap_or_default());
        } else if run.settings.solver == Solver::Auto && run.choice.is_none() {
            self.decide_auto(run);
        } else if self.batches.wait() {
            self.batches.begin(false);
        }
        Ok(end)
    }

    fn check(&mut self, run: &mut Run<'p, '_>) -> Result<Option<Checked<'p>>, TrainError> {
        if self.averager.is_none() {
            return Ok(self.check_iterate(run)?.map(|check| (check, None)));
        }
        // The order and the cache want the gaps of the iterate, too.
        let drift = if self.picker.follows_gaps() || self.mode.sets().is_some() {
            let Some(check) = self.check_iterate(run)? else {
                run.forget_readings();
                return Ok(None);
            };
            check.drift
        } else {
            let drift = run.rebuild();
            run.note_bound();
            Some(drift)
        };
        let checked = run.check_other(self.average(run), None)?;
        Ok(checked.map(|(check, average)| (Check { drift, ..check }, Some(average))))
    }

    fn result(&mut self, run: &mut Run<'p, '_>) -> Result<Option<DualState<'p>>, TrainError> {
        Ok(self.averager.is_some().then(|| run.state_at(self.average(run))))
    }

    fn save(&self) -> Vec<u8> {
        to_bytes(self)
    }
}

impl BlockCoordinate {
    /// The average of the iterates, or the iterate itself without averaging.
    fn average(&self, run: &Run<'_, '_>) -> DualPoint {
        let blocks = &run.state.blocks;
        match &self.averager {
            Some(averager) => averager.point(run.totals.visits, blocks),
            None => DualPoint { blocks: blocks.clone() },
        }
    }

    /// The exact gap of the iterate. The order and the cache learn the block gaps from it (2016, Alg. 2, lines 14 to 21).
    fn check_iterate(&mut self, run: &mut Run<'_, '_>) -> Result<Option<Check>, TrainError> {
        self.write_blocks(run);
        run.estimate(self.picker.known_gap());
        run.keeps_corners = self.uses_exact_corners();
        let Some(check) = run.check()? else { return Ok(None) };
        self.note_gaps(run.readings.gaps());
        if let Some(steps) = &mut self.gap_steps {
            steps.note_pass();
        }
        self.learn_exact_corners(run);
        if let (Mode::Remembering(sets), true) = (&mut self.mode, run.settings.diagnose) {
            run.pairwise_gap = Some(check.certificate.gap + sets.away_gap(run));
        }
        Ok(Some(check))
    }
}
