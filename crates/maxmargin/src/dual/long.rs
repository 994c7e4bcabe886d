//! Blocks of examples so large that lists of their parts would take more memory than everything else.
//!
//! A sequence of a million tokens has two million parts, of sixteen bytes each in a list. A step would need four such lists: the
//! point, the corner, the way between them, and the new point. Here the point stays packed, the corner and the truth are written
//! [piece by piece](crate::Parts::piece), and what is needed of the way is added up over its pieces.

use super::packed::{PackedVec, PackedWriter};
use super::point::Block;
use super::state::DualState;
use super::step::{Pace, Stride};
use super::workers::Scratch;
use crate::problem::{Blocks, SparseVec, Target};
use crate::util::rounding::ROUNDING;

/// Where a move of a long block leads to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum End {
    /// To the output that the oracle has found last.
    Output,
    Truth,
}

/// A move of a long block towards an end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LongMove {
    pub(crate) end: End,
    /// The loss there.
    pub(crate) loss: f64,
    /// The slope of the dual on the way.
    pub(crate) slope: f64,
}

/// Writes a piece of an end of block `i`.
fn write_end(
    problem: &dyn Blocks,
    scratch: &Scratch<'_>,
    (i, end, piece): (usize, End, usize),
    parts: &mut SparseVec,
) {
    match end {
        End::Output => scratch.worker.describe_piece(i, piece, parts),
        End::Truth => problem.truth_piece(i, piece, parts),
    }
}

/// The pieces of the way from a point to an end: each has what the point and the end have between two coordinates.
struct Pieces<'a, I: Iterator<Item = (u64, f64)>> {
    point: std::iter::Peekable<I>,
    write: &'a dyn Fn(usize, &mut SparseVec),
    pieces: usize,
    /// The number of the piece in `to`.
    at: usize,
    from: SparseVec,
    to: SparseVec,
    /// The piece of the end after that.
    next: SparseVec,
    way: SparseVec,
}

impl<'a, I: Iterator<Item = (u64, f64)>> Pieces<'a, I> {
    fn new(point: I, pieces: usize, write: &'a dyn Fn(usize, &mut SparseVec)) -> Self {
        let [from, to, next, way] = [(); 4].map(|()| SparseVec::new());
        let mut own = Self { point: point.peekable(), write, pieces, at: 0, from, to, next, way };
        write(0, &mut own.next);
        own
    }

    /// Goes on to the next piece, unless there is none.
    fn advance(&mut self) -> bool {
        if self.at == self.pieces {
            return false;
        }
        self.at += 1;
        std::mem::swap(&mut self.to, &mut self.next);
        self.next.clear();
        if self.at < self.pieces {
            (self.write)(self.at, &mut self.next);
        }
        let bound = self.next.entries().first().map_or(u64::MAX, |entry| entry.0);
        let is_last = self.at == self.pieces;
        self.from.clear();
        while let Some((id, mass)) = self.point.next_if(|entry| is_last || entry.0 < bound) {
            self.from.push(id, mass);
        }
        self.way.assign_difference(&self.to, &self.from);
        true
    }
}

/// Adds up something over the pieces of the way from `point` to an end of block `i`.
fn sum_over_way(
    problem: &dyn Blocks,
    point: &PackedVec,
    scratch: &Scratch<'_>,
    (i, end): (usize, End),
    mut term: impl FnMut(&SparseVec) -> f64,
) -> f64 {
    let write = |piece: usize, parts: &mut SparseVec| {
        write_end(problem, scratch, (i, end, piece), parts);
    };
    let mut pieces = Pieces::new(point.iter(), problem.pieces(i), &write);
    let mut total = 0.0;
    while pieces.advance() {
        total += term(&pieces.way);
    }
    total
}

/// The value of the output found last and the slope towards it, as an exact pass reads them: the score of the output
/// relative to the truth, and relative to the point of the block.
pub(crate) fn hinge_of_long(
    problem: &dyn Blocks,
    block: &Block,
    w: &[f64],
    i: usize,
    scratch: &Scratch<'_>,
) -> (f64, f64) {
    let (mut found, mut truth, mut way) = Default::default();
    let mut above_truth = 0.0;
    for piece in 0..problem.pieces(i) {
        scratch.worker.describe_piece(i, piece, &mut found);
        problem.truth_piece(i, piece, &mut truth);
        SparseVec::assign_difference(&mut way, &found, &truth);
        above_truth += scratch.worker.score(i, w, &way);
    }
    let score = |way: &SparseVec| scratch.worker.score(i, w, way);
    (above_truth, sum_over_way(problem, &block.parts, scratch, (i, End::Output), score))
}

