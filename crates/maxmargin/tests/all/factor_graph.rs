//! Factor graphs as problems: parts, oracles and relaxations, against direct formulas.

use crate::common;
use crate::common::factor_graphs::{GraphCase, any_forests, any_graphs, frustrated_graphs};
use crate::common::graphs::{KINDS, magnitude, numbers};
use crate::common::problems::ViaPsi;
use crate::common::{assert_all_close, assert_certified, assert_close, bcfw, cases, dot, norm_sq};
use maxmargin::ProblemExt as _;
use maxmargin::inference::Inference;
use maxmargin::inference::Labelling;
use maxmargin::model::InputError;
use maxmargin::model::factor_graph::{FactorGraph, GraphShape, Graphs, StateLoss, Template};
use maxmargin::{
    Block, Direction, PointCheck, Problem, Quality, Settings, SettingsRecord, SlackRescaled,
    SparseVec, audit, train,
};
use proptest::prelude::*;

/// The size of the terms of scores.
fn scale(case: &GraphCase, i: usize, w: &[f64]) -> f64 {
    let features: f64 = case.part_features(i).iter().flatten().map(|x| x.abs()).sum();
    magnitude(w) * (1.0 + features)
}

/// The best H and the best score of all labellings.
fn best(case: &GraphCase, i: usize, w: &[f64]) -> (f64, f64) {
    let all = case.structure(i).labellings();
    let most = |value: &dyn Fn(&[u32]) -> f64| {
        all.iter().map(|y| value(y)).fold(f64::NEG_INFINITY, f64::max)
    };
    (most(&|y| case.augmented(i, y, w)), most(&|y| dot(w, &case.phi(i, y))))
}

/// H of an output, by its parts.
fn augmented(case: &GraphCase, problem: &FactorGraph, i: usize, y: &Labelling, w: &[f64]) -> f64 {
    let mut psi = SparseVec::new();
    problem.psi(i, y, &mut psi);
    psi.normalise();
    let mut parts = SparseVec::new();
    problem.parts(i, y, &mut parts);
    let losses = case.part_losses(i);
    assert_close(parts.dot_dense(&losses), problem.loss(i, y), 1e-12, 1.0);
    problem.loss(i, y) - psi.dot_dense(w)
}

