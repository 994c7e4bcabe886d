//! Kernels against the primal method, explicit features and direct formulas.

use crate::common::{
    assert_all_close, assert_certified, assert_close, assert_proven, bcfw, cases, in_batches, watch,
};
use maxmargin::ProblemExt as _;
use maxmargin::inference::Inference;
use maxmargin::kernel::{
    Expander, Kernel, KernelError, KernelModel, Kernelised, NodeInputs, Support,
};
use maxmargin::model::chain::{Chain, ChainShape, FeatureGroups, Hamming, Sequences};
use maxmargin::model::multiclass::{ClassLoss, Multiclass, MulticlassShape};
use maxmargin::model::multilabel::{Multilabel, MultilabelShape};
use maxmargin::model::{LabelledRows, Row};
use maxmargin::{
    Average, Bounds, Caching, Direction, Order, PathSettings, Problem, Rng, Settings,
    SettingsRecord, Solution, Solver, Step, audit, regularization_path, train,
};
use proptest::prelude::*;

pub(crate) const ATTRIBUTES: usize = 4;
pub(crate) const MEGABYTE: usize = 1 << 20;

/// Inputs with real values. With `repeat`, some inputs are repeated and some are empty.
pub(crate) fn inputs(repeat: bool, rng: &mut Rng, count: usize) -> Vec<Vec<(u32, f64)>> {
    let mut all: Vec<Vec<(u32, f64)>> = Vec::new();
    for _ in 0..count {
        if repeat && !all.is_empty() && rng.below(4) == 0 {
            let again = all[rng.below(all.len())].clone();
            all.push(again);
            continue;
        }
        let mut row = Vec::new();
        for attribute in 0..ATTRIBUTES as u32 {
            if (attribute == 0 && !repeat) || rng.below(4) > 0 {
                row.push((attribute, 2.0 * rng.unit_f64() - 1.0));
            }
        }
        all.push(row);
    }
    all
}

pub(crate) fn chain(
    seed: u64,
    map: impl Fn(&[(u32, f64)]) -> Vec<(u32, f64)>,
    attributes: usize,
) -> Chain {
    let mut rng = Rng::new(seed);
    let mut data = Sequences::new();
    for _ in 0..6 {
        let length = 1 + rng.below(4);
        for row in inputs(seed % 2 == 1, &mut rng, length) {
            data.push_token(map(&row), rng.below(3) as u32).unwrap();
        }
        data.end_sequence(0.5 + rng.unit_f64()).unwrap();
    }
    Chain::new(ChainShape::new(3, attributes), data, &Hamming::default()).unwrap()
}

pub(crate) fn rows(
    seed: u64,
    many: bool,
    map: impl Fn(&[(u32, f64)]) -> Vec<(u32, f64)>,
) -> LabelledRows {
    let mut rng = Rng::new(seed);
    let mut data = LabelledRows::new();
    for row in inputs(seed % 2 == 1, &mut rng, 12) {
        let labels: Vec<u32> = match many {
            true => (0..3).filter(|_| rng.below(2) == 0).collect(),
            false => vec![rng.below(3) as u32],
        };
        data.push(map(&row), &labels, 0.5 + rng.unit_f64()).unwrap();
    }
    data
}

pub(crate) fn multiclass(data: LabelledRows, attributes: usize) -> Multiclass {
    let shape = MulticlassShape { bias: Some(0.7), ..MulticlassShape::new(3, attributes) };
    Multiclass::new(shape, data, ClassLoss::ZeroOne).unwrap()
}

pub(crate) fn multilabel(data: LabelledRows, attributes: usize) -> Multilabel {
    let shape = MultilabelShape::complete(3, attributes);
    Multilabel::new(shape, data, &Hamming::default(), Inference::Auto).unwrap()
}

pub(crate) fn same(row: &[(u32, f64)]) -> Vec<(u32, f64)> {
    row.to_vec()
}

