//! Factor graphs trained with their relaxation, against an interior point method over the local polytope,
//! and against training with labellings.

use crate::common::factor_graphs::{GraphCase, any_binary_graphs, any_graphs, frustrated_graphs};
use crate::common::{assert_certified, assert_close, bcfw, cases};
use maxmargin::inference::Inference;
use maxmargin::model::factor_graph::{FactorGraph, Graphs, StateLoss};
use maxmargin::{
    Block, Bounds, Caching, Direction, Order, PathSettings, Problem, Quality, Rng, Settings,
    SettingsRecord, Solver, regularization_path, train,
};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;

proptest! {
    #![proptest_config(cases(16))]

    /// For every method that finds corners, the relaxed optimum is that of a general QP solver over the
    /// local polytope. The true optimum is not above it.
    #[test]
    fn fractional_corners_train_to_the_relaxed_optimum(
        case in frustrated_graphs(), lambda in 0.02..1.0f64
    ) {
        check_relaxed_optimum(&case, lambda, &[Inference::Lp, Inference::RoofDuality]);
    }

    #[test]
    fn any_relaxation_trains_to_its_optimum(case in any_graphs(), lambda in 0.1..1.0f64) {
        let mut case = case;
        case.graphs.truncate(2);
        check_relaxed_optimum(&case, lambda, &[Inference::Lp]);
    }

    #[test]
    fn roof_duality_trains_to_the_relaxed_optimum(
        case in any_binary_graphs(), lambda in 0.1..1.0f64
    ) {
        let mut case = case;
        case.graphs.truncate(2);
        check_relaxed_optimum(&case, lambda, &[Inference::RoofDuality]);
    }

}

fn methods(lambda: f64) -> Vec<Settings> {
    let base = Settings { lambda: Some(lambda), max_passes: 400, tolerance: 1e-8, ..bcfw() };
    vec![
        SettingsRecord { solver: Solver::FrankWolfe, ..base.record() }.settings().unwrap(),
        SettingsRecord { order: Order::Permutation, ..base.record() }.settings().unwrap(),
        SettingsRecord { direction: Direction::Pairwise, order: Order::Gap, ..base.record() }
            .settings()
            .unwrap(),
        SettingsRecord { direction: Direction::Away, cache: Caching::On, ..base.record() }
            .settings()
            .unwrap(),
        SettingsRecord { direction: Direction::Corrective, cache: Caching::On, ..base.record() }
            .settings()
            .unwrap(),
        SettingsRecord {
            solver: Solver::Auto,
            max_passes: 20_000,
            tolerance: 1e-6,
            ..base.record()
        }
        .settings()
        .unwrap(),
    ]
}

pub(crate) fn check_relaxed_optimum(case: &GraphCase, lambda: f64, ways: &[Inference]) {
    let optimum = case.relaxed_optimum(lambda);
    assert!(optimum.above - optimum.below <= 1e-6, "{optimum:?}");
    let mut closest = f64::INFINITY;
    for &inference in ways {
        let problem = case.build(inference);
        for settings in methods(lambda) {
            let solution = train(&problem, &settings).unwrap();
            assert_certified(&problem, &solution);
            let c = solution.certificate;
            assert_eq!((c.quality, solution.totals.oracle_failures), (Quality::UpperBound, 0));
            assert!(c.dual <= optimum.above + 1e-6, "{c:?} against {optimum:?}");
            assert!(c.primal >= optimum.below - 1e-6, "{c:?} against {optimum:?}");
            assert!(optimum.above - c.dual <= c.gap + 2e-6, "{c:?} against {optimum:?}");
            // The primal agrees with an interior point method, and bounds the true objective.
            let own = case.relaxed_primal(lambda, &solution.weights);
            assert_close(c.primal, own, 1e-6, own);
            let exact = case.enumerate().primal(lambda, &solution.weights);
            assert!(c.primal >= exact - 1e-9 * exact.abs().max(1.0));
            closest = closest.min(c.gap);
        }
    }
    assert!(closest <= 1e-5, "no method has come near: {closest:e}");
    // The optimum of the relaxation is not below the true one.
    let problem = case.build(Inference::Enumerate);
    let settings = methods(lambda).pop().unwrap();
    let exact = train(&problem, &settings).unwrap().certificate;
    assert!(exact.dual <= optimum.above + 1e-6, "{exact:?} against {optimum:?}");
}

/// A triangle whose relaxation is not tight, so that fractional corners carry mass.
#[test]
fn a_triangle_trains_on_fractional_corners() {
    let mut data = Graphs::new();
    for truth in [[0, 0, 1], [1, 0, 1], [1, 1, 0]] {
        for state in truth {
            let v = data.push_variable(2, state).unwrap();
            let hint = if v == 2 { 0.0 } else { f64::from(state) - 0.5 };
            data.push_factor(0, &[v], [(0, hint)]).unwrap();
        }
        for (a, b) in [(0, 1), (1, 2), (0, 2)] {
            data.push_factor(1, &[a, b], [(0, 1.0)]).unwrap();
        }
        data.end_graph(1.0).unwrap();
    }
    let settings = Settings { lambda: Some(0.01), tolerance: 1e-6, ..Settings::default() };
    let solve = |inference| {
        let shape = data.shape().unwrap();
        let problem =
            FactorGraph::new(shape, data.clone(), StateLoss::default(), inference).unwrap();
        let solution = train(&problem, &settings).unwrap();
        assert!(solution.certificate.gap <= 1e-6, "{:?}", solution.certificate);
        assert_certified(&problem, &solution);
        solution
    };
    let exact = solve(Inference::Enumerate);
    for inference in [Inference::Lp, Inference::RoofDuality] {
        let relaxed = solve(inference);
        assert!(relaxed.certificate.dual > exact.certificate.primal + 1e-3, "strictly looser");
        let halves = |block: &Block| {
            let masses = block.parts.iter().map(|entry| entry.1);
            masses.filter(|mass| *mass > 0.01 && *mass < 0.99).count()
        };
        assert!(relaxed.dual.blocks.iter().any(|block| halves(block) > 0));
    }
}

