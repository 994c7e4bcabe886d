//! Soft constraints against an independent QP, the LP relaxation, and exact decoding.

use crate::common;
use crate::common::factor_graphs::{GraphCase, any_forests, any_graphs};
use crate::common::multilabels::any_labels;
use crate::common::potts::{PottsCase, any_potts};
use crate::common::problems::ViaPsi;
use crate::common::qp::Optimum;
use crate::common::{assert_certified, assert_close, bcfw, cases, dot, norm_sq, qp};
use maxmargin::inference::Inference;
use maxmargin::model::factor_graph::{GraphShape, Graphs, StateLoss, Template, Tie};
use maxmargin::model::potts::PottsInference;
use maxmargin::model::soft::{RhoScale, SoftGraph, anneal, train_augmented};
use maxmargin::{
    Direction, GridSettings, GridStart, Order, Problem, Settings, SettingsRecord, Solver,
    lambda_grid, train,
};
use proptest::prelude::*;

/// With the penalty beside the mean, so that ρ is the price of every message.
pub(crate) fn soft(case: &GraphCase, lambda: f64, rho: f64) -> SoftGraph {
    scaled(case, lambda, rho, RhoScale::Sum)
}

pub(crate) fn scaled(case: &GraphCase, lambda: f64, rho: f64, scale: RhoScale) -> SoftGraph {
    let graphs = case.build(Inference::MaxProduct);
    let loss = StateLoss { normalised: case.normalised };
    let soft = SoftGraph::of_graphs(graphs.shape(), graphs.data(), loss, lambda, rho).unwrap();
    soft.with_rho_scale(scale)
}

/// ρ inside the mean over examples is ρ times the share of an example in the weights of all.
fn price(case: &GraphCase, i: usize, rho: f64, scale: RhoScale) -> f64 {
    if scale == RhoScale::Example { rho * share(case, i) } else { rho }
}

pub(crate) fn share(case: &GraphCase, i: usize) -> f64 {
    case.graphs[i].weight / case.graphs.iter().map(|graph| graph.weight).sum::<f64>()
}

/// The optimum of the soft dual f_ρ(μ), from its definition, by an independent QP.
pub(crate) fn soft_optimum(case: &GraphCase, lambda: f64, rho: f64, scale: RhoScale) -> f64 {
    // A column contains what a part adds to w and to δ, and its entry of the linear term.
    type Column = (Vec<f64>, Vec<(usize, f64)>, f64);
    let (mut columns, mut equations) = (Vec::<Column>::new(), Vec::new());
    let (mut truth, mut messages, mut prices) = (vec![0.0; case.dim()], 0, Vec::new());
    for i in 0..case.graphs.len() {
        let (first, share) = (columns.len(), share(case, i));
        let price = price(case, i, rho, scale);
        let structure = case.structure_apart(i);
        let topology = structure.topology();
        let parts = case.part_features_apart(i);
        for (features, loss) in parts.iter().zip(case.part_losses_apart(i)) {
            let w: Vec<f64> = features.iter().map(|x| -share * x / lambda).collect();
            columns.push((w, Vec::new(), share * loss));
        }
        for v in 0..topology.variables() {
            let own = topology.node(v).map(|part| (first + part, 1.0)).collect();
            equations.push((own, 1.0));
        }
        for (f, scope) in structure.factors.iter().enumerate() {
            let table = topology.table(f);
            equations.push((table.clone().map(|part| (first + part, 1.0)).collect(), 1.0));
            let mut stride: usize = scope.iter().map(|&v| structure.states[v as usize]).product();
            for &v in scope {
                let states = structure.states[v as usize];
                stride /= states;
                for (joint, part) in table.clone().enumerate() {
                    let at = messages + joint / stride % states;
                    columns[first + part].1.push((at, share / price));
                }
                for (y, part) in topology.node(v as usize).enumerate() {
                    columns[first + part].1.push((messages + y, -share / price));
                }
                messages += states;
                prices.resize(messages, price);
            }
        }
        common::add_scaled(&mut truth, share / lambda, &case.phi(i, &case.truth(i)));
    }
    // Each message times the root of its price is a variable of its own: with small prices, the solver would
    // find masses to three digits only.
    let first = columns.len();
    for (m, price) in prices.iter().enumerate() {
        let of_part = |(at, column): (usize, &Column)| {
            let terms = column.1.iter().filter(|(to, _)| *to == m);
            (at, terms.map(|(_, x)| x * price.sqrt()).sum::<f64>())
        };
        let terms = columns.iter().enumerate().map(of_part).filter(|(_, x)| *x != 0.0);
        equations.push((terms.chain([(first + m, -1.0)]).collect(), 0.0));
    }
    let quadratic = qp::csc(first + messages, first + messages, |row, column| {
        match (columns.get(row), columns.get(column)) {
            (Some(a), Some(b)) if row <= column => lambda * dot(&a.0, &b.0),
            (None, None) => f64::from(row == column),
            _ => 0.0,
        }
    });
    let linear = columns.iter().map(|(w, _, loss)| lambda * dot(w, &truth) - loss);
    let linear: Vec<f64> = linear.chain(prices.iter().map(|_| 0.0)).collect();
    let masses = qp::minimise_partly_free(&quadratic, &linear, &equations, messages, 1e-10);
    let (mut w, mut delta, mut l) = (truth, vec![0.0; messages], 0.0);
    for (mass, (own, message, loss)) in masses.iter().zip(&columns) {
        common::add_scaled(&mut w, *mass, own);
        message.iter().for_each(|&(at, x)| delta[at] += mass * x);
        l += mass * loss;
    }
    let paid: f64 = delta.iter().zip(&prices).map(|(delta, price)| price * delta * delta).sum();
    l - 0.5 * lambda * norm_sq(&w) - 0.5 * paid
}

