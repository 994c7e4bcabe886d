//! The theorems of Meshi, Srebro and Hazan (2015) on soft constraints, held against small random problems whose optima
//! are known.
//!
//! With h = M·(8·Y_max·q·(BR + L))² and the penalty ρ/2·‖δ‖² beside the mean over M examples, Theorem 4.1 says g*_ρ −
//! ρ/2·h ≤ g* ≤ g*_ρ, and Theorem 4.2 that a point whose soft gap is at most ε is (ε + ρ/2·h)-optimal for the hard
//! problem. Inside the mean, the penalty of an example is multiplied by its share, and M falls out of h.

use crate::common::factor_graphs::{GraphCase, any_graphs};
use crate::common::{cases, norm_sq, watch};
use crate::soft::{exactly, scaled, share, soft_optimum};
use maxmargin::model::soft::RhoScale;
use maxmargin::{Order, Settings, SettingsRecord, Solver, train};
use proptest::prelude::*;

/// h, from the largest part features and part losses, and from the length that an optimal w cannot exceed.
fn bound(case: &GraphCase, lambda: f64, scale: RhoScale) -> f64 {
    let (mut radius, mut loss, mut states, mut factors, mut start) =
        (0.0f64, 0.0f64, 0usize, 0usize, 0.0);
    for i in 0..case.graphs.len() {
        let structure = case.structure_apart(i);
        let topology = structure.topology();
        let lengths = case.part_features_apart(i).into_iter().map(|x| norm_sq(&x).sqrt());
        radius = lengths.fold(radius, f64::max);
        let losses = case.part_losses_apart(i);
        loss = losses.iter().copied().fold(loss, f64::max);
        states = structure.states.iter().copied().fold(states, usize::max);
        factors = factors.max(topology.variables() + structure.factors.len());
        let largest =
            |parts: std::ops::Range<usize>| parts.map(|part| losses[part]).fold(0.0, f64::max);
        let nodes = (0..topology.variables()).map(|v| largest(topology.node(v)));
        let tables = (0..structure.factors.len()).map(|f| largest(topology.table(f)));
        start += share(case, i) * nodes.chain(tables).sum::<f64>();
    }
    // λ/2 ‖w*‖² ≤ g(w*, δ*) ≤ g(0, 0).
    let length = (2.0 * start / lambda).sqrt();
    let one = (8.0 * (states * factors) as f64 * (length * radius + loss)).powi(2);
    match scale {
        RhoScale::Sum => case.graphs.len() as f64 * one,
        _ => one,
    }
}

proptest! {
    #![proptest_config(cases(16))]

    /// Theorem 4.1.
    #[test]
    fn the_soft_optimum_is_near_the_hard_one(
        case in any_graphs(), lambda in 0.1..2.0f64, rho in 0.001..3.0f64, is_sum: bool
    ) {
        let scale = if is_sum { RhoScale::Sum } else { RhoScale::Example };
        let hard = case.relaxed_optimum_apart(lambda);
        let soft = soft_optimum(&case, lambda, rho, scale);
        let h = bound(&case, lambda, scale);
        prop_assert!(hard.below <= soft + 1e-6, "{hard:?} is above {soft}");
        prop_assert!(soft - 0.5 * rho * h <= hard.above + 1e-6, "{soft} − {rho}/2·{h} is above {hard:?}");
    }

    /// Theorem 4.2, along whole runs.
    #[test]
    fn every_iterate_is_as_near_to_the_hard_optimum_as_its_gap_says(
        case in any_graphs(), lambda in 0.1..2.0f64, rho in 0.001..3.0f64, is_sum: bool, seed: u64
    ) {
        let scale = if is_sum { RhoScale::Sum } else { RhoScale::Example };
        let hard = case.relaxed_optimum_apart(lambda);
        let problem = scaled(&case, lambda, rho, scale);
        let h = bound(&case, lambda, scale);
        let (solver, order) = (Solver::BlockCoordinate, Order::Uniform);
        let base = SettingsRecord { solver, order, ..exactly(lambda).record() };
        let record = SettingsRecord { max_passes: 30, gap_every: 1, tolerance: 0.0, seed, ..base };
        let (_, rows) = watch(&problem, &record.settings().unwrap());
        for (row, _) in &rows.0 {
            // The second objective of a soft problem is g(w, δ).
            let (gap, reached) = (row.gap.unwrap(), row.second.unwrap());
            let most = hard.above + gap + 0.5 * rho * h;
            prop_assert!(reached <= most + 1e-6, "{reached} > {most}");
            prop_assert!(reached >= hard.below - 1e-6, "{reached} is below {hard:?}");
        }
    }
}

proptest! {
    #![proptest_config(cases(6))]

    /// What Theorem 4.1 predicts is seen: a tenth of ρ leaves about a tenth of the distance, or less, once ρ is small.
    #[test]
    fn the_distance_shrinks_with_rho(case in any_graphs(), lambda in 0.3..2.0f64) {
        let hard = case.relaxed_optimum_apart(lambda);
        let away = |rho: f64| soft_optimum(&case, lambda, rho, RhoScale::Example) - hard.below;
        let [one, tenth, hundredth] = [1.0, 0.1, 0.01].map(away);
        let room = 1e-6 + 2.0 * (hard.above - hard.below);
        prop_assert!(tenth <= one + room && hundredth <= tenth + room);
        // g*_ρ is concave in ρ, as a minimum of functions that are linear in it, and its limit at 0 is g*.
        prop_assert!(tenth >= 0.1 * one - room && hundredth >= 0.1 * tenth - room);
        let problem = scaled(&case, lambda, 0.01, RhoScale::Example);
        let settings = Settings { tolerance: 1e-6, ..exactly(lambda) };
        let c = train(&problem, &settings).unwrap().certificate;
        prop_assert!(c.primal - hard.below >= hundredth - c.gap - room);
    }
}