/// If a solver fails, the certificate promises less.
#[test]
fn a_failed_solver_leaves_the_certificate_unproven() {
    use maxmargin::inference::{LinearProgram, LpError, SimplexMethod, SolveLp};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Fails at its tenth program.
    #[derive(Debug, Default)]
    struct Tired(AtomicUsize);

    impl SolveLp for Tired {
        fn solve(&self, lp: &LinearProgram, x: &mut Vec<f64>) -> Result<(), LpError> {
            match self.0.fetch_add(1, Ordering::Relaxed) {
                9 => Err(LpError { solver: "tired", why: "enough".into() }),
                _ => SimplexMethod.solve(lp, x),
            }
        }
        fn solve_dual(&self, lp: &LinearProgram, y: &mut Vec<f64>) -> Result<(), LpError> {
            SimplexMethod.solve_dual(lp, y)
        }
    }

    let mut data = Graphs::new();
    for truth in [[0, 1, 2], [2, 1, 1]] {
        for state in truth {
            let v = data.push_variable(3, state).unwrap();
            data.push_factor(0, &[v], [(state, 1.0)]).unwrap();
        }
        for (a, b) in [(0, 1), (1, 2), (2, 0)] {
            data.push_factor(1, &[a, b], [(0, 1.0)]).unwrap();
        }
        data.end_graph(1.0).unwrap();
    }
    let shape = data.shape().unwrap();
    let problem = FactorGraph::new(shape, data, StateLoss::default(), Inference::Lp).unwrap();
    let problem = problem.with_solver(Arc::new(Tired::default()));
    assert_eq!(problem.quality(), Quality::UpperBound);
    let settings = Settings { max_passes: 10, tolerance: 0.0, threads: 1, ..bcfw() };
    let solution = train(&problem, &settings).unwrap();
    assert_eq!(solution.certificate.quality, Quality::Unproven);
}

/// If neighbours may only attract each other, the bounds hold and the relaxation is exact.
#[test]
fn attractive_pairs_make_the_relaxation_exact() {
    let (mut rng, mut data) = (Rng::new(4), Graphs::new());
    for _ in 0..20 {
        for _ in 0..5 {
            let state = rng.below(2) as u32;
            let v = data.push_variable(2, state).unwrap();
            let hint = f64::from(state) - 0.5 + rng.unit_f64() - 0.5;
            data.push_factor(0, &[v], [(0, hint), (1, 1.0)]).unwrap();
        }
        for (a, b) in [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (0, 2)] {
            data.push_factor(1, &[a, b], [(0, 1.0)]).unwrap();
        }
        data.end_graph(1.0).unwrap();
    }
    let shape = data.shape().unwrap();
    // Weights of equal states at least 0, of different states at most 0.
    let start = shape.block(1).start;
    let mut bounds = Bounds::none(shape.dim());
    for (joint, equal) in [(0, true), (1, false), (2, false), (3, true)] {
        let (lower, upper) = if equal { (0.0, f64::INFINITY) } else { (f64::NEG_INFINITY, 0.0) };
        bounds = bounds.with(start + joint..start + joint + 1, lower, upper).unwrap();
    }
    let settings = Settings { lambda: Some(0.01), tolerance: 1e-5, ..Settings::default() };
    let settings = Settings { max_passes: 5000, ..settings };
    let solve = |inference| {
        let (shape, data) = (shape.clone(), data.clone());
        let problem = FactorGraph::new(shape, data, StateLoss::default(), inference).unwrap();
        let problem = problem.with_bounds(Some(bounds.clone()));
        let solution = train(&problem, &settings).unwrap();
        assert_certified(&problem, &solution);
        let w = &solution.weights[start..];
        assert!(w[0] >= 0.0 && w[3] >= 0.0 && w[1] <= 0.0 && w[2] <= 0.0, "{w:?}");
        solution.certificate
    };
    let (exact, roof) = (solve(Inference::Enumerate), solve(Inference::RoofDuality));
    assert!(exact.gap <= 1e-5 && roof.gap <= 1e-5);
    assert_close(exact.primal, roof.primal, 2e-5, 1.0);
}

/// The path of a relaxation keeps its guarantee for the relaxed problem at every λ.
#[test]
fn the_path_of_a_relaxation_is_guaranteed() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let case = frustrated_graphs().new_tree(&mut runner).unwrap().current();
    let settings = PathSettings { epsilon: 0.05, lambda_min: 1e-2, ..PathSettings::default() };
    for inference in [Inference::RoofDuality, Inference::Lp] {
        let path = regularization_path(&case.build(inference), &settings).unwrap();
        assert!(path.is_guaranteed() && path.breakpoints.len() > 2);
        for lambda in [0.02, 0.05, 0.3, 2.0, 50.0] {
            let w = path.weights_at(lambda).unwrap();
            let above = case.relaxed_primal(lambda, &w) - case.relaxed_optimum(lambda).below;
            assert!(above <= 0.05 + 1e-6, "{above} above the optimum at {lambda}");
        }
    }
}
