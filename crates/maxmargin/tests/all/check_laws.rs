//! The check of the laws: every model keeps them, and every mistake breaks the right one.

use crate::bounds::any_bounds;
use crate::common::broken::{Broken, Mistake};
use crate::common::cases;
use crate::common::chains::{any_chain, tieless_chain};
use crate::common::factor_graphs::{any_binary_graphs, any_forests, any_graphs, frustrated_graphs};
use crate::common::matchings::any_matchings;
use crate::common::multilabels::any_labels;
use crate::common::potts::any_potts;
use crate::common::problems::{
    Careless, Enumerated, EnumeratedBlock, Stubborn, any_multiclass, any_polytope,
};
use crate::common::rows::any_rows;
use crate::common::segments::any_segments;
use crate::common::trees::any_tree;
use crate::kernels;
use crate::soft::soft;
use maxmargin::inference::Inference;
use maxmargin::kernel::{Kernel, Kernelised};
use maxmargin::model::chain::{Chain, ChainShape, Hamming, Sequences};
use maxmargin::model::potts::PottsInference;
use maxmargin::problem::{
    BrokenLaw, CheckOptions, Law, check, check_enumerable, check_with_outputs,
};
use maxmargin::{Bounded, Enumerable, Problem, Quality, SlackRescaled};
use proptest::prelude::*;

/// All broken laws except `only-truth`, because examples of small random problems may have a single
/// output.
fn wrong(broken: Vec<BrokenLaw>) -> Vec<BrokenLaw> {
    broken.into_iter().filter(|broken| broken.law != Law::OnlyTruth).collect()
}

#[track_caller]
fn assert_lawful<P: Problem>(problem: &P, seed: u64) {
    let options = CheckOptions { seed, ..CheckOptions::default() };
    assert_eq!(wrong(check(problem, &options)), []);
}

#[track_caller]
fn assert_lawful_throughout<P: Enumerable>(problem: &P, seed: u64) {
    let options = CheckOptions { seed, weights: 3, ..CheckOptions::default() };
    assert_eq!(check_enumerable(problem, &options), []);
    assert_lawful(problem, seed);
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn chains_keep_the_laws(case in any_chain(), seed in any::<u64>()) {
        assert_lawful(&case.build(), seed);
    }

    #[test]
    fn short_chains_find_the_maximum(case in tieless_chain(), seed in any::<u64>()) {
        assert_lawful_throughout(&case.build(), seed);
        assert_lawful(&SlackRescaled::new(case.build()), seed);
    }

    #[test]
    fn rows_keep_the_laws(case in any_rows(2..=4), seed in any::<u64>()) {
        assert_lawful_throughout(&case.multiclass(), seed);
        assert_lawful_throughout(&case.binary(), seed);
        assert_lawful(&SlackRescaled::new(case.multiclass()), seed);
        assert_lawful(&SlackRescaled::new(case.binary()), seed);
    }

    #[test]
    fn sets_of_labels_keep_the_laws(case in any_labels(), seed in any::<u64>()) {
        for inference in [Inference::Auto, Inference::Enumerate, Inference::Lp] {
            assert_lawful(&case.build(inference), seed);
        }
        assert_lawful_throughout(&case.build(Inference::Auto), seed);
        assert_lawful(&SlackRescaled::new(case.build(Inference::Auto)), seed);
    }

    #[test]
    fn factor_graphs_keep_the_laws(
        (any, forest) in (any_graphs(), any_forests()),
        (binary, frustrated) in (any_binary_graphs(), frustrated_graphs()),
        seed in any::<u64>()
    ) {
        for case in [&any, &forest, &binary, &frustrated] {
            for inference in [Inference::Auto, Inference::Enumerate, Inference::Lp] {
                assert_lawful(&case.build(inference), seed);
            }
            assert_lawful(&case.build(Inference::MaxProduct), seed);
            assert_lawful_throughout(&case.build(Inference::Enumerate), seed);
        }
        for case in [binary, frustrated] {
            assert_lawful(&case.build(Inference::RoofDuality), seed);
        }
    }

    #[test]
    fn soft_constraints_keep_the_laws(case in any_graphs(), seed in any::<u64>()) {
        assert_lawful(&soft(&case, 0.5, 0.25), seed);
    }

    #[test]
    fn labelled_graphs_keep_the_laws(
        binary in any_potts(2..=2), several in any_potts(3..=3), seed in any::<u64>()
    ) {
        assert_lawful(&binary.build(PottsInference::MaxFlow), seed);
        assert_lawful(&binary.build(PottsInference::RoofDuality), seed);
        assert_lawful(&several.build(PottsInference::Expansion), seed);
        assert_lawful(&several.build(PottsInference::Lp), seed);
    }

    #[test]
    fn trees_keep_the_laws(case in any_tree(3, 4), seed in any::<u64>()) {
        assert_lawful(&case.build(), seed);
    }

    #[test]
    fn matchings_keep_the_laws(case in any_matchings(), seed in any::<u64>()) {
        assert_lawful(&case.build(), seed);
    }

    #[test]
    fn segments_keep_the_laws(case in any_segments(4), seed in any::<u64>()) {
        assert_lawful(&case.build(), seed);
    }

    #[test]
    fn kernels_keep_the_laws(seed in any::<u64>()) {
        let plain = kernels::same;
        let chain = kernels::chain(seed, plain, kernels::ATTRIBUTES);
        let rows = |many| kernels::rows(seed, many, plain);
        for kernel in [Kernel::Linear, Kernel::Rbf { gamma: 0.7 }] {
            let bytes = kernels::MEGABYTE;
            let chain = Kernelised::new(chain.clone(), kernel, bytes).unwrap();
            assert_lawful(&chain, seed);
            let classes = kernels::multiclass(rows(false), kernels::ATTRIBUTES);
            assert_lawful(&Kernelised::new(classes, kernel, bytes).unwrap(), seed);
            let sets = kernels::multilabel(rows(true), kernels::ATTRIBUTES);
            assert_lawful(&Kernelised::new(sets, kernel, bytes).unwrap(), seed);
        }
    }

    #[test]
    fn weights_in_bounds_keep_the_laws(
        (problem, bounds) in any_multiclass(2..=3).prop_flat_map(|problem| {
            let dim = problem.dim();
            (Just(problem), any_bounds(dim))
        }),
        seed in any::<u64>()
    ) {
        assert_lawful(&Bounded::new(problem, bounds), seed);
    }

    #[test]
    fn problems_without_parts_keep_the_laws(problem in any_polytope(), seed in any::<u64>()) {
        assert_lawful(&problem, seed);
        // A heuristic promises nothing about values.
        assert_lawful(&Careless(problem), seed);
    }
}

