//! The one outer loop of all methods: pass, check, checkpoint, report, again.
//!
//! A method brings its passes and its checks. Limits, gap checks, validation, checkpoints, events and the
//! end of a run are the same for all methods, so every method can be watched, stopped and resumed.
//!
//! A checkpoint is made at a stage that a longer run passes through too: before the row of its pass is
//! reported, and before a check that is made only because the run ends. A limit within a pass is kept as
//! the number of visits done. So limits can be raised later without leaving a trace in the result. See
//! `docs/decisions/0003-one-outer-loop.md`.

use crate::observe::Status;

/// What the loop asks of a run.
pub(crate) trait Drive {
    /// What a gap check finds.
    type Check;
    /// The result of a run.
    type Outcome;
    /// Why a run fails.
    type Error;

    /// Makes a pass, of which `done` visits are done already.
    fn pass(&mut self, done: usize) -> Result<PassEnd, Self::Error>;

    /// Whether this was the last pass that the limits allow.
    fn is_last_pass(&self) -> bool;

    /// Whether the gap is to be checked after this pass.
    fn is_check_due(&self) -> bool;

    /// Computes the exact gap of what would be returned now. Returns `None` if that took too long after the
    /// run was asked to end.
    fn check(&mut self) -> Result<Option<Self::Check>, Self::Error>;

    /// Takes the place of [`check`](Self::check) if a checkpoint already holds its answer.
    fn recall(&mut self, check: &Self::Check) -> Result<(), Self::Error>;

    /// The status with which the run ends if `check` shows that it has reached its aim.
    fn verdict(&self, check: &Self::Check) -> Option<Status>;

    /// Whether a checkpoint is due after this pass.
    fn is_checkpoint_due(&self) -> bool;

    /// Hands a checkpoint to the caller's sink, if there is one.
    fn keep(&mut self, stage: Stage<&Self::Check>) -> Result<(), Self::Error>;

    /// Tells observers about a pass. Returns a status if the run ends with it.
    fn report(&mut self, check: Option<&Self::Check>) -> Option<Status>;

    /// Ends the run after a check that took too long, with what is known.
    fn finish_cut(self) -> Result<Self::Outcome, Self::Error>;

    /// Ends the run with what was checked last.
    fn finish(self, status: Status, check: Self::Check) -> Result<Self::Outcome, Self::Error>;
}

/// Where in its loop a run stands. `C` is what a check finds.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum Stage<C> {
    /// Within a pass, after `visits` visits. With 0 visits, the pass has not begun.
    Pass { visits: usize },
    /// After a pass that is not reported yet, with its check if one was due.
    PassDone { early: bool, check: Option<C> },
}

impl<C> Stage<C> {
    /// Where every run begins.
    pub(crate) const START: Self = Self::Pass { visits: 0 };

    fn as_ref(&self) -> Stage<&C> {
        match self {
            Self::Pass { visits } => Stage::Pass { visits: *visits },
            Self::PassDone { early, check } => {
                Stage::PassDone { early: *early, check: check.as_ref() }
            }
        }
    }
}

impl<C: Copy> Stage<&C> {
    pub(crate) fn copied(self) -> Stage<C> {
        match self {
            Self::Pass { visits } => Stage::Pass { visits },
            Self::PassDone { early, check } => Stage::PassDone { early, check: check.copied() },
        }
    }
}

/// How a pass has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PassEnd {
    /// After all its visits.
    Full,
    /// The known block gaps suggest that little is left, which only a check can confirm.
    Early,
    /// The known block gaps are within the tolerance, and the run trusts them.
    Trusted,
    /// A limit was reached after `visits` visits.
    Limit { status: Status, visits: usize },
}

/// Runs a method from `stage` to its end.
pub(crate) fn drive<D: Drive>(
    mut run: D,
    mut stage: Stage<D::Check>,
) -> Result<D::Outcome, D::Error> {
    loop {
        // One pass, or the rest of it.
        let (early, known) = match stage {
            Stage::PassDone { early, check } => (early, check),
            Stage::Pass { visits } => match run.pass(visits)? {
                PassEnd::Full => (false, None),
                PassEnd::Early => (true, None),
                PassEnd::Trusted => {
                    let done = Stage::PassDone { early: false, check: None };
                    return end(run, Status::Estimated, done);
                }
                PassEnd::Limit { status, visits } => {
                    return end(run, status, Stage::Pass { visits });
                }
            },
        };

        // The exact gap, if it is due or the run ends here. A longer run would go on without a check that
        // is made only because this run ends, so the checkpoint for it comes first.
        let (last, due) = (run.is_last_pass(), early || run.is_check_due());
        let mut kept = last && !due;
        if kept {
            run.keep(Stage::PassDone { early, check: None })?;
        }
        let check = match known {
            _ if !last && !due => None,
            Some(check) => {
                run.recall(&check)?;
                Some(check)
            }
            None => match run.check()? {
                None => {
                    // A resumed run begins with this check.
                    if !kept {
                        run.keep(Stage::PassDone { early, check: None })?;
                    }
                    return run.finish_cut();
                }
                found => found,
            },
        };

        // A checkpoint, if it is due or the run ends here.
        let ends = last || check.as_ref().is_some_and(|check| run.verdict(check).is_some());
        if !kept && (ends || run.is_checkpoint_due()) {
            run.keep(Stage::PassDone { early, check: check.as_ref() })?;
            kept = true;
        }

        // The report. An observer may answer that the run is to stop.
        let ended = run.report(check.as_ref()).or(last.then_some(Status::MaxPasses));
        stage = Stage::START;
        match (ended, check) {
            (None, _) => {}
            (Some(status), None) => return end(run, status, stage),
            (Some(status), Some(check)) => {
                if !kept {
                    run.keep(Stage::START)?;
                }
                return run.finish(status, check);
            }
        }
    }
}

/// Ends a run at `stage`, where its gap is not known yet.
fn end<D: Drive>(
    mut run: D,
    status: Status,
    stage: Stage<D::Check>,
) -> Result<D::Outcome, D::Error> {
    run.keep(stage.as_ref())?;
    let Some(check) = run.check()? else { return run.finish_cut() };
    run.report(Some(&check));
    run.finish(status, check)
}
