//! Matchings: parts, oracles and feasibility, against all sets of links.

use crate::common::graphs::{KINDS, magnitude, numbers};
use crate::common::matchings::any_matchings;
use crate::common::problems::ViaPsi;
use crate::common::{
    add_scaled, assert_all_close, assert_certified, assert_close, bcfw, cases, dot, minus, norm_sq,
    qp,
};
use maxmargin::ProblemExt as _;
use maxmargin::model::InputError;
use maxmargin::model::matching::{Gold, LinkLoss, Matcher, Matching, MatchingShape, Pairs};
use maxmargin::{
    Caching, Direction, Order, PointCheck, Problem, Rng, Settings, SettingsRecord, Solver,
    SparseVec, regularization_path, train,
};
use proptest::prelude::*;

proptest! {
    #![proptest_config(cases(128))]

    #[test]
    fn oracles_find_the_best(case in any_matchings(), kind in KINDS, seed in any::<u64>()) {
        let (problem, dense) = (case.build(), case.enumerate());
        let w = numbers(kind, problem.dim(), seed);
        let mut workspace = problem.workspace();
        for i in 0..case.data.len() {
            let scale = magnitude(&w) * 40.0;
            let best = (0..dense.blocks[i].corners.len())
                .map(|y| dense.augmented(i, y, &w))
                .fold(f64::NEG_INFINITY, f64::max);
            let mut y = vec![9]; // what was before does not matter
            problem.prepare(i, &w, &mut workspace);
            problem.oracle(i, &w, &mut workspace, &mut y);
            let truth = case.truth(i);
            prop_assert!(y == truth || case.outputs(i).contains(&y));
            let psi = minus(&case.phi(i, &truth), &case.phi(i, &y));
            assert_close(case.loss(i, &y) - dot(&w, &psi), best, 1e-13, scale);
            problem.decode(i, &w, &mut workspace, &mut y);
            let best = case.outputs(i).iter().map(|y| dot(&w, &case.phi(i, y))).fold(f64::NEG_INFINITY, f64::max);
            assert_close(dot(&w, &case.phi(i, &y)), best, 1e-13, scale);
            prop_assert!(case.outputs(i).contains(&y));
            let pair = case.data.pair(i);
            let mut matcher = Matcher::new(case.shape, &w);
            assert_close(matcher.best(&pair), best, 1e-13, scale);
            if case.shape.is_one_to_one() {
                let found = matcher.n_best(&pair, 1000);
                prop_assert_eq!(found.len(), case.outputs(i).len());
                assert_close(found[0].score, best, 1e-13, scale);
            }
        }
    }

    #[test]
    fn parts_stand_for_features(
        case in any_matchings(), kind in KINDS, seed in any::<u64>(), mix in -1.0..1.0f64
    ) {
        let problem = case.build();
        let w = numbers(kind, problem.dim(), seed);
        let mut workspace = problem.workspace();
        for i in 0..case.data.len() {
            let outputs = case.outputs(i);
            let (a, b) = (&outputs[seed as usize % outputs.len()], &outputs[seed as usize / 7 % outputs.len()]);
            problem.prepare(i, &w, &mut workspace);
            let (mut parts, mut other) = (SparseVec::new(), SparseVec::new());
            problem.parts(i, a, &mut parts);
            problem.parts(i, b, &mut other);
            prop_assert!(parts.is_normalised());
            parts.add_scaled(mix, &other);
            let mut phi = case.phi(i, a);
            add_scaled(&mut phi, mix, &case.phi(i, b));
            assert_close(problem.score(i, &w, &workspace, &parts), dot(&w, &phi), 1e-13, magnitude(&w) * 40.0);
            for _ in 0..2 { // the scratch memory is clean afterwards
                assert_close(problem.norm_sq(i, &mut workspace, &parts), norm_sq(&phi), 1e-12, norm_sq(&phi));
            }
            let mut sink = vec![0.0; problem.dim()];
            problem.scatter(i, 1.0, &parts, sink.as_mut_slice().into());
            assert_all_close(&sink, &phi, 1e-13);
            assert_close(problem.loss(i, a), case.loss(i, a), 1e-13, 10.0);
            let mut psi = SparseVec::new();
            problem.psi(i, a, &mut psi);
            let mut sink = vec![0.0; problem.dim()];
            psi.entries().iter().for_each(|&(at, value)| sink[at as usize] += value);
            assert_all_close(&sink, &minus(&case.phi(i, &case.truth(i)), &case.phi(i, a)), 1e-13);
        }
    }

    /// Mixtures of outputs and the truth are accepted. Points that a linear functional separates from all
    /// outputs are not.
    #[test]
    fn feasibility_is_exact(case in any_matchings(), seed in any::<u64>(), scale in 0.5..1.5f64) {
        let problem = case.build();
        let mut rng = Rng::new(seed);
        for i in 0..case.data.len() {
            let mut outputs = case.outputs(i);
            outputs.push(case.truth(i));
            let links = case.data.pair(i).links().len();
            let (mut masses, mut loss, mut rest) = (vec![0.0; links], 0.0, 1.0);
            for left in (0..3).rev() {
                let y = &outputs[rng.below(outputs.len())];
                let share = if left == 0 { rest } else { rest * rng.unit_f64() };
                y.iter().for_each(|&k| masses[k as usize] += share);
                loss += share * case.loss(i, y);
                rest -= share;
            }
            let parts = |masses: &[f64]| (0..).zip(masses.iter().copied()).collect::<SparseVec>();
            prop_assert_eq!(problem.check_point(i, &parts(&masses), loss, 1e-12), Ok(PointCheck::Feasible));
            prop_assert!(problem.check_point(i, &parts(&masses), loss + 0.1, 1e-12).is_err());
            // A scaled point may be outside, which some direction shows.
            masses.iter_mut().for_each(|mass| *mass *= scale);
            let own: f64 = {
                let pair = case.data.pair(i);
                let missing: f64 = case.loss(i, &[]);
                let unit = |k: usize| case.loss(i, &[k as u32]) - missing;
                missing + (0..pair.links().len()).map(|k| masses[k] * unit(k)).sum::<f64>()
            };
            let verdict = problem.check_point(i, &parts(&masses), own, 1e-9);
            let outside = (0..200).any(|_| {
                let functional: Vec<f64> = (0..links).map(|_| rng.below(5) as f64 - 2.0).collect();
                let most = outputs.iter()
                    .map(|y| y.iter().map(|&k| functional[k as usize]).sum::<f64>())
                    .fold(f64::NEG_INFINITY, f64::max);
                dot(&functional, &masses) > most + 1e-6
            });
            prop_assert!(!(outside && verdict.is_ok()), "{masses:?} is outside");
        }
    }

    #[test]
    fn all_methods_find_the_optimum(case in any_matchings(), lambda in 0.05..1.0f64) {
        let problem = case.build();
        let expected = qp::solve(&case.enumerate(), lambda);
        let base = Settings { lambda: Some(lambda), max_passes: 60, tolerance: 1e-7, threads: 1, ..bcfw() };
        let mut all = vec![
            base.clone(),
            SettingsRecord { solver: Solver::FrankWolfe, ..base.record() }.settings().unwrap(),
            SettingsRecord { solver: Solver::Auto, ..base.record() }.settings().unwrap(),
        ];
        for (at, direction) in Direction::NAMES.iter().enumerate() {
            all.push(SettingsRecord {
                direction: direction.parse().unwrap(),
                order: Order::NAMES[at % Order::NAMES.len()].parse().unwrap(),
                cache: Caching::NAMES[at % Caching::NAMES.len()].parse().unwrap(),
                ..base.record()
            }.settings().unwrap());
        }
        for settings in all {
            let solution = train(&problem, &settings).unwrap();
            let c = solution.certificate;
            prop_assert!(c.dual <= expected.above + 1e-7 && c.primal >= expected.below - 1e-7);
            assert_certified(&problem, &solution);
        }
        let ours = train(&problem, &base).unwrap().certificate;
        let theirs = train(&ViaPsi(problem), &base).unwrap().certificate;
        prop_assert!(ours.dual <= theirs.primal + 1e-9 && theirs.dual <= ours.primal + 1e-9);
    }
}