/// Labelled graphs as factor graphs: a template for nodes, and one for edges that counts where their ends differ.
fn as_graphs(case: &PottsCase) -> (GraphShape, Graphs) {
    let labels = case.shape.labels;
    let node = Template {
        states: vec![labels],
        attributes: case.shape.node_attributes,
        ..Template::default()
    };
    let attributes = case.shape.edge_attributes;
    let edge =
        Template { states: vec![labels; 2], attributes, tie: Tie::Differ, ..Template::default() };
    let mut graphs = Graphs::new();
    for (i, graph) in case.graphs.iter().enumerate() {
        let share = if case.shape.mean { 1.0 / graph.nodes.len() as f64 } else { 1.0 };
        let row = |values: &[f64], by: f64| -> Vec<(u32, f64)> {
            (0..).zip(values).map(|(a, value)| (a, by * value)).collect()
        };
        for (v, (values, label, _)) in graph.nodes.iter().enumerate() {
            let mut wrong = case.truth(i);
            wrong[v] = (label + 1) % labels as u32;
            let cost = case.loss(i, &wrong);
            graphs.push_weighted_variable(labels as u32, *label, cost).unwrap();
            graphs.push_factor(0, &[v as u32], row(values, share)).unwrap();
        }
        for (a, b, values) in graph.edges.iter().filter(|_| attributes > 0) {
            graphs.push_factor(1, &[*a, *b], row(values, -share)).unwrap();
        }
        graphs.end_graph(graph.weight).unwrap();
    }
    (GraphShape { templates: vec![node, edge] }, graphs)
}

/// The messages of each example.
fn own_messages<'m>(
    problem: &SoftGraph,
    messages: &'m [f64],
) -> impl Iterator<Item = &'m [f64]> + use<'m> {
    let blocks = problem.blocks();
    let count = |example| -> usize {
        let factors = blocks.factors(example);
        factors.flat_map(|block| blocks.meetings(block)).map(|at| at.messages().len()).sum()
    };
    let counts: Vec<usize> = (0..blocks.examples()).map(count).collect();
    let mut start = 0;
    counts.into_iter().map(move |count| {
        start += count;
        &messages[start - count..start]
    })
}

pub(crate) fn exactly(lambda: f64) -> Settings {
    SettingsRecord {
        lambda: Some(lambda),
        solver: Solver::Auto,
        tolerance: 1e-9,
        max_passes: 100_000,
        ..bcfw().record()
    }
    .settings()
    .unwrap()
}

