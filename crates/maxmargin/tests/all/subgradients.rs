//! Subgradient methods and the perceptron, step by step against dense versions.

use crate::common::chains::tieless_chain;
use crate::common::problems::{Enumerated, ViaPsi, any_polytope};
use crate::common::reference::{BlockCoordinate, visits};
use crate::common::subgradients::{adagrad, average, pegasos, perceptron};
use crate::common::{
    assert_all_close, assert_bounded, assert_certified, assert_close, bcfw, cases, dot, watch,
};
use maxmargin::doc::toy;
use maxmargin::{
    Average, Order, Problem, Settings, SettingsRecord, Solution, Solver, Step, TrainError, train,
};
use proptest::prelude::*;

const AVERAGES: [Average; 4] = [Average::None, Average::Uniform, Average::Weighted, Average::Half];

const PASSES: usize = 5;

fn after<P: Problem>(problem: &P, solver: Solver, lambda: f64, average: Average) -> Solution {
    after_in(Order::Cyclic, problem, solver, lambda, average)
}

fn after_in<P: Problem>(
    order: Order,
    problem: &P,
    solver: Solver,
    lambda: f64,
    average: Average,
) -> Solution {
    let settings = SettingsRecord {
        solver,
        lambda: Some(lambda),
        average,
        order,
        tolerance: 0.0,
        max_passes: PASSES as u64,
        threads: 1,
        ..SettingsRecord::default()
    }
    .settings()
    .unwrap();
    train(problem, &settings).unwrap()
}

/// Compares the iterates of Pegasos with dense ones, unless an oracle had a choice.
fn check_pegasos<P: Problem>(problem: &P, dense: &Enumerated, lambda: f64) {
    for order in [Order::Cyclic, Order::Uniform] {
        check_pegasos_in(order, problem, dense, lambda);
    }
}

fn check_pegasos_in<P: Problem>(order: Order, problem: &P, dense: &Enumerated, lambda: f64) {
    let n = dense.blocks.len();
    let iterates = pegasos(dense, lambda, &visits(order, n, 1, PASSES * n));
    if iterates.len() < PASSES * n {
        return;
    }
    for kind in AVERAGES {
        let solution = after_in(order, problem, Solver::Subgradient, lambda, kind);
        assert_all_close(&solution.weights, &average(&iterates, kind), 1e-9);
        assert_bounded(problem, &solution);
        // Only whole passes make weights of a dual point.
        if kind == Average::None && order == Order::Cyclic {
            assert_certified(problem, &solution);
            assert!(solution.totals.drift.weights < 1e-9, "{:?}", solution.totals.drift);
        }
    }
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn pegasos_steps_are_the_dense_ones(problem in any_polytope(), lambda in 0.1..2.0f64) {
        check_pegasos(&problem, &problem, lambda);
    }

    /// With the oracle with scaled losses, and with plain weights.
    #[test]
    fn pegasos_steps_on_chains(case in tieless_chain(), lambda in 0.1..2.0f64) {
        let mut case = case;
        case.sequences.iter_mut().for_each(|s| s.tokens.truncate(3));
        let dense = case.enumerate();
        check_pegasos(&case.build(), &dense, lambda);
        check_pegasos(&ViaPsi(case.build()), &dense, lambda);
    }

    #[test]
    fn adagrad_steps_are_the_dense_ones(problem in any_polytope(), lambda in 0.1..2.0f64) {
        let n = problem.blocks.len();
        let iterates = adagrad(&problem, lambda, 0.1, &visits(Order::Cyclic, n, 1, PASSES * n));
        if iterates.len() == PASSES * n {
            let solution = after(&problem, Solver::AdaGrad, lambda, Average::None);
            assert_all_close(&solution.weights, &iterates[PASSES * n - 1], 1e-9);
            assert_bounded(&problem, &solution);
        }
    }

    #[test]
    fn perceptrons_are_the_dense_ones(problem in any_polytope()) {
        let n = problem.blocks.len();
        let iterates = perceptron(&problem, &visits(Order::Cyclic, n, 1, PASSES * n));
        if iterates.len() == PASSES * n {
            let solution = after(&problem, Solver::Perceptron, 1.0, Average::None);
            assert_all_close(&solution.weights, &average(&iterates, Average::Uniform), 1e-9);
            assert_bounded(&problem, &solution);
            assert_eq!(solution.certificate.dual, 0.0);
        }
    }

    /// The uniform average of block-coordinate Frank-Wolfe, which is an average of dual points.
    #[test]
    fn uniform_averages_of_dual_iterates(problem in any_polytope(), lambda in 0.1..2.0f64) {
        let n = problem.blocks.len();
        let mut reference = BlockCoordinate::new(&problem, lambda);
        let mut iterates = Vec::new();
        for i in visits(Order::Cyclic, n, 1, PASSES * n) {
            if reference.visit(i, Step::LineSearch).is_none() {
                return Ok(());
            }
            iterates.push(reference.now.w.clone());
        }
        let solution = after(&problem, Solver::BlockCoordinate, lambda, Average::Uniform);
        assert_all_close(&solution.weights, &average(&iterates, Average::Uniform), 1e-9);
        assert_bounded(&problem, &solution);
    }
}

