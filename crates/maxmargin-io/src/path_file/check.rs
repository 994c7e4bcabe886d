//! Checks a path, as far as its file alone allows.

use super::PathFile;
use crate::contradictions::{certificate_contradiction, out_of_bounds, rounding_of};
use crate::model::ModelError;
use maxmargin::{Breakpoint, Path, Status};
use std::collections::HashMap;

/// Refuses a path whose numbers contradict each other.
pub(super) fn check(file: &PathFile) -> Result<(), ModelError> {
    let path = &file.path;
    if file.meta.n == 0 {
        return refuse("it is stated to be over 0 examples");
    }
    if !(path.epsilon > 0.0 && path.epsilon.is_finite() && path.audit_seconds.is_finite()) {
        return refuse("its epsilon is not a positive number");
    }
    check_lambdas(path)?;
    for (at, breakpoint) in path.breakpoints.iter().enumerate() {
        if let Some(why) = certificate_contradiction(&breakpoint.certificate) {
            return refuse_point(at, breakpoint, why);
        }
        check_changes(path.dim, at, breakpoint)?;
    }
    check_weights(file)?;
    let pieces = path.breakpoints.iter().enumerate();
    pieces.into_iter().try_for_each(|(at, breakpoint)| check_promise(path, at, breakpoint))
}

fn refuse<T>(reason: impl Into<String>) -> Result<T, ModelError> {
    Err(ModelError::content(reason))
}

/// Names the breakpoint.
fn refuse_point<T>(at: usize, breakpoint: &Breakpoint, why: String) -> Result<T, ModelError> {
    let lambda = breakpoint.certificate.lambda;
    refuse(format!("at breakpoint {at} (lambda {lambda}), {why}"))
}

/// Checks that λ is positive and falls, and that the path ends below the last breakpoint.
fn check_lambdas(path: &Path) -> Result<(), ModelError> {
    let lambdas: Vec<f64> = path.breakpoints.iter().map(|b| b.certificate.lambda).collect();
    let Some(&last) = lambdas.last() else { return refuse("it has no breakpoints") };
    for (at, pair) in lambdas.windows(2).enumerate() {
        if pair[0] <= pair[1] {
            let (before, after) = (pair[0], pair[1]);
            return refuse(format!(
                "its lambdas do not fall: breakpoint {} has {after} after {before}",
                at + 1
            ));
        }
    }
    let lowest = path.lowest;
    if !(lowest >= 0.0 && lowest <= last) {
        let why = "it does not end where its last breakpoint does";
        return refuse(format!("{why}: it goes down to lambda {lowest}, from {last}"));
    }
    Ok(())
}

fn check_changes(dim: usize, at: usize, breakpoint: &Breakpoint) -> Result<(), ModelError> {
    let changes = &breakpoint.changes;
    let ascending = changes.windows(2).all(|pair| pair[0].0 < pair[1].0);
    if !ascending || changes.last().is_some_and(|last| last.0 as usize >= dim) {
        return refuse(format!("the weights of breakpoint {at} are not in order"));
    }
    match changes.iter().find(|change| !change.1.is_finite()) {
        Some((feature, _)) => {
            refuse(format!("weight {feature} of breakpoint {at} is not a finite number"))
        }
        None => Ok(()),
    }
}

/// Checks that the weights are within their bounds, and that the growth of the gap follows from them: dual − λ/2
/// ‖w‖².
fn check_weights(file: &PathFile) -> Result<(), ModelError> {
    let path = &file.path;
    let bounds = file.meta.spec.resolve_bounds(&file.meta.bounds);
    let bounds = bounds.map_err(|error| ModelError::content(format!("its bounds: {error}")))?;
    // Most weights never change along a path, and these take no memory.
    let mut weights = HashMap::<u32, f64>::new();
    // ‖w‖² is updated with each change. Its largest value so far determines its rounding error.
    let (mut norm_sq, mut most) = (0.0f64, 0.0f64);
    for (at, breakpoint) in path.breakpoints.iter().enumerate() {
        for &(feature, new) in &breakpoint.changes {
            let old = weights.insert(feature, new).unwrap_or(0.0);
            norm_sq += new * new - old * old;
        }
        most = most.max(norm_sq);
        let (lambda, dual) = (breakpoint.certificate.lambda, breakpoint.certificate.dual);
        let (growth, expected) = (breakpoint.growth, dual - 0.5 * lambda * norm_sq);
        let rounding = rounding_of(&[growth, dual, 0.5 * lambda * most]);
        // Weights whose squares overflow make this NaN, and comparisons with NaN are false.
        let agrees = (growth - expected).abs() <= rounding;
        if !agrees {
            let why = "the growth of the gap is stated as";
            let why = format!("{why} {growth}, but that of the weights is {expected}");
            return refuse_point(at, breakpoint, why);
        }
        if let Some(bounds) = &bounds {
            let mut dense = vec![0.0; path.dim];
            weights.iter().for_each(|(feature, weight)| dense[*feature as usize] = *weight);
            if let Some(why) = out_of_bounds(bounds, &dense) {
                return refuse_point(at, breakpoint, why);
            }
        }
    }
    Ok(())
}

/// Checks that a breakpoint that has converged is within ε. On a path with a guarantee, its whole piece must be.
fn check_promise(path: &Path, at: usize, breakpoint: &Breakpoint) -> Result<(), ModelError> {
    let (epsilon, gap) = (path.epsilon, breakpoint.certificate.gap);
    if !is_within(path, breakpoint, gap) && breakpoint.status == Status::Converged {
        let why = format!("the gap is {gap}, where {epsilon} is stated to be the most");
        return refuse_point(at, breakpoint, why);
    }
    let (end, gap) = (path.end_of(at), path.gap_at_end(at));
    if !is_within(path, breakpoint, gap) && path.is_guaranteed() {
        let why = format!(
            "the gap grows to {gap} at lambda {end}, where at most {epsilon} is guaranteed"
        );
        return refuse_point(at, breakpoint, why);
    }
    Ok(())
}

/// Whether a gap on the piece of a breakpoint is within ε, up to rounding.
pub(super) fn is_within(path: &Path, breakpoint: &Breakpoint, gap: f64) -> bool {
    let (certificate, epsilon) = (&breakpoint.certificate, path.epsilon);
    let sizes = [epsilon, certificate.primal, certificate.dual, breakpoint.growth];
    gap <= epsilon + rounding_of(&sizes)
}
