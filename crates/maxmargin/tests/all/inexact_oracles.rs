//! Oracles that are not exact: the dual never decreases, and certificates do not claim too much.

use crate::common::problems::{Careless, Enumerated, EnumeratedBlock, Stubborn, any_polytope};
use crate::common::{assert_close, bcfw, cases, in_batches, qp, watch};
use maxmargin::observe::Table;
use maxmargin::problem::Abilities;
use maxmargin::{
    Average, Caching, Certificate, Direction, DualPoint, Problem, Quality, Settings,
    SettingsRecord, Solver, Step, Trainer, audit, forward_problem, train,
};
use proptest::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Two examples in one dimension. The second is easy as soon as the first is learned.
fn lopsided() -> Enumerated {
    let block = |psi: f64| EnumeratedBlock {
        weight: 1.0,
        corners: vec![(vec![0.0], 0.0), (vec![psi], 1.0)],
    };
    Enumerated { dim: 1, blocks: vec![block(1.0), block(10.0)] }
}

fn every_method() -> Vec<Settings> {
    let base = Settings {
        lambda: Some(0.01),
        tolerance: 0.0,
        max_passes: 20,
        gap_every: 1,
        threads: 1,
        ..bcfw()
    };
    let mut all = in_batches(&base);
    all.extend([
        base.clone(),
        SettingsRecord { average: Average::Weighted, ..base.record() }.settings().unwrap(),
        SettingsRecord { step: Step::Fixed, ..base.record() }.settings().unwrap(),
        SettingsRecord { direction: Direction::Pairwise, ..base.record() }.settings().unwrap(),
        SettingsRecord { direction: Direction::Corrective, cache: Caching::On, ..base.record() }
            .settings()
            .unwrap(),
        SettingsRecord { solver: Solver::FrankWolfe, ..base.record() }.settings().unwrap(),
        SettingsRecord { solver: Solver::FrankWolfe, step: Step::Fixed, ..base.record() }
            .settings()
            .unwrap(),
    ]);
    all
}

/// The engine knows the truth, whose score is 0, so it uses the better of the oracle's answer and the
/// truth. With two outputs, this is the exact maximum.
#[test]
fn an_oracle_below_the_truth_does_not_make_a_certificate_too_good() {
    let problem = Stubborn(lopsided());
    for settings in every_method() {
        let (solution, rows) = watch(&problem, &settings);
        let primal = problem.0.primal(0.01, &solution.weights);
        assert_close(solution.certificate.primal, primal, 1e-12, primal);
        assert!(solution.totals.oracle_failures > 0, "they are counted: {settings:?}");
        assert!(rows.0.iter().all(|(r, _)| r.gap.unwrap() >= 0.0));
    }
}

/// Since the truth replaces worse answers, the stubborn oracle is as good as an exact one.
#[test]
fn the_dual_never_decreases_whatever_the_oracle_says() {
    let problem = Stubborn(lopsided());
    for settings in every_method() {
        if settings.record().step != Step::LineSearch || settings.record().average != Average::None
        {
            continue;
        }
        let (solution, rows) = watch(&problem, &settings);
        let duals: Vec<f64> = rows.0.iter().map(|(record, _)| record.dual).collect();
        for pair in duals.windows(2) {
            assert!(pair[1] >= pair[0] - 1e-12, "{:?}: {duals:?}", settings.record().solver);
        }
        // The dual that is updated step by step equals the dual of the point.
        assert!(solution.totals.drift.dual < 1e-12, "{:?}", solution.totals.drift);
        let exact = train(&problem.0, &settings).unwrap();
        assert_close(solution.certificate.dual, exact.certificate.dual, 1e-9, 1.0);
    }
}

/// The same for an audit. Here the oracle's answers score far below zero.
#[test]
fn an_audit_with_an_oracle_below_the_truth_is_not_too_good() {
    let problem = Stubborn(lopsided());
    let (w, dual) = ([10.0], DualPoint::at_truth(&problem));
    let audit = audit(&problem, 0.01, &w, &dual, 1e-9, 1).unwrap();
    assert_close(audit.certificate.primal, problem.0.primal(0.01, &w), 1e-12, 1.0);
}

