//! DLPW against an independent QP.
#![allow(clippy::unwrap_used, reason = "in a test a panic is a failure")]

#[path = "../../../maxmargin/tests/all/common/mod.rs"]
mod common;

use common::cases;
use common::factor_graphs::{GraphCase, any_graphs};
use maxmargin::inference::Inference;
use maxmargin::model::factor_graph::StateLoss;
use maxmargin::model::soft::SoftGraph;
use maxmargin_lab::dlpw::{DlpwSettings, dlpw};
use proptest::prelude::*;

fn soft(case: &GraphCase, lambda: f64, rho: f64) -> SoftGraph {
    let graphs = case.build(Inference::MaxProduct);
    let loss = StateLoss { normalised: case.normalised };
    SoftGraph::of_graphs(graphs.shape(), graphs.data(), loss, lambda, rho).unwrap()
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn dlpw_comes_near_from_above(case in any_graphs(), seed in any::<u64>()) {
        let (lambda, passes) = (1.0, 600);
        let optimum = case.relaxed_optimum(lambda);
        let scale = 1.0 + optimum.above.abs();
        for temperature in [None, Some(0.01)] {
            let settings = DlpwSettings { passes, temperature, seed, ..DlpwSettings::default() };
            let found = dlpw(&soft(&case, lambda, 1.0), &settings).unwrap();
            let last = found.history.last().unwrap().hard_objective;
            assert!(last >= optimum.below - 1e-6 * scale, "{last} is below {optimum:?}");
            assert!(last <= optimum.above + 0.25 * scale, "{last} is above {optimum:?}");
            assert_eq!(found, dlpw(&soft(&case, lambda, 7.0), &settings).map(|mut again| {
                again.history.iter_mut().zip(&found.history).for_each(|(a, b)| a.seconds = b.seconds);
                again
            }).unwrap());
        }
    }
}

#[test]
fn temperatures_that_are_not_positive_are_refused() {
    let problem = maxmargin::doc::soft_pictures(0.1);
    for temperature in [-1.0, 0.0, f64::NAN, f64::INFINITY] {
        let temperature = Some(temperature);
        assert!(dlpw(&problem, &DlpwSettings { temperature, ..DlpwSettings::default() }).is_err());
    }
}
