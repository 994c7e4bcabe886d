//! Multiclass and binary problems against brute force, dense formulas and plain coordinate descent.

use crate::common;
use crate::common::problems::{Enumerated, ViaPsi};
use crate::common::rows::{RowsCase, any_rows};
use crate::common::{
    add_scaled, assert_all_close, assert_certified, assert_close, bcfw, cases, dot, norm_sq, qp,
    watch,
};
use maxmargin::ProblemExt as _;
use maxmargin::model::LabelledRows;
use maxmargin::model::multiclass::{ClassLoss, Multiclass, MulticlassShape};
use maxmargin::{
    Caching, Direction, Order, Problem, Rng, Settings, SettingsRecord, SparseVec, train,
};
use proptest::prelude::*;

/// Weights of several kinds: real, zero, small integers (with many ties), huge, tiny.
fn weights(kind: usize, dim: usize, seed: u64) -> Vec<f64> {
    let mut rng = Rng::new(seed);
    let mut draw = || match kind {
        0 => 4.0 * rng.unit_f64() - 2.0,
        1 => 0.0,
        2 => rng.below(3) as f64 - 1.0,
        3 => 1e12 * (2.0 * rng.unit_f64() - 1.0),
        _ => 1e-300 * (2.0 * rng.unit_f64() - 1.0),
    };
    (0..dim).map(|_| draw()).collect()
}

/// The size of the terms of a score, which rounding is relative to.
fn magnitude(case: &RowsCase, i: usize, w: &[f64]) -> f64 {
    let largest = w.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    1.0 + largest * case.x(i).iter().map(|x| 1.0 + x.abs()).sum::<f64>()
}

/// Compares a problem with all its ψ and losses. `output` turns a corner into an output.
fn check_problem<P: Problem<Output: PartialEq + std::fmt::Debug>>(
    problem: &P,
    dense: &Enumerated,
    case: &RowsCase,
    w: &[f64],
    output: impl Fn(usize, usize) -> P::Output,
) {
    assert_eq!((problem.dim(), problem.examples()), (dense.dim, dense.blocks.len()));
    let mut workspace = problem.workspace();
    for i in 0..dense.blocks.len() {
        let scale = magnitude(case, i, w);
        let corners = 0..dense.blocks[i].corners.len();
        let value = |y: usize| dense.augmented(i, y, w);
        let at = |y: &P::Output| corners.clone().find(|&c| output(i, c) == *y).unwrap();
        let mut y = P::Output::default();

        problem.prepare(i, w, &mut workspace);
        problem.oracle(i, w, &mut workspace, &mut y);
        let best = corners.clone().map(value).fold(f64::NEG_INFINITY, f64::max);
        assert_close(value(at(&y)), best, 1e-12, scale);
        problem.decode(i, w, &mut workspace, &mut y);
        let score = |y: usize| -dot(w, &dense.blocks[i].corners[y].0);
        let best = corners.clone().map(score).fold(f64::NEG_INFINITY, f64::max);
        assert_close(score(at(&y)), best, 1e-12, scale);

        let mut truth = SparseVec::new();
        problem.truth_parts(i, &mut truth);
        for corner in corners.clone() {
            let y = output(i, corner);
            let (psi, loss) = &dense.blocks[i].corners[corner];
            assert_eq!(problem.loss(i, &y), *loss);
            let mut sparse = SparseVec::new();
            problem.psi(i, &y, &mut sparse);
            sparse.normalise();
            let mut full = vec![0.0; dense.dim];
            sparse.entries().iter().for_each(|&(f, value)| full[f as usize] += value);
            assert_all_close(&full, psi, 1e-15);

            let mut parts = SparseVec::new();
            problem.parts(i, &y, &mut parts);
            problem.check_point(i, &parts, *loss, 0.0).unwrap();
            parts.add_scaled(-1.0, &truth);
            let mut scattered = vec![0.0; dense.dim];
            problem.scatter(i, -1.0, &parts, scattered.as_mut_slice().into());
            assert_all_close(&scattered, psi, 1e-15);
            let score = problem.score(i, w, &workspace, &parts);
            assert_close(score, -dot(w, psi), 1e-12, scale);
            let length = problem.norm_sq(i, &mut workspace, &parts);
            assert_close(length, norm_sq(psi), 1e-12, norm_sq(psi));
        }
    }
}