/// All products of two attributes: the features of (⟨a, b⟩)².
pub(crate) fn squares(row: &[(u32, f64)]) -> Vec<(u32, f64)> {
    let pair = |&(a, x): &(u32, f64), &(b, y): &(u32, f64)| (a * ATTRIBUTES as u32 + b, x * y);
    row.iter().flat_map(|first| row.iter().map(move |second| pair(first, second))).collect()
}

/// Methods whose iterates do not depend on ties. After an exact step two corners of a block are equally
/// good, and unless something else changes their scores, rounding decides which is taken next. In chains
/// something else always does.
fn tieless_methods(exact_steps: bool) -> Vec<Settings> {
    let base = Settings { lambda: Some(0.1), max_passes: 4, tolerance: 0.0, threads: 1, ..bcfw() };
    let steps = if exact_steps { vec![Step::LineSearch, Step::Fixed] } else { vec![Step::Fixed] };
    let mut all = Vec::new();
    for step in steps {
        let base = SettingsRecord { step, ..base.record() }.settings().unwrap();
        all.push(
            SettingsRecord { solver: Solver::FrankWolfe, ..base.record() }.settings().unwrap(),
        );
        for order in [Order::Uniform, Order::Permutation, Order::Cyclic] {
            all.push(SettingsRecord { order, ..base.record() }.settings().unwrap());
            all.push(
                SettingsRecord { order, average: Average::Weighted, ..base.record() }
                    .settings()
                    .unwrap(),
            );
        }
    }
    all
}

/// All directions, with and without a cache, to a small gap.
fn precise_methods() -> Vec<Settings> {
    let base =
        Settings { lambda: Some(0.1), tolerance: 1e-4, max_passes: 200, threads: 1, ..bcfw() };
    let directions = Direction::NAMES.iter().zip(Order::NAMES.iter().cycle());
    let each = directions.zip([Caching::Off, Caching::On].into_iter().cycle());
    each.map(|((direction, order), cache)| {
        SettingsRecord {
            direction: direction.parse().unwrap(),
            order: order.parse().unwrap(),
            cache,
            ..base.record()
        }
        .settings()
        .unwrap()
    })
    .chain(in_batches(&base).into_iter().filter(|s| s.method.average() == Average::None))
    .collect()
}

/// The weights of attributes and labels that correspond to coefficients.
fn expand<P: NodeInputs>(plain: &P, problem: &Kernelised<P>, weights: &[f64]) -> Vec<f64> {
    let (labels, rest) = (plain.labels(), problem.inputs() * plain.labels());
    let mut w = vec![0.0; plain.rest()];
    // The problem inside has the numbers of inputs.
    for i in 0..plain.examples() {
        for node in 0..plain.nodes(i) {
            let number = problem.inner().input(i, node).attributes[0] as usize;
            let again = (0..i)
                .flat_map(|j| (0..plain.nodes(j)).map(move |n| (j, n)))
                .chain((0..node).map(|n| (i, n)))
                .any(|(j, n)| problem.inner().input(j, n).attributes[0] as usize == number);
            if again {
                continue;
            }
            for (a, x) in plain.input(i, node).pairs() {
                for y in 0..labels {
                    w[a as usize * labels + y] += x * weights[number * labels + y];
                }
            }
        }
    }
    w.extend_from_slice(&weights[rest..]);
    w
}

/// Compares runs with and without a kernel, pass by pass.
fn go_together<P: NodeInputs>(plain: &P, problem: &Kernelised<P>, settings: &Settings) {
    let (ours, our_rows) = watch(problem, settings);
    let (theirs, their_rows) = watch(plain, settings);
    assert_eq!(our_rows.0.len(), their_rows.0.len());
    for ((a, _), (b, _)) in our_rows.0.iter().zip(&their_rows.0) {
        assert_close(a.dual, b.dual, 1e-10, 1.0);
        if let (Some(a), Some(b)) = (a.primal, b.primal) {
            assert_close(a, b, 1e-10, b);
        }
    }
    // Equal inputs cause ties, which may be broken in either way without changing the scores.
    let own = |solution: &Solution| solution.dual.blocks.iter().map(|b| b.loss).collect::<Vec<_>>();
    assert_all_close(&own(&ours), &own(&theirs), 1e-8);
    assert_proven(problem, settings, &ours);
}

