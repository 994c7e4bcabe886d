//! Multi-label problems: parts, oracles and relaxations, against direct formulas.

use crate::common;
use crate::common::graphs::{KINDS, magnitude, numbers};
use crate::common::multilabels::{LabelCase, any_labels};
use crate::common::problems::ViaPsi;
use crate::common::{
    add_scaled, assert_all_close, assert_certified, assert_close, bcfw, cases, dot, norm_sq,
};
use maxmargin::ProblemExt as _;
use maxmargin::inference::Inference;
use maxmargin::inference::algorithms::{MOST_VARIABLES, Subsets};
use maxmargin::model::LabelledRows;
use maxmargin::model::multilabel::{Hamming, LabelSet, Multilabel, MultilabelShape, SetScores};
use maxmargin::{
    Block, DualPoint, PointCheck, Problem, Quality, Rng, Settings, Solver, SparseVec, audit, train,
};
use proptest::prelude::*;

fn scale(case: &LabelCase, i: usize, w: &[f64]) -> f64 {
    magnitude(w) * (2.0 + case.rows[i].0.iter().map(|(_, value)| value.abs()).sum::<f64>())
}

fn best(case: &LabelCase, i: usize, w: &[f64]) -> (f64, f64) {
    let sets = case.sets();
    let most = |value: &dyn Fn(&[u32]) -> f64| {
        sets.iter().map(|y| value(y)).fold(f64::NEG_INFINITY, f64::max)
    };
    (most(&|y| case.augmented(i, y, w)), most(&|y| dot(w, &case.phi(i, y))))
}

/// The inference methods that suit a problem.
fn ways(case: &LabelCase) -> Vec<Inference> {
    let all = Inference::NAMES.iter().map(|name| name.parse().unwrap());
    let suits = |inference: &Inference| {
        let data = LabelledRows::new();
        Multilabel::new(case.shape.clone(), data, &Hamming::default(), *inference).is_ok()
    };
    all.filter(suits).collect()
}

