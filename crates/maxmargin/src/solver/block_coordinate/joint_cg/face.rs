//! Conjugate gradients on a face: the masses of corners that stay the same.

use std::ops::Range;

/// A block with several corners that carry mass. There may be one for every example, so it takes little memory.
#[derive(Debug, Clone)]
pub(super) struct FaceBlock {
    pub(super) i: u32,
    /// The number of its corners, which come after those of the block before.
    pub(super) corners: u32,
    /// The curvature of the dual in each of its masses.
    pub(super) curvature: f64,
}

/// The same, with the places of its corners.
pub(super) struct Face {
    pub(super) i: usize,
    pub(super) corners: Range<usize>,
    pub(super) curvature: f64,
}

/// The blocks of the face in order.
pub(super) fn faces(blocks: &[FaceBlock]) -> impl Iterator<Item = Face> + '_ {
    faces_from(blocks, 0)
}

/// The same for blocks whose first corner has this place.
pub(super) fn faces_from(blocks: &[FaceBlock], start: usize) -> impl Iterator<Item = Face> + '_ {
    blocks.iter().scan(start, |end, block| {
        let start = *end;
        *end += block.corners as usize;
        Some(Face { i: block.i as usize, corners: start..*end, curvature: block.curvature })
    })
}

/// Vectors over all corners of the face.
#[derive(Debug, Clone, Default)]
pub(super) struct ConjugateGradients {
    /// The way gone so far.
    pub(super) way: Vec<f64>,
    /// The slopes at its end, along the face.
    pub(super) residual: Vec<f64>,
    pub(super) direction: Vec<f64>,
    /// The squared length of the residual, every block scaled by its curvature.
    pub(super) squares: f64,
    /// How far the last step has gone in the direction.
    pub(super) step: f64,
}

impl ConjugateGradients {
    /// Starts where the residual has the slopes.
    pub(super) fn start(&mut self, blocks: &[FaceBlock]) {
        for vector in [&mut self.way, &mut self.direction] {
            vector.clear();
            vector.reserve_exact(self.residual.len());
        }
        self.way.resize(self.residual.len(), 0.0);
        for Face { corners, curvature, .. } in faces(blocks) {
            self.direction.extend(self.residual[corners].iter().map(|r| r / curvature));
        }
        self.squares = dot(&self.residual, &self.direction);
    }

    /// Goes along the direction, in which the dual has this curvature, as far as the dual rises. If that surely leads
    /// out of the blocks, goes only until some mass has changed by 1, and returns false to end the rounds. (Along a
    /// direction without curvature the dual may rise forever.)
    pub(super) fn advance(&mut self, curvature: f64) -> bool {
        let largest = |x: &[f64]| x.iter().fold(0.0f64, |most, x| most.max(x.abs()));
        let longest = (1.0 - largest(&self.way)) / largest(&self.direction);
        self.step = (self.squares / curvature).min(longest);
        let moves = self.way.iter_mut().zip(&self.direction);
        moves.for_each(|(way, direction)| *way += self.step * direction);
        self.step < longest
    }

    /// Turns to the next direction, where the slopes have these squares. Every block is scaled by its own curvature.
    pub(super) fn turn(&mut self, squares: f64, blocks: &[FaceBlock]) {
        let turn = squares / self.squares;
        self.squares = squares;
        for Face { corners, curvature, .. } in faces(blocks) {
            for at in corners {
                self.direction[at] = self.residual[at] / curvature + turn * self.direction[at];
            }
        }
    }

    /// The gap within the face at the end of the way: the most that the dual could still gain there, if
    /// that end lies in the blocks.
    pub(super) fn gap(&self, masses: &[f64], blocks: &[FaceBlock]) -> f64 {
        let block_gap = |Face { corners, .. }: Face| {
            let (mut most, mut own) = (f64::NEG_INFINITY, 0.0);
            for at in corners {
                most = most.max(self.residual[at]);
                own += self.residual[at] * (masses[at] + self.way[at]);
            }
            most - own
        };
        faces(blocks).map(block_gap).sum()
    }
}

/// Subtracts from each block its mean, so that masses keep summing to one.
pub(super) fn along_face(x: &mut [f64], blocks: &[FaceBlock]) {
    faces(blocks).for_each(|Face { corners, .. }| center(&mut x[corners]));
}

/// Subtracts the mean.
pub(super) fn center(x: &mut [f64]) {
    let mean = x.iter().sum::<f64>() / x.len() as f64;
    x.iter_mut().for_each(|x| *x -= mean);
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
