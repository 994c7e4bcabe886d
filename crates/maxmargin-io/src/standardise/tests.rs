use super::*;
use crate::spec::Rescaling;
use maxmargin::model::chain::{ChainShape, Hamming};

#[test]
fn indicators_keep_their_size_however_few_rows_lack_them() {
    let mut rows = LabelledRows::new();
    for i in 0..100 {
        let nearly_always = (i > 0).then_some((0, 1.0));
        let rarely = (i == 0).then_some((1, 1.0));
        let number = (2, if i % 2 == 0 { 7.0 } else { 3.0 });
        rows.push(nearly_always.into_iter().chain(rarely).chain([number]), &[0], 1.0).unwrap();
    }
    let scaling = Scaling::of(&Examples::from(rows)).unwrap();
    assert_eq!(scaling.factors(), [1.0, 1.0, 0.5]);
}

/// Tokens with these attributes, of which each is once positive and once negative.
fn tokens(sizes: &[f64]) -> Examples {
    let mut data = Sequences::new();
    for sign in [1.0, -1.0] {
        let attributes = (0..).zip(sizes).map(|(a, size)| (a, sign * size));
        data.push_token(attributes, 0).unwrap();
    }
    data.end_sequence(1.0).unwrap();
    data.into()
}

#[test]
fn tokens_are_scaled_where_few_attributes_hide_the_others() {
    for (sizes, needed) in [
        (&[1.0, 1.0, 1.0, 100.0][..], true),
        (&[1.0, 1.0, 1.0, 10.0], false),
        (&[100.0, 100.0, 100.0, 1.0], false), // what is small hides nothing
        (&[1e-3, 1.0, 1.0, 1.0], false),
        (&[], false),
    ] {
        let data = tokens(sizes);
        assert_eq!(Scaling::of(&data).unwrap().is_needed(&data), needed, "{sizes:?}");
    }
}

/// Sequences of two tokens with a year each, and an indicator that some have.
fn years() -> Examples {
    let mut data = Sequences::new();
    for (year, label) in [(1990.0, 0), (1992.0, 1), (1991.0, 1), (1995.0, 0)] {
        let rare = (label == 1).then_some((1, 1.0));
        data.push_token([(0, year)].into_iter().chain(rare), label).unwrap();
        data.push_token([(0, year + 1.0)], label).unwrap();
        data.end_sequence(1.0).unwrap();
    }
    data.into()
}

fn chain(has_bias: bool) -> Spec {
    let mut shape = ChainShape { transition_scale: 4.0, ..ChainShape::new(2, 2) };
    shape.groups.bias = has_bias;
    let (loss, rescaling) = (Hamming::default(), Rescaling::Margin);
    ChainSpec { shape, loss, kernel: None, rescaling }.into()
}

#[test]
fn tokens_far_from_zero_are_centred_if_there_is_a_bias() {
    let data = years();
    let scaling = Scaling::of(&data).unwrap();
    let without = scaling.clone().centred(&data, &chain(false));
    assert!(without.centres().is_empty() && !without.is_needed(&data));
    let scaling = scaling.centred(&data, &chain(true));
    assert_eq!(scaling.centres(), [(0, 1992.5)]);
    assert!(scaling.is_needed(&data));
    let scaled = scaling.apply(&data).unwrap();
    let tokens = |data: &Examples| -> Vec<Vec<(u32, f64)>> {
        let all = data.sequences().unwrap().iter();
        all.flat_map(|own| own.tokens().map(|t| t.pairs().collect()).collect::<Vec<_>>()).collect()
    };
    let (raw, own) = (tokens(&data), tokens(&scaled));
    assert_eq!(own[2], [(0, -0.5 * scaling.factors()[0]), (1, 1.0)]);
    assert_eq!(
        raw.iter().map(Vec::len).collect::<Vec<_>>(),
        own.iter().map(Vec::len).collect::<Vec<_>>(),
        "what is sparse stays sparse"
    );
}

