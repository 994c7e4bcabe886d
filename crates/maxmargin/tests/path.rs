//! The regularization path keeps its promise at every λ, and warm starts are what they say.
#![allow(clippy::unwrap_used, reason = "in a test a panic is a failure")]

mod common;

use common::chains::any_chain;
use common::problems::{any_multiclass, any_polytope};
use common::{bcfw, cases};
use maxmargin::observe::Control;
use maxmargin::{
    DualPoint, Interrupt, PathSettings, Problem, Rng, Settings, Solver, Status, TrainError,
    Trainer, audit, regularization_path, regularization_path_with, train,
};
use proptest::prelude::*;

fn settings(epsilon: f64) -> PathSettings {
    let training = Settings { max_passes: 100_000, threads: 1, ..Settings::default() };
    PathSettings { epsilon, lambda_min: 1e-3, training, ..PathSettings::default() }
}

/// Checks by independent exact passes that the gap is within ε at, between and above breakpoints.
fn check_path<P: Problem>(problem: &P, settings: &PathSettings, seed: u64) {
    let mut points: Vec<DualPoint> = Vec::new();
    let path = regularization_path_with(problem, settings, &Interrupt::new(), |_, w, point| {
        assert_eq!(w.len(), problem.dim());
        points.push(point.clone());
        Control::Continue
    })
    .unwrap();
    assert!(path.is_guaranteed());
    let lambdas: Vec<f64> = path.breakpoints.iter().map(|b| b.lambda).collect();
    assert!(lambdas.windows(2).all(|pair| pair[0] > pair[1]));
    assert!(path.lowest() < settings.lambda_min || lambdas.len() == 1 || path.lowest() == 0.0);

    let mut rng = Rng::new(seed);
    let mut wanted = lambdas.clone();
    wanted.extend([lambdas[0] * 1.5, lambdas[0] * 1e3, path.lowest().max(1e-9)]);
    for _ in 0..20 {
        let low = path.lowest().max(1e-6 * lambdas[0]);
        wanted.push(low * (2.0 * lambdas[0] / low).powf(rng.unit_f64()));
    }
    for lambda in wanted.into_iter().filter(|&lambda| lambda >= path.lowest()) {
        let (w, piece) = (path.weights_at(lambda).unwrap(), path.piece(lambda).unwrap());
        let ratio = (lambda / lambdas[piece]).min(1.0);
        let point = points[piece].rescaled(problem, ratio);
        let audit = audit(problem, lambda, &w, &point, 1e-9, 1).unwrap();
        assert_eq!(audit.infeasible, None);
        let gap = audit.certificate.gap;
        assert!(gap <= settings.epsilon * (1.0 + 1e-9), "gap {gap} at λ = {lambda}: {lambdas:?}");
    }
    let below = path.lowest() / 2.0;
    assert_eq!(path.weights_at(below).is_some(), below > 0.0 && path.lowest() == 0.0);
    assert!(path.weights_at(f64::NAN).is_none() && path.weights_at(-1.0).is_none());
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

    /// Starting from a solution, nothing is lost: the dual goes on from where it was.
    #[test]
    fn a_warm_start_goes_on(case in any_chain(), solver in proptest::sample::select(Solver::NAMES)) {
        let chain = case.build();
        let solver = solver.parse().unwrap();
        let base = Settings { lambda: Some(0.1), solver, tolerance: 0.0, threads: 1, ..bcfw() };
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
fn a_start_that_is_no_point_of_the_dual_is_refused() {
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
    assert_eq!((last.status, path.lowest()), (Status::MaxOracleCalls, last.lambda));
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
