//! A run together with its method, as the outer loop sees them.

use super::bytes::{Saved, from_bytes};
use super::drive::{Drive, PassEnd, Stage, drive};
use super::fits::{Fits, Fitting};
use super::{Check, Finished, Run};
use crate::dual::DualState;
use crate::error::TrainError;
use crate::observe::Status;

/// A training method: what it does in a pass, and what it would return.
pub(crate) trait Method<'p> {
    /// Makes a pass, of which `done` visits are done already.
    fn pass(&mut self, run: &mut Run<'p, '_>, done: usize) -> Result<PassEnd, TrainError>;

    /// The exact gap of what would be returned now, together with that result unless it is the run's own
    /// state. Returns `None` if the exact pass was cut, from which the method then learns nothing.
    fn check(&mut self, run: &mut Run<'p, '_>) -> Result<Option<Checked<'p>>, TrainError>;

    /// What would be returned now, as [`check`](Self::check) finds it. Returns `None` if that is the
    /// run's own state.
    fn result(&mut self, run: &mut Run<'p, '_>) -> Result<Option<DualState<'p>>, TrainError>;

    /// Whether every pass computes the exact gap anyway.
    fn knows_gap(&self) -> bool {
        false
    }

    /// Everything that the next pass needs besides the state of the run, as bytes.
    fn save(&self) -> Vec<u8>;
}

/// An exact check, and the state that was checked unless it is the run's own.
pub(crate) type Checked<'p> = (Check, Option<DualState<'p>>);

/// The state of a method as [`to_bytes`](super::bytes::to_bytes) has written it.
pub(crate) fn restored<T: Saved + Fits>(run: &Run<'_, '_>, bytes: &[u8]) -> Result<T, TrainError> {
    let refused = |why: &str| TrainError::Resume { why: why.to_owned() };
    let state: T = from_bytes(bytes).ok_or_else(|| refused("it is of another method"))?;
    match state.fits(&Fitting::of(run)) {
        true => Ok(state),
        false => Err(refused("the state of its method does not fit the problem")),
    }
}

/// Trains by `method`, from `stage` on.
pub(crate) fn run_method<'p>(
    run: Run<'p, '_>,
    method: Box<dyn Method<'p> + 'p>,
    stage: Stage<Check>,
) -> Result<Finished, TrainError> {
    drive(Session { run, method, result: None }, stage)
}

struct Session<'p, 'o> {
    run: Run<'p, 'o>,
    method: Box<dyn Method<'p> + 'p>,
    /// The state that was checked last, unless it is the run's own.
    result: Option<DualState<'p>>,
}

impl Drive for Session<'_, '_> {
    type Check = Check;
    type Outcome = Finished;
    type Error = TrainError;

    fn pass(&mut self, done: usize) -> Result<PassEnd, TrainError> {
        self.method.pass(&mut self.run, done)
    }

    fn is_last_pass(&self) -> bool {
        self.run.totals.passes >= self.run.settings.max_passes
    }

    fn is_check_due(&self) -> bool {
        let every = self.run.settings.gap_every;
        self.method.knows_gap() || self.run.totals.passes.is_multiple_of(every)
    }

    fn check(&mut self) -> Result<Option<Check>, TrainError> {
        let before = self.run.totals;
        let Some((check, result)) = self.method.check(&mut self.run)? else {
            self.run.set_totals_back(before);
            return Ok(None);
        };
        self.result = result;
        self.run.validate(check, self.result.as_ref()).map(Some)
    }

    fn recall(&mut self, _: &Check) -> Result<(), TrainError> {
        self.result = self.method.result(&mut self.run)?;
        Ok(())
    }

    fn verdict(&self, check: &Check) -> Option<Status> {
        self.run.verdict(Some(check))
    }

    fn is_checkpoint_due(&self) -> bool {
        self.run.is_checkpoint_due()
    }

    fn keep(&mut self, stage: Stage<&Check>) -> Result<(), TrainError> {
        self.run.keep(stage, &*self.method)
    }

    fn report(&mut self, check: Option<&Check>) -> Option<Status> {
        self.run.end_pass(check)
    }

    fn finish_cut(mut self) -> Result<Finished, TrainError> {
        let result = self.method.result(&mut self.run)?;
        self.run.finish_cut(result)
    }

    fn finish(self, status: Status, check: Check) -> Result<Finished, TrainError> {
        self.run.finish(status, check, self.result)
    }
}
