//! Primal, dual and gap of any solution: the proof that comes with a model.

use crate::bounds::bounds_in_force;
use crate::crew::{Crew, Scratch};
use crate::dual::{Block, DualPoint, Shares, add_weights, dual_value};
use crate::error::TrainError;
use crate::point::check_points;
use crate::problem::Problem;
use crate::quality::{PointCheck, Quality};
use crate::sums::{Squares, length_sq};
use serde::{Deserialize, Serialize};

/// How good a solution provably is: P(w) − P* ≤ gap, whatever the optimum P* may be.
///
/// The proof rests on exact oracles; with others, [`quality`](Self::quality) says what kind of
/// bound the gap is.
///
/// ```
/// # use maxmargin::doc::toy;
/// use maxmargin::{Settings, train};
///
/// let proof = train(&toy(), &Settings { tolerance: 1e-3, ..Settings::default() })?.certificate;
/// assert!(proof.gap <= 1e-3);
/// assert_eq!(proof.gap, proof.primal - proof.dual);
/// # Ok::<(), maxmargin::TrainError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// The regularization strength λ it is for.
    pub lambda: f64,
    /// The primal objective P(w) = λ/2 ‖w‖² + Σᵢ cᵢ/C max_y Hᵢ(y; w).
    pub primal: f64,
    /// The dual objective D(α) = ℓ − λ/2 ‖Aα‖² (see [`Bounds`](crate::Bounds) where the weights have
    /// any), a lower bound on every primal value.
    pub dual: f64,
    /// primal − dual, which is never negative. A primal value that lies below the dual one by rounding is
    /// stated as the dual one; if it lies below it by more, the run ends with
    /// [`TrainError::Contradiction`]. (A heuristic may also overlook outputs and find a primal value below
    /// the bound of another dual point. The bound then is the better statement of both.)
    pub gap: f64,
    /// What the other numbers prove: what the oracle promises, as far as it has kept its promise and
    /// the dual point supports it. It is written to files only where it is not exact.
    #[serde(default, skip_serializing_if = "Quality::is_exact")]
    pub quality: Quality,
}

impl Certificate {
    /// The same with a larger lower bound, that of another dual point.
    pub(crate) fn with_bound(self, bound: f64) -> Result<Self, TrainError> {
        let Self { mut primal, dual, .. } = self;
        let dual = dual.max(bound);
        let is_known = matches!(self.quality, Quality::Exact | Quality::UpperBound);
        if is_known && dual - primal > DUST + ROUNDING * (primal.abs() + dual.abs()) {
            return Err(TrainError::Contradiction { primal, dual });
        }
        // A heuristic may have missed the hinge: the true objective lies above the bound all the same.
        primal = primal.max(dual);
        Ok(Self { primal, dual, gap: primal - dual, ..self })
    }
}

/// What an exact pass finds out about one block.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct BlockReading {
    /// max_y Hᵢ(y; w).
    pub(crate) hinge: f64,
    /// The block's gap cᵢ/C (max_y Hᵢ(y; w) − Hᵢ(μᵢ; w)), which is ≥ 0.
    pub(crate) gap: f64,
    /// The size of the losses and scores that hinge and gap are made of: rounding errors are relative
    /// to it.
    size: f64,
    /// The loss of the corner that the oracle found, if it is one that cannot be.
    pub(crate) wrong_loss: Option<f64>,
    /// Whether that corner scored below the truth, which an exact oracle never allows.
    pub(crate) failed: bool,
}

/// Rounding errors of scores are below this share of the losses and scores they are made of.
pub(crate) const ROUNDING: f64 = 1e-9;

/// Where nothing can be learnt, rounding errors are all there is, and relative to nothing.
const DUST: f64 = f64::EPSILON;

