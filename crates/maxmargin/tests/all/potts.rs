//! Labelled graphs: parts, oracles and training, against direct formulas.

use crate::common::bits::fingerprint;
use crate::common::graphs::{KINDS, magnitude, numbers};
use crate::common::potts::{PottsCase, any_potts};
use crate::common::problems::ViaPsi;
use crate::common::{
    add_scaled, assert_all_close, assert_certified, assert_close, bcfw, cases, dot, minus, norm_sq,
    qp,
};
use maxmargin::ProblemExt as _;
use maxmargin::model::potts::{
    NodeLabels, NodeLoss, Potts, PottsGraphs, PottsInference, PottsShape, contrasts, grid_edges,
};
use maxmargin::{
    Block, Caching, Direction, Order, PointCheck, Problem, Quality, Rng, Settings, SettingsRecord,
    SparseVec, Status, audit, train,
};
use proptest::prelude::*;

fn scale(case: &PottsCase, i: usize, w: &[f64]) -> f64 {
    let graph = &case.graphs[i];
    let nodes = graph.nodes.iter().flat_map(|node| &node.0);
    let edges = graph.edges.iter().flat_map(|edge| &edge.2);
    magnitude(w) * (2.0 + nodes.chain(edges).map(|value| value.abs()).sum::<f64>())
}

fn best(case: &PottsCase, i: usize, w: &[f64]) -> (f64, f64) {
    let all = case.labellings(i);
    let most = |value: &dyn Fn(&[u32]) -> f64| {
        all.iter().map(|y| value(y)).fold(f64::NEG_INFINITY, f64::max)
    };
    (most(&|y| case.augmented(i, y, w)), most(&|y| dot(w, &case.phi(i, y))))
}

fn ways(shape: &PottsShape) -> Vec<PottsInference> {
    let all = PottsInference::NAMES.iter().map(|name| name.parse::<PottsInference>().unwrap());
    all.filter(|way| way.resolve(shape).is_ok()).collect()
}

