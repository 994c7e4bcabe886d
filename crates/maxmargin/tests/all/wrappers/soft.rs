//! Soft constraints with bounds around them, with example weights and with multipliers.

use super::{
    any_bounds, assert_encloses, assert_free_in_no_bounds, assert_within, every_solver, precisely,
};
use crate::common::factor_graphs::{GraphCase, any_graphs};
use crate::common::problems::{Enumerated, EnumeratedBlock};
use crate::common::qp::{self, Optimum};
use crate::common::{assert_bounded, assert_certified, assert_close, cases, minus};
use maxmargin::ProblemExt as _;
use maxmargin::inference::Inference;
use maxmargin::model::factor_graph::StateLoss;
use maxmargin::model::soft::{RhoScale, SoftGraph};
use maxmargin::{Bounded, Bounds, Problem, Solver, train};
use proptest::prelude::*;

fn soft(case: &GraphCase, lambda: f64, rho: f64) -> SoftGraph {
    let graphs = case.build(Inference::MaxProduct);
    let loss = StateLoss { normalised: case.normalised };
    let soft = SoftGraph::of_graphs(graphs.shape(), graphs.data(), loss, lambda, rho).unwrap();
    soft.with_rho_scale(RhoScale::Sum)
}

/// A variable or a factor, with the features of its states, messages included, and their losses.
struct SoftBlock {
    weight: f64,
    truth: usize,
    phi: Vec<Vec<f64>>,
    losses: Vec<f64>,
}

/// The soft problem from its formulas: one block for each variable and each factor, messages appended to
/// the features. Its messages may be numbered in another order.
fn written_out(case: &GraphCase, lambda: f64, rho: f64) -> Enumerated {
    let scale = (lambda / rho).sqrt();
    let mut blocks: Vec<SoftBlock> = Vec::new();
    let mut messages = case.dim();
    for i in 0..case.graphs.len() {
        let (structure, truth) = (case.structure(i), case.truth(i));
        let places = structure.offsets();
        let (features, losses) = (case.part_features(i), case.part_losses(i));
        let first = blocks.len();
        let mut push = |table: usize, truth: usize| {
            let range = places[table]..places[table + 1];
            let (phi, losses) = (features[range.clone()].to_vec(), losses[range].to_vec());
            blocks.push(SoftBlock { weight: case.graphs[i].weight, truth, phi, losses });
        };
        truth.iter().enumerate().for_each(|(v, &state)| push(v, state as usize));
        for (f, scope) in structure.factors.iter().enumerate() {
            let states = |v: u32| structure.states[v as usize];
            let joint = scope.iter().fold(0, |at, &v| at * states(v) + truth[v as usize] as usize);
            push(truth.len() + f, joint);
        }
        for (f, scope) in structure.factors.iter().enumerate() {
            let mut stride: usize = scope.iter().map(|&v| structure.states[v as usize]).product();
            for &v in scope {
                let states = structure.states[v as usize];
                stride /= states;
                let mut add = |block: usize, sign: f64, state_of: &dyn Fn(usize) -> usize| {
                    for (joint, phi) in blocks[block].phi.iter_mut().enumerate() {
                        let at = messages + state_of(joint);
                        phi.resize(phi.len().max(at + 1), 0.0);
                        phi[at] += sign * scale;
                    }
                };
                add(first + v as usize, 1.0, &|state| state);
                add(first + truth.len() + f, -1.0, &|joint| joint / stride % states);
                messages += states;
            }
        }
    }
    let block = |SoftBlock { weight, truth, mut phi, losses }: SoftBlock| {
        phi.iter_mut().for_each(|phi| phi.resize(messages, 0.0));
        let corners = phi.iter().map(|state| minus(&phi[truth], state)).zip(losses).collect();
        EnumeratedBlock { weight, corners }
    };
    Enumerated { dim: messages, blocks: blocks.into_iter().map(block).collect() }
}

/// The optimum of the soft problem within bounds on the weights of the graph. Each block of an example
/// has the full weight of the example, while the blocks of the dense problem share the total weight.
fn optimum_within(case: &GraphCase, lambda: f64, rho: f64, bounds: &Bounds) -> Optimum {
    let dense = written_out(case, lambda, rho);
    let bounds = with_messages(bounds, dense.dim);
    let examples: f64 = case.graphs.iter().map(|graph| graph.weight).sum();
    let blocks: f64 = dense.blocks.iter().map(|block| block.weight).sum();
    let ratio = blocks / examples;
    let found = qp::solve_within(&dense, lambda / ratio, &bounds);
    Optimum { below: ratio * found.below, above: ratio * found.above }
}

/// Bounds on the weights of the graph only.
fn with_messages(bounds: &Bounds, dim: usize) -> Bounds {
    let free = Bounds::none(dim - bounds.lower().len());
    let lower = [bounds.lower(), free.lower()].concat();
    Bounds::new(lower, [bounds.upper(), free.upper()].concat()).unwrap()
}

proptest! {
    #![proptest_config(cases(12))]

    #[test]
    fn weighted_graphs_in_bounds_have_one_optimum(
        (case, bounds) in any_graphs().prop_flat_map(|case| {
            let d = case.dim();
            (Just(case), any_bounds(d))
        }),
        weights in proptest::collection::vec(0.2..2.0f64, 3), lambda in 0.2..2.0f64, rho in 0.2..3.0f64
    ) {
        let mut case = case;
        case.graphs.iter_mut().zip(weights).for_each(|(graph, weight)| graph.weight = weight);
        for bounds in [Bounds::none(case.dim()), bounds] {
            let optimum = optimum_within(&case, lambda, rho, &bounds);
            let inner = soft(&case, lambda, rho);
            let all = with_messages(&bounds, inner.dim());
            let problem = Bounded::new(inner, all.clone());
            let solution = train(&problem, &precisely(lambda)).unwrap();
            assert_certified(&problem, &solution);
            assert_within(&all, &solution.weights);
            assert_encloses(&solution.certificate, &optimum);
            // The hard objective is reported as without bounds.
            let messages = problem.inner().messages(&solution.weights);
            let penalty = 0.5 * rho * messages.iter().map(|m| m * m).sum::<f64>();
            let hard = problem.second_objective(&solution.weights).unwrap();
            assert_close(hard + penalty, solution.certificate.primal, 1e-9, 1.0 + hard.abs());
        }
    }

    /// With multipliers, losses may be negative, and bounds around the problem allow this.
    #[test]
    fn multipliers_in_bounds(
        (case, bounds) in any_graphs().prop_flat_map(|case| {
            let d = case.dim();
            (Just(case), any_bounds(d))
        }),
        lambda in 0.2..2.0f64
    ) {
        let first = soft(&case, lambda, 0.5);
        let found = train(&first, &precisely(lambda)).unwrap();
        let multipliers = first.messages(&found.weights);
        let second = || soft(&case, lambda, 0.5).with_multipliers(multipliers.clone()).unwrap();
        assert_free_in_no_bounds(second, lambda);

        let all = with_messages(&bounds, first.dim());
        let problem = Bounded::new(second(), all.clone());
        prop_assert!(problem.has_signed_losses());
        for settings in every_solver(lambda) {
            if settings.record().solver == Solver::ExponentiatedGradient {
                continue;
            }
            let solution = train(&problem, &settings).unwrap();
            assert_within(&all, &solution.weights);
            assert_bounded(&problem, &solution);
        }
    }
}
