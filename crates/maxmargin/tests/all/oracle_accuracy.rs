//! Oracles of a requested accuracy: the engine asks for as much as its settings say, the rates of the theorems hold, and
//! certificates say what oracles may have missed.

use crate::common::problems::{Enumerated, Spoiled, any_polytope, many_blocks, random_blocks};
use crate::common::{bcfw, cases, norm_sq, qp, watch};
use maxmargin::observe::Record;
use maxmargin::problem::{Abilities, Accuracy, OracleWithin};
use maxmargin::{
    Caching, Direction, DualPoint, Order, Problem, Quality, SettingsRecord, Solver, TrainError,
    audit, forward_problem, train,
};
use proptest::prelude::*;

const SEEDS: u64 = 30;
const PASSES: u64 = 40;
const ROOM: f64 = 1e-7;

fn uniform(lambda: f64) -> SettingsRecord {
    let tolerance = 0.0;
    let (order, max_passes, gap_every) = (Order::Uniform, PASSES, 1_000_000);
    let base = bcfw().record();
    SettingsRecord {
        lambda: Some(lambda),
        order,
        max_passes,
        gap_every,
        tolerance,
        threads: 1,
        ..base
    }
}

/// What is left of h after each pass, on average over the seeds.
fn left(problem: &Spoiled, optimum: f64, record: &SettingsRecord) -> Vec<f64> {
    let mut sums = vec![optimum; record.max_passes as usize];
    for seed in 1..=SEEDS {
        let settings = SettingsRecord { seed, ..record.clone() }.settings().unwrap();
        let (solution, rows) = watch(problem, &settings);
        assert_eq!(solution.certificate.quality, Quality::Exact);
        assert_eq!(solution.totals.oracle_failures, 0);
        for (sum, (row, _)) in sums.iter_mut().zip(&rows.0) {
            let Record { dual, .. } = row;
            *sum -= dual / SEEDS as f64;
        }
    }
    sums
}

/// Σ 4cᵢ²Rᵢ²/(λC²), and the optimum, which is h₀.
fn constants(problem: &Enumerated, lambda: f64) -> (f64, f64) {
    let curvature = |i: usize| {
        let lengths = problem.blocks[i].corners.iter().map(|(psi, _)| norm_sq(psi));
        4.0 * problem.share(i).powi(2) / lambda * lengths.fold(0.0, f64::max)
    };
    ((0..problem.blocks.len()).map(curvature).sum(), qp::solve(problem, lambda).above)
}

