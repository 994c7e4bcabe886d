//! Invalid problems are refused. They never cause a panic or a result that is not finite.

use crate::common;
use crate::common::bcfw;
use crate::common::problems::{Enumerated, EnumeratedBlock, Stubborn};
use maxmargin::model::chain::{Chain, ChainShape, FeatureGroups, Hamming, Sequences};
use maxmargin::{
    Average, Caching, Direction, Order, Problem, Settings, SettingsRecord, Solution, Solver, Step,
    TrainError, train,
};

/// Settings of every kind of run.
fn every_method() -> Vec<Settings> {
    let base = Settings { max_passes: 20, gap_every: 2, threads: 1, ..bcfw() };
    let mut all = vec![base.clone()];
    all.push(SettingsRecord { order: Order::Uniform, ..base.record() }.settings().unwrap());
    all.push(SettingsRecord { average: Average::Weighted, ..base.record() }.settings().unwrap());
    all.push(SettingsRecord { solver: Solver::FrankWolfe, ..base.record() }.settings().unwrap());
    for at in 0..all.len() {
        all.push(SettingsRecord { step: Step::Fixed, ..all[at].record() }.settings().unwrap());
    }
    let (order, cache) = (Order::Gap, Caching::On);
    for direction in [Direction::Best, Direction::Corrective] {
        all.push(SettingsRecord { order, direction, cache, ..base.record() }.settings().unwrap());
    }
    all
}

/// Two sensible examples with two outputs each.
fn sound() -> Enumerated {
    let block = |psi: [f64; 2]| EnumeratedBlock {
        weight: 1.0,
        corners: vec![(vec![0.0, 0.0], 0.0), (psi.to_vec(), 1.0)],
    };
    Enumerated { dim: 2, blocks: vec![block([1.0, 0.5]), block([-0.5, 1.0])] }
}

fn finite(solution: &Solution) -> bool {
    let c = &solution.certificate;
    let blocks = &solution.dual.blocks;
    solution.weights.iter().all(|w| w.is_finite())
        && [c.lambda, c.primal, c.dual, c.gap].iter().all(|x| x.is_finite())
        && blocks.iter().all(|b| b.loss.is_finite() && b.parts.unpacked().is_finite())
}

/// The errors of all methods, each of which must refuse the problem.
#[track_caller]
fn refused<P: Problem>(problem: &P) -> Vec<TrainError> {
    let each = |settings: Settings| match train(problem, &settings) {
        Err(error) => error,
        Ok(solution) => panic!("accepted with {:?} by {settings:?}", solution.certificate),
    };
    every_method().into_iter().map(each).collect()
}

#[test]
fn the_sound_problem_is_accepted() {
    for settings in every_method() {
        assert!(finite(&train(&sound(), &settings).unwrap()));
    }
}

#[test]
fn non_finite_losses_are_rejected() {
    for loss in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut problem = sound();
        problem.blocks[1].corners[1].1 = loss;
        for error in refused(&Stubborn(problem)) {
            let of_the_example = matches!(
                error,
                TrainError::NotFinite { example: 1 } | TrainError::Loss { example: 1, .. }
            );
            assert!(of_the_example, "{error:?}");
        }
    }
}

/// The hinge is an upper bound of the loss only if L ≥ 0.
#[test]
fn negative_losses_are_refused() {
    let mut problem = sound();
    problem.blocks[1].corners[1].1 = -1.0;
    let errors = refused(&Stubborn(problem));
    assert!(errors.iter().all(|e| *e == TrainError::Loss { example: 1, loss: -1.0 }), "{errors:?}");
}

#[test]
fn non_finite_features_are_rejected() {
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for feature in 0..2 {
            let mut problem = sound();
            problem.blocks[1].corners[1].0[feature] = value;
            let errors = refused(&Stubborn(problem));
            let expected = TrainError::NotFinite { example: 1 };
            assert!(errors.iter().all(|e| *e == expected), "{errors:?}");
        }
    }
}

#[test]
fn empty_problems_are_rejected() {
    let mut problem = sound();
    problem.blocks.clear();
    assert!(refused(&problem).iter().all(|e| *e == TrainError::NoExamples));

    let mut problem = sound();
    problem.dim = 0;
    problem.blocks.iter_mut().flat_map(|b| &mut b.corners).for_each(|c| c.0.clear());
    assert!(refused(&problem).iter().all(|e| *e == TrainError::NoFeatures));

    let none = FeatureGroups {
        emission: false,
        transition: false,
        bias: false,
        first: false,
        last: false,
    };
    let shape = ChainShape { groups: none, ..ChainShape::new(2, 1) };
    let mut data = Sequences::new();
    data.push_token([(0, 1.0)], 1).unwrap();
    data.end_sequence(1.0).unwrap();
    let chain = Chain::new(shape, data, &Hamming::default()).unwrap();
    assert!(refused(&chain).iter().all(|e| *e == TrainError::NoFeatures));
    let empty = Chain::new(ChainShape::new(2, 1), Sequences::new(), &Hamming::default()).unwrap();
    assert!(refused(&empty).iter().all(|e| *e == TrainError::NoExamples));
}

#[test]
fn invalid_example_weights_are_rejected() {
    for weight in [0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut problem = sound();
        problem.blocks[1].weight = weight;
        for error in refused(&problem) {
            assert!(matches!(error, TrainError::ExampleWeight { example: 1, .. }), "{error:?}");
        }
    }
}

/// Each weight is finite, but their sum is not: all shares would be zero, and any model optimal.
#[test]
fn example_weights_whose_sum_overflows_are_refused() {
    let mut problem = sound();
    problem.blocks.iter_mut().for_each(|block| block.weight = 1e308);
    refused(&problem);
}

/// Each share is a number above zero in exact arithmetic, but not in floating point.
#[test]
fn an_example_is_never_lost_among_heavier_ones() {
    let mut problem = sound();
    problem.blocks[0].weight = 1e-300;
    problem.blocks[1].weight = 1e300;
    for settings in every_method() {
        if let Ok(solution) = train(&problem, &settings) {
            assert!(finite(&solution));
        }
    }
}

/// If squares of features or quotients by λ are too large, the result is an error or a sound answer.
#[test]
fn huge_numbers_never_give_invalid_results() {
    let huge = [1e100, 1e150, 1e154, 1e160, 1e200, 1e300, f64::MAX];
    for value in huge {
        for lambda in [1e-300, 1e-10, 1.0, 1e10, 1e300] {
            for what in 0..3 {
                let mut problem = sound();
                for block in &mut problem.blocks {
                    let (psi, loss) = &mut block.corners[1];
                    if what != 1 {
                        psi.iter_mut().for_each(|x| *x *= value);
                    }
                    if what != 0 {
                        *loss = value;
                    }
                }
                for settings in every_method() {
                    let settings = Settings { lambda: Some(lambda), ..settings };
                    if let Ok(solution) = train(&problem, &settings) {
                        assert!(finite(&solution), "{value:e} {lambda:e} {settings:?}");
                        common::audit_of(&problem, &solution);
                    }
                }
            }
        }
    }
}

#[test]
fn overflowing_features_are_refused() {
    let mut problem = sound();
    for block in &mut problem.blocks {
        block.corners[1].0.iter_mut().for_each(|x| *x *= 1e200);
    }
    refused(&problem);
    let mut data = Sequences::new();
    for label in [0, 1] {
        data.push_token([(0, 1e200)], label).unwrap();
    }
    data.end_sequence(1.0).unwrap();
    refused(&Chain::new(ChainShape::new(2, 1), data, &Hamming::default()).unwrap());
}