#[test]
fn weights_of_centred_tokens_score_the_same_in_both_units() {
    let (data, spec) = (years(), chain(true));
    let scaling = Scaling::of(&data).unwrap().centred(&data, &spec);
    let scaled = scaling.apply(&data).unwrap();
    let inner: Vec<f64> = (0..spec.dim()).map(|at| (at as f64 * 0.7).sin()).collect();
    let mut raw = inner.clone();
    scaling.to_raw(&spec, &mut raw);
    let Spec::Chain(own) = &spec else { panic!("a chain") };
    let scores = |w: &[f64], data: &Examples| {
        let mut found = Vec::new();
        for sequence in data.sequences().unwrap().iter() {
            let mut nodes = Vec::new();
            own.shape.score_nodes(w, sequence, &mut nodes);
            found.extend(nodes);
        }
        found
    };
    for (a, b) in scores(&inner, &scaled).iter().zip(scores(&raw, &data)) {
        assert!((a - b).abs() < 1e-9, "{a} {b}");
    }
    scaling.from_raw(&spec, &mut raw);
    for (a, b) in inner.iter().zip(&raw) {
        assert!((a - b).abs() < 1e-9, "{a} {b}");
    }
}

type Token = Vec<(u32, f64)>;

/// Tokens name attributes in any order, and some of them twice; the values then add up.
#[test]
fn neither_order_nor_repetition_of_attributes_changes_what_is_centred() {
    let token = |year: f64, k: u32| [(0, 1.0 + f64::from(k)), (1, 0.5), (k + 2, -1.0), (9, year)];
    let data = |arrange: fn(Token) -> Token| {
        let mut data = Sequences::new();
        for (k, year) in [(0, 1990.0), (1, 1992.0), (2, 1991.0), (1, 1995.0), (0, 1993.0)] {
            data.push_token(arrange(token(year, k).to_vec()), k % 2).unwrap();
        }
        data.end_sequence(1.0).unwrap();
        Examples::from(data)
    };
    let mut shape = ChainShape::new(2, 10);
    shape.groups.bias = true;
    let (loss, rescaling) = (Hamming::default(), Rescaling::Margin);
    let spec: Spec = ChainSpec { shape, loss, kernel: None, rescaling }.into();
    let dense = |examples: &Examples| -> Vec<[f64; 10]> {
        let tokens = examples.sequences().unwrap().iter().flat_map(|own| own.tokens());
        let sums = tokens.map(|token| {
            let mut sums = [0.0; 10];
            token.pairs().for_each(|(at, value)| sums[at as usize] += value);
            sums
        });
        sums.collect()
    };
    let sorted = data(|token| token);
    let scaling = Scaling::of(&sorted).unwrap().centred(&sorted, &spec);
    assert!(!scaling.centres().is_empty());
    let expected = dense(&scaling.apply(&sorted).unwrap());
    let reversed = |mut token: Token| {
        token.reverse();
        token
    };
    let rotated = |mut token: Token| {
        token.rotate_left(1);
        token
    };
    let halved = |token: Token| {
        let halves: Vec<_> = token.iter().map(|&(at, value)| (at, 0.5 * value)).collect();
        [halves.clone(), halves].concat()
    };
    for other in [data(reversed), data(rotated), data(halved)] {
        assert_eq!(dense(&other), dense(&sorted));
        let own = Scaling::of(&other).unwrap().centred(&other, &spec);
        assert_eq!(own, scaling);
        assert_eq!(dense(&own.apply(&other).unwrap()), expected);
    }
}

#[test]
fn sizes_that_overflow_or_vanish_keep_their_units() {
    for value in [1e200, -1e300, 1e-200, 5e-324] {
        let mut rows = LabelledRows::new();
        rows.push([(0, value), (1, 4.0)], &[0], 1.0).unwrap();
        rows.push([(0, 2.0 * value), (1, -4.0)], &[1], 1.0).unwrap();
        let examples = Examples::from(rows);
        let scaling = Scaling::of(&examples).unwrap();
        assert_eq!(scaling.factors(), [1.0, 0.25], "{value:e}");
        assert!(scaling.apply(&examples).is_some());
    }
}
