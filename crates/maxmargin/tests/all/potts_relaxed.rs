//! Relaxations of labelled graphs, against enumeration, the explicit local polytope, and an interior
//! point method.

use crate::common::graphs::{KINDS, NeverSolves, magnitude, numbers};
use crate::common::potts::{CaseGraph, PottsCase, any_potts};
use crate::common::{add_scaled, assert_certified, assert_close, bcfw, cases, dot, norm_sq, qp};
use maxmargin::ProblemExt as _;
use maxmargin::inference::Labelling;
use maxmargin::inference::SimplexMethod;
use maxmargin::inference::algorithms::LocalPolytope;
use maxmargin::model::potts::{
    NodeLabels, NodeLoss, Potts, PottsInference, PottsShape, grid_edges,
};
use maxmargin::{PointCheck, Problem, Quality, Rng, Settings, SettingsRecord, SparseVec, train};
use proptest::prelude::*;
use std::sync::Arc;

/// Scores of all masses relative to the truth, with or without the loss.
fn scores(case: &PottsCase, i: usize, w: &[f64], with_loss: bool) -> Vec<f64> {
    let columns = case.columns(i).into_iter();
    columns.map(|(phi, loss)| dot(w, &phi) + if with_loss { loss } else { 0.0 }).collect()
}

fn oracle(problem: &Potts, i: usize, w: &[f64]) -> (NodeLabels, f64) {
    let (mut workspace, mut y) = (problem.workspace(), NodeLabels::default());
    problem.prepare(i, w, &mut workspace);
    problem.oracle(i, w, &mut workspace, &mut y);
    let mut parts = SparseVec::new();
    problem.parts(i, &y, &mut parts);
    assert!(parts.is_normalised());
    let loss = problem.loss(i, &y);
    assert!(problem.check_point(i, &parts, loss, 1e-12).unwrap() <= PointCheck::Relaxed);
    let value = loss + problem.score(i, w, &workspace, &parts);
    (y, value)
}

fn relaxations(shape: &PottsShape) -> Vec<PottsInference> {
    let all = [PottsInference::RoofDuality, PottsInference::Lp];
    all.into_iter().filter(|way| way.resolve(shape).is_ok()).collect()
}

proptest! {
    #![proptest_config(cases(128))]

    #[test]
    fn corners_are_the_best_of_the_local_polytope(
        mut case in any_potts(2..=4), free in any::<bool>(), kind in KINDS, seed in any::<u64>()
    ) {
        if free {
            case.shape = case.shape.free();
        }
        for inference in relaxations(&case.shape) {
            let problem = case.build(inference);
            let w = case.weights(numbers(kind, problem.dim(), seed));
            for i in 0..case.graphs.len() {
                let (y, found) = oracle(&problem, i, &w);
                let (structure, scores) = (case.structure(i), scores(&case, i, &w, true));
                let truth = dot(&w, &case.phi(i, &case.truth(i)));
                let scale = magnitude(&scores);
                assert_close(found + truth, structure.relaxed(&scores), 1e-7, scale);
                let mut other = Labelling::default();
                let exact = LocalPolytope::default()
                    .maximise(&SimplexMethod, &structure.topology(), &scores, &mut other)
                    .unwrap();
                assert_close(found + truth, exact, 1e-11, scale);
                prop_assert!(found + truth >= structure.best(&scores) - 1e-11 * scale);
                if case.shape.labels == 2 && !free {
                    assert_close(found + truth, structure.best(&scores), 1e-12, scale);
                }
                if inference == PottsInference::RoofDuality {
                    let half = |&(_, mass): &(u64, f64)| mass == 0.5 || mass == 1.0;
                    prop_assert!(y.masses.entries().iter().all(half));
                }
            }
        }
    }

    /// A prediction is a labelling. If it was not rounded, it is the best one.
    #[test]
    fn predictions_are_rounded(
        mut case in any_potts(2..=3), free in any::<bool>(), seed in any::<u64>()
    ) {
        if free {
            case.shape = case.shape.free();
        }
        for inference in relaxations(&case.shape) {
            let problem = case.build(inference);
            let w = case.weights(numbers(0, problem.dim(), seed));
            let (mut workspace, mut y) = (problem.workspace(), NodeLabels::default());
            for i in 0..case.graphs.len() {
                problem.prepare(i, &w, &mut workspace);
                problem.decode(i, &w, &mut workspace, &mut y);
                let (structure, scores) = (case.structure(i), scores(&case, i, &w, false));
                let (score, best) = (dot(&w, &case.phi(i, &y.labels)), structure.best(&scores));
                let scale = magnitude(&scores);
                prop_assert!(score <= best + 1e-12 * scale);
                if !y.is_fractional() {
                    assert_close(score, best, 1e-12, scale);
                }
                prop_assert_eq!(&problem.predict(&w)[i], &y.labels);
            }
        }
    }

}

proptest! {
    #![proptest_config(cases(48))]

    /// The optimum is that of the dual over the local polytope, by an interior point method, and the
    /// primal is above the true one.
    #[test]
    fn training_comes_to_the_optimum_of_the_relaxation(
        case in any_potts(2..=3), lambda in 0.1..1.0f64
    ) {
        let case = PottsCase { shape: case.shape.free(), ..case };
        let optimum = relaxed_optimum(&case, lambda);
        let settings =
            Settings { lambda: Some(lambda), tolerance: 1e-7, max_passes: 20_000, ..bcfw() };
        for (inference, direction) in relaxations(&case.shape)
            .into_iter()
            .flat_map(|way| ["pairwise", "corrective"].map(|direction| (way, direction)))
        {
            let problem = case.build(inference);
            let direction = direction.parse().unwrap();
            let solution = train(&problem, &SettingsRecord { direction, ..settings.record() }.settings().unwrap()).unwrap();
            assert_certified(&problem, &solution);
            let c = solution.certificate;
            let expected = match case.shape.edge_attributes {
                0 => Quality::Exact,
                _ => Quality::UpperBound,
            };
            prop_assert_eq!(c.quality, expected);
            prop_assert!(c.dual <= optimum + 1e-6 && c.primal >= optimum - 1e-6, "{:?} {}", c, optimum);
            prop_assert!(c.primal >= case.enumerate().primal(lambda, &solution.weights) - 1e-9);
        }
    }
}