/// Calls the oracle of block `i` at `w` and reads hinge and gap off its corner.
///
/// Leaves the corner in `scratch.corner` and the way to it from the block's point in `scratch.step`.
/// The truth and the block's own point are known to be points of the block too: if an inexact oracle
/// has found less than the better of these, that one takes its place.
pub(crate) fn read_block<P: Problem>(
    problem: &P,
    shares: &Shares,
    blocks: &[Block],
    w: &[f64],
    i: usize,
    scratch: &mut Scratch<P>,
) -> BlockReading {
    scratch.find_corner(problem, i, w);
    scratch.describe_corner(problem, i);
    let Scratch { workspace, corner, step, parts, .. } = scratch;
    let (loss, block) = (corner.loss, &blocks[i]);

    parts.clear();
    problem.truth_parts(i, parts);
    step.parts.assign_difference(&corner.parts, parts);
    let score = problem.score(i, w, workspace, &step.parts);
    let mut hinge = loss + score;

    step.go_to(block, corner);
    let mut ascent = step.loss + problem.score(i, w, workspace, &step.parts);

    let own = hinge - ascent;
    let size = loss.abs() + block.loss.abs() + score.abs();
    let failed = hinge < own.max(0.0) - ROUNDING * (1.0 + size);
    if failed && own < 0.0 {
        scratch.fall_back_to_truth(problem, i);
        scratch.step.go_to(block, &scratch.corner);
        (hinge, ascent) = (0.0, -own);
    } else if ascent < 0.0 {
        // The block's own point is as good as the corner, or better, but for rounding.
        step.stay();
        (hinge, ascent) = (own, 0.0);
    }
    let wrong_loss = (loss < 0.0 && !problem.has_signed_losses()).then_some(loss);
    let size = size + own.abs();
    BlockReading { hinge, gap: shares.of(i) * ascent, size, wrong_loss, failed }
}

/// All blocks at one w, read by exact oracles without any cache.
pub(crate) fn exact_pass<P: Problem>(
    problem: &P,
    crew: &mut Crew<P>,
    shares: &Shares,
    blocks: &[Block],
    w: &[f64],
    readings: &mut Vec<BlockReading>,
) {
    readings.clear();
    readings.resize(blocks.len(), BlockReading::default());
    crew.for_each(readings, |i, scratch, reading| {
        *reading = read_block(problem, shares, blocks, w, i, scratch);
    });
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
    if let Some(example) = readings.iter().position(|r| !(r.hinge + r.gap).is_finite()) {
        return Err(TrainError::NotFinite { example });
    }
    let mut wrong = readings.iter().enumerate().filter_map(|(i, r)| Some((i, r.wrong_loss?)));
    if let Some((example, loss)) = wrong.next() {
        return Err(TrainError::Loss { example, loss });
    }
    let risk: f64 = shares.iter().zip(readings).map(|(share, r)| share * r.hinge).sum();
    let primal = 0.5 * lambda * norm_sq + risk;
    if !(primal + dual).is_finite() {
        return Err(TrainError::Overflow);
    }
    let size: f64 = shares.iter().zip(readings).map(|(share, r)| share * r.size).sum();
    // No hinge was read as less than the value of the block's own point, so that this holds for every
    // oracle and every point: P(w) − D(α) ≥ λ/2 ‖w − Aα‖².
    if dual - primal > DUST + ROUNDING * (size + lambda * norm_sq + dual.abs()) {
        return Err(TrainError::Contradiction { primal, dual });
    }
    let primal = primal.max(dual);
    Ok(Certificate { lambda, primal, dual, gap: primal - dual, quality })
}

/// What [`audit`] found.
///
/// ```
/// # use maxmargin::doc::toy;
/// use maxmargin::{Settings, audit, train};
///
/// let problem = toy();
/// let mut claim = train(&problem, &Settings::default())?;
/// claim.dual.blocks[2].loss += 1.0; // a dual value that is too good to be true
/// let audit = audit(&problem, claim.lambda, &claim.weights, &claim.dual, 1e-9, 0)?;
/// let (block, why) = audit.infeasible.unwrap();
/// assert!(block == 2 && why.starts_with("its loss is stated as"));
/// # Ok::<(), maxmargin::TrainError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Audit {
    /// Primal, dual and gap, recomputed from scratch. If the point is infeasible, only the primal means
    /// anything.
    pub certificate: Certificate,
    /// What the dual point was shown to be, which the quality of the certificate takes into account.
    pub point: PointCheck,
    /// Largest absolute difference between the weights and those that belong to the dual point. Of
    /// an infeasible point, it means nothing, and neither do the gaps of the blocks.
    pub weight_residual: f64,
    /// The gap of every block. With weights that belong to the dual point, their sum is the gap.
    pub block_gaps: Vec<f64>,
    /// The first block that is not a convex combination of outputs, or not even a point of the
    /// relaxation if the oracle solves one; and why.
    pub infeasible: Option<(usize, String)>,
}