/// Settings for rounds that follow each other.
fn quickly(lambda: f64) -> Settings {
    Settings { tolerance: 1e-9, max_passes: 2000, gap_every: 5, ..exactly(lambda) }
}

/// g(w, δ) lies above the optimum of the relaxation, and within `close` of it.
fn hold(hard: f64, optimum: &Optimum, close: f64) {
    let scale = 1.0 + optimum.above.abs();
    assert!(hard >= optimum.below - 1e-6 * scale, "{hard} is below {optimum:?}");
    assert!(hard <= optimum.above + close * scale, "{hard} is above {optimum:?}");
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn the_soft_optimum_is_that_of_the_formulas(
        case in any_graphs(), lambda in 0.1..2.0f64, rho in 0.1..3.0f64, is_sum in any::<bool>()
    ) {
        let scale = if is_sum { RhoScale::Sum } else { RhoScale::Example };
        let problem = scaled(&case, lambda, rho, scale);
        let optimum = soft_optimum(&case, lambda, rho, scale);
        let auto = exactly(lambda);
        let gap = SettingsRecord { order: Order::Gap, solver: Solver::BlockCoordinate, ..auto.record() }.settings().unwrap();
        let pairwise = SettingsRecord { direction: Direction::Pairwise, tolerance: 1e-7, ..gap.record() }.settings().unwrap();
        let plain = Settings { tolerance: 1e-3, max_passes: 3000, ..gap };
        for settings in [auto, pairwise, plain] {
            let solution = train(&problem, &settings).unwrap();
            assert_certified(&problem, &solution);
            let c = solution.certificate;
            prop_assert!(c.dual <= optimum + 1e-6 && optimum <= c.primal + 1e-6, "{c:?}, {optimum}");
            // The gap of the soft problem lies between its own primal and dual.
            let messages = problem.messages(&solution.weights);
            let hard = problem.hard_objective(&solution.weights);
            let paid: f64 = own_messages(&problem, &messages)
                .enumerate()
                .map(|(i, own)| 0.5 * price(&case, i, rho, scale) * norm_sq(own))
                .sum();
            assert_close(hard + paid, c.primal, 1e-9, 1.0);
        }
        let via_psi = train(&ViaPsi(problem), &Settings { tolerance: 1e-3, ..exactly(lambda) });
        let c = via_psi.unwrap().certificate;
        prop_assert!(c.dual <= optimum + 1e-6 && optimum <= c.primal + 1e-6, "{c:?}, {optimum}");
    }

    #[test]
    fn both_scales_are_the_same_at_the_same_price(
        case in any_graphs(), lambda in 0.1..2.0f64, rho in 0.1..3.0f64
    ) {
        // With equal weights, the penalty inside the mean is 1/M of the sum, so the bits are the same.
        let mut case = case;
        case.graphs.iter_mut().for_each(|graph| graph.weight = 1.0);
        let inside = scaled(&case, lambda, rho, RhoScale::Example);
        let beside = scaled(&case, lambda, rho * share(&case, 0), RhoScale::Sum);
        let settings = Settings { tolerance: 1e-3, ..exactly(lambda) };
        let (a, b) = (train(&inside, &settings).unwrap(), train(&beside, &settings).unwrap());
        prop_assert_eq!(&a.weights, &b.weights);
        let (violated, other) = (inside.violation(&a.weights), beside.violation(&b.weights));
        assert_close(violated.0, other.0, 1e-12, 1.0);
    }

    #[test]
    fn labelled_graphs_are_factor_graphs_whose_pairs_share_weights(
        case in any_potts(2..=3), lambda in 0.1..2.0f64, rho in 0.1..3.0f64
    ) {
        let potts = case.build(PottsInference::Auto);
        let soft = SoftGraph::of_potts(&potts, lambda, rho).unwrap();
        let (shape, graphs) = as_graphs(&case);
        let loss = StateLoss { normalised: false };
        let other = SoftGraph::of_graphs(&shape, &graphs, loss, lambda, rho).unwrap();
        let other = other.with_bounds(potts.bounds().cloned()).unwrap();
        let settings = Settings { tolerance: 1e-8, ..exactly(lambda) };
        let (a, b) = (train(&soft, &settings).unwrap(), train(&other, &settings).unwrap());
        assert_certified(&soft, &a);
        assert_certified(&other, &b);
        let (a, b) = (a.certificate, b.certificate);
        prop_assert!(a.dual <= b.primal + 1e-9 && b.dual <= a.primal + 1e-9, "{a:?}, {b:?}");
    }

    #[test]
    fn a_grid_has_the_problem_of_each_lambda(case in any_graphs(), rho in 0.1..3.0f64) {
        let made = scaled(&case, 1.0, rho, RhoScale::Example);
        let settings = GridSettings {
            lambda_max: 1.0, lambda_min: 0.25, epsilon: 1e-3, start: GridStart::WarmPrimal,
            training: exactly(1.0),
        };
        let grid = lambda_grid(&made, &settings).unwrap();
        prop_assert_eq!(grid.breakpoints.len(), 3);
        for breakpoint in &grid.breakpoints {
            let c = breakpoint.certificate;
            let optimum = soft_optimum(&case, c.lambda, rho, RhoScale::Example);
            prop_assert!(c.dual <= optimum + 1e-6 && optimum <= c.primal + 1e-6, "{c:?}, {optimum}");
            prop_assert!(c.gap <= 1e-3);
        }
    }

    #[test]
    fn less_softness_is_nearer_to_the_relaxation(case in any_graphs(), lambda in 0.2..2.0f64) {
        let optimum = case.relaxed_optimum_apart(lambda);
        let (mut last, mut last_gap, mut last_length) = (f64::INFINITY, 0.0, 0.0);
        for rho in [1.0, 0.1, 0.01] {
            let problem = soft(&case, lambda, rho);
            let settings = Settings { tolerance: 1e-7, ..exactly(lambda) };
            let solution = train(&problem, &settings).unwrap();
            let hard = problem.hard_objective(&solution.weights);
            // With a smaller price of messages, the hard objective does not grow, apart from the gaps of
            // both solutions: by at most (ρ₂ε₁ + ρ₁ε₂)/(ρ₁ − ρ₂) with ρ₂ = ρ₁/10.
            let gap = solution.certificate.gap;
            let short = (0.1 * last_gap + gap) / 0.9;
            prop_assert!(hard <= last + short + 1e-6, "{hard} after {last}");
            // g_ρ(w, δ) ≤ g_ρ(w*, δ*), so g is at most ρ/2·‖δ*‖² above.
            hold(hard, &optimum, f64::INFINITY);
            last_length = norm_sq(&problem.messages(&solution.weights)).sqrt();
            (last, last_gap) = (hard, gap);
        }
        let (problem, solution) = anneal(soft(&case, lambda, 1.0), &[1.0, 0.1, 0.01],
            &Settings { tolerance: 1e-7, ..exactly(lambda) }).unwrap();
        // The soft objective is ρ-strongly convex in the messages, so both solutions are near the
        // optimum: g = g_ρ − ρ/2 ‖δ‖², and ‖δ − δ*‖² ≤ 2ε/ρ.
        let (rho, gap) = (0.01, solution.certificate.gap);
        let length = norm_sq(&problem.messages(&solution.weights)).sqrt();
        let apart = (2.0 * gap / rho).sqrt() + (2.0 * last_gap / rho).sqrt();
        let near = gap + last_gap + 0.5 * rho * (length + last_length) * apart;
        assert_close(problem.hard_objective(&solution.weights), last, near + 1e-9, 1.0);
    }

    #[test]
    fn smoothing_moves_the_optimum_a_little(case in any_graphs(), lambda in 0.3..2.0f64) {
        let sharp = train(&soft(&case, lambda, 1.0), &exactly(lambda)).unwrap().certificate.primal;
        let blocks = soft(&case, lambda, 1.0).examples() as f64 / case.graphs.len() as f64;
        let smooth = soft(&case, lambda, 1.0).smoothed(1e-4).unwrap();
        let solution = train(&smooth, &exactly(lambda)).unwrap();
        assert_certified(&smooth, &solution);
        let optimum = solution.certificate.dual;
        // Each maximum loses at most smoothing/2·‖μ − e‖² ≤ smoothing.
        let heaviest = (0..case.graphs.len()).map(|i| share(&case, i)).fold(0.0, f64::max);
        let most = 1e-4 * blocks * case.graphs.len() as f64 * heaviest * 3.0;
        prop_assert!((-1e-6..=most + 1e-6).contains(&(sharp - optimum)), "{sharp} {optimum}");
    }
}