/// Separable links are learned, with one link per row and column and with several.
#[test]
fn separable_links_are_learned() {
    let mut rng = Rng::new(3);
    let mut data = Pairs::new();
    for _ in 0..40 {
        for at in 0..30 {
            let (row, column) = (at / 6, at % 6);
            let sure = row == column || (row == 0 && column == 5);
            let alike = if sure { 0.7 } else { 0.3 } + 0.3 * rng.unit_f64();
            let gold = if sure { Gold::Sure } else { Gold::Wrong };
            data.push_link(row, column, [(0, alike), (1, 1.0)], gold).unwrap();
        }
        data.end_pair(5, 6, 1.0).unwrap();
    }
    let settings = Settings { lambda: Some(1e-3), tolerance: 1e-3, ..Settings::default() };
    for most_per_row in [1, 2] {
        let shape = MatchingShape { most_per_row, ..MatchingShape::new(2) };
        let problem = Matching::new(shape, data.clone(), LinkLoss::default()).unwrap();
        let solution = train(&problem, &settings).unwrap();
        assert_certified(&problem, &solution);
        for links in problem.predict(&solution.weights) {
            assert_eq!(links.len(), 4 + most_per_row, "{links:?}");
            assert!(links.iter().all(|&(r, c)| r == c || (r, c) == (0, 5)), "{links:?}");
        }
        let path = regularization_path(&problem, &Default::default()).unwrap();
        assert!(!path.breakpoints.is_empty());
    }
}

