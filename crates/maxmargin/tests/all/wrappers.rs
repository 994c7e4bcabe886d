//! Combinations of wrappers: they work, or they are refused.
//!
//! Rows are the outer wrappers, columns the problems inside. *type* means that the combination does not
//! compile, which doctests of the wrappers show. Example weights are part of the data, so they are always
//! inside.
//!
//! | | `Bounded` | `Kernelised` | `SlackRescaled` | example weights | `SoftGraph` |
//! |---|---|---|---|---|---|
//! | `Bounded` | the outer bounds hold: `bounds` | bounds that bound nothing: `kernels`; others: `TrainError::BoundedLength` | against a QP: `slack` | against a QP, and as copies: `weights` | against a QP: `soft` |
//! | `Kernelised` | type; own bounds: `KernelError::Bounds` | type | type | as copies: `weights` | type |
//! | `SlackRescaled` | type; own bounds: `slack` | type | type | as copies: `weights` | type |
//! | `SoftGraph` | type | type | type | against a QP: `soft` | type |
//!
//! The only triples are bounds around slack rescaling, a kernel or soft constraints, each with example
//! weights. `forwarding` tests every method of every wrapper.

mod bounds;
mod forwarding;
mod kernels;
mod slack;
mod soft;
mod weights;

use crate::common::bcfw;
use crate::common::problems::Enumerated;
use crate::common::qp::Optimum;
use crate::common::{assert_certified, assert_close};
use maxmargin::{
    Bounded, Bounds, Caching, Certificate, Direction, DualPoint, Problem, Settings, SettingsRecord,
    Solution, Solver, TrainError, train,
};
use proptest::collection::vec;
use proptest::prelude::*;

/// Bounds of all kinds on all weights, most of them with 0 inside.
fn any_bounds(dim: usize) -> impl Strategy<Value = Bounds> {
    let one = (0..4u8, -0.3..0.3f64, 0.0..0.5f64).prop_map(|(kind, at, width)| match kind {
        0 => (f64::NEG_INFINITY, f64::INFINITY),
        1 => (0.0, f64::INFINITY),
        2 => (f64::NEG_INFINITY, at),
        _ => (at, at + width),
    });
    vec(one, dim).prop_map(|pairs| {
        let (lower, upper) = pairs.into_iter().unzip();
        Bounds::new(lower, upper).unwrap()
    })
}

/// Few passes of every solver that does not depend on the clock.
fn every_solver(lambda: f64) -> Vec<Settings> {
    let base =
        Settings { lambda: Some(lambda), max_passes: 6, tolerance: 0.0, threads: 1, ..bcfw() };
    let solvers = Solver::NAMES.iter().map(|name| name.parse().unwrap());
    let mut all: Vec<Settings> = solvers
        .filter(|&solver| solver != Solver::Auto)
        .map(|solver| SettingsRecord { solver, ..base.record() }.settings().unwrap())
        .collect();
    for direction in Direction::NAMES {
        for cache in [Caching::Off, Caching::On] {
            let direction = direction.parse().unwrap();
            all.push(SettingsRecord { direction, cache, ..base.record() }.settings().unwrap());
        }
    }
    all
}

/// A run to a small gap.
fn precisely(lambda: f64) -> Settings {
    let (direction, max_passes) = (Direction::Pairwise, 20_000);
    SettingsRecord {
        lambda: Some(lambda),
        tolerance: 1e-7,
        max_passes,
        direction,
        threads: 1,
        ..bcfw().record()
    }
    .settings()
    .unwrap()
}

/// The result of a run.
fn result(of: Result<Solution, TrainError>) -> Result<(Vec<f64>, DualPoint, Certificate), String> {
    of.map(|solution| (solution.weights, solution.dual, solution.certificate))
        .map_err(|error| error.to_string())
}

/// Asserts that every solver has the same result for two problems, bit by bit, or refuses both.
#[track_caller]
fn assert_same_runs(a: &impl Problem, b: &impl Problem, lambda: f64) {
    let mut trained = 0;
    for settings in every_solver(lambda) {
        let (ours, theirs) = (result(train(a, &settings)), result(train(b, &settings)));
        assert_eq!(ours, theirs, "{settings:?}");
        trained += usize::from(ours.is_ok());
    }
    assert!(trained > 10, "only {trained} of all settings were accepted");
}

/// Asserts that infinite bounds change nothing.
#[track_caller]
fn assert_free_in_no_bounds<P: Problem>(build: impl Fn() -> P, lambda: f64) {
    let free = build();
    let held = Bounded::new(build(), Bounds::none(free.dim()));
    assert_same_runs(&free, &held, lambda);
}

/// Asserts that a certificate encloses an optimum closely.
#[track_caller]
fn assert_encloses(c: &Certificate, optimum: &Optimum) {
    let scale = 1.0 + optimum.above.abs();
    assert!(c.gap <= 1e-3 * scale, "{c:?} against {optimum:?}");
    assert!(c.dual <= optimum.above + 1e-6 * scale, "{c:?} against {optimum:?}");
    assert!(c.primal >= optimum.below - 1e-6 * scale, "{c:?} against {optimum:?}");
}

/// Asserts that weights keep bounds.
#[track_caller]
fn assert_within(bounds: &Bounds, weights: &[f64]) {
    let keeps = |(at, &w): (usize, &f64)| bounds.clip(at, w) == w;
    assert!(weights.iter().enumerate().all(keeps), "{weights:?} and {bounds:?}");
}

/// Trains, and compares the result with brute force over all outputs and with an optimum.
#[track_caller]
fn hold_against(
    problem: &impl Problem,
    dense: &Enumerated,
    lambda: f64,
    optimum: &Optimum,
) -> Solution {
    let solution = train(problem, &precisely(lambda)).unwrap();
    assert_certified(problem, &solution);
    let c = solution.certificate;
    assert_close(c.primal, dense.primal(lambda, &solution.weights), 1e-9, c.primal);
    assert_encloses(&c, optimum);
    solution
}
