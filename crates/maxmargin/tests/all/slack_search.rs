//! Slack rescaling where outputs cannot be tried one by one: the search against brute force and an independent QP.

use crate::common::chains::tieless_chain;
use crate::common::factor_graphs::any_forests;
use crate::common::matchings::any_matchings;
use crate::common::multilabels::any_labels;
use crate::common::potts::any_potts;
use crate::common::problems::{Careless, Enumerated, any_polytope};
use crate::common::segments::any_segments;
use crate::common::trees::any_tree;
use crate::common::{bcfw, cases, dot, qp};
use maxmargin::ProblemExt as _;
use maxmargin::doc::{soft_pictures, toy};
use maxmargin::inference::Inference;
use maxmargin::model::multilabel::LabelSet;
use maxmargin::model::potts::PottsInference;
use maxmargin::problem::{Accuracy, Search, SlackSearchError};
use maxmargin::{
    Caching, Direction, Order, PointCheck, Problem, Quality, Rng, Settings, SettingsRecord,
    SlackRescaled, SparseVec, audit, train,
};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;

/// Every ψ(y) times L(y).
pub(crate) fn rescaled(dense: &Enumerated) -> Enumerated {
    let mut rescaled = dense.clone();
    for (psi, loss) in rescaled.blocks.iter_mut().flat_map(|block| &mut block.corners) {
        psi.iter_mut().for_each(|x| *x *= *loss);
    }
    rescaled
}

fn weights(dim: usize, seed: u64, scale: f64) -> Vec<f64> {
    let mut rng = Rng::new(seed);
    (0..dim).map(|_| scale * (2.0 * rng.unit_f64() - 1.0)).collect()
}

/// The largest x·a on the line between two places.
fn between((x, a): (f64, f64), (x2, a2): (f64, f64)) -> f64 {
    let (dx, da) = (x2 - x, a2 - a);
    // (x + s·dx)(a + s·da) has its turn where x·da + a·dx + 2s·dx·da = 0.
    let turn = -(x * da + a * dx) / (2.0 * dx * da);
    let turn = if turn.is_finite() { turn.clamp(0.0, 1.0) } else { 0.0 };
    [0.0, 1.0, turn].map(|s| (x + s * dx) * (a + s * da)).into_iter().fold(f64::MIN, f64::max)
}

/// Compares what the search finds at some weights with all outputs.
fn check<P: Problem>(problem: &SlackRescaled<P, Search>, plain: &Enumerated, w: &[f64]) {
    let mut workspace = problem.workspace();
    let mut y = P::Output::default();
    for i in 0..problem.examples() {
        let corners = &plain.blocks[i].corners;
        let places: Vec<(f64, f64)> =
            corners.iter().map(|(psi, loss)| (*loss, 1.0 - dot(w, psi))).collect();
        let all = places.iter().map(|(x, a)| x * a);
        let largest = all.fold(f64::NEG_INFINITY, f64::max);
        let pairs = places.iter().flat_map(|p| places.iter().map(move |q| (*p, *q)));
        let mixed = pairs.map(|(p, q)| between(p, q)).fold(0.0, f64::max);

        problem.prepare(i, w, &mut workspace);
        let missed = problem.oracle_within(i, w, Accuracy::Exact, &mut workspace, &mut y).unwrap();
        let mut psi = SparseVec::new();
        problem.psi(i, &y, &mut psi);
        psi.normalise();
        let value = problem.loss(i, &y) - psi.dot_dense(w);
        let room = 1e-9 * (1.0 + largest.abs() + mixed.abs());
        assert!(value <= largest + room, "{value} > {largest}");
        assert!(largest <= value + missed + room, "{largest} > {value} + {missed}");
        // The bound is the largest product of mixtures of two outputs.
        assert!(value + missed <= mixed.max(largest) + room, "{value} + {missed} > {mixed}");
        // The workspace is as it was.
        let mut parts = SparseVec::new();
        problem.parts(i, &y, &mut parts);
        let score = problem.score(i, w, &workspace, &parts);
        assert!((problem.loss(i, &y) + score - value).abs() <= room);

        for accuracy in [Accuracy::Within(0.1), Accuracy::Share { share: 0.5, above: 0.0 }] {
            let missed = problem.oracle_within(i, w, accuracy, &mut workspace, &mut y).unwrap();
            let mut psi = SparseVec::new();
            problem.psi(i, &y, &mut psi);
            psi.normalise();
            let quick = problem.loss(i, &y) - psi.dot_dense(w);
            assert!(largest <= quick + missed + room);
            assert!(accuracy.accepts(quick + room, quick + missed) || quick >= value - room);
        }
    }
}

