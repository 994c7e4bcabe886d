//! What every problem must have before anything is computed.

use crate::dual::has_own_length;
use crate::error::TrainError;
use crate::problem::Blocks;
use crate::problem::bounds::bounds_in_force;

/// Checks what can be checked of a problem without calling its oracle.
pub(crate) fn check_problem(problem: &dyn Blocks) -> Result<(), TrainError> {
    if problem.examples() == 0 {
        return Err(TrainError::NoExamples);
    }
    if problem.dim() == 0 {
        return Err(TrainError::NoFeatures);
    }
    if let Some(bounds) = problem.bounds() {
        bounds.check_size(problem.dim())?;
    }
    if bounds_in_force(problem).is_some() && has_own_length(problem) {
        return Err(TrainError::BoundedLength);
    }
    for example in 0..problem.examples() {
        let weight = problem.weight(example);
        if !(weight > 0.0 && weight.is_finite()) {
            return Err(TrainError::ExampleWeight { example, weight });
        }
        let loss = problem.truth_loss(example).unwrap_or(0.0);
        if loss != 0.0 {
            return Err(TrainError::TruthLoss { example, loss });
        }
    }
    let total = problem.total_weight();
    if !(total > 0.0 && total.is_finite()) {
        return Err(TrainError::TotalWeight(total));
    }
    Ok(())
}
