//! Slack rescaling against brute force and an independent QP.

use crate::common;
use crate::common::chains::tieless_chain;
use crate::common::multilabels::any_labels;
use crate::common::problems::{Enumerated, ViaPsi};
use crate::common::rows::any_rows;
use crate::common::{
    assert_all_close, assert_certified, assert_close, audit_of, bcfw, cases, dot, norm_sq, qp,
};
use maxmargin::ProblemExt as _;
use maxmargin::inference::Inference;
use maxmargin::{
    Direction, Enumerable, Order, Problem, Rng, Settings, SettingsRecord, SlackRescaled, Solver,
    SparseVec, train,
};
use proptest::prelude::*;

/// Every ψ(y) times L(y).
fn rescaled(dense: &Enumerated) -> Enumerated {
    let mut rescaled = dense.clone();
    for (psi, loss) in rescaled.blocks.iter_mut().flat_map(|block| &mut block.corners) {
        psi.iter_mut().for_each(|x| *x *= *loss);
    }
    rescaled
}

/// Compares a rescaled problem with the dense one at some weights. The outputs of `dense` may be in
/// another order; ψ and losses identify them.
fn check<P: Enumerable<Output: PartialEq>>(
    problem: &SlackRescaled<P>,
    dense: &Enumerated,
    w: &[f64],
) {
    let mut workspace = problem.workspace();
    for i in 0..problem.examples() {
        problem.prepare(i, w, &mut workspace);
        let (mut outputs, mut best) = (Vec::new(), P::Output::default());
        problem.inner().for_each_output(i, &mut |y| outputs.push(y.clone()));
        assert_eq!(outputs.len(), dense.blocks[i].corners.len());
        let mut most = f64::NEG_INFINITY;
        for y in &outputs {
            let (mut psi, mut parts, mut full) =
                (SparseVec::new(), SparseVec::new(), vec![0.0; dense.dim]);
            problem.psi(i, y, &mut psi);
            psi.normalise();
            psi.entries().iter().for_each(|&(feature, x)| full[feature as usize] += x);
            let loss = problem.loss(i, y);
            let known = |(psi, l): &&(Vec<f64>, f64)| {
                (l - loss).abs() < 1e-12
                    && common::minus(psi, &full).iter().all(|x| x.abs() < 1e-12)
            };
            assert!(dense.blocks[i].corners.iter().any(|corner| known(&corner)));

            problem.parts(i, y, &mut parts);
            problem.check_point(i, &parts, loss, 1e-12).unwrap();
            let mut scattered = vec![0.0; dense.dim];
            problem.scatter(i, -1.0, &parts, scattered.as_mut_slice().into());
            assert_all_close(&scattered, &full, 1e-12);
            let (score, size) = (dot(w, &full), 1.0 + w.iter().map(|w| w.abs()).sum::<f64>());
            assert_close(problem.score(i, w, &workspace, &parts), -score, 1e-12, size);
            let length = norm_sq(&full);
            assert_close(problem.norm_sq(i, &mut workspace, &parts), length, 1e-11, length);
            most = most.max(loss - score);
        }
        problem.oracle(i, w, &mut workspace, &mut best);
        let (mut psi, size) = (SparseVec::new(), 1.0 + w.iter().map(|w| w.abs()).sum::<f64>());
        problem.psi(i, &best, &mut psi);
        psi.normalise();
        let value = problem.loss(i, &best) - psi.dot_dense(w);
        assert_close(value, most, 1e-11, size);
        let brute = (0..outputs.len()).map(|y| dense.augmented(i, y, w));
        assert_close(most, brute.fold(f64::NEG_INFINITY, f64::max), 1e-11, size);
    }
}

