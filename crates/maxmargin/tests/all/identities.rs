//! Identities between primal, dual, gap, blocks and weights that always hold.

use crate::common::bcfw;
use crate::common::chains::any_chain;
use crate::common::factor_graphs::{any_binary_graphs, any_graphs};
use crate::common::multilabels::any_labels;
use crate::common::problems::{Enumerated, EnumeratedBlock, ViaPsi, any_multiclass, any_polytope};
use crate::common::rows::any_rows;
use crate::common::{
    Rows, assert_all_close, assert_certified, assert_close, assert_proven, audit_of, cases, minus,
    norm_sq, watch,
};
use maxmargin::inference::Inference;
use maxmargin::{
    Average, Caching, Direction, DualPoint, Order, Problem, Rng, Settings, SettingsRecord,
    Solution, Solver, Step, audit,
};
use proptest::prelude::*;

/// Random settings, with and without a line search, with which the dual never decreases.
fn settings() -> impl Strategy<Value = Settings> {
    let base =
        (0.01..2.0f64, 1u64..4, any::<u64>()).prop_map(|(lambda, gap_every, seed)| Settings {
            lambda: Some(lambda),
            gap_every,
            seed,
            tolerance: 0.0,
            max_passes: 12,
            threads: 1,
            block_gaps: true,
            ..bcfw()
        });
    let step = prop_oneof![3 => Just(Step::LineSearch), 1 => Just(Step::Fixed)];
    let one = |names: &'static [&'static str]| proptest::sample::select(names);
    // Only subgradient methods average the last half.
    let averages = one(&["none", "uniform", "weighted"]);
    let parts = (one(Order::NAMES), one(Direction::NAMES), one(Caching::NAMES), averages);
    let all_at_once = prop_oneof![1 => Just(true), 9 => Just(false)];
    let batch = prop_oneof![1 => Just(None), 1 => (0..6usize).prop_map(Some)];
    (base, all_at_once, parts, step, batch).prop_map(
        |(base, all_at_once, (order, direction, cache, average), step, batch)| {
            let method = match all_at_once {
                true => SettingsRecord { solver: Solver::FrankWolfe, ..base.record() }
                    .settings()
                    .unwrap(),
                false => SettingsRecord {
                    order: order.parse().unwrap(),
                    direction: direction.parse().unwrap(),
                    cache: cache.parse().unwrap(),
                    average: average.parse().unwrap(),
                    batch,
                    ..base.record()
                }
                .settings()
                .unwrap(),
            };
            // The fixed schedule is for Frank-Wolfe steps. Where it is refused, use the line search.
            SettingsRecord { step, ..method.record() }.settings().unwrap_or(method)
        },
    )
}

/// The identities over a whole run.
fn check_run<P: Problem>(problem: &P, settings: &Settings) -> Solution {
    let (solution, Rows(rows)) = watch(problem, settings);
    for (record, block_gaps) in &rows {
        let Some(gap) = record.gap else {
            assert!(record.primal.is_none() && block_gaps.is_none());
            continue;
        };
        let (primal, block_gaps) = (record.primal.unwrap(), block_gaps.as_ref().unwrap());
        assert_eq!(block_gaps.len(), problem.examples());
        assert_close(primal - record.dual, gap, 1e-12, primal);
        // With averaging, block gaps belong to the average, whose bound may be weaker.
        let own = record.average_dual.unwrap_or(record.dual);
        let rounding = 1e-12 * primal.max(1.0);
        assert!(own <= record.dual + rounding, "{own} is above the best bound {}", record.dual);
        assert_close(block_gaps.iter().sum(), primal - own, 1e-10, primal);
        for &block in block_gaps {
            assert!(block >= -1e-12 * primal.max(1.0), "a block has the gap {block:e}");
        }
    }
    if settings.record().step == Step::LineSearch || settings.record().average != Average::None {
        let duals: Vec<f64> = rows.iter().map(|(record, _)| record.dual).collect();
        for pair in duals.windows(2) {
            assert!(pair[1] >= pair[0] - 1e-12 * pair[0].abs().max(1.0), "{duals:?}");
        }
    }
    assert_eq!(solution.totals.oracle_failures, 0);
    assert_proven(problem, settings, &solution);
    let audit = audit_of(problem, &solution);
    let sum: f64 = audit.block_gaps.iter().sum();
    let own = solution.dual.weights(problem, solution.lambda);
    if settings.weights_from_dual() {
        assert_all_close(&solution.weights, &own, 1e-12);
        assert_close(sum, audit.certificate.gap, 1e-10, audit.certificate.primal);
    } else {
        // P(w) − D(α) = Σ gᵢ + λ/2 ‖w − Aα‖² for any weights and any point.
        let apart = 0.5 * solution.lambda * norm_sq(&minus(&solution.weights, &own));
        assert_close(sum + apart, audit.certificate.gap, 1e-10, audit.certificate.primal);
    }
    solution
}

