//! The blocks that an order has yet to visit for the first time.

use super::are_blocks;
use crate::util::rng::Rng;

/// Blocks of which nothing is known yet, in random order. The last of them is visited next.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Unvisited {
    blocks: Vec<u32>,
    is_shuffled: bool,
}

impl Unvisited {
    /// All of `n` blocks.
    pub(super) fn all(n: usize) -> Self {
        Self { blocks: (0..n as u32).collect(), is_shuffled: false }
    }

    /// Takes the next block.
    pub(super) fn next(&mut self, rng: &mut Rng) -> Option<usize> {
        if !self.is_shuffled {
            rng.shuffle(&mut self.blocks);
            self.is_shuffled = true;
        }
        self.blocks.pop().map(|i| i as usize)
    }

    pub(super) fn peek(&self) -> Option<u32> {
        self.blocks.last().copied()
    }

    pub(super) fn blocks(&self) -> &[u32] {
        &self.blocks
    }

    /// Lets a block wait for a visit again.
    pub(super) fn push(&mut self, i: usize) {
        self.blocks.push(i as u32);
    }

    /// Forgets all blocks, because they are known from elsewhere.
    pub(super) fn clear(&mut self) {
        self.blocks.clear();
        self.is_shuffled = true;
    }

    pub(super) fn fits(&self, n: usize) -> bool {
        are_blocks(&self.blocks, n)
    }
}
