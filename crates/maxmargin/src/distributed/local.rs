//! How the problem of a shard relates to the whole.

use super::proposal::Whole;
use crate::dual::has_own_length;
use crate::error::TrainError;
use crate::problem::Blocks;
use crate::settings::{
    Auto, Average, BlockCoordinate as Loop, BlockStep, Caching, Method, Order, Settings, Solver,
};
use crate::solver::has_few_features;

/// The shard's share sₖ of all example weights.
pub(super) fn share_of(problem: &dyn Blocks, whole: Whole) -> Result<f64, TrainError> {
    let Whole { lambda, total_weight } = whole;
    let own = problem.total_weight();
    if !(lambda > 0.0 && lambda.is_finite()) {
        let why = format!("lambda is {lambda}; it must be a positive finite number");
        return Err(TrainError::Shard { why });
    }
    if !(total_weight.is_finite() && total_weight >= own * (1.0 - 1e-9)) {
        let why = format!("all shards weigh {total_weight}, and this one alone {own}");
        return Err(TrainError::Shard { why });
    }
    Ok(own / total_weight)
}

/// The settings of the work on a shard. They fix what `auto` would decide by measured times, so that runs repeat.
/// There is no first stage of plain steps as on one machine: they are cheap, but what counts here is what a round
/// gains. (On OCR-large in 16 shards, after 30 rounds of five passes, corrective steps leave a gap of 39% of the
/// objective and plain ones of 47%, with 2.5 times the oracle calls.)
pub(super) fn local(problem: &dyn Blocks, settings: &Settings) -> Result<Settings, TrainError> {
    let solver = settings.method.solver();
    let unsuited = |why| Err(TrainError::Unsuited { solver, why });
    if !matches!(solver, Solver::Auto | Solver::BlockCoordinate) {
        return unsuited("does not train in shards; auto and bcfw do");
    }
    if settings.method.average() != Average::None {
        return unsuited("cannot average the iterates of shards");
    }
    if has_own_length(problem) {
        return unsuited(
            "cannot train a kernel in shards, which would need the inputs of all others",
        );
    }
    let method = match &settings.method {
        Method::Auto(Auto { gap_power, reuse, batch, .. }) => {
            let (order, step, cache) = match () {
                () if problem.simplices().is_some() => {
                    (Order::Lazy, BlockStep::Corrective, Caching::Off)
                }
                () if has_few_features(problem) => {
                    (Order::Gap, BlockStep::Corrective, Caching::Exhaust)
                }
                () => (Order::Gap, BlockStep::Corrective, Caching::On),
            };
            let (gap_power, reuse, batch) = (*gap_power, *reuse, *batch);
            let method = Loop { order, gap_power, step, cache, reuse, batch, ..Loop::default() };
            Method::BlockCoordinate(method)
        }
        method => method.clone(),
    };
    // Shards work until the coordinator says that it is enough.
    Ok(Settings {
        method,
        tolerance: 0.0,
        relative_tolerance: 0.0,
        max_oracle_calls: None,
        max_seconds: None,
        patience: None,
        ..settings.clone()
    })
}
