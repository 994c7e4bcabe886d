//! The regularization path keeps its promise at every λ, and so do warm starts.

use crate::common::chains::any_chain;
use crate::common::paths::{follow, settings};
use crate::common::problems::{Multiclass, any_multiclass, any_polytope, bounded};
use crate::common::{assert_close, bcfw, cases, qp};
use maxmargin::observe::Control;
use maxmargin::{
    Average, Bounds, DualPoint, Interrupt, Path, PathKind, PathSettings, Problem, Settings,
    SettingsRecord, Solver, Status, TrainError, Trainer, audit, regularization_path,
    regularization_path_with, train,
};
use proptest::prelude::*;

/// Checks by separate exact passes that the gap is within ε at, between and above breakpoints.
fn check_path<P: Problem>(problem: &P, settings: &PathSettings, seed: u64) {
    let followed = follow(problem, settings);
    let (path, lambdas) = (&followed.path, followed.lambdas());
    assert!(path.is_guaranteed() && path.kind == PathKind::Exact);
    assert!(lambdas.windows(2).all(|pair| pair[0] > pair[1]));
    assert!(path.lowest < settings.lambda_min || lambdas.len() == 1);
    assert!(lambdas.iter().skip(1).all(|&lambda| lambda >= settings.lambda_min));
    assert_eq!((path.audit_calls, path.audit_seconds), (0, 0.0));

    for lambda in followed.places(seed, 20) {
        let gap = followed.audited_gap(problem, lambda);
        assert!(gap <= settings.epsilon * (1.0 + 1e-9), "gap {gap} at λ = {lambda}: {lambdas:?}");
        check_stated(path, lambda, gap);
    }
    for (b, (w, _)) in path.breakpoints.iter().zip(&followed.solutions).take(200) {
        assert_eq!(path.weights_at(b.certificate.lambda).as_ref(), Some(w));
    }
    let below = path.lowest / 2.0;
    assert_eq!(path.weights_at(below), None);
    for nonsense in [f64::NAN, -1.0, 0.0, f64::INFINITY] {
        assert!(path.weights_at(nonsense).is_none() && path.certificate_at(nonsense).is_none());
    }
}

/// The gap that the path states without an oracle is that of an exact pass, or more above the first
/// breakpoint.
fn check_stated(path: &Path, lambda: f64, gap: f64) {
    let stated = path.certificate_at(lambda).unwrap();
    assert_eq!(stated.lambda, lambda);
    assert_close(stated.primal - stated.dual, stated.gap, 1e-12, stated.primal);
    assert!(stated.gap <= path.largest_gap() * (1.0 + 1e-12) + 1e-12);
    if lambda <= path.breakpoints[0].certificate.lambda {
        assert_close(stated.gap, gap, 1e-9, stated.primal);
    } else {
        assert!(stated.gap >= gap - 1e-9 * (1.0 + stated.primal), "{} < {gap}", stated.gap);
    }
}

