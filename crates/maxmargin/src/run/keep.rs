//! Saves a run as a checkpoint.

use super::checkpoint::{Checkpoint, signature};
use super::drive::Stage;
use super::session::Method;
use super::{Check, Run};
use crate::error::TrainError;
use crate::observe::Totals;
use std::borrow::Cow;
use std::time::Instant;

impl<'p> Run<'p, '_> {
    /// Hands a checkpoint of a run at `stage` to the sink, if there is one.
    pub(crate) fn keep(
        &mut self,
        stage: Stage<&Check>,
        method: &dyn Method<'p>,
    ) -> Result<(), TrainError> {
        let Some(mut keeper) = self.hooks.keeper.take() else { return Ok(()) };
        let begin = Instant::now();
        let (seconds, oracle_seconds) = self.seconds();
        let signature = *self.signature.get_or_insert_with(|| signature(self.problem));
        let result = keeper.keep(&Checkpoint {
            note: String::new(),
            signature,
            settings: Cow::Borrowed(&self.settings),
            stage: stage.copied(),
            w: Cow::Borrowed(self.state.sum()),
            blocks: Cow::Borrowed(&self.state.blocks),
            dual: self.state.dual,
            norm_sq: self.state.norm_sq,
            totals: Totals { seconds, oracle_seconds, ..self.totals },
            steps: self.steps,
            choice: self.choice.as_ref().map(Cow::Borrowed),
            judge: Cow::Borrowed(&self.judge),
            bound: self.bound.as_ref().map(Cow::Borrowed),
            quality: self.problem.quality(),
            estimate: self.estimate,
            method: Cow::Owned(method.save()),
        });
        self.hooks.keeper = Some(keeper);
        self.clock.leave_out_since(begin);
        result
    }

    /// Whether a checkpoint is due at the end of this pass.
    pub(crate) fn is_checkpoint_due(&self) -> bool {
        let (passes, seconds) = (self.totals.passes, self.clock.seconds());
        self.hooks.keeper.as_ref().is_some_and(|keeper| keeper.is_due(passes, seconds))
    }
}
