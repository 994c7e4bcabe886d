//! The exact oracles of all blocks at one w, and the certificate that follows from their answers.

use super::Certificate;
use super::readings::{BlockReading, Readings, Told};
use crate::dual::{Block, Corner, Move, Scratch, Shares, Workers, hinge_of_long};
use crate::error::TrainError;
use crate::problem::quality::Quality;
use crate::problem::{Blocks, SparseVec};
use crate::util::rounding::{LEAST_ROUNDING, ROUNDING};

/// The number of blocks that are read before their readings are summed up. It bounds the memory of the readings.
const READ_AT_ONCE: usize = 1 << 15;

/// What the oracle of one block has found, and the way to it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Answer {
    pub(crate) corner: Corner,
    pub(crate) step: Move,
    pub(crate) reading: BlockReading,
}

/// What an exact pass keeps of every block.
pub(crate) trait Kept: Default + Send {
    /// [Reads](read_block) block `i`, and keeps what it finds.
    fn read(
        &mut self,
        problem: &dyn Blocks,
        at: (&Shares, &[Block], &[f64]),
        i: usize,
        scratch: &mut Scratch<'_>,
    );

    fn reading(&self) -> BlockReading;
}

impl Kept for Answer {
    fn read(
        &mut self,
        problem: &dyn Blocks,
        (shares, blocks, w): (&Shares, &[Block], &[f64]),
        i: usize,
        scratch: &mut Scratch<'_>,
    ) {
        self.reading = read_block(problem, shares, blocks, w, i, scratch);
        std::mem::swap(&mut self.corner, &mut scratch.corner);
        std::mem::swap(&mut self.step, &mut scratch.step);
    }

    fn reading(&self) -> BlockReading {
        self.reading
    }
}

/// The corner that the oracle of one block has found, relative to the truth, if the block has a gap.
#[derive(Debug, Clone, Default)]
pub(crate) struct ExactCorner {
    pub(crate) parts: SparseVec,
    pub(crate) loss: f64,
    pub(crate) reading: BlockReading,
}

impl Kept for ExactCorner {
    fn read(
        &mut self,
        problem: &dyn Blocks,
        (shares, blocks, w): (&Shares, &[Block], &[f64]),
        i: usize,
        scratch: &mut Scratch<'_>,
    ) {
        self.reading = read_block(problem, shares, blocks, w, i, scratch);
        if self.reading.gap > 0.0 {
            let Scratch { corner, step, parts, .. } = scratch;
            parts.clear();
            problem.truth_parts(i, parts);
            step.parts.assign_difference(&corner.parts, parts);
            self.parts.assign(&step.parts);
            self.loss = corner.loss;
        }
        scratch.forget_if_long();
    }

    fn reading(&self) -> BlockReading {
        self.reading
    }
}

/// Calls the oracle of block `i` at `w` and reads hinge and gap off its corner.
///
/// Leaves the corner in `scratch.corner` and the way to it from the block's point in `scratch.step`. The
/// truth and the block's own point are points of the block too: if an inexact oracle has found less than
/// the better of these, the better one replaces its answer.
pub(crate) fn read_block(
    problem: &dyn Blocks,
    shares: &Shares,
    blocks: &[Block],
    w: &[f64],
    i: usize,
    scratch: &mut Scratch<'_>,
) -> BlockReading {
    let missed = scratch.worker.find_corner_and_missed(i, w);
    scratch.describe_corner(i);
    let Scratch { worker, corner, step, parts, point, .. } = scratch;
    let (loss, block) = (corner.loss, &blocks[i]);

    parts.clear();
    problem.truth_parts(i, parts);
    step.parts.assign_difference(&corner.parts, parts);
    parts.forget_if_long();
    let score = worker.score(i, w, &step.parts);
    let mut hinge = loss + score;

    step.go_to(block, corner, point);
    let mut ascent = step.loss + worker.score(i, w, &step.parts);

    let own = hinge - ascent;
    let size = loss.abs() + block.loss.abs() + score.abs();
    let failed = hinge < own.max(0.0) - ROUNDING * (1.0 + size);
    if failed && own < 0.0 {
        scratch.fall_back_to_truth(problem, i);
        scratch.step.go_to(block, &scratch.corner, &mut scratch.point);
        (hinge, ascent) = (0.0, -own);
    } else if ascent < 0.0 {
        // Up to rounding, the block's own point is as good as the corner or better.
        step.stay();
        (hinge, ascent) = (own, 0.0);
    }
    let is_wrong = loss < 0.0 && !problem.has_signed_losses();
    let (told, number) = match missed {
        _ if is_wrong => (Told::WrongLoss, loss),
        Some(missed) => (Told::Missed, missed),
        None => (Told::Nothing, 0.0),
    };
    let size = size + own.abs();
    let gap = shares.of(i) * ascent;
    BlockReading { hinge, gap, size, told, number, failed, is_read: true }
}

