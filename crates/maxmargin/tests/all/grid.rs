//! A grid, which paths are compared with, has the results of separate trainings at each λ.

use crate::common::chains::any_chain;
use crate::common::problems::{Watched, any_polytope};
use crate::common::{bcfw, cases, qp};
use maxmargin::observe::Control;
use maxmargin::{
    Direction, DualPoint, GridSettings, GridStart, Interrupt, Order, Path, PathKind, Problem,
    Settings, SettingsRecord, Status, Trainer, audit, lambda_grid, lambda_grid_with, train,
};
use proptest::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

const STARTS: [GridStart; 3] = [GridStart::Cold, GridStart::WarmPrimal, GridStart::WarmDual];

fn settings(start: GridStart, epsilon: f64) -> GridSettings {
    let training = Settings { max_passes: 100_000, threads: 1, ..Settings::default() };
    let (lambda_max, lambda_min) = (16.0, 1.0 / 64.0);
    GridSettings { epsilon, lambda_max, lambda_min, start, training }
}

/// The grid, with all weights and dual points.
fn run<P: Problem>(problem: &P, settings: &GridSettings) -> (Path, Vec<(Vec<f64>, DualPoint)>) {
    let mut solutions = Vec::new();
    let grid = lambda_grid_with(problem, settings, &Interrupt::new(), |_, w, point| {
        solutions.push((w.to_vec(), point.clone()));
        Control::Continue
    });
    (grid.unwrap(), solutions)
}

fn check_grid<P: Problem>(problem: &P, settings: &GridSettings) -> Path {
    let (grid, solutions) = run(problem, settings);
    assert!(grid.is_guaranteed() && grid.kind == PathKind::from(settings.start));
    let lambdas: Vec<f64> = grid.breakpoints.iter().map(|b| b.certificate.lambda).collect();
    assert_eq!(lambdas, settings.lambdas());
    assert_eq!(grid.lowest, *lambdas.last().unwrap());
    for (b, (w, point)) in grid.breakpoints.iter().zip(&solutions) {
        let lambda = b.certificate.lambda;
        assert_eq!((b.status, grid.weights_at(lambda).as_ref()), (Status::Converged, Some(w)));
        let found = audit(problem, lambda, w, point, 1e-9, 1).unwrap();
        assert_eq!(found.infeasible, None);
        assert!(found.certificate.gap <= settings.epsilon * (1.0 + 1e-9));
        assert!((found.certificate.gap - b.certificate.gap).abs() <= 1e-9);
        assert_eq!(grid.certificate_at(lambda), Some(b.certificate));
        // A grid has no weights between its own λ.
        assert!(grid.weights_at(lambda * 0.75).is_none() && grid.piece(lambda * 3.1).is_none());
    }
    grid
}

proptest! {
    #![proptest_config(cases(16))]

    #[test]
    fn every_start_reaches_the_gap(case in any_chain(), epsilon in 0.01..0.2f64) {
        for start in STARTS {
            check_grid(&case.build(), &settings(start, epsilon));
        }
    }

    /// All solutions are within ε of the optimum of a QP solver.
    #[test]
    fn all_starts_come_to_the_same_optimum(problem in any_polytope(), epsilon in 0.01..0.2f64) {
        for start in STARTS {
            for b in check_grid(&problem, &settings(start, epsilon)).breakpoints {
                let optimum = qp::solve(&problem, b.certificate.lambda);
                prop_assert!(b.certificate.primal >= optimum.below - 1e-9);
                prop_assert!(b.certificate.dual <= optimum.above + 1e-9);
            }
        }
    }

    /// A cold start has the same bits as a separate training, however many run side by side.
    #[test]
    fn a_cold_grid_is_one_training_after_the_other(
        case in any_chain(), seed in any::<u64>(), threads in 1..5usize,
    ) {
        let chain = case.build();
        let (order, direction) = (Order::Gap, Direction::Corrective);
        let training =
            SettingsRecord { order, direction, seed, max_passes: 100_000, threads, ..bcfw().record() }.settings().unwrap();
        let settings = GridSettings { training, ..settings(GridStart::Cold, 0.05) };
        let (grid, solutions) = run(&chain, &settings);
        let mut calls = 0;
        for (b, (w, point)) in grid.breakpoints.iter().zip(&solutions) {
            let lambda = Some(b.certificate.lambda);
            let tolerance = settings.epsilon;
            let alone = train(&chain, &Settings { lambda, tolerance, ..settings.training.clone() });
            let alone = alone.unwrap();
            prop_assert_eq!((&alone.weights, &alone.dual), (w, point));
            prop_assert_eq!(alone.certificate, b.certificate);
            calls += alone.totals.oracle_calls;
            prop_assert_eq!(b.oracle_calls, calls);
        }
    }
}

