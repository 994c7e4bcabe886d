//! Blocks that something other than a visit has moved: the blocks of a shard whose proposal was taken in part, or not
//! at all.

use super::joint_cg::JointCg;
use super::{BlockCoordinate, Mode};
use crate::dual::Block;
use crate::run::Run;

impl BlockCoordinate {
    /// Writes the points that the visits have reached into the blocks of the state.
    pub(crate) fn write_blocks(&mut self, run: &mut Run<'_, '_>) {
        if let Some(sets) = self.mode.sets() {
            sets.refresh_all(run.problem, &mut run.state.blocks);
        }
    }

    /// Goes on from other `points`, after the blocks have been [written](Self::write_blocks).
    pub(crate) fn go_on_from(&mut self, run: &mut Run<'_, '_>, points: &[Block]) {
        let mut moved = false;
        for (i, (block, point)) in run.state.blocks.iter_mut().zip(points).enumerate() {
            if block == point {
                continue;
            }
            block.clone_from(point);
            moved = true;
            match &mut self.mode {
                Mode::Remembering(sets) => sets.take_over(run.problem, i, point),
                Mode::Staged { stage, .. } => stage.keep(i, 0.0),
                Mode::Plain | Mode::Simplices(_) => {}
            }
        }
        if let Mode::Simplices(Some(joint)) = &mut self.mode
            && moved
        {
            *joint = JointCg::default();
        }
    }

    /// Moves block `i` to `point`, which is a mixture of its present point, with the share `kept`, and of the point
    /// `rest`. Remembered corners keep the share `kept` of their mass.
    pub(crate) fn mix(
        &mut self,
        run: &mut Run<'_, '_>,
        i: usize,
        kept: f64,
        (rest, point): (&Block, &Block),
    ) {
        match &mut self.mode {
            Mode::Remembering(sets) => sets.mix(run.problem, i, kept, rest),
            Mode::Staged { stage, .. } => stage.keep(i, kept),
            Mode::Plain | Mode::Simplices(_) => {}
        }
        run.state.blocks[i].clone_from(point);
    }

    /// Learns the gaps of all blocks from an exact pass.
    pub(crate) fn note_gaps(&mut self, gaps: &[f64]) {
        self.picker.refresh(gaps.iter().copied());
        if let Some(sets) = self.mode.sets() {
            sets.cache.note_exact(gaps.iter().copied());
        }
    }
}
