//! Bounds around a problem, and around bounds.

use super::{any_bounds, assert_free_in_no_bounds, assert_same_runs, assert_within, hold_against};
use crate::common::chains::{ChainCase, tieless_chain};
use crate::common::multilabels::any_labels;
use crate::common::potts::any_potts;
use crate::common::problems::any_polytope;
use crate::common::rows::any_rows;
use crate::common::{audit_of, bcfw, cases, qp};
use maxmargin::inference::Inference;
use maxmargin::model::potts::PottsInference;
use maxmargin::{Bounded, Bounds, PathSettings, Problem, Settings, regularization_path, train};
use proptest::prelude::*;

fn small_chain() -> impl Strategy<Value = ChainCase> {
    tieless_chain().prop_map(|mut case| {
        case.sequences.truncate(3);
        case.sequences.iter_mut().for_each(|sequence| sequence.tokens.truncate(2));
        case
    })
}

proptest! {
    #![proptest_config(cases(12))]

    #[test]
    fn infinite_bounds_change_nothing(
        problem in any_polytope(), rows in any_rows(2..=3), chain in small_chain(),
        labels in any_labels(), lambda in 0.2..2.0f64
    ) {
        assert_free_in_no_bounds(|| problem.clone(), lambda);
        // Closed forms of simplices are used as without bounds.
        assert_free_in_no_bounds(|| rows.multiclass(), lambda);
        assert_free_in_no_bounds(|| rows.binary(), lambda);
        assert_free_in_no_bounds(|| chain.build(), lambda);
        assert_free_in_no_bounds(|| labels.build(Inference::Auto), lambda);
    }

    #[test]
    fn infinite_bounds_do_not_change_paths(chain in small_chain()) {
        let free = chain.build();
        let held = Bounded::new(chain.build(), Bounds::none(free.dim()));
        let settings = PathSettings { epsilon: 0.1, lambda_min: 0.01, ..PathSettings::default() };
        let (free, held) = (regularization_path(&free, &settings), regularization_path(&held, &settings));
        let (free, held) = (free.unwrap(), held.unwrap());
        let stated = |path: &maxmargin::Path| -> Vec<_> {
            path.breakpoints.iter().map(|b| b.certificate).collect()
        };
        prop_assert_eq!(stated(&free), stated(&held));
    }

    /// The bounds of the wrapper replace those of the problem inside.
    #[test]
    fn the_outer_bounds_hold(
        (chain, inner, outer) in small_chain().prop_flat_map(|case| {
            let d = case.dim();
            (Just(case), any_bounds(d), any_bounds(d))
        }),
        lambda in 0.2..2.0f64
    ) {
        let dense = chain.enumerate();
        let optimum = qp::solve_within(&dense, lambda, &outer);
        let inside = || chain.build().with_bounds(Some(inner.clone()));
        let twice = Bounded::new(inside(), outer.clone());
        let solution = hold_against(&twice, &dense, lambda, &optimum);
        assert_within(&outer, &solution.weights);
        let other = Bounded::new(Bounded::new(chain.build(), inner.clone()), outer.clone());
        assert_same_runs(&twice, &other, lambda);

        let free = Bounded::new(inside(), Bounds::none(chain.dim()));
        assert_same_runs(&free, &chain.build(), lambda);
    }

    /// A minimum cut needs pairwise weights ≥ 0. If other bounds replace those that guarantee this, the
    /// certificate does not claim too much.
    #[test]
    fn a_decoder_without_its_bounds_promises_less(case in any_potts(2..=2), lambda in 0.05..0.5f64) {
        let problem = case.build(PottsInference::Auto);
        let d = problem.dim();
        let attracted = Bounds::none(d).with(problem.shape().pairwise(), -1.0, -0.1).unwrap();
        for bounds in [Bounds::none(d), attracted] {
            let problem = Bounded::new(case.build(PottsInference::Auto), bounds.clone());
            let settings = Settings { lambda: Some(lambda), max_passes: 50, ..bcfw() };
            let solution = train(&problem, &settings).unwrap();
            let c = audit_of(&problem, &solution).certificate;
            assert_within(&bounds, &solution.weights);
            let dense = case.enumerate();
            let (primal, optimum) =
                (dense.primal(lambda, &solution.weights), qp::solve_within(&dense, lambda, &bounds));
            prop_assert!(c.dual <= optimum.above + 1e-6, "{c:?} against {optimum:?}");
            prop_assert!(c.primal <= primal + 1e-9, "{c:?} against {primal}");
            if c.quality.is_exact() {
                prop_assert!(c.primal >= primal - 1e-9, "{c:?} against {primal}");
            }
        }
    }
}
