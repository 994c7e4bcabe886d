//! The choice of λ, with errors that are known in advance, so that the right answer is known too.

use crate::common::bcfw;
use crate::common::bits::random_chain;
use maxmargin::ProblemExt as _;
use maxmargin::{
    Direction, Interrupt, LambdaChoice, Order, Problem, Settings, SettingsRecord, SparseVec,
    TrainError, TriedLambda, choose_lambda, train,
};
use proptest::prelude::*;

/// The choice if the error is a function of λ alone.
fn chosen(lowest: f64, error: impl Fn(f64) -> f64) -> LambdaChoice {
    let problem = random_chain(12, 3, 5);
    let (settings, interrupt) = (Settings::default(), Interrupt::new());
    choose_lambda(&problem, &settings, lowest, &interrupt, |lambda, _| error(lambda)).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// The minimum of a convex error is found up to a factor of two.
    #[test]
    fn the_lambda_with_the_least_error_is_found(exponent in -6.0f64..0.0) {
        let bottom = 2f64.powf(exponent);
        let choice = chosen(1e-3, |lambda| (lambda / bottom).log2().abs());
        prop_assert!((choice.lambda / bottom).log2().abs() <= 0.5 + 1e-9, "{choice:?}");
        // Each λ is half of the one before, and none is below the lowest.
        for pair in choice.tried.windows(2) {
            prop_assert_eq!(pair[1].lambda, 0.5 * pair[0].lambda);
        }
        prop_assert!(choice.tried.iter().all(|tried| tried.lambda >= 1e-3));
    }
}

#[test]
fn ties_choose_the_middle_lambda() {
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
    // If errors fall forever, only the lowest λ ends the search.
    assert!(all.tried.last().unwrap().lambda < 2e-9);
    assert_eq!(all.lambda, all.tried.last().unwrap().lambda);
}

/// The weights of a λ are near the optimum of that λ, and not of others.
#[test]
fn each_lambda_comes_with_its_own_weights() {
    let problem = random_chain(10, 3, 7);
    let mut found = Vec::new();
    let choice =
        choose_lambda(&problem, &Settings::default(), 0.01, &Interrupt::new(), |lambda, w| {
            found.push((lambda, w.to_vec()));
            // The errors fall forever, so that every λ is tried.
            lambda
        });
    let tried: Vec<f64> = choice.unwrap().tried.iter().map(|tried| tried.lambda).collect();
    assert_eq!(tried, found.iter().map(|(lambda, _)| *lambda).collect::<Vec<_>>());
    assert!(found.len() >= 5, "{tried:?}");
    let optimum = |lambda| {
        let settings = Settings { lambda: Some(lambda), tolerance: 1e-6, ..Settings::default() };
        train(&problem, &settings).unwrap().certificate.primal
    };
    // The search trains to a share of the last objective, which is 1 at first.
    let mut before = 1.0;
    for (lambda, w) in &found {
        let (best, own) = (optimum(*lambda), objective(&problem, *lambda, w));
        assert!(own >= best - 1e-5, "{lambda}: {own} where {best} is best");
        assert!(own <= best + 0.05 * before + 1e-5, "{lambda}: {own} where {best} is best");
        before = own;
    }
    // At another λ far away, the weights are far from the best ones.
    let (smallest, w) = (&found[found.len() - 1].0, &found[0].1);
    assert!(objective(&problem, *smallest, w) > 1.5 * optimum(*smallest));
}

/// λ/2 ‖w‖² and the mean hinge, by the oracle.
fn objective<P: Problem>(problem: &P, lambda: f64, w: &[f64]) -> f64 {
    let (mut workspace, mut y) = (problem.workspace(), Default::default());
    let hinge = |i| {
        let mut psi = SparseVec::new();
        problem.prepare(i, w, &mut workspace);
        problem.oracle(i, w, &mut workspace, &mut y);
        problem.psi(i, &y, &mut psi);
        problem.loss(i, &y) - psi.dot_dense(w)
    };
    let risk: f64 = (0..problem.examples()).map(hinge).sum();
    let length: f64 = w.iter().map(|w| w * w).sum();
    0.5 * lambda * length + risk / problem.examples() as f64
}

#[test]
fn named_choices_have_the_same_bits_on_any_number_of_threads() {
    let problem = random_chain(20, 3, 7);
    let (order, direction) = (Order::Gap, Direction::Corrective);
    let found = [1, 3].map(|threads| {
        let settings =
            SettingsRecord { order, direction, threads, ..bcfw().record() }.settings().unwrap();
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
    // If no λ can be tried, the choice is the λ at which the search would begin.
    let found = choose_lambda(&problem, &settings, 1e9, &Interrupt::new(), |_, _| 0.0).unwrap();
    assert!(found.tried.is_empty() && found.lambda > 0.0);
}