proptest! {
    #![proptest_config(cases(128))]

    #[test]
    fn parts_stand_for_features(
        case in any_potts(1..=3), kind in KINDS, seed in any::<u64>(), mix in -1.0..1.0f64
    ) {
        let problem = case.build(PottsInference::Auto);
        let w = numbers(kind, problem.dim(), seed);
        let mut workspace = problem.workspace();
        for i in 0..case.graphs.len() {
            let all = case.labellings(i);
            let (a, b) = (&all[seed as usize % all.len()], &all[seed as usize / 7 % all.len()]);
            let whole = |y: &Vec<u32>| NodeLabels::from(y.clone());
            problem.prepare(i, &w, &mut workspace);
            let (mut parts, mut other) = (SparseVec::new(), SparseVec::new());
            problem.parts(i, &whole(a), &mut parts);
            problem.parts(i, &whole(b), &mut other);
            prop_assert!(parts.is_normalised());
            parts.add_scaled(mix, &other);
            let mut dense = minus(&vec![0.0; w.len()], &case.psi(i, a));
            add_scaled(&mut dense, -mix, &case.psi(i, b));
            let scale = scale(&case, i, &w);
            assert_close(problem.score(i, &w, &workspace, &parts), dot(&w, &dense), 1e-13, scale);
            let length = norm_sq(&dense);
            assert_close(problem.norm_sq(i, &mut workspace, &parts), length, 1e-12, length);
            let mut sink = vec![0.0; problem.dim()];
            problem.scatter(i, -0.5, &parts, sink.as_mut_slice().into());
            sink.iter_mut().for_each(|x| *x *= -2.0);
            assert_all_close(&sink, &dense, 1e-12);
            assert_close(problem.loss(i, &whole(a)), case.loss(i, a), 1e-13, 1.0);
            let mut psi = SparseVec::new();
            problem.psi(i, &whole(a), &mut psi);
            let mut sink = vec![0.0; problem.dim()];
            psi.entries().iter().for_each(|&(at, value)| sink[at as usize] += value);
            assert_all_close(&sink, &case.psi(i, a), 1e-12);
        }
    }

    /// Several calls on the same problem, so that cuts start from earlier flows.
    #[test]
    fn oracles_find_the_best(
        mut case in any_potts(1..=3), free in 0..3u8, kind in KINDS, seed in any::<u64>()
    ) {
        if free == 0 {
            case.shape = case.shape.free();
        }
        for inference in ways(&case.shape) {
            let problem = case.build(inference);
            let cold = case.build(inference).with_warm_start(false);
            let mut workspace = problem.workspace();
            for round in 0..4 {
                let w = case.weights(numbers(kind, problem.dim(), seed.wrapping_add(round)));
                for i in 0..case.graphs.len() {
                    let ((best_h, best_score), scale) = (best(&case, i, &w), scale(&case, i, &w));
                    let (mut y, mut other) = (NodeLabels::default(), NodeLabels::default());
                    problem.prepare(i, &w, &mut workspace);
                    problem.oracle(i, &w, &mut workspace, &mut y);
                    cold.oracle(i, &w, &mut workspace, &mut other);
                    prop_assert_eq!(&y, &other);
                    let mut parts = SparseVec::new();
                    problem.parts(i, &y, &mut parts);
                    let loss = problem.loss(i, &y);
                    let found = loss + problem.score(i, &w, &workspace, &parts);
                    if !y.is_fractional() {
                        assert_close(found, case.augmented(i, &y.labels, &w), 1e-13, scale);
                    }
                    let check = problem.check_point(i, &parts, loss, 1e-12);
                    prop_assert!(check <= Ok(PointCheck::Relaxed), "{:?}", check);
                    problem.decode(i, &w, &mut workspace, &mut y);
                    let score = dot(&w, &case.phi(i, &y.labels));
                    prop_assert!(score <= best_score + 1e-13 * scale);
                    match problem.quality() {
                        Quality::Exact => {
                            assert_close(found, best_h, 1e-13, scale);
                            assert_close(score, best_score, 1e-13, scale);
                        }
                        Quality::UpperBound => prop_assert!(found >= best_h - 1e-11 * scale),
                        Quality::Unfinished | Quality::Unproven => prop_assert!(false, "the oracle failed"),
                        Quality::Heuristic => prop_assert!(found <= best_h + 1e-13 * scale),
                    }
                }
            }
        }
    }

    /// The optimum is that of a general QP solver with the same bounds.
    #[test]
    fn training_comes_to_the_optimum(case in any_potts(1..=2), lambda in 0.2..2.0f64) {
        let (problem, dense) = (case.build(PottsInference::Auto), case.enumerate());
        let optimum = match problem.bounds() {
            Some(bounds) => qp::solve_within(&dense, lambda, bounds),
            None => qp::solve(&dense, lambda),
        };
        let settings = Settings { lambda: Some(lambda), tolerance: 1e-7, max_passes: 20_000, ..bcfw() };
        for direction in ["fw", "pairwise", "away", "corrective"] {
            let direction = direction.parse().unwrap();
            let settings = SettingsRecord { direction, order: Order::Gap, ..settings.record() }.settings().unwrap();
            let solution = train(&problem, &settings).unwrap();
            assert_certified(&problem, &solution);
            let c = solution.certificate;
            prop_assert!(c.quality.is_exact());
            prop_assert!(c.primal <= optimum.above + c.gap + 1e-6, "{:?} {:?}", c, optimum);
            prop_assert!(c.dual >= optimum.below - c.gap - 1e-6, "{:?} {:?}", c, optimum);
        }
    }

    #[test]
    fn parts_and_features_train_alike(case in any_potts(2..=2), lambda in 0.1..1.0f64) {
        let settings = Settings { lambda: Some(lambda), max_passes: 50, tolerance: 0.0, ..bcfw() };
        let ours = train(&case.build(PottsInference::Auto), &settings).unwrap();
        // Both problems without the bounds of the shape.
        let free = ViaPsi(case.build(PottsInference::Auto));
        if case.shape.edge_attributes == 0 {
            let theirs = train(&free, &settings).unwrap();
            let (a, b) = (ours.certificate, theirs.certificate);
            prop_assert!(a.dual <= b.primal + 1e-9 && b.dual <= a.primal + 1e-9);
        }
        assert_certified(&case.build(PottsInference::Auto), &ours);
    }

    /// With a heuristic the dual is below the optimum, with a relaxation the primal is above the true
    /// one, and the certificate has the right quality.
    #[test]
    fn certificates_claim_no_more(case in any_potts(3..=3), lambda in 0.2..1.0f64) {
        let dense = case.enumerate();
        for inference in ways(&case.shape) {
            let problem = case.build(inference);
            let settings = Settings { lambda: Some(lambda), max_passes: 50, ..bcfw() };
            let solution = train(&problem, &settings).unwrap();
            let c = solution.certificate;
            prop_assert_eq!(c.quality.is_exact(), case.shape.edge_attributes == 0);
            let primal = dense.primal(lambda, &solution.weights);
            match c.quality {
                Quality::UpperBound => prop_assert!(c.primal >= primal - 1e-9),
                _ => prop_assert!(c.primal <= primal + 1e-9 && c.dual <= primal + 1e-9),
            }
        }
    }

    /// An audit of any coordinates and values returns an answer and does not panic.
    #[test]
    fn no_dual_point_makes_an_audit_panic(
        case in any_potts(1..=3),
        raw in proptest::collection::vec((0u64..30, -2.0..2.0f64), 1..8),
        loss in -1.0..1.0f64,
    ) {
        let problem = case.build(PottsInference::Auto);
        let settings = Settings { max_passes: 2, tolerance: 0.0, ..bcfw() };
        let mut solution = train(&problem, &settings).unwrap();
        solution.dual.blocks[0] = Block { parts: raw.into_iter().collect(), loss };
        let _ = audit(&problem, solution.lambda, &solution.weights, &solution.dual, 1e-9, 1);
    }
}

