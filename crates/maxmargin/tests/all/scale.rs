//! The λ that fits the scale of features and losses: what it does not depend on, and what it is.

use maxmargin::model::LabelledRows;
use maxmargin::model::chain::{Chain, ChainShape, FeatureGroups, Hamming, Sequences};
use maxmargin::model::multiclass::{ClassLoss, Multiclass, MulticlassShape};
use maxmargin::{LambdaScale, Problem, Rng, Settings, SparseVec, scale_lambda, train};
use proptest::prelude::*;

/// Sequences with random attributes in units of `unit`, whose mistakes cost `cost`, each `copies` times.
fn chain(seed: u64, unit: f64, cost: f64, copies: usize) -> Chain {
    let (mut rng, mut data) = (Rng::new(seed), Sequences::new());
    for _ in 0..1 + rng.below(8) {
        let tokens: Vec<_> = (0..1 + rng.below(5))
            .map(|_| (rng.below(6) as u32, unit * (1.0 + rng.unit_f64()), rng.below(3) as u32))
            .collect();
        for _ in 0..copies {
            for &(attribute, value, label) in &tokens {
                data.push_token([(attribute, value)], label).unwrap();
            }
            data.end_sequence(1.0).unwrap();
        }
    }
    let groups = FeatureGroups {
        transition: false,
        bias: false,
        first: false,
        last: false,
        ..FeatureGroups::default()
    };
    let shape = ChainShape { groups, ..ChainShape::new(3, 6) };
    let loss = Hamming { normalised: false, label_weights: vec![cost; 3] };
    Chain::new(shape, data, &loss).unwrap()
}

fn lambda(problem: &dyn maxmargin::Blocks) -> f64 {
    scale_lambda(problem, 1).unwrap().lambda
}

fn close(a: f64, b: f64) -> bool {
    (a / b - 1.0).abs() < 1e-9
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Features in other units make λ follow with the square, losses divide it, and so do copies.
    #[test]
    fn units_of_features_and_losses_cancel(seed in any::<u64>(), s in 0.01f64..100.0, copies in 1usize..4) {
        let plain = lambda(&chain(seed, 1.0, 1.0, 1));
        prop_assert!(close(lambda(&chain(seed, s, 1.0, 1)), s * s * plain));
        prop_assert!(close(lambda(&chain(seed, 1.0, s, 1)), plain / s));
        prop_assert!(close(lambda(&chain(seed, 1.0, 1.0, copies)), plain / copies as f64));
    }

    /// Example weights that are all the same are none.
    #[test]
    fn equal_weights_change_nothing(seed in any::<u64>(), weight in 0.1f64..10.0) {
        let rows = |weight: f64| {
            let (mut rng, mut data) = (Rng::new(seed), LabelledRows::new());
            for _ in 0..5 {
                data.push([(0, 1.0 + rng.unit_f64())], &[rng.below(3) as u32], weight).unwrap();
            }
            Multiclass::new(MulticlassShape::new(3, 1), data, ClassLoss::ZeroOne).unwrap()
        };
        prop_assert!(close(lambda(&rows(weight)), lambda(&rows(1.0))));
    }
}

/// A chain with attributes in units of `unit` and constant features of the value `scale`, at its λ by the rule.
fn trained_in(seed: u64, unit: f64, scale: f64) -> (ChainShape, maxmargin::Solution) {
    let groupless = chain(seed, unit, 1.0, 1);
    let shape = ChainShape { transition_scale: scale, ..ChainShape::new(3, 6) };
    let loss = Hamming { normalised: false, ..Hamming::default() };
    let chain = Chain::new(shape, groupless.data().clone(), &loss).unwrap();
    let lambda = Some(lambda(&chain));
    let settings = Settings { lambda, max_passes: 20, tolerance: 1e-6, ..Settings::default() };
    (shape, train(&chain, &settings).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Attributes in units of s and constant features of the value s make the same problem in other units. Powers of
    /// two change no digits: the same steps lead to the same certificate.
    #[test]
    fn constant_features_in_the_units_of_attributes_change_nothing(
        seed in any::<u64>(), power in -3i32..=3, scale in 0.2f64..4.0
    ) {
        let unit = 2f64.powi(power);
        let (_, plain) = trained_in(seed, 1.0, scale);
        let (_, other) = trained_in(seed, unit, unit * scale);
        let (a, b) = (&plain.certificate, &other.certificate);
        prop_assert_eq!((a.primal, a.dual, a.gap), (b.primal, b.dual, b.gap));
        prop_assert!(close(b.lambda, unit * unit * a.lambda));
        let times = |w: &[f64]| w.iter().map(|w| unit * w).collect::<Vec<_>>();
        prop_assert_eq!(&plain.weights, &times(&other.weights));
    }

    /// A value of constant features is the same as attributes divided by it.
    #[test]
    fn a_value_of_constant_features_divides_attributes(seed in any::<u64>(), power in -3i32..=3) {
        let scale = 2f64.powi(power);
        let (shape, own) = trained_in(seed, 1.0, scale);
        let (_, divided) = trained_in(seed, 1.0 / scale, 1.0);
        let (a, b) = (&own.certificate, &divided.certificate);
        prop_assert_eq!((a.primal, a.dual, a.gap), (b.primal, b.dual, b.gap));
        // What transitions add to scores is the same, and so is what attributes add.
        for at in shape.transition() {
            prop_assert_eq!(scale * own.weights[at], divided.weights[at]);
        }
        for at in shape.emission() {
            prop_assert_eq!(own.weights[at], divided.weights[at] / scale);
        }
    }
}

#[test]
fn a_value_of_constant_features_is_a_positive_number() {
    for value in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-200, 1e200] {
        let shape = ChainShape { transition_scale: value, ..ChainShape::new(2, 1) };
        let error = Chain::new(shape, Sequences::new(), &Hamming::default()).unwrap_err();
        assert!(error.to_string().contains("the scale of transitions"), "{error}");
    }
}

