//! The general method, against projections in closed form and solvers that do not use Frank-Wolfe.

use crate::common::qp;
use maxmargin::observe::Control;
use maxmargin::product::{
    Block, BoxBlock, Domain, L1Ball, L2Ball, LeastSquares, ProductError, ProductSettings,
    ProductSolution, ProductStep, Simplex, Smooth, Spectrahedron, TraceBall, minimise,
    minimise_with,
};
use maxmargin::{Order, Rng, Status};
use proptest::prelude::*;
use std::ops::Range;

const TOLERANCE: f64 = 1e-3;

fn settings(order: Order, step: ProductStep) -> ProductSettings {
    ProductSettings {
        order,
        step,
        tolerance: TOLERANCE,
        gap_every: 5,
        ..ProductSettings::default()
    }
}

fn exact() -> ProductSettings {
    settings(Order::Permutation, ProductStep::Exact)
}

/// The point of the simplex with the sum `sum` that is nearest to `point`, by sorting.
fn project_on_simplex(point: &[f64], sum: f64) -> Vec<f64> {
    let mut sorted = point.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let (mut total, mut shift) = (0.0, 0.0);
    for (count, x) in sorted.iter().enumerate() {
        total += x;
        let next = (total - sum) / (count + 1) as f64;
        if *x > next {
            shift = next;
        }
    }
    point.iter().map(|x| (x - shift).max(0.0)).collect()
}

fn project_on_l1(point: &[f64], radius: f64) -> Vec<f64> {
    let sizes: Vec<f64> = point.iter().map(|x| x.abs()).collect();
    if sizes.iter().sum::<f64>() <= radius {
        return point.to_vec();
    }
    let sizes = project_on_simplex(&sizes, radius);
    sizes.iter().zip(point).map(|(size, x)| size.copysign(*x)).collect()
}

/// Asserts that the solution is as near to the projection of `point` as its gap promises.
fn assert_projects<B: Into<Domain> + Clone>(block: B, point: Vec<f64>, expected: &[f64]) {
    let least = LeastSquares::distance_to(point.clone()).value(expected);
    for step in [ProductStep::Exact, ProductStep::Backtracking] {
        let mut f = LeastSquares::distance_to(point.clone());
        let settings = settings(Order::Permutation, step);
        let solution = minimise(&mut f, &mut [block.clone().into()], &settings).unwrap();
        assert_eq!(solution.status, Status::Converged);
        assert!(solution.gap <= TOLERANCE);
        let above = solution.value - least;
        assert!(above >= -1e-9 && above <= solution.gap + 1e-9, "{above} {}", solution.gap);
        // By strong convexity, half the squared distance is at most the gap.
        let distance: f64 = solution.x.iter().zip(expected).map(|(a, b)| (a - b).powi(2)).sum();
        assert!(0.5 * distance <= solution.gap + 1e-9);
    }
}

fn points() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(-2.0..2.0, 1..6)
}

/// A rotation of three dimensions, row by row.
fn rotation(angles: [f64; 3]) -> [[f64; 3]; 3] {
    let mut whole = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    for (at, angle) in angles.into_iter().enumerate() {
        let (a, b) = (at, (at + 1) % 3);
        for row in &mut whole {
            let (x, y) = (row[a], row[b]);
            row[a] = angle.cos() * x - angle.sin() * y;
            row[b] = angle.sin() * x + angle.cos() * y;
        }
    }
    whole
}