proptest! {
    #![proptest_config(cases(32))]

    #[test]
    fn chains_have_a_path(case in any_chain(), epsilon in 0.02..0.3f64, seed in any::<u64>()) {
        check_path(&case.build(), &settings(epsilon), seed);
    }

    #[test]
    fn polytopes_have_a_path(problem in any_polytope(), epsilon in 0.02..0.3f64, seed in any::<u64>()) {
        check_path(&problem, &settings(epsilon), seed);
    }

    #[test]
    fn multiclass_has_a_path(problem in any_multiclass(2..=4), epsilon in 0.02..0.3f64) {
        check_path(&problem, &settings(epsilon), 1);
    }

    /// The weights are within ε of the optimum of a QP solver, with the objective by brute force.
    #[test]
    fn no_weights_are_better_by_more_than_epsilon(
        problem in any_polytope(), epsilon in 0.05..0.3f64, seed in any::<u64>()
    ) {
        let followed = follow(&problem, &settings(epsilon));
        for lambda in followed.places(seed, 5).into_iter().filter(|&lambda| lambda > 1e-3) {
            let optimum = qp::solve(&problem, lambda);
            let primal = problem.primal(lambda, &followed.path.weights_at(lambda).unwrap());
            prop_assert!(primal - optimum.above <= epsilon * (1.0 + 1e-9), "at λ = {lambda}");
            let stated = followed.path.certificate_at(lambda).unwrap();
            prop_assert!(stated.dual <= optimum.above + 1e-9 && primal <= stated.primal + 1e-9);
        }
    }

    /// A run that starts from a solution begins with the dual value of that solution.
    #[test]
    fn a_warm_start_continues_from_its_point(case in any_chain(), solver in proptest::sample::select(Solver::NAMES)) {
        let chain = case.build();
        let solver: Solver = solver.parse().unwrap();
        prop_assume!(solver.starts_anywhere());
        let base = SettingsRecord { lambda: Some(0.1), solver, tolerance: 0.0, threads: 1, ..bcfw().record() }.settings().unwrap();
        let first = train(&chain, &Settings { max_passes: 5, ..base.clone() }).unwrap();
        let trainer = Trainer::new(Settings { max_passes: 3, ..base.clone() });
        let second = trainer.start_from(first.dual.clone()).train(&chain).unwrap();
        prop_assert!(second.certificate.dual >= first.certificate.dual - 1e-12);
        // With w kept at a smaller λ, the gap grows by exactly (1 − ρ)Δ.
        let ratio = 0.7;
        let smaller = first.dual.rescaled(&chain, ratio);
        let lambda = ratio * first.lambda;
        let audit = audit(&chain, lambda, &first.weights, &smaller, 1e-9, 1).unwrap();
        let norm: f64 = first.weights.iter().map(|w| w * w).sum();
        let growth = first.certificate.dual - 0.5 * first.lambda * norm;
        let expected = first.certificate.gap + (1.0 - ratio) * growth;
        prop_assert!((audit.certificate.gap - expected).abs() <= 1e-9 * (1.0 + expected));
    }
}

#[test]
fn an_infeasible_start_is_rejected() {
    let chain = maxmargin::doc::toy();
    let mut point = DualPoint::at_truth(&chain);
    point.blocks[2].parts.scale(2.0);
    let error = Trainer::new(bcfw()).start_from(point).train(&chain).unwrap_err();
    assert!(matches!(error, TrainError::Start { example: 2, .. }), "{error}");
    let error = Trainer::new(bcfw()).start_from(DualPoint::default()).train(&chain).unwrap_err();
    assert!(matches!(error, TrainError::Size { found: 0, .. }), "{error}");
}

#[test]
fn a_path_that_cannot_keep_its_promise_says_so() {
    let chain = maxmargin::doc::toy();
    let training = Settings { max_oracle_calls: Some(1), ..Settings::default() };
    let settings = PathSettings { epsilon: 0.01, training, ..PathSettings::default() };
    let path = regularization_path(&chain, &settings).unwrap();
    assert!(!path.is_guaranteed());
    let last = path.breakpoints.last().unwrap();
    assert_eq!(last.status, Status::MaxOracleCalls);
    assert_eq!(path.lowest, last.certificate.lambda);
}

#[test]
fn a_watcher_can_end_a_path() {
    let chain = maxmargin::doc::toy();
    let mut seen = 0;
    let settings = PathSettings { epsilon: 0.01, ..PathSettings::default() };
    let path = regularization_path_with(&chain, &settings, &Interrupt::new(), |_, _, _| {
        seen += 1;
        if seen < 3 { Control::Continue } else { Control::Stop }
    })
    .unwrap();
    assert_eq!((path.breakpoints.len(), seen), (3, 3));
}

#[test]
fn every_solver_follows_a_path() {
    for solver in Solver::NAMES {
        for average in [Average::None, Average::Weighted] {
            let solver: Solver = solver.parse().unwrap();
            let training =
                SettingsRecord { solver, average, ..settings(0.2).training.record() }.settings();
            let Some(training) = training.ok().filter(|_| solver.starts_anywhere()) else {
                continue; // refused, which is tested elsewhere
            };
            let path = PathSettings { lambda_min: 0.05, training, ..settings(0.2) };
            check_path(&maxmargin::doc::toy(), &path, 1);
        }
    }
}