// These take many rounds each.
proptest! {
    #![proptest_config(cases(8))]

    #[test]
    fn multipliers_lead_to_the_relaxation(case in any_graphs(), lambda in 0.3..2.0f64) {
        let optimum = case.relaxed_optimum_apart(lambda);
        let found = train_augmented(soft(&case, lambda, 0.05), &quickly(lambda), 3000, 1e-5).unwrap();
        // If the rounds have run out, the remaining violation limits the accuracy of the objective.
        let close = 1e-3 + 100.0 * found.violation;
        hold(found.problem.hard_objective(&found.solution.weights), &optimum, close);
        assert_certified(&found.problem, &found.solution);
    }

    #[test]
    fn all_methods_find_the_exact_optimum_of_forests(case in any_forests(), lambda in 0.3..2.0f64) {
        let exact = train(&case.build(Inference::MaxSum), &exactly(lambda)).unwrap().certificate;
        let found = train_augmented(soft(&case, lambda, 0.05), &quickly(lambda), 3000, 1e-5).unwrap();
        let hard = found.problem.hard_objective(&found.solution.weights);
        assert_close(hard, exact.primal, 1e-3 + 100.0 * found.violation, 1.0);
    }

    #[test]
    fn sets_of_labels_approach_their_relaxation(case in any_labels(), lambda in 0.3..2.0f64) {
        let data = case.build(Inference::Lp);
        let relaxed = train(&data, &quickly(lambda)).unwrap().certificate;
        let optimum = Optimum { below: relaxed.dual, above: relaxed.primal };
        let problem =
            SoftGraph::of_labels(&case.shape, data.data(), &case.loss, lambda, 0.05).unwrap();
        // With a price per example, messages are cheaper, and every round takes longer.
        let problem = problem.with_rho_scale(RhoScale::Sum);
        let found = train_augmented(problem, &quickly(lambda), 3000, 1e-5).unwrap();
        // If the rounds have run out, the remaining violation limits the accuracy of the objective.
        let close = 1e-3 + 100.0 * found.violation;
        hold(found.problem.hard_objective(&found.solution.weights), &optimum, close);
    }
}

