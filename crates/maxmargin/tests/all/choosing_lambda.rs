//! Choosing λ: errors that are known in advance, so that the right answer is.

use crate::common::bcfw;
use crate::common::bits::random_chain;
use maxmargin::{
    Direction, HeldOutError, Interrupt, LambdaChoice, LambdaFold, Order, Settings, SettingsRecord,
    TrainError, TriedLambda, choose_lambda, train,
};
use proptest::prelude::*;

/// Where the searches of these tests begin.
const AROUND: f64 = 0.05;

/// So many predictions that chance plays no part.
const MANY: u64 = 1 << 50;

/// The choice by an error of the weights.
fn chosen(of: u64, error: impl FnMut(&[f64]) -> f64) -> LambdaChoice {
    chosen_with(&Settings::default(), &Interrupt::new(), of, error).unwrap()
}

fn chosen_with(
    settings: &Settings,
    interrupt: &Interrupt,
    of: u64,
    mut error: impl FnMut(&[f64]) -> f64,
) -> Result<LambdaChoice, TrainError> {
    let problem = random_chain(12, 3, 5);
    let mut error = |w: &[f64]| HeldOutError { error: error(w), of };
    let mut folds = [LambdaFold { problem: &problem, around: AROUND, error: &mut error }];
    choose_lambda(&mut folds, AROUND, settings, interrupt, |_| {})
}

fn length(w: &[f64]) -> f64 {
    w.iter().map(|w| w * w).sum::<f64>().sqrt()
}

/// The optimum of a λ, to a small gap.
fn optimum(lambda: f64) -> Vec<f64> {
    let settings = Settings { lambda: Some(lambda), tolerance: 1e-7, ..Settings::default() };
    train(&random_chain(12, 3, 5), &settings).unwrap().weights
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Weights grow as λ falls, so that a bowl over their length is one over λ. Its bottom is found to about the
    /// last step, wherever it lies; where weights hardly grow any more, so is any λ that has nearly these weights.
    #[test]
    fn the_lambda_with_the_least_error_is_found(exponent in -4.0f64..3.0) {
        let bottom = AROUND * 2f64.powf(exponent);
        let target = length(&optimum(bottom));
        let choice = chosen(MANY, |w| (0.2 * (length(w) / target).ln().abs()).min(1.0));
        let reached = length(&optimum(choice.lambda));
        prop_assert!((reached / target).ln().abs() <= 0.5, "{bottom}: {choice:?}");
        prop_assert!(choice.tried.iter().all(|tried| tried.error >= 0.0 && tried.lambda > 0.0));
    }

    /// Whatever the errors, what is chosen did no worse than where the search began.
    #[test]
    fn the_choice_is_never_worse_than_the_beginning(seed in any::<u64>(), of in 1u64..1000) {
        let mut rng = maxmargin::Rng::new(seed);
        let choice = chosen(of, |_| rng.unit_f64());
        let error = |lambda: f64| choice.tried.iter().find(|t| t.lambda == lambda).unwrap().error;
        prop_assert!(error(choice.lambda) <= error(AROUND));
        prop_assert_eq!(choice.around, AROUND);
        for pair in choice.tried.windows(2) {
            prop_assert!(pair[0].lambda > pair[1].lambda, "each λ is tried once: {:?}", choice);
        }
    }
}

#[test]
fn the_beginning_wins_ties_and_both_sides_are_tried() {
    let choice = chosen(100, |_| 0.25);
    assert_eq!(choice.lambda, AROUND);
    let (first, last) = (choice.tried.first().unwrap(), choice.tried.last().unwrap());
    assert!(first.lambda > AROUND && last.lambda < AROUND, "{choice:?}");
    // A difference that ten predictions cannot show is none.
    let target = length(&optimum(4.0 * AROUND));
    let noise = chosen(10, |w| if length(w) < 1.01 * target { 0.29 } else { 0.3 });
    assert_eq!(noise.lambda, AROUND, "{noise:?}");
    let proof = chosen(MANY, |w| if length(w) < 1.01 * target { 0.29 } else { 0.3 });
    assert!(proof.lambda > AROUND, "{proof:?}");
}

#[test]
fn the_search_ends_where_both_ends_are_clearly_worse() {
    let here = length(&optimum(AROUND));
    let choice = chosen(MANY, |w| (0.3 * (length(w) / here).ln().abs()).min(1.0));
    let ends = (choice.tried[0].lambda, choice.tried.last().unwrap().lambda);
    assert!(ends.0 <= 16.0 * AROUND && ends.1 >= AROUND / 16.0, "{choice:?}");
}

/// Every λ costs the same, and there are at most nine.
#[test]
fn work_is_limited() {
    // Errors that fall with λ for ever.
    let choice = chosen(MANY, |w| 1.0 / (1.0 + length(w)));
    assert!(choice.tried.len() <= 9, "{choice:?}");
    assert!(choice.oracle_calls <= 9 * 500, "{} calls", choice.oracle_calls);
    assert!(choice.lambda < AROUND);
    // Where examples are many, that is ten passes.
    let problem = random_chain(120, 3, 5);
    let mut error = |w: &[f64]| HeldOutError { error: 1.0 / (1.0 + length(w)), of: MANY };
    let mut folds = [LambdaFold { problem: &problem, around: AROUND, error: &mut error }];
    let (settings, interrupt) = (Settings::default(), Interrupt::new());
    let choice = choose_lambda(&mut folds, AROUND, &settings, &interrupt, |_| {}).unwrap();
    assert!(choice.oracle_calls <= 9 * 10 * 120, "{} calls", choice.oracle_calls);
}