/// Two sentences over three labels.
fn sentences() -> Chain {
    let mut data = Sequences::new();
    for (words, labels) in [([3, 1, 2], [0, 1, 2]), ([0, 1, 3], [2, 1, 0])] {
        for (word, label) in words.into_iter().zip(labels) {
            data.push_token([(word, 1.5)], label).unwrap();
        }
        data.end_sequence(1.0).unwrap();
    }
    Chain::new(ChainShape::new(3, 4), data, &Hamming::default()).unwrap()
}

/// The laws that a chain with a mistake breaks.
fn broken_by(mistake: Mistake) -> Vec<Law> {
    let broken = check(&Broken::new(sentences(), mistake), &CheckOptions::default());
    broken.iter().map(|broken| broken.law).collect()
}

#[test]
fn every_mistake_breaks_its_law() {
    let table = [
        (Mistake::Scatter, Law::Scatter),
        (Mistake::NormSq, Law::NormSq),
        (Mistake::Score, Law::Score),
        (Mistake::Unsorted, Law::Normalised),
        (Mistake::Coordinates, Law::Coordinates),
        (Mistake::TruthLoss, Law::TruthLoss),
        (Mistake::TruthFeatures, Law::TruthFeatures),
        (Mistake::NegativeLoss, Law::Loss),
        (Mistake::Nan, Law::Finite),
        (Mistake::AlwaysTruth, Law::Oracle),
        (Mistake::OnlyTruth, Law::OnlyTruth),
        (Mistake::ForgetsTheLoss, Law::Oracle),
        (Mistake::Minimises, Law::Oracle),
        (Mistake::WrongSign, Law::Oracle),
        (Mistake::Moody, Law::Repeatable),
        (Mistake::Decode, Law::Decode),
        (Mistake::PreparedScores, Law::PreparedScores),
        (Mistake::OracleWithLoss, Law::OracleWithLoss),
    ];
    for (mistake, law) in table {
        let broken = broken_by(mistake);
        assert!(broken.contains(&law), "{mistake:?} breaks {broken:?}");
    }
    assert_eq!(broken_by(Mistake::None), []);
}

