//! All methods find the optimum that a general QP solver finds, and their certificates are true.

use crate::common::bits::{random_chain, timeless_rows};
use crate::common::chains::{any_chain, tieless_chain};
use crate::common::factor_graphs::any_forests;
use crate::common::problems::{Enumerated, ViaPsi, any_multiclass, any_polytope, bounded};
use crate::common::rows::any_rows;
use crate::common::{assert_bounded, assert_certified, assert_close, bcfw, cases, qp, watch};
use maxmargin::ProblemExt as _;
use maxmargin::doc::{patches, rings, toy};
use maxmargin::inference::Inference;
use maxmargin::kernel::{Kernel, Kernelised};
use maxmargin::{
    Bounds, PathSettings, Problem, Settings, SettingsRecord, Solver, Status, TrainError, Trainer,
    regularization_path, train,
};
use proptest::prelude::*;

fn with(solver: Solver, lambda: f64, max_passes: u64) -> Settings {
    let tolerance = 1e-6;
    Settings {
        method: solver.into(),
        lambda: Some(lambda),
        max_passes,
        tolerance,
        threads: 1,
        ..Settings::default()
    }
}

/// Every baseline, with the largest distance from the optimum that it may end at.
fn methods<P: Problem>(problem: &P, lambda: f64) -> Vec<(Settings, f64)> {
    let mut all = vec![
        (with(Solver::NSlack, lambda, 2000), 1e-6),
        (with(Solver::OneSlack, lambda, 2000), 1e-6),
        (with(Solver::Perceptron, lambda, 20), f64::INFINITY),
    ];
    for average in ["none", "uniform", "weighted", "half"] {
        let average = average.parse().unwrap();
        all.push((
            SettingsRecord { average, ..with(Solver::Subgradient, lambda, 400).record() }
                .settings()
                .unwrap(),
            0.5,
        ));
        all.push((
            SettingsRecord { average, ..with(Solver::AdaGrad, lambda, 400).record() }
                .settings()
                .unwrap(),
            0.5,
        ));
    }
    if problem.expectations().is_some() {
        all.push((with(Solver::ExponentiatedGradient, lambda, 300), 0.2));
    }
    all
}

fn hold_against_qp<P: Problem>(problem: &P, dense: &Enumerated, lambda: f64) {
    let optimum = qp::solve(dense, lambda);
    assert!(optimum.above - optimum.below <= 1e-7, "{optimum:?}");
    // The scale of the problem: the objective at w = 0.
    let scale = dense.start_gap();
    for (settings, near) in methods(problem, lambda) {
        let (solution, rows) = watch(problem, &settings);
        match settings.weights_from_dual() {
            true => assert_certified(problem, &solution),
            false => assert_bounded(problem, &solution),
        }
        let (c, name) = (solution.certificate, settings.record().solver);
        assert_close(c.primal, dense.primal(lambda, &solution.weights), 1e-10, c.primal);
        for (row, _) in &rows.0 {
            assert!(row.dual <= optimum.above + 1e-7, "{name}: {row:?} against {optimum:?}");
            let primal = row.primal.unwrap_or(f64::INFINITY);
            assert!(primal >= optimum.below - 1e-7, "{name}: {row:?} against {optimum:?}");
        }
        assert!(c.primal - optimum.below <= c.gap + 1e-7, "{name}: {c:?} against {optimum:?}");
        assert!(optimum.above - c.dual <= c.gap + 1e-7, "{name}: {c:?} against {optimum:?}");
        let off = c.primal - optimum.below;
        assert!(
            off <= near.max(near * scale) + 1e-7,
            "{name} {}: {c:?} against {optimum:?}",
            settings.record().average
        );
        if settings.record().solver.is_batch() {
            assert_eq!(solution.status, Status::Converged, "{name}: {c:?}");
            assert!(rows.0.iter().all(|(row, _)| row.gap.is_some()));
        }
    }
}