/// Asserts the same iterates if ties do not matter, and the same optimum otherwise.
fn agree<P: NodeInputs>(plain: &P, problem: &Kernelised<P>, exact_steps: bool) {
    tieless_methods(exact_steps).iter().for_each(|settings| go_together(plain, problem, settings));
    let expected = train(plain, &Settings { tolerance: 1e-6, ..precise_methods()[0].clone() });
    let expected = expected.unwrap().certificate;
    for settings in precise_methods() {
        let solution = train(problem, &settings).unwrap();
        let found = solution.certificate;
        assert!(found.dual <= expected.primal + 1e-9 && expected.dual <= found.primal + 1e-9);
        assert_certified(problem, &solution);
    }
}

proptest! {
    #![proptest_config(cases(12))]

    /// Compares every pass and not only the optimum.
    #[test]
    fn the_linear_kernel_is_the_primal_method(seed in any::<u64>()) {
        // Equal inputs cause ties, which rounding breaks in either way.
        let seed = seed & !1;
        let plain = || chain(seed, same, ATTRIBUTES);
        let problem = Kernelised::new(plain(), Kernel::Linear, MEGABYTE).unwrap();
        agree(&plain(), &problem, true);
        let settings = Settings { lambda: Some(0.1), max_passes: 3, tolerance: 0.0, ..bcfw() };
        let (ours, theirs) = (train(&problem, &settings).unwrap(), train(&plain(), &settings).unwrap());
        assert_all_close(&expand(&plain(), &problem, &ours.weights), &theirs.weights, 1e-10);

        let plain = || multiclass(rows(seed, false, same), ATTRIBUTES);
        let problem = Kernelised::new(plain(), Kernel::Linear, 0).unwrap();
        agree(&plain(), &problem, false);

        let plain = || multilabel(rows(seed, true, same), ATTRIBUTES);
        let problem = Kernelised::new(plain(), Kernel::Linear, 300).unwrap();
        agree(&plain(), &problem, false);
    }

    #[test]
    fn a_square_kernel_is_the_model_of_all_products(seed in any::<u64>()) {
        let seed = seed & !1;
        let square = Kernel::Polynomial { degree: 2, gamma: 1.0, constant: 0.0 };
        let settings = Settings { lambda: Some(0.05), max_passes: 6, tolerance: 0.0, ..bcfw() };
        let many = ATTRIBUTES * ATTRIBUTES;
        let explicit = chain(seed, squares, many);
        let problem = Kernelised::new(chain(seed, same, ATTRIBUTES), square, MEGABYTE).unwrap();
        go_together(&explicit, &problem, &settings);
        let (a, b) = (watch(&problem, &settings).0, watch(&explicit, &settings).0);
        assert_close(a.certificate.primal, b.certificate.primal, 1e-9, 1.0);
        assert_close(a.certificate.dual, b.certificate.dual, 1e-9, 1.0);

        let explicit = multilabel(rows(seed, true, squares), many);
        let problem = multilabel(rows(seed, true, same), ATTRIBUTES);
        let problem = Kernelised::new(problem, square, MEGABYTE).unwrap();
        let settings = SettingsRecord { step: Step::Fixed, ..settings.record() }.settings().unwrap();
        // Fixed steps cause ties, which rounding breaks in either way. The point that they lead to has
        // the same value in both spaces.
        for solution in [watch(&problem, &settings).0, watch(&explicit, &settings).0] {
            let (lambda, point) = (solution.lambda, &solution.dual);
            let (w, v) = (point.weights(&problem, lambda), point.weights(&explicit, lambda));
            let a = audit(&problem, lambda, &w, point, 1e-9, 1).unwrap().certificate;
            let b = audit(&explicit, lambda, &v, point, 1e-9, 1).unwrap().certificate;
            assert_close(a.primal, b.primal, 1e-9, 1.0);
            assert_close(a.dual, b.dual, 1e-9, 1.0);
            assert_close(a.dual, solution.certificate.dual, 1e-9, 1.0);
        }
    }

    /// The objective of an RBF model from its definition, with all kernel values written out.
    #[test]
    fn certificates_are_those_of_the_kernels_space(seed in any::<u64>(), gamma in 0.1..3.0f64) {
        let data = rows(seed, false, same);
        let problem = Kernelised::new(multiclass(data.clone(), ATTRIBUTES), Kernel::Rbf { gamma }, 500).unwrap();
        let settings = Settings { lambda: Some(0.02), tolerance: 1e-5, ..Settings::default() };
        let solution = train(&problem, &settings).unwrap();
        prop_assert!(solution.certificate.gap <= 1e-2);
        assert_certified(&problem, &solution);

        let dense = |i: usize| {
            let mut x = [0.0; ATTRIBUTES];
            data.row(i).pairs().for_each(|(a, value)| x[a as usize] = value);
            x
        };
        let k = |i: usize, j: usize| {
            let distance: f64 = dense(i).iter().zip(dense(j)).map(|(a, b)| (a - b) * (a - b)).sum();
            (-gamma * distance).exp() + 0.7 * 0.7 // the bias
        };
        // Coefficients of every row and class, straight from the dual point.
        let n = data.len();
        let total: f64 = (0..n).map(|i| data.weight(i)).sum();
        let alpha: Vec<[f64; 3]> = (0..n).map(|i| {
            let mut alpha = [0.0; 3];
            alpha[data.labels(i)[0] as usize] = 1.0;
            solution.dual.blocks[i].parts.iter().for_each(|(y, mass)| alpha[y as usize] -= mass);
            alpha.map(|a| a * data.weight(i) / (total * 0.02))
        }).collect();
        let score = |i: usize, y: usize| (0..n).map(|j| alpha[j][y] * k(j, i)).sum::<f64>();
        let norm: f64 = (0..n).map(|i| (0..3).map(|y| alpha[i][y] * score(i, y)).sum::<f64>()).sum();
        let hinge = |i: usize| {
            let truth = data.labels(i)[0] as usize;
            let value = |y: usize| f64::from(u8::from(y != truth)) + score(i, y) - score(i, truth);
            (0..3).map(value).fold(f64::NEG_INFINITY, f64::max)
        };
        let risk: f64 = (0..n).map(|i| data.weight(i) / total * hinge(i)).sum();
        assert_close(solution.certificate.primal, 0.01 * norm + risk, 1e-9, 1.0);

        let model = KernelModel::new(&problem, &solution.weights);
        let predicted = model.predict(&multiclass(data.clone(), ATTRIBUTES));
        let mut workspace = problem.workspace();
        for (i, &class) in predicted.iter().enumerate() {
            let mut y = 9;
            problem.prepare(i, &solution.weights, &mut workspace);
            problem.decode(i, &solution.weights, &mut workspace, &mut y);
            prop_assert_eq!(class, y);
            let best = (0..3).map(|y| score(i, y)).fold(f64::NEG_INFINITY, f64::max);
            assert_close(score(i, class as usize), best, 1e-9, 1.0);
        }
        let text = serde_json::to_string(&model).unwrap();
        let read: KernelModel = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(read.predict(&multiclass(data.clone(), ATTRIBUTES)), predicted);
        prop_assert_eq!((read.inputs(), read.parts()), (model.inputs(), model.parts()));
    }

    /// A model keeps enough: it is linear in the kernel values of its inputs.
    #[test]
    fn a_kernel_model_is_linear_in_kernel_values(seed in any::<u64>(), gamma in 0.1..2.0) {
        let kernel = Kernel::Rbf { gamma };
        let problem = Kernelised::new(chain(seed, same, ATTRIBUTES), kernel, MEGABYTE).unwrap();
        let solution = train(&problem, &Settings { lambda: Some(0.05), ..bcfw() }).unwrap();
        let (support, kept) = problem.support(&solution.weights);
        prop_assert_eq!(problem.weights_of(&support, &kept), Some(solution.weights.clone()));

        let others = chain(seed ^ 2, same, ATTRIBUTES);
        let mut expander = Expander::new(kernel, &support);
        let mut expanded = Sequences::new();
        for sequence in others.data().iter() {
            for (token, &label) in sequence.tokens().zip(sequence.labels()) {
                expanded.push_token(expander.expand(token).pairs(), label).unwrap();
            }
            expanded.end_sequence(1.0).unwrap();
        }
        let shape = ChainShape { attributes: support.len(), ..*others.shape() };
        let linear = Chain::new(shape, expanded, &Hamming::default()).unwrap();
        let model = KernelModel::new(&problem, &solution.weights);
        let mut workspace = linear.workspace();
        for (i, ours) in model.predict(&others).iter().enumerate() {
            let mut y = Vec::new();
            linear.prepare(i, &kept, &mut workspace);
            linear.decode(i, &kept, &mut workspace, &mut y);
            prop_assert_eq!(ours, &y);
        }

        // Weights of other data or of another number of labels are refused.
        let foreign = Support::new([vec![(0, 123.0)]]).unwrap();
        prop_assert_eq!(problem.weights_of(&foreign, &kept[support.len() * 3 - 3..]), None);
        prop_assert_eq!(problem.weights_of(&support, &kept[1..]), None);
    }

    /// The scale of γ, against the variance written out.
    #[test]
    fn gamma_has_the_scale_of_the_data(seed in any::<u64>()) {
        let data = rows(seed, false, same);
        let mut all = vec![0.0; data.len() * ATTRIBUTES];
        for (row, values) in data.iter().zip(all.chunks_exact_mut(ATTRIBUTES)) {
            row.0.pairs().for_each(|(a, value)| values[a as usize] = value);
        }
        let count = all.len() as f64;
        let mean = all.iter().sum::<f64>() / count;
        let variance = all.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / count;
        let gamma = Kernel::scale(data.iter().map(|(row, _)| row), ATTRIBUTES);
        assert_close(gamma, 1.0 / (ATTRIBUTES as f64 * variance), 1e-9, 1.0);
    }

    /// The size of the cache and the number of threads do not change results.
    #[test]
    fn the_cache_leaves_no_trace(seed in any::<u64>()) {
        let run = |bytes: usize, threads: usize| {
            let problem = chain(seed, same, ATTRIBUTES);
            let problem = Kernelised::new(problem, Kernel::Rbf { gamma: 0.5 }, bytes).unwrap();
            let settings = Settings { lambda: Some(0.05), threads, ..bcfw() };
            (train(&problem, &settings).unwrap(), problem.computed_rows(), problem.inputs())
        };
        let (most, rows, inputs) = run(MEGABYTE, 1);
        prop_assert!(rows <= inputs as u64);
        for (bytes, threads) in [(0, 1), (100, 1), (300, 2), (MEGABYTE, 3)] {
            let (other, computed, _) = run(bytes, threads);
            prop_assert_eq!(&other.weights, &most.weights);
            prop_assert!(computed >= rows || threads > 1);
        }
    }
}

