//! Bounds around a kernel, and a kernel around bounds.

use super::{assert_encloses, assert_free_in_no_bounds, assert_same_runs, precisely};
use crate::common::chains::tieless_chain;
use crate::common::problems::Multiclass;
use crate::common::rows::{CaseRow, RowsCase, any_rows};
use crate::common::{assert_certified, assert_close, audit_of, cases, qp};
use maxmargin::ProblemExt as _;
use maxmargin::SparseVec;
use maxmargin::kernel::{Kernel, KernelError, Kernelised, NodeInputs};
use maxmargin::model::multiclass;
use maxmargin::problem::{Abilities, OwnLength, Parts, Target};
use maxmargin::{
    Bounded, Bounds, DualPoint, GridSettings, PathSettings, Problem, Settings, TrainError, Trainer,
    audit, forward_problem, lambda_grid, regularization_path, train,
};
use proptest::prelude::*;

/// ⟨a, b⟩².
const SQUARE: Kernel = Kernel::Polynomial { degree: 2, gamma: 1.0, constant: 0.0 };

fn kernelised(case: &RowsCase, kernel: Kernel) -> Kernelised<multiclass::Multiclass> {
    Kernelised::new(case.multiclass(), kernel, 1 << 20).unwrap()
}

/// The attributes of a row, each once.
fn values(case: &RowsCase, i: usize) -> Vec<f64> {
    case.x(i)[..case.attributes].to_vec()
}

/// All products of two attributes, which are the features of the square kernel.
fn products(x: &[f64]) -> Vec<f64> {
    x.iter().flat_map(|a| x.iter().map(move |b| a * b)).collect()
}

/// The problem that is equivalent to the square kernel, with explicit features.
fn squared(case: &RowsCase) -> RowsCase {
    let row = |i: usize| CaseRow {
        attributes: (0..).zip(products(&values(case, i))).collect(),
        ..case.rows[i].clone()
    };
    let rows = (0..case.rows.len()).map(row).collect();
    RowsCase { attributes: case.attributes * case.attributes, rows, ..case.clone() }
}

/// The weights of products that correspond to coefficients of the square kernel.
fn expanded(case: &RowsCase, problem: &impl NodeInputs, beta: &[f64]) -> Vec<f64> {
    let (k, many) = (case.classes, case.attributes * case.attributes);
    let (mut w, mut seen) = (vec![0.0; many * k], Vec::new());
    for i in 0..case.rows.len() {
        let number = problem.input(i, 0).attributes[0] as usize;
        if seen.contains(&number) {
            continue;
        }
        seen.push(number);
        for (at, product) in products(&values(case, i)).into_iter().enumerate() {
            for class in 0..k {
                w[at * k + class] += product * beta[number * k + class];
            }
        }
    }
    w.extend_from_slice(&beta[seen.len() * k..]);
    w
}

proptest! {
    #![proptest_config(cases(16))]

    /// The primal is that in the space of the kernel, by brute force over all classes with explicit
    /// features, and an independent QP finds the same optimum.
    #[test]
    fn certificates_with_infinite_bounds_are_those_of_the_kernels_space(
        case in any_rows(2..=4), lambda in 0.2..2.0f64
    ) {
        let inner = kernelised(&case, SQUARE);
        let d = inner.dim();
        let problem = Bounded::new(inner, Bounds::none(d));
        let solution = train(&problem, &precisely(lambda)).unwrap();
        assert_certified(&problem, &solution);
        let dense = squared(&case).enumerate();
        let w = expanded(&case, problem.inner().inner(), &solution.weights);
        for c in [solution.certificate, audit_of(&problem, &solution).certificate] {
            assert_close(c.primal, dense.primal(lambda, &w), 1e-9, c.primal);
            assert_encloses(&c, &qp::solve(&dense, lambda));
        }
    }

    #[test]
    fn infinite_bounds_change_nothing(
        rows in any_rows(2..=3), chain in tieless_chain(), gamma in 0.1..2.0f64, lambda in 0.2..2.0f64
    ) {
        let kernel = Kernel::Rbf { gamma };
        assert_free_in_no_bounds(|| kernelised(&rows, kernel), lambda);
        assert_free_in_no_bounds(|| Kernelised::new(chain.build(), kernel, 0).unwrap(), lambda);
        // The problem's own bounds, which a kernel drops.
        let none = Bounds::none(chain.dim());
        let inside = chain.build().with_bounds(Some(none));
        let (ours, theirs) = (Kernelised::new(inside, kernel, 0), Kernelised::new(chain.build(), kernel, 0));
        assert_same_runs(&ours.unwrap(), &theirs.unwrap(), lambda);

        let settings = PathSettings { epsilon: 0.2, lambda_min: 0.05, ..PathSettings::default() };
        let (free, d) = (kernelised(&rows, kernel), kernelised(&rows, kernel).dim());
        let held = Bounded::new(kernelised(&rows, kernel), Bounds::none(d));
        let stated = |path: maxmargin::Path| -> Vec<_> {
            path.breakpoints.iter().map(|b| b.certificate).collect()
        };
        let free = stated(regularization_path(&free, &settings).unwrap());
        prop_assert_eq!(free, stated(regularization_path(&held, &settings).unwrap()));
    }

    /// A single bound at any weight is refused, by every function.
    #[test]
    fn bounds_around_a_kernel_are_refused(case in any_rows(2..=3), at in any::<prop::sample::Index>()) {
        let inner = kernelised(&case, Kernel::Rbf { gamma: 1.0 });
        let d = inner.dim();
        let at = at.index(d);
        let bounds = Bounds::none(d).with(at..at + 1, -1e9, f64::INFINITY).unwrap();
        assert_refused(&Bounded::new(inner, bounds));
    }

    #[test]
    fn bounds_in_a_kernel_are_refused(chain in tieless_chain()) {
        let bounds = Bounds::none(chain.dim()).with(0..1, 0.0, f64::INFINITY).unwrap();
        let chain = chain.build().with_bounds(Some(bounds));
        let refused = Kernelised::new(chain, Kernel::Linear, 0).map(|_| ()).unwrap_err();
        prop_assert_eq!(refused, KernelError::Bounds);
    }
}