/// Noisy pictures of a disc.
fn pictures(count: usize, labels: u32, noise: f64) -> PottsGraphs {
    let (mut rng, mut data) = (Rng::new(4), PottsGraphs::new());
    let (width, height) = (12, 10);
    for _ in 0..count {
        let (x, y) = (3.0 + 6.0 * rng.unit_f64(), 3.0 + 4.0 * rng.unit_f64());
        let mut pixels = Vec::new();
        for at in 0..width * height {
            let off = ((at % width) as f64 - x).hypot((at / width) as f64 - y);
            let label = (labels - 1).saturating_sub((off / 2.5) as u32);
            pixels.push(f64::from(label) + noise * (rng.unit_f64() - 0.5));
            let own = pixels[at];
            data.push_node([(0, own), (1, own * own), (2, 1.0)], label, 1.0).unwrap();
        }
        for (a, b) in grid_edges(width, height, true) {
            let apart = (pixels[a as usize] - pixels[b as usize]).abs();
            data.push_edge(a, b, contrasts(1.0, apart, &[0.5, f64::INFINITY])).unwrap();
        }
        data.end_graph(1.0).unwrap();
    }
    data
}

/// The same seed gives the same bits on any number of threads, with warm and cold starts, in the first
/// and in later runs.
#[test]
fn runs_repeat_bit_for_bit() {
    let build = || {
        let shape = PottsShape::new(2, 3, 2);
        Potts::new(shape, pictures(12, 2, 3.0), NodeLoss::default(), PottsInference::Auto).unwrap()
    };
    for (order, direction, cache) in
        [("gap", "corrective", "off"), ("permutation", "pairwise", "on"), ("uniform", "fw", "off")]
    {
        let settings = SettingsRecord {
            lambda: Some(0.01),
            max_passes: 12,
            tolerance: 1e-9,
            order: order.parse::<Order>().unwrap(),
            direction: direction.parse::<Direction>().unwrap(),
            cache: cache.parse::<Caching>().unwrap(),
            ..bcfw().record()
        }
        .settings()
        .unwrap();
        let warm = build();
        let first = train(&warm, &Settings { threads: 1, ..settings.clone() }).unwrap();
        let again = train(&warm, &Settings { threads: 3, ..settings.clone() }).unwrap();
        let cold = train(&build().with_warm_start(false), &settings).unwrap();
        assert_eq!(fingerprint(&first), fingerprint(&again));
        assert_eq!(fingerprint(&first), fingerprint(&cold));
        assert_certified(&warm, &first);
    }
}