/// U·diag(values)·Vᵀ, row by row.
fn matrix(u: [[f64; 3]; 3], values: &[f64], v: [[f64; 3]; 3]) -> Vec<f64> {
    let entry = |i: usize, j: usize| (0..3).map(|k| u[i][k] * values[k] * v[j][k]).sum();
    (0..9).map(|at| entry(at / 3, at % 3)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn projects_onto_simplices(point in points(), sum in 0.5..3.0) {
        let expected = project_on_simplex(&point, sum);
        assert_projects(Simplex::scaled(point.len(), sum), point, &expected);
    }

    #[test]
    fn projects_onto_l1_balls(point in points(), radius in 0.2f64..3.0) {
        let expected = project_on_l1(&point, radius);
        assert_projects(L1Ball::new(point.len(), radius), point, &expected);
    }

    #[test]
    fn projects_onto_boxes(point in points(), width in 0.1..2.0) {
        let (lower, upper) = (vec![-0.5; point.len()], vec![-0.5 + width; point.len()]);
        let expected: Vec<f64> = point.iter().map(|x| x.clamp(-0.5, -0.5 + width)).collect();
        assert_projects(BoxBlock::new(lower, upper), point, &expected);
    }

    #[test]
    fn projects_onto_round_balls(point in points(), radius in 0.2f64..3.0) {
        let length = point.iter().map(|x| x * x).sum::<f64>().sqrt();
        let scale = (radius / length).min(1.0);
        let expected: Vec<f64> = point.iter().map(|x| scale * x).collect();
        assert_projects(L2Ball::new(point.len(), radius), point, &expected);
    }

    /// On the ellipsoid Σ (xⱼ/aⱼ)² = r² the projection is bⱼ/(1 + μ/aⱼ²), with μ by bisection.
    #[test]
    fn projects_onto_scaled_balls(point in points(), radius in 0.2f64..1.0) {
        let axes: Vec<f64> = (0..point.len()).map(|j| 0.5 + 0.5 * j as f64).collect();
        let at = |mu: f64| -> Vec<f64> {
            point.iter().zip(&axes).map(|(b, a)| b / (1.0 + mu / (a * a))).collect()
        };
        let size = |x: &[f64]| x.iter().zip(&axes).map(|(x, a)| (x / a).powi(2)).sum::<f64>();
        let (mut low, mut high) = (0.0, 1e6);
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if size(&at(middle)) > radius * radius { low = middle } else { high = middle }
        }
        let expected = at(if size(&point) <= radius * radius { 0.0 } else { high });
        assert_projects(L2Ball::scaled(axes.clone(), radius), point.clone(), &expected);
    }

    /// Singular values are projected onto the ℓ1 ball, singular vectors stay.
    #[test]
    fn projects_onto_trace_balls(
        values in prop::collection::vec(0.0..2.0, 3),
        u in prop::array::uniform3(-3.0..3.0), v in prop::array::uniform3(-3.0..3.0),
        radius in 0.5f64..2.0,
    ) {
        let (u, v) = (rotation(u), rotation(v));
        let expected = matrix(u, &project_on_l1(&values, radius), v);
        assert_projects(TraceBall::new(3, 3, radius), matrix(u, &values, v), &expected);
    }

    /// Eigenvalues are projected onto the simplex, eigenvectors stay.
    #[test]
    fn projects_onto_spectrahedra(
        values in prop::collection::vec(-1.0..2.0, 3),
        v in prop::array::uniform3(-3.0..3.0), trace in 0.5..2.0,
    ) {
        let v = rotation(v);
        let expected = matrix(v, &project_on_simplex(&values, trace), v);
        assert_projects(Spectrahedron::new(3, trace), matrix(v, &values, v), &expected);
    }

    /// Corners of matrix blocks are as good as the result of a fine search.
    #[test]
    fn corners_of_matrices_are_the_least(entries in prop::collection::vec(-1.0..1.0, 4)) {
        let (mut ball, mut corner) = (TraceBall::new(2, 2, 1.0), [0.0; 4]);
        let value = |corner: &[f64]| corner.iter().zip(&entries).map(|(s, g)| s * g).sum::<f64>();
        ball.corner(&entries, &mut corner);
        // The larger singular value of two rows has a closed form.
        let (a, b, c, d) = (entries[0], entries[1], entries[2], entries[3]);
        let (sum, det) = (a * a + b * b + c * c + d * d, a * d - b * c);
        let largest = (0.5 * (sum + (sum * sum - 4.0 * det * det).max(0.0).sqrt())).sqrt();
        prop_assert!((value(&corner) + largest).abs() < 1e-6, "{} {largest}", value(&corner));

        Spectrahedron::new(2, 1.0).corner(&entries, &mut corner);
        let off = 0.5 * (b + c);
        let least = 0.5 * (a + d) - (0.25 * (a - d) * (a - d) + off * off).sqrt();
        prop_assert!((value(&corner) - least).abs() < 1e-6, "{} {least}", value(&corner));
        prop_assert!((corner[0] + corner[3] - 1.0).abs() < 1e-9);
    }
}