proptest! {
    #![proptest_config(cases(8))]

    /// App. C of 2013: visits that ask for the share ν of block gaps, E h_k ≤ 2n/(νk + 2n)·(C_f^⊗/ν + h₀).
    #[test]
    fn visits_that_ask_for_a_share_keep_to_their_rate(
        problem in many_blocks(), lambda in 0.05..1.0f64, share in 0.1..1.0f64
    ) {
        let (curvature, start) = constants(&problem, lambda);
        let n = problem.blocks.len() as f64;
        let record = SettingsRecord { oracle_share: share, ..uniform(lambda) };
        for (pass, left) in left(&Spoiled::new(problem), start, &record).into_iter().enumerate() {
            let k = (pass + 1) as f64 * n;
            let bound = 2.0 * n / (share * k + 2.0 * n) * (curvature / share + start);
            prop_assert!(left <= bound + ROOM, "after {k} visits {left} > {bound}");
        }
    }

    /// Theorem 7 of 2012, App. C of 2013: visits that allow an error of δ/2·γ_k·C_f^(i), E h_k ≤
    /// 2n/(k + 2n)·((1 + δ)C_f^⊗ + h₀).
    #[test]
    fn visits_that_allow_an_error_keep_to_their_rate(
        problem in many_blocks(), lambda in 0.05..1.0f64, slack in 0.1..4.0f64
    ) {
        let (curvature, start) = constants(&problem, lambda);
        let n = problem.blocks.len() as f64;
        let record = SettingsRecord { oracle_slack: slack, ..uniform(lambda) };
        for (pass, left) in left(&Spoiled::new(problem), start, &record).into_iter().enumerate() {
            let k = (pass + 1) as f64 * n;
            let bound = 2.0 * n / (k + 2.0 * n) * ((1.0 + slack) * curvature + start);
            prop_assert!(left <= bound + ROOM, "after {k} visits {left} > {bound}");
        }
    }

    /// Whatever visits ask for, with whatever they do with the answer: runs end with exact certificates.
    #[test]
    fn certificates_do_not_depend_on_what_visits_ask_for(problem in any_polytope(), lambda in 0.05..1.0f64) {
        let optimum = qp::solve(&problem, lambda);
        let spoiled = Spoiled::new(problem.clone());
        for (direction, cache) in [
            (Direction::FrankWolfe, Caching::Off),
            (Direction::FrankWolfe, Caching::On),
            (Direction::Pairwise, Caching::Off),
            (Direction::Corrective, Caching::On),
        ] {
            for (oracle_share, oracle_slack) in [(0.3, 0.0), (1.0, 2.0)] {
                let record = SettingsRecord {
                    oracle_share, oracle_slack, direction, cache, order: Order::Gap, gap_every: 7,
                    max_passes: 200, tolerance: 1e-3, ..uniform(lambda)
                };
                let solution = train(&spoiled, &record.settings().unwrap()).unwrap();
                let c = solution.certificate;
                prop_assert_eq!((c.quality, c.missed, c.proven_gap()), (Quality::Exact, None, Some(c.gap)));
                let primal = problem.primal(lambda, &solution.weights);
                prop_assert!((c.primal - primal).abs() <= 1e-9 * (1.0 + primal.abs()));
                prop_assert!(c.dual <= optimum.above + ROOM && c.primal >= optimum.below - ROOM);
            }
        }
    }

    /// The true gap of a heuristic that knows what it has missed lies between `gap` and `gap + missed`.
    #[test]
    fn certificates_state_what_oracles_have_missed(
        problem in any_polytope(), lambda in 0.05..1.0f64, best in 0.2..0.95f64, passes in 1u64..20
    ) {
        let optimum = qp::solve(&problem, lambda);
        let spoiled = Spoiled { inner: problem.clone(), best };
        for solver in [Solver::BlockCoordinate, Solver::FrankWolfe, Solver::OneSlack] {
            let (max_passes, gap_every) = (passes, 3);
            let base = SettingsRecord { solver, order: Order::default(), max_passes, gap_every, ..uniform(lambda) };
            let solution = train(&spoiled, &base.settings().unwrap()).unwrap();
            let c = solution.certificate;
            prop_assert_eq!(c.quality, Quality::Heuristic);
            let missed = c.missed.unwrap();
            let primal = problem.primal(lambda, &solution.weights);
            let room = 1e-9 * (1.0 + primal.abs());
            prop_assert!(c.primal <= primal + room && primal <= c.primal + missed + room, "{c:?}, P = {primal}");
            prop_assert!(primal - optimum.below <= c.proven_gap().unwrap() + ROOM);
            let again = audit(&spoiled, lambda, &solution.weights, &solution.dual, 1e-9, 1).unwrap();
            prop_assert_eq!(again.certificate.missed.is_some(), again.certificate.quality == Quality::Heuristic);
        }
    }
}

