//! Trees of parts: transforms, oracles, n-best lists and training, against direct formulas.

use crate::common::bits::fingerprint;
use crate::common::graphs::{KINDS, magnitude};
use crate::common::trees::any_tree;
use crate::common::{assert_all_close, assert_certified, assert_close, bcfw, cases, dot, qp};
use maxmargin::inference::{Cost, DistanceTransform};
use maxmargin::model::InputError;
use maxmargin::model::tree::{State, Tree, TreeExamples, TreeLoss, TreeNode, TreeShape};
use maxmargin::{Problem, Quality, Rng, Settings, SettingsRecord, Solver, SparseVec, train};
use proptest::prelude::*;

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn the_transform_finds_what_a_search_finds(
        (width, height) in (1usize..9, 1usize..7),
        kind in 0usize..4,
        (a, b, c, d) in (0.0..3.0f64, -2.0..2.0f64, 0.0..3.0f64, -2.0..2.0f64),
        (x, y) in (-4.0..4.0f64, -3.0..3.0f64),
        seed in any::<u64>(),
    ) {
        let mut rng = Rng::new(seed);
        let scores: Vec<f64> = (0..width * height).map(|_| match kind {
            0 => rng.below(3) as f64, // ties
            1 if rng.below(3) == 0 => f64::NEG_INFINITY,
            2 => 1e6 * (rng.unit_f64() - 0.5),
            _ => 5.0 * rng.unit_f64(),
        }).collect();
        // Whole numbers cause ties. A cost of 0 gives lines, and a negative cost gives parabolas that
        // open upwards.
        let square = |a: f64| match rng_kind(seed) { 0 => 0.0, 1 => 1.0, 2 => -a, 3 => 1e-9 * a, _ => a };
        let costs =
            [Cost { square: square(a), linear: b }, Cost { square: square(c), linear: d }];
        let anchor = if seed % 2 == 0 { [x, y] } else { [x.round(), y.round()] };
        let (mut best, mut from) = (vec![7.0], vec![9]);
        let mut transform = DistanceTransform::default();
        transform.maximise(&scores, width, costs, anchor, &mut best, &mut from);
        for p in 0..scores.len() {
            let value = |q: usize| {
                let way = |q: usize, p: usize, anchor: f64| q as f64 - p as f64 - anchor;
                let cost = costs[0].of(way(q % width, p % width, anchor[0]))
                    + costs[1].of(way(q / width, p / width, anchor[1]));
                scores[q] - cost
            };
            let expected = (0..scores.len()).map(value).fold(f64::NEG_INFINITY, f64::max);
            if expected == f64::NEG_INFINITY {
                prop_assert_eq!(best[p], expected);
                continue;
            }
            assert_close(best[p], expected, 1e-12, expected);
            assert_close(value(from[p] as usize), expected, 1e-12, expected);
        }
    }
}

fn rng_kind(seed: u64) -> u64 {
    seed / 2 % 7
}

