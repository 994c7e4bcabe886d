//! The training methods.
//!
//! `block_coordinate` is what this library is about. `batch` holds batch Frank-Wolfe and what it shares
//! with cutting planes: all oracles are called at one w. `baselines` are the methods that the papers
//! compare with. Each implements `run::session::Method`, and `run::drive` runs them all. Whatever the
//! method, the result has a feasible dual point: see
//! `docs/decisions/0005-every-method-has-a-dual-point.md`.

mod baselines;
mod batch;
mod block_coordinate;

pub(crate) use block_coordinate::BlockCoordinate;
pub(crate) use block_coordinate::active_set::has_few_features;
pub(crate) use block_coordinate::order::Picker;

use crate::dual::has_own_length;
use crate::error::TrainError;
use crate::problem::Blocks;
use crate::run::Run;
use crate::run::session::Method;
use crate::settings::Solver;
use baselines::{AdaGrad, ExponentiatedGradient, NSlack, OneSlack, Perceptron, Subgradient, Sweep};
use batch::{Batch, FrankWolfe};

/// The method that the settings of a run ask for: at its start, or as a checkpoint has `saved` it.
pub(crate) fn method<'p>(
    run: &mut Run<'p, '_>,
    saved: Option<&[u8]>,
) -> Result<Box<dyn Method<'p> + 'p>, TrainError> {
    Ok(match (run.settings.solver, saved) {
        (Solver::Auto | Solver::BlockCoordinate, None) => Box::new(BlockCoordinate::new(run)),
        (Solver::Auto | Solver::BlockCoordinate, Some(saved)) => {
            Box::new(BlockCoordinate::resume(run, saved)?)
        }
        (Solver::FrankWolfe, None) => Box::new(Batch::new(run, FrankWolfe::default())),
        (Solver::FrankWolfe, Some(saved)) => Box::new(Batch::<FrankWolfe>::resume(run, saved)?),
        (Solver::NSlack, None) => Box::new(Batch::new(run, NSlack::new(run))),
        (Solver::NSlack, Some(saved)) => Box::new(Batch::<NSlack>::resume(run, saved)?),
        (Solver::OneSlack, None) => Box::new(Batch::new(run, OneSlack::new(run))),
        (Solver::OneSlack, Some(saved)) => Box::new(Batch::<OneSlack<'p>>::resume(run, saved)?),
        (Solver::Subgradient, None) => Box::new(Sweep::new(run, Subgradient::new(run))),
        (Solver::Subgradient, Some(saved)) => {
            Box::new(Sweep::<Subgradient<'p>>::resume(run, saved)?)
        }
        (Solver::AdaGrad, None) => Box::new(Sweep::new(run, AdaGrad::new(run))),
        (Solver::AdaGrad, Some(saved)) => Box::new(Sweep::<AdaGrad>::resume(run, saved)?),
        (Solver::Perceptron, None) => Box::new(Sweep::new(run, Perceptron::new(run))),
        (Solver::Perceptron, Some(saved)) => Box::new(Sweep::<Perceptron>::resume(run, saved)?),
        (Solver::ExponentiatedGradient, None) => {
            let method = ExponentiatedGradient::new(run)?;
            Box::new(Sweep::new(run, method))
        }
        (Solver::ExponentiatedGradient, Some(saved)) => {
            Box::new(Sweep::<ExponentiatedGradient>::resume(run, saved)?)
        }
    })
}

/// Refuses problems that a solver cannot train.
pub(crate) fn check_suited(problem: &dyn Blocks, solver: Solver) -> Result<(), TrainError> {
    let unsuited = |why| Err(TrainError::Unsuited { solver, why });
    if solver == Solver::AdaGrad && has_own_length(problem) {
        return unsuited("needs weights of features, and with a kernel there are none");
    }
    if solver == Solver::ExponentiatedGradient && !has_expectations(problem) {
        return unsuited(
            "needs expectations over outputs, which this problem does not have; chains, trees, \
             classes, and sets of labels and factor graphs without cycles do, but not with a kernel or \
             under slack rescaling",
        );
    }
    Ok(())
}

fn has_expectations(problem: &dyn Blocks) -> bool {
    problem.examples() == 0 || problem.potentials(0).is_some()
}
