//! In which direction a visited block moves.

use crate::dual::Block;
use crate::names::named_enum;
use crate::sparse::SparseVec;

named_enum! {
    /// The direction of a step. All but `fw` have every block remember the corners that carry its
    /// mass.
    ///
    /// ```
    /// use maxmargin::Direction;
    ///
    /// assert_eq!("pairwise".parse::<Direction>()?, Direction::Pairwise);
    /// assert_eq!(Direction::default().to_string(), "fw");
    /// # Ok::<(), maxmargin::UnknownName>(())
    /// ```
    #[derive(Default)]
    Direction("direction") {
        /// From the block's point towards the corner that the oracle found.
        #[default]
        FrankWolfe = "fw",
        /// From the worst corner that carries mass towards the best: moves mass between two corners
        /// only.
        Pairwise = "pairwise",
        /// Away from the worst corner that carries mass, where that promises more than a step
        /// towards the best; else as `fw`.
        Away = "away",
        /// Whichever of the three gains most.
        Best = "best",
        /// Shifts mass between all corners the block remembers until little is left to gain, so that
        /// each oracle call is used to the full. Where blocks are [simplices](crate::Simplices), a
        /// block goes straight to its best point instead, and after each sweep all blocks move
        /// together, by conjugate gradients over the corners that carry mass.
        Corrective = "corrective",
        /// Steps as `fw` while they are good for coarse work, and `corrective` from then on, from the
        /// point that the first steps have come to. Where blocks are simplices, `corrective` from the
        /// start.
        Staged = "staged",
    }
}

/// A point of a block at which the oracle's maximum is taken.
#[derive(Debug, Clone, Default)]
pub(crate) struct Corner {
    pub(crate) parts: SparseVec,
    pub(crate) loss: f64,
}

/// A direction in which a block can move.
#[derive(Debug, Clone, Default)]
pub(crate) struct Move {
    /// Change of the block's part vector for a step of length 1.
    pub(crate) parts: SparseVec,
    /// Change of its loss for a step of length 1.
    pub(crate) loss: f64,
    /// The longest step that stays in the block.
    pub(crate) longest: f64,
    /// Whether a step of length 1 ends at the corner.
    pub(crate) ends_at_corner: bool,
}

impl Move {
    /// Becomes the move that changes nothing.
    pub(crate) fn stay(&mut self) {
        self.parts.clear();
        self.loss = 0.0;
        self.ends_at_corner = false;
    }

    /// Becomes the move of `block` towards `corner`.
    pub(crate) fn go_to(&mut self, block: &Block, corner: &Corner) {
        self.parts.assign_difference(&corner.parts, &block.parts);
        self.loss = corner.loss - block.loss;
        self.longest = 1.0;
        self.ends_at_corner = true;
    }
}