/// Trains by several methods, and holds what certificates prove against the optimum.
fn hold_against_qp<P: Problem>(
    problem: &SlackRescaled<P, Search>,
    plain: &Enumerated,
    lambda: f64,
) {
    let dense = rescaled(plain);
    let optimum = qp::solve(&dense, lambda);
    let base = Settings { lambda: Some(lambda), tolerance: 1e-4, max_passes: 300, ..bcfw() };
    let record = base.record();
    for record in [
        record.clone(),
        SettingsRecord {
            order: Order::Gap,
            direction: Direction::Pairwise,
            cache: Caching::On,
            ..record.clone()
        },
        SettingsRecord { oracle_share: 0.5, ..record },
    ] {
        let solution = train(problem, &record.settings().unwrap()).unwrap();
        let c = solution.certificate;
        assert_eq!(c.quality, Quality::Heuristic);
        let primal = dense.primal(lambda, &solution.weights);
        let room = 1e-7 * (1.0 + primal.abs());
        assert!(c.primal <= primal + room, "{c:?}, but P is {primal}");
        assert!(primal <= c.primal + c.missed.unwrap() + room, "{c:?}, but P is {primal}");
        assert!(c.dual <= optimum.above + room, "{c:?} against {optimum:?}");
        assert!(
            primal - optimum.above <= c.proven_gap().unwrap() + room,
            "{c:?} against {optimum:?}"
        );
        let again = audit(problem, lambda, &solution.weights, &solution.dual, 1e-6, 1).unwrap();
        assert_eq!(again.infeasible, None);
    }
}