proptest! {
    #![proptest_config(cases(96))]

    #[test]
    fn oracles_find_the_best(case in any_tree(3, 3), kind in KINDS, seed in any::<u64>()) {
        let tree = case.build();
        let w = case.weights(kind, seed);
        let mut workspace = tree.workspace();
        for i in 0..case.data.len() {
            let outputs = case.outputs(i);
            let score = |y: &[State]| dot(&w, &case.phi(i, y));
            let augmented = |y: &[State]| case.loss(i, y) - dot(&w, &case.psi(i, y));
            let most = |value: &dyn Fn(&[State]) -> f64| {
                outputs.iter().map(|y| value(y)).fold(f64::NEG_INFINITY, f64::max)
            };
            let scale = 20.0 * magnitude(&w);
            let mut y = Vec::new();
            tree.oracle(i, &w, &mut workspace, &mut y);
            assert_close(augmented(&y), most(&augmented), 1e-12, scale);
            assert_close(tree.loss(i, &y), case.loss(i, &y), 1e-13, 1.0);
            let mut psi = SparseVec::new();
            tree.psi(i, &y, &mut psi);
            let mut dense = vec![0.0; tree.dim()];
            psi.entries().iter().for_each(|&(at, value)| dense[at as usize] += value);
            assert_all_close(&dense, &case.psi(i, &y), 1e-12);
            tree.decode(i, &w, &mut workspace, &mut y);
            assert_close(score(&y), most(&score), 1e-12, scale);
        }
    }

    /// The expectations for exponentiated gradients, against sums over all states.
    #[test]
    fn marginals_are_sums_over_all_states(
        case in any_tree(3, 3), large in any::<bool>(), seed in any::<u64>()
    ) {
        let scale = if large { 200.0 } else { 2.0 };
        crate::expectations::check(&case.build(), &|i| case.outputs(i), scale, seed);
    }

    #[test]
    fn the_n_best_are_the_best(
        case in any_tree(3, 3), kind in KINDS, n in 0usize..12, seed in any::<u64>()
    ) {
        let (tree, w) = (case.build(), case.weights(kind, seed));
        let outputs = case.outputs(0);
        let mut scores: Vec<f64> = outputs.iter().map(|y| dot(&w, &case.phi(0, y))).collect();
        scores.sort_by(|a, b| b.total_cmp(a));
        let found = tree.n_best(0, &w, n);
        prop_assert_eq!(found.len(), n.min(scores.len()));
        for (at, best) in found.iter().enumerate() {
            let scale = 20.0 * magnitude(&w);
            assert_close(best.score, scores[at], 1e-12, scale);
            assert_close(best.score, dot(&w, &case.phi(0, &best.states)), 1e-12, scale);
            prop_assert!(found[..at].iter().all(|other| other.states != best.states));
        }
    }

    #[test]
    fn training_comes_to_the_optimum(case in any_tree(2, 2), lambda in 0.3..2.0f64) {
        let tree = case.build();
        let dense = case.enumerate();
        let optimum = qp::solve_within(&dense, lambda, tree.bounds().unwrap());
        let settings =
            Settings { lambda: Some(lambda), tolerance: 1e-6, max_passes: 20_000, ..bcfw() };
        for direction in ["fw", "pairwise", "corrective"] {
            let direction = direction.parse().unwrap();
            let solution = train(&tree, &SettingsRecord { direction, ..settings.record() }.settings().unwrap()).unwrap();
            assert_certified(&tree, &solution);
            let c = solution.certificate;
            prop_assert_eq!(c.quality, Quality::Exact);
            prop_assert!(c.primal <= optimum.above + c.gap + 1e-6, "{:?} {:?}", c, optimum);
            prop_assert!(c.dual >= optimum.below - c.gap - 1e-6, "{:?} {:?}", c, optimum);
        }
        // Exponentiated gradients come near it, within the same bounds.
        let solver = Solver::ExponentiatedGradient;
        let settings = Settings { method: solver.into(), max_passes: 300, ..Settings::default() };
        let solution = train(&tree, &Settings { lambda: Some(lambda), ..settings }).unwrap();
        assert_certified(&tree, &solution);
        let (c, scale) = (solution.certificate, dense.start_gap().max(1.0));
        prop_assert!(c.dual <= optimum.above + 1e-6, "{:?} {:?}", c, optimum);
        prop_assert!(c.primal - optimum.below <= 0.02 * scale, "{:?} {:?}", c, optimum);
    }
}

/// A chain of labels as a tree with one place: max-sum finds the same labels as Viterbi on chains.
#[test]
fn a_tree_of_labels_is_learnt() {
    let nodes = vec![
        TreeNode::root(2, 2),
        TreeNode::root(2, 2).child_of(0).rigid(),
        TreeNode::root(2, 2).child_of(1).rigid(),
    ];
    let mut data = TreeExamples::new(TreeShape::new(nodes, 1.0).unwrap());
    let mut rng = Rng::new(2);
    for _ in 0..40 {
        let kind = rng.below(2) as u32;
        let mut maps = Vec::new();
        for _ in 0..3 {
            maps.extend([kind as f32 - 0.5 + 2.0 * (rng.unit_f64() as f32 - 0.5), 1.0]);
        }
        let truth = vec![State { kind, x: 0, y: 0 }; 3];
        data.push(1, 1, maps, truth, &[], 1.0, 1.0).unwrap();
    }
    let tree = Tree::new(data, TreeLoss::LABELS).unwrap();
    let settings = Settings { lambda: Some(0.01), ..bcfw() };
    let solution = train(&tree, &Settings { threads: 1, ..settings.clone() }).unwrap();
    let again = train(&tree, &Settings { threads: 2, ..settings }).unwrap();
    assert_eq!(fingerprint(&solution), fingerprint(&again));
    let predicted = tree.predict(&solution.weights);
    let agree = predicted.iter().filter(|y| y.iter().all(|state| state.kind == y[0].kind)).count();
    assert!(agree >= 38, "{agree} of 40 agree");
}

