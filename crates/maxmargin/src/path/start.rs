//! The first solution of a path.

use super::settings::{PathSettings, at};
use crate::certificate::{Readings, exact_pass, from_readings};
use crate::dual::Workers;
use crate::dual::length_sq;
use crate::dual::{Block, DualPoint, DualState, Shares};
use crate::error::TrainError;
use crate::observe::Status;
use crate::observe::Totals;
use crate::problem::Blocks;
use crate::problem::bounds::{Bounds, bounds_in_force};
use crate::run::Solution;
use crate::run::{Finished, Known};
use crate::util::rounding::ROUNDING;
use std::time::Instant;

/// The first solution: all mass on the outputs with the largest loss is good enough for a λ so large that
/// the features hardly matter,
///
/// ```text
/// λ₁ = (‖ψ̃‖² + Σᵢ cᵢ/C θᵢ)/(κε),    ψ̃ = Σᵢ cᵢ/C ψᵢ(ỹᵢ),    θᵢ = max_y −⟨ψ̃, ψᵢ(y)⟩
/// ```
pub(super) fn first(problem: &dyn Blocks, settings: &PathSettings) -> Result<Finished, TrainError> {
    let begin = Instant::now();
    let n = problem.examples();
    let checked = at(&settings.training, 1.0, settings.tolerance()).checked()?;
    let mut workers = Workers::new(problem, checked.thread_count());
    let zero = vec![0.0; problem.dim()];
    let mut blocks = vec![Block::default(); n];
    workers.for_each(&mut blocks, |i, scratch, block| {
        scratch.find_corner(i, &zero);
        scratch.describe_corner(i);
        (block.loss, block.parts) = (scratch.corner.loss, (&scratch.corner.parts).into());
    });
    let point = DualPoint { blocks };
    let mut mean = point.weights(problem, 1.0);
    let within =
        bounds_in_force(problem).map_or(Ok(0.0), |bounds| keep_to_cone(bounds, &mut mean))?;
    let theta = mean_rise(problem, &mean, &mut workers);
    let lambda = (length_sq(problem, &mean) + theta) / settings.tolerance();
    if !lambda.is_finite() {
        return Err(TrainError::Overflow);
    }
    // Features that do not distinguish outputs need no more regularization than the least.
    let lambda = lambda.max(settings.lambda_min).max(within);
    let state = DualState::new(problem, lambda, point, &mut workers);
    let mut readings = Readings::default();
    exact_pass(problem, &mut workers, &state.shares, &state.blocks, &state.w, &mut readings);
    let failures = readings.failures();
    let quality = problem.quality().after_failures(failures);
    let certificate = from_readings(quality, lambda, state.norm_sq, state.dual, &readings)?;
    let (weights, dual) = state.into_point();
    let block_gaps = readings.into_gaps();
    // The oracles at w = 0, the decoding, the exact pass.
    let (calls, seconds) = (3 * n as u64, begin.elapsed().as_secs_f64());
    let totals =
        Totals { oracle_calls: calls, oracle_failures: failures, seconds, ..Totals::default() };
    // The formula relies on exact decoding.
    let within = certificate.gap <= settings.tolerance() * (1.0 + ROUNDING);
    let status = if within { Status::Converged } else { Status::Estimated };
    let solution = Solution {
        weights,
        dual,
        lambda,
        certificate,
        status,
        totals,
        choice: None,
        validation: None,
        warnings: Vec::new(),
        theory: None,
    };
    Ok(Finished { solution, known: Known { block_gaps, calls, seconds } })
}

/// Clips ψ̃ at bounds that are 0. Returns the least λ for which ψ̃/λ keeps all other bounds. Above it,
/// the weights of the start are ψ̃/λ, as without bounds.
fn keep_to_cone(bounds: &Bounds, mean: &mut [f64]) -> Result<f64, TrainError> {
    if let Some(feature) = bounds.excludes_zero() {
        return Err(TrainError::BoundsWithoutZero { feature });
    }
    let mut least = 0.0f64;
    for (mean, (&lower, &upper)) in mean.iter_mut().zip(bounds.lower().iter().zip(bounds.upper())) {
        let bound = if *mean < 0.0 { lower } else { upper };
        if bound == 0.0 {
            *mean = 0.0;
        } else {
            least = least.max(*mean / bound);
        }
    }
    Ok(least)
}

/// Σᵢ cᵢ/C θᵢ: how far the best output is above the truth under the weights `mean`, on average.
fn mean_rise(problem: &dyn Blocks, mean: &[f64], workers: &mut Workers<'_>) -> f64 {
    let mut above = vec![0.0; problem.examples()];
    workers.for_each(&mut above, |i, scratch, above: &mut f64| {
        scratch.find_corner_without_loss(i, mean);
        scratch.describe_corner(i);
        scratch.parts.clear();
        problem.truth_parts(i, &mut scratch.parts);
        scratch.step.parts.assign_difference(&scratch.corner.parts, &scratch.parts);
        *above = scratch.worker.score(i, mean, &scratch.step.parts).max(0.0);
    });
    Shares::new(problem).iter().zip(&above).map(|(share, above)| share * above).sum()
}