proptest! {
    #![proptest_config(cases(32))]

    #[test]
    fn searches_in_chains_know_what_they_miss(case in tieless_chain(), seed: u64, scale in 0.0..4.0f64) {
        let (plain, problem) = (case.enumerate(), SlackRescaled::by_search(case.build()).unwrap());
        check(&problem, &plain, &weights(plain.dim, seed, scale));
    }

    #[test]
    fn short_chains_miss_nothing_where_mistakes_cost_multiples_of_a_unit(
        case in tieless_chain(), costs in proptest::collection::vec(0u32..3, 40), seed: u64, scale in 0.0..4.0f64,
    ) {
        let mut case = case;
        case.loss.label_weights.clear();
        let tokens = case.sequences.iter_mut().flat_map(|sequence| &mut sequence.tokens);
        tokens.zip(&costs).for_each(|(token, &cost)| token.cost = f64::from(cost));
        let (plain, problem) = (case.enumerate(), SlackRescaled::by_search(case.build()).unwrap());
        let w = weights(plain.dim, seed, scale);
        check(&problem, &plain, &w);
        let (mut workspace, mut y) = (problem.workspace(), Vec::new());
        for i in 0..problem.examples() {
            problem.prepare(i, &w, &mut workspace);
            let missed = problem.oracle_within(i, &w, Accuracy::Exact, &mut workspace, &mut y);
            prop_assert!(missed.unwrap() <= 1e-9, "{missed:?}");
        }
    }

    #[test]
    fn searches_in_matchings_know_what_they_miss(case in any_matchings(), seed: u64, scale in 0.0..4.0f64) {
        let (plain, problem) = (case.enumerate(), SlackRescaled::by_search(case.build()).unwrap());
        check(&problem, &plain, &weights(plain.dim, seed, scale));
    }

    #[test]
    fn searches_in_trees_know_what_they_miss(case in any_tree(3, 3), kind in 0usize..3, seed: u64) {
        let (plain, problem) = (case.enumerate(), SlackRescaled::by_search(case.build()).unwrap());
        check(&problem, &plain, &case.weights(kind, seed));
    }

    #[test]
    fn searches_in_labelled_graphs_know_what_they_miss(case in any_potts(2..=2), seed: u64, scale in 0.0..4.0f64) {
        let problem = SlackRescaled::by_search(case.build(PottsInference::MaxFlow)).unwrap();
        let plain = case.enumerate();
        check(&problem, &plain, &case.weights(weights(plain.dim, seed, scale)));
    }

    #[test]
    fn searches_in_graphs_without_cycles_know_what_they_miss(case in any_forests(), seed: u64, scale in 0.0..4.0f64) {
        let (plain, problem) = (case.enumerate(), SlackRescaled::by_search(case.build(Inference::Auto)).unwrap());
        check(&problem, &plain, &weights(plain.dim, seed, scale));
    }

    #[test]
    fn searches_in_sets_of_labels_know_what_they_miss(case in any_labels(), seed: u64, scale in 0.0..4.0f64) {
        let problem = SlackRescaled::by_search(case.build(Inference::Auto));
        let Ok(problem) = problem else { return Ok(()) };
        let plain = case.enumerate();
        check(&problem, &plain, &weights(plain.dim, seed, scale));
    }

    /// No pairs, or pairs of a tree; labels cost multiples of a unit.
    #[test]
    fn sets_of_labels_on_a_forest_miss_nothing_where_mistakes_cost_multiples_of_a_unit(
        case in any_labels(), costs in proptest::collection::vec(0u32..3, 8), seed: u64, scale in 0.0..4.0f64,
    ) {
        let mut case = case;
        case.loss.label_weights = costs.iter().take(case.shape.labels).map(|&cost| f64::from(cost)).collect();
        case.loss.label_weights.resize(case.shape.labels, 1.0);
        let mut trees: Vec<usize> = (0..case.shape.labels).collect();
        case.shape.pairs.retain(|&(a, b)| {
            let (a, b) = (trees[a as usize], trees[b as usize]);
            trees.iter_mut().filter(|tree| **tree == b).for_each(|tree| *tree = a);
            a != b
        });
        let problem = SlackRescaled::by_search(case.build(Inference::MaxSum)).unwrap();
        let plain = case.enumerate();
        let w = weights(plain.dim, seed, scale);
        check(&problem, &plain, &w);
        let (mut workspace, mut y) = (problem.workspace(), LabelSet::default());
        for i in 0..problem.examples() {
            problem.prepare(i, &w, &mut workspace);
            let missed = problem.oracle_within(i, &w, Accuracy::Exact, &mut workspace, &mut y);
            prop_assert!(missed.unwrap() <= 1e-9, "{missed:?}");
        }
    }

    #[test]
    fn searches_in_segments_know_what_they_miss(case in any_segments(4), seed: u64, scale in 0.0..4.0f64) {
        let (plain, problem) = (case.enumerate(), SlackRescaled::by_search(case.build()).unwrap());
        check(&problem, &plain, &weights(plain.dim, seed, scale));
    }
}

proptest! {
    #![proptest_config(cases(12))]

    #[test]
    fn trained_chains_are_as_close_as_they_say(case in tieless_chain(), lambda in 0.05..2.0f64) {
        let mut case = case;
        case.sequences.iter_mut().for_each(|sequence| sequence.tokens.truncate(3));
        hold_against_qp(&SlackRescaled::by_search(case.build()).unwrap(), &case.enumerate(), lambda);
    }

    #[test]
    fn trained_matchings_are_as_close_as_they_say(case in any_matchings(), lambda in 0.05..2.0f64) {
        hold_against_qp(&SlackRescaled::by_search(case.build()).unwrap(), &case.enumerate(), lambda);
    }
}

