//! An example with the weight k is equivalent to k copies, in every wrapper.

use super::{any_bounds, assert_encloses, precisely};
use crate::common::chains::{ChainCase, tieless_chain};
use crate::common::multilabels::any_labels;
use crate::common::rows::{RowsCase, any_rows};
use crate::common::{assert_certified, assert_close, audit_of, cases};
use maxmargin::inference::Inference;
use maxmargin::kernel::{Kernel, Kernelised};
use maxmargin::{Block, Bounded, Bounds, DualPoint, Enumerable, Problem, SlackRescaled, train};
use proptest::collection::vec;
use proptest::prelude::*;

/// Repeats every item as often as its count says.
fn repeated<T: Clone>(items: &[T], counts: &[u8]) -> Vec<T> {
    let copies = |(item, &count): (&T, &u8)| vec![item.clone(); count.into()];
    items.iter().zip(counts.iter().cycle()).flat_map(copies).collect()
}

/// Rows with their counts as weights, and rows repeated as often as that.
fn both_rows(mut case: RowsCase, counts: &[u8]) -> [RowsCase; 2] {
    case.rows.iter_mut().for_each(|row| row.weight = 1.0);
    let copies = RowsCase { rows: repeated(&case.rows, counts), ..case.clone() };
    let weights = case.rows.iter_mut().zip(counts.iter().cycle());
    weights.for_each(|(row, &count)| row.weight = count.into());
    [case, copies]
}

fn both_chains(mut case: ChainCase, counts: &[u8]) -> [ChainCase; 2] {
    case.sequences.iter_mut().for_each(|sequence| sequence.weight = 1.0);
    case.sequences.iter_mut().for_each(|sequence| sequence.tokens.truncate(3));
    let copies = ChainCase { sequences: repeated(&case.sequences, counts), ..case.clone() };
    let weights = case.sequences.iter_mut().zip(counts.iter().cycle());
    weights.for_each(|(sequence, &count)| sequence.weight = count.into());
    [case, copies]
}

/// Trains with weights, and audits the result with the copies. Each copy has the dual variables of the
/// original, so weights, primal and dual are the same.
#[track_caller]
fn hold<P: Problem>([weighted, copies]: [P; 2], counts: &[u8], lambda: f64) {
    let solution = train(&weighted, &precisely(lambda)).unwrap();
    assert_certified(&weighted, &solution);
    let blocks: Vec<Block> = repeated(&solution.dual.blocks, counts);
    let mut copied = solution.clone();
    copied.dual = DualPoint { blocks };
    let (found, stated) = (audit_of(&copies, &copied), solution.certificate);
    assert_eq!(found.infeasible, None);
    assert_close(found.certificate.primal, stated.primal, 1e-10, stated.primal);
    assert_close(found.certificate.dual, stated.dual, 1e-10, stated.primal);
    let largest = solution.weights.iter().fold(1.0f64, |most, w| most.max(w.abs()));
    assert!(found.weight_residual <= 1e-10 * largest, "{}", found.weight_residual);
    // A run with copies may find other dual variables, but the optimum is the same.
    let own = train(&copies, &precisely(lambda)).unwrap().certificate;
    let optimum = crate::common::qp::Optimum { below: own.dual, above: own.primal };
    assert_encloses(&stated, &optimum);
}

fn in_bounds<P: Problem>(problems: [P; 2], bounds: &Bounds) -> [Bounded<P>; 2] {
    problems.map(|problem| Bounded::new(problem, bounds.clone()))
}

fn in_no_bounds<P: Problem>(problems: [P; 2]) -> [Bounded<P>; 2] {
    let bounds = Bounds::none(problems[0].dim());
    in_bounds(problems, &bounds)
}

fn with_slack<P: Enumerable>(problems: [P; 2]) -> [SlackRescaled<P>; 2] {
    problems.map(SlackRescaled::new)
}

proptest! {
    #![proptest_config(cases(12))]

    #[test]
    fn weights_of_rows_count_like_copies(
        (case, bounds) in any_rows(2..=3).prop_flat_map(|case| {
            let d = case.multiclass().dim();
            (Just(case), any_bounds(d))
        }),
        counts in vec(1..4u8, 8), gamma in 0.1..2.0f64, lambda in 0.2..2.0f64
    ) {
        let cases = both_rows(case, &counts);
        let plain = || cases.each_ref().map(RowsCase::multiclass);
        let kernel = |case: &RowsCase| {
            Kernelised::new(case.multiclass(), Kernel::Rbf { gamma }, 1 << 20).unwrap()
        };
        let kernelised = || cases.each_ref().map(kernel);
        hold(plain(), &counts, lambda);
        hold(in_bounds(plain(), &bounds), &counts, lambda);
        hold(with_slack(plain()), &counts, lambda);
        hold(in_bounds(with_slack(plain()), &bounds), &counts, lambda);
        hold(kernelised(), &counts, lambda);
        hold(in_no_bounds(kernelised()), &counts, lambda);
    }

    #[test]
    fn weights_of_chains_count_like_copies(
        (case, bounds) in tieless_chain().prop_flat_map(|case| {
            let d = case.dim();
            (Just(case), any_bounds(d))
        }),
        counts in vec(1..4u8, 4), gamma in 0.1..2.0f64, lambda in 0.2..2.0f64
    ) {
        let cases = both_chains(case, &counts);
        let plain = || cases.each_ref().map(ChainCase::build);
        let kernel = |case: &ChainCase| Kernelised::new(case.build(), Kernel::Rbf { gamma }, 0).unwrap();
        let kernelised = || cases.each_ref().map(kernel);
        hold(in_bounds(plain(), &bounds), &counts, lambda);
        hold(with_slack(plain()), &counts, lambda);
        hold(in_bounds(with_slack(plain()), &bounds), &counts, lambda);
        hold(kernelised(), &counts, lambda);
        hold(in_no_bounds(kernelised()), &counts, lambda);
    }

    #[test]
    fn weights_of_sets_count_like_copies(
        mut case in any_labels(), counts in vec(1..4u8, 4), lambda in 0.2..2.0f64
    ) {
        case.rows.iter_mut().for_each(|row| row.2 = 1.0);
        let mut copies = case.clone();
        copies.rows = repeated(&case.rows, &counts);
        case.rows.iter_mut().zip(counts.iter().cycle()).for_each(|(row, &n)| row.2 = n.into());
        let plain = || [&case, &copies].map(|case| case.build(Inference::Auto));
        let kernelised = || plain().map(|p| Kernelised::new(p, Kernel::Rbf { gamma: 0.5 }, 0).unwrap());
        hold(with_slack(plain()), &counts, lambda);
        hold(kernelised(), &counts, lambda);
        hold(in_no_bounds(kernelised()), &counts, lambda);
    }
}