impl DualState<'_> {
    /// The move of long block `i` to an end with this loss. The worker must be prepared for the block at the current w.
    pub(crate) fn long_move(
        &self,
        i: usize,
        end: End,
        loss: f64,
        scratch: &Scratch<'_>,
    ) -> LongMove {
        let (problem, block) = (self.problem, &self.blocks[i]);
        let score = |way: &SparseVec| scratch.worker.score(i, &self.w, way);
        let score = sum_over_way(problem, &block.parts, scratch, (i, end), score);
        LongMove { end, loss, slope: self.shares.of(i) * (loss - block.loss + score) }
    }

    /// As [`stride`](Self::stride) for a long block.
    pub(crate) fn long_stride(
        &mut self,
        i: usize,
        to: LongMove,
        pace: Pace,
        scratch: &Scratch<'_>,
    ) -> Option<Stride> {
        if to.slope <= 0.0 {
            return Some(Stride::default());
        }
        let (problem, share) = (self.problem, self.shares.of(i));
        let (parts, place) = (&self.blocks[i].parts, (i, to.end));
        if let Some(clipped) = &mut self.clipped {
            let change = clipped.new_way();
            sum_over_way(problem, parts, scratch, place, |way| {
                problem.scatter(i, -share / self.lambda, way, (&mut *change).into());
                0.0
            });
            return clipped.stride(self.lambda, to.slope, 1.0, pace);
        }
        // There is little in w beside the parts of a long block. The first spare vector is all zeros.
        let change = &mut self.spare[0];
        sum_over_way(problem, parts, scratch, place, |way| {
            problem.scatter(i, 1.0, way, (&mut *change).into());
            0.0
        });
        let norm_sq: f64 = change.iter().map(|x| x * x).sum();
        change.fill(0.0);
        pace.stride(to.slope, share * share / self.lambda * norm_sq, 1.0)
    }

    /// Moves long block `i`, and w and D with it, by the stride that was computed last.
    pub(crate) fn go_long(
        &mut self,
        i: usize,
        to: LongMove,
        Stride { gamma, gain }: Stride,
        scratch: &Scratch<'_>,
    ) {
        let (problem, pieces) = (self.problem, self.problem.pieces(i));
        let scale = -gamma * self.shares.of(i) / self.lambda;
        let write = |piece: usize, parts: &mut SparseVec| {
            write_end(problem, scratch, (i, to.end, piece), parts);
        };
        let (mut writer, old) = (PackedWriter::new(), self.blocks[i].loss);
        let mut pieces = Pieces::new(self.blocks[i].parts.iter(), pieces, &write);
        while pieces.advance() {
            if gamma == 1.0 {
                // Exactly the corner, without the rounding errors that a sum would leave behind.
                writer.add(pieces.to.entries());
            } else {
                pieces.from.add_scaled(gamma, &pieces.way);
                writer.add(pieces.from.entries());
            }
            if self.clipped.is_none() {
                problem.scatter(i, scale, &pieces.way, (&mut self.w).into());
            }
        }
        drop(pieces);
        if let Some(clipped) = &mut self.clipped {
            clipped.go(gamma, &mut self.w);
        }
        let parts = writer.finish();
        let loss = if gamma == 1.0 { to.loss } else { old + gamma * (to.loss - old) };
        self.blocks[i] = Block { parts, loss };
        self.dual += gain;
    }

    /// Whether a negative slope towards an end is more than rounding can explain.
    pub(crate) fn is_long_below_rounding(&self, i: usize, to: LongMove) -> bool {
        let (share, own) = (self.shares.of(i), self.blocks[i].loss);
        let score = to.slope / share - (to.loss - own);
        let size = 1.0 + to.loss.abs() + own.abs() + score.abs();
        to.slope < -ROUNDING * share * size
    }
}

/// The truth of a long block, packed, and the number of its parts.
pub(super) fn long_truth(problem: &dyn Blocks, i: usize) -> (PackedVec, usize) {
    let (mut writer, mut truth, mut parts) = (PackedWriter::new(), SparseVec::new(), 0);
    for piece in 0..problem.pieces(i) {
        problem.truth_piece(i, piece, &mut truth);
        parts += truth.len();
        writer.add(truth.entries());
    }
    (writer.finish(), parts)
}

/// Adds `scale` times the features of a long block, relative to its truth, to `w`.
pub(super) fn add_long<W: ?Sized>(
    problem: &dyn Blocks,
    block: &Block,
    (i, scale): (usize, f64),
    w: &mut W,
) where
    for<'a> Target<'a>: From<&'a mut W>,
{
    let write = |piece: usize, parts: &mut SparseVec| problem.truth_piece(i, piece, parts);
    let mut pieces = Pieces::new(block.parts.iter(), problem.pieces(i), &write);
    while pieces.advance() {
        problem.scatter(i, -scale, &pieces.way, Target::from(&mut *w));
    }
}
