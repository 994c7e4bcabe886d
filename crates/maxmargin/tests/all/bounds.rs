//! Weights with bounds: every method finds the optimum of a general QP solver.

use crate::common::chains::tieless_chain;
use crate::common::problems::{Enumerated, EnumeratedBlock, any_multiclass, any_polytope, bounded};
use crate::common::reference::visits;
use crate::common::rows::any_rows;
use crate::common::subgradients::{average, dual_averaging};
use crate::common::{
    assert_all_close, assert_close, assert_proven, bcfw, cases, in_batches, norm_sq, qp, watch,
};
use maxmargin::ProblemExt as _;
use maxmargin::{
    Average, Bounded, Bounds, BoundsError, Caching, Direction, Order, Problem, Settings,
    SettingsRecord, Solver, Step, TrainError, train,
};
use proptest::collection::vec;
use proptest::prelude::*;

/// Bounds of all kinds: infinite, on one side, on both sides, at one point; with and without 0 inside.
pub(crate) fn any_bounds(dim: usize) -> impl Strategy<Value = Bounds> {
    let one = (0..6u8, -0.5..0.5f64, 0.0..0.5f64).prop_map(|(kind, at, width)| match kind {
        0 => (f64::NEG_INFINITY, f64::INFINITY),
        1 => (0.0, f64::INFINITY),
        2 => (at, f64::INFINITY),
        3 => (f64::NEG_INFINITY, at),
        4 => (at, at + width),
        _ => (at, at),
    });
    vec(one, dim).prop_map(|pairs| {
        let (lower, upper) = pairs.into_iter().unzip();
        Bounds::new(lower, upper).unwrap()
    })
}

/// A problem with bounds that fit it.
fn polytope_in_a_box() -> impl Strategy<Value = (Enumerated, Bounds)> {
    any_polytope().prop_flat_map(|problem| {
        let dim = problem.dim;
        (Just(problem), any_bounds(dim))
    })
}

