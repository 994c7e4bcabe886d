//! Slack rescaling with bounds around it, with the problem's own bounds, with heuristics, and with signed
//! losses.

use super::{
    any_bounds, assert_free_in_no_bounds, assert_same_runs, assert_within, every_solver,
    hold_against,
};
use crate::common::chains::tieless_chain;
use crate::common::factor_graphs::frustrated_graphs;
use crate::common::multilabels::any_labels;
use crate::common::paths::settings;
use crate::common::problems::{Enumerated, any_polytope};
use crate::common::rows::any_rows;
use crate::common::{audit_of, cases, qp};
use maxmargin::ProblemExt as _;
use maxmargin::inference::Inference;
use maxmargin::problem::Abilities;
use maxmargin::{
    Bounded, Bounds, DualPoint, Enumerable, Problem, Quality, Settings, SlackRescaled, Solver,
    TrainError, audit, forward_problem, regularization_path, train,
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

/// Trains within bounds, and compares the result with brute force and a QP.
fn hold<P: Enumerable>(inner: P, dense: &Enumerated, bounds: Bounds, lambda: f64) {
    let dense = rescaled(dense);
    let optimum = qp::solve_within(&dense, lambda, &bounds);
    let problem = Bounded::new(SlackRescaled::new(inner), bounds.clone());
    let solution = hold_against(&problem, &dense, lambda, &optimum);
    assert_within(&bounds, &solution.weights);
}

/// A problem that lists every ψ and loss, one of which may be changed.
#[derive(Debug, Clone)]
struct Listed {
    inner: Enumerated,
    signed: bool,
}

impl Problem for Listed {
    type Output = usize;
    type Workspace = ();

    forward_problem!(self.inner, workspace, except[abilities]);

    fn abilities(&self) -> Abilities<'_, (), usize> {
        Abilities { has_signed_losses: self.signed, ..self.inner.abilities() }
    }
}

impl Enumerable for Listed {
    fn for_each_output(&self, i: usize, visit: &mut dyn FnMut(&usize)) {
        (0..self.inner.blocks[i].corners.len()).for_each(|y| visit(&y));
    }
}