#[test]
fn paths_with_the_linear_kernel_are_the_same() {
    let plain = || chain(11, same, ATTRIBUTES);
    let problem = Kernelised::new(plain(), Kernel::Linear, MEGABYTE).unwrap();
    let settings = PathSettings { epsilon: 0.1, ..PathSettings::default() };
    let ours = regularization_path(&problem, &settings).unwrap();
    let theirs = regularization_path(&plain(), &settings).unwrap();
    // Further down, ties make the paths diverge.
    for (a, b) in ours.breakpoints.iter().zip(&theirs.breakpoints).take(5) {
        assert_close(a.certificate.lambda, b.certificate.lambda, 1e-8, 1.0);
        assert_close(a.growth, b.growth, 1e-8, 1.0);
    }
}

#[test]
fn inputs_without_coefficients_are_left_out() {
    // Two distant groups: inputs deep inside need no coefficient, and equal ones are merged.
    let mut data = LabelledRows::new();
    for (at, label) in [(0.0, 0), (0.0, 0), (1.0, 1), (1.0, 1), (9.0, 0)] {
        data.push([(0, at)], &[label], 1.0).unwrap();
    }
    let plain =
        || Multiclass::new(MulticlassShape::new(2, 1), data.clone(), ClassLoss::ZeroOne).unwrap();
    let problem = Kernelised::new(plain(), Kernel::Rbf { gamma: 1.0 }, MEGABYTE).unwrap();
    assert_eq!((problem.nodes(), problem.inputs()), (5, 3));
    let solution =
        train(&problem, &Settings { lambda: Some(0.01), ..Settings::default() }).unwrap();
    let model = KernelModel::new(&problem, &solution.weights);
    assert!(model.inputs() <= 3 && model.parts() <= 6);
    assert_eq!(model.predict(&plain()), [0, 0, 1, 1, 0]);
    assert_eq!(model.coefficients().len(), 2 * model.inputs());
    // Attributes that did not occur in training only add to the distance.
    let mut new = LabelledRows::new();
    new.push([(0, 1.0), (7, 0.1)], &[0], 1.0).unwrap();
    let new = Multiclass::new(MulticlassShape::new(2, 8), new, ClassLoss::ZeroOne).unwrap();
    assert_eq!(model.predict(&new), [1]);
}

