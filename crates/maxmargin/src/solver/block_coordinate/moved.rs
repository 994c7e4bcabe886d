//! Blocks that something else has moved: a shard whose proposal was taken in part, or not at all.

use super::joint_cg::JointCg;
use super::{BlockCoordinate, Mode};
use crate::dual::Block;
use crate::run::Run;

impl BlockCoordinate {
    /// Writes the points that the visits have reached into the blocks of the state.
    pub(crate) fn write_blocks(&mut self, run: &mut Run<'_, '_>) {
        if let Mode::Remembering(sets) | Mode::Staged { sets, .. } = &mut self.mode {
            sets.refresh_all(run.problem, &mut run.state.blocks);
        }
    }

    /// Goes on from other `points`, after the blocks have been [written](Self::write_blocks). All are mixtures of
    /// points that the blocks had at such moments. `least` is kept from call to call.
    pub(crate) fn go_on_from(
        &mut self,
        run: &mut Run<'_, '_>,
        points: &[Block],
        least: &mut Vec<f64>,
    ) {
        if let Mode::Staged { stage, .. } = &mut self.mode {
            stage.mix(least);
        }
        let mut moved = false;
        for (i, (block, point)) in run.state.blocks.iter_mut().zip(points).enumerate() {
            if block == point {
                continue;
            }
            block.clone_from(point);
            moved = true;
            if let Mode::Remembering(sets) = &mut self.mode {
                sets.take_over(run.problem, i, point);
            }
        }
        if let Mode::Simplices(Some(joint)) = &mut self.mode
            && moved
        {
            *joint = JointCg::default();
        }
    }

    /// Learns the gaps of all blocks from an exact pass.
    pub(crate) fn note_gaps(&mut self, gaps: &[f64]) {
        self.picker.refresh(gaps.iter().copied());
        if let Mode::Remembering(sets) | Mode::Staged { sets, .. } = &mut self.mode {
            sets.cache.note_exact(gaps.iter().copied());
        }
    }

    /// The gap of all blocks together as far as the visits know it.
    pub(crate) fn known_gap(&self) -> Option<f64> {
        match &self.mode {
            Mode::Staged { stage, .. } => Some(stage.known_gap()),
            _ => self.picker.known_gap(),
        }
    }
}