/// The methods of `Simplices` agree with all other methods of a problem.
fn check_simplices<P: Problem>(problem: &P, case: &RowsCase, w: &[f64]) {
    let simplices = problem.simplices().unwrap();
    let (mut workspace, mut values) = (problem.workspace(), Vec::new());
    for i in 0..problem.examples() {
        let scale = magnitude(case, i, w);
        problem.prepare(i, w, &mut workspace);
        simplices.values(i, w, &mut values);
        let mut truth = SparseVec::new();
        problem.truth_parts(i, &mut truth);
        assert_eq!(simplices.truth_has_part(), !truth.is_empty());
        for (part, &value) in (0..).zip(&values) {
            let unit = SparseVec::from_iter([(part, 1.0)]);
            let score = simplices.score(i, w, part);
            assert_close(score, problem.score(i, w, &workspace, &unit), 1e-12, scale);
            assert_close(value, simplices.loss(i, part) + score, 1e-12, scale);
            problem.check_point(i, &unit, simplices.loss(i, part), 0.0).unwrap();
        }
        let mut rng = Rng::new(i as u64);
        let any: SparseVec = (0..values.len() as u64).map(|k| (k, rng.unit_f64() - 0.5)).collect();
        let mut features = vec![0.0; problem.dim()];
        problem.scatter(i, 1.0, &any, features.as_mut_slice().into());
        let length = simplices.length_sq(i) * any.norm_sq();
        assert_close(norm_sq(&features), length, 1e-12, length);
        assert_close(problem.norm_sq(i, &mut workspace, &any), length, 1e-12, length);
    }
}

/// The plain dual coordinate descent of Hsieh et al. (2008) in their scale: αᵢ ∈ [0, C·cᵢ].
fn coordinate_descent(case: &RowsCase, c: f64, passes: usize) -> (Vec<f64>, Vec<f64>) {
    let n = case.rows.len();
    let (mut w, mut alpha) = (vec![0.0; case.x(0).len()], vec![0.0; n]);
    for i in (0..passes).flat_map(|_| 0..n) {
        let (x, y) = (case.x(i), case.sign(i));
        let (gradient, upper) = (y * dot(&w, &x) - 1.0, c * case.rows[i].weight);
        let length = norm_sq(&x);
        let new = match length > 0.0 {
            true => (alpha[i] - gradient / length).clamp(0.0, upper),
            false => upper,
        };
        add_scaled(&mut w, (new - alpha[i]) * y, &x);
        alpha[i] = new;
    }
    (w, alpha)
}

proptest! {
    #![proptest_config(cases(96))]

    #[test]
    fn multiclass_is_what_the_formulas_say(
        case in any_rows(1..=5), seed in any::<u64>(), kind in 0usize..5
    ) {
        let (problem, dense) = (case.multiclass(), case.enumerate());
        let w = weights(kind, dense.dim, seed);
        check_problem(&problem, &dense, &case, &w, |_, corner| corner as u32);
        check_simplices(&problem, &case, &w);
    }

    #[test]
    fn binary_is_what_the_formulas_say(
        case in any_rows(2..=3), seed in any::<u64>(), kind in 0usize..5
    ) {
        let (problem, dense) = (case.binary(), case.enumerate_binary());
        let w = weights(kind, dense.dim, seed);
        // Corner 0 is the truth, corner 1 the other label.
        let output = |i: usize, corner: usize| (case.sign(i) > 0.0) == (corner == 0);
        check_problem(&problem, &dense, &case, &w, output);
        check_simplices(&problem, &case, &w);
    }

    /// With λ = 1/(C·Σcᵢ) the objective is that of LIBLINEAR times λ.
    #[test]
    fn objectives_are_those_of_liblinear(case in any_rows(2..=4), c in 0.05..20.0f64) {
        let total: f64 = case.rows.iter().map(|row| row.weight).sum();
        let lambda = 1.0 / (c * total);
        let settings = Settings { lambda: Some(lambda), max_passes: 7, ..Settings::default() };
        let solution = train(&case.multiclass(), &settings).unwrap();
        let theirs = case.liblinear(c, &solution.weights, false);
        assert_close(solution.certificate.primal / lambda, theirs, 1e-10, theirs);
        let solution = train(&case.binary(), &settings).unwrap();
        let theirs = case.liblinear(c, &solution.weights, true);
        assert_close(solution.certificate.primal / lambda, theirs, 1e-10, theirs);
    }

    /// A Frank-Wolfe step on a segment is a step of dual coordinate descent.
    #[test]
    fn binary_steps_are_those_of_dual_coordinate_descent(
        case in any_rows(2..=3), c in 0.05..20.0f64, passes in 1usize..6
    ) {
        let total: f64 = case.rows.iter().map(|row| row.weight).sum();
        let settings = SettingsRecord {
            lambda: Some(1.0 / (c * total)),
            order: Order::Cyclic,
            max_passes: passes as u64,
            tolerance: 0.0,
            ..bcfw().record()
        }.settings().unwrap();
        let solution = train(&case.binary(), &settings).unwrap();
        let (w, alpha) = coordinate_descent(&case, c, passes);
        assert_all_close(&solution.weights, &w, 1e-9);
        for ((block, alpha), row) in solution.dual.blocks.iter().zip(&alpha).zip(&case.rows) {
            let mass = block.parts.iter().next().map_or(0.0, |entry| entry.1);
            assert_close(mass, alpha / (c * row.weight), 1e-9, 1.0);
        }
    }

    /// With one example the best point of its block is the optimum, which a single visit finds.
    #[test]
    fn the_optimum_of_a_block_is_found_at_once(case in any_rows(2..=5), lambda in 0.01..2.0f64) {
        let mut case = case;
        case.rows.truncate(1);
        let (direction, tolerance) = (Direction::Corrective, 0.0);
        let settings = SettingsRecord { lambda: Some(lambda), direction, tolerance, ..bcfw().record() }.settings().unwrap();
        let settings = Settings { max_passes: 1, ..settings };
        let check = |gap: f64| assert!(gap <= 1e-11, "{gap:e}");
        check(train(&case.multiclass(), &settings).unwrap().certificate.gap);
        check(train(&case.binary(), &settings).unwrap().certificate.gap);
    }

    /// `auto` reaches the optimum of a QP solver and of the same problem through ψ.
    #[test]
    fn auto_finds_the_optimum(case in any_rows(1..=4), lambda in 0.01..2.0f64) {
        let settings = Settings { lambda: Some(lambda), tolerance: 1e-9, ..Settings::default() };
        let through_psi = Settings { tolerance: 1e-5, max_passes: 20_000, ..settings.clone() };
        let hold = |dense: &Enumerated, ours: maxmargin::Certificate, slow: maxmargin::Certificate| {
            let optimum = qp::solve(dense, lambda);
            assert!(ours.gap <= 1e-9, "{ours:?}");
            assert_close(ours.primal, optimum.below, 1e-7, optimum.below);
            assert!(ours.dual <= slow.primal + 1e-12 && slow.dual <= ours.primal + 1e-12);
        };
        let (a, b) = (case.multiclass(), case.binary());
        let trained = |solution: maxmargin::Solution| solution.certificate;
        let ours = train(&a, &settings).unwrap();
        assert_certified(&a, &ours);
        hold(&case.enumerate(), ours.certificate, trained(train(&ViaPsi(a), &through_psi).unwrap()));
        let ours = train(&b, &settings).unwrap();
        assert_certified(&b, &ours);
        let slow = trained(train(&ViaPsi(b), &through_psi).unwrap());
        hold(&case.enumerate_binary(), ours.certificate, slow);
    }
}