/// The estimate of a row is the sum of the hinges in its pass and the regularizer at its end.
#[test]
fn rows_between_checks_have_estimates() {
    let chain = toy();
    for solver in [Solver::Subgradient, Solver::AdaGrad] {
        let settings = Settings {
            method: solver.into(),
            tolerance: 0.0,
            max_passes: 12,
            gap_every: 5,
            ..Settings::default()
        };
        let (_, rows) = watch(&chain, &settings);
        assert_eq!(rows.0.len(), 12);
        for (row, _) in &rows.0 {
            let exact = row.pass % 5 == 0 || row.pass == 12;
            assert_eq!((row.gap.is_some(), row.estimate.is_some()), (exact, !exact), "{row:?}");
            let primal = row.primal.or(row.estimate).unwrap();
            assert!(row.dual <= primal + 1.0 && primal.is_finite());
        }
    }
    let (_, rows) = watch(&chain, &Settings { max_passes: 3, tolerance: 0.0, ..bcfw() });
    assert!(rows.0.iter().all(|(row, _)| row.estimate.is_none()));
}

/// In the first pass, the estimate of a single example is its loss.
#[test]
fn the_estimate_of_a_single_example_is_exact_one_step_late() {
    let case = Enumerated {
        dim: 1,
        blocks: vec![crate::common::problems::EnumeratedBlock {
            weight: 1.0,
            corners: vec![(vec![0.0], 0.0), (vec![1.0], 1.0)],
        }],
    };
    let settings = Settings {
        method: Solver::Subgradient.into(),
        lambda: Some(2.0),
        tolerance: 0.0,
        max_passes: 2,
        gap_every: 2,
        ..Settings::default()
    };
    let (solution, rows) = watch(&case, &settings);
    // At w = 0 the hinge is 1, and then w = 1/λ = 1/2; there it is 1/2, and w stays.
    assert_eq!(rows.0[0].0.estimate, Some(1.0 + 0.25));
    assert_eq!(rows.0[0].0.dual, 1.0 - 0.25);
    assert_eq!(solution.weights, [0.5]);
    assert_close(solution.certificate.primal, 0.75, 1e-15, 1.0);
    assert_eq!(solution.certificate.gap, 0.0);
}

/// If a run ends within a pass, the weights are those of the mean corners, and the gap is true.
#[test]
fn a_limit_within_a_pass_leaves_a_dual_point() {
    let chain = toy();
    for calls in 1..=11 {
        let settings = Settings {
            method: Solver::Subgradient.into(),
            max_oracle_calls: Some(calls),
            tolerance: 0.0,
            ..Settings::default()
        };
        let solution = train(&chain, &settings).unwrap();
        assert_certified(&chain, &solution);
        for solver in [Solver::AdaGrad, Solver::Perceptron] {
            let solution =
                train(&chain, &SettingsRecord { solver, ..settings.record() }.settings().unwrap())
                    .unwrap();
            assert_bounded(&chain, &solution);
        }
    }
}

/// Rejects a rate that is not finite, and a rate for a method that has none.
#[test]
fn rates_are_checked() {
    let refused = |settings: Settings| train(&toy(), &settings).unwrap_err().to_string();
    let rate = |rate| {
        SettingsRecord { rate, solver: Solver::AdaGrad, ..SettingsRecord::default() }
            .settings()
            .unwrap()
    };
    assert_eq!(refused(rate(0.0)), "rate is 0; it must be a positive finite number");
    assert!(refused(rate(f64::NAN)).starts_with("rate is NaN"));
    let other = SettingsRecord { solver: Solver::Subgradient, ..rate(2.0).record() };
    let told = other.settings().unwrap_err().to_string();
    assert_eq!(told, "rate 2 cannot be combined with solver ssg: only adagrad has a rate");
}

/// Numbers that are not finite end the run with an error.
#[test]
fn overflow_is_reported() {
    let mut problem = Enumerated {
        dim: 1,
        blocks: vec![crate::common::problems::EnumeratedBlock {
            weight: 1.0,
            corners: vec![(vec![0.0], 0.0), (vec![1e300], 1.0)],
        }],
    };
    for solver in [Solver::Subgradient, Solver::NSlack, Solver::OneSlack] {
        let settings =
            Settings { method: solver.into(), lambda: Some(1e-9), ..Settings::default() };
        let error = train(&problem, &settings).unwrap_err();
        let is_told = matches!(error, TrainError::Overflow | TrainError::NotFinite { .. });
        assert!(is_told, "{solver}: {error}");
    }
    problem.blocks[0].corners[1] = (vec![f64::NAN], 1.0);
    for solver in ["ssg", "adagrad", "perceptron", "n-slack", "1-slack"] {
        let solver: Solver = solver.parse().unwrap();
        let outcome = train(&problem, &Settings { method: solver.into(), ..Settings::default() });
        if let Ok(solution) = outcome {
            // Plain decoding may never look at the bad corner.
            assert!(dot(&solution.weights, &solution.weights).is_finite(), "{solver}");
        }
    }
}