#[test]
fn examples_that_do_not_fit_are_refused() {
    let shape = TreeShape::new(vec![TreeNode::root(2, 1), TreeNode::root(1, 1)], 1.0).unwrap();
    let mut data = TreeExamples::new(shape);
    let good = vec![State::default(); 2];
    let mut push = |maps: Vec<f32>, truth: Vec<State>, weights: &[f64], scale, weight| {
        data.push(2, 1, maps, truth, weights, scale, weight)
    };
    assert_eq!(push(vec![0.0; 4], good.clone(), &[], 1.0, 1.0), Ok(()));
    let wrong = |error: Result<(), InputError>| error.unwrap_err().to_string();
    assert!(wrong(push(vec![0.0; 3], good.clone(), &[], 1.0, 1.0)).contains("needs 4 values"));
    assert!(wrong(push(vec![f32::NAN; 4], good.clone(), &[], 1.0, 1.0)).contains("value 0"));
    assert!(wrong(push(vec![0.0; 4], vec![], &[], 1.0, 1.0)).contains("0 states"));
    let outside = State { kind: 0, x: 2, y: 0 };
    assert!(wrong(push(vec![0.0; 4], vec![outside; 2], &[], 1.0, 1.0)).contains("node 0"));
    let no_kind = State { kind: 1, x: 0, y: 0 };
    assert!(wrong(push(vec![0.0; 4], vec![no_kind; 2], &[], 1.0, 1.0)).contains("node 1"));
    assert!(wrong(push(vec![0.0; 4], good.clone(), &[1.0], 1.0, 1.0)).contains("node weights"));
    for (weights, scale, weight) in
        [(&[0.0, 0.0][..], 1.0, 1.0), (&[-1.0, 2.0], 1.0, 1.0), (&[], 0.0, 1.0), (&[], 1.0, -1.0)]
    {
        assert!(
            wrong(push(vec![0.0; 4], good.clone(), weights, scale, weight)).contains("positive")
        );
    }
}

/// The model of the paper's poses (GAPS-16, Appendix J): the kind of a joint is the type of the arc to its parent, with
/// an anchor each, and the picture at the parent tells types apart. Here an arm goes left or right, its own map has a
/// peak on both sides, and only the picture at the shoulder knows.
#[test]
fn maps_at_the_parent_tell_types_of_arcs_apart() {
    let tree = |parent_maps: usize| {
        let arm = TreeNode::root(2, 1).child_of(0).with_anchors(vec![(-2.0, 0.0), (2.0, 0.0)]);
        let nodes = vec![TreeNode::root(1, 1), arm.with_parent_maps(parent_maps)];
        let mut data = TreeExamples::new(TreeShape::new(nodes, 1.0).unwrap());
        for (shoulder, kind) in [(3u32, 0u32), (3, 1), (4, 1), (4, 0), (2, 1), (5, 0)] {
            let mut maps = vec![0.0; 8 * (2 + parent_maps)];
            maps[shoulder as usize] = 1.0;
            let wrist = if kind == 0 { shoulder - 2 } else { shoulder + 2 };
            for at in [shoulder - 2, shoulder + 2] {
                maps[8 + at as usize] = 1.0;
            }
            // How sure the picture at each place is of the type of an arm that begins there.
            for type_ in 0..parent_maps as u32 {
                maps[8 * (2 + type_ as usize) + shoulder as usize] =
                    if type_ == kind { 0.9 } else { 0.1 };
            }
            let truth = vec![State { kind: 0, x: shoulder, y: 0 }, State { kind, x: wrist, y: 0 }];
            data.push(8, 1, maps, truth, &[], 1.0, 1.0).unwrap();
        }
        Tree::new(data, TreeLoss::default()).unwrap()
    };
    let wrong = |tree: &Tree| {
        let settings = Settings { lambda: Some(1e-3), tolerance: 1e-3, ..Settings::default() };
        let solution = train(tree, &settings).unwrap();
        assert!(solution.certificate.gap <= 1e-3 && solution.certificate.quality == Quality::Exact);
        let found = tree.predict(&solution.weights);
        (0..found.len()).filter(|&i| found[i] != tree.data().truth(i)).count()
    };
    assert_eq!(wrong(&tree(2)), 0);
    assert!(wrong(&tree(0)) >= 2);
    let root = TreeShape::new(vec![TreeNode::root(1, 1).with_parent_maps(1)], 1.0);
    let message = "node 0 has maps of its parent, but no parent";
    assert_eq!(root.unwrap_err(), InputError::Structure(message.to_owned()));
}
