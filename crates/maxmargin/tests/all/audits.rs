//! Audits with oracles whose answers are prescribed, and audits that are refused.

use crate::common::problems::{Enumerated, EnumeratedBlock, bounded};
use maxmargin::ProblemExt as _;
use maxmargin::problem::{Abilities, CheckPoints};
use maxmargin::{
    Audit, Block, Bounds, DualPoint, PointCheck, Problem, Quality, Settings, SparseVec, TrainError,
    audit, forward_problem, train,
};

/// A problem in one dimension whose oracle always answers with the last output. Every point passes its
/// check, so the quality of a certificate depends on the oracle alone.
struct Told(Enumerated);

impl Problem for Told {
    type Output = usize;
    type Workspace = ();

    forward_problem!(self.0, workspace, except [oracle, abilities]);

    fn oracle(&self, i: usize, _: &[f64], (): &mut (), y: &mut usize) {
        *y = self.0.blocks[i].corners.len() - 1;
    }
    fn abilities(&self) -> Abilities<'_, (), usize> {
        Abilities { points: Some(self), ..self.0.abilities() }
    }
}

impl CheckPoints for Told {
    fn check_point(&self, _: usize, _: &SparseVec, _: f64, _: f64) -> Result<PointCheck, String> {
        Ok(PointCheck::Feasible)
    }
}

/// One example with the truth and other outputs, given by ψ and loss.
fn one(outputs: &[(f64, f64)]) -> Enumerated {
    let corners = std::iter::once(&(0.0, 0.0)).chain(outputs);
    let corners = corners.map(|&(psi, loss)| (vec![psi], loss)).collect();
    Enumerated { dim: 1, blocks: vec![EnumeratedBlock { weight: 1.0, corners }] }
}

/// The point with all mass on one output.
fn at(problem: &Enumerated, y: usize) -> DualPoint {
    let mut parts = SparseVec::new();
    problem.parts(0, &y, &mut parts);
    DualPoint { blocks: vec![Block { parts: parts.into(), loss: problem.loss(0, &y) }] }
}

/// Audits weights with an oracle that answers with the last of some outputs. The point is one of the
/// outputs.
fn told(outputs: &[(f64, f64)], point: usize, w: f64) -> Audit {
    let problem = one(outputs);
    let point = at(&problem, point);
    audit(&Told(problem), 1.0, &[w], &point, 1e-9, 1).unwrap()
}

/// An answer below the truth is a failure, unless rounding explains it: up to 1e-9 of the numbers that
/// its value is made of, and of 1.
#[test]
fn an_answer_below_the_truth_is_rounding_or_a_failure() {
    let quality = |loss: f64, below: f64| told(&[(loss + below, loss)], 0, 1.0).certificate.quality;
    for (loss, size) in [(1e6, 2e6), (0.0, 1.0), (1.0, 3.0)] {
        assert_eq!(quality(loss, 0.98e-9 * size), Quality::Exact, "{loss}");
        assert_eq!(quality(loss, 1.02e-9 * size), Quality::Heuristic, "{loss}");
        assert_eq!(quality(loss, 1.0), Quality::Heuristic, "{loss}");
        assert_eq!(quality(loss, -1.0), Quality::Exact, "{loss}");
    }
}

/// The same for an answer below the block's own point, whose loss is one more number.
#[test]
fn an_answer_below_the_own_point_is_rounding_or_a_failure() {
    let quality = |loss: f64, own: f64| {
        // At w = 0 only losses count.
        told(&[(1.0, own), (1.0, loss)], 1, 0.0).certificate.quality
    };
    assert_eq!(quality(1e6, 1e6 + 1.98e-3), Quality::Exact);
    assert_eq!(quality(1e6, 1e6 + 2.02e-3), Quality::Heuristic);
    assert_eq!(quality(0.0, 0.98e-9), Quality::Exact);
    assert_eq!(quality(0.0, 1.02e-9), Quality::Heuristic);
}

/// The truth is better than the point, and the point is better than the answer. So the hinge is 0, and
/// the distance of the point from it is the gap.
#[test]
fn the_truth_stands_in_for_a_worse_answer() {
    // Values at w = 1: −10 at the point, −20 at the answer.
    let found = told(&[(11.0, 1.0), (21.0, 1.0)], 1, 1.0);
    assert_eq!(found.certificate.primal, 0.5);
    assert_eq!(found.block_gaps, [10.0]);
    assert_eq!(found.certificate.quality, Quality::Heuristic);
}

