//! A batch Frank-Wolfe step with every gap pass: the same steps as a plain dense version takes, no further oracle
//! calls, and a dual that never falls.

use crate::common::problems::{Enumerated, any_polytope};
use crate::common::{add_scaled, assert_all_close, bcfw, cases, dot, minus, norm_sq, qp, watch};
use maxmargin::{
    Average, Bounded, Bounds, Direction, Order, Settings, SettingsRecord, Solver, Status, train,
};
use proptest::prelude::*;

/// wᵢ and ℓᵢ of every block, as the papers keep them.
struct Plain<'a> {
    problem: &'a Enumerated,
    lambda: f64,
    blocks: Vec<(Vec<f64>, f64)>,
}

impl<'a> Plain<'a> {
    fn new(problem: &'a Enumerated, lambda: f64) -> Self {
        let blocks = vec![(vec![0.0; problem.dim], 0.0); problem.blocks.len()];
        Self { problem, lambda, blocks }
    }

    fn w(&self) -> Vec<f64> {
        let mut w = vec![0.0; self.problem.dim];
        self.blocks.iter().for_each(|(part, _)| add_scaled(&mut w, 1.0, part));
        w
    }

    /// wₛ and ℓₛ of the best corner of block `i` at `w`.
    fn corner(&self, i: usize, w: &[f64]) -> (Vec<f64>, f64) {
        let corners = &self.problem.blocks[i].corners;
        let mut best = (f64::NEG_INFINITY, 0);
        for y in 0..corners.len() {
            let value = self.problem.augmented(i, y, w);
            if value > best.0 {
                best = (value, y);
            }
        }
        let (share, (psi, loss)) = (self.problem.share(i), &corners[best.1]);
        (psi.iter().map(|x| share * x / self.lambda).collect(), share * loss)
    }

    /// Moves some blocks by one γ towards corners of theirs.
    fn step(&mut self, towards: &[(usize, (Vec<f64>, f64))]) {
        let (w, mut way, mut losses) = (self.w(), vec![0.0; self.problem.dim], 0.0);
        for (i, (psi, loss)) in towards {
            add_scaled(&mut way, 1.0, &minus(psi, &self.blocks[*i].0));
            losses += loss - self.blocks[*i].1;
        }
        let (slope, curvature) =
            (losses - self.lambda * dot(&way, &w), self.lambda * norm_sq(&way));
        let gamma = match curvature > 0.0 {
            true => (slope / curvature).clamp(0.0, 1.0),
            false => f64::from(u8::from(slope > 0.0)),
        };
        for (i, (psi, loss)) in towards {
            let (part, own) = &mut self.blocks[*i];
            let way = minus(psi, part);
            add_scaled(part, gamma, &way);
            *own += gamma * (loss - *own);
        }
    }

    fn pass(&mut self) {
        for i in 0..self.blocks.len() {
            let corner = self.corner(i, &self.w());
            self.step(&[(i, corner)]);
        }
    }

    fn batch_step(&mut self) {
        let w = self.w();
        let all: Vec<_> = (0..self.blocks.len()).map(|i| (i, self.corner(i, &w))).collect();
        self.step(&all);
    }
}

fn settings(
    lambda: f64,
    order: Order,
    gap_steps: bool,
    max_passes: u64,
    gap_every: u64,
) -> Settings {
    let base = Settings { lambda: Some(lambda), tolerance: 0.0, max_passes, gap_every, ..bcfw() };
    SettingsRecord { order, gap_steps, threads: 1, ..base.record() }.settings().unwrap()
}

proptest! {
    #![proptest_config(cases(32))]

    /// The last check takes no step, because nothing would certify the point after it.
    #[test]
    fn the_steps_are_those_of_the_papers(problem in any_polytope(), lambda in 0.1..2.0f64) {
        let mut plain = Plain::new(&problem, lambda);
        for pass in 0..3 {
            if pass > 0 {
                plain.batch_step();
            }
            plain.pass();
        }
        let solution = train(&problem, &settings(lambda, Order::Cyclic, true, 3, 1)).unwrap();
        // Corners can tie, and then the two need not agree on them; their values do.
        let (found, expected) = (problem.primal(lambda, &solution.weights), problem.primal(lambda, &plain.w()));
        if (found - expected).abs() > 1e-9 {
            let optimum = qp::solve(&problem, lambda);
            prop_assert!(solution.certificate.dual <= optimum.above + 1e-7);
        } else {
            assert_all_close(&solution.weights, &plain.w(), 1e-7);
        }
        let without = train(&problem, &settings(lambda, Order::Cyclic, false, 3, 1)).unwrap();
        prop_assert_eq!(solution.totals.oracle_calls, without.totals.oracle_calls);
        prop_assert_eq!(solution.totals.visits, without.totals.visits);
    }

    #[test]
    fn the_dual_never_falls(problem in any_polytope(), lambda in 0.05..2.0f64, seed: u64) {
        let optimum = qp::solve(&problem, lambda);
        for order in [Order::Uniform, Order::Permutation, Order::Gap] {
            let base = settings(lambda, order, true, 30, 2);
            let (solution, rows) = watch(&problem, &Settings { seed, ..base });
            let duals: Vec<f64> = rows.0.iter().map(|(row, _)| row.dual).collect();
            prop_assert!(duals.windows(2).all(|pair| pair[1] >= pair[0] - 1e-12), "{:?}", duals);
            let c = solution.certificate;
            prop_assert!(c.dual <= optimum.above + 1e-7 && c.primal >= optimum.below - 1e-7);
            let primal = problem.primal(lambda, &solution.weights);
            prop_assert!((c.primal - primal).abs() <= 1e-9 * (1.0 + primal.abs()));
        }
    }

    #[test]
    fn the_dual_never_falls_within_bounds(problem in any_polytope(), lambda in 0.05..2.0f64, lower in -1.0..0.0f64) {
        let bounds = Bounds::none(problem.dim).with(0..problem.dim, lower, 0.3).unwrap();
        let optimum = qp::solve_within(&problem, lambda, &bounds);
        let problem = Bounded::new(problem, bounds);
        let (solution, rows) = watch(&problem, &settings(lambda, Order::Permutation, true, 30, 2));
        let duals: Vec<f64> = rows.0.iter().map(|(row, _)| row.dual).collect();
        prop_assert!(duals.windows(2).all(|pair| pair[1] >= pair[0] - 1e-12), "{:?}", duals);
        let c = solution.certificate;
        prop_assert!(c.dual <= optimum.above + 1e-6 && c.primal >= optimum.below - 1e-6);
    }
}

#[test]
fn settings_without_a_meaning_are_refused() {
    let base = settings(0.1, Order::Permutation, true, 3, 1).record();
    let told = |record: SettingsRecord| record.settings().unwrap_err().to_string();
    assert!(
        told(SettingsRecord { direction: Direction::Pairwise, ..base.clone() })
            .contains("remember")
    );
    assert!(
        told(SettingsRecord { average: Average::Weighted, ..base.clone() }).contains("average")
    );
    assert!(told(SettingsRecord { solver: Solver::FrankWolfe, ..base.clone() }).contains("bcfw"));
    let solution = train(&maxmargin::doc::toy(), &base.settings().unwrap()).unwrap();
    assert_eq!(solution.status, Status::MaxPasses);
}