/// An oracle that always answers with the truth after some calls.
struct Tiring {
    inner: Enumerated,
    calls: AtomicUsize,
}

impl Problem for Tiring {
    type Output = usize;
    type Workspace = ();

    forward_problem!(self.inner, workspace, except[oracle, abilities]);

    fn abilities(&self) -> Abilities<'_, (), usize> {
        Abilities { is_trusted: true, ..self.inner.abilities() } // a check would tire it
    }
    fn oracle(&self, i: usize, w: &[f64], workspace: &mut (), y: &mut usize) {
        self.inner.oracle(i, w, workspace, y);
        if self.calls.fetch_add(1, Ordering::Relaxed) >= 2 {
            *y = 0;
        }
    }
}

/// An answer that scores below the block's own point proves that the oracle is not exact. It must not
/// count as an optimum: no block gap is negative, and the failure is counted.
#[test]
fn an_answer_below_the_blocks_own_point_is_a_failure() {
    for settings in
        every_method().into_iter().filter(|s| s.record().solver == Solver::BlockCoordinate)
    {
        let problem = Tiring { inner: lopsided(), calls: AtomicUsize::new(0) };
        // λ is so large that no example is learned, and H of the block's points is far above 0.
        let settings = Settings { lambda: Some(1e3), max_passes: 1, block_gaps: true, ..settings };
        let (solution, rows) = watch(&problem, &settings);
        let gaps = rows.0[0].1.as_ref().unwrap();
        assert!(gaps.iter().all(|&gap| gap >= -1e-12), "{gaps:?}");
        assert!(solution.certificate.dual <= solution.certificate.primal + 1e-12);
        assert!(solution.totals.oracle_failures > 0);
    }
}

/// With a heuristic, the gap is a lower bound of the true gap, and the dual is still a true bound.
fn check_heuristic(problem: &Careless, settings: &Settings) {
    let (solution, rows) = watch(problem, settings);
    let (c, lambda) = (solution.certificate, solution.lambda);
    assert_eq!(c.quality, Quality::Heuristic);
    let primal = problem.0.primal(lambda, &solution.weights);
    assert!(c.primal <= primal + 1e-9 * primal.max(1.0), "{c:?}, but P is {primal}");
    let optimum = qp::solve(&problem.0, lambda);
    assert!(c.dual <= optimum.above + 1e-7, "{c:?} against {optimum:?}");
    assert!(rows.0.iter().all(|(row, _)| row.gap.is_none_or(|gap| gap >= 0.0)));
    if settings.record().step == Step::LineSearch && settings.record().average == Average::None {
        let duals: Vec<f64> = rows.0.iter().map(|(record, _)| record.dual).collect();
        for pair in duals.windows(2) {
            assert!(pair[1] >= pair[0] - 1e-12 * pair[0].abs().max(1.0), "{duals:?}");
        }
    }
    let (again, _) = watch(problem, settings);
    assert_eq!(again.weights, solution.weights);
    let found = audit(problem, lambda, &solution.weights, &solution.dual, 1e-9, 1).unwrap();
    // A heuristic may fail to find the outputs that make up the point.
    assert_eq!(found.certificate.quality, Quality::Heuristic.with_point(found.point));
    assert_eq!(found.infeasible, None);
    // The hinges were compared with the very point that the solution has.
    assert_close(found.certificate.primal, c.primal, 1e-9, 1.0);
    assert_close(found.certificate.dual, c.dual, 1e-9, 1.0);
}

proptest! {
    #![proptest_config(cases(32))]

    #[test]
    fn a_heuristic_proves_what_it_says(problem in any_polytope(), lambda in 0.2..2.0f64) {
        let problem = Careless(problem);
        // Their weights are not those of their dual points.
        let own_weights = [Average::Uniform, Average::Half].map(|average| {
            let base = Settings { tolerance: 0.0, max_passes: 20, threads: 1, ..Settings::default() };
            let solver = Solver::Subgradient;
            SettingsRecord { solver, average, ..base.record() }.settings().unwrap()
        });
        for settings in every_method().into_iter().chain(own_weights) {
            check_heuristic(&problem, &Settings { lambda: Some(lambda), ..settings });
        }
    }
}