proptest! {
    #![proptest_config(cases(32))]

    #[test]
    fn polytopes_have_one_optimum(problem in any_polytope(), lambda in 0.2..2.0f64) {
        hold_against_qp(&problem, &problem, lambda);
    }

    #[test]
    fn multiclass_problems_have_one_optimum(
        problem in any_multiclass(2..=4), lambda in 0.2..2.0f64
    ) {
        hold_against_qp(&problem, &problem.enumerate(), lambda);
    }

    #[test]
    fn labelled_rows_have_one_optimum(case in any_rows(2..=4), lambda in 0.2..2.0f64) {
        hold_against_qp(&case.multiclass(), &case.enumerate(), lambda);
        hold_against_qp(&case.binary(), &case.enumerate_binary(), lambda);
    }

    #[test]
    fn chains_have_one_optimum(case in tieless_chain(), lambda in 0.2..2.0f64) {
        let mut case = case;
        case.sequences.iter_mut().for_each(|s| s.tokens.truncate(3));
        hold_against_qp(&case.build(), &case.enumerate(), lambda);
        hold_against_qp(&ViaPsi(case.build()), &case.enumerate(), lambda);
    }

    #[test]
    fn chains_with_ties_have_one_optimum(case in any_chain(), lambda in 0.2..2.0f64) {
        let mut case = case;
        case.sequences.truncate(3);
        let most = if case.labels > 3 { 2 } else { 3 };
        case.sequences.iter_mut().for_each(|s| s.tokens.truncate(most));
        hold_against_qp(&case.build(), &case.enumerate(), lambda);
    }

    #[test]
    fn forests_have_one_optimum(case in any_forests(), lambda in 0.2..2.0f64) {
        hold_against_qp(&case.build(Inference::MaxSum), &case.enumerate(), lambda);
    }

    /// AdaGrad keeps bounds. N-slack is tested together with the Frank-Wolfe methods.
    #[test]
    fn adagrad_keeps_bounds(problem in any_polytope(), lambda in 0.2..2.0f64, low in -0.3..0.3f64) {
        let d = problem.dim;
        let bounds = Bounds::none(d).with(0..d, low, low + 0.4).unwrap();
        let problem = bounded(problem, bounds.clone());
        let optimum = qp::solve_within(&problem.inner, lambda, &bounds);
        let solution = train(&problem, &with(Solver::AdaGrad, lambda, 1000)).unwrap();
        assert_bounded(&problem, &solution);
        let inside = |(j, &w): (usize, &f64)| bounds.clip(j, w) == w;
        prop_assert!(solution.weights.iter().enumerate().all(inside));
        let c = solution.certificate;
        prop_assert!(c.dual <= optimum.above + 1e-6 && c.primal >= optimum.below - 1e-6);
        let scale = problem.inner.start_gap().max(1.0);
        prop_assert!(c.primal - optimum.below <= 0.05 * scale, "{c:?} {optimum:?}");
    }
}

/// Cutting planes from below and Frank-Wolfe from both sides bracket the same optimum.
#[test]
fn cutting_planes_and_frank_wolfe_bracket_each_other() {
    let chain = random_chain(60, 4, 7);
    let reach = |solver: Solver| {
        let settings = Settings {
            method: solver.into(),
            tolerance: 1e-5,
            max_passes: 5000,
            ..Settings::default()
        };
        let solution = train(&chain, &settings).unwrap();
        assert_eq!(solution.status, Status::Converged, "{solver}");
        assert_certified(&chain, &solution);
        solution.certificate
    };
    let all = [Solver::Auto, Solver::NSlack, Solver::OneSlack].map(reach);
    for a in all {
        for b in all {
            assert!(a.dual <= b.primal && b.primal - a.primal <= 1e-5, "{a:?} {b:?}");
        }
    }
}

/// Cutting planes can start from their own dual point.
#[test]
fn cutting_planes_start_from_dual_points() {
    let chain = random_chain(40, 3, 5);
    let rough = train(&chain, &Settings { tolerance: 0.05, ..bcfw() }).unwrap();
    for solver in [Solver::NSlack, Solver::OneSlack] {
        let settings = Settings { method: solver.into(), tolerance: 1e-4, ..Settings::default() };
        let trainer = Trainer::new(settings.clone()).start_from(rough.dual.clone());
        let solution = trainer.train(&chain).unwrap();
        assert_certified(&chain, &solution);
        assert!(solution.certificate.dual >= rough.certificate.dual);
        let cold = train(&chain, &settings).unwrap();
        assert!((cold.certificate.primal - solution.certificate.primal).abs() <= 1e-4);
    }
}

/// If neighbours attract each other, cuts find the best labels. All methods keep the weights of edges ≥ 0
/// and come near the optimum that Frank-Wolfe proves.
#[test]
fn all_methods_train_attractive_graphs() {
    let problem = patches();
    let settings = Settings { lambda: Some(0.1), tolerance: 1e-7, ..Settings::default() };
    let best = train(&problem, &settings).unwrap();
    assert_eq!(best.status, Status::Converged);
    let bounds = problem.bounds().unwrap();
    for solver in ["ssg", "adagrad", "perceptron", "n-slack", "1-slack"] {
        let settings = with(solver.parse().unwrap(), 0.1, 1000);
        let solution = train(&problem, &settings).unwrap();
        let inside = |(j, &w): (usize, &f64)| bounds.clip(j, w) == w;
        assert!(solution.weights.iter().enumerate().all(inside), "{solver}");
        assert_bounded(&problem, &solution);
        let off = solution.certificate.primal - best.certificate.dual;
        let near = match solver {
            "perceptron" => f64::INFINITY,
            "n-slack" | "1-slack" => 2e-6,
            _ => 0.05,
        };
        assert!(off >= -1e-9 && off <= near, "{solver}: {off}");
    }
}

