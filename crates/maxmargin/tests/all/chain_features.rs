//! Losses, features and parts of chains agree with the dense joint feature map.

use crate::common::chains::{CaseSequence, CaseToken, ChainCase, any_chain};
use crate::common::{assert_all_close, assert_close, cases, dot, norm_sq};
use maxmargin::ProblemExt as _;
use maxmargin::model::chain::{Chain, FeatureGroups, Hamming, Sequences};
use maxmargin::{Problem, Rng, SparseVec};
use proptest::prelude::*;

fn random_labelling(case: &ChainCase, i: usize, rng: &mut Rng) -> Vec<u32> {
    case.sequences[i].tokens.iter().map(|_| rng.below(case.labels) as u32).collect()
}

/// A part vector that is a random combination of labellings, with the combination.
fn random_parts(
    case: &ChainCase,
    chain: &Chain,
    i: usize,
    rng: &mut Rng,
) -> (SparseVec, Vec<(f64, Vec<u32>)>) {
    let mut sum = SparseVec::new();
    let mut terms = Vec::new();
    for _ in 0..1 + rng.below(4) {
        let (factor, y) = (2.0 * rng.unit_f64() - 1.0, random_labelling(case, i, rng));
        let mut parts = SparseVec::new();
        chain.parts(i, &y, &mut parts);
        assert!(parts.is_normalised());
        sum.add_scaled(factor, &parts);
        terms.push((factor, y));
    }
    (sum, terms)
}

/// Checks all methods about features that the engine uses, for every example of a chain.
fn check_features(case: &ChainCase, seed: u64) {
    let (chain, mut rng) = (case.build(), Rng::new(seed));
    assert_eq!((chain.examples(), chain.dim()), (case.sequences.len(), case.dim()));
    let w: Vec<f64> = (0..case.dim()).map(|_| 2.0 * rng.unit_f64() - 1.0).collect();
    let (mut workspace, mut partial) = (chain.workspace(), chain.workspace());
    let total: f64 = case.sequences.iter().map(|s| s.weight).sum();
    assert_close(chain.total_weight(), total, 1e-14, total);
    // Twice, so that each call finds the workspace of another example.
    for i in (0..case.sequences.len()).chain(0..case.sequences.len()) {
        assert_eq!(chain.weight(i), case.sequences[i].weight);
        let y = random_labelling(case, i, &mut rng);
        assert_close(chain.loss(i, &y), case.loss(i, &y), 1e-13, 1.0);
        assert_eq!(chain.loss(i, &case.truth(i)), 0.0);

        let mut psi = SparseVec::new();
        chain.psi(i, &y, &mut psi);
        psi.normalise();
        assert_all_close(&dense(&psi, case.dim()), &case.psi(i, &y), 1e-12);

        let mut truth = SparseVec::new();
        chain.truth_parts(i, &mut truth);
        let mut same = SparseVec::new();
        chain.parts(i, &case.truth(i), &mut same);
        assert_eq!(truth, same);

        let (parts, terms) = random_parts(case, &chain, i, &mut rng);
        let features = case.combine(i, &terms);
        chain.prepare(i, &w, &mut workspace);
        let scale = case.sequences[i].tokens.len() as f64;
        let score = chain.score(i, &w, &workspace, &parts);
        assert_close(score, dot(&w, &features), 1e-12, scale);
        // Preparing some positions gives the same scores as preparing all.
        let (other, _) = random_parts(case, &chain, i, &mut rng);
        let mut difference = SparseVec::new();
        difference.assign_difference(&other, &truth);
        for (points, parts) in
            [([&parts, &other], &parts), ([&difference, &difference], &difference)]
        {
            chain.prepare_scores(i, &w, &mut partial, &points.map(SparseVec::clone));
            let found = chain.score(i, &w, &partial, parts);
            assert_eq!(found, chain.score(i, &w, &workspace, parts));
        }
        let length = norm_sq(&features);
        let found = chain.norm_sq(i, &mut workspace, &parts);
        assert_close(found, length, 1e-12, length.max(scale));
        let mut scattered = vec![0.0; case.dim()];
        chain.scatter(i, -3.0, &parts, scattered.as_mut_slice().into());
        let expected: Vec<f64> = features.iter().map(|x| -3.0 * x).collect();
        assert_all_close(&scattered, &expected, 1e-12);
    }
}

fn dense(v: &SparseVec, dim: usize) -> Vec<f64> {
    let mut dense = vec![0.0; dim];
    v.entries().iter().for_each(|&(at, value)| dense[at as usize] += value);
    dense
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn a_chain_agrees_with_its_formula(case in any_chain(), seed in any::<u64>()) {
        check_features(&case, seed);
    }
}

fn long_case(labels: usize, lengths: &[usize], groups: FeatureGroups, ones: bool) -> ChainCase {
    let (mut rng, attributes) = (Rng::new(labels as u64), 6);
    let mut token = || CaseToken {
        attributes: (0..rng.below(3))
            .map(|_| {
                let value = if ones { 1.0 } else { 2.0 * rng.unit_f64() - 1.0 };
                (rng.below(attributes) as u32, value)
            })
            .collect(),
        label: rng.below(labels) as u32,
        cost: 1.0,
    };
    let mut sequence =
        |length| CaseSequence { weight: 0.5, tokens: (0..length).map(|_| token()).collect() };
    let sequences = lengths.iter().map(|&length| sequence(length)).collect();
    ChainCase { labels, attributes, groups, scale: 1.5, loss: Hamming::default(), sequences }
}

/// Sequences of 200 tokens have no table of inner products, sequences of 2 tokens do. Both use one
/// workspace.
#[test]
fn long_and_short_sequences_agree_with_the_formula() {
    for bits in 0..32u32 {
        let on = |bit: u32| bits >> bit & 1 == 1;
        let groups = FeatureGroups {
            emission: on(0),
            transition: on(1),
            bias: on(2),
            first: on(3),
            last: on(4),
        };
        if bits != 0 {
            check_features(&long_case(3, &[200, 2, 200, 1], groups, bits % 3 == 0), bits.into());
        }
    }
}

/// With more than 256 labels, edges are added up in another way, and node scores are added in groups.
#[test]
fn many_labels_agree_with_the_formula() {
    for labels in [8, 13, 64, 256, 257, 300] {
        check_features(&long_case(labels, &[6, 60, 1], FeatureGroups::default(), false), 1);
    }
}

/// `Sequences::default()` is the same as `Sequences::new()`.
#[test]
fn default_sequences_are_usable() {
    let (mut made, mut default) = (Sequences::new(), Sequences::default());
    for data in [&mut made, &mut default] {
        data.push_token([(0, 1.0)], 1).unwrap();
        data.push_token([(1, 2.0)], 0).unwrap();
        data.end_sequence(1.0).unwrap();
    }
    assert_eq!((made.len(), made.tokens()), (1, 2));
    assert_eq!((default.len(), default.tokens()), (1, 2), "Sequences::default() loses tokens");
    assert_eq!(made, default);
}
