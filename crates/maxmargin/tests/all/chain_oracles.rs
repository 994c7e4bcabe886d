//! The oracles of chains find the best of all labellings.

use crate::common;
use crate::common::chains::{CaseSequence, CaseToken, ChainCase, any_chain};
use crate::common::{assert_close, cases};
use maxmargin::ProblemExt as _;
use maxmargin::inference::viterbi;
use maxmargin::model::chain::{ChainScores, FeatureGroups, Hamming};
use maxmargin::{Problem, Rng};
use proptest::prelude::*;

/// Weights of several kinds: real, zero, small integers (with many ties), huge.
fn weights(kind: usize, dim: usize, seed: u64) -> Vec<f64> {
    let mut rng = Rng::new(seed);
    let mut draw = || match kind {
        0 => 4.0 * rng.unit_f64() - 2.0,
        1 => 0.0,
        2 => rng.below(3) as f64 - 1.0,
        _ => 1e12 * (2.0 * rng.unit_f64() - 1.0),
    };
    (0..dim).map(|_| draw()).collect()
}

/// The size of the terms of a score, which rounding is relative to.
fn magnitude(case: &ChainCase, i: usize, w: &[f64]) -> f64 {
    let largest = w.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    let tokens = &case.sequences[i].tokens;
    let values = |t: &CaseToken| t.attributes.iter().map(|(_, v)| v.abs()).sum::<f64>();
    1.0 + largest * tokens.iter().map(|t| 4.0 + values(t)).sum::<f64>()
}

/// Checks oracle and decoding of example `i` against the given maxima of H and of the score.
fn check_oracles(case: &ChainCase, i: usize, w: &[f64], best_h: f64, best_score: f64) {
    let chain = case.build();
    let mut workspace = chain.workspace();
    let scale = magnitude(case, i, w);
    let mut y = Vec::new();

    chain.prepare(i, w, &mut workspace);
    chain.oracle(i, w, &mut workspace, &mut y);
    assert_eq!(y.len(), case.sequences[i].tokens.len());
    assert_close(case.augmented(i, &y, w), best_h, 1e-12, scale);

    // The oracle leaves the tables as they were, so decoding needs no second preparation.
    chain.decode(i, w, &mut workspace, &mut y);
    assert_close(common::dot(w, &case.phi(i, &y)), best_score, 1e-12, scale);
    let kept = y.clone();
    chain.prepare(i, w, &mut workspace);
    chain.decode(i, w, &mut workspace, &mut y);
    assert_eq!(kept, y);

    let (mut scores, mut path) = (ChainScores::default(), Vec::new());
    scores.fill(chain.shape(), w, chain.data().sequence(i));
    let score = scores.decode(chain.shape(), w, &mut path);
    assert_eq!(path, y);
    assert_close(score, best_score, 1e-12, scale);
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn oracles_find_the_best_of_all_labellings(
        case in any_chain(), seed in any::<u64>(), kind in 0usize..4
    ) {
        let w = weights(kind, case.dim(), seed);
        for i in 0..case.sequences.len() {
            let all = case.labellings(i);
            let best = |value: &dyn Fn(&[u32]) -> f64| {
                all.iter().map(|y| value(y)).fold(f64::NEG_INFINITY, f64::max)
            };
            let best_h = best(&|y| case.augmented(i, y, &w));
            let best_score = best(&|y| common::dot(&w, &case.phi(i, y)));
            check_oracles(&case, i, &w, best_h, best_score);
        }
    }

    #[test]
    fn ties_go_to_the_smaller_label_from_the_back(case in any_chain(), seed in any::<u64>()) {
        // Integer weights and values make every sum exact, so ties are exact too.
        let mut case = case;
        case.loss = Hamming { normalised: false, label_weights: Vec::new() };
        case.scale = case.scale.ceil();
        for token in case.sequences.iter_mut().flat_map(|s| &mut s.tokens) {
            token.attributes.iter_mut().for_each(|(_, value)| *value = value.round());
            token.cost = token.cost.round();
        }
        let w = weights(2, case.dim(), seed);
        let chain = case.build();
        let (mut workspace, mut y) = (chain.workspace(), Vec::new());
        for i in 0..case.sequences.len() {
            let all = case.labellings(i);
            let best = all.iter().map(|y| case.augmented(i, y, &w)).fold(f64::MIN, f64::max);
            let first = all.iter().find(|y| case.augmented(i, y, &w) == best).unwrap();
            chain.prepare(i, &w, &mut workspace);
            chain.oracle(i, &w, &mut workspace, &mut y);
            prop_assert_eq!(&y, first);
        }
    }

    #[test]
    fn viterbi_is_the_textbook_recursion(
        labels in 1usize..40, length in 1usize..12, seed in any::<u64>(), edges in any::<bool>()
    ) {
        let mut rng = Rng::new(seed);
        let mut draw = |count: usize| -> Vec<f64> { (0..count).map(|_| rng.unit_f64()).collect() };
        let scores = draw(labels * length);
        let transitions = draw(if edges { labels * labels } else { 0 });
        let (mut forward, mut path) = (vec![7.0; 3], vec![9; 50]);
        let score = viterbi(&scores, &transitions, labels, &mut forward, &mut path);
        assert_close(score, textbook(&scores, &transitions, labels), 1e-12, length as f64);
        assert_close(score, path_score(&scores, &transitions, labels, &path), 1e-12, length as f64);
    }
}

