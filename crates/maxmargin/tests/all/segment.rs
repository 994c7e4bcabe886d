//! Semi-Markov chains: parts, oracles and feasibility, against all ways to cut a sequence.

use crate::common::graphs::{KINDS, magnitude, numbers};
use crate::common::problems::ViaPsi;
use crate::common::segments::any_segments;
use crate::common::{
    add_scaled, assert_all_close, assert_certified, assert_close, bcfw, cases, dot, minus, norm_sq,
    qp,
};
use maxmargin::ProblemExt as _;
use maxmargin::model::InputError;
use maxmargin::model::segment::{Segment, SegmentChain, SegmentShape, Segmentations};
use maxmargin::{
    Direction, PointCheck, Problem, Rng, Settings, SettingsRecord, Solver, SparseVec, train,
};
use proptest::prelude::*;

proptest! {
    #![proptest_config(cases(128))]

    #[test]
    fn oracles_find_the_best(case in any_segments(5), kind in KINDS, seed in any::<u64>()) {
        let problem = case.build();
        let w = numbers(kind, problem.dim(), seed);
        let scale = magnitude(&w) * 60.0 + 5.0;
        let mut workspace = problem.workspace();
        for i in 0..case.sequences.len() {
            let outputs = case.outputs(i);
            let most = |value: &dyn Fn(&[Segment]) -> f64| {
                outputs.iter().map(|y| value(y)).fold(f64::NEG_INFINITY, f64::max)
            };
            let mut y = vec![Segment::default(); 9]; // what was before does not matter
            problem.prepare(i, &w, &mut workspace);
            problem.oracle(i, &w, &mut workspace, &mut y);
            prop_assert!(outputs.contains(&y));
            assert_close(case.augmented(i, &y, &w), most(&|y| case.augmented(i, y, &w)), 1e-13, scale);
            problem.decode(i, &w, &mut workspace, &mut y);
            prop_assert!(outputs.contains(&y));
            let score = |y: &[Segment]| dot(&w, &case.phi(i, y));
            assert_close(score(&y), most(&score), 1e-13, scale);
        }
    }

    #[test]
    fn max_marginals_are_those_of_all_outputs(case in any_segments(5), kind in KINDS, seed in any::<u64>()) {
        let problem = case.build();
        let w = numbers(kind, problem.dim(), seed);
        let scale = magnitude(&w) * 60.0 + 5.0;
        let mut workspace = problem.workspace();
        for (i, sequence) in case.sequences.iter().enumerate() {
            problem.prepare(i, &w, &mut workspace);
            let labels = case.shape.labels;
            let mut best = vec![f64::NEG_INFINITY; sequence.tokens.len() * labels];
            for y in case.outputs(i) {
                let score = dot(&w, &case.phi(i, &y));
                let tokens = y.iter().flat_map(|s| vec![s.label as usize; s.length as usize]);
                for (t, label) in tokens.enumerate() {
                    best[t * labels + label] = best[t * labels + label].max(score);
                }
            }
            let found = problem.max_marginals(i, &mut workspace);
            prop_assert_eq!(found.len(), best.len());
            for (found, best) in found.iter().zip(&best) {
                assert_close(*found, *best, 1e-13, scale);
            }
        }
    }

    #[test]
    fn parts_stand_for_features(
        case in any_segments(5), kind in KINDS, seed in any::<u64>(), mix in -1.0..1.0f64
    ) {
        let problem = case.build();
        let w = numbers(kind, problem.dim(), seed);
        let (mut workspace, mut rng) = (problem.workspace(), Rng::new(seed));
        for i in 0..case.sequences.len() {
            let outputs = case.outputs(i);
            let (a, b) = (&outputs[rng.below(outputs.len())], &outputs[rng.below(outputs.len())]);
            problem.prepare(i, &w, &mut workspace);
            let (mut parts, mut other) = (SparseVec::new(), SparseVec::new());
            problem.parts(i, a, &mut parts);
            problem.parts(i, b, &mut other);
            prop_assert!(parts.is_normalised());
            parts.add_scaled(mix, &other);
            let mut phi = case.phi(i, a);
            add_scaled(&mut phi, mix, &case.phi(i, b));
            let scale = magnitude(&w) * 60.0;
            assert_close(problem.score(i, &w, &workspace, &parts), dot(&w, &phi), 1e-13, scale);
            for _ in 0..2 { // the scratch memory is clean afterwards
                assert_close(problem.norm_sq(i, &mut workspace, &parts), norm_sq(&phi), 1e-12, 1.0 + norm_sq(&phi));
            }
            let mut sink = vec![0.0; problem.dim()];
            problem.scatter(i, 1.0, &parts, sink.as_mut_slice().into());
            assert_all_close(&sink, &phi, 1e-12);
            assert_close(problem.loss(i, a), case.loss(i, a), 1e-13, 5.0);
            let mut psi = SparseVec::new();
            problem.psi(i, a, &mut psi);
            let mut sink = vec![0.0; problem.dim()];
            psi.entries().iter().for_each(|&(at, value)| sink[at as usize] += value);
            assert_all_close(&sink, &minus(&case.phi(i, &case.sequences[i].truth), &case.phi(i, a)), 1e-12);
        }
    }

    /// Mixtures of outputs are accepted. Points that a linear functional separates from all outputs are not.
    #[test]
    fn feasibility_is_exact(case in any_segments(4), seed in any::<u64>(), change in -0.5..0.5f64) {
        let problem = case.build();
        let mut rng = Rng::new(seed);
        for i in 0..case.sequences.len() {
            let outputs = case.outputs(i);
            let (mut masses, mut loss, mut rest) = (SparseVec::new(), 0.0, 1.0);
            for left in (0..3).rev() {
                let y = &outputs[rng.below(outputs.len())];
                let share = if left == 0 { rest } else { rest * rng.unit_f64() };
                let mut parts = SparseVec::new();
                problem.parts(i, y, &mut parts);
                masses.add_scaled(share, &parts);
                loss += share * case.loss(i, y);
                rest -= share;
            }
            prop_assert_eq!(problem.check_point(i, &masses, loss, 1e-12), Ok(PointCheck::Feasible));
            prop_assert!(problem.check_point(i, &masses, loss + 0.1, 1e-12).is_err());
            // Another mass on one part breaks some law, and so does a part that does not exist.
            let (id, _) = masses.entries()[rng.below(masses.entries().len())];
            let mut other = masses.clone();
            other.add_scaled(change, &[(id, 1.0)].into_iter().collect());
            let verdict = problem.check_point(i, &other, loss, 1e-9);
            prop_assert!(verdict.is_err() || change.abs() < 1e-8);
            let mut beyond = masses.clone();
            beyond.add_scaled(0.5, &[(id + (1 << 40), 1.0)].into_iter().collect());
            prop_assert!(problem.check_point(i, &beyond, loss, 1e-9).is_err());
        }
    }

    #[test]
    fn all_methods_find_the_optimum(case in any_segments(4), lambda in 0.05..1.0f64) {
        let problem = case.build();
        let expected = qp::solve(&case.enumerate(), lambda);
        let base = Settings { lambda: Some(lambda), max_passes: 60, tolerance: 1e-7, threads: 1, ..bcfw() };
        let mut all = vec![base.clone()];
        for solver in [Solver::Auto, Solver::FrankWolfe, Solver::NSlack] {
            all.push(SettingsRecord { solver, ..base.record() }.settings().unwrap());
        }
        for direction in Direction::NAMES {
            let direction = direction.parse().unwrap();
            all.push(SettingsRecord { direction, ..base.record() }.settings().unwrap());
        }
        for settings in all {
            let solution = train(&problem, &settings).unwrap();
            let c = solution.certificate;
            prop_assert!(c.dual <= expected.above + 1e-7 && c.primal >= expected.below - 1e-7);
            assert_certified(&problem, &solution);
        }
        let ours = train(&problem, &base).unwrap().certificate;
        let theirs = train(&ViaPsi(problem), &base).unwrap().certificate;
        prop_assert!(ours.dual <= theirs.primal + 1e-9 && theirs.dual <= ours.primal + 1e-9);
    }

    #[test]
    fn sequences_are_selected_whole(case in any_segments(4)) {
        let data = case.data();
        prop_assert_eq!(&data.select(|_| true), &data);
        let first = data.select(|i| i == 0);
        prop_assert_eq!(first.truth(0), data.truth(0));
    }
}