proptest! {
    #![proptest_config(cases(128))]

    #[test]
    fn all_subsets_are_tried(n in 0usize..10, kind in KINDS, seed in any::<u64>(), gaps in 1usize..4) {
        let pairs: Vec<(u32, u32)> = (0..n as u32)
            .flat_map(|j| (0..j).map(move |i| if (i + j) % 2 == 0 { (i, j) } else { (j, i) }))
            .step_by(gaps)
            .collect();
        let (linear, quadratic) = (numbers(kind, n, seed), numbers(kind, pairs.len(), seed ^ 1));
        let f = |bits: u32| {
            let x = |i: u32| f64::from(bits >> i & 1);
            let ones: f64 = linear.iter().zip(0..).map(|(c, i)| c * x(i)).sum();
            ones + pairs.iter().zip(&quadratic).map(|(&(i, j), c)| c * x(i) * x(j)).sum::<f64>()
        };
        let best = (0..1u32 << n).map(f).fold(f64::NEG_INFINITY, f64::max);
        let mut subsets = Subsets::default();
        subsets.maximise(&[1.0; 11], &[(0, 10)], &[-3.0]); // what was before does not matter
        let (value, set) = subsets.maximise(&linear, &pairs, &quadratic);
        let scale = magnitude(&linear) + magnitude(&quadratic);
        assert_close(value, best, 1e-14, scale);
        assert_close(f(set), best, 1e-14, scale);
        prop_assert!(set < 1 << n);
    }

    #[test]
    fn the_best_sets_and_margins_are_those_of_brute_force(
        case in any_labels(), kind in KINDS, seed in any::<u64>(), n in 0usize..20
    ) {
        let w = numbers(kind, case.shape.dim(), seed);
        let problem = case.build(Inference::Auto);
        for i in 0..case.rows.len() {
            let scores = SetScores::new(&case.shape, &w, problem.data().row(i)).unwrap();
            let score = |y: &[u32]| dot(&w, &case.phi(i, y));
            let scale = scale(&case, i, &w);
            let mut all: Vec<f64> = case.sets().iter().map(|y| score(y)).collect();
            all.sort_by(|a, b| b.total_cmp(a));
            let found = scores.n_best(n);
            prop_assert_eq!(found.len(), n.min(all.len()));
            for ((set, value), expected) in found.iter().zip(&all) {
                assert_close(*value, *expected, 1e-13, scale);
                assert_close(score(set), *value, 1e-13, scale);
            }
            for (label, margin) in scores.margins().into_iter().enumerate() {
                let best = |on: bool| {
                    let sets = case.sets();
                    let own = sets.iter().filter(|y| y.contains(&(label as u32)) == on);
                    own.map(|y| score(y)).fold(f64::NEG_INFINITY, f64::max)
                };
                assert_close(margin, best(true) - best(false), 1e-13, scale);
            }
        }
    }

    #[test]
    fn parts_stand_for_features(
        case in any_labels(), kind in KINDS, seed in any::<u64>(), mix in -1.0..1.0f64
    ) {
        let problem = case.build(Inference::Auto);
        let w = numbers(kind, problem.dim(), seed);
        let mut workspace = problem.workspace();
        let sets = case.sets();
        for i in 0..case.rows.len() {
            let (a, b) = (&sets[seed as usize % sets.len()], &sets[seed as usize / 7 % sets.len()]);
            problem.prepare(i, &w, &mut workspace);
            let (mut parts, mut other) = (SparseVec::new(), SparseVec::new());
            problem.parts(i, &LabelSet::from(a.clone()), &mut parts);
            problem.parts(i, &LabelSet::from(b.clone()), &mut other);
            prop_assert!(parts.is_normalised());
            parts.add_scaled(mix, &other);
            let mut dense = case.phi(i, a);
            add_scaled(&mut dense, mix, &case.phi(i, b));
            let scale = scale(&case, i, &w);
            assert_close(problem.score(i, &w, &workspace, &parts), dot(&w, &dense), 1e-13, scale);
            let length = norm_sq(&dense);
            assert_close(problem.norm_sq(i, &mut workspace, &parts), length, 1e-12, length);
            let mut sink = vec![0.0; problem.dim()];
            problem.scatter(i, -0.5, &parts, sink.as_mut_slice().into());
            sink.iter_mut().for_each(|x| *x *= -2.0);
            assert_all_close(&sink, &dense, 1e-12);
            assert_close(problem.loss(i, &LabelSet::from(a.clone())), case.loss(i, a), 1e-13, 1.0);
            let mut psi = SparseVec::new();
            problem.psi(i, &LabelSet::from(a.clone()), &mut psi);
            let mut sink = vec![0.0; problem.dim()];
            psi.entries().iter().for_each(|&(at, value)| sink[at as usize] += value);
            assert_all_close(&sink, &case.psi(i, a), 1e-12);
        }
    }

    #[test]
    fn oracles_find_the_best(case in any_labels(), kind in KINDS, seed in any::<u64>()) {
        for inference in ways(&case) {
            let problem = case.build(inference);
            let quality = problem.quality();
            let w = numbers(kind, problem.dim(), seed);
            let mut workspace = problem.workspace();
            for i in 0..case.rows.len() {
                let ((best_h, best_score), scale) = (best(&case, i, &w), scale(&case, i, &w));
                let (mut y, mut psi) = (LabelSet::default(), SparseVec::new());
                problem.prepare(i, &w, &mut workspace);
                problem.oracle(i, &w, &mut workspace, &mut y);
                problem.psi(i, &y, &mut psi);
                psi.normalise();
                let found = problem.loss(i, &y) - psi.dot_dense(&w);
                let mut parts = SparseVec::new();
                problem.parts(i, &y, &mut parts);
                let check = problem.check_point(i, &parts, problem.loss(i, &y), 1e-12);
                prop_assert!(check <= Ok(PointCheck::Relaxed), "{:?}", check);
                problem.decode(i, &w, &mut workspace, &mut y);
                prop_assert!(y.labels.is_sorted());
                let rounded = dot(&w, &case.phi(i, &y.labels));
                prop_assert!(rounded <= best_score + 1e-13 * scale);
                match quality {
                    Quality::Exact => {
                        prop_assert!(!y.is_fractional());
                        assert_close(found, best_h, 1e-13, scale);
                        assert_close(rounded, best_score, 1e-13, scale);
                    }
                    Quality::UpperBound => prop_assert!(found >= best_h - 1e-11 * scale),
                    Quality::Unfinished | Quality::Unproven => prop_assert!(false, "the oracle failed"),
                    Quality::Heuristic => prop_assert!(found <= best_h + 1e-13 * scale),
                }
                if problem.inference() == Inference::RoofDuality {
                    // Few labels are left open, and all sets of them are tried.
                    assert_close(rounded, best_score, 1e-12, scale);
                }
            }
        }
    }

    /// Roof duality and the simplex method find corners of the same value.
    #[test]
    fn relaxations_agree(case in any_labels(), kind in KINDS, seed in any::<u64>()) {
        let hinge = |inference, i: usize| {
            let problem = case.build(inference);
            let w = numbers(kind, problem.dim(), seed);
            let (mut workspace, mut y) = (problem.workspace(), LabelSet::default());
            problem.prepare(i, &w, &mut workspace);
            problem.oracle(i, &w, &mut workspace, &mut y);
            let mut psi = SparseVec::new();
            problem.psi(i, &y, &mut psi);
            psi.normalise();
            (problem.loss(i, &y) - psi.dot_dense(&w), scale(&case, i, &w))
        };
        for i in 0..case.rows.len() {
            let ((a, scale), (b, _)) = (hinge(Inference::RoofDuality, i), hinge(Inference::Lp, i));
            assert_close(a, b, 1e-11, scale);
        }
    }

    /// A multi-label problem is a factor graph: at the same weights the objective is the same, and
    /// training finds the optimum.
    #[test]
    fn labels_agree_with_the_equivalent_factor_graph(case in any_labels(), lambda in 0.05..1.0f64) {
        let graphs = case.as_graphs();
        let settings = Settings { lambda: Some(lambda), max_passes: 20, tolerance: 0.0, ..bcfw() };
        for (ours, inference) in [(0, Inference::Enumerate), (1, Inference::RoofDuality)] {
            let problem = case.build(inference);
            let solution = train(&problem, &settings).unwrap();
            if ours == 0 {
                let expected = common::qp::solve(&case.enumerate(), lambda);
                let c = solution.certificate;
                prop_assert!(c.dual <= expected.above + 1e-7 && c.primal >= expected.below - 1e-7);
            }
            // The graph also has weights for "off" and for single joint states. If these are 0, scores,
            // losses and predictions are the same.
            let theirs = graphs.build(inference);
            let (labels, pairs) = (case.shape.labels, case.shape.pairs.len());
            let mut w = vec![0.0; theirs.dim()];
            for (at, &weight) in solution.weights[..case.shape.attributes * labels].iter().enumerate() {
                let (attribute, label) = (at / labels, at % labels);
                w[graphs.offsets()[label] + 2 * attribute + 1] = weight;
            }
            for (pair, &weight) in solution.weights[case.shape.attributes * labels..].iter().enumerate() {
                w[graphs.offsets()[labels + pair] + 3] = weight;
            }
            prop_assert_eq!(solution.weights.len(), case.shape.attributes * labels + pairs);
            let own = audit(&problem, lambda, &solution.weights, &DualPoint::at_truth(&problem), 0.0, 1);
            let other = audit(&theirs, lambda, &w, &DualPoint::at_truth(&theirs), 0.0, 1);
            let (own, other) = (own.unwrap().certificate, other.unwrap().certificate);
            assert_close(own.primal, other.primal, 1e-10, own.primal);
        }
    }

    #[test]
    fn parts_and_features_train_alike(case in any_labels(), lambda in 0.1..1.0f64) {
        let settings = Settings { lambda: Some(lambda), max_passes: 50, tolerance: 0.0, ..bcfw() };
        for inference in [Inference::Enumerate, Inference::RoofDuality] {
            let ours = train(&case.build(inference), &settings).unwrap();
            let theirs = train(&ViaPsi(case.build(inference)), &settings).unwrap();
            // Ties may lead to different iterates, but the optimum is the same.
            let (a, b) = (ours.certificate, theirs.certificate);
            prop_assert!(a.dual <= b.primal + 1e-9 && b.dual <= a.primal + 1e-9);
            assert_certified(&case.build(inference), &ours);
        }
    }

    /// An audit of any coordinates and values returns an answer and does not panic.
    #[test]
    fn no_dual_point_makes_an_audit_panic(
        case in any_labels(),
        raw in proptest::collection::vec((0u64..30, -2.0..2.0f64), 1..8),
        loss in -1.0..1.0f64,
    ) {
        let problem = case.build(Inference::Auto);
        let settings = Settings { max_passes: 2, tolerance: 0.0, ..bcfw() };
        let mut solution = train(&problem, &settings).unwrap();
        solution.dual.blocks[0] = Block { parts: raw.into_iter().collect(), loss };
        let _ = audit(&problem, solution.lambda, &solution.weights, &solution.dual, 1e-9, 1);
    }
}