proptest! {
    #![proptest_config(cases(96))]

    /// The n best labellings, against all labellings with scores from features.
    #[test]
    fn the_n_best_labellings_are_found_in_order(
        case in any_graphs(), kind in KINDS, seed in any::<u64>(), n in 0usize..20
    ) {
        let (problem, w) = (case.build(Inference::MaxProduct), numbers(kind, case.dim(), seed));
        for i in 0..case.graphs.len() {
            let score = |y: &[u32]| dot(&w, &case.phi(i, y));
            let mut all: Vec<f64> =
                case.structure(i).labellings().iter().map(|y| score(y)).collect();
            all.sort_by(|a, b| b.total_cmp(a));
            let found = problem.n_best(i, &w, n).unwrap();
            prop_assert_eq!(found.len(), n.min(all.len()));
            let scale = scale(&case, i, &w);
            for (at, ((own, y), best)) in found.iter().zip(&all).enumerate() {
                assert_close(*own, *best, 1e-12, scale);
                assert_close(score(y), *best, 1e-12, scale);
                prop_assert!(found[..at].iter().all(|(_, other)| other != y));
            }
        }
    }

    /// Under slack rescaling the oracle tries all labellings, and training is certified.
    #[test]
    fn slack_rescaling_tries_all_labellings(case in any_graphs(), kind in KINDS, seed in any::<u64>()) {
        let (problem, w) = (case.build(Inference::MaxProduct), numbers(kind, case.dim(), seed));
        let problem = SlackRescaled::new(problem);
        let (mut workspace, mut y) = (problem.workspace(), Labelling::default());
        for i in 0..case.graphs.len() {
            problem.prepare(i, &w, &mut workspace);
            problem.oracle(i, &w, &mut workspace, &mut y);
            let value = |y: &[u32]| case.loss(i, y) * (1.0 - dot(&w, &case.psi(i, y)));
            let best = case.structure(i).labellings().iter().map(|y| value(y)).fold(0.0, f64::max);
            assert_close(value(&y.states).max(0.0), best, 1e-11, 1.0 + scale(&case, i, &w));
        }
        let settings = Settings { lambda: Some(0.5), max_passes: 30, ..bcfw() };
        assert_certified(&problem, &train(&problem, &settings).unwrap());
    }

    /// Scores, lengths, updates and losses of parts agree with features, for labellings and for
    /// combinations of labellings.
    #[test]
    fn parts_stand_for_features(
        case in any_graphs(), kind in KINDS, seed in any::<u64>(), mix in -1.0..1.0f64
    ) {
        let problem = case.build(Inference::Auto);
        prop_assert_eq!(problem.dim(), case.dim());
        let w = numbers(kind, case.dim(), seed);
        let mut workspace = problem.workspace();
        for i in 0..case.graphs.len() {
            let (all, scale) = (case.structure(i).labellings(), scale(&case, i, &w));
            let (a, b) = (&all[seed as usize % all.len()], &all[seed as usize / 7 % all.len()]);
            let features = case.part_features(i);
            problem.prepare(i, &w, &mut workspace);

            let (mut parts, mut other) = (SparseVec::new(), SparseVec::new());
            problem.parts(i, &Labelling::from(a.clone()), &mut parts);
            problem.parts(i, &Labelling::from(b.clone()), &mut other);
            prop_assert!(parts.is_normalised());
            parts.add_scaled(mix, &other);
            let mut dense = vec![0.0; case.dim()];
            for &(part, mass) in parts.entries() {
                common::add_scaled(&mut dense, mass, &features[part as usize]);
            }
            let mut expected = case.phi(i, a);
            common::add_scaled(&mut expected, mix, &case.phi(i, b));
            assert_all_close(&dense, &expected, 1e-12);

            assert_close(problem.score(i, &w, &workspace, &parts), dot(&w, &dense), 1e-13, scale);
            let length = norm_sq(&dense);
            let found = problem.norm_sq(i, &mut workspace, &parts);
            assert_close(found, length, 1e-12, 100.0 + length);
            // The second call has the same result, so the scratch memory is clean.
            prop_assert_eq!(problem.norm_sq(i, &mut workspace, &parts), found);
            let mut sink = vec![0.0; case.dim()];
            problem.scatter(i, -0.5, &parts, sink.as_mut_slice().into());
            sink.iter_mut().for_each(|x| *x *= -2.0);
            assert_all_close(&sink, &dense, 1e-12);

            let y = Labelling::from(a.clone());
            assert_close(problem.loss(i, &y), case.loss(i, a), 1e-13, 1.0);
            let mut psi = SparseVec::new();
            problem.psi(i, &y, &mut psi);
            let mut sink = vec![0.0; case.dim()];
            psi.entries().iter().for_each(|&(at, value)| sink[at as usize] += value);
            assert_all_close(&sink, &case.psi(i, a), 1e-12);
        }
    }

    #[test]
    fn oracles_find_the_best(case in any_graphs(), kind in KINDS, seed in any::<u64>()) {
        let w = numbers(kind, case.dim(), seed);
        for name in Inference::NAMES {
            let inference: Inference = name.parse().unwrap();
            let suits = |i| inference.resolve(&case.structure(i).topology()).is_ok();
            if !(0..case.graphs.len()).all(suits) {
                continue;
            }
            let problem = case.build(inference);
            let mut workspace = problem.workspace();
            for i in 0..case.graphs.len() {
                let ((best_h, best_score), scale) = (best(&case, i, &w), scale(&case, i, &w));
                let mut y = Labelling::default();
                problem.prepare(i, &w, &mut workspace);
                problem.oracle(i, &w, &mut workspace, &mut y);
                let found = augmented(&case, &problem, i, &y, &w);
                // The oracle leaves the tables as they were.
                let mut z = Labelling::default();
                problem.decode(i, &w, &mut workspace, &mut z);
                let mut again = Labelling::default();
                problem.prepare(i, &w, &mut workspace);
                problem.decode(i, &w, &mut workspace, &mut again);
                prop_assert_eq!(&z, &again);
                let rounded = dot(&w, &case.phi(i, &z.states));
                prop_assert!(rounded <= best_score + 1e-12 * scale);
                match problem.inference(i).quality() {
                    Quality::Exact => {
                        prop_assert!(!y.is_fractional());
                        assert_close(found, best_h, 1e-12, scale);
                        assert_close(rounded, best_score, 1e-12, scale);
                    }
                    Quality::UpperBound => prop_assert!(found >= best_h - 1e-11 * scale),
                    Quality::Unfinished | Quality::Unproven => prop_assert!(false, "the oracle failed"),
                    Quality::Heuristic => prop_assert!(found <= best_h + 1e-12 * scale),
                }
            }
        }
    }

    /// States of the true label cost nothing, and the oracle knows it.
    #[test]
    fn losses_compare_labels_of_states(case in any_graphs(), kind in KINDS, seed in any::<u64>()) {
        let labels = vec![0, 1, 0];
        let problem = case.build(Inference::Enumerate).with_labels(labels.clone()).unwrap();
        let w = numbers(kind, case.dim(), seed);
        let mut workspace = problem.workspace();
        for i in 0..case.graphs.len() {
            let (truth, costs) = (case.truth(i), case.part_losses(i));
            // The cost of a variable is that of any of its wrong states.
            let cost = |v: usize| problem.topology(i).node(v).map(|at| costs[at]).fold(0.0, f64::max);
            let loss = |y: &[u32]| -> f64 {
                let wrong = |v: &usize| labels[y[*v] as usize] != labels[truth[*v] as usize];
                (0..y.len()).filter(wrong).map(cost).sum()
            };
            let all = case.structure(i).labellings();
            let h = |y: &[u32]| loss(y) - dot(&w, &case.psi(i, y));
            for y in &all {
                assert_close(problem.loss(i, &y.clone().into()), loss(y), 1e-12, 1.0);
            }
            let mut y = Labelling::default();
            problem.prepare(i, &w, &mut workspace);
            problem.oracle(i, &w, &mut workspace, &mut y);
            let best = all.iter().map(|y| h(y)).fold(f64::NEG_INFINITY, f64::max);
            assert_close(h(&y.states), best, 1e-12, scale(&case, i, &w));
        }
    }

    /// The best states among those that are allowed, against all of these.
    #[test]
    fn completions_are_the_best_that_are_allowed(
        case in any_graphs(), kind in 0usize..3, seed in any::<u64>()
    ) {
        let w = numbers(kind, case.dim(), seed);
        let mut rng = maxmargin::Rng::new(seed);
        for inference in [Inference::Auto, Inference::Enumerate, Inference::MaxProduct] {
            let problem = case.build(inference);
            let (mut workspace, mut y) = (problem.workspace(), Labelling::default());
            for i in 0..case.graphs.len() {
                let topology = problem.topology(i);
                let mut allowed = Vec::new();
                for v in 0..topology.variables() {
                    let states = topology.node(v).len();
                    let sure = rng.below(states);
                    allowed.extend((0..states).map(|state| state == sure || rng.below(2) == 0));
                }
                problem.complete(i, &w, &allowed, &mut workspace, &mut y);
                let fits = |y: &[u32]| {
                    let mut states = y.iter().enumerate();
                    states.all(|(v, &state)| allowed[topology.node(v).start + state as usize])
                };
                prop_assert!(fits(&y.states) && !y.is_fractional());
                let all = case.structure(i).labellings();
                let score = |y: &[u32]| dot(&w, &case.phi(i, y));
                let best = all.iter().filter(|y| fits(y)).map(|y| score(y)).fold(f64::NEG_INFINITY, f64::max);
                prop_assert!(score(&y.states) <= best + 1e-12 * scale(&case, i, &w));
                if problem.inference(i).quality() == Quality::Exact {
                    assert_close(score(&y.states), best, 1e-12, scale(&case, i, &w));
                }
            }
        }
    }

    /// Selecting all graphs changes nothing, and selected graphs are unchanged.
    #[test]
    fn graphs_are_selected_whole(case in any_graphs()) {
        let data = case.data();
        prop_assert_eq!(&data.select(|_| true), &data);
        let mut tail = case.clone();
        tail.graphs.remove(0);
        let (some, expected) = (data.select(|i| i > 0), tail.data());
        prop_assert_eq!(some.len(), expected.len());
        for (a, b) in some.iter().zip(expected.iter()) {
            prop_assert_eq!((a.states(), a.truth()), (b.states(), b.truth()));
            prop_assert!(a.factors().eq(b.factors()));
        }
    }

    /// On forests the relaxation is exact, so max-sum and the LP train to the same result.
    #[test]
    fn forests_are_exact_with_max_sum_and_with_the_lp(case in any_forests(), lambda in 0.05..1.0f64) {
        let settings = Settings { lambda: Some(lambda), tolerance: 1e-6, ..bcfw() };
        let settings = SettingsRecord { direction: Direction::Corrective, max_passes: 300, ..settings.record() }.settings().unwrap();
        let exact = train(&case.build(Inference::Auto), &settings).unwrap().certificate;
        let relaxed = train(&case.build(Inference::Lp), &settings).unwrap().certificate;
        prop_assert_eq!(exact.quality, Quality::Exact);
        prop_assert_eq!(relaxed.quality, Quality::UpperBound);
        prop_assert!(exact.dual <= relaxed.primal + 1e-9 && relaxed.dual <= exact.primal + 1e-9);
    }

}

