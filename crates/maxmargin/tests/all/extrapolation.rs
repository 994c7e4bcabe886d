//! Steps in the directions of earlier passes, and corners of exact passes, save oracle calls, keep w, D and the blocks
//! together, and lead to the optimum of other methods.

use crate::common::bits::random_chain;
use crate::common::{assert_proven, bcfw};
use maxmargin::{
    Bounded, Bounds, Caching, Direction, Order, Problem, Settings, SettingsRecord, Solution, train,
};

/// All blocks go on together after each pass, unless the rule is `exhaust`: there, other steps of all blocks take their
/// place.
fn settings(cache: Caching, passes: u64) -> Settings {
    let (order, direction) = (Order::Gap, Direction::Corrective);
    let record = SettingsRecord {
        order,
        direction,
        cache,
        lambda: Some(0.001),
        tolerance: 1e-4,
        max_passes: passes,
        threads: 1,
        ..bcfw().record()
    };
    record.settings().unwrap()
}

fn proven(problem: &impl Problem, settings: &Settings) -> Solution {
    let solution = train(problem, settings).unwrap();
    assert_proven(problem, settings, &solution);
    let drift = solution.totals.drift;
    assert!(drift.weights < 1e-9 && drift.dual < 1e-9, "{drift:?}");
    solution
}

fn check_against_exhaust(problem: &impl Problem) {
    let other = proven(problem, &settings(Caching::Exhaust, 1000)).certificate;
    for cache in [Caching::On, Caching::Off] {
        let mut highest = 0.0;
        for passes in 1..25 {
            let dual = proven(problem, &settings(cache, passes)).certificate.dual;
            assert!(dual >= highest - 1e-12, "{cache}: the dual falls from {highest} to {dual}");
            highest = dual;
        }
        let own = proven(problem, &settings(cache, 1000)).certificate;
        assert!(own.gap <= 0.01 * own.primal, "{cache}: {own:?}");
        assert!(own.dual <= other.primal + 1e-12 && other.dual <= own.primal + 1e-12);
    }
}

#[test]
fn blocks_that_go_on_together_reach_the_same_optimum() {
    check_against_exhaust(&random_chain(60, 4, 7));
}

#[test]
fn blocks_that_go_on_together_keep_the_bounds_of_weights() {
    let chain = random_chain(60, 4, 8);
    let bounds = Bounds::none(chain.dim()).with(0..16, 0.0, 0.4).unwrap();
    let bounds = bounds.with(16..24, -0.3, f64::INFINITY).unwrap();
    check_against_exhaust(&Bounded::new(chain, bounds));
}

/// Blocks take the corners of an exact pass instead of calling their oracles again.
#[test]
fn corners_of_exact_passes_are_used() {
    let chain = random_chain(300, 4, 10);
    let calls = |gap_every| {
        let few = Settings { tolerance: 0.0, gap_every, ..settings(Caching::On, 12) };
        let totals = proven(&chain, &few).totals;
        totals.oracle_calls - totals.passes / gap_every * 300
    };
    assert!(calls(2) < calls(12));
}