#[test]
fn invalid_pairs_are_rejected() {
    let mut data = Pairs::new();
    data.push_link(0, 0, [(1, 1.0)], Gold::Sure).unwrap();
    assert!(matches!(
        data.push_link(0, 1, [(0, f64::NAN)], Gold::Sure),
        Err(InputError::Value { attribute: 0, .. })
    ));
    assert_eq!(
        data.push_link(0, 0, [], Gold::Sure).unwrap_err().to_string(),
        "link 0-0 comes after link 0-0; links come row by row, each once"
    );
    for weight in [0.0, -1.0, f64::NAN] {
        let error = data.end_pair(1, 1, weight).unwrap_err().to_string();
        let expected = "a positive finite number is needed";
        assert_eq!(error, format!("the example weight is {weight}; {expected}"));
    }
    data.end_pair(1, 1, 1.0).unwrap();
    data.push_link(0, 0, [(1, 1.0)], Gold::Sure).unwrap(); // a new pair, and a new beginning
    assert_eq!(data.len(), 1);
    let shape = MatchingShape::new(2);
    let none = MatchingShape { most_per_column: 0, ..shape };
    let build = |shape, loss| Matching::new(shape, data.clone(), loss);
    let error = build(none, LinkLoss::default()).unwrap_err().to_string();
    assert_eq!(error, "a column must be allowed at least one link");
    for wrong in [-1.0, f64::NAN, f64::INFINITY] {
        let loss = LinkLoss { wrong, ..LinkLoss::default() };
        let error = build(shape, loss).unwrap_err().to_string();
        let expected = "a finite number ≥ 0 is needed";
        assert_eq!(error, format!("the cost of a wrong link is {wrong}; {expected}"));
    }
    // Scores that overflow are noticed.
    let problem = build(shape, LinkLoss::default()).unwrap();
    let (mut workspace, mut y) = (problem.workspace(), Vec::new());
    let w = [0.0, f64::NAN];
    problem.prepare(0, &w, &mut workspace);
    problem.oracle(0, &w, &mut workspace, &mut y);
    assert_eq!(y, [0]);
}