proptest! {
    #![proptest_config(cases(64))]

    /// The same iterates with and without the part space.
    #[test]
    fn parts_and_features_train_alike(case in frustrated_graphs(), lambda in 0.1..1.0f64) {
        let settings = Settings { lambda: Some(lambda), max_passes: 5, tolerance: 0.0, ..bcfw() };
        for inference in [Inference::Lp, Inference::RoofDuality, Inference::Enumerate] {
            let ours = train(&case.build(inference), &settings).unwrap();
            let theirs = train(&ViaPsi(case.build(inference)), &settings).unwrap();
            assert_close(ours.certificate.dual, theirs.certificate.dual, 1e-9, 1.0);
            assert_close(ours.certificate.primal, theirs.certificate.primal, 1e-7, 1.0);
        }
    }

    /// An audit of any coordinates and values returns an answer and does not panic.
    #[test]
    fn no_dual_point_makes_an_audit_panic(
        case in any_graphs(),
        raw in proptest::collection::vec((0u64..60, -2.0..2.0f64), 0..8),
        loss in -1.0..1.0f64,
    ) {
        let problem = case.build(Inference::Auto);
        let settings = Settings { max_passes: 2, tolerance: 0.0, ..bcfw() };
        let mut solution = train(&problem, &settings).unwrap();
        let parts: SparseVec = raw.into_iter().collect();
        solution.dual.blocks[0] = Block { parts: parts.into(), loss };
        let result = audit(&problem, solution.lambda, &solution.weights, &solution.dual, 1e-9, 1);
        prop_assert!(result.is_err() || result.unwrap().infeasible.is_some());
    }
}

