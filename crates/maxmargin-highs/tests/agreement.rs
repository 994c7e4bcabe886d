//! HiGHS and the simplex method in Rust find the same values, and train to the same optimum.
#![cfg(feature = "highs")]
#![allow(clippy::unwrap_used, reason = "in a test a panic is a failure")]

use maxmargin::inference::Inference;
use maxmargin::inference::Labelling;
use maxmargin::inference::Topology;
use maxmargin::inference::algorithms::{LocalPolytope, check_consistency};
use maxmargin::inference::{LinearProgram, SimplexMethod, SolveLp};
use maxmargin::model::factor_graph::{FactorGraph, Graphs, StateLoss};
use maxmargin::{Rng, Settings, SparseVec, train};
use maxmargin_highs::Highs;
use std::sync::Arc;

fn grid(side: u32, states: usize) -> Topology {
    let edges = (0..side * side).flat_map(|v| {
        let right = ((v + 1) % side != 0).then_some([v, v + 1]);
        let below = (v + side < side * side).then_some([v, v + side]);
        right.into_iter().chain(below)
    });
    Topology::new(vec![states; (side * side) as usize], edges).unwrap()
}

#[test]
fn values_and_bounds_agree() {
    let mut rng = Rng::new(7);
    for (side, states) in [(2, 2), (3, 2), (3, 3), (4, 3), (5, 2)] {
        let graph = grid(side, states);
        for size in [1.0, 1e-6, 1e9] {
            let scores: Vec<f64> =
                (0..graph.size()).map(|_| size * (rng.unit_f64() - 0.5)).collect();
            let (mut polytope, mut ours) = (LocalPolytope::default(), Labelling::default());
            let expected = polytope.maximise(&SimplexMethod, &graph, &scores, &mut ours).unwrap();
            let found = polytope.maximise(&Highs, &graph, &scores, &mut ours).unwrap();
            let scale = size * graph.size() as f64;
            assert!((found - expected).abs() <= 1e-10 * scale, "{found} against {expected}");
            let mut parts = SparseVec::new();
            ours.push_parts(&graph, &mut parts);
            assert_eq!(check_consistency(&graph, &parts, 1e-12), Ok(()));
            let bound = polytope.bound(&Highs, &graph, &scores).unwrap();
            assert!(bound >= found - 1e-12 * scale && bound <= found + 1e-8 * scale);
        }
    }
}

#[test]
fn training_agrees() {
    let (mut rng, mut data) = (Rng::new(3), Graphs::new());
    for _ in 0..10 {
        for _ in 0..4 {
            let truth = rng.below(3) as u32;
            let v = data.push_variable(3, truth).unwrap();
            data.push_factor(0, &[v], [(truth, rng.unit_f64()), (3, 1.0)]).unwrap();
        }
        for (a, b) in [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)] {
            data.push_factor(1, &[a, b], [(0, 1.0)]).unwrap();
        }
        data.end_graph(1.0).unwrap();
    }
    let problem = || {
        let (shape, data) = (data.shape().unwrap(), data.clone());
        FactorGraph::new(shape, data, StateLoss::default(), Inference::Lp).unwrap()
    };
    let settings = Settings { lambda: Some(0.05), tolerance: 1e-4, ..Settings::default() };
    let ours = train(&problem(), &settings).unwrap().certificate;
    let theirs = train(&problem().with_solver(Arc::new(Highs)), &settings).unwrap().certificate;
    assert!(ours.gap <= 1e-4 && theirs.gap <= 1e-4);
    assert!((ours.primal - theirs.primal).abs() <= 1e-4);
}

#[test]
fn programs_without_a_solution_are_reported() {
    let mut contradiction = LinearProgram::new(vec![1.0]);
    contradiction.push_row([(0, 1.0)], 1.0);
    contradiction.push_row([(0, 1.0)], 2.0);
    let mut endless = LinearProgram::new(vec![1.0, 0.0]);
    endless.push_row([(0, 1.0), (1, -1.0)], 0.0);
    for lp in [contradiction, endless] {
        for solver in [&Highs as &dyn SolveLp, &SimplexMethod] {
            assert!(solver.solve(&lp, &mut Vec::new()).is_err());
        }
    }
}
