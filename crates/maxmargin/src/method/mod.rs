//! Methods that are not block-coordinate Frank-Wolfe.

pub(crate) mod adagrad;
pub(crate) mod batch;
pub(crate) mod eg;
pub(crate) mod n_slack;
pub(crate) mod one_slack;
pub(crate) mod perceptron;
pub(crate) mod ssg;

mod corner_store;
mod lazy_average;
mod means;
mod simplex_qp;
mod sweep;

use crate::error::TrainError;
use crate::problem::Blocks;
use crate::solver::Solver;
use crate::sums::has_own_length;

/// Refuses problems that a solver can do nothing with.
pub(crate) fn check_suited(problem: &dyn Blocks, solver: Solver) -> Result<(), TrainError> {
    let unsuited = |why| Err(TrainError::Unsuited { solver, why });
    if solver == Solver::AdaGrad && has_own_length(problem) {
        return unsuited("needs weights of features, and with a kernel there are none");
    }
    if solver == Solver::ExponentiatedGradient && problem.potentials(0).is_none() {
        return unsuited(
            "needs expectations over outputs, which this problem does not have; chains, trees, \
             classes, and sets of labels and factor graphs without cycles do, but not with a kernel or \
             under slack rescaling",
        );
    }
    Ok(())
}