/// Recomputes a certificate from nothing but the problem, λ, the weights and the dual point.
///
/// The gap is P(w) − D(α), which bounds the suboptimality of w for *any* w and any feasible α.
/// Feasibility is checked to `slack` in every mass. Where [`Problem::check_point`] shows less than the
/// certificate needs, the audit searches for outputs that the point is made of, with some oracle calls
/// for every block. Where that search ends without an answer, the certificate is
/// [unproven](Quality::Unproven).
///
/// ```
/// # use maxmargin::doc::toy;
/// use maxmargin::{Settings, audit, train};
///
/// let problem = toy();
/// let solution = train(&problem, &Settings::default())?;
/// let audit = audit(&problem, solution.lambda, &solution.weights, &solution.dual, 1e-9, 0)?;
/// assert!((audit.certificate.gap - solution.certificate.gap).abs() < 1e-12);
/// assert!(audit.infeasible.is_none() && audit.weight_residual < 1e-12);
/// # Ok::<(), maxmargin::TrainError>(())
/// ```
///
/// # Errors
/// A dual point or weights of the wrong size, weights out of bounds, λ ≤ 0, numbers that are not
/// finite, or a dual value above the primal one.
pub fn audit<P: Problem>(
    problem: &P,
    lambda: f64,
    weights: &[f64],
    dual: &DualPoint,
    slack: f64,
    threads: usize,
) -> Result<Audit, TrainError> {
    let settings = crate::Settings { lambda: Some(lambda), threads, ..Default::default() };
    let settings = settings.check()?;
    if !(slack >= 0.0 && slack.is_finite()) {
        let expected = "a finite number, at least 0";
        return Err(crate::SettingsError::Range { name: "slack", value: slack, expected }.into());
    }
    crate::error::check_problem(problem)?;
    if weights.len() != problem.dim() {
        return Err(TrainError::Size {
            what: "weights",
            found: weights.len(),
            expected: problem.dim(),
        });
    }
    if dual.blocks.len() != problem.examples() {
        let (found, expected) = (dual.blocks.len(), problem.examples());
        return Err(TrainError::Size { what: "dual blocks", found, expected });
    }
    if let Some(feature) = weights.iter().position(|w| !w.is_finite()) {
        return Err(TrainError::Weight { feature });
    }
    if let Some(bounds) = bounds_in_force(problem) {
        let off = |(feature, &weight): (usize, &f64)| {
            let outside = (weight - bounds.clip(feature, weight)).abs();
            (outside > ROUNDING * (1.0 + weight.abs())).then_some((feature, weight))
        };
        if let Some((feature, weight)) = weights.iter().enumerate().find_map(off) {
            return Err(TrainError::OutOfBounds { feature, weight });
        }
    }
    let shares = Shares::new(problem);
    let mut crew = Crew::new(problem, settings.thread_count());
    let verdicts = check_points(problem, &mut crew, dual, slack);
    let shown = verdicts.iter().filter_map(|verdict| verdict.as_ref().ok()).max();
    let point = shown.copied().unwrap_or(PointCheck::Unproven);
    let infeasible = verdicts
        .iter()
        .enumerate()
        .find_map(|(i, verdict)| Some((i, verdict.as_ref().err()?.to_string())));
    let point = if infeasible.is_some() { PointCheck::Unproven } else { point };

    let mut own = vec![0.0; problem.dim()];
    if infeasible.is_none() {
        let all = 0..dual.blocks.len();
        add_weights(problem, &shares, lambda, &dual.blocks, all, &mut own);
    }
    // With bounds, what the blocks sum up to is v, and the weights are w = clip(v).
    let sum = bounds_in_force(problem).map(|bounds| {
        let clip = |(feature, &v): (usize, &f64)| bounds.clip(feature, v);
        let clipped = own.iter().enumerate().map(clip).collect();
        std::mem::replace(&mut own, clipped)
    });
    let weight_residual = weights.iter().zip(&own).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);

    let mut readings = Vec::new();
    // What is no point of the dual may have parts that do not exist; the truth stands in for it.
    let truth = infeasible.as_ref().map(|_| DualPoint::at_truth(problem));
    let blocks = &truth.as_ref().unwrap_or(dual).blocks;
    exact_pass(problem, &mut crew, &shares, blocks, weights, &mut readings);
    let value = dual_value(&shares, lambda, blocks, Squares::of(problem, &own, sum.as_deref()));
    let failures = readings.iter().filter(|r| r.failed).count() as u64;
    let quality = problem.quality().after_failures(failures);
    let norm_sq = length_sq(problem, weights);
    let mut certificate = from_readings(quality, &shares, lambda, norm_sq, value, &readings)?;
    certificate.quality = quality.with_point(point);
    let block_gaps = readings.iter().map(|r| r.gap).collect();
    Ok(Audit { certificate, point, weight_residual, block_gaps, infeasible })
}

#[cfg(test)]
mod tests;
