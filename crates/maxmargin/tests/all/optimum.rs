//! All methods find the optimum that a general QP solver finds.

use crate::common::chains::{any_chain, tieless_chain};
use crate::common::problems::{Enumerated, ViaPsi, Wide, any_multiclass, any_polytope};
use crate::common::rows::any_rows;
use crate::common::{assert_proven, bcfw, cases, in_batches, norm_sq, qp};
use maxmargin::{
    Average, Caching, Direction, Order, Problem, Settings, SettingsRecord, Solution, Solver, Step,
    train,
};
use proptest::prelude::*;

/// Every combination of settings.
fn methods(lambda: f64, max_passes: u64) -> Vec<Settings> {
    let base = Settings { lambda: Some(lambda), max_passes, tolerance: 1e-9, threads: 1, ..bcfw() };
    let mut all = Vec::new();
    for step in [Step::LineSearch, Step::Fixed] {
        all.push(
            SettingsRecord { solver: Solver::FrankWolfe, step, ..base.record() }
                .settings()
                .unwrap(),
        );
        for order in [Order::Uniform, Order::Permutation, Order::Cyclic] {
            for average in [Average::None, Average::Uniform, Average::Weighted] {
                all.push(
                    SettingsRecord { order, average, step, ..base.record() }.settings().unwrap(),
                );
            }
        }
    }
    for order in Order::NAMES {
        for direction in Direction::NAMES {
            for cache in Caching::NAMES {
                all.push(
                    SettingsRecord {
                        order: order.parse().unwrap(),
                        direction: direction.parse().unwrap(),
                        cache: cache.parse().unwrap(),
                        ..base.record()
                    }
                    .settings()
                    .unwrap(),
                );
            }
        }
    }
    all.extend(in_batches(&base));
    all
}

/// Trains by every method, and asserts that no dual value lies above any primal value.
fn solutions<P: Problem>(problem: &P, lambda: f64) -> Vec<(Settings, Solution)> {
    let run = |settings: Settings| {
        let solution = train(problem, &settings).unwrap();
        assert_proven(problem, &settings, &solution);
        (settings, solution)
    };
    let all: Vec<_> = methods(lambda, 150).into_iter().map(run).collect();
    for (_, Solution { certificate: a, .. }) in &all {
        for (_, Solution { certificate: b, .. }) in &all {
            assert!(a.dual <= b.primal + 1e-10 * b.primal.max(1.0), "{a:?} against {b:?}");
        }
    }
    all
}

/// Compares solutions with the optimum that the QP solver encloses.
fn hold_against_qp(dense: &Enumerated, lambda: f64, all: &[(Settings, Solution)]) {
    let optimum = qp::solve(dense, lambda);
    assert!(optimum.above - optimum.below <= 1e-7, "{optimum:?}");
    for (settings, Solution { certificate: c, totals, .. }) in all {
        assert!(c.dual <= optimum.above + 1e-7, "{c:?} against {optimum:?}");
        assert!(c.primal >= optimum.below - 1e-7, "{c:?} against {optimum:?}");
        assert!(c.primal - optimum.below <= c.gap + 1e-7, "{c:?} against {optimum:?}");
        assert!(optimum.above - c.dual <= c.gap + 1e-7, "{c:?} against {optimum:?}");
        if settings.record().solver == Solver::FrankWolfe {
            // The theorem of batch Frank-Wolfe: after k steps D is within 8R²/(λ(k + 2)).
            let corners = dense.blocks.iter().flat_map(|block| &block.corners);
            let r_sq = corners.map(|(psi, _)| norm_sq(psi)).fold(0.0, f64::max);
            let bound = 8.0 * r_sq / (lambda * (totals.passes as f64 + 1.0));
            assert!(optimum.below - c.dual <= bound + 1e-7, "{c:?} against {optimum:?}");
        }
    }
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn polytopes_have_one_optimum(problem in any_polytope(), lambda in 0.2..2.0f64) {
        let all = solutions(&problem, lambda);
        hold_against_qp(&problem, lambda, &all);
    }

    #[test]
    fn multiclass_problems_have_one_optimum(
        problem in any_multiclass(2..=4), lambda in 0.2..2.0f64
    ) {
        let dense = problem.enumerate();
        let all = solutions(&problem, lambda);
        hold_against_qp(&dense, lambda, &all);
    }

    #[test]
    fn labelled_rows_have_one_optimum(case in any_rows(2..=4), lambda in 0.2..2.0f64) {
        let all = solutions(&case.multiclass(), lambda);
        hold_against_qp(&case.enumerate(), lambda, &all);
        let all = solutions(&case.binary(), lambda);
        hold_against_qp(&case.enumerate_binary(), lambda, &all);
    }

    #[test]
    fn chains_have_one_optimum(case in tieless_chain(), lambda in 0.2..2.0f64) {
        let mut case = case;
        case.sequences.iter_mut().for_each(|s| s.tokens.truncate(3));
        let dense = case.enumerate();
        let mut all = solutions(&case.build(), lambda);
        all.extend(solutions(&ViaPsi(case.build()), lambda));
        hold_against_qp(&dense, lambda, &all);
    }

    #[test]
    fn chains_with_ties_have_one_optimum(case in any_chain(), lambda in 0.2..2.0f64) {
        let mut case = case;
        case.sequences.truncate(3);
        let most = if case.labels > 3 { 2 } else { 3 };
        case.sequences.iter_mut().for_each(|s| s.tokens.truncate(most));
        let dense = case.enumerate();
        let all = solutions(&case.build(), lambda);
        hold_against_qp(&dense, lambda, &all);
    }
}

proptest! {
    #![proptest_config(cases(3))]

    /// Blocks remember the corners of wide problems by their parts.
    #[test]
    fn wide_chains_have_one_optimum(case in tieless_chain(), lambda in 0.2..2.0f64) {
        let mut case = case;
        case.sequences.iter_mut().for_each(|s| s.tokens.truncate(3));
        let all = solutions(&Wide(case.build()), lambda);
        hold_against_qp(&case.enumerate(), lambda, &all);
    }
}

/// A small gap means that both values are close to the optimum.
#[test]
fn a_tiny_gap_is_the_optimum() {
    let chain = maxmargin::doc::toy();
    let reach = |settings: Settings| train(&chain, &settings).unwrap().certificate;
    let base = Settings { tolerance: 1e-4, max_passes: 100_000, ..bcfw() };
    let a = reach(base.clone());
    let b =
        reach(SettingsRecord { solver: Solver::FrankWolfe, ..base.record() }.settings().unwrap());
    assert!(a.gap <= 1e-4 && b.gap <= 1e-4, "{a:?} {b:?}");
    assert!((a.primal - b.primal).abs() <= 1e-4 && (a.dual - b.dual).abs() <= 1e-4);
}