/// As [`read_block`] with an exact oracle, for a block that is taken piece by piece. It leaves no corner and no way to it.
fn read_long_block(
    problem: &dyn Blocks,
    shares: &Shares,
    blocks: &[Block],
    w: &[f64],
    i: usize,
    scratch: &mut Scratch<'_>,
) -> BlockReading {
    scratch.worker.find_corner(i, w);
    let (loss, block) = (scratch.worker.loss(i), &blocks[i]);
    let (score, score_on_way) = hinge_of_long(problem, block, w, i, scratch);
    let (mut hinge, mut ascent) = (loss + score, loss - block.loss + score_on_way);
    let own = hinge - ascent;
    let size = loss.abs() + block.loss.abs() + score.abs();
    let failed = hinge < own.max(0.0) - ROUNDING * (1.0 + size);
    if failed && own < 0.0 {
        (hinge, ascent) = (0.0, -own);
    } else if ascent < 0.0 {
        (hinge, ascent) = (own, 0.0);
    }
    let is_wrong = loss < 0.0 && !problem.has_signed_losses();
    let (told, number) = if is_wrong { (Told::WrongLoss, loss) } else { (Told::Nothing, 0.0) };
    let (size, gap) = (size + own.abs(), shares.of(i) * ascent);
    BlockReading { hinge, gap, size, told, number, failed, is_read: true }
}

/// All blocks at one w, read by exact oracles without any cache.
pub(crate) fn exact_pass(
    problem: &dyn Blocks,
    workers: &mut Workers<'_>,
    shares: &Shares,
    blocks: &[Block],
    w: &[f64],
    readings: &mut Readings,
) {
    exact_pass_until(problem, workers, (shares, blocks, w), readings, &|| false);
}

/// As [`exact_pass`], but reads no further block once `is_over`. Returns whether all blocks were read.
pub(crate) fn exact_pass_until(
    problem: &dyn Blocks,
    workers: &mut Workers<'_>,
    (shares, blocks, w): (&Shares, &[Block], &[f64]),
    readings: &mut Readings,
    is_over: &(dyn Fn() -> bool + Sync),
) -> bool {
    readings.clear();
    readings.reserve(blocks.len());
    let is_exact = problem.quality().is_exact();
    let mut some = vec![BlockReading::default(); blocks.len().min(READ_AT_ONCE)];
    for first in (0..blocks.len()).step_by(READ_AT_ONCE) {
        let some = &mut some[..READ_AT_ONCE.min(blocks.len() - first)];
        some.fill(BlockReading::default());
        workers.for_each_oracle(w, first, some, |i, scratch, reading| {
            if is_over() {
                return;
            }
            *reading = match is_exact && problem.pieces(i) > 1 {
                true => read_long_block(problem, shares, blocks, w, i, scratch),
                false => read_block(problem, shares, blocks, w, i, scratch),
            };
            scratch.forget_if_long();
        });
        (first..).zip(&*some).for_each(|(i, reading)| readings.add(shares.of(i), reading));
    }
    readings.are_whole()
}

/// As [`exact_pass_until`], and keeps what it has found. Of a pass that was cut, it keeps nothing.
pub(crate) fn read_answers<T: Kept>(
    problem: &dyn Blocks,
    workers: &mut Workers<'_>,
    at: (&Shares, &[Block], &[f64]),
    (answers, readings): (&mut Vec<T>, &mut Readings),
    is_over: &(dyn Fn() -> bool + Sync),
) -> bool {
    let blocks = at.1;
    answers.clear();
    answers.resize_with(blocks.len(), T::default);
    workers.for_each_oracle(at.2, 0, answers, |i, scratch, answer| {
        if !is_over() {
            answer.read(problem, at, i, scratch);
        }
    });
    readings.clear();
    readings.add_all(at.0, answers);
    if !readings.are_whole() {
        answers.clear();
    }
    readings.are_whole()
}

/// The certificate of weights with the squared length `norm_sq` and a dual point with the value
/// `dual`, from an exact pass at these weights with oracles of the given quality.
pub(crate) fn from_readings(
    quality: Quality,
    lambda: f64,
    norm_sq: f64,
    dual: f64,
    readings: &Readings,
) -> Result<Certificate, TrainError> {
    readings.check()?;
    let primal = 0.5 * lambda * norm_sq + readings.risk();
    if !(primal + dual).is_finite() {
        return Err(TrainError::Overflow);
    }
    let size = readings.size();
    // No hinge was read as less than the value of the block's own point, so that this holds for every
    // oracle and every point: P(w) − D(α) ≥ λ/2 ‖w − Aα‖².
    if dual - primal > LEAST_ROUNDING + ROUNDING * (size + lambda * norm_sq + dual.abs()) {
        return Err(TrainError::Contradiction { primal, dual });
    }
    let primal = primal.max(dual);
    let missed = match quality {
        Quality::Heuristic => readings.missed(),
        _ => None,
    };
    Ok(Certificate { lambda, primal, dual, gap: primal - dual, quality, missed })
}

/// The certificate of weights w within their bounds and a dual point α with the value `dual`, from an exact
/// pass that was cut: a lower bound of P(w), and so of the gap.
///
/// With gaps gᵢ ≥ 0 at w, P(w) = D(α) + λ/2 ‖w − Aα‖² + Σᵢ gᵢ (with bounds on weights, at least that). The
/// bound is D(α) plus the gaps that are known.
pub(crate) fn from_some_readings(
    quality: Quality,
    lambda: f64,
    dual: f64,
    readings: &Readings,
) -> Result<Certificate, TrainError> {
    readings.check()?;
    let known: f64 = readings.gaps().iter().sum();
    let primal = dual + known;
    if !primal.is_finite() {
        return Err(TrainError::Overflow);
    }
    let quality = quality.after_cut();
    Ok(Certificate { lambda, primal, dual, gap: primal - dual, quality, missed: None })
}