/// Each fold begins at a λ of its own, and what counts is the mean of their errors.
#[test]
fn folds_are_averaged_and_begin_where_they_are_told() {
    let problems = [random_chain(12, 3, 5), random_chain(9, 3, 6)];
    let mut lengths = [Vec::new(), Vec::new()];
    let [one, two] = &mut lengths;
    let mut first = |w: &[f64]| {
        one.push(length(w));
        HeldOutError { error: 0.2, of: 10 }
    };
    let mut second = |w: &[f64]| {
        two.push(length(w));
        HeldOutError { error: 0.4, of: 10 }
    };
    let mut folds = [
        LambdaFold { problem: &problems[0], around: 0.1, error: &mut first },
        LambdaFold { problem: &problems[1], around: 0.2, error: &mut second },
    ];
    let mut seen: Vec<TriedLambda> = Vec::new();
    let (settings, interrupt) = (Settings::default(), Interrupt::new());
    let watch = |tried: &TriedLambda| seen.push(*tried);
    let choice = choose_lambda(&mut folds, 0.05, &settings, &interrupt, watch).unwrap();
    assert!(choice.tried.iter().all(|tried| (tried.error - 0.3).abs() < 1e-12));
    assert_eq!((choice.lambda, seen[0].lambda, seen.len()), (0.05, 0.05, choice.tried.len()));
    for (problem, (lambda, found)) in problems.iter().zip([(0.1, &lengths[0]), (0.2, &lengths[1])])
    {
        let settings = Settings { lambda: Some(lambda), tolerance: 1e-7, ..Settings::default() };
        let best = length(&train(problem, &settings).unwrap().weights);
        assert!((found[0] / best).ln().abs() < 0.3, "{} at first, where {best} is best", found[0]);
    }
}

#[test]
fn parts_that_are_named_make_the_same_bits_on_any_number_of_threads() {
    let (order, direction) = (Order::Gap, Direction::Corrective);
    let found = [1, 3].map(|threads| {
        let record = SettingsRecord { order, direction, threads, ..bcfw().record() };
        let settings = record.settings().unwrap();
        let mut weights: Vec<u64> = Vec::new();
        let choice = chosen_with(&settings, &Interrupt::new(), MANY, |w| {
            weights.extend(w.iter().map(|w| w.to_bits()));
            (length(w) - 1.0).abs().min(1.0)
        });
        (choice.unwrap(), weights)
    });
    assert_eq!(found[0], found[1]);
}

/// Folds and λ that are trained side by side are measured in the same order, with the same weights.
#[test]
fn folds_make_the_same_bits_on_any_number_of_threads() {
    let problems = [random_chain(12, 3, 5), random_chain(9, 3, 6), random_chain(10, 3, 7)];
    let found = [1, 2, 7].map(|threads| {
        let record = SettingsRecord { order: Order::Gap, threads, ..bcfw().record() };
        let weights: std::cell::RefCell<Vec<u64>> = Default::default();
        let measure = |w: &[f64]| {
            weights.borrow_mut().extend(w.iter().map(|w| w.to_bits()));
            HeldOutError { error: (length(w) - 1.0).abs().min(1.0), of: MANY }
        };
        let mut errors = [measure; 3];
        let fold = |(problem, error)| LambdaFold { problem, around: AROUND, error };
        let mut folds: Vec<LambdaFold<'_>> = problems
            .iter()
            .zip(&mut errors)
            .map(|(problem, error)| fold((problem as _, error as _)))
            .collect();
        let (settings, interrupt) = (record.settings().unwrap(), Interrupt::new());
        let mut seen = Vec::new();
        let watch = |tried: &TriedLambda| seen.push(*tried);
        let choice = choose_lambda(&mut folds, AROUND, &settings, &interrupt, watch).unwrap();
        (choice, seen, weights.into_inner())
    });
    assert!(found[0].1.len() > 3);
    assert_eq!(found[0], found[1]);
    assert_eq!(found[0], found[2]);
}

#[test]
fn non_finite_errors_and_interrupts_end_the_search() {
    let settings = Settings::default();
    for nonsense in [f64::NAN, f64::INFINITY] {
        let found = chosen_with(&settings, &Interrupt::new(), 1, |_| nonsense);
        assert!(matches!(found, Err(TrainError::Validation { .. })), "{found:?}");
    }
    let (interrupt, mut calls) = (Interrupt::new(), 0);
    let found = chosen_with(&settings, &interrupt, MANY, |w| {
        calls += 1;
        if calls == 3 {
            interrupt.raise();
        }
        1.0 / (1.0 + length(w))
    });
    let found = found.unwrap();
    assert_eq!((found.tried.len(), found.lambda), (3, found.tried[2].lambda));
    // Where none can be tried, it is the one that the search would begin from.
    let found = chosen_with(&settings, &interrupt, 1, |_| 0.0).unwrap();
    assert!(found.tried.is_empty() && found.lambda == AROUND);
}