/// A mistake in one place is not reported as one in another place.
#[test]
fn most_mistakes_break_a_single_law() {
    let single = [
        (Mistake::Scatter, Law::Scatter),
        (Mistake::NormSq, Law::NormSq),
        (Mistake::Score, Law::Score),
        (Mistake::AlwaysTruth, Law::Oracle),
        (Mistake::ForgetsTheLoss, Law::Oracle),
        (Mistake::Minimises, Law::Oracle),
        (Mistake::Decode, Law::Decode),
        (Mistake::PreparedScores, Law::PreparedScores),
        (Mistake::OracleWithLoss, Law::OracleWithLoss),
    ];
    for (mistake, law) in single {
        assert_eq!(broken_by(mistake), [law], "{mistake:?}");
    }
}

#[test]
fn messages_guess_the_cause() {
    let message = |mistake| {
        let broken = check(&Broken::new(sentences(), mistake), &CheckOptions::default());
        broken.iter().find(|broken| broken.law == Law::Oracle).unwrap().to_string()
    };
    let truth = message(Mistake::AlwaysTruth);
    assert!(truth.contains("; every answer of the oracle was the truth"), "{truth}");
    assert!(message(Mistake::Minimises).contains("does the oracle minimise?"));
    assert!(message(Mistake::ForgetsTheLoss).contains("does the oracle forget the loss?"));
    assert!(!message(Mistake::WrongSign).contains('?'));
}

#[test]
fn outputs_missing_from_an_enumeration_are_found() {
    let check = |mistake| {
        let broken = Broken::new(sentences(), mistake);
        let broken = check_enumerable(&broken, &CheckOptions::default());
        broken.into_iter().map(|broken| broken.law).collect::<Vec<_>>()
    };
    assert_eq!(check(Mistake::Enumeration), [Law::Enumeration]);
    assert_eq!(check(Mistake::None), []);
}

/// An oracle that ignores one of three classes is found only if the caller passes this class.
#[test]
fn further_outputs_reveal_what_the_oracle_misses() {
    let block = |loss: f64| EnumeratedBlock {
        weight: 1.0,
        corners: vec![(vec![0.0], 0.0), (vec![1.0], 1.0), (vec![0.5], loss)],
    };
    let problem = Stubborn(Enumerated { dim: 1, blocks: vec![block(3.0), block(0.5)] });
    let options = CheckOptions { weights: 0, ..CheckOptions::default() };
    assert_eq!(check(&problem, &options), []);
    let broken = check_with_outputs(&problem, &options, |_| vec![1, 2]);
    assert_eq!(broken.len(), 1);
    assert_eq!((broken[0].law, broken[0].example, broken[0].examples), (Law::Oracle, 0, 1));
    assert!(broken[0].message.ends_with("= 1, but an output that was given has 3"), "{broken:?}");
}

#[test]
fn a_heuristic_may_return_anything_but_its_parts_must_agree() {
    let laws = |mistake| {
        let mut problem = Broken::new(sentences(), mistake);
        problem.quality = Quality::Heuristic;
        let broken = check(&problem, &CheckOptions::default());
        broken.into_iter().map(|broken| broken.law).collect::<Vec<_>>()
    };
    for mistake in [Mistake::AlwaysTruth, Mistake::Minimises, Mistake::OnlyTruth, Mistake::Decode] {
        assert_eq!(laws(mistake), [], "{mistake:?}");
    }
    assert_eq!(laws(Mistake::Scatter), [Law::Scatter]);
}

#[test]
fn an_upper_bound_must_not_be_below_what_is_known() {
    let mut problem = Broken::new(sentences(), Mistake::ForgetsTheLoss);
    problem.quality = Quality::UpperBound;
    let broken = check(&problem, &CheckOptions::default());
    assert_eq!(broken.iter().map(|broken| broken.law).collect::<Vec<_>>(), [Law::Oracle]);
}

#[test]
fn checks_are_repeatable() {
    let problem = Broken::new(sentences(), Mistake::ForgetsTheLoss);
    let options = CheckOptions::default();
    assert_eq!(check(&problem, &options), check(&problem, &options));
}

#[test]
fn problems_without_examples_break_nothing() {
    let none = Enumerated { dim: 2, blocks: Vec::new() };
    assert_eq!(check(&none, &CheckOptions::default()), []);
}

proptest! {
    #![proptest_config(cases(48))]

    /// Mistakes of the oracle are found even with few examples of any kind.
    #[test]
    fn mistakes_of_oracles_are_found_in_real_structures(
        case in tieless_chain(), seed in any::<u64>()
    ) {
        let options = CheckOptions { seed, ..CheckOptions::default() };
        for mistake in [Mistake::AlwaysTruth, Mistake::ForgetsTheLoss, Mistake::Minimises] {
            let broken = check(&Broken::new(case.build(), mistake), &options);
            prop_assert!(broken.iter().any(|b| b.law == Law::Oracle), "{mistake:?}: {broken:?}");
        }
    }
}