/// If features separate the truth, some weights are good for all small λ.
#[test]
fn the_end_of_a_path_is_noticed() {
    let separable =
        Multiclass { classes: 2, xs: vec![vec![1.0], vec![-1.0], vec![2.0]], ys: vec![0, 1, 0] };
    let followed = follow(&separable, &PathSettings { lambda_min: 1e-300, ..settings(0.05) });
    assert_eq!(followed.path.lowest, 0.0);
    assert!(followed.lambdas().last().unwrap() > &1e-6, "it went on though it was at its end");
    for lambda in [1e-6, 1e-12, 1e-100, 1e-300] {
        assert!(followed.audited_gap(&separable, lambda) <= 0.05 * (1.0 + 1e-9));
    }
}

/// Two examples contradict each other. The objective stays at 1 or above, so a smaller λ always needs a
/// new solution, and the path ends at the smallest λ of the settings.
#[test]
fn a_path_without_an_end_stops_where_it_is_told() {
    let torn = Multiclass { classes: 2, xs: vec![vec![1.0], vec![1.0]], ys: vec![0, 1] };
    for lambda_min in [1.0, 0.1, 1e-3] {
        let followed = follow(&torn, &PathSettings { lambda_min, ..settings(0.2) });
        let (path, lambdas) = (&followed.path, followed.lambdas());
        assert!(path.lowest < lambda_min && path.lowest > 0.0);
        assert!(path.is_guaranteed() && *lambdas.last().unwrap() >= lambda_min);
        assert!(followed.audited_gap(&torn, path.lowest) <= 0.2 * (1.0 + 1e-9));
        assert!(path.weights_at(path.lowest * 0.999).is_none());
    }
}

proptest! {
    #![proptest_config(cases(12))]

    /// With bounds that allow 0 the guarantee holds, also above the first breakpoint.
    #[test]
    fn a_path_within_bounds_keeps_its_promise(
        problem in any_polytope(), lower in -0.5..0.0f64, upper in 0.0..0.5f64, kind in 0..4u8
    ) {
        let d = problem.dim;
        let (lower, upper) = match kind {
            0 => (0.0, f64::INFINITY),
            1 => (f64::NEG_INFINITY, 0.0),
            2 => (lower, f64::INFINITY),
            _ => (lower, upper),
        };
        let problem = bounded(problem, Bounds::none(d).with(0..d.div_ceil(2), lower, upper).unwrap());
        let settings = PathSettings { lambda_min: 0.01, ..settings(0.05) };
        let path = regularization_path(&problem, &settings).unwrap();
        prop_assert!(path.is_guaranteed());
        let first = path.breakpoints[0].certificate.lambda;
        let bounds = problem.bounds.as_ref().unwrap();
        for factor in [0.013, 0.07, 0.3, 0.5, 0.9, 1.0, 1.5, 10.0, 1000.0] {
            let lambda = factor * first;
            let Some(w) = path.weights_at(lambda) else { continue };
            prop_assert!(w.iter().enumerate().all(|(at, &w)| bounds.clip(at, w) == w));
            // An independent optimum, accurate enough to notice a gap above ε.
            let exact = Settings { lambda: Some(lambda), tolerance: 1e-4, ..Settings::default() };
            let optimum = train(&problem, &exact).unwrap().certificate;
            let primal = problem.inner.primal(lambda, &w);
            prop_assert!(primal - optimum.primal <= 0.05 + 1e-9, "{} {:?}", primal, optimum);
        }
    }
}

#[test]
fn a_path_needs_zero_within_bounds() {
    let chain = maxmargin::doc::toy();
    let d = chain.shape().dim();
    let chain = chain.with_bounds(Some(Bounds::none(d).with(3..5, 0.1, 1.0).unwrap()));
    let error = regularization_path(&chain, &PathSettings::default()).unwrap_err();
    assert_eq!(error.to_string(), "the path begins at w = 0, which the bounds of weight 3 exclude");
}