#[test]
fn infeasible_points_are_noticed() {
    let mut data = Graphs::new();
    for state in [0, 1] {
        data.push_variable(2, state).unwrap();
    }
    data.push_factor(0, &[0, 1], [(0, 1.0)]).unwrap();
    data.end_graph(1.0).unwrap();
    let shape = data.shape().unwrap();
    let problem = FactorGraph::new(shape, data, StateLoss::default(), Inference::Auto).unwrap();
    let check = |entries: &[(u64, f64)], loss: f64| {
        problem.check_point(0, &entries.iter().copied().collect(), loss, 1e-9)
    };
    // Nodes are 0..2 and 2..4, joint states 4..8.
    assert_eq!(check(&[(0, 1.0), (3, 1.0), (5, 1.0)], 0.0), Ok(PointCheck::Feasible));
    let half = [(0, 0.5), (1, 0.5), (2, 0.5), (3, 0.5), (4, 0.5), (7, 0.5)];
    assert_eq!(check(&half, 0.5), Ok(PointCheck::Feasible));
    for (entries, loss, word) in [
        (&[(0, 1.0), (3, 1.0), (5, 1.0)][..], 0.5, "loss"),
        (&[(0, 1.0), (3, 1.0), (4, 1.0)], 0.0, "differ"),
        (&[(0, 1.0), (3, 1.0)], 0.0, "differ"),
        (&[(0, 0.5), (3, 1.0), (5, 1.0)], 0.0, "sum to 0.5"),
        (&[(0, 2.0), (1, -1.0), (3, 1.0), (5, 1.0)], 0.0, "negative"),
        (&[(0, 1.0), (3, 1.0), (5, 1.0), (8, 0.1)], 0.0, "does not exist"),
        (&[(0, 1.0), (3, 1.0), (5, 1.0), (u64::MAX, 0.1)], 0.0, "does not exist"),
        (&[(0, f64::NAN), (3, 1.0), (5, 1.0)], 0.0, "not finite"),
    ] {
        let why = check(entries, loss).unwrap_err();
        assert!(why.contains(word), "{why}");
    }
}

