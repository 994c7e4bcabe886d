//! Joint kernels against explicit features, an independent QP, and the bound on support vectors.

use crate::common::problems::{Enumerated, any_polytope, random_blocks};
use crate::common::{add_scaled, assert_all_close, assert_close, bcfw, cases, dot, qp, watch};
use maxmargin::kernel::{JointKernel, JointKernelError, JointProblem};
use maxmargin::problem::{CheckOptions, check};
use maxmargin::{
    Caching, Direction, Order, Problem, Settings, SettingsRecord, Solver, SparseVec, TrainError,
    audit, train,
};
use proptest::prelude::*;

/// The outputs of an enumerated problem, with φ(xᵢ, y) = −ψᵢ(y), and a function of their inner products.
#[derive(Debug, Clone)]
struct Listed {
    plain: Enumerated,
    of_product: fn(f64) -> f64,
}

impl Listed {
    fn linear(plain: &Enumerated) -> Self {
        Self { plain: plain.clone(), of_product: |product| product }
    }
}

impl JointKernel for Listed {
    fn examples(&self) -> usize {
        self.plain.blocks.len()
    }
    fn outputs(&self, i: usize) -> usize {
        self.plain.blocks[i].corners.len()
    }
    fn truth(&self, i: usize) -> usize {
        let is_truth =
            |(psi, loss): &(Vec<f64>, f64)| *loss == 0.0 && psi.iter().all(|x| *x == 0.0);
        self.plain.blocks[i].corners.iter().position(is_truth).unwrap()
    }
    fn loss(&self, i: usize, y: usize) -> f64 {
        self.plain.blocks[i].corners[y].1
    }
    fn kernel(&self, (i, y): (usize, usize), (j, z): (usize, usize)) -> f64 {
        let psi = |i: usize, y: usize| &self.plain.blocks[i].corners[y].0;
        (self.of_product)(dot(psi(i, y), psi(j, z)))
    }
    fn weight(&self, i: usize) -> f64 {
        self.plain.blocks[i].weight
    }
}

/// w = Σ β·φ.
fn weights_of(problem: &JointProblem<Listed>, beta: &[f64]) -> Vec<f64> {
    let plain = &problem.data().plain;
    let mut w = vec![0.0; plain.dim];
    for (i, y, coefficient) in problem.support(beta) {
        add_scaled(&mut w, -coefficient, &plain.blocks[i].corners[y].0);
    }
    w
}

/// (1 + ⟨φ, φ′⟩)² with explicit features: products of pairs of (1, φ). The constant differs from example to example in
/// nothing, so that ψ has none.
fn squared(plain: &Enumerated) -> Enumerated {
    let mut squared = plain.clone();
    for (psi, _) in squared.blocks.iter_mut().flat_map(|block| &mut block.corners) {
        let longer: Vec<f64> = std::iter::once(1.0).chain(psi.iter().map(|x| -x)).collect();
        let products = longer.iter().flat_map(|a| longer.iter().map(move |b| a * b));
        // Less those of the truth, whose φ is 0: the first product is 1, and the others are 0.
        *psi = products.enumerate().map(|(at, x)| if at == 0 { 1.0 - x } else { -x }).collect();
    }
    squared.dim = (plain.dim + 1) * (plain.dim + 1);
    squared
}

fn every_method(lambda: f64) -> Vec<Settings> {
    let base =
        Settings { lambda: Some(lambda), tolerance: 1e-4, max_passes: 400, threads: 1, ..bcfw() };
    let record = base.record();
    [
        record.clone(),
        SettingsRecord {
            order: Order::Gap,
            direction: Direction::Pairwise,
            cache: Caching::On,
            ..record.clone()
        },
        SettingsRecord { solver: Solver::FrankWolfe, ..record.clone() },
        SettingsRecord { solver: Solver::OneSlack, ..record.clone() },
        SettingsRecord { solver: Solver::Auto, ..record },
    ]
    .map(|record| record.settings().unwrap())
    .to_vec()
}