/// A warm start begins with the weights or with the dual point of the λ before.
#[test]
fn warm_starts_keep_what_they_say() {
    let problem = maxmargin::doc::toy();
    let training =
        SettingsRecord { order: Order::Gap, threads: 1, ..bcfw().record() }.settings().unwrap();
    for start in [GridStart::WarmPrimal, GridStart::WarmDual] {
        let settings = GridSettings { training: training.clone(), ..settings(start, 0.001) };
        let (_, solutions) = run(&problem, &settings);
        for (pair, lambda) in solutions.windows(2).zip(&settings.lambdas()[1..]) {
            let (w, point) = &pair[0];
            let (kept, factor) = match start {
                GridStart::WarmPrimal => (point.rescaled(&problem, 0.5), 1.0),
                _ => (point.clone(), 2.0),
            };
            let weights = kept.weights(&problem, *lambda);
            assert!(weights.iter().zip(w).all(|(new, old)| (new - factor * old).abs() < 1e-12));
            let (lambda, tolerance) = (Some(*lambda), settings.epsilon);
            let alone = Trainer::new(Settings { lambda, tolerance, ..training.clone() });
            let alone = alone.start_from(kept).train(&problem).unwrap();
            assert_eq!((&alone.weights, &alone.dual), (&pair[1].0, &pair[1].1));
        }
    }
}

/// The watcher sees one λ after the other, and nothing after it has stopped the grid.
#[test]
fn a_grid_that_is_stopped_ends_there_however_many_trainings_run_side_by_side() {
    let problem = maxmargin::doc::toy();
    for start in STARTS {
        for threads in [1, 2, 3, 8] {
            let training = Settings { threads, ..bcfw() };
            let settings = GridSettings { training, ..settings(start, 0.01) };
            let mut seen = Vec::new();
            let grid = lambda_grid_with(&problem, &settings, &Interrupt::new(), |b, _, _| {
                seen.push(b.certificate.lambda);
                if seen.len() == 4 { Control::Stop } else { Control::Continue }
            });
            assert_eq!(seen, settings.lambdas()[..4], "{threads}");
            assert_eq!(grid.unwrap().breakpoints.len(), 4, "{threads}");
        }
    }
}

#[test]
fn a_limit_ends_one_training_and_not_the_grid() {
    let training = Settings { max_oracle_calls: Some(1), threads: 1, ..Settings::default() };
    for start in STARTS {
        let settings = GridSettings { training: training.clone(), ..settings(start, 1e-9) };
        let grid = lambda_grid(&maxmargin::doc::toy(), &settings).unwrap();
        assert_eq!(grid.breakpoints.len(), settings.lambdas().len());
        assert!(grid.breakpoints.iter().any(|b| b.status == Status::MaxOracleCalls));
        assert!(!grid.is_guaranteed() && grid.largest_gap() > 1e-9);
    }
}

#[test]
fn oracle_calls_are_those_that_were_made() {
    let calls = AtomicU64::new(0);
    let on_oracle = |_: usize| {
        calls.fetch_add(1, Ordering::Relaxed);
    };
    for start in STARTS {
        calls.store(0, Ordering::Relaxed);
        let watched = Watched { inner: maxmargin::doc::toy(), on_oracle, bounds: None };
        let grid = lambda_grid(&watched, &settings(start, 0.02)).unwrap();
        assert_eq!(calls.load(Ordering::Relaxed), grid.breakpoints.last().unwrap().oracle_calls);
        assert_eq!(grid.audit_calls, 0);
    }
}

#[test]
fn the_default_grid_is_that_of_the_paper() {
    let lambdas = GridSettings::default().lambdas();
    let expected: Vec<f64> = (-15..=15).rev().map(|power| 2f64.powi(power)).collect();
    assert_eq!(lambdas, expected);
}

#[test]
fn invalid_grids_are_rejected() {
    let refusal = |change: fn(&mut GridSettings)| {
        let mut settings = GridSettings::default();
        change(&mut settings);
        lambda_grid(&maxmargin::doc::toy(), &settings).unwrap_err().to_string()
    };
    assert!(refusal(|s| s.epsilon = 0.0).starts_with("epsilon is 0; "));
    assert!(refusal(|s| s.lambda_min = -1.0).starts_with("lambda_min is -1; "));
    assert!(refusal(|s| s.lambda_max = f64::INFINITY).starts_with("lambda_max is inf; "));
    assert!(refusal(|s| s.lambda_min = 1e9).contains("it must be at least lambda_min"));
    assert!(refusal(|s| s.training.max_passes = 0).starts_with("max_passes is 0; "));
}