proptest! {
    #![proptest_config(cases(16))]

    #[test]
    fn rows_in_bounds_have_one_optimum(
        (case, bounds, other) in any_rows(2..=3).prop_flat_map(|case| {
            let (d, e) = (case.multiclass().dim(), case.binary().dim());
            (Just(case), any_bounds(d), any_bounds(e))
        }),
        lambda in 0.2..2.0f64
    ) {
        hold(case.multiclass(), &case.enumerate(), bounds, lambda);
        hold(case.binary(), &case.enumerate_binary(), other, lambda);
        assert_free_in_no_bounds(|| SlackRescaled::new(case.multiclass()), lambda);
    }

    /// The bounds of the problem inside hold, like those of a wrapper.
    #[test]
    fn chains_in_bounds_have_one_optimum(
        (case, bounds) in tieless_chain().prop_flat_map(|mut case| {
            case.sequences.iter_mut().for_each(|sequence| sequence.tokens.truncate(2));
            let d = case.dim();
            (Just(case), any_bounds(d))
        }),
        lambda in 0.2..2.0f64
    ) {
        hold(case.build(), &case.enumerate(), bounds.clone(), lambda);
        let around = Bounded::new(SlackRescaled::new(case.build()), bounds.clone());
        let inside = SlackRescaled::new(case.build().with_bounds(Some(bounds)));
        assert_same_runs(&around, &inside, lambda);
    }

    #[test]
    fn sets_in_bounds_have_one_optimum(
        (case, bounds) in any_labels().prop_flat_map(|case| {
            let d = case.shape.dim();
            (Just(case), any_bounds(d))
        }),
        lambda in 0.2..2.0f64
    ) {
        hold(case.build(Inference::Auto), &case.enumerate(), bounds, lambda);
    }

    /// All outputs are tried, so a heuristic or a relaxation inside does not matter.
    #[test]
    fn trying_out_all_outputs_is_exact(case in frustrated_graphs(), lambda in 0.2..2.0f64) {
        let dense = rescaled(&case.enumerate());
        let optimum = qp::solve(&dense, lambda);
        for inference in [Inference::MaxProduct, Inference::Lp] {
            let inner = case.build(inference);
            prop_assert!(!inner.quality().is_exact());
            let problem = SlackRescaled::new(inner);
            let solution = hold_against(&problem, &dense, lambda, &optimum);
            prop_assert_eq!(solution.certificate.quality, Quality::Exact);
        }
    }

    /// A negative loss of any output is refused by every function, even if the problem allows negative
    /// losses.
    #[test]
    fn negative_losses_are_refused(
        mut inner in any_polytope(), at in any::<prop::sample::Index>(), signed in any::<bool>(),
        loss in -2.0..-0.01f64
    ) {
        let example = at.index(inner.blocks.len());
        let corner = (vec![1.0; inner.dim], loss);
        inner.blocks[example].corners.push(corner);
        let problem = SlackRescaled::new(Listed { inner, signed });
        let expected = TrainError::Loss { example, loss };
        for settings in every_solver(0.5) {
            // A solver that needs expectations is refused because there are none.
            if settings.record().solver != Solver::ExponentiatedGradient {
                prop_assert_eq!(train(&problem, &settings).unwrap_err(), expected.clone());
            }
        }
        let (w, point) = (vec![0.0; problem.dim()], DualPoint::at_truth(&problem));
        prop_assert_eq!(audit(&problem, 0.5, &w, &point, 1e-9, 1).unwrap_err(), expected.clone());
        prop_assert_eq!(regularization_path(&problem, &settings(0.1)).unwrap_err(), expected);
    }

    /// Losses that may be negative, but are not, are accepted.
    #[test]
    fn losses_that_are_never_negative_pass_as_unsigned(
        inner in any_polytope(), lambda in 0.2..2.0f64
    ) {
        let problem = |signed| SlackRescaled::new(Listed { inner: inner.clone(), signed });
        prop_assert!(!problem(true).has_signed_losses());
        assert_same_runs(&problem(true), &problem(false), lambda);
    }

    /// Exponentiated gradients are refused, because the expectations of the problem are those of margin
    /// rescaling.
    #[test]
    fn expectations_are_not_those_of_margin_rescaling(case in any_rows(2..=3)) {
        let problem = SlackRescaled::new(case.multiclass());
        let settings = Settings { method: Solver::ExponentiatedGradient.into(), ..Settings::default() };
        let error = train(&problem, &settings).unwrap_err().to_string();
        prop_assert!(error.contains("slack rescaling"), "{}", error);
        prop_assert!(train(problem.inner(), &settings).is_ok());
    }

    /// With 0/1 loss both rescalings are the same problem, so a proof for one holds for the other.
    #[test]
    fn zero_one_loss_needs_no_rescaling(mut case in any_rows(2..=4), lambda in 0.2..2.0f64) {
        case.costs = None;
        let (plain, dense) = (case.multiclass(), case.enumerate());
        let optimum = qp::solve(&dense, lambda);
        let slack = hold_against(&SlackRescaled::new(case.multiclass()), &dense, lambda, &optimum);
        let margin = audit(&plain, lambda, &slack.weights, &DualPoint::at_truth(&plain), 0.0, 1);
        let primal = audit_of(&SlackRescaled::new(plain), &slack).certificate.primal;
        prop_assert!((margin.unwrap().certificate.primal - primal).abs() <= 1e-12 * (1.0 + primal));
    }
}

#[test]
fn a_nan_loss_is_rejected() {
    let corners = vec![(vec![0.0], 0.0), (vec![1.0], 1.0), (vec![1.0], f64::NAN)];
    let block = crate::common::problems::EnumeratedBlock { weight: 1.0, corners };
    let inner = Listed { inner: Enumerated { dim: 1, blocks: vec![block] }, signed: false };
    let error = train(&SlackRescaled::new(inner), &Settings::default()).unwrap_err();
    assert_eq!(error, TrainError::NotFinite { example: 0 });
}