/// With thirty labels, the relaxation is above every set, and rounding is exact if the pairs form a tree.
#[test]
fn many_labels_are_decoded_by_roof_duality() {
    let (labels, mut rng) = (30, Rng::new(5));
    let mut data = LabelledRows::new();
    for _ in 0..40 {
        let on: Vec<u32> = (0..labels as u32).filter(|_| rng.below(4) == 0).collect();
        let hints: Vec<(u32, f64)> = on.iter().map(|&k| (k, 0.5 + rng.unit_f64())).collect();
        data.push(hints.into_iter().chain([(30, 1.0)]), &on, 1.0).unwrap();
    }
    let complete = MultilabelShape::complete(labels, 31);
    let problem = |shape: &MultilabelShape, inference| {
        Multilabel::new(shape.clone(), data.clone(), &Hamming::default(), inference).unwrap()
    };
    let relaxed = problem(&complete, Inference::Auto);
    assert_eq!(relaxed.inference(), Inference::RoofDuality);
    let settings = Settings { lambda: Some(0.01), tolerance: 1e-3, ..Settings::default() };
    let solution = train(&relaxed, &settings).unwrap();
    assert!(solution.certificate.gap <= 1e-3);
    assert_certified(&relaxed, &solution);
    // The true labels are learned.
    let predicted = relaxed.predict(&solution.weights);
    let right = (0..data.len()).filter(|&i| predicted[i] == data.labels(i)).count();
    assert!(right >= 35, "{right} of 40");

    // A tree of pairs: max-sum is exact, and roof duality has no fractional corners.
    let tree = MultilabelShape::tree(labels, 31, &data);
    assert_eq!(tree.pairs.len(), labels - 1);
    let exact = problem(&tree, Inference::Auto);
    assert_eq!((exact.inference(), exact.quality()), (Inference::MaxSum, Quality::Exact));
    let w: Vec<f64> = (0..tree.dim()).map(|_| rng.unit_f64() - 0.5).collect();
    assert_eq!(exact.predict(&w), problem(&tree, Inference::RoofDuality).predict(&w));
}

