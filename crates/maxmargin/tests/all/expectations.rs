//! Marginals against sums over all outputs.

use crate::common::cases;
use crate::common::chains::any_chain;
use crate::common::factor_graphs::any_forests;
use crate::common::graphs::Structure;
use crate::common::multilabels::any_labels;
use crate::common::rows::any_rows;
use maxmargin::ProblemExt as _;
use maxmargin::inference::Inference;
use maxmargin::inference::algorithms::ForwardBackward;
use maxmargin::inference::algorithms::SumProduct;
use maxmargin::{Enumerable, Problem, Rng, SparseVec};
use proptest::prelude::*;

/// Compares `expect` at potentials after two steps with sums over all outputs, whose probabilities are ∝
/// exp(Σ step·(L + score)).
pub(crate) fn check<P: Problem>(
    problem: &P,
    outputs: &dyn Fn(usize) -> Vec<P::Output>,
    scale: f64,
    seed: u64,
) {
    let mut rng = Rng::new(seed);
    let expectations = problem.expectations().unwrap();
    let mut workspace = problem.workspace();
    let steps: Vec<(f64, Vec<f64>)> = (0..2)
        .map(|_| {
            let w = (0..problem.dim()).map(|_| scale * (rng.unit_f64() - 0.5)).collect();
            (0.2 + rng.unit_f64(), w)
        })
        .collect();
    for i in 0..problem.examples() {
        let all = outputs(i);
        let mut theta = vec![0.0; expectations.potentials(i)];
        let mut logs = vec![0.0; all.len()];
        let parts_of = |y: &P::Output| {
            let mut parts = SparseVec::new();
            problem.parts(i, y, &mut parts);
            parts
        };
        for (step, w) in &steps {
            problem.prepare(i, w, &mut workspace);
            expectations.add_values(i, w, &workspace, *step, &mut theta);
            for (log, y) in logs.iter_mut().zip(&all) {
                let score = problem.score(i, w, &workspace, &parts_of(y));
                *log += step * (problem.loss(i, y) + score);
            }
        }
        let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = logs.iter().map(|log| (log - largest).exp()).sum();
        let (mut mean, mut loss) = (SparseVec::new(), 0.0);
        for (log, y) in logs.iter().zip(&all) {
            let share = (log - largest).exp() / total;
            mean.add_scaled(share, &parts_of(y));
            loss += share * problem.loss(i, y);
        }
        let mut found = SparseVec::new();
        let own = expectations.expect(i, &theta, &mut workspace, &mut found);
        assert!(found.is_normalised());
        let tolerance = 1e-12 * (1.0 + scale);
        assert!((own - loss).abs() <= tolerance * (1.0 + loss), "{own} is not {loss}");
        let mut off = found.clone();
        off.add_scaled(-1.0, &mean);
        assert!(off.entries().iter().all(|(_, x)| x.abs() <= tolerance), "{found:?} {mean:?}");
        problem.check_point(i, &found, own, 1e-13).unwrap();
    }
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn marginals_of_chains(case in any_chain(), large in any::<bool>(), seed in any::<u64>()) {
        let mut case = case;
        case.sequences.iter_mut().for_each(|s| s.tokens.truncate(4));
        let scale = if large { 500.0 } else { 2.0 };
        check(&case.build(), &|i| case.labellings(i), scale, seed);
    }

    #[test]
    fn marginals_of_forests(case in any_forests(), large in any::<bool>(), seed in any::<u64>()) {
        let scale = if large { 500.0 } else { 2.0 };
        let all = |i: usize| case.structure(i).labellings().into_iter().map(Into::into).collect();
        check(&case.build(Inference::MaxSum), &all, scale, seed);
    }

    #[test]
    fn marginals_of_classes(case in any_rows(2..=4), seed in any::<u64>()) {
        let problem = case.multiclass();
        let all = |i: usize| {
            let mut all = Vec::new();
            problem.for_each_output(i, &mut |y| all.push(*y));
            all
        };
        check(&problem, &all, 2.0, seed);
        check(&case.binary(), &|_| vec![false, true], 2.0, seed);
    }

    #[test]
    fn marginals_of_sets_of_labels(case in any_labels(), large in any::<bool>(), seed in any::<u64>()) {
        let scale = if large { 500.0 } else { 2.0 };
        // The pairs of a random tree, or only some of them.
        let mut case = case;
        let mut rng = Rng::new(seed);
        let parents = (1..case.shape.labels as u32).map(|k| (rng.below(k as usize) as u32, k));
        let mut pairs: Vec<(u32, u32)> = parents.collect();
        pairs.retain(|_| rng.unit_f64() < 0.8);
        case.shape.pairs = pairs;
        let all = |_: usize| case.sets().into_iter().map(Into::into).collect();
        check(&case.build(Inference::Auto), &all, scale, seed);
    }

    /// The sum over all paths, and two methods for the same marginals.
    #[test]
    fn a_chain_is_a_forest(labels in 1usize..5, length in 1usize..6, seed in any::<u64>()) {
        let mut rng = Rng::new(seed);
        let mut draw = |count: usize| -> Vec<f64> {
            (0..count).map(|_| 4.0 * rng.unit_f64() - 2.0).collect()
        };
        let (scores, transitions) = (draw(length * labels), draw(labels * labels));
        let factors = (1..length as u32).map(|t| vec![t - 1, t]).collect();
        let structure = Structure { states: vec![labels; length], factors };
        let mut theta = scores.clone();
        (1..length).for_each(|_| theta.extend_from_slice(&transitions));

        let all = structure.labellings();
        let sum: f64 = all.iter().map(|y| structure.value(&theta, y).exp()).sum();
        let (mut chain, mut forest) = (ForwardBackward::default(), SumProduct::default());
        let found = chain.run(&scores, &transitions, labels);
        prop_assert!((found - sum.ln()).abs() <= 1e-12 * (1.0 + found.abs()));
        let other = forest.run(&structure.topology(), &theta);
        prop_assert!((found - other).abs() <= 1e-12 * (1.0 + found.abs()));
        let marginals = chain.nodes().iter().chain(chain.edges());
        prop_assert!(marginals.zip(forest.marginals()).all(|(a, b)| (a - b).abs() <= 1e-14));

        // Without transitions, positions are independent.
        let alone = chain.run(&scores, &[], labels);
        let nodes: f64 =
            scores.chunks(labels).map(|row| row.iter().map(|s| s.exp()).sum::<f64>().ln()).sum();
        prop_assert!((alone - nodes).abs() <= 1e-12 * (1.0 + nodes.abs()));
        prop_assert!(chain.edges().is_empty());
    }
}