/// The gap of the point with all mass on the truth.
fn gap_at_truth<P: Problem>(problem: &P, lambda: f64) -> f64 {
    let (w, truth) = (vec![0.0; problem.dim()], DualPoint::at_truth(problem));
    assert_eq!(truth.weights(problem, lambda), w);
    let audit = audit(problem, lambda, &w, &truth, 0.0, 1).unwrap();
    assert_eq!((audit.infeasible, audit.certificate.dual), (None, 0.0));
    audit.certificate.gap
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn identities_hold_for_chains(case in any_chain(), settings in settings()) {
        let chain = case.build();
        let solution = check_run(&chain, &settings);
        let start = case.enumerate().start_gap();
        assert_close(gap_at_truth(&chain, solution.lambda), start, 1e-12, start);
    }

    #[test]
    fn identities_hold_for_chains_through_psi(case in any_chain(), settings in settings()) {
        let chain = ViaPsi(case.build());
        let solution = check_run(&chain, &settings);
        let start = case.enumerate().start_gap();
        assert_close(gap_at_truth(&chain, solution.lambda), start, 1e-12, start);
    }

    #[test]
    fn identities_hold_for_any_polytope(problem in any_polytope(), settings in settings()) {
        let solution = check_run(&problem, &settings);
        let start = problem.start_gap();
        assert_close(gap_at_truth(&problem, solution.lambda), start, 1e-12, start);
        // The stated primal is the primal, by the definition.
        let primal = problem.primal(solution.lambda, &solution.weights);
        assert_close(solution.certificate.primal, primal, 1e-12, primal);
    }

    #[test]
    fn identities_hold_for_factor_graphs(case in any_graphs(), settings in settings()) {
        let problem = case.build(Inference::Enumerate);
        let solution = check_run(&problem, &settings);
        let start = case.enumerate().start_gap();
        assert_close(gap_at_truth(&problem, solution.lambda), start, 1e-12, start);
    }

    #[test]
    fn identities_hold_for_relaxations(case in any_graphs(), settings in settings()) {
        let problem = case.build(Inference::Lp);
        let solution = check_run(&problem, &settings);
        // At w = 0 variables are independent, so the largest loss belongs to a labelling.
        let start = case.enumerate().start_gap();
        assert_close(gap_at_truth(&problem, solution.lambda), start, 1e-9, start);
    }

    #[test]
    fn identities_hold_for_roof_duality(case in any_binary_graphs(), settings in settings()) {
        let problem = case.build(Inference::RoofDuality);
        let solution = check_run(&problem, &settings);
        let start = case.enumerate().start_gap();
        assert_close(gap_at_truth(&problem, solution.lambda), start, 1e-12, start);
    }

    #[test]
    fn identities_hold_for_sets_of_labels(
        case in any_labels(), relaxed in any::<bool>(), settings in settings()
    ) {
        let inference = if relaxed { Inference::RoofDuality } else { Inference::Enumerate };
        let problem = case.build(inference);
        let solution = check_run(&problem, &settings);
        let start = case.enumerate().start_gap();
        assert_close(gap_at_truth(&problem, solution.lambda), start, 1e-12, start);
    }

    #[test]
    fn identities_hold_for_rows(case in any_rows(1..=5), settings in settings()) {
        let (multiclass, binary) = (case.multiclass(), case.binary());
        let lambda = check_run(&multiclass, &settings).lambda;
        let start = case.enumerate().start_gap();
        assert_close(gap_at_truth(&multiclass, lambda), start, 1e-12, start);
        check_run(&binary, &settings);
        assert_close(gap_at_truth(&binary, lambda), 1.0, 1e-12, 1.0);
    }

    #[test]
    fn identities_hold_for_multiclass(problem in any_multiclass(1..=5), settings in settings()) {
        let solution = check_run(&problem, &settings);
        let start = problem.enumerate().start_gap();
        assert_close(gap_at_truth(&problem, solution.lambda), start, 1e-12, start);
    }
}

/// Rounding is relative to the size of scores, so an exact oracle never counts as failing, at any scale.
#[test]
fn exact_oracles_never_count_as_failing() {
    for (seed, scale) in (0..50).flat_map(|seed| [(seed, 1.0), (seed, 1e6), (seed, 1e9)]) {
        let mut rng = Rng::new(seed);
        // Features grow with the root of the loss, so that steps do not depend on the scale.
        let mut corner = || {
            let psi = (0..3).map(|_| f64::sqrt(scale) * (4.0 * rng.unit_f64() - 1.0)).collect();
            (psi, scale * (0.5 + rng.unit_f64()))
        };
        let mut block = || {
            let corners = vec![(vec![0.0; 3], 0.0), corner(), corner()];
            EnumeratedBlock { weight: 1.0, corners }
        };
        let blocks = (0..1 + seed % 3).map(|_| block()).collect();
        let problem = Enumerated { dim: 3, blocks };
        for solver in [Solver::BlockCoordinate, Solver::FrankWolfe] {
            let settings =
                SettingsRecord { solver, tolerance: 0.0, max_passes: 50, ..bcfw().record() }
                    .settings()
                    .unwrap();
            let failures = watch(&problem, &settings).0.totals.oracle_failures;
            assert_eq!(failures, 0, "{solver}, seed {seed}, losses of {scale:e}");
        }
    }
}

/// After many passes, the drift of w is only rounding.
#[test]
fn weights_do_not_drift_from_their_blocks() {
    let chain = maxmargin::doc::toy();
    let settings = Settings { tolerance: 0.0, max_passes: 2000, ..bcfw() };
    let (solution, rows) = watch(&chain, &settings);
    assert!(solution.totals.drift.weights < 1e-12, "{:?}", solution.totals.drift);
    assert!(solution.totals.drift.dual < 1e-12, "{:?}", solution.totals.drift);
    assert!(rows.0.iter().all(|(record, _)| record.drift.is_some() == record.gap.is_some()));
    assert_certified(&chain, &solution);
}