/// Asserts that every function refuses a problem.
#[track_caller]
fn assert_refused(problem: &impl Problem) {
    let (w, point) = (vec![0.0; problem.dim()], DualPoint::at_truth(problem));
    let settings = Settings::default();
    let refusals = [
        train(problem, &settings).map(|_| ()),
        Trainer::new(settings).start_from(point.clone()).train(problem).map(|_| ()),
        audit(problem, 1.0, &w, &point, 1e-9, 1).map(|_| ()),
        regularization_path(problem, &PathSettings::default()).map(|_| ()),
        lambda_grid(problem, &GridSettings::default()).map(|_| ()),
    ];
    assert_eq!(refusals, [const { Err(TrainError::BoundedLength) }; 5]);
}

/// A problem with its own length, with or without bounds.
struct Stretched {
    inner: Multiclass,
    bounds: Bounds,
}

impl Problem for Stretched {
    type Output = usize;
    type Workspace = Vec<f64>;

    forward_problem!(self.inner, workspace, except [bounds, abilities]);

    fn bounds(&self) -> Option<&Bounds> {
        Some(&self.bounds)
    }
    fn abilities(&self) -> Abilities<'_, Vec<f64>, usize> {
        Abilities { parts: Some(self), own_length: Some(self), ..self.inner.abilities() }
    }
}

impl Parts for Stretched {
    fn parts(&self, i: usize, y: &usize, parts: &mut SparseVec) {
        self.inner.parts(i, y, parts);
    }
    fn truth_parts(&self, _: usize, _: &mut SparseVec) {}
    fn score(&self, i: usize, w: &[f64], workspace: &Vec<f64>, parts: &SparseVec) -> f64 {
        self.inner.score(i, w, workspace, parts)
    }
    fn norm_sq(&self, _: usize, _: &mut Vec<f64>, parts: &SparseVec) -> f64 {
        4.0 * parts.norm_sq()
    }
    fn scatter(&self, i: usize, scale: f64, parts: &SparseVec, target: Target<'_>) {
        self.inner.scatter(i, scale, parts, target);
    }
}

impl OwnLength for Stretched {
    fn weights_norm_sq(&self, w: &[f64]) -> f64 {
        4.0 * w.iter().map(|w| w * w).sum::<f64>()
    }
}

/// Bounds are refused for kernels, and for every other problem with its own length.
#[test]
fn bounds_are_rejected_for_problems_with_their_own_length() {
    let inner = Multiclass { classes: 2, xs: vec![vec![1.0], vec![-1.0]], ys: vec![0, 1] };
    let above = Bounds::none(2).with(0..1, 0.0, f64::INFINITY).unwrap();
    assert_refused(&Stretched { inner: inner.clone(), bounds: above });
    let free = Stretched { inner, bounds: Bounds::none(2) };
    assert!(audit(&free, 1.0, &[0.5, 0.0], &DualPoint::at_truth(&free), 1e-9, 1).is_ok());
    let text = TrainError::BoundedLength.to_string();
    assert_eq!(
        text,
        "the weights have bounds, and a length that is not the root of the sum of their squares, as \
         with a kernel; the two do not go together"
    );
}