fn shape(labels: usize, longest: usize) -> SegmentShape {
    SegmentShape { labels, token_attributes: 1, segment_attributes: 1, longest, firsts: false }
}

#[test]
fn what_does_not_fit_is_refused() {
    let said = |error: Result<(), InputError>| error.unwrap_err().to_string();
    let mut data = Segmentations::new();
    assert_eq!(said(data.end_sequence(&[], 1.0)), "a sequence needs at least one token");
    assert!(matches!(data.push_token([(0, f64::NAN)]), Err(InputError::Value { .. })));
    data.push_token([(0, 1.0)]).unwrap();
    data.push_token([]).unwrap();
    let place = |start, length| {
        format!("there cannot be attributes for {length} tokens from token {start} here")
    };
    assert_eq!(said(data.push_segment(1, 2, [])), place(1, 2));
    assert_eq!(said(data.push_segment(0, 0, [])), place(0, 0));
    assert!(matches!(
        data.push_segment(0, 1, [(0, f64::INFINITY)]),
        Err(InputError::Value { attribute: 0, .. })
    ));
    let one = Segment { length: 1, label: 0 };
    let tokens = "the segments have 1 tokens, but the sequence has 2";
    assert_eq!(said(data.end_sequence(&[one], 1.0)), tokens);
    let weight = "the example weight is 0; a positive finite number is needed";
    assert_eq!(said(data.end_sequence(&[one, one], 0.0)), weight);
    let none = Segment { length: 0, label: 0 };
    assert_eq!(said(data.end_sequence(&[one, none, one], 1.0)), "segment 1 has no tokens");
    data.push_segment(0, 2, [(0, 1.0)]).unwrap();
    data.push_segment(0, 2, [(0, 2.0)]).unwrap();
    let two = [Segment { length: 2, label: 1 }];
    assert_eq!(said(data.end_sequence(&two, 1.0)), place(0, 2));

    let mut data = Segmentations::new();
    data.push_token([(0, 1.0)]).unwrap();
    data.push_token([]).unwrap();
    data.push_segment(0, 2, [(0, 1.0)]).unwrap();
    data.end_sequence(&two, 1.0).unwrap();
    let refused = |shape| SegmentChain::new(shape, data.clone(), true).unwrap_err().to_string();
    let label = "sequence 0 has the label 1, but there are only 1 labels";
    assert_eq!(refused(shape(1, 2)), label);
    let length = "sequence 0 has a segment of 2 tokens, but the longest can have 1";
    assert_eq!(refused(shape(2, 1)), length);
    for (labels, longest) in [(0, 2), (2, 0), (1 << 20, 1 << 20)] {
        assert_eq!(
            refused(shape(labels, longest)),
            "a semi-Markov chain needs labels and a length of at least 1, and fewer weights"
        );
    }
    let without = SegmentShape { segment_attributes: 0, ..shape(2, 2) };
    assert_eq!(refused(without), "segments have 1 attributes, but there are only 0");
    let without = SegmentShape { token_attributes: 0, ..shape(2, 2) };
    assert_eq!(refused(without), "tokens have 1 attributes, but there are only 0");
}

