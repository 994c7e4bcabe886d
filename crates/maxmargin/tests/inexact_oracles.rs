//! Oracles that are not exact: steps still only go up, and certificates claim as little as possible.
#![allow(clippy::unwrap_used, reason = "in a test a panic is a failure")]

mod common;

use common::bcfw;
use common::problems::{Enumerated, EnumeratedBlock, Stubborn};
use common::{assert_close, watch};
use maxmargin::{
    Average, Caching, Direction, DualPoint, Problem, Settings, Solver, SparseVec, Step, audit,
    train,
};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Two examples in one dimension, of which the second is easy as soon as the first is learnt.
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
    vec![
        base.clone(),
        Settings { average: Average::Weighted, ..base.clone() },
        Settings { step: Step::Fixed, ..base.clone() },
        Settings { direction: Direction::Pairwise, ..base.clone() },
        Settings { direction: Direction::Corrective, cache: Caching::On, ..base.clone() },
        Settings { solver: Solver::FrankWolfe, ..base.clone() },
        Settings { solver: Solver::FrankWolfe, step: Step::Fixed, ..base },
    ]
}

/// The truth scores 0 and is known to the engine, so it is never worse off than with the better of
/// the oracle's answer and the truth; with two outputs that is the exact maximum.
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

/// With the truth to fall back on, the stubborn oracle is as good as an exact one.
#[test]
fn the_dual_never_decreases_whatever_the_oracle_says() {
    let problem = Stubborn(lopsided());
    for settings in every_method() {
        if settings.step != Step::LineSearch || settings.average != Average::None {
            continue;
        }
        let (solution, rows) = watch(&problem, &settings);
        let duals: Vec<f64> = rows.0.iter().map(|(record, _)| record.dual).collect();
        for pair in duals.windows(2) {
            assert!(pair[1] >= pair[0] - 1e-12, "{:?}: {duals:?}", settings.solver);
        }
        // The dual that is followed step by step is the dual: nothing was credited that is not so.
        assert!(solution.totals.drift.dual < 1e-12, "{:?}", solution.totals.drift);
        let exact = train(&problem.0, &settings).unwrap();
        assert_close(solution.certificate.dual, exact.certificate.dual, 1e-9, 1.0);
    }
}

/// The same in an audit, which everyone relies on: here the oracle's answers score far below zero.
#[test]
fn an_audit_with_an_oracle_below_the_truth_is_not_too_good() {
    let problem = Stubborn(lopsided());
    let (w, dual) = ([10.0], DualPoint::at_truth(&problem));
    let audit = audit(&problem, 0.01, &w, &dual, 1e-9, 1).unwrap();
    assert_close(audit.certificate.primal, problem.0.primal(0.01, &w), 1e-12, 1.0);
}

/// An oracle that tires: after some calls its answer is always the truth.
struct Tiring {
    inner: Enumerated,
    calls: AtomicUsize,
}

impl Problem for Tiring {
    type Output = usize;
    type Workspace = ();
    fn examples(&self) -> usize {
        self.inner.examples()
    }
    fn dim(&self) -> usize {
        self.inner.dim()
    }
    fn workspace(&self) {}
    fn oracle(&self, i: usize, w: &[f64], workspace: &mut (), y: &mut usize) {
        self.inner.oracle(i, w, workspace, y);
        if self.calls.fetch_add(1, Ordering::Relaxed) >= 2 {
            *y = 0;
        }
    }
    fn decode(&self, i: usize, w: &[f64], workspace: &mut (), y: &mut usize) {
        self.inner.decode(i, w, workspace, y);
    }
    fn loss(&self, i: usize, y: &usize) -> f64 {
        self.inner.loss(i, y)
    }
    fn psi(&self, i: usize, y: &usize, psi: &mut SparseVec) {
        self.inner.psi(i, y, psi);
    }
}

/// An answer that scores below the block's own point proves that the oracle is not exact. It must
/// not pass for an optimum in silence: no block gap is negative, and the failure is counted.
#[test]
fn an_answer_below_the_blocks_own_point_is_a_failure() {
    for settings in every_method().into_iter().filter(|s| s.solver == Solver::BlockCoordinate) {
        let problem = Tiring { inner: lopsided(), calls: AtomicUsize::new(0) };
        // A λ so large that no example is learnt, and H of the block's points is far above 0.
        let settings = Settings { lambda: Some(1e3), max_passes: 1, block_gaps: true, ..settings };
        let (solution, rows) = watch(&problem, &settings);
        let gaps = rows.0[0].1.as_ref().unwrap();
        assert!(gaps.iter().all(|&gap| gap >= -1e-12), "{gaps:?}");
        assert!(solution.certificate.dual <= solution.certificate.primal + 1e-12);
        assert!(solution.totals.oracle_failures > 0);
    }
}
