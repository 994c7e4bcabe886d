//! Choosing λ: errors that are known in advance, so that the right answer is.

use crate::common::bcfw;
use crate::common::bits::random_chain;
use maxmargin::ProblemExt as _;
use maxmargin::{
    Direction, Interrupt, LambdaChoice, Order, Problem, Settings, TrainError, TriedLambda,
    choose_lambda,
};
use proptest::prelude::*;

/// The choice where the error is a function of λ alone.
fn chosen(lowest: f64, error: impl Fn(f64) -> f64) -> LambdaChoice {
    let problem = random_chain(12, 3, 5);
    let (settings, interrupt) = (Settings::default(), Interrupt::new());
    choose_lambda(&problem, &settings, lowest, &interrupt, |lambda, _| error(lambda)).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// The bottom of a bowl is found to a factor of two, wherever it lies.
    #[test]
    fn the_lambda_with_the_least_error_is_found(exponent in -6.0f64..0.0) {
        let bottom = 2f64.powf(exponent);
        let choice = chosen(1e-3, |lambda| (lambda / bottom).log2().abs());
        prop_assert!((choice.lambda / bottom).log2().abs() <= 0.5 + 1e-9, "{choice:?}");
        // Each is half of the one before, and none lies below the lowest.
        for pair in choice.tried.windows(2) {
            prop_assert_eq!(pair[1].lambda, 0.5 * pair[0].lambda);
        }
        prop_assert!(choice.tried.iter().all(|tried| tried.lambda >= 1e-3));
    }
}

#[test]
fn ties_are_settled_in_their_middle() {
    let choice = chosen(1e-3, |lambda| f64::from(u8::from(!(0.01..1.0).contains(&lambda))));
    let ties: Vec<f64> = choice.tried.iter().filter(|t| t.error == 0.0).map(|t| t.lambda).collect();
    assert!(ties.len() > 4);
    assert_eq!(choice.lambda, ties[ties.len() / 2]);
}

#[test]
fn the_search_ends_when_errors_no_longer_fall_once_something_is_learned() {
    let (choice, all) = (chosen(1e-9, |lambda| -lambda.min(0.5)), chosen(1e-9, |lambda| lambda));
    let least = |tried: &[TriedLambda]| tried.iter().map(|t| t.error).fold(f64::INFINITY, f64::min);
    let (before, last) = choice.tried.split_at(choice.tried.len() - 5);
    assert!(choice.tried.len() < all.tried.len());
    assert!(least(last) >= least(before), "the last five were no better");
    // With errors that fall for ever, only the lowest λ ends it.
    assert!(all.tried.last().unwrap().lambda < 2e-9);
    assert_eq!(all.lambda, all.tried.last().unwrap().lambda);
}

#[test]
fn each_lambda_comes_with_its_own_weights() {
    let problem = random_chain(10, 3, 7);
    let mut norms = Vec::new();
    let choice = choose_lambda(&problem, &Settings::default(), 0.01, &Interrupt::new(), |_, w| {
        norms.push(w.iter().map(|w| w * w).sum::<f64>());
        let (mut workspace, mut y) = (problem.workspace(), Default::default());
        let loss = |i| {
            problem.prepare(i, w, &mut workspace);
            problem.decode(i, w, &mut workspace, &mut y);
            problem.loss(i, &y)
        };
        (0..problem.examples()).map(loss).sum()
    });
    let errors: Vec<f64> = choice.unwrap().tried.iter().map(|tried| tried.error).collect();
    let (first, last) = (errors[0], errors[errors.len() - 1]);
    assert!(last < 0.5 * first, "training errors fall with λ: {errors:?}");
    assert!(norms.first() < norms.last(), "weights grow as λ falls: {norms:?}");
}

#[test]
fn parts_that_are_named_make_the_same_bits_on_any_number_of_threads() {
    let problem = random_chain(20, 3, 7);
    let (order, direction) = (Order::Gap, Direction::Corrective);
    let found = [1, 3].map(|threads| {
        let settings = Settings { order, direction, threads, ..bcfw() };
        let mut weights: Vec<u64> = Vec::new();
        let choice = choose_lambda(&problem, &settings, 0.01, &Interrupt::new(), |lambda, w| {
            weights.extend(w.iter().map(|w| w.to_bits()));
            (lambda - 0.1).abs()
        });
        (choice.unwrap(), weights)
    });
    assert_eq!(found[0], found[1]);
}

#[test]
fn non_finite_errors_and_interrupts_end_the_search() {
    let (problem, settings) = (random_chain(6, 2, 3), Settings::default());
    let interrupt = Interrupt::new();
    for nonsense in [f64::NAN, f64::INFINITY] {
        let found = choose_lambda(&problem, &settings, 1e-3, &interrupt, |_, _| nonsense);
        assert!(matches!(found, Err(TrainError::Validation { .. })), "{found:?}");
    }
    let mut calls = 0;
    let found = choose_lambda(&problem, &settings, 1e-6, &interrupt, |lambda, _| {
        calls += 1;
        if calls == 3 {
            interrupt.raise();
        }
        lambda
    });
    let found = found.unwrap();
    assert_eq!((found.tried.len(), found.lambda), (3, found.tried[2].lambda));
    // Where none can be tried, it is the one that the search would begin from.
    let found = choose_lambda(&problem, &settings, 1e9, &Interrupt::new(), |_, _| 0.0).unwrap();
    assert!(found.tried.is_empty() && found.lambda > 0.0);
}
