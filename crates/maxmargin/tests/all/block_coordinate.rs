//! Block-coordinate Frank-Wolfe follows its paper, visit by visit.

use crate::common;
use crate::common::bcfw;
use crate::common::chains::tieless_chain;
use crate::common::problems::{Enumerated, Multiclass, ViaPsi, any_multiclass, any_polytope};
use crate::common::reference::{BlockCoordinate, visits};
use crate::common::{assert_all_close, assert_bounded, assert_close, cases, dot, norm_sq};
use maxmargin::{Average, Order, Problem, SettingsRecord, Solution, Status, Step, train};
use proptest::prelude::*;

#[derive(Debug, Clone, Copy)]
struct Method {
    lambda: f64,
    order: Order,
    step: Step,
    seed: u64,
}

fn method() -> impl Strategy<Value = Method> {
    let order = prop_oneof![Just(Order::Uniform), Just(Order::Permutation), Just(Order::Cyclic)];
    let step = prop_oneof![Just(Step::LineSearch), Just(Step::Fixed)];
    (0.05..2.0f64, order, step, 0u64..1000).prop_map(|(lambda, order, step, seed)| Method {
        lambda,
        order,
        step,
        seed,
    })
}

/// Trains for exactly `count` visits.
fn after<P: Problem>(problem: &P, method: Method, average: Average, count: usize) -> Solution {
    let settings = SettingsRecord {
        lambda: Some(method.lambda),
        order: method.order,
        step: method.step,
        seed: method.seed,
        average,
        tolerance: 0.0,
        gap_every: 1_000_000,
        max_oracle_calls: Some(count as u64),
        threads: 1,
        ..bcfw().record()
    }
    .settings()
    .unwrap();
    let solution = train(problem, &settings).unwrap();
    assert_eq!((solution.status, solution.totals.visits), (Status::MaxOracleCalls, count as u64));
    solution
}

/// Compares every iterate, and every average, with the reference.
fn compare<P: Problem>(problem: &P, dense: &Enumerated, method: Method) {
    let count = 4 * problem.examples() + 3;
    let mut reference = BlockCoordinate::new(dense, method.lambda);
    let order = visits(method.order, problem.examples(), method.seed, count);
    for (done, &i) in order.iter().enumerate() {
        if reference.visit(i, method.step).is_none() {
            break;
        }
        let last = after(problem, method, Average::None, done + 1);
        assert_all_close(&last.weights, &reference.now.w, 1e-9);
        let primal = dense.primal(method.lambda, &reference.now.w);
        assert_close(last.certificate.primal, primal, 1e-9, primal);
        assert_close(last.certificate.dual, reference.now.dual(method.lambda), 1e-9, primal);

        let averaged = after(problem, method, Average::Weighted, done + 1);
        assert_all_close(&averaged.weights, &reference.average.w, 1e-9);
        // The best bound is that of the start, of the last iterate, or of the average.
        let (average, lambda) = (&reference.average, method.lambda);
        let primal = dense.primal(lambda, &average.w);
        let bound = average.dual(lambda).max(reference.now.dual(lambda)).max(0.0);
        assert_close(averaged.certificate.gap, primal - bound, 1e-9, primal);
        assert_bounded(problem, &averaged);
    }
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn polytopes_follow_the_reference(problem in any_polytope(), method in method()) {
        compare(&problem, &problem, method);
    }

    #[test]
    fn chains_follow_the_reference(case in tieless_chain(), method in method()) {
        compare(&case.build(), &case.enumerate(), method);
    }

    #[test]
    fn chains_through_psi_follow_the_reference(case in tieless_chain(), method in method()) {
        compare(&ViaPsi(case.build()), &case.enumerate(), method);
    }

    #[test]
    fn parts_and_features_give_the_same_iterates(case in tieless_chain(), method in method()) {
        let (parts, features) = (case.build(), ViaPsi(case.build()));
        let dense = case.enumerate();
        let mut reference = BlockCoordinate::new(&dense, method.lambda);
        let order = visits(method.order, parts.examples(), method.seed, 60);
        let clear = order.iter().map_while(|&i| reference.visit(i, method.step)).count();
        for count in [1, 2, 5, clear] {
            if count == 0 || count > clear {
                continue;
            }
            for average in [Average::None, Average::Weighted] {
                let a = after(&parts, method, average, count);
                let b = after(&features, method, average, count);
                assert_all_close(&a.weights, &b.weights, 1e-9);
                let scale = a.certificate.primal;
                assert_close(a.certificate.primal, b.certificate.primal, 1e-9, scale);
                assert_close(a.certificate.dual, b.certificate.dual, 1e-9, scale);
            }
        }
    }

    #[test]
    fn two_classes_follow_dual_coordinate_descent(
        problem in any_multiclass(2..=2), method in method()
    ) {
        let method = Method { step: Step::LineSearch, ..method };
        let count = 5 * problem.examples();
        let order = visits(method.order, problem.examples(), method.seed, count);
        let mut descent = DualCoordinateDescent::new(&problem, method.lambda);
        for (done, &i) in order.iter().enumerate() {
            descent.visit(i);
            let solution = after(&problem, method, Average::None, done + 1);
            assert_all_close(&solution.weights, &descent.w, 1e-9);
        }
    }
}

/// Dual coordinate descent for the linear SVM with hinge loss (Hsieh et al. 2008, Algorithm 1): min ½‖w‖²
/// + C Σ max(0, 1 − ⟨w, zᵢ⟩), where zᵢ is the feature difference of the right and the wrong class.
struct DualCoordinateDescent {
    zs: Vec<Vec<f64>>,
    c: f64,
    alpha: Vec<f64>,
    w: Vec<f64>,
}

impl DualCoordinateDescent {
    fn new(problem: &Multiclass, lambda: f64) -> Self {
        let dense = problem.enumerate();
        let zs: Vec<_> = (0..problem.ys.len())
            .map(|i| dense.blocks[i].corners[1 - problem.ys[i]].0.clone())
            .collect();
        let c = 1.0 / (lambda * zs.len() as f64);
        Self { alpha: vec![0.0; zs.len()], w: vec![0.0; dense.dim], zs, c }
    }

    fn visit(&mut self, i: usize) {
        let (z, old) = (&self.zs[i], self.alpha[i]);
        let gradient = dot(&self.w, z) - 1.0;
        let projected = match old {
            a if a <= 0.0 => gradient.min(0.0),
            a if a >= self.c => gradient.max(0.0),
            _ => gradient,
        };
        if projected != 0.0 {
            self.alpha[i] = (old - gradient / norm_sq(z)).clamp(0.0, self.c);
            common::add_scaled(&mut self.w, self.alpha[i] - old, z);
        }
    }
}
