//! When a pass ends before all its visits, because little is left to gain, and what follows a full one.

use super::{BlockCoordinate, Mode};
use crate::run::Run;
use crate::run::drive::PassEnd;

/// Known gaps that sum to this share of the tolerance are worth an exact pass. They are a little out of
/// date, so they have to be smaller than the tolerance asks for.
const PROMISING_SHARE_OF_TOLERANCE: f64 = 0.8;

impl BlockCoordinate {
    /// Ends the pass if the gaps that the visits have seen are small enough.
    pub(super) fn end_within_pass(
        &self,
        run: &Run<'_, '_>,
        known_gap: Option<f64>,
    ) -> Option<PassEnd> {
        let tolerance = run.settings.tolerance_at(run.state.dual);
        let known_gap = known_gap?;
        if run.trusting && known_gap <= tolerance {
            return Some(PassEnd::Trusted);
        }
        // Block gaps belong to the iterate and say nothing about an average.
        let is_promising =
            self.averager.is_none() && known_gap < PROMISING_SHARE_OF_TOLERANCE * tolerance;
        is_promising.then_some(PassEnd::Early)
    }

    /// Adapts batches and stages to a full pass, and says how it has ended.
    pub(super) fn end_of_full_pass(&mut self, run: &Run<'_, '_>) -> PassEnd {
        self.batches.adapt();
        let Mode::Staged { stage, .. } = &mut self.mode else { return PassEnd::Full };
        // Plain steps reduce all gaps from pass to pass, so the known gaps tend to be too large.
        let tolerance = run.settings.tolerance_at(run.state.dual);
        let is_early = self.averager.is_none() && stage.known_gap() < tolerance;
        if stage.is_done(run.totals.passes, tolerance) {
            self.switch_to_corrective(run);
        }
        if is_early { PassEnd::Early } else { PassEnd::Full }
    }
}
