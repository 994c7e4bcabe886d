//! A certificate recomputed from nothing but the problem, λ, the weights and the dual point.

use super::check_points::check_points;
use super::exact_pass::{exact_pass, from_readings};
use super::readings::Readings;
use super::{Certificate, check_problem};
use crate::dual::{DualPoint, Shares, Squares, Workers, add_weights, dual_value, length_sq};
use crate::error::TrainError;
use crate::problem::Blocks;
use crate::problem::PointCheck;
use crate::problem::SparseVec;
use crate::problem::bounds::bounds_in_force;
use crate::settings::{Settings, SettingsError};
use crate::util::rounding::ROUNDING;

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
#[non_exhaustive]
pub struct Audit {
    /// Primal, dual and gap, recomputed from scratch. If the point is infeasible, only the primal means
    /// anything.
    pub certificate: Certificate,
    /// What the dual point was shown to be. The quality of the certificate takes it into account.
    pub point: PointCheck,
    /// Largest absolute difference between the weights and those that belong to the dual point. If the
    /// point is infeasible, neither this nor the gaps of the blocks mean anything.
    pub weight_residual: f64,
    /// How large that difference can be by rounding alone. It is far more than the last digit of a weight where terms
    /// that add up to weights nearly cancel out: with a tiny λ, or attributes far from 0.
    pub weight_rounding: f64,
    /// The gap of every block. With weights that belong to the dual point, their sum is the gap.
    pub block_gaps: Vec<f64>,
    /// The first block that is not a convex combination of outputs, or not even a point of the
    /// relaxation if the oracle solves one; and why.
    pub infeasible: Option<(usize, String)>,
}

/// Recomputes a certificate from nothing but the problem, λ, the weights and the dual point.
///
/// The gap is P(w) − D(α), which bounds the suboptimality of w for *any* w and any feasible α.
/// Feasibility is checked to `slack` in every mass. If the problem's
/// [check](crate::problem::CheckPoints::check_point) shows less than the certificate needs, the audit searches for
/// outputs that make up the point, with some oracle calls for every block. If that search ends without an answer, the
/// certificate is [unproven](crate::Quality::Unproven).
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
pub fn audit(
    problem: &dyn Blocks,
    lambda: f64,
    weights: &[f64],
    dual: &DualPoint,
    slack: f64,
    threads: usize,
) -> Result<Audit, TrainError> {
    // Refuse what is of the wrong size or form.
    let settings = Settings { lambda: Some(lambda), threads, ..Default::default() };
    let settings = settings.checked()?;
    if !(slack >= 0.0 && slack.is_finite()) {
        let expected = "a finite number, at least 0";
        return Err(SettingsError::Range { name: "slack", value: slack, expected }.into());
    }
    check_problem(problem)?;
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
    // What are the blocks shown to be?
    let shares = Shares::new(problem);
    let mut workers = Workers::new(problem, settings.thread_count());
    let verdicts = check_points(problem, &mut workers, dual, slack);
    let shown = verdicts.iter().filter_map(|verdict| verdict.as_ref().ok()).max();
    let point = shown.copied().unwrap_or(PointCheck::Unproven);
    let infeasible = verdicts
        .iter()
        .enumerate()
        .find_map(|(i, verdict)| Some((i, verdict.as_ref().err()?.to_string())));
    let point = if infeasible.is_some() { PointCheck::Unproven } else { point };

    // How far are the weights from those of the point?
    let mut own = vec![0.0; problem.dim()];
    let mut weight_rounding = 0.0;
    if infeasible.is_none() {
        let all = 0..dual.blocks.len();
        add_weights(problem, &shares, lambda, &dual.blocks, all, &mut own);
        weight_rounding = OPERATIONS * f64::EPSILON * size_of_terms(problem, &shares, lambda, dual);
    }
    // With bounds, what the blocks sum up to is v, and the weights are w = clip(v).
    let sum = bounds_in_force(problem).map(|bounds| {
        let clip = |(feature, &v): (usize, &f64)| bounds.clip(feature, v);
        let clipped = own.iter().enumerate().map(clip).collect();
        std::mem::replace(&mut own, clipped)
    });
    let weight_residual = weights.iter().zip(&own).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);

    // The certificate, from an exact pass.
    let mut readings = Readings::default();
    // An infeasible point may have parts that do not exist; the truth stands in for it.
    let truth = infeasible.as_ref().map(|_| DualPoint::at_truth(problem));
    let blocks = &truth.as_ref().unwrap_or(dual).blocks;
    exact_pass(problem, &mut workers, &shares, blocks, weights, &mut readings);
    let value = dual_value(&shares, lambda, blocks, Squares::of(problem, &own, sum.as_deref()));
    let quality = problem.quality().after_failures(readings.failures());
    let norm_sq = length_sq(problem, weights);
    let mut certificate = from_readings(quality, lambda, norm_sq, value, &readings)?;
    certificate.quality = quality.with_point(point);
    // What oracles may have missed makes a bound only if the point supports one.
    certificate.missed = certificate.missed.filter(|_| certificate.quality == quality);
    let block_gaps = readings.into_gaps();
    Ok(Audit { certificate, point, weight_residual, weight_rounding, block_gaps, infeasible })
}

/// How many rounding errors of the size of its terms a sum may have, taken twice in different orders.
const OPERATIONS: f64 = 8.0;

/// The largest sum of the absolute values of all terms of a weight: of the points and of the truths, which may cancel out.
fn size_of_terms(problem: &dyn Blocks, shares: &Shares, lambda: f64, dual: &DualPoint) -> f64 {
    let mut sizes = vec![0.0; problem.dim()];
    let (mut point, mut truth, mut terms) = (SparseVec::new(), SparseVec::new(), SparseVec::new());
    for (i, block) in dual.blocks.iter().enumerate() {
        truth.clear();
        problem.truth_parts(i, &mut truth);
        for parts in [block.parts.read(&mut point), &truth] {
            terms.clear();
            problem.scatter(i, shares.of(i) / lambda, parts, (&mut terms).into());
            terms.entries().iter().for_each(|&(at, term)| sizes[at as usize] += term.abs());
        }
    }
    sizes.into_iter().fold(0.0, f64::max)
}