/// Labels and pairs with conflicting weights: labels of the relaxation are half on, and training still
/// works.
#[test]
fn training_uses_labels_that_are_half_on() {
    let (mut rng, mut data) = (Rng::new(8), LabelledRows::new());
    for _ in 0..5 {
        let on: Vec<u32> = (0..4).filter(|_| rng.below(2) == 0).collect();
        data.push([(0, 1.0), (1, rng.unit_f64())], &on, 1.0).unwrap();
    }
    let shape = MultilabelShape::complete(4, 2);
    let settings = Settings { lambda: Some(1e-3), tolerance: 1e-5, ..Settings::default() };
    let settings = Settings { max_passes: 100_000, ..settings };
    let solve = |inference| {
        let problem =
            Multilabel::new(shape.clone(), data.clone(), &Hamming::default(), inference).unwrap();
        let solution = train(&problem, &settings).unwrap();
        assert_certified(&problem, &solution);
        solution.certificate
    };
    let exact = solve(Inference::Enumerate);
    let (roof, lp) = (solve(Inference::RoofDuality), solve(Inference::Lp));
    assert!(roof.gap <= 1e-5 && lp.gap <= 1e-5, "{roof:?} {lp:?}");
    assert!((roof.primal - lp.primal).abs() <= 1e-5, "{roof:?} {lp:?}");
    assert!(roof.dual > exact.primal + 1e-3, "strictly looser: {roof:?}, {exact:?}");
}