/// Runs of equal tokens are cut by what segments look like as a whole, which no chain of tokens can see.
#[test]
fn lengths_and_attributes_of_segments_are_learned() {
    let mut rng = Rng::new(5);
    let mut data = Segmentations::new();
    for _ in 0..30 {
        let mut truth = Vec::new();
        for _ in 0..3 + rng.below(3) {
            let label = rng.below(2) as u32;
            // All tokens look the same; segments of label 0 have two tokens, those of label 1 three or one.
            let length = if label == 0 { 2 } else { [1, 3][rng.below(2)] };
            truth.push(Segment { length, label });
        }
        let tokens: u32 = truth.iter().map(|segment| segment.length).sum();
        (0..tokens).for_each(|_| data.push_token([(0, 1.0)]).unwrap());
        let mut start = 0;
        for segment in &truth {
            // A mark on true segments, and on some others.
            let length = segment.length as usize;
            data.push_segment(start, length, [(0, 1.0)]).unwrap();
            start += length;
        }
        data.end_sequence(&truth, 1.0).unwrap();
    }
    let problem = SegmentChain::new(shape(2, 3), data, true).unwrap();
    let settings = Settings { lambda: Some(1e-3), ..Settings::default() };
    let solution = train(&problem, &settings).unwrap();
    assert_certified(&problem, &solution);
    let predicted = problem.predict(&solution.weights);
    let right = (0..30).filter(|&i| predicted[i] == problem.data().truth(i)).count();
    assert!(right >= 28, "{right} of 30");
}

#[test]
fn label_weights_are_checked() {
    let mut data = Segmentations::new();
    data.push_token([]).unwrap();
    data.end_sequence(&[Segment { length: 1, label: 0 }], 1.0).unwrap();
    let shape = SegmentShape { labels: 1, longest: 1, ..SegmentShape::default() };
    for wrong in [-1.0, f64::NAN, f64::INFINITY] {
        let chain = SegmentChain::new(shape, data.clone(), true).unwrap();
        let error = chain.with_label_weights(vec![wrong]).unwrap_err();
        assert!(error.to_string().contains("the loss weight of label 0"), "{error}");
    }
}