/// The point is better than the answer and the truth. So the hinge is the value of the point.
#[test]
fn the_point_stands_in_for_a_worse_answer() {
    // Values at w = −1: 12 at the point, 3 at the answer.
    let found = told(&[(11.0, 1.0), (2.0, 1.0)], 1, -1.0);
    assert_eq!(found.certificate.primal, 0.5 + 12.0);
    assert_eq!(found.block_gaps, [0.0]);
    assert_eq!(found.certificate.quality, Quality::Heuristic);
}

/// Weights may be outside their bounds by at most 1e-9 of themselves and of 1.
#[test]
fn weights_out_of_bounds_are_rounding_or_refused() {
    for (bound, excused) in [(0.0, 1e-9), (1.0, 2e-9), (1e3, 1.001e-6), (-1e3, 1.001e-6)] {
        for side in [1.0, -1.0] {
            let (lower, upper) = match side > 0.0 {
                true => (f64::NEG_INFINITY, bound),
                false => (bound, f64::INFINITY),
            };
            let bounds = Bounds::new(vec![lower], vec![upper]).unwrap();
            let problem = bounded(one(&[(1.0, 1.0)]), bounds);
            let point = DualPoint::at_truth(&problem);
            let outside = |by: f64| audit(&problem, 1.0, &[bound + side * by], &point, 1e-9, 1);
            assert!(outside(0.98 * excused).is_ok(), "{bound}");
            for by in [1.02 * excused, 0.5] {
                let weight = bound + side * by;
                let refused = TrainError::OutOfBounds { feature: 0, weight };
                assert_eq!(outside(by).unwrap_err(), refused);
            }
        }
    }
}

#[test]
fn invalid_slacks_are_rejected() {
    let problem = one(&[(1.0, 1.0)]);
    let point = DualPoint::at_truth(&problem);
    for slack in [-1e-9, f64::NEG_INFINITY, f64::INFINITY, f64::NAN] {
        let error = audit(&problem, 1.0, &[0.0], &point, slack, 1).unwrap_err();
        assert!(matches!(error, TrainError::Settings(_)), "{slack}: {error}");
        assert!(error.to_string().contains("slack"), "{error}");
    }
    assert!(audit(&problem, 1.0, &[0.0], &point, 0.0, 1).is_ok());
}

/// At the truth, everything but λ is valid.
#[test]
fn invalid_lambdas_are_rejected() {
    let problem = one(&[(1.0, 1.0)]);
    let point = DualPoint::at_truth(&problem);
    for lambda in [0.0, -1.0, f64::INFINITY, f64::NAN] {
        let error = audit(&problem, lambda, &[0.0], &point, 1e-9, 1).unwrap_err();
        assert!(matches!(error, TrainError::Settings(_)), "{lambda}: {error}");
    }
}

/// The audit does not search for outputs in an invalid block. It says what is wrong.
#[test]
fn invalid_blocks_are_reported_with_a_reason() {
    let problem = one(&[(1.0, 1.0), (2.0, 0.5)]);
    let said = |parts: SparseVec, loss: f64| {
        let point = DualPoint { blocks: vec![Block { parts: parts.into(), loss }] };
        audit(&problem, 1.0, &[0.0], &point, 1e-9, 1).unwrap().infeasible.unwrap()
    };
    let own = at(&problem, 1).blocks.remove(0);
    let not_finite = (0, "a number is not finite".to_owned());
    assert_eq!(said(own.parts.unpacked(), f64::NAN), not_finite);
    assert_eq!(said(own.parts.unpacked(), f64::INFINITY), not_finite);
    let mut parts = own.parts.unpacked();
    parts.scale(f64::INFINITY);
    assert_eq!(said(parts, own.loss), not_finite);
    // The same point, but in two pieces.
    let mut parts = SparseVec::new();
    for (part, mass) in own.parts.iter() {
        parts.push(part, 0.5 * mass);
        parts.push(part, 0.5 * mass);
    }
    assert_eq!(said(parts, own.loss), (0, "its parts are not sorted".to_owned()));
}

/// The residual is 0 for the weights of a run, and the distance for other weights.
#[test]
fn the_residual_is_the_distance_of_the_weights() {
    let problem = one(&[(2.0, 1.0)]);
    let solution = train(&problem, &Settings { lambda: Some(3.0), ..Settings::default() }).unwrap();
    let mut weights = solution.weights.clone();
    weights[0] -= 0.125;
    let found = audit(&problem, 3.0, &weights, &solution.dual, 1e-9, 1).unwrap();
    assert!((found.weight_residual - 0.125).abs() < 1e-12, "{found:?}");
}