/// If the largest singular values are nearly equal, it matters little which is taken, but the value must
/// still be that of the largest, for matrices of any shape.
#[test]
fn corners_of_matrices_are_exact_where_singular_values_are_close() {
    for apart in [0.0, 1e-14, 1e-10, 1e-6, 1e-3] {
        let (u, v) = (rotation([0.3, -1.2, 2.0]), rotation([1.1, 0.4, -0.7]));
        let square = matrix(u, &[1.0, 1.0 + apart, 0.5], v);
        // A row and a column of zeros change nothing.
        let padded = |rows: usize, columns: usize| -> Vec<f64> {
            let entry = |i: usize, j: usize| if i < 3 && j < 3 { square[3 * i + j] } else { 0.0 };
            (0..rows * columns).map(|at| entry(at / columns, at % columns)).collect()
        };
        for (rows, columns) in [(3, 3), (3, 4), (4, 3)] {
            let (gradient, mut corner) = (padded(rows, columns), vec![0.0; rows * columns]);
            TraceBall::new(rows, columns, 2.0).corner(&gradient, &mut corner);
            let value = dot(&gradient, &corner);
            assert!((value + 2.0 * (1.0 + apart)).abs() < 1e-13, "{apart} {value}");
        }
        let (gradient, mut corner) = (matrix(u, &[1.0, -1.0, -1.0 - apart], u), vec![0.0; 9]);
        Spectrahedron::new(3, 2.0).corner(&gradient, &mut corner);
        let value = dot(&gradient, &corner);
        assert!((value + 2.0 * (1.0 + apart)).abs() < 1e-13, "{apart} {value}");
    }
    let mut corner = vec![0.0; 6];
    TraceBall::new(2, 3, 1.0).corner(&[0.0; 6], &mut corner);
    assert!(corner.iter().all(|s| s.is_finite()));
}

