//! The exact oracles of all blocks at one w, and the certificate that follows from their answers.

use super::Certificate;
use crate::dual::{Block, Corner, Move, Scratch, Shares, Workers};
use crate::error::TrainError;
use crate::problem::quality::Quality;
use crate::problem::{Blocks, SparseVec};
use crate::util::rounding::{LEAST_ROUNDING, ROUNDING};

/// What else an exact pass may have found out about a block, in one number.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) enum Told {
    #[default]
    Nothing,
    /// The loss of the corner that the oracle found, which is invalid.
    WrongLoss,
    /// How much larger the hinge can be.
    Missed,
}

/// What an exact pass finds out about one block. A run keeps one for every example, so it takes little memory.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct BlockReading {
    /// max_y Hᵢ(y; w).
    pub(crate) hinge: f64,
    /// The block's gap cᵢ/C (max_y Hᵢ(y; w) − Hᵢ(μᵢ; w)), which is ≥ 0.
    pub(crate) gap: f64,
    /// The size of the losses and scores that hinge and gap are made of: rounding errors are relative
    /// to it.
    pub(super) size: f64,
    pub(super) told: Told,
    pub(super) number: f64,
    /// Whether the corner that the oracle found scored below the truth, which an exact oracle never allows.
    pub(crate) failed: bool,
    /// Whether the oracle was called at all. It was not if the pass was cut before.
    pub(crate) is_read: bool,
}

impl BlockReading {
    /// The size of what it is made of.
    pub(crate) fn size(&self) -> f64 {
        self.size
    }

    /// The loss of the corner that the oracle found, if that loss is invalid.
    pub(super) fn wrong_loss(&self) -> Option<f64> {
        (self.told == Told::WrongLoss).then_some(self.number)
    }

    /// How much larger the hinge can be, if the oracle is a heuristic that knows, and its loss is valid.
    fn missed(&self) -> Option<f64> {
        (self.told == Told::Missed).then_some(self.number)
    }
}

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

/// All blocks at one w, read by exact oracles without any cache.
pub(crate) fn exact_pass(
    problem: &dyn Blocks,
    workers: &mut Workers<'_>,
    shares: &Shares,
    blocks: &[Block],
    w: &[f64],
    readings: &mut Vec<BlockReading>,
) {
    exact_pass_until(problem, workers, (shares, blocks, w), readings, &|| false);
}

/// As [`exact_pass`], but reads no further block once `is_over`. Returns whether all blocks were read.
pub(crate) fn exact_pass_until(
    problem: &dyn Blocks,
    workers: &mut Workers<'_>,
    (shares, blocks, w): (&Shares, &[Block], &[f64]),
    readings: &mut Vec<BlockReading>,
    is_over: &(dyn Fn() -> bool + Sync),
) -> bool {
    readings.clear();
    readings.resize(blocks.len(), BlockReading::default());
    workers.for_each_oracle(w, readings, |i, scratch, reading| {
        if !is_over() {
            *reading = read_block(problem, shares, blocks, w, i, scratch);
            scratch.forget_if_long();
        }
    });
    readings.iter().all(|reading| reading.is_read)
}

/// As [`exact_pass_until`], and keeps what it has found. Of a pass that was cut, it keeps nothing.
pub(crate) fn read_answers<T: Kept>(
    problem: &dyn Blocks,
    workers: &mut Workers<'_>,
    at: (&Shares, &[Block], &[f64]),
    (answers, readings): (&mut Vec<T>, &mut Vec<BlockReading>),
    is_over: &(dyn Fn() -> bool + Sync),
) -> bool {
    let blocks = at.1;
    answers.clear();
    answers.resize_with(blocks.len(), T::default);
    workers.for_each_oracle(at.2, answers, |i, scratch, answer| {
        if !is_over() {
            answer.read(problem, at, i, scratch);
        }
    });
    readings.clear();
    readings.extend(answers.iter().map(T::reading));
    let is_whole = readings.iter().all(|reading| reading.is_read);
    if !is_whole {
        answers.clear();
    }
    is_whole
}

/// The certificate of weights with the squared length `norm_sq` and a dual point with the value
/// `dual`, from an exact pass at these weights with oracles of the given quality.
pub(crate) fn from_readings(
    quality: Quality,
    shares: &Shares,
    lambda: f64,
    norm_sq: f64,
    dual: f64,
    readings: &[BlockReading],
) -> Result<Certificate, TrainError> {
    check_readings(readings)?;
    let risk: f64 = shares.iter().zip(readings).map(|(share, r)| share * r.hinge).sum();
    let primal = 0.5 * lambda * norm_sq + risk;
    if !(primal + dual).is_finite() {
        return Err(TrainError::Overflow);
    }
    let size: f64 = shares.iter().zip(readings).map(|(share, r)| share * r.size).sum();
    // No hinge was read as less than the value of the block's own point, so that this holds for every
    // oracle and every point: P(w) − D(α) ≥ λ/2 ‖w − Aα‖².
    if dual - primal > LEAST_ROUNDING + ROUNDING * (size + lambda * norm_sq + dual.abs()) {
        return Err(TrainError::Contradiction { primal, dual });
    }
    let primal = primal.max(dual);
    let missed = match quality {
        Quality::Heuristic => missed_in(shares, readings),
        _ => None,
    };
    Ok(Certificate { lambda, primal, dual, gap: primal - dual, quality, missed })
}

/// How much larger than its readings the risk can be, if every oracle knows what it may have missed.
pub(crate) fn missed_in(shares: &Shares, readings: &[BlockReading]) -> Option<f64> {
    let terms = shares.iter().zip(readings).map(|(share, reading)| Some(share * reading.missed()?));
    // A search with a decoder that is itself a heuristic knows no bound.
    terms.sum::<Option<f64>>().filter(|missed| missed.is_finite())
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
    readings: &[BlockReading],
) -> Result<Certificate, TrainError> {
    check_readings(readings)?;
    let known: f64 = readings.iter().map(|reading| reading.gap).sum();
    let primal = dual + known;
    if !primal.is_finite() {
        return Err(TrainError::Overflow);
    }
    let quality = quality.after_cut();
    Ok(Certificate { lambda, primal, dual, gap: primal - dual, quality, missed: None })
}

/// Refuses readings that are not finite, and losses that are not valid.
pub(crate) fn check_readings(readings: &[BlockReading]) -> Result<(), TrainError> {
    if let Some(example) = readings.iter().position(|r| !(r.hinge + r.gap).is_finite()) {
        return Err(TrainError::NotFinite { example });
    }
    let mut wrong = readings.iter().enumerate().filter_map(|(i, r)| Some((i, r.wrong_loss()?)));
    match wrong.next() {
        Some((example, loss)) => Err(TrainError::Loss { example, loss }),
        None => Ok(()),
    }
}
