//! Work on remembered corners takes few oracle calls, also where all examples share few features.

use crate::common::problems::Wide;
use crate::common::{assert_proven, bcfw};
use maxmargin::model::chain::{Chain, ChainShape, Hamming, Sequences};
use maxmargin::{
    Blocks, Bounded, Bounds, Caching, Direction, Order, Problem, Rng, Settings, SettingsRecord,
    Solution, Solver, train,
};

/// Thirty chains of five tokens with four positive features each, as of flowers that were measured.
fn flowers() -> Chain {
    let means = [[5.0, 3.4, 1.5, 0.2], [5.9, 2.8, 4.3, 1.3], [6.6, 3.0, 5.6, 2.0]];
    let (mut rng, mut sequences) = (Rng::new(5), Sequences::new());
    for _ in 0..30 {
        for _ in 0..5 {
            let species = rng.below(3);
            let row = means[species].map(|mean| mean * (0.9 + 0.2 * rng.unit_f64()));
            sequences.push_token((0u32..).zip(row), species as u32).unwrap();
        }
        sequences.end_sequence(1.0).unwrap();
    }
    Chain::new(ChainShape::new(3, 4), sequences, &Hamming::default()).unwrap()
}

fn base(calls_per_example: u64) -> Settings {
    Settings {
        lambda: Some(0.01),
        tolerance: 0.01,
        max_passes: u64::MAX,
        max_oracle_calls: Some(30 * calls_per_example),
        threads: 1,
        ..bcfw()
    }
}

fn remembering(cache: Caching, calls_per_example: u64) -> Settings {
    let (order, direction) = (Order::Gap, Direction::Corrective);
    let record = SettingsRecord { order, direction, cache, ..base(calls_per_example).record() };
    record.settings().unwrap()
}

fn gap_of(problem: &impl Problem, settings: &Settings) -> (f64, Solution) {
    let solution = train(problem, settings).unwrap();
    assert_proven(problem, settings, &solution);
    (solution.certificate.gap, solution)
}

#[test]
fn few_calls_suffice_where_examples_share_few_features() {
    let chain = flowers();
    let (gap, _) = gap_of(&chain, &remembering(Caching::On, 20));
    assert!(gap > 0.01, "visits alone are good enough here, so that this shows nothing: {gap}");
    let exhaust = remembering(Caching::Exhaust, 20);
    let (gap, _) = gap_of(&chain, &exhaust);
    assert!(gap <= 0.01, "by features: {gap}");
    let (gap, _) = gap_of(&Wide(chain.clone()), &exhaust);
    assert!(gap <= 0.01, "by parts: {gap}");
    for solver in [Solver::NSlack, Solver::Auto] {
        let settings = Settings { method: solver.into(), ..base(20) };
        let (gap, _) = gap_of(&chain, &settings);
        assert!(gap <= 0.01, "{solver}: {gap}");
    }
}

#[test]
fn features_and_parts_lead_to_the_same_optimum() {
    let chain = flowers();
    for direction in Direction::NAMES {
        for cache in [Caching::On, Caching::Exhaust] {
            let record = SettingsRecord {
                direction: direction.parse().unwrap(),
                lambda: Some(1.0),
                tolerance: 1e-6,
                ..remembering(cache, 5000).record()
            };
            let settings = record.settings().unwrap();
            let (gap, by_features) = gap_of(&chain, &settings);
            let (other_gap, by_parts) = gap_of(&Wide(chain.clone()), &settings);
            let (a, b) = (by_features.certificate, by_parts.certificate);
            assert!(gap.max(other_gap) <= 1e-4, "{direction} {cache}: {gap} {other_gap}");
            assert!(a.dual <= b.primal + 1e-12 && b.dual <= a.primal + 1e-12);
        }
    }
}

/// Joint steps of all blocks keep to the bounds of weights: few calls suffice there too, the dual never falls, and
/// the optimum is that of another method.
#[test]
fn few_calls_suffice_within_bounds() {
    let chain = flowers();
    let bounds = |problem: &dyn Blocks| {
        let bounds = Bounds::none(problem.dim()).with(0..8, 0.0, 0.3).unwrap();
        bounds.with(8..chain.dim(), -0.2, f64::INFINITY).unwrap()
    };
    let bounded = Bounded::new(chain.clone(), bounds(&chain));
    let wide = Wide(chain.clone());
    let wide = Bounded::new(wide.clone(), bounds(&wide));
    let (gap, _) = gap_of(&bounded, &remembering(Caching::On, 30));
    assert!(gap > 0.01, "visits alone are good enough here, so that this shows nothing: {gap}");

    let (mut highest, mut settings) = (f64::NEG_INFINITY, remembering(Caching::Exhaust, 1));
    settings.tolerance = 1e-6;
    for calls in 1..30 {
        settings.max_oracle_calls = Some(30 * calls);
        let dual = gap_of(&bounded, &settings).1.certificate.dual;
        assert!(dual >= highest - 1e-12, "the dual falls from {highest} to {dual}");
        highest = dual;
    }
    let (gap, by_features) = gap_of(&bounded, &remembering(Caching::Exhaust, 30));
    assert!(gap <= 0.01, "by features: {gap}");
    let (gap, by_parts) = gap_of(&wide, &remembering(Caching::Exhaust, 30));
    assert!(gap <= 0.01, "by parts: {gap}");
    let other = Settings { method: Solver::NSlack.into(), ..base(1000) };
    let (gap, other) = gap_of(&bounded, &other);
    assert!(gap <= 0.01, "n-slack: {gap}");
    for solution in [by_features, by_parts] {
        let (a, b) = (solution.certificate, other.certificate);
        assert!(a.dual <= b.primal + 1e-12 && b.dual <= a.primal + 1e-12);
    }
}