/// A spoiled oracle makes runs slower, the more so the less accurate it is, and by no more than 1/ν².
#[test]
fn the_price_of_accuracy_is_at_most_its_square() {
    let (problem, lambda) = (random_blocks(11, 6, 8, 12), 0.3);
    let (_, optimum) = constants(&problem, lambda);
    let problem = Spoiled::new(problem);
    let passes_to = |oracle_share: f64| {
        let record = SettingsRecord { oracle_share, max_passes: 500, ..uniform(lambda) };
        let left = left(&problem, optimum, &record);
        (left.iter().position(|left| *left <= 0.005).unwrap() + 1) as f64
    };
    let [exact, half, quarter] = [1.0, 0.5, 0.25].map(passes_to);
    assert!(exact < half && half < quarter, "{exact}, {half}, {quarter}");
    assert!(half <= 4.0 * exact && quarter <= 16.0 * exact, "{exact}, {half}, {quarter}");
}

/// Where nothing is asked for, the run is the same as without the ability.
#[test]
fn the_ability_changes_nothing_by_itself() {
    let problem = random_blocks(5, 5, 6, 4);
    let settings = SettingsRecord { gap_every: 5, ..uniform(0.1) }.settings().unwrap();
    let plain = train(&problem, &settings).unwrap();
    let able = train(&Spoiled::new(problem), &settings).unwrap();
    assert_eq!((plain.weights, plain.certificate), (able.weights, able.certificate));
}

#[test]
fn settings_without_a_meaning_are_refused() {
    let base = uniform(0.1);
    let told = |record: SettingsRecord| {
        let settings = record.settings().map_err(TrainError::from);
        let problem = Spoiled::new(random_blocks(5, 3, 3, 2));
        settings.and_then(|settings| train(&problem, &settings)).unwrap_err().to_string()
    };
    let both = SettingsRecord { oracle_share: 0.5, oracle_slack: 1.0, ..base.clone() };
    assert_eq!(
        told(both),
        "oracle_share 0.5 cannot be combined with oracle_slack 1: both say how much of the maximum an oracle may miss"
    );
    let batch = SettingsRecord { oracle_share: 0.5, batch: Some(4), ..base.clone() };
    assert!(told(batch).contains("oracles of a batch are asked for the maximum"));
    for (oracle_share, oracle_slack) in [(0.0, 0.0), (1.5, 0.0), (1.0, -1.0), (1.0, f64::NAN)] {
        let record = SettingsRecord { oracle_share, oracle_slack, ..base.clone() };
        assert!(told(record).contains("it must be"));
    }
    let solver = SettingsRecord { solver: Solver::Auto, order: Order::default(), ..base.clone() };
    let solver = SettingsRecord { oracle_slack: 1.0, ..solver };
    assert!(told(solver).contains("only bcfw asks for less than the maximum"));

    let unable = random_blocks(5, 3, 3, 2);
    let settings = SettingsRecord { oracle_share: 0.5, ..base }.settings().unwrap();
    let refused = train(&unable, &settings).unwrap_err().to_string();
    assert!(refused.contains("cannot ask the oracles of this problem"), "{refused}");
}

/// An oracle that does not know what it has missed leaves the certificate without a bound.
#[test]
fn unknown_misses_are_not_stated() {
    struct Silent(Spoiled);
    impl Problem for Silent {
        type Output = usize;
        type Workspace = ();
        forward_problem!(self.0, workspace, except[abilities]);
        fn abilities(&self) -> Abilities<'_, (), usize> {
            Abilities { within: Some(self), ..Abilities::none() }
        }
    }
    impl OracleWithin for Silent {
        fn oracle_within(
            &self,
            i: usize,
            w: &[f64],
            asked: Accuracy,
            (): &mut (),
            y: &mut usize,
        ) -> f64 {
            self.0.oracle_within(i, w, asked, &mut (), y);
            if i == 1 { f64::INFINITY } else { 0.0 }
        }
    }
    let inner = random_blocks(5, 3, 3, 2);
    let problem = Silent(Spoiled { inner, best: 0.5 });
    let (point, w) = (DualPoint::at_truth(&problem), [0.5, -1.0]);
    let c = audit(&problem, 0.1, &w, &point, 0.0, 1).unwrap().certificate;
    assert_eq!((c.quality, c.missed, c.proven_gap()), (Quality::Heuristic, None, None));
}