/// Random columns and a random right-hand side.
fn regression(seed: u64, rows: usize, columns: usize) -> (Vec<Vec<f64>>, Vec<f64>) {
    let mut rng = Rng::new(seed);
    let mut vector = || (0..rows).map(|_| 2.0 * rng.unit_f64() - 1.0).collect::<Vec<f64>>();
    ((0..columns).map(|_| vector()).collect(), vector())
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// ½‖Σ xⱼaⱼ − b‖² over x ≥ 0 with equations, by an interior-point method.
fn by_qp(columns: &[Vec<f64>], b: &[f64], equations: &[(Vec<(usize, f64)>, f64)]) -> f64 {
    let quadratic = qp::csc(columns.len(), columns.len(), |i, j| match i <= j {
        true => dot(&columns[i], &columns[j]),
        false => 0.0,
    });
    let linear: Vec<f64> = columns.iter().map(|column| -dot(column, b)).collect();
    let x = qp::minimise(&quadratic, &linear, equations, 1e-10);
    LeastSquares::new(columns, b.to_vec()).value(&x)
}

/// The optimum lies between value − gap and value.
fn assert_brackets(solution: &ProductSolution, optimum: f64) {
    assert_eq!(solution.status, Status::Converged);
    assert!(solution.value >= optimum - 1e-7, "{} {optimum}", solution.value);
    assert!(solution.value - solution.gap <= optimum + 1e-7, "{} {optimum}", solution.value);
    assert!(solution.block_gaps.iter().all(|gap| *gap >= 0.0));
    assert_eq!(solution.block_gaps.iter().sum::<f64>(), solution.gap);
}

#[test]
fn least_squares_on_simplices_by_every_order_and_step() {
    for seed in 1..=3 {
        let (columns, b) = regression(seed, 4, 9);
        let sums: Vec<_> =
            (0..3).map(|i| ((3 * i..3 * i + 3).map(|j| (j, 1.0)).collect(), 1.0)).collect();
        let optimum = by_qp(&columns, &b, &sums);
        for order in Order::NAMES {
            for step in ProductStep::NAMES {
                let settings = ProductSettings {
                    tolerance: 0.01,
                    max_passes: 100_000,
                    ..settings(order.parse().unwrap(), step.parse().unwrap())
                };
                if matches!(settings.order, Order::Curvature | Order::GapCurvature) {
                    let told = settings.check().unwrap_err().to_string();
                    assert!(told.starts_with(&format!("order {order} draws blocks by")), "{told}");
                    continue;
                }
                let blocks = || -> [Domain; 3] { std::array::from_fn(|_| Simplex::new(3).into()) };
                let run = || {
                    let mut f = LeastSquares::new(&columns, b.clone());
                    minimise(&mut f, &mut blocks(), &settings).unwrap()
                };
                let solution = run();
                assert_brackets(&solution, optimum);
                for block in solution.x.chunks(3) {
                    assert!(block.iter().all(|x| *x >= 0.0));
                    assert!((block.iter().sum::<f64>() - 1.0).abs() < 1e-9);
                }
                assert_eq!(solution, run(), "the same seed has the same bits");
            }
        }
    }
}

#[test]
fn sparse_regression_finds_what_a_qp_finds() {
    for seed in 1..=5 {
        let (columns, b) = regression(seed, 6, 10);
        let radius = 0.8;
        // x = u − v with u, v ≥ 0, whose sum with a slack is the radius.
        let mut split = columns.clone();
        split.extend(columns.iter().map(|column| column.iter().map(|a| -a).collect()));
        split.push(vec![0.0; b.len()]);
        let sum = ((0..split.len()).map(|j| (j, 1.0)).collect(), radius);
        let optimum = by_qp(&split, &b, &[sum]);
        for step in [ProductStep::Exact, ProductStep::Backtracking] {
            let mut f = LeastSquares::new(&columns, b.clone());
            let settings = settings(Order::Permutation, step);
            let solution =
                minimise(&mut f, &mut [L1Ball::new(10, radius).into()], &settings).unwrap();
            assert_brackets(&solution, optimum);
            assert!(solution.x.iter().map(|x| x.abs()).sum::<f64>() <= radius + 1e-12);
        }
    }
}

/// With one block and fixed steps this is the method of Frank and Wolfe, step by step.
#[test]
fn one_block_is_the_classic_method() {
    let (columns, b) = regression(7, 3, 4);
    let mut f = LeastSquares::new(&columns, b.clone());
    let mut seen = Vec::new();
    let settings = ProductSettings {
        gap_every: 1,
        tolerance: 0.0,
        max_passes: 20,
        ..settings(Order::Cyclic, ProductStep::Fixed)
    };
    minimise_with(&mut f, &mut [Simplex::new(4).into()], &settings, |_, x| {
        seen.push(x.to_vec());
        Control::Continue
    })
    .unwrap();
    let mut x = vec![0.25; 4];
    for (k, seen) in seen.iter().enumerate() {
        let error: Vec<f64> = (0..3)
            .map(|row| (0..4).map(|j| columns[j][row] * x[j]).sum::<f64>() - b[row])
            .collect();
        let slopes: Vec<f64> = columns.iter().map(|column| dot(column, &error)).collect();
        let best = (0..4).min_by(|&a, &b| slopes[a].total_cmp(&slopes[b])).unwrap();
        let gamma = 2.0 / (k as f64 + 2.0);
        for (j, x) in x.iter_mut().enumerate() {
            *x += gamma * (f64::from(j == best) - *x);
        }
        assert!(seen.iter().zip(&x).all(|(a, b)| (a - b).abs() < 1e-12), "after {k}");
    }
}

/// Logistic regression: not quadratic, so without curvature.
struct Logistic {
    rows: Vec<(Vec<f64>, f64)>,
}

impl Smooth for Logistic {
    fn value(&self, x: &[f64]) -> f64 {
        self.rows.iter().map(|(a, y)| (-y * dot(a, x)).exp().ln_1p()).sum()
    }

    fn gradient(&self, x: &[f64], block: Range<usize>, gradient: &mut [f64]) {
        gradient.fill(0.0);
        for (a, y) in &self.rows {
            let pull = -y / (1.0 + (y * dot(a, x)).exp());
            for (g, a) in gradient.iter_mut().zip(&a[block.clone()]) {
                *g += pull * a;
            }
        }
    }
}

#[test]
fn backtracking_needs_no_curvature_and_never_rises() {
    let (columns, b) = regression(3, 4, 12);
    let mut f = Logistic {
        rows: columns
            .iter()
            .enumerate()
            .map(|(i, row)| (row.clone(), f64::from(i % 2 == 0) * 2.0 - 1.0))
            .collect(),
    };
    assert_eq!(b.len(), 4);
    let (radius, mut last) = (1.5, f64::INFINITY);
    let mut blocks = [L2Ball::new(2, radius).into(), L2Ball::new(2, radius).into()];
    let settings =
        ProductSettings { gap_every: 1, ..settings(Order::Gap, ProductStep::Backtracking) };
    let solution = minimise_with(&mut f, &mut blocks, &settings, |record, _| {
        assert!(record.value <= last + 1e-12);
        last = record.value;
        Control::Continue
    })
    .unwrap();
    // Projected gradients reach the same point in another way.
    let (mut x, mut gradient) = (vec![0.0; 4], vec![0.0; 4]);
    for _ in 0..20_000 {
        f.gradient(&x, 0..4, &mut gradient);
        x.iter_mut().zip(&gradient).for_each(|(x, g)| *x -= 0.05 * g);
        for block in x.chunks_mut(2) {
            let length = dot(block, block).sqrt();
            block.iter_mut().for_each(|x| *x *= (radius / length).min(1.0));
        }
    }
    assert_brackets(&solution, f.value(&x));
}

/// A segment whose `corner` returns the wrong end.
struct Uphill;

impl Block for Uphill {
    fn dim(&self) -> usize {
        2
    }

    fn start(&self, x: &mut [f64]) {
        x.fill(0.5);
    }

    fn corner(&mut self, gradient: &[f64], corner: &mut [f64]) {
        corner.fill(if gradient[0] + gradient[1] > 0.0 { 1.0 } else { 0.0 });
    }
}

#[test]
fn invalid_problems_and_settings_are_rejected() {
    let mut f = LeastSquares::distance_to(vec![1.0, 2.0]);
    let none = minimise(&mut f, &mut [], &exact());
    assert_eq!(none.unwrap_err(), ProductError::NoBlocks);
    let empty = minimise(&mut f, &mut [Simplex::new(2).into(), Simplex::new(0).into()], &exact());
    assert_eq!(empty.unwrap_err(), ProductError::EmptyBlock { block: 1 });
    let mut curved = Logistic { rows: vec![(vec![1.0], 1.0)] };
    let error = minimise(&mut curved, &mut [L2Ball::new(1, 1.0).into()], &exact()).unwrap_err();
    assert_eq!(error, ProductError::NoCurvature);
    let wild = minimise(&mut f, &mut [L1Ball::new(2, f64::INFINITY).into()], &exact());
    assert!(matches!(wild, Err(ProductError::NotFinite { .. })), "{wild:?}");
    let refusal = |block: Domain| minimise(&mut f.clone(), &mut [block], &exact()).unwrap_err();
    for (block, why) in [
        (L2Ball::new(2, -1.0).into(), "block 0 is empty: its radius is -1"),
        (L1Ball::new(2, f64::NAN).into(), "block 0 is empty: its radius is NaN"),
        (Simplex::scaled(2, -0.5).into(), "block 0 is empty: its sum is -0.5"),
        (TraceBall::new(1, 2, -1.0).into(), "block 0 is empty: its radius is -1"),
        (BoxBlock::new([0.0, 2.0], [1.0, 1.0]).into(), "coordinate 1 lies between 2 and 1"),
        (BoxBlock::new([0.0, f64::NAN], [1.0, 1.0]).into(), "coordinate 1 lies between NaN and 1"),
        (Simplex::new(3).into(), "f is a function of 2 coordinates, and the blocks have 3"),
        (Domain::own(Uphill), "the corner of block 0 is not a minimum"),
    ] {
        let error = refusal(block).to_string();
        assert!(error.contains(why), "{error}");
    }
    // A ball of radius 0 is a point.
    let point = minimise(&mut f, &mut [L2Ball::new(2, 0.0).into()], &exact()).unwrap();
    assert_eq!((point.x, point.gap, point.value), (vec![0.0, 0.0], 0.0, 2.5));
    for (change, name) in [
        (ProductSettings { tolerance: f64::NAN, ..exact() }, "tolerance"),
        (ProductSettings { gap_every: 0, ..exact() }, "gap_every"),
    ] {
        let error = minimise(&mut f, &mut [Simplex::new(2).into()], &change).unwrap_err();
        assert!(error.to_string().starts_with(name), "{error}");
    }
}