#[test]
fn data_that_do_not_fit_are_refused() {
    let graph = |template, variables: &[u32], attributes: &[(u32, f64)]| {
        let mut data = Graphs::new();
        for states in [2, 3] {
            data.push_variable(states, 0).unwrap();
        }
        data.push_factor(template, variables, attributes.iter().copied()).unwrap();
        data.end_graph(1.0).unwrap();
        let template = Template { states: vec![2, 3], attributes: 2, ..Template::default() };
        let shape = GraphShape { templates: vec![template] };
        FactorGraph::new(shape, data, StateLoss::default(), Inference::Auto)
    };
    assert!(graph(0, &[0, 1], &[(1, 1.0)]).is_ok());
    let error = graph(1, &[0, 1], &[]).unwrap_err();
    assert_eq!(error.to_string(), "factor 0 of graph 0 has the template 1, but there are only 1");
    let error = graph(0, &[1, 0], &[]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "factor 0 of graph 0 has variables with [3, 2] states, but its template is for variables with [2, 3] states"
    );
    let error = graph(0, &[0, 1], &[(2, 1.0)]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "factor 0 of graph 0 has the attribute 2, but its template has only 2"
    );

    let mut data = Graphs::new();
    let said = |error: InputError| error.to_string();
    let error = data.push_variable(0, 0).unwrap_err();
    assert_eq!(said(error), "a variable needs at least one state");
    let error = data.push_variable(2, 2).unwrap_err();
    assert_eq!(said(error), "the true state is 2, but the variable has only 2 states");
    assert_eq!(said(data.end_graph(1.0).unwrap_err()), "a graph needs at least one variable");
    assert_eq!(data.push_variable(2, 0), Ok(0));
    let before = data.clone();
    let error = data.push_factor(0, &[], []).unwrap_err();
    assert_eq!(said(error), "a factor needs at least one variable");
    let error = data.push_factor(0, &[0, 0], []).unwrap_err();
    assert_eq!(said(error), "variable 0 is in the factor twice");
    let error = data.push_factor(0, &[0], [(0, 1.0), (1, f64::NAN)]).unwrap_err();
    assert!(matches!(error, InputError::Value { attribute: 1, .. }));
    let error = data.end_graph(f64::NAN).unwrap_err();
    assert_eq!(said(error), "the example weight is NaN; a positive finite number is needed");
    assert_eq!(data, before, "what is refused leaves no trace");

    // Factors of one template over variables with different states have no common shape.
    data.push_variable(3, 0).unwrap();
    for v in [0, 1] {
        data.push_factor(0, &[v], []).unwrap();
    }
    data.end_graph(1.0).unwrap();
    assert_eq!(
        said(data.shape().unwrap_err()),
        "template 0 is used for variables with [3] states, and before that for variables with [2] states"
    );
}

#[test]
fn graphs_that_do_not_allow_the_inference_are_refused() {
    let mut data = Graphs::new();
    for _ in 0..3 {
        data.push_variable(3, 0).unwrap();
    }
    for (a, b) in [(0, 1), (1, 2), (2, 0)] {
        data.push_factor(0, &[a, b], [(0, 1.0)]).unwrap();
    }
    data.end_graph(1.0).unwrap();
    let build = |inference| {
        FactorGraph::new(data.shape().unwrap(), data.clone(), StateLoss::default(), inference)
    };
    let message = |inference| build(inference).unwrap_err().to_string();
    assert_eq!(
        message(Inference::MaxSum),
        "graph 0: max-sum cannot decode this graph: it has a cycle"
    );
    assert_eq!(
        message(Inference::RoofDuality),
        "graph 0: roof-duality cannot decode this graph: it is not binary and pairwise"
    );
    assert!(build(Inference::Lp).is_ok() && build(Inference::MaxProduct).is_ok());
}
