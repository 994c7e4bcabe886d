//! Pieces of the face, on which threads work side by side.
//!
//! How the face is cut follows from its corners alone, and what the pieces find is added up in their order. So the
//! outcome does not depend on the number of threads.

use super::face::{Face, FaceBlock, faces_from};
use crate::solver::block_coordinate::active_set::WORTHWHILE_WORK;
use std::ops::Range;

/// The most pieces. More of them do not help.
const MOST_PIECES: usize = 64;

/// The change of w is summed up in at most this many parts. Each part takes as much memory as w.
const MOST_SUMS: usize = 16;

/// If there are several parts, each has to make at least this many additions for every weight of w.
const WORK_OF_SUM: usize = 8;

/// Blocks of the face that follow each other, and their corners.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Piece {
    blocks: Range<usize>,
    pub(super) corners: Range<usize>,
}

impl Piece {
    /// Its blocks in groups of at most `most`, with the place of the first corner of each group.
    pub(super) fn groups<'a>(
        &self,
        blocks: &'a [FaceBlock],
        most: usize,
    ) -> impl Iterator<Item = (usize, &'a [FaceBlock])> + use<'a> {
        blocks[self.blocks.clone()].chunks(most).scan(self.corners.start, |next, group| {
            let start = *next;
            *next += group.iter().map(|block| block.corners as usize).sum::<usize>();
            Some((start, group))
        })
    }

    /// Its blocks with the places of their corners.
    pub(super) fn faces<'a>(
        &self,
        blocks: &'a [FaceBlock],
    ) -> impl Iterator<Item = Face> + use<'a> {
        faces_from(&blocks[self.blocks.clone()], self.corners.start)
    }
}

/// Cuts the face into pieces, where a look at a corner takes `cost` additions.
pub(super) fn cut(blocks: &[FaceBlock], cost: usize) -> Vec<Piece> {
    let all: usize = blocks.iter().map(|block| block.corners as usize).sum();
    let enough = (WORTHWHILE_WORK / cost.max(1)).max(all / MOST_PIECES).max(1);
    let mut pieces = Vec::new();
    let mut next = Piece { blocks: 0..0, corners: 0..0 };
    for block in blocks {
        next.blocks.end += 1;
        next.corners.end += block.corners as usize;
        if next.corners.len() >= enough {
            let (blocks, corners) = (next.blocks.end, next.corners.end);
            pieces.push(next);
            next = Piece { blocks: blocks..blocks, corners: corners..corners };
        }
    }
    if !next.blocks.is_empty() {
        pieces.push(next);
    }
    pieces
}

/// The number of parts in which the change of `d` weights is summed up.
pub(super) fn sums(pieces: usize, corners: usize, cost: usize, d: usize) -> usize {
    let that_pay = corners.saturating_mul(cost) / (WORK_OF_SUM * d.max(1));
    pieces.min(that_pay).clamp(1, MOST_SUMS)
}

/// Every piece with its own part of a vector over all corners, and with a sum that begins at 0.
pub(super) fn share_out<'a>(
    pieces: &'a [Piece],
    mut rest: &'a mut [f64],
) -> Vec<(&'a Piece, &'a mut [f64], f64)> {
    let own = pieces.iter().map(|piece| {
        let (own, others) = std::mem::take(&mut rest).split_at_mut(piece.corners.len());
        rest = others;
        (piece, own, 0.0)
    });
    own.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Every block and every corner belongs to one piece, in order.
        #[test]
        fn pieces_cover_the_face(
            corners in proptest::collection::vec(2u32..40, 0..400),
            cost in 0usize..100_000,
            most in 1usize..9,
        ) {
            let block = |(i, corners)| FaceBlock { i, corners, curvature: 1.0 };
            let blocks: Vec<FaceBlock> = (0..).zip(corners).map(block).collect();
            let pieces = cut(&blocks, cost);
            prop_assert!(pieces.len() <= MOST_PIECES + 1);
            let whole: Vec<(usize, Range<usize>)> =
                faces_from(&blocks, 0).map(|face| (face.i, face.corners)).collect();
            let faces = pieces.iter().flat_map(|piece| piece.faces(&blocks));
            let found: Vec<_> = faces.map(|face| (face.i, face.corners)).collect();
            prop_assert_eq!(&found, &whole);
            let groups = pieces.iter().flat_map(|piece| piece.groups(&blocks, most));
            let faces = groups.flat_map(|(start, group)| faces_from(group, start));
            let found: Vec<_> = faces.map(|face| (face.i, face.corners)).collect();
            prop_assert_eq!(&found, &whole);
            let mut places: Vec<f64> = (0..).take(whole.last().map_or(0, |last| last.1.end)).map(f64::from).collect();
            for (piece, own, _) in share_out(&pieces, &mut places) {
                prop_assert_eq!(own.len(), piece.corners.len());
                prop_assert_eq!(own[0], piece.corners.start as f64);
            }
        }
    }

    #[test]
    fn a_small_face_is_one_piece_and_long_weights_have_one_sum() {
        let block = |i| FaceBlock { i, corners: 3, curvature: 1.0 };
        let blocks: Vec<FaceBlock> = (0..1000).map(block).collect();
        assert_eq!(cut(&blocks[..100], 5).len(), 1);
        assert_eq!(cut(&blocks, 100).len(), 10);
        assert_eq!(cut(&[], 100), []);
        assert_eq!(sums(10, 3000, 100, 100), 10);
        assert_eq!(sums(10, 3000, 100, 1 << 20), 1);
    }
}