proptest! {
    #![proptest_config(cases(24))]

    /// With inner products, iterates are those of the features.
    #[test]
    fn a_linear_joint_kernel_changes_nothing(plain in any_polytope(), lambda in 0.1..2.0f64, seed: u64) {
        let problem = JointProblem::new(Listed::linear(&plain), 1 << 20).unwrap();
        let (order, base) = (Order::Cyclic, bcfw().record());
        let record = SettingsRecord {
            lambda: Some(lambda), order, seed, max_passes: 5, gap_every: 1, tolerance: 0.0, threads: 1, ..base
        };
        let settings = record.settings().unwrap();
        let ((joint, rows), (dense, others)) = (watch(&problem, &settings), watch(&plain, &settings));
        for ((row, _), (other, _)) in rows.0.iter().zip(&others.0) {
            assert_close(row.dual, other.dual, 1e-9, 1.0);
            assert_close(row.gap.unwrap(), other.gap.unwrap(), 1e-8, 1.0);
        }
        assert_all_close(&weights_of(&problem, &joint.weights), &dense.weights, 1e-7);
    }

    /// Kernel values need not be kept, and the same bits come out.
    #[test]
    fn a_cache_changes_nothing(plain in any_polytope(), lambda in 0.1..2.0f64) {
        let of = |bytes| {
            let problem = JointProblem::new(Listed::linear(&plain), bytes).unwrap();
            train(&problem, &every_method(lambda)[1]).unwrap().weights
        };
        let all = of(1 << 20);
        prop_assert_eq!(&all, &of(0));
        prop_assert_eq!(&all, &of(100));
    }

    /// A kernel that is not linear reaches the optimum of its features, and every certificate is true.
    #[test]
    fn squared_kernels_reach_their_optimum(plain in any_polytope(), lambda in 0.2..2.0f64) {
        let of_product = |product: f64| (1.0 + product) * (1.0 + product);
        let problem = JointProblem::new(Listed { plain: plain.clone(), of_product }, 1 << 20).unwrap();
        let features = squared(&plain);
        let optimum = qp::solve(&features, lambda);
        for settings in every_method(lambda) {
            let solution = train(&problem, &settings).unwrap();
            let c = solution.certificate;
            prop_assert!(c.quality.is_exact());
            prop_assert!(c.dual <= optimum.above + 1e-6 && c.primal >= optimum.below - 1e-6, "{c:?}, {optimum:?}");
            let again = audit(&problem, lambda, &solution.weights, &solution.dual, 1e-9, 1).unwrap();
            prop_assert_eq!(again.infeasible, None);
            assert_close(again.certificate.gap, c.gap, 1e-8, 1.0);
        }
    }

    /// Each step gives at most one more output a coefficient, apart from the truths (Lacoste-Julien et al., 2013,
    /// Section 5).
    #[test]
    fn support_vectors_are_no_more_than_steps(plain in any_polytope(), lambda in 0.05..2.0f64, passes in 1u64..6) {
        let problem = JointProblem::new(Listed::linear(&plain), 1 << 20).unwrap();
        for order in [Order::Uniform, Order::Permutation] {
            let record = SettingsRecord {
                lambda: Some(lambda), order, max_passes: passes, tolerance: 0.0, ..bcfw().record()
            };
            let solution = train(&problem, &record.settings().unwrap()).unwrap();
            let support = problem.support(&solution.weights);
            let wrong = support.iter().filter(|(i, y, _)| *y != problem.data().truth(*i)).count() as u64;
            prop_assert!(wrong <= solution.totals.visits, "{wrong} after {} visits", solution.totals.visits);
            // A coefficient of a wrong output is negative, and those of an example sum to 0.
            for i in 0..problem.examples() {
                let own = support.iter().filter(|(example, ..)| *example == i);
                prop_assert!(own.map(|(_, _, c)| c).sum::<f64>().abs() < 1e-9 / lambda);
            }
        }
    }
}

#[test]
fn joint_kernels_keep_the_laws() {
    let problem = JointProblem::new(Listed::linear(&random_blocks(3, 4, 5, 3)), 1 << 16).unwrap();
    assert_eq!(check(&problem, &CheckOptions::default()), []);
}

#[test]
fn points_are_checked() {
    let problem = JointProblem::new(Listed::linear(&random_blocks(3, 2, 3, 2)), 0).unwrap();
    let loss = |y: usize| problem.loss(0, &y);
    let told = |masses: &[(u64, f64)], loss: f64| {
        let parts = SparseVec::from_iter(masses.iter().copied());
        maxmargin::ProblemExt::check_point(&problem, 0, &parts, loss, 1e-9)
            .err()
            .unwrap_or_default()
    };
    assert_eq!(told(&[(0, 0.5), (2, 0.5)], 0.5 * loss(2)), "");
    assert!(told(&[(0, 0.5), (7, 0.5)], 0.0).contains("does not exist"));
    assert!(told(&[(0, 1.5), (2, -0.5)], -0.5 * loss(2)).contains("has the mass"));
    assert!(told(&[(0, 0.5)], 0.0).contains("sum to 0.5"));
    assert!(told(&[(2, 1.0)], 0.0).contains("stated as 0"));
}

#[test]
fn kernels_without_lengths_and_truths_without_outputs_are_refused() {
    let plain = random_blocks(3, 2, 3, 2);
    let negative = Listed { plain: plain.clone(), of_product: |product| -1.0 - product };
    let refused = JointProblem::new(negative, 0).unwrap_err();
    assert!(matches!(refused, JointKernelError::Value { example: 0, output: 0, .. }));
    let settings = Settings { method: Solver::AdaGrad.into(), ..Settings::default() };
    let problem = JointProblem::new(Listed::linear(&plain), 0).unwrap();
    assert!(matches!(train(&problem, &settings).unwrap_err(), TrainError::Unsuited { .. }));
}
