//! An example that suits gap sampling: many easy blocks, and one that takes many visits.

use crate::common::assert_certified;
use crate::common::bcfw;
use crate::common::problems::{Enumerated, EnumeratedBlock};
use maxmargin::{Average, Caching, Direction, Order, SettingsRecord, Status, train};

const EASY: usize = 59;
const LABELS: usize = 60;

/// The hard block has a separate feature for each label. All easy blocks share a single feature, so after
/// one visit to any of them, all are solved. With λ = 1/n, w* = e_{K+1} + 1/(√2·K) Σ_{k ≤ K} eₖ.
fn toy() -> Enumerated {
    let dim = LABELS + 1;
    let unit = |at: usize, length: f64| {
        let mut psi = vec![0.0; dim];
        psi[at] = length;
        psi
    };
    let block = |psi: &dyn Fn(usize) -> Vec<f64>| {
        let truth = (vec![0.0; dim], 0.0);
        let wrong = (0..LABELS).map(|label| (psi(label), 1.0));
        EnumeratedBlock { weight: 1.0, corners: std::iter::once(truth).chain(wrong).collect() }
    };
    let hard = block(&|label| unit(label, 1.0 / f64::sqrt(2.0)));
    let easy = (0..EASY).map(|_| block(&|_| unit(LABELS, 1.0)));
    Enumerated { dim, blocks: std::iter::once(hard).chain(easy).collect() }
}

fn oracle_calls(order: Order, tolerance: f64) -> u64 {
    let settings =
        SettingsRecord { order, tolerance, max_passes: 100_000, threads: 1, ..bcfw().record() }
            .settings()
            .unwrap();
    let solution = train(&toy(), &settings).unwrap();
    assert_eq!(solution.status, Status::Converged);
    solution.totals.oracle_calls
}

#[test]
fn gap_sampling_leaves_the_easy_blocks_alone() {
    let n = EASY + 1;
    // For this gap the hard block must be visited several times per label.
    let tolerance = 1.0 / (20.0 * (n * LABELS) as f64);
    let uniform = oracle_calls(Order::Uniform, tolerance);
    for order in [Order::Gap, Order::MaxGap] {
        let calls = oracle_calls(order, tolerance);
        let least = n.min(LABELS) as u64 / 3;
        assert!(uniform >= least * calls, "{order}: {calls} calls, uniform: {uniform}");
    }
}

#[test]
fn the_known_solution_is_reached() {
    let problem = toy();
    for direction in [Direction::Pairwise, Direction::Best, Direction::Corrective] {
        for cache in [Caching::Off, Caching::On] {
            let settings = SettingsRecord {
                order: Order::Gap,
                direction,
                cache,
                tolerance: 1e-13,
                max_passes: 10_000,
                threads: 1,
                ..bcfw().record()
            }
            .settings()
            .unwrap();
            let solution = train(&problem, &settings).unwrap();
            assert_eq!(solution.status, Status::Converged, "{direction}, cache {cache}");
            assert_certified(&problem, &solution);
            let (easy, hard) = solution.weights.split_last().unwrap();
            assert!((easy - 1.0).abs() < 1e-5);
            let expected = 1.0 / (f64::sqrt(2.0) * LABELS as f64);
            assert!(hard.iter().all(|w| (w - expected).abs() < 1e-5), "{direction}: {hard:?}");
        }
    }
}

/// The bytes of remembered corners without mass are bounded, and the trace reports them.
#[test]
fn a_cache_keeps_to_its_bounds() {
    let base = SettingsRecord {
        direction: Direction::Corrective,
        cache: Caching::On,
        tolerance: 1e-9,
        max_passes: 500,
        threads: 1,
        ..bcfw().record()
    }
    .settings()
    .unwrap();
    let roomy = train(&toy(), &base).unwrap().totals;
    let tight =
        train(&toy(), &SettingsRecord { cache_bytes: 1, ..base.record() }.settings().unwrap())
            .unwrap()
            .totals;
    let off =
        train(&toy(), &SettingsRecord { cache: Caching::Off, ..base.record() }.settings().unwrap())
            .unwrap()
            .totals;
    let [roomy, tight, off] = [roomy, tight, off].map(|totals| totals.cache.unwrap());
    assert!(roomy.hits > 0 && off.hits == 0);
    assert!(tight.bytes <= roomy.bytes && tight.corners <= roomy.corners);
    assert!(off.misses > 0 && roomy.corners >= (EASY + 1) as u64);
}

/// The gaps of the iterate say nothing about the average, so they must not trigger exact passes.
#[test]
fn averages_are_checked_only_as_often_as_set() {
    let n = (EASY + 1) as u64;
    for order in [Order::Gap, Order::MaxGap, Order::Permutation] {
        let settings = SettingsRecord {
            order,
            direction: Direction::Corrective,
            average: Average::Weighted,
            tolerance: 1e-4,
            max_passes: 5000,
            threads: 1,
            ..bcfw().record()
        }
        .settings()
        .unwrap();
        let solution = train(&toy(), &settings).unwrap();
        assert_eq!(solution.status, Status::Converged, "{order}");
        let totals = solution.totals;
        let checks = totals.passes / settings.gap_every + 1;
        assert!(totals.oracle_calls <= totals.visits + checks * 2 * n, "{order}: {totals:?}");
    }
}

/// The clock decides how many passes do not call oracles, but the first pass after each pass of oracle
/// calls never does.
#[test]
fn the_cache_without_parameters_rests_after_a_pass_of_oracle_calls() {
    let chain = maxmargin::doc::toy();
    let n = maxmargin::Problem::examples(&chain) as u64;
    let settings = SettingsRecord {
        cache: Caching::Auto,
        direction: Direction::Pairwise,
        tolerance: 0.0,
        max_passes: 2,
        ..bcfw().record()
    }
    .settings()
    .unwrap();
    let totals = train(&chain, &settings).unwrap().totals;
    let stats = totals.cache.unwrap();
    assert_eq!((stats.misses, stats.hits), (n, n));
    assert_eq!(totals.oracle_calls, 2 * n, "one pass of steps, and the exact one");
}
