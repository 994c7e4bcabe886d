//! Batch Frank-Wolfe is the batch subgradient method with the step γ/λ.

use crate::common::bcfw;
use crate::common::chains::tieless_chain;
use crate::common::problems::{Enumerated, ViaPsi, any_polytope};
use crate::common::reference::batch_subgradient;
use crate::common::{Rows, assert_all_close, assert_certified, assert_close, cases, watch};
use maxmargin::{Problem, SettingsRecord, Solver, Status, Step};
use proptest::prelude::*;

const STEPS: usize = 9;

/// Compares every iterate of the engine with the reference.
fn compare<P: Problem>(problem: &P, dense: &Enumerated, lambda: f64, step: Step) {
    let iterates = batch_subgradient(dense, lambda, step, STEPS);
    for passes in 1..=iterates.len() {
        let settings = SettingsRecord {
            lambda: Some(lambda),
            solver: Solver::FrankWolfe,
            step,
            tolerance: 0.0,
            max_passes: passes as u64,
            threads: 1,
            ..bcfw().record()
        }
        .settings()
        .unwrap();
        let (solution, Rows(rows)) = watch(problem, &settings);
        assert_eq!(solution.status, Status::MaxPasses);
        assert_eq!(rows.len(), passes);
        // A pass calls all oracles first, so the last pass yields the gap and takes no step.
        let n = problem.examples() as u64;
        assert_eq!(solution.totals.oracle_calls, n * passes as u64);
        assert_eq!(solution.totals.visits, n * (passes as u64 - 1));
        assert_all_close(&solution.weights, &iterates[passes - 1].w, 1e-10);
        for ((record, _), point) in rows.iter().zip(&iterates) {
            let primal = dense.primal(lambda, &point.w);
            assert_close(record.primal.unwrap(), primal, 1e-10, primal);
            assert_close(record.dual, point.dual(lambda), 1e-10, primal);
        }
        assert_certified(problem, &solution);
    }
}

proptest! {
    #![proptest_config(cases(32))]

    #[test]
    fn polytopes_follow_the_subgradient_method(
        problem in any_polytope(), lambda in 0.05..2.0f64, fixed in any::<bool>()
    ) {
        let step = if fixed { Step::Fixed } else { Step::LineSearch };
        compare(&problem, &problem, lambda, step);
    }

    #[test]
    fn chains_follow_the_subgradient_method(
        case in tieless_chain(), lambda in 0.05..2.0f64, fixed in any::<bool>()
    ) {
        let step = if fixed { Step::Fixed } else { Step::LineSearch };
        let dense = case.enumerate();
        compare(&case.build(), &dense, lambda, step);
        compare(&ViaPsi(case.build()), &dense, lambda, step);
    }
}