/// The best score by the plain forward recursion.
fn textbook(scores: &[f64], transitions: &[f64], labels: usize) -> f64 {
    let edge = |a: usize, b: usize| transitions.get(a * labels + b).copied().unwrap_or(0.0);
    let mut best: Vec<f64> = scores[..labels].to_vec();
    for row in scores.chunks_exact(labels).skip(1) {
        let next = |b: usize| {
            let through = (0..labels).map(|a| best[a] + edge(a, b));
            row[b] + through.fold(f64::NEG_INFINITY, f64::max)
        };
        best = (0..labels).map(next).collect();
    }
    best.into_iter().fold(f64::NEG_INFINITY, f64::max)
}

fn path_score(scores: &[f64], transitions: &[f64], labels: usize, path: &[u32]) -> f64 {
    assert_eq!(path.len() * labels, scores.len());
    let edge =
        |a: u32, b: u32| transitions.get(a as usize * labels + b as usize).copied().unwrap_or(0.0);
    let nodes: f64 = path.iter().enumerate().map(|(t, &y)| scores[t * labels + y as usize]).sum();
    nodes + path.windows(2).map(|pair| edge(pair[0], pair[1])).sum::<f64>()
}

/// A chain with many labels, one long sequence and one short one.
fn large(labels: usize, length: usize, transition: bool, seed: u64) -> ChainCase {
    let (mut rng, attributes) = (Rng::new(seed), 5);
    let mut sequence = |length: usize| {
        let tokens = (0..length).map(|_| CaseToken {
            attributes: (0..rng.below(4))
                .map(|_| (rng.below(attributes) as u32, 2.0 * rng.unit_f64() - 1.0))
                .collect(),
            label: rng.below(labels) as u32,
            cost: 1.0,
        });
        CaseSequence { weight: 1.0, tokens: tokens.collect() }
    };
    let sequences = vec![sequence(length), sequence(1)];
    let groups = FeatureGroups { transition, ..FeatureGroups::default() };
    ChainCase { labels, attributes, groups, scale: 1.0, loss: Hamming::default(), sequences }
}

#[test]
fn oracles_with_many_labels_find_what_the_textbook_finds() {
    for (labels, length) in [(8, 9), (9, 5), (13, 6), (16, 4), (26, 8), (31, 5), (300, 6), (3, 200)]
    {
        for transition in [true, false] {
            let case = large(labels, length, transition, labels as u64);
            for kind in 0..4 {
                let w = weights(kind, case.dim(), 5 + kind as u64);
                let [_, from, to, ..] = case.offsets();
                for i in 0..2 {
                    let (nodes, augmented) = node_scores(&case, i, &w);
                    let truth = common::dot(&w, &case.phi(i, &case.truth(i)));
                    let best_h = textbook(&augmented, &w[from..to], labels) - truth;
                    let best_score = textbook(&nodes, &w[from..to], labels);
                    check_oracles(&case, i, &w, best_h, best_score);
                }
            }
        }
    }
}

/// Node scores without and with the loss.
fn node_scores(case: &ChainCase, i: usize, w: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let [emission, _, bias, first, last, _] = case.offsets();
    let (k, g, tokens) = (case.labels, &case.groups, &case.sequences[i].tokens);
    let (mut nodes, mut augmented) = (Vec::new(), Vec::new());
    for (t, token) in tokens.iter().enumerate() {
        for y in 0..k {
            let emissions =
                token.attributes.iter().map(|&(a, v)| v * w[emission + a as usize * k + y]);
            let mut score = if g.emission { emissions.sum() } else { 0.0 };
            score += if g.bias { w[bias + y] } else { 0.0 };
            score += if g.first && t == 0 { w[first + y] } else { 0.0 };
            score += if g.last && t + 1 == tokens.len() { w[last + y] } else { 0.0 };
            nodes.push(score);
            let mut labelling = case.truth(i);
            labelling[t] = y as u32;
            augmented.push(score + case.loss(i, &labelling));
        }
    }
    (nodes, augmented)
}