/// One example with an output whose score is low once the example is learned.
struct Worse(Enumerated);

impl Problem for Worse {
    type Output = usize;
    type Workspace = ();

    forward_problem!(self.0, workspace, except [oracle, quality]);

    fn oracle(&self, i: usize, w: &[f64], workspace: &mut (), y: &mut usize) {
        self.0.oracle(i, w, workspace, y);
        if *y == 0 {
            *y = 2; // instead of the truth, an output between it and the first mistake
        }
    }
    fn quality(&self) -> Quality {
        Quality::Heuristic
    }
}

/// The truth replaces a worse answer of the oracle even if that answer would raise the dual, so the run
/// makes the same steps as with an exact oracle.
#[test]
fn the_truth_is_taken_where_it_is_better() {
    let block = |corners: &[(f64, f64)]| EnumeratedBlock {
        weight: 1.0,
        corners: corners.iter().map(|&(psi, loss)| (vec![psi], loss)).collect(),
    };
    // The second example moves w until the mistakes of the first score far below the truth.
    let first = block(&[(0.0, 0.0), (4.0, 1.0), (2.0, 0.1)]);
    let second = block(&[(0.0, 0.0), (1.0, 1.0), (0.5, 0.1)]);
    let exact = Enumerated { dim: 1, blocks: vec![first, second] };
    let problem = Worse(exact.clone());
    for settings in every_method().into_iter().filter(|s| s.record().step == Step::LineSearch) {
        let (theirs, ours) =
            (train(&exact, &settings).unwrap(), train(&problem, &settings).unwrap());
        assert_close(ours.certificate.dual, theirs.certificate.dual, 1e-9, 1.0);
        assert_close(ours.certificate.primal, theirs.certificate.primal, 1e-9, 1.0);
        assert!(ours.totals.oracle_failures > 0, "they are counted: {settings:?}");
    }
}

#[test]
fn the_table_says_what_kind_of_bound_the_gap_is() {
    let text = |quality: &dyn Fn(Table<Vec<u8>>) -> Table<Vec<u8>>| {
        String::from_utf8(quality(Table::new(Vec::new())).finish().unwrap()).unwrap()
    };
    let settings = Settings { max_passes: 5, tolerance: 0.0, ..bcfw() };
    let careless = text(&|mut table| {
        Trainer::new(settings.clone()).observe(&mut table).train(&Careless(lopsided())).unwrap();
        table
    });
    assert!(
        careless.contains("\nthe oracle is a heuristic: the true gap may be larger\n"),
        "{careless}"
    );
    let exact = text(&|mut table| {
        Trainer::new(settings.clone()).observe(&mut table).train(&lopsided()).unwrap();
        table
    });
    assert!(!exact.contains("the oracle"), "{exact}");
    let stubborn = text(&|mut table| {
        Trainer::new(settings.clone()).observe(&mut table).train(&Stubborn(lopsided())).unwrap();
        table
    });
    assert!(stubborn.contains("found less than was known already\n"), "{stubborn}");
}

/// Certificates in old files, which have no quality, are exact, and exact certificates are written in the
/// same way.
#[test]
fn certificates_without_a_quality_are_exact() {
    let old = r#"{"lambda":0.5,"primal":1.0,"dual":0.75,"gap":0.25}"#;
    let certificate: Certificate = serde_json::from_str(old).unwrap();
    assert_eq!(certificate.quality, Quality::Exact);
    assert_eq!(serde_json::to_string(&certificate).unwrap(), old);
    let relaxed = Certificate { quality: Quality::UpperBound, ..certificate };
    let text = serde_json::to_string(&relaxed).unwrap();
    assert!(text.ends_with(r#""quality":"upper-bound"}"#), "{text}");
    assert_eq!(serde_json::from_str::<Certificate>(&text).unwrap(), relaxed);
    assert!(serde_json::from_str::<Certificate>(&text.replace("upper-bound", "good")).is_err());
}