/// A chain is as long as one token of it: twice its attributes, per unit of loss.
#[test]
fn a_long_sequence_counts_as_one_changed_token() {
    for tokens in [1, 3, 40] {
        let mut data = Sequences::new();
        for _ in 0..tokens {
            // All tokens are the same and are wrong in the same way, which must not add up.
            data.push_token([(0, 1.0), (1, 2.0)], 0).unwrap();
        }
        data.end_sequence(1.0).unwrap();
        let groups = FeatureGroups {
            transition: false,
            bias: false,
            first: false,
            last: false,
            ..FeatureGroups::default()
        };
        let shape = ChainShape { groups, ..ChainShape::new(2, 2) };
        let loss = Hamming { normalised: false, ..Hamming::default() };
        let found = scale_lambda(&Chain::new(shape, data, &loss).unwrap(), 1).unwrap();
        let expected = LambdaScale { lambda: 10.0 / 6.0, length: 10.0, spread: 1.0, examples: 1 };
        assert_eq!(found, expected, "{tokens} tokens");
    }
}

/// A problem of one's own, which tells no parts: one number is either small or large.
struct Own {
    unit: f64,
    loss: f64,
}

impl Problem for Own {
    type Output = bool;
    type Workspace = ();

    fn examples(&self) -> usize {
        10
    }

    fn dim(&self) -> usize {
        1
    }

    fn workspace(&self) {}

    fn oracle(&self, i: usize, w: &[f64], (): &mut (), wrong: &mut bool) {
        *wrong = self.loss(i, &true) > self.unit * w[0];
    }

    fn decode(&self, _: usize, w: &[f64], (): &mut (), wrong: &mut bool) {
        *wrong = w[0] < 0.0;
    }

    fn loss(&self, _: usize, wrong: &bool) -> f64 {
        if *wrong { self.loss } else { 0.0 }
    }

    fn psi(&self, _: usize, wrong: &bool, psi: &mut SparseVec) {
        if *wrong {
            psi.push(0, self.unit);
        }
    }
}

#[test]
fn problems_without_parts_have_a_scale_too_and_those_without_losses_have_1_over_n() {
    assert!(close(lambda(&Own { unit: 3.0, loss: 0.5 }), 9.0 / 0.5 / (6.0 * 10.0)));
    let found = scale_lambda(&Own { unit: 3.0, loss: 0.0 }, 1).unwrap();
    assert_eq!((found.examples, close(found.lambda, 0.1)), (0, true));
    let found = scale_lambda(&Own { unit: 0.0, loss: 1.0 }, 1).unwrap();
    assert_eq!((found.examples, close(found.lambda, 0.1)), (0, true));
}

#[test]
fn many_examples_are_sampled_by_the_seed() {
    let mut data = LabelledRows::new();
    for i in 0..5000 {
        data.push([(0, 1.0 + f64::from(i % 7))], &[i % 2], 1.0).unwrap();
    }
    let problem = Multiclass::new(MulticlassShape::new(2, 1), data, ClassLoss::ZeroOne).unwrap();
    let found = [1, 1, 2].map(|seed| scale_lambda(&problem, seed).unwrap());
    assert_eq!(found[0], found[1]);
    assert_ne!(found[0], found[2]);
    assert_eq!(found[0].examples, 500);
    assert!((found[0].lambda / found[2].lambda).ln().abs() < 0.2, "{found:?}");
}