/// Trains by several methods, and compares the results with the optimum.
fn hold_against_qp<P: Enumerable>(problem: SlackRescaled<P>, dense: &Enumerated, lambda: f64) {
    let optimum = qp::solve(dense, lambda);
    let hold = |c: maxmargin::Certificate| {
        assert!(c.gap <= 1e-2 * optimum.above.max(1.0), "{c:?}");
        assert!(c.primal >= optimum.below - 1e-7, "{c:?} against {optimum:?}");
        assert!(c.dual <= optimum.above + 1e-7, "{c:?} against {optimum:?}");
    };
    let base = Settings { lambda: Some(lambda), tolerance: 1e-7, max_passes: 5000, ..bcfw() };
    let auto = SettingsRecord { solver: Solver::Auto, ..base.record() }.settings().unwrap();
    let (order, direction) = (Order::Permutation, Direction::Pairwise);
    let pairwise = SettingsRecord { order, direction, ..base.record() }.settings().unwrap();
    for settings in [auto, pairwise.clone()] {
        let solution = train(&problem, &settings).unwrap();
        assert_certified(&problem, &solution);
        hold(solution.certificate);
    }
    hold(train(&ViaPsi(problem), &pairwise).unwrap().certificate);
}

fn weights(dim: usize, seed: u64, scale: f64) -> Vec<f64> {
    let mut rng = Rng::new(seed);
    (0..dim).map(|_| scale * (2.0 * rng.unit_f64() - 1.0)).collect()
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn rows_are_what_the_formulas_say(
        case in any_rows(2..=4), seed in any::<u64>(),
        scale in proptest::sample::select(&[0.0, 1.0, 1e9][..])
    ) {
        let dense = rescaled(&case.enumerate());
        check(&SlackRescaled::new(case.multiclass()), &dense, &weights(dense.dim, seed, scale));
        let dense = rescaled(&case.enumerate_binary());
        check(&SlackRescaled::new(case.binary()), &dense, &weights(dense.dim, seed, scale));
    }

    #[test]
    fn chains_are_what_the_formulas_say(case in tieless_chain(), seed in any::<u64>()) {
        let dense = rescaled(&case.enumerate());
        check(&SlackRescaled::new(case.build()), &dense, &weights(dense.dim, seed, 2.0));
    }

    #[test]
    fn sets_are_what_the_formulas_say(case in any_labels(), seed in any::<u64>()) {
        let dense = rescaled(&case.enumerate());
        let problem = SlackRescaled::new(case.build(Inference::Auto));
        check(&problem, &dense, &weights(dense.dim, seed, 2.0));
    }

    #[test]
    fn sets_have_one_optimum(case in any_labels(), lambda in 0.2..2.0f64) {
        let dense = rescaled(&case.enumerate());
        hold_against_qp(SlackRescaled::new(case.build(Inference::Auto)), &dense, lambda);
    }

    #[test]
    fn rows_have_one_optimum(case in any_rows(2..=4), lambda in 0.2..2.0f64) {
        let dense = rescaled(&case.enumerate());
        hold_against_qp(SlackRescaled::new(case.multiclass()), &dense, lambda);
        // With 0/1 loss rescaling changes nothing.
        let plain = case.enumerate_binary();
        hold_against_qp(SlackRescaled::new(case.binary()), &plain, lambda);
    }

    #[test]
    fn chains_have_one_optimum(case in tieless_chain(), lambda in 0.2..2.0f64) {
        let mut case = case;
        case.sequences.iter_mut().for_each(|sequence| sequence.tokens.truncate(3));
        let dense = rescaled(&case.enumerate());
        hold_against_qp(SlackRescaled::new(case.build()), &dense, lambda);
    }

    /// A loss that does not belong to the masses is noticed.
    #[test]
    fn tampering_is_noticed(case in any_rows(2..=4), lambda in 0.05..2.0f64) {
        let problem = SlackRescaled::new(case.multiclass());
        let settings = Settings { lambda: Some(lambda), ..Settings::default() };
        let mut solution = train(&problem, &settings).unwrap();
        assert_eq!(audit_of(&problem, &solution).infeasible, None);
        solution.dual.blocks[0].loss += 0.5;
        assert_eq!(audit_of(&problem, &solution).infeasible.unwrap().0, 0);
    }
}