fn methods(lambda: f64) -> Vec<Settings> {
    let base =
        Settings { lambda: Some(lambda), max_passes: 100, tolerance: 1e-9, threads: 1, ..bcfw() };
    let mut all = Vec::new();
    for step in [Step::LineSearch, Step::Fixed, Step::Short] {
        all.push(
            SettingsRecord { solver: Solver::FrankWolfe, step, ..base.record() }
                .settings()
                .unwrap(),
        );
        for average in [Average::None, Average::Weighted] {
            all.push(SettingsRecord { step, average, ..base.record() }.settings().unwrap());
        }
    }
    all.push(SettingsRecord { solver: Solver::Auto, ..base.record() }.settings().unwrap());
    all.push(SettingsRecord { solver: Solver::NSlack, ..base.record() }.settings().unwrap());
    all.push(SettingsRecord { solver: Solver::OneSlack, ..base.record() }.settings().unwrap());
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

fn within(bounds: &Bounds, w: &[f64]) -> bool {
    w.iter().enumerate().all(|(at, &w)| bounds.clip(at, w) == w)
}

/// Trains by every method, and compares each result with the optimum of the QP solver.
fn hold_against_qp<P: Problem>(problem: &P, dense: &Enumerated, lambda: f64) {
    let bounds = problem.bounds().unwrap();
    let optimum = qp::solve_within(dense, lambda, bounds);
    assert!(optimum.above - optimum.below <= 1e-6, "{optimum:?}");
    for settings in methods(lambda) {
        let (solution, rows) =
            watch(problem, &Settings { block_gaps: true, gap_every: 1, ..settings.clone() });
        assert_proven(problem, &settings, &solution);
        assert!(within(bounds, &solution.weights), "{:?}", solution.weights);
        let c = solution.certificate;
        assert_close(c.primal, dense.primal(lambda, &solution.weights), 1e-10, c.primal);
        assert!(c.dual <= optimum.above + 1e-6, "{settings:?}: {c:?} against {optimum:?}");
        assert!(c.primal >= optimum.below - 1e-6, "{settings:?}: {c:?} against {optimum:?}");
        assert!(c.primal - optimum.below <= c.gap + 1e-6, "{settings:?}: {c:?}, {optimum:?}");

        let mut before = f64::NEG_INFINITY;
        for (record, gaps) in &rows.0 {
            let sum: f64 = gaps.as_ref().unwrap().iter().sum();
            let primal = record.primal.unwrap();
            let own = record.average_dual.unwrap_or(record.dual);
            assert_close(sum, primal - own, 1e-10, primal);
            if settings.record().step == Step::LineSearch
                || settings.record().average != Average::None
            {
                assert!(
                    record.dual >= before - 1e-12,
                    "{settings:?}: {} after {before}",
                    record.dual
                );
                before = record.dual;
            }
        }
        if settings.record().solver == Solver::FrankWolfe {
            // The theorem of batch Frank-Wolfe holds unchanged, because clipping does not make the dual
            // steeper.
            let corners = dense.blocks.iter().flat_map(|block| &block.corners);
            let r_sq = corners.map(|(psi, _)| norm_sq(psi)).fold(0.0, f64::max);
            let bound = 8.0 * r_sq / (lambda * (solution.totals.passes as f64 + 1.0));
            assert!(optimum.below - c.dual <= bound + 1e-6, "{c:?} against {optimum:?}");
        }
    }
}

/// Trains by the methods that visit example by example, and compares each result with the optimum of the
/// QP solver.
fn hold_baselines_against_qp<P: Problem>(problem: &P, dense: &Enumerated, lambda: f64) {
    let bounds = problem.bounds().unwrap();
    let optimum = qp::solve_within(dense, lambda, bounds);
    let start: Vec<f64> = (0..dense.dim).map(|j| bounds.clip(j, 0.0)).collect();
    let scale = dense.primal(lambda, &start).max(1.0);
    let mut all = vec![(Solver::Perceptron, Average::None, f64::INFINITY)];
    for average in [Average::None, Average::Uniform, Average::Weighted, Average::Half] {
        all.push((Solver::Subgradient, average, 0.5));
        all.push((Solver::AdaGrad, average, 0.5));
    }
    if problem.expectations().is_some() {
        all.push((Solver::ExponentiatedGradient, Average::None, 0.3));
    }
    for (solver, average, near) in all {
        let settings = SettingsRecord {
            solver,
            average,
            lambda: Some(lambda),
            max_passes: 400,
            tolerance: 1e-6,
            threads: 1,
            ..SettingsRecord::default()
        }
        .settings()
        .unwrap();
        let (solution, rows) = watch(problem, &settings);
        assert_proven(problem, &settings, &solution);
        let (c, name) = (solution.certificate, format!("{solver} {average}"));
        assert!(within(bounds, &solution.weights), "{name}: {:?}", solution.weights);
        assert_close(c.primal, dense.primal(lambda, &solution.weights), 1e-10, c.primal);
        for (row, _) in &rows.0 {
            assert!(row.dual <= optimum.above + 1e-6, "{name}: {row:?} against {optimum:?}");
            let primal = row.primal.unwrap_or(f64::INFINITY);
            assert!(primal >= optimum.below - 1e-6, "{name}: {row:?} against {optimum:?}");
        }
        let off = c.primal - optimum.below;
        assert!(off <= c.gap + 1e-6 && off <= near * scale, "{name}: {c:?}, {optimum:?}");
    }
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn baselines_keep_bounds_on_polytopes(
        (problem, bounds) in polytope_in_a_box(),
        lambda in 0.2..2.0f64
    ) {
        let dense = problem.clone();
        hold_baselines_against_qp(&bounded(problem, bounds), &dense, lambda);
    }

    /// With oracles with scaled losses, and with expectations.
    #[test]
    fn baselines_keep_bounds_on_chains(
        (case, bounds) in tieless_chain().prop_flat_map(|mut case| {
            case.sequences.truncate(3);
            case.sequences.iter_mut().for_each(|s| s.tokens.truncate(2));
            let d = case.build().dim();
            (Just(case), any_bounds(d))
        }),
        lambda in 0.2..2.0f64
    ) {
        hold_baselines_against_qp(&Bounded::new(case.build(), bounds), &case.enumerate(), lambda);
    }

    /// The lazy weights of subgradient steps equal those of dense steps that clip all weights every time.
    #[test]
    fn subgradient_steps_within_bounds_are_the_dense_ones(
        (problem, bounds) in polytope_in_a_box(),
        lambda in 0.2..2.0f64
    ) {
        const PASSES: usize = 5;
        let n = problem.blocks.len();
        let visits = visits(Order::Cyclic, n, 1, PASSES * n);
        let means = dual_averaging(&problem, lambda, &bounds, &visits);
        if means.len() == PASSES * n {
            let problem = bounded(problem, bounds.clone());
            for kind in [Average::None, Average::Uniform, Average::Weighted, Average::Half] {
                let settings = SettingsRecord {
                    solver: Solver::Subgradient,
                    lambda: Some(lambda),
                    average: kind,
                    order: Order::Cyclic,
                    tolerance: 0.0,
                    max_passes: PASSES as u64,
                    threads: 1,
                    ..SettingsRecord::default()
                }.settings().unwrap();
                let solution = train(&problem, &settings).unwrap();
                let mean = average(&means, kind);
                let clipped: Vec<f64> =
                    mean.iter().enumerate().map(|(j, &v)| bounds.clip(j, v)).collect();
                assert_all_close(&solution.weights, &clipped, 1e-9);
                assert!(solution.totals.drift.weights < 1e-9, "{:?}", solution.totals.drift);
            }
        }
    }

    #[test]
    fn bounded_polytopes_have_one_optimum(
        (problem, bounds) in polytope_in_a_box(),
        lambda in 0.2..2.0f64
    ) {
        let dense = problem.clone();
        hold_against_qp(&bounded(problem, bounds), &dense, lambda);
    }

    #[test]
    fn bounded_multiclass_problems_have_one_optimum(
        (problem, bounds) in any_multiclass(2..=3)
            .prop_flat_map(|p| { let d = p.dim(); (Just(p), any_bounds(d)) }),
        lambda in 0.2..2.0f64
    ) {
        let dense = problem.enumerate();
        hold_against_qp(&bounded(problem, bounds), &dense, lambda);
    }

    /// Problems with closed forms for simplices, which bounds disable.
    #[test]
    fn bounded_rows_have_one_optimum(
        (case, bounds, other) in any_rows(2..=3).prop_flat_map(|case| {
            let (d, e) = (case.multiclass().dim(), case.binary().dim());
            (Just(case), any_bounds(d), any_bounds(e))
        }),
        lambda in 0.2..2.0f64
    ) {
        hold_against_qp(&Bounded::new(case.multiclass(), bounds), &case.enumerate(), lambda);
        hold_against_qp(&Bounded::new(case.binary(), other), &case.enumerate_binary(), lambda);
    }

    #[test]
    fn bounded_chains_have_one_optimum(
        (case, bounds) in tieless_chain().prop_flat_map(|mut case| {
            case.sequences.truncate(3);
            case.sequences.iter_mut().for_each(|s| s.tokens.truncate(2));
            let d = case.build().dim();
            (Just(case), any_bounds(d))
        }),
        lambda in 0.2..2.0f64
    ) {
        let dense = case.enumerate();
        hold_against_qp(&bounded(case.build(), bounds), &dense, lambda);
    }

    #[test]
    fn bounds_out_of_reach_leave_the_optimum_where_it_is(problem in any_polytope(), lambda in 0.2..2.0f64) {
        let far = Bounds::none(problem.dim).with(0..problem.dim, -1e6, 1e6).unwrap();
        let far = bounded(problem.clone(), far);
        for settings in methods(lambda) {
            let settings = Settings { max_passes: 20, ..settings };
            let (free, held) = (train(&problem, &settings).unwrap(), train(&far, &settings).unwrap());
            assert!(free.certificate.dual <= held.certificate.primal + 1e-9);
            assert!(held.certificate.dual <= free.certificate.primal + 1e-9);
        }
    }
}

/// One example with ψ = (2, 1) and loss 1, and the first weight fixed at 0. With λ = 1 the exact step
/// goes all the way to w = (0, 1), while a step with λ‖Δv‖² in the denominator would stop at 1/5 of it.
#[test]
fn the_exact_line_search_goes_further_than_the_short_step() {
    let corners = vec![(vec![0.0, 0.0], 0.0), (vec![2.0, 1.0], 1.0)];
    let problem = Enumerated { dim: 2, blocks: vec![EnumeratedBlock { weight: 1.0, corners }] };
    let bounds = Bounds::none(2).with(0..1, f64::NEG_INFINITY, 0.0).unwrap();
    let settings = Settings { lambda: Some(1.0), max_passes: 1, ..bcfw() };
    let problem = bounded(problem, bounds);
    let solution = train(&problem, &settings).unwrap();
    let (slope, quotient) = (1.0, 5.0);
    let short: f64 = slope / quotient;
    let dual_of = |gamma: f64| gamma - 0.5 * gamma * gamma;
    assert_eq!(solution.weights, [0.0, 1.0]);
    assert_eq!(solution.certificate.dual, dual_of(1.0));
    let settings = SettingsRecord { step: Step::Short, ..settings.record() }.settings().unwrap();
    let held_back = train(&problem, &settings).unwrap();
    assert_eq!(held_back.weights, [0.0, short]);
    assert_close(held_back.certificate.dual, dual_of(short), 1e-12, 1.0);
}

#[test]
fn bounds_of_the_wrong_size_are_refused() {
    let problem = bounded(maxmargin::doc::toy(), Bounds::none(3));
    let error = train(&problem, &Settings::default()).unwrap_err();
    assert_eq!(error, TrainError::Bounds(BoundsError::Size { lower: 3, upper: 3, expected: 18 }));
    let text = "3 lower and 3 upper bounds were given, 18 of each are needed";
    assert_eq!(error.to_string(), text);
}

#[test]
fn invalid_bounds_are_rejected() {
    for (lower, upper) in [
        (f64::NAN, 1.0),
        (0.0, f64::NAN),
        (1.0, 0.5),
        (f64::INFINITY, f64::INFINITY),
        (f64::NEG_INFINITY, f64::NEG_INFINITY),
    ] {
        assert!(Bounds::new(vec![lower], vec![upper]).is_err(), "{lower} to {upper}");
        assert!(Bounds::none(1).with(0..1, lower, upper).is_err(), "{lower} to {upper}");
    }
}
