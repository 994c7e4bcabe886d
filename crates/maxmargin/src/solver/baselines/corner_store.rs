//! The corners of one example that planes use, each stored once.

use crate::certificate::is_point;
use crate::dual::{Block, PackedVec};
use crate::problem::Worker;
use crate::problem::sparse::SparseVec;
use crate::run::fits::Fitting;

/// Corners with the number of planes that use them. The places of unused corners are reused.
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct CornerStore {
    corners: Vec<Block>,
    users: Vec<u32>,
}

impl CornerStore {
    /// Whether it holds points of block `i`, used as often as the planes whose corners are `used` say.
    pub(super) fn fits(&self, i: usize, to: &Fitting<'_>, used: impl Iterator<Item = u32>) -> bool {
        let mut users = vec![0u32; self.corners.len()];
        for corner in used {
            let Some(users) = users.get_mut(corner as usize) else { return false };
            *users += 1;
        }
        let is_sound =
            |(corner, users): (&Block, &u32)| *users == 0 || is_point(to.problem, i, corner);
        users == self.users && self.corners.iter().zip(&users).all(is_sound)
    }

    /// The place of a corner, which gets one more user.
    pub(super) fn take(&mut self, parts: &SparseVec, loss: f64) -> u32 {
        let parts = PackedVec::from(parts);
        let is_it = |(corner, users): (&Block, &u32)| {
            *users > 0 && corner.loss == loss && corner.parts == parts
        };
        let known = self.corners.iter().zip(&self.users).position(is_it);
        let at = known.or_else(|| self.users.iter().position(|users| *users == 0));
        let at = at.unwrap_or_else(|| {
            self.corners.push(Block::default());
            self.users.push(0);
            self.users.len() - 1
        });
        if known.is_none() {
            self.corners[at] = Block { parts, loss };
        }
        self.users[at] += 1;
        at as u32
    }

    /// Adds a user to a stored corner.
    pub(super) fn take_again(&mut self, at: u32) {
        self.users[at as usize] += 1;
    }

    /// Removes a user.
    pub(super) fn release(&mut self, at: u32) {
        self.users[at as usize] -= 1;
    }

    pub(super) fn get(&self, at: u32) -> &Block {
        &self.corners[at as usize]
    }

    /// Number of corners in use, and the bytes they take.
    pub(super) fn size(&self) -> (u64, u64) {
        let used = self.corners.iter().zip(&self.users).filter(|(_, users)| **users > 0);
        used.fold((0, 0), |(count, bytes), (corner, _)| {
            let own = size_of::<Block>() + corner.parts.heap_bytes();
            (count + 1, bytes + own as u64)
        })
    }

    /// The corner with the largest L + ⟨w, Bp⟩, and that value, for a prepared worker. `parts` is scratch memory.
    pub(super) fn best(
        &self,
        i: usize,
        w: &[f64],
        worker: &dyn Worker,
        parts: &mut SparseVec,
    ) -> (u32, f64) {
        let mut best = (0, f64::NEG_INFINITY);
        for (at, corner) in (0..).zip(&self.corners).filter(|(at, _)| self.users[*at as usize] > 0)
        {
            corner.parts.unpack(parts);
            let value = corner.loss + worker.score(i, w, parts);
            if value > best.1 {
                best = (at, value);
            }
        }
        best
    }
}