#[test]
fn invalid_kernels_are_rejected() {
    let plain = || chain(1, same, ATTRIBUTES);
    let error = |problem, kernel| Kernelised::new(problem, kernel, 0).map(|_| ()).unwrap_err();
    assert_eq!(error(plain(), Kernel::Rbf { gamma: -1.0 }), KernelError::Gamma(-1.0));
    let bounds = Bounds::none(plain().shape().dim());
    assert!(Kernelised::new(plain().with_bounds(Some(bounds.clone())), Kernel::Linear, 0).is_ok());
    let above = bounds.with(0..1, 0.0, f64::INFINITY).unwrap();
    assert_eq!(error(plain().with_bounds(Some(above)), Kernel::Linear), KernelError::Bounds);
    let groups = FeatureGroups { emission: false, ..FeatureGroups::default() };
    let shape = ChainShape { groups, ..*plain().shape() };
    let blind = Chain::new(shape, plain().data().clone(), &Hamming::default()).unwrap();
    assert_eq!(error(blind, Kernel::Linear), KernelError::NoInputs);
    let mut data = LabelledRows::new();
    data.push([(0, 1e100)], &[0], 1.0).unwrap();
    let large = Multiclass::new(MulticlassShape::new(1, 1), data, ClassLoss::ZeroOne).unwrap();
    let cubic = Kernel::Polynomial { degree: 4, gamma: 1.0, constant: 0.0 };
    assert!(matches!(
        Kernelised::new(large, cubic, 0).unwrap_err(),
        KernelError::Value { example: 0, .. }
    ));
    let same_values = [Row { attributes: &[0], values: &[] }; 3];
    assert_eq!(Kernel::scale(same_values, 1), 1.0);
    // Values of an attribute that is named twice add up.
    let twice =
        [Row { attributes: &[0, 0], values: &[1.5, 2.5] }, Row { attributes: &[], values: &[] }];
    assert_eq!(Kernel::scale(twice, 1), 0.25);
    assert_eq!(Kernel::scale([], 0), 1.0);
    assert!(Support::new([vec![(0, f64::INFINITY)]]).is_err());
    assert!(Support::new([vec![(3, 1.0), (1, 1.0)]]).is_err());
    // Values that overflow in prediction are still finite numbers.
    let support = Support::new([vec![(0, 1e200)]]).unwrap();
    let far = Row { attributes: &[0], values: &[-1e200] };
    assert_eq!(Expander::new(Kernel::Linear, &support).expand(far).values, [f64::MIN]);
    let bad =
        KernelModel::from_parts(Kernel::Linear, 1, vec![vec![(0, f64::NAN)]], vec![1.0], vec![]);
    assert!(bad.is_err());
}
