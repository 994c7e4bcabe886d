//! Helpers of the tests: random problems, and slow and simple versions of everything that the engine
//! does.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "each test file uses its own part of this, and in a test a panic is a failure"
)]

pub mod bits;
pub mod broken;
pub mod chains;
pub mod dense;
pub mod factor_graphs;
pub mod graphs;
pub mod matchings;
pub mod multilabels;
pub mod paths;
pub mod potts;
pub mod problems;
pub mod qp;
pub mod reference;
pub mod rows;
pub mod segments;
pub mod subgradients;
pub mod trees;

use maxmargin::observe::{Control, Event, Observer, Record};
use maxmargin::{
    Audit, Caching, Direction, Order, Problem, Settings, SettingsRecord, Solution, Trainer, audit,
};
use proptest::test_runner::Config;

/// Runs a few random cases (`PROPTEST_CASES` sets more), and writes no files after a failure.
pub fn cases(few: u32) -> Config {
    let default = Config::default();
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { default.cases } else { few };
    Config { cases, failure_persistence: None, ..default }
}

pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

pub fn norm_sq(a: &[f64]) -> f64 {
    dot(a, a)
}

/// `a ← a + factor · b`.
pub fn add_scaled(a: &mut [f64], factor: f64, b: &[f64]) {
    assert_eq!(a.len(), b.len());
    a.iter_mut().zip(b).for_each(|(a, b)| *a += factor * b);
}

/// `a − b`.
pub fn minus(a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut difference = a.to_vec();
    add_scaled(&mut difference, -1.0, b);
    difference
}

/// Asserts that two numbers agree up to `tolerance`, relative to `scale` if that is above 1.
#[track_caller]
pub fn assert_close(a: f64, b: f64, tolerance: f64, scale: f64) {
    let allowed = tolerance * scale.abs().max(1.0);
    assert!((a - b).abs() <= allowed, "{a:e} and {b:e} differ by more than {allowed:e}");
}

/// Like [`assert_close`], entry by entry.
#[track_caller]
pub fn assert_all_close(a: &[f64], b: &[f64], tolerance: f64) {
    assert_eq!(a.len(), b.len());
    let scale = b.iter().fold(1.0f64, |m, x| m.max(x.abs()));
    for (at, (&a, &b)) in a.iter().zip(b).enumerate() {
        let off = (a - b).abs();
        assert!(off <= tolerance * scale, "entry {at}: {a:e} and {b:e} differ by {off:e}");
    }
}

/// Keeps all rows of a run, with the gaps of the blocks.
#[derive(Debug, Default)]
pub struct Rows(pub Vec<(Record, Option<Vec<f64>>)>);

impl Observer for Rows {
    fn event(&mut self, event: Event<'_>) -> Control {
        if let Event::Pass { record, block_gaps } = event {
            self.0.push((record.clone(), block_gaps.map(<[f64]>::to_vec)));
        }
        Control::Continue
    }
}

/// Trains, and keeps the rows.
#[track_caller]
pub fn watch<P: Problem>(problem: &P, settings: &Settings) -> (Solution, Rows) {
    let mut rows = Rows::default();
    let solution = Trainer::new(settings.clone()).observe(&mut rows).train(problem).unwrap();
    (solution, rows)
}

/// Audits a solution from scratch.
#[track_caller]
pub fn audit_of<P: Problem>(problem: &P, solution: &Solution) -> Audit {
    audit(problem, solution.lambda, &solution.weights, &solution.dual, 1e-12, 1).unwrap()
}

/// Asserts that a new audit finds the certificate of a solution, and that its weights are those of its
/// dual point.
#[track_caller]
pub fn assert_certified<P: Problem>(problem: &P, solution: &Solution) {
    assert_bounded(problem, solution);
    let found = audit_of(problem, solution);
    let largest = solution.weights.iter().fold(0.0f64, |m, w| m.max(w.abs()));
    assert!(found.weight_residual <= 1e-12 * largest.max(1.0), "{:e}", found.weight_residual);
}

/// Asserts everything that the settings promise about a solution: the certificate, and, if weights are
/// computed from the dual point, that they belong to it.
#[track_caller]
pub fn assert_proven<P: Problem>(problem: &P, settings: &Settings, solution: &Solution) {
    match settings.weights_from_dual() {
        true => assert_certified(problem, solution),
        false => assert_bounded(problem, solution),
    }
}

/// Asserts that a new audit finds the certificate of a solution, for any weights.
#[track_caller]
pub fn assert_bounded<P: Problem>(problem: &P, solution: &Solution) {
    let (stated, found) = (solution.certificate, audit_of(problem, solution));
    assert_eq!(found.infeasible, None);
    let scale = stated.primal.abs();
    assert_close(stated.primal, found.certificate.primal, 1e-12, scale);
    assert_close(stated.dual, found.certificate.dual, 1e-12, scale);
    assert_close(stated.gap, found.certificate.gap, 1e-12, scale);
}

/// The default settings, with the solver `bcfw`, whose parts can be set one by one.
pub fn bcfw() -> Settings {
    SettingsRecord { solver: maxmargin::Solver::BlockCoordinate, ..SettingsRecord::default() }
        .settings()
        .unwrap()
}

/// Settings of `bcfw` that visit blocks in batches, of every direction and with and without a cache.
pub fn in_batches(base: &Settings) -> Vec<Settings> {
    let orders = Order::NAMES.iter().zip([2, 5, 16, 0, 3, 4].into_iter().cycle());
    let each = orders.flat_map(|named| Direction::NAMES.iter().map(move |other| (named, other)));
    let averages = ["none", "none", "weighted", "none", "uniform"].into_iter().cycle();
    let caches = [Caching::On, Caching::Off, Caching::Exhaust, Caching::On].into_iter().cycle();
    each.zip(averages)
        .zip(caches)
        .map(|((((order, size), direction), average), cache)| {
            let (order, direction) = (order.parse().unwrap(), direction.parse().unwrap());
            let (average, batch) = (average.parse().unwrap(), Some(size));
            SettingsRecord { order, direction, average, cache, batch, ..base.record() }
                .settings()
                .unwrap()
        })
        .collect()
}