/// Neighbours improve predictions if single pixels are unreliable, with two labels and with more.
#[test]
fn neighbours_help() {
    for (labels, noise) in [(2, 3.0), (3, 2.5)] {
        let accuracy = |edge_attributes: usize| {
            let shape = PottsShape::new(labels as usize, 3, edge_attributes);
            let data = pictures(20, labels, noise);
            let problem = Potts::new(shape, data, NodeLoss::HAMMING, PottsInference::Auto).unwrap();
            let settings = SettingsRecord {
                lambda: Some(1e-4),
                tolerance: 2e-3,
                max_passes: 10_000,
                order: Order::Gap,
                direction: Direction::Corrective,
                cache: Caching::Exhaust,
                ..bcfw().record()
            }
            .settings()
            .unwrap();
            let solution = train(&problem, &settings).unwrap();
            assert_eq!(solution.status, Status::Converged);
            let predicted = problem.predict(&solution.weights);
            let right = predicted
                .iter()
                .zip(problem.data().iter())
                .map(|(y, graph)| y.iter().zip(graph.labels()).filter(|(a, b)| a == b).count());
            right.sum::<usize>() as f64 / (20.0 * 120.0)
        };
        let (alone, together) = (accuracy(0), accuracy(2));
        assert!(together > alone + 0.02, "{labels} labels: {alone} and {together}");
    }
}

#[test]
fn data_and_inference_that_do_not_fit_the_shape_are_rejected() {
    let mut data = PottsGraphs::new();
    data.push_node([(1, 1.0)], 1, 1.0).unwrap();
    data.push_node([(0, 1.0)], 0, 1.0).unwrap();
    data.push_edge(0, 1, [(0, -0.5)]).unwrap();
    data.end_graph(1.0).unwrap();
    let build = |shape, inference| Potts::new(shape, data.clone(), NodeLoss::HAMMING, inference);
    let auto = PottsInference::Auto;
    let error = build(PottsShape::new(0, 2, 1), auto).unwrap_err().to_string();
    assert_eq!(error, "a graph model needs at least one label");
    let error = build(PottsShape::new(1, 2, 1), auto).unwrap_err().to_string();
    assert_eq!(error, "graph 0 has the label 1, but there are only 1 labels");
    let error = build(PottsShape::new(2, 1, 1), auto).unwrap_err().to_string();
    assert_eq!(error, "graph 0 has the node attribute 1, but there are only 1");
    let error = build(PottsShape::new(2, 2, 1), auto).unwrap_err().to_string();
    assert_eq!(
        error,
        "edge 0 of graph 0 has an attribute with the value -0.5; pairwise weights ≥ 0 need attributes ≥ 0"
    );
    assert!(build(PottsShape::new(2, 2, 0), auto).is_ok());
    let free = build(PottsShape::new(2, 2, 1).free(), auto).unwrap();
    assert_eq!(
        (free.inference(), free.quality()),
        (PottsInference::MaxProduct, Quality::Heuristic)
    );
    assert!(free.bounds().is_none());
    for (shape, why) in [
        (PottsShape::new(3, 2, 1), "two labels"),
        (PottsShape::new(2, 2, 1).free(), "not negative"),
    ] {
        let error = build(shape, PottsInference::MaxFlow).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}

/// Negative pairwise weights can only come from outside. The answer is then heuristic, and the quality
/// says so.
#[test]
fn weights_that_repel_are_noticed() {
    let data = pictures(1, 2, 1.0);
    let shape = PottsShape::new(2, 3, 2);
    let problem = Potts::new(shape, data, NodeLoss::HAMMING, PottsInference::Auto).unwrap();
    assert_eq!(problem.quality(), Quality::Exact);
    problem.predict(&[0.0, 1.0, 0.0, 0.0, 0.5, 0.0, 0.0, -1.0]);
    assert_eq!(problem.quality(), Quality::Heuristic);
}