/// max L(μ) − λ/2 ‖w(μ)‖² over the local polytopes of all graphs.
fn relaxed_optimum(case: &PottsCase, lambda: f64) -> f64 {
    let total: f64 = case.graphs.iter().map(|graph| graph.weight).sum();
    let (mut all, mut equations) = (Vec::new(), Vec::new());
    // w = (Σ share·φ(truth) − Σ share·φ(μ)) / λ
    let mut constant = vec![0.0; case.shape.dim()];
    for (i, graph) in case.graphs.iter().enumerate() {
        let share = graph.weight / total;
        add_scaled(&mut constant, share / lambda, &case.phi(i, &case.truth(i)));
        let first = all.len();
        for (row, right) in case.structure(i).equations() {
            equations.push((row.iter().map(|&(at, x)| (first + at, x)).collect(), right));
        }
        for (phi, loss) in case.columns(i) {
            let column: Vec<f64> = phi.iter().map(|x| -share / lambda * x).collect();
            all.push((column, share * loss));
        }
    }
    let upper = |row: usize, column: usize| match row <= column {
        true => lambda * dot(&all[row].0, &all[column].0),
        false => 0.0,
    };
    let quadratic = qp::csc(all.len(), all.len(), upper);
    let linear: Vec<f64> =
        all.iter().map(|(column, loss)| lambda * dot(column, &constant) - loss).collect();
    let masses = qp::minimise(&quadratic, &linear, &equations, 1e-9);
    let (mut w, mut loss) = (constant, 0.0);
    for (mass, (column, own)) in masses.iter().zip(&all) {
        add_scaled(&mut w, *mass, column);
        loss += mass * own;
    }
    loss - 0.5 * lambda * norm_sq(&w)
}

/// A grid with one weight for each score and each edge. At every node all labels but one have similar
/// scores, which makes relaxations loose.
fn grid(labels: usize, rng: &mut Rng, cost: f64) -> (PottsCase, Vec<f64>) {
    let (width, height) = (5, 4);
    let edges: Vec<(u32, u32)> = grid_edges(width, height, true).collect();
    let (n, count) = (width * height, edges.len());
    let unit = |at: usize, of: usize| (0..of).map(|a| f64::from(a == at)).collect::<Vec<f64>>();
    let nodes = (0..n).map(|v| (unit(v, n), rng.below(labels) as u32, 1.0)).collect();
    let joined = edges.into_iter().enumerate().map(|(e, (a, b))| (a, b, unit(e, count))).collect();
    let graph = CaseGraph { weight: 1.0, nodes, edges: joined };
    let shape = PottsShape { mean: false, ..PottsShape::new(labels, n, count) };
    let mut w = Vec::new();
    for _ in 0..n {
        let disliked = rng.below(labels);
        w.extend((0..labels).map(|y| f64::from(y != disliked) + 0.1 * rng.unit_f64()));
    }
    w.extend((0..count).map(|_| cost * (0.5 + rng.unit_f64())));
    (PottsCase { shape, loss: NodeLoss::HAMMING, graphs: vec![graph] }, w)
}

/// Cuts decide nodes as the linear program would, and pieces are solved separately.
#[test]
fn cuts_settle_nodes_as_the_linear_program_would() {
    let mut rng = Rng::new(11);
    let (mut fractional, mut whole) = (0, 0);
    for (labels, cost) in [(3, 0.02), (3, 0.1), (3, 0.2), (4, 0.2), (3, 0.3)] {
        for _ in 0..4 {
            let (case, w) = grid(labels, &mut rng, cost);
            let (y, found) = oracle(&case.build(PottsInference::Lp), 0, &w);
            let (structure, scores) = (case.structure(0), scores(&case, 0, &w, true));
            let truth = dot(&w, &case.phi(0, &case.truth(0)));
            let mut other = Labelling::default();
            let exact = LocalPolytope::default()
                .maximise(&SimplexMethod, &structure.topology(), &scores, &mut other)
                .unwrap();
            assert_close(found + truth, exact, 1e-10, magnitude(&scores));
            if y.is_fractional() {
                fractional += 1;
            } else {
                whole += 1;
            }
        }
    }
    assert!(fractional > 0 && whole > 0, "{fractional} fractional, {whole} whole");
}

/// If the solver fails, a heuristic is used instead, and the certificate says so.
#[test]
fn a_solver_that_fails_is_replaced_and_reported() {
    let (case, w) = grid(3, &mut Rng::new(2), 0.5);
    let case = PottsCase { shape: case.shape.free(), ..case };
    let w: Vec<f64> = w.iter().map(|w| w - 0.4).collect();
    let problem = case.build(PottsInference::Lp).with_solver(Arc::new(NeverSolves));
    assert_eq!(problem.quality(), Quality::UpperBound);
    let (y, found) = oracle(&problem, 0, &w);
    assert!(!y.is_fractional());
    assert_close(found, case.augmented(0, &y.labels, &w), 1e-12, 1.0);
    assert_eq!(problem.quality(), Quality::Unproven);
}
