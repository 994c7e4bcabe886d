//! The heuristic path promises nothing, but reports its true gaps.

use crate::common::chains::any_chain;
use crate::common::paths::{follow, settings};
use crate::common::problems::{Watched, any_multiclass, any_polytope};
use crate::common::{assert_close, bcfw, cases};
use maxmargin::{
    Average, Direction, Interrupt, Order, PathKind, PathSettings, Problem, Settings,
    SettingsRecord, Solver, Status, audit, regularization_path, regularization_path_with,
};
use proptest::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

fn heuristic(epsilon: f64) -> PathSettings {
    PathSettings { heuristic: true, ..settings(epsilon) }
}

/// Every stated gap is that of an exact pass, however large it is. Every estimate is within κε.
fn check_heuristic<P: Problem>(problem: &P, settings: &PathSettings, seed: u64) {
    let followed = follow(problem, settings);
    let path = &followed.path;
    assert!(path.kind == PathKind::Heuristic && !path.is_guaranteed());
    let largest = path.largest_gap();
    for lambda in followed.places(seed, 20) {
        let gap = followed.audited_gap(problem, lambda);
        let stated = path.certificate_at(lambda).unwrap();
        assert!(gap <= largest + 1e-9 * (1.0 + stated.primal), "{gap} > {largest} at {lambda}");
        if lambda <= path.breakpoints[0].certificate.lambda {
            assert_close(stated.gap, gap, 1e-9, stated.primal);
        }
    }
    let tolerance = settings.tolerance();
    for (b, (w, point)) in path.breakpoints.iter().zip(&followed.solutions) {
        let found = audit(problem, b.certificate.lambda, w, point, 1e-9, 1).unwrap().certificate;
        assert_close(b.certificate.gap, found.gap, 1e-12, found.primal);
        assert!(b.estimated_gap <= tolerance * (1.0 + 1e-9), "{}", b.estimated_gap);
        let within = b.certificate.gap <= tolerance * (1.0 + 1e-9);
        assert_eq!(b.status, if within { Status::Converged } else { Status::Estimated });
    }
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn heuristic_paths_of_chains_report_true_gaps(
        case in any_chain(), epsilon in 0.02..0.3f64, seed in any::<u64>()
    ) {
        check_heuristic(&case.build(), &heuristic(epsilon), seed);
    }

    #[test]
    fn heuristic_paths_of_polytopes_report_true_gaps(
        problem in any_polytope(), epsilon in 0.02..0.3f64, seed in any::<u64>()
    ) {
        check_heuristic(&problem, &heuristic(epsilon), seed);
    }

    #[test]
    fn heuristic_paths_work_with_every_direction(
        problem in any_multiclass(2..=4), kappa in 0.3..0.95f64,
        direction in proptest::sample::select(Direction::NAMES), largest: bool,
    ) {
        let order = if largest { Order::MaxGap } else { Order::Gap };
        let direction = direction.parse().unwrap();
        let training =
            SettingsRecord { order, direction, max_passes: 100_000, threads: 1, ..bcfw().record() }.settings().unwrap();
        let settings = PathSettings { kappa: Some(kappa), training, ..heuristic(0.1) };
        check_heuristic(&problem, &settings, 1);
    }
}

/// The calls of the path and those for its report are counted separately, and none is missed.
#[test]
fn oracle_calls_are_those_that_were_made() {
    let calls = AtomicU64::new(0);
    let count = |_: usize| {
        calls.fetch_add(1, Ordering::Relaxed);
    };
    for heuristic in [false, true] {
        let watched = Watched { inner: maxmargin::doc::toy(), on_oracle: count, bounds: None };
        calls.store(0, Ordering::Relaxed);
        let path =
            regularization_path(&watched, &PathSettings { heuristic, ..settings(0.02) }).unwrap();
        let decodings = watched.examples() as u64;
        let stated = path.breakpoints.last().unwrap().oracle_calls + path.audit_calls;
        assert_eq!(calls.load(Ordering::Relaxed) + decodings, stated);
        assert_eq!(path.audit_calls > 0, heuristic);
    }
}

/// Stale gaps are too small. With κ near 1, the true gap exceeds ε, and the path reports by how much.
#[test]
fn a_gap_above_epsilon_is_not_hidden() {
    let (mut worst, epsilon, toy) = (0.0f64, 0.1, maxmargin::doc::toy());
    for seed in 1..=20 {
        let training = Settings { seed, ..settings(epsilon).training };
        let settings = PathSettings { kappa: Some(0.99), training, ..heuristic(epsilon) };
        let followed = follow(&toy, &settings);
        let largest = followed.path.largest_gap();
        // The largest gap is reached at a breakpoint, just above one, or at the end.
        let starts = followed.lambdas().into_iter();
        let mut places: Vec<f64> = starts.flat_map(|at| [at, at * (1.0 + 1e-12)]).collect();
        places.push(followed.path.lowest.max(1e-9));
        let audited = places.into_iter().map(|lambda| followed.audited_gap(&toy, lambda));
        assert_close(audited.fold(0.0, f64::max), largest, 1e-7, 1.0);
        worst = worst.max(largest);
    }
    assert!(worst > epsilon, "no seed has broken what was never promised: {worst}");
}

#[test]
fn heuristic_paths_need_an_order_with_block_gaps() {
    let refusal = |training: Settings| {
        PathSettings { heuristic: true, training, ..PathSettings::default() }
            .check()
            .unwrap_err()
            .to_string()
    };
    let start = "a heuristic path cannot be combined with ";
    for (training, expected) in [
        (bcfw(), "order permutation: it stops on"),
        (Settings { method: Solver::FrankWolfe.into(), ..Settings::default() }, "solver fw: "),
        (
            SettingsRecord { order: Order::Gap, gap_power: 2.0, ..bcfw().record() }
                .settings()
                .unwrap(),
            "gap_power 2: ",
        ),
        (
            SettingsRecord { average: Average::Weighted, ..SettingsRecord::default() }
                .settings()
                .unwrap(),
            "average weighted: ",
        ),
    ] {
        let text = refusal(training);
        assert!(text.starts_with(&format!("{start}{expected}")), "{text}");
    }
}

#[test]
fn an_interrupt_ends_a_path_with_its_true_gap() {
    let (interrupt, mut seen) = (Interrupt::new(), 0);
    let problem = maxmargin::doc::toy();
    let path = regularization_path_with(&problem, &heuristic(0.01), &interrupt, |_, _, _| {
        seen += 1;
        if seen == 4 {
            interrupt.raise();
        }
        maxmargin::observe::Control::Continue
    })
    .unwrap();
    assert_eq!((path.breakpoints.len(), seen), (4, 4));
    assert_eq!(path.lowest, path.breakpoints[3].certificate.lambda);
}