/// Checks six digits, on rings that the relaxation does not solve exactly.
#[test]
fn multipliers_lead_to_the_relaxation_precisely() {
    let rings = maxmargin::doc::rings();
    let lambda = 0.05;
    let settings = exactly(lambda);
    let relaxed = train(&rings, &settings).unwrap().certificate;
    let found = train_augmented(maxmargin::doc::soft_pictures(lambda), &settings, 2000, 1e-7);
    let found = found.unwrap();
    let hard = found.problem.hard_objective(&found.solution.weights);
    assert!(found.violation <= 1e-7, "{} after {}", found.violation, found.rounds);
    assert!((hard - relaxed.primal).abs() <= 1e-6, "{hard} against {relaxed:?}");
}

#[test]
fn invalid_soft_settings_are_rejected() {
    let case = maxmargin::doc::rings();
    let loss = StateLoss::default();
    for (lambda, rho) in [(0.0, 1.0), (f64::NAN, 1.0), (1.0, -1.0), (1.0, f64::INFINITY)] {
        assert!(SoftGraph::of_graphs(case.shape(), case.data(), loss, lambda, rho).is_err());
    }
    let problem = maxmargin::doc::soft_pictures(0.1);
    assert!(problem.clone().smoothed(0.0).is_err() && problem.clone().with_rho(f64::NAN).is_err());
    assert!(anneal(problem.clone(), &[], &Settings::default()).is_err());
    assert!(train_augmented(problem.clone(), &Settings::default(), 0, 0.0).is_err());
    let mut other = case.shape().clone();
    other.templates.pop();
    assert!(SoftGraph::of_graphs(&other, case.data(), loss, 1.0, 1.0).is_err());
}