/// With the linear kernel, all methods that do not need features reach the same objective as without a
/// kernel.
#[test]
fn the_linear_kernel_changes_nothing() {
    let (chain, kernel) = (toy(), Kernelised::new(toy(), Kernel::Linear, 1 << 20).unwrap());
    for (solver, passes) in [("ssg", 20), ("perceptron", 20), ("n-slack", 200), ("1-slack", 200)] {
        let settings = Settings { tolerance: 1e-7, ..with(solver.parse().unwrap(), 0.25, passes) };
        let (plain, other) =
            (train(&chain, &settings).unwrap(), train(&kernel, &settings).unwrap());
        let (a, b) = (plain.certificate, other.certificate);
        let tolerance = if settings.record().solver.is_batch() { 1e-6 } else { 1e-9 };
        assert_close(a.primal, b.primal, tolerance, a.primal);
        assert_close(a.dual, b.dual, tolerance, a.primal);
        assert_bounded(&kernel, &other);
    }
    let told = train(&kernel, &with(Solver::AdaGrad, 0.25, 5)).unwrap_err().to_string();
    assert!(told.starts_with("solver adagrad needs weights of features"), "{told}");
}

#[test]
fn unsuited_problems_and_starts_are_rejected() {
    let told = |solver: &str, problem: &dyn Fn(Settings) -> TrainError| {
        let solver: Solver = solver.parse().unwrap();
        problem(Settings { method: solver.into(), ..Settings::default() }).to_string()
    };
    for text in [
        told("eg", &|settings| train(&rings(), &settings).unwrap_err()),
        told("eg", &|settings| train(&patches(), &settings).unwrap_err()),
    ] {
        assert!(text.starts_with("solver eg needs expectations over outputs"), "{text}");
    }
    let point = train(&toy(), &bcfw()).unwrap().dual;
    for solver in ["ssg", "adagrad", "perceptron", "eg"] {
        let text = told(solver, &|settings| {
            Trainer::new(settings).start_from(point.clone()).train(&toy()).unwrap_err()
        });
        assert!(text.starts_with(&format!("solver {solver} cannot start from")), "{text}");
        let text = told(solver, &|training| {
            regularization_path(&toy(), &PathSettings { training, ..PathSettings::default() })
                .unwrap_err()
        });
        assert!(text.starts_with("a path cannot be combined with solver"), "{text}");
    }
}

/// Cutting planes can follow a path.
#[test]
fn cutting_planes_follow_paths() {
    let training = Settings { method: Solver::NSlack.into(), ..Settings::default() };
    let settings = PathSettings { training, lambda_min: 0.05, ..PathSettings::default() };
    let path = regularization_path(&toy(), &settings).unwrap();
    assert!(path.breakpoints.iter().all(|b| b.certificate.gap <= 0.1));
}

/// Limits, patience and the best model work for all methods.
#[test]
fn limits_and_patience_work() {
    let chain = random_chain(40, 3, 9);
    for solver in ["ssg", "adagrad", "perceptron", "n-slack", "1-slack", "eg"] {
        let solver: Solver = solver.parse().unwrap();
        let settings =
            Settings { method: solver.into(), tolerance: 0.0, gap_every: 2, ..Settings::default() };
        let calls = Settings { max_oracle_calls: Some(130), ..settings.clone() };
        let solution = train(&chain, &calls).unwrap();
        assert_eq!(solution.status, Status::MaxOracleCalls, "{solver}");
        assert_bounded(&chain, &solution);

        let mut checks = 0;
        let mut error = |_: &[f64]| {
            checks += 1;
            f64::abs(f64::from(checks) - 3.0)
        };
        let patient = Settings { patience: Some(4), ..settings };
        let solution = Trainer::new(patient).validate(&mut error).train(&chain).unwrap();
        assert_eq!((solution.status, checks), (Status::Patience, 7), "{solver}");
        assert_eq!(solution.validation.unwrap().error, 0.0);
        assert_bounded(&chain, &solution);
    }
}

/// The same seed gives the same rows, and another seed gives other rows.
#[test]
fn seeds_determine_runs() {
    let chain = random_chain(40, 3, 3);
    for solver in ["ssg", "adagrad", "perceptron", "eg"] {
        let solver: Solver = solver.parse().unwrap();
        let rows = |seed| {
            let settings = Settings {
                method: solver.into(),
                seed,
                tolerance: 0.0,
                max_passes: 4,
                ..Settings::default()
            };
            timeless_rows(&watch(&chain, &settings).1)
        };
        assert_eq!(rows(1), rows(1), "{solver}");
        assert_ne!(rows(1), rows(2), "{solver}");
    }
}

/// The dual of exponentiated gradients never falls.
#[test]
fn the_dual_of_exponentiated_gradients_never_falls() {
    let chain = random_chain(40, 3, 4);
    let solver = Solver::ExponentiatedGradient;
    let settings =
        Settings { method: solver.into(), tolerance: 0.0, max_passes: 60, ..Settings::default() };
    let (solution, rows) = watch(&chain, &settings);
    assert!(rows.0[0].0.dual > 0.0);
    assert!(rows.0.windows(2).all(|pair| pair[1].0.dual >= pair[0].0.dual - 1e-12));
    assert_certified(&chain, &solution);
    let best = train(&chain, &Settings { tolerance: 1e-6, ..Settings::default() }).unwrap();
    let (near, far) = (solution.certificate.primal, best.certificate.dual);
    assert!(near - far <= 0.2, "{near} {far}");
}