/// A problem large enough for faces with many corners. Training must take few passes, and the dual must
/// rise.
#[test]
fn few_passes_suffice_on_large_faces() {
    let mut rng = Rng::new(7);
    let row = |rng: &mut Rng, label: u32| {
        let value = |a: u32| rng.unit_f64() - 0.5 + 0.3 * f64::from(a % 5 == label);
        let attributes = (0..20).zip((0..20).map(value).collect::<Vec<_>>()).collect();
        common::rows::CaseRow { weight: 1.0, attributes, label }
    };
    let rows = (0..300).map(|i| row(&mut rng, i % 5)).collect();
    let case = RowsCase { classes: 5, attributes: 20, bias: Some(1.0), costs: None, rows };
    let settings = Settings { tolerance: 1e-9, gap_every: 1, ..Settings::default() };
    for (solution, rows) in [watch(&case.multiclass(), &settings), watch(&case.binary(), &settings)]
    {
        assert!(solution.certificate.gap <= 1e-9);
        assert!(solution.totals.passes <= 60, "{}", solution.totals.passes);
        let duals: Vec<f64> = rows.0.iter().map(|(record, _)| record.dual).collect();
        assert!(duals.is_sorted_by(|a, b| *a <= b + 1e-13), "{duals:?}");
        assert!(solution.totals.drift.weights < 1e-10 && solution.totals.drift.dual < 1e-12);
    }
}

/// Orders by curvature learn it from the rows themselves where blocks are simplices, and go on between exact passes.
#[test]
fn orders_by_curvature_visit_simplices_between_exact_passes() {
    let mut rows = LabelledRows::new();
    let mut rng = Rng::new(3);
    for i in 0..30 {
        let x = (0..4).map(|a| (a, rng.unit_f64() - 0.5));
        rows.push(x.collect::<Vec<_>>(), &[i % 3], 1.0).unwrap();
    }
    let problem = Multiclass::new(MulticlassShape::new(3, 4), rows, ClassLoss::ZeroOne).unwrap();
    for order in [Order::Curvature, Order::GapCurvature] {
        let (direction, cache) = (Direction::Corrective, Caching::Off);
        let (lambda, max_passes, gap_every) = (Some(1e-3), 6, 6);
        let base =
            SettingsRecord { lambda, max_passes, gap_every, tolerance: 0.0, ..bcfw().record() };
        let settings = SettingsRecord { order, direction, cache, ..base }.settings().unwrap();
        let solution = train(&problem, &settings).unwrap();
        assert_eq!(solution.totals.visits, 180, "{order}");
        let settings = Settings { max_passes: 2000, tolerance: 1e-6, gap_every: 1, ..settings };
        assert!(train(&problem, &settings).unwrap().certificate.gap <= 1e-6, "{order}");
    }
}