/// An output below the line between two others is not found, and the search says so.
#[test]
fn an_output_under_a_line_is_missed_and_told() {
    // Places (1, 1 + 9), (10, 1 + 0), (5, 1 + 4.4): the third has the largest product, and lies below the line.
    let corner = |score: f64, loss: f64| (vec![-score], loss);
    let corners = vec![(vec![0.0], 0.0), corner(9.0, 1.0), corner(0.0, 10.0), corner(4.4, 5.0)];
    let block = crate::common::problems::EnumeratedBlock { weight: 1.0, corners };
    let plain = Enumerated { dim: 1, blocks: vec![block] };
    let problem = SlackRescaled::by_search(plain).unwrap();
    let (mut workspace, mut y) = (problem.workspace(), 0);
    let missed = problem.oracle_within(0, &[1.0], Accuracy::Exact, &mut workspace, &mut y).unwrap();
    assert_eq!(problem.loss(0, &y) * problem.oracle_value(y), 10.0);
    assert!((missed - (30.25 - 10.0)).abs() < 1e-9, "{missed}");
}

/// The a of an output at w = 1.
trait OracleValue {
    fn oracle_value(&self, y: usize) -> f64;
}

impl OracleValue for SlackRescaled<Enumerated, Search> {
    fn oracle_value(&self, y: usize) -> f64 {
        1.0 - self.inner().blocks[0].corners[y].0[0]
    }
}

/// The search does not find all outputs again that a point is made of in the direction of the residual alone.
#[test]
fn points_of_a_search_are_proven_to_be_mixtures() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    for lambda in [0.01, 0.1, 0.1, 0.3, 0.3, 1.0, 1.0, 1.0] {
        let case = tieless_chain().new_tree(&mut runner).unwrap().current();
        let problem = SlackRescaled::by_search(case.build()).unwrap();
        let settings = Settings { lambda: Some(lambda), tolerance: 1e-4, ..bcfw() };
        let solution = train(&problem, &settings).unwrap();
        let found = audit(&problem, lambda, &solution.weights, &solution.dual, 1e-9, 1).unwrap();
        assert_eq!(found.point, PointCheck::Feasible, "λ = {lambda}, {case:?}");
        assert_eq!(found.certificate.missed, solution.certificate.missed);
        // No outputs make up a point that promises more.
        let mut forged = solution.dual.clone();
        forged.blocks[0].loss += 0.1;
        let found = audit(&problem, lambda, &solution.weights, &forged, 1e-9, 1);
        assert!(found.is_err() || found.is_ok_and(|found| found.certificate.missed.is_none()));
    }
}

#[test]
fn relaxations_and_rescaled_problems_are_refused() {
    let soft = SlackRescaled::by_search(soft_pictures(0.1));
    assert_eq!(soft.unwrap_err(), SlackSearchError::SignedLosses);
    let twice = SlackRescaled::by_search(SlackRescaled::by_search(toy()).unwrap());
    assert_eq!(twice.unwrap_err(), SlackSearchError::Decoder);
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn points_of_decoders_that_overlook_the_largest_loss_are_not_refused(
        plain in any_polytope(), lambda in 0.05..1.0f64,
    ) {
        let problem = SlackRescaled::by_search(Careless(plain)).unwrap();
        let settings = Settings { lambda: Some(lambda), max_passes: 20, threads: 1, ..bcfw() };
        let solution = train(&problem, &settings).unwrap();
        let found = audit(&problem, lambda, &solution.weights, &solution.dual, 1e-9, 1).unwrap();
        prop_assert_eq!(found.infeasible, None);
    }
}

#[test]
fn parts_that_do_not_exist_are_refused() {
    let problem = SlackRescaled::by_search(toy()).unwrap();
    let solution = train(&problem, &Settings { lambda: Some(0.1), threads: 1, ..bcfw() }).unwrap();
    for part in [u64::MAX, 1 << 40, 100 << 32, 99] {
        let mut dual = solution.dual.clone();
        dual.blocks[0].parts = SparseVec::from_iter([(part, 0.5)]).into();
        let found = audit(&problem, 0.1, &solution.weights, &dual, 1e-9, 1).unwrap();
        let (example, why) = found.infeasible.unwrap();
        assert!(example == 0 && why.contains("a part that does not exist"), "{part}: {why}");
    }
}