#[test]
fn infeasible_points_are_noticed() {
    let mut data = LabelledRows::new();
    data.push([(0, 1.0)], &[0], 1.0).unwrap();
    let shape = MultilabelShape::complete(2, 1);
    let problem = Multilabel::new(shape, data, &Hamming::default(), Inference::Auto).unwrap();
    let check = |entries: &[(u64, f64)], loss: f64| {
        problem.check_point(0, &entries.iter().copied().collect(), loss, 1e-9)
    };
    assert_eq!(check(&[(0, 1.0)], 0.0), Ok(PointCheck::Feasible));
    assert_eq!(check(&[(0, 0.5), (1, 0.5), (2, 0.25)], 0.5), Ok(PointCheck::Feasible));
    for (entries, loss, word) in [
        (&[(0, 1.0)][..], 0.5, "loss"),
        (&[(0, 1.5)], -0.25, "between"),
        (&[(0, -0.5)], 0.75, "between"),
        (&[(0, 0.5), (1, 0.5), (2, 0.6)], 0.5, "together"),
        (&[(0, 1.0), (1, 1.0)], 0.5, "together"),
        (&[(0, 1.0), (3, 0.5)], 0.0, "does not exist"),
        (&[(0, f64::NAN)], 0.0, "not finite"),
    ] {
        let why = check(entries, loss).unwrap_err();
        assert!(why.contains(word), "{why}");
    }
}

#[test]
fn data_and_losses_that_do_not_fit_the_shape_are_rejected() {
    let mut data = LabelledRows::new();
    data.push([(1, 1.0)], &[1], 1.0).unwrap();
    let build = |shape: MultilabelShape, weights: &[f64], inference| {
        let loss = Hamming { label_weights: weights.to_vec(), ..Hamming::default() };
        Multilabel::new(shape, data.clone(), &loss, inference).unwrap_err()
    };
    let complete = MultilabelShape::complete;
    let said = |shape| build(shape, &[], Inference::Auto).to_string();
    assert_eq!(said(complete(0, 2)), "a multi-label model needs at least one label");
    assert_eq!(said(complete(1, 2)), "row 0 has the label 1, but there are only 1 labels");
    assert_eq!(said(complete(2, 1)), "row 0 has the attribute 1, but there are only 1");
    for pair in [(0, 0), (0, 2)] {
        let mut shape = complete(2, 2);
        shape.pairs = vec![pair];
        let expected = format!("{pair:?} is not a pair of two different labels below 2");
        assert_eq!(said(shape), expected);
    }
    let mut twice = complete(2, 2);
    twice.pairs.push((1, 0));
    let error = build(twice, &[], Inference::Auto).to_string();
    assert_eq!(error, "the pair (1, 0) occurs twice");
    let error = build(complete(2, 2), &[1.0], Inference::Auto).to_string();
    assert_eq!(error, "1 label weights were given for 2 labels");
    assert!(build(complete(2, 2), &[1.0, -1.0], Inference::Auto).to_string().contains("label 1"));
    let error = build(complete(3, 2), &[], Inference::MaxSum).to_string();
    assert_eq!(error, "max-sum cannot decode this graph: it has a cycle");
    let error = build(complete(MOST_VARIABLES + 1, 2), &[], Inference::Enumerate).to_string();
    assert_eq!(error, "enumerate cannot decode this graph: there are too many labels");
}

/// Weights that are not finite end training with an error, with every inference method.
#[test]
fn non_finite_weights_are_noticed() {
    let mut data = LabelledRows::new();
    data.push([(0, 1e200)], &[0], 1.0).unwrap();
    data.push([(0, -1e200)], &[1, 2], 1.0).unwrap();
    for inference in [Inference::Enumerate, Inference::RoofDuality, Inference::Lp] {
        let shape = MultilabelShape::complete(3, 1);
        let problem = Multilabel::new(shape, data.clone(), &Hamming::default(), inference).unwrap();
        for solver in [Solver::Auto, Solver::FrankWolfe, Solver::BlockCoordinate] {
            let settings = Settings { method: solver.into(), max_passes: 3, ..Settings::default() };
            assert!(train(&problem, &settings).is_err(), "{inference} {solver}");
        }
    }
}
