//! Kernels by mapped inputs, against kernel values, against explicit features, and against the problem with a kernel;
//! and the bound on the number of support vectors.

use crate::common::{bcfw, cases, watch};
use crate::kernels::{ATTRIBUTES, MEGABYTE, chain, inputs, multiclass, rows, same, squares};
use maxmargin::inference::Inference;
use maxmargin::kernel::{Kernel, KernelError, KernelMap, Kernelised};
use maxmargin::model::factor_graph::{FactorGraph, Graphs, StateLoss};
use maxmargin::model::matching::{Gold, LinkLoss, Matching, MatchingShape, Pairs};
use maxmargin::model::potts::{NodeLoss, Potts, PottsGraphs, PottsInference, PottsShape};
use maxmargin::model::soft::SoftGraph;
use maxmargin::{Order, Problem, Rng, Settings, SettingsRecord, SlackRescaled, Solution, train};
use proptest::prelude::*;
use std::cell::RefCell;

type Input = Vec<(u32, f64)>;

fn kernel_values(kernel: &Kernel, a: &Input, b: &Input) -> f64 {
    let product = |a: &Input, b: &Input| -> f64 {
        let dense = |row: &Input, at: u32| -> f64 {
            row.iter().filter(|(own, _)| *own == at).map(|(_, value)| value).sum()
        };
        (0..ATTRIBUTES as u32).map(|at| dense(a, at) * dense(b, at)).sum()
    };
    kernel.value(product(a, b), product(a, a), product(b, b))
}

fn dot(a: &Input, b: &Input) -> f64 {
    a.iter()
        .map(|&(at, x)| b.iter().filter(|own| own.0 == at).map(|own| own.1 * x).sum::<f64>())
        .sum()
}

fn any_kernel() -> impl Strategy<Value = Kernel> {
    prop_oneof![
        Just(Kernel::Linear),
        (1u32..4, 0.2..2.0f64, 0.0..2.0f64)
            .prop_map(|(degree, gamma, constant)| Kernel::Polynomial { degree, gamma, constant }),
        (0.1..3.0f64).prop_map(|gamma| Kernel::Rbf { gamma }),
    ]
}

proptest! {
    #![proptest_config(cases(64))]

    /// Inner products of mapped inputs are kernel values, up to what the map says is left over.
    #[test]
    fn inner_products_are_kernel_values(kernel in any_kernel(), seed: u64, most in 1usize..14) {
        let all = inputs(seed % 2 == 1, &mut Rng::new(seed), 12);
        for most in [usize::MAX, most] {
            let map = KernelMap::fit(&all, kernel, 1e-13, most).unwrap();
            let size = all.iter().map(|x| kernel_values(&kernel, x, x)).fold(0.0, f64::max);
            let room = map.left_over() + 1e-9 * (1.0 + size);
            if most == usize::MAX {
                assert!(map.left_over() <= 1e-11 * (1.0 + size), "{}", map.left_over());
            }
            for a in &all {
                for b in &all {
                    let (found, value) = (dot(&map.map(a), &map.map(b)), kernel_values(&kernel, a, b));
                    assert!((found - value).abs() <= room, "{found} instead of {value}, {room}");
                }
            }
        }
    }

    /// The problem over mapped inputs is the problem with the kernel: iterates have the same duals and gaps.
    #[test]
    fn mapped_chains_and_classes_are_those_with_a_kernel(kernel in any_kernel(), seed in 0u64..1000) {
        let is_same = iterates_differ_by(kernel, seed, 0.0) <= 1e-7;
        // Where tokens are repeated, outputs can have the same score, and rounding decides between them.
        prop_assert!(is_same || iterates_differ_by(kernel, seed, 1e-3) <= 1e-7, "{kernel:?}, {seed}");
    }
}

/// How far the duals and gaps of a chain with a kernel are from those of the chain over mapped inputs, whose values are
/// changed by up to the share `nudge`.
fn iterates_differ_by(kernel: Kernel, seed: u64, nudge: f64) -> f64 {
    let settings =
        Settings { lambda: Some(0.1), max_passes: 4, tolerance: 0.0, threads: 1, ..bcfw() };
    let settings = SettingsRecord { order: Order::Cyclic, gap_every: 1, ..settings.record() };
    let settings = settings.settings().unwrap();
    let rng = RefCell::new(Rng::new(seed));
    let nudged = |value: f64| value * (1.0 + nudge * rng.borrow_mut().unit_f64());
    let change = |x: &[(u32, f64)]| x.iter().map(|&(at, value)| (at, nudged(value))).collect();
    let plain = chain(seed, change, ATTRIBUTES);
    let sequences = plain.data().iter();
    let tokens: Vec<Input> = sequences
        .flat_map(|s| s.tokens().map(|x| x.pairs().collect()).collect::<Vec<_>>())
        .collect();
    let map = KernelMap::fit(&tokens, kernel, 1e-13, usize::MAX).unwrap();
    let next = RefCell::new(tokens.iter());
    let mapped = |_: &[(u32, f64)]| map.map(next.borrow_mut().next().unwrap());
    let mapped = chain(seed, mapped, map.features());
    let problem = Kernelised::new(plain, kernel, MEGABYTE).unwrap();
    let ((_, a), (_, b)) = (watch(&mapped, &settings), watch(&problem, &settings));
    assert_eq!(a.0.len(), b.0.len());
    let rows = a.0.iter().zip(&b.0).map(|((a, _), (b, _))| (a, b));
    let off =
        rows.map(|(a, b)| (a.dual - b.dual).abs().max((a.gap.unwrap() - b.gap.unwrap()).abs()));
    off.fold(0.0, f64::max)
}

/// This chain repeats tokens, and two of its outputs have the same score.
#[test]
fn rounding_decides_between_outputs_with_the_same_score() {
    let kernel = Kernel::Polynomial { degree: 2, gamma: 0.2, constant: 1.7156649336806615 };
    assert!(iterates_differ_by(kernel, 201, 1e-3) <= 1e-7);
}

/// Trains to a small gap.
fn solve<P: Problem>(problem: &P, lambda: f64, tolerance: f64) -> Solution {
    let settings =
        Settings { lambda: Some(lambda), tolerance, max_passes: 20000, ..Settings::default() };
    train(problem, &settings).unwrap()
}

/// Two problems with the same optimum, by other features.
fn same_optimum<P: Problem, Q: Problem>(a: &P, b: &Q, lambda: f64, tolerance: f64) {
    let (a, b) = (solve(a, lambda, tolerance).certificate, solve(b, lambda, tolerance).certificate);
    assert!(a.gap <= tolerance && b.gap <= tolerance, "{a:?} {b:?}");
    assert!((a.primal - b.primal).abs() <= a.gap.max(b.gap) + 1e-8, "{a:?} {b:?}");
}

/// (⟨a, b⟩)², whose features can be written down.
const SQUARE: Kernel = Kernel::Polynomial { degree: 2, gamma: 1.0, constant: 0.0 };
const MANY: usize = ATTRIBUTES * ATTRIBUTES;

fn map_of(all: &[Input]) -> KernelMap {
    KernelMap::fit(all, SQUARE, 1e-13, usize::MAX).unwrap()
}

/// Labelled graphs whose neighbours attract each other: their weights have bounds, which no other problem with a kernel
/// can have.
#[test]
fn labelled_graphs_with_a_kernel_have_the_optimum_of_its_features() {
    for seed in 0..4 {
        let all = inputs(seed % 2 == 1, &mut Rng::new(seed), 12);
        let potts = |features: &dyn Fn(&Input) -> Input, attributes| {
            let (mut data, mut rng) = (PottsGraphs::new(), Rng::new(seed));
            for nodes in all.chunks(4) {
                for input in nodes {
                    data.push_node(features(input), rng.below(2) as u32, 1.0).unwrap();
                }
                for (a, b) in [(0, 1), (1, 2), (2, 3), (3, 0)] {
                    data.push_edge(a, b, [(0, rng.unit_f64())]).unwrap();
                }
                data.end_graph(1.0).unwrap();
            }
            Potts::new(
                PottsShape::new(2, attributes, 1),
                data,
                NodeLoss::HAMMING,
                PottsInference::Auto,
            )
            .unwrap()
        };
        let map = map_of(&all);
        let (mapped, plain) =
            (potts(&|x| map.map(x), map.features()), potts(&|x| squares(x), MANY));
        assert!(mapped.bounds().is_some() && map.features() < MANY);
        same_optimum(&mapped, &plain, 0.05, 1e-5);
        // Soft constraints and slack rescaling go with it as well.
        let soft = |problem: &Potts| SoftGraph::of_potts(problem, 0.05, 1.0).unwrap();
        same_optimum(&soft(&mapped), &soft(&plain), 0.05, 1e-3);
        let slack =
            |problem| solve(&SlackRescaled::by_search(problem).unwrap(), 0.05, 1e-4).certificate;
        let (a, b) = (slack(mapped), slack(plain));
        assert!(
            a.dual <= b.primal + b.missed.unwrap() + 1e-8
                && b.dual <= a.primal + a.missed.unwrap() + 1e-8
        );
    }
}

#[test]
fn factor_graphs_and_matchings_with_a_kernel_have_the_optimum_of_its_features() {
    for seed in 0..4 {
        let all = inputs(seed % 2 == 1, &mut Rng::new(seed), 12);
        let map = map_of(&all);
        let graphs = |features: &dyn Fn(&Input) -> Input| {
            let (mut data, mut rng) = (Graphs::new(), Rng::new(seed));
            for nodes in all.chunks(3) {
                for input in nodes {
                    let v = data.push_variable(3, rng.below(3) as u32).unwrap();
                    data.push_factor(0, &[v], features(input)).unwrap();
                }
                [[0, 1], [1, 2]]
                    .iter()
                    .for_each(|pair| data.push_factor(1, pair, [(0, 1.0)]).unwrap());
                data.end_graph(1.0).unwrap();
            }
            data
        };
        let (mapped, plain) = (graphs(&|x| map.map(x)), graphs(&|x| squares(x)));
        let exact = |data: &Graphs| {
            let shape = data.shape().unwrap();
            FactorGraph::new(shape, data.clone(), StateLoss::default(), Inference::Auto).unwrap()
        };
        same_optimum(&exact(&mapped), &exact(&plain), 0.05, 1e-5);
        let soft = |data: &Graphs| {
            SoftGraph::of_graphs(&data.shape().unwrap(), data, StateLoss::default(), 0.05, 1.0)
                .unwrap()
        };
        same_optimum(&soft(&mapped), &soft(&plain), 0.05, 1e-3);

        let matching = |features: &dyn Fn(&Input) -> Input, attributes| {
            let (mut data, mut rng) = (Pairs::new(), Rng::new(seed));
            for items in all.chunks(4) {
                let truth = rng.below(2);
                for (at, input) in items.iter().enumerate() {
                    let (row, column) = (at / 2, at % 2);
                    let gold = if (row + column) % 2 == truth { Gold::Sure } else { Gold::Wrong };
                    data.push_link(row as u32, column as u32, features(input), gold).unwrap();
                }
                data.end_pair(2, 2, 1.0).unwrap();
            }
            Matching::new(MatchingShape::new(attributes), data, LinkLoss::default()).unwrap()
        };
        same_optimum(
            &matching(&|x| map.map(x), map.features()),
            &matching(&|x| squares(x), MANY),
            0.05,
            1e-5,
        );
    }
}

/// After k visits, the coefficients are those of inputs of at most k examples, and of each such token at most the
/// labels of the truth and of one corner per visit (2013, Appendix B.5).
#[test]
fn few_visits_leave_few_support_vectors() {
    for seed in 0..20 {
        let plain = chain(seed, same, ATTRIBUTES);
        let longest = plain.data().iter().map(|sequence| sequence.len()).max().unwrap();
        let problem = Kernelised::new(plain, Kernel::Rbf { gamma: 1.0 }, MEGABYTE).unwrap();
        for k in 1..=20u64 {
            let settings = SettingsRecord {
                lambda: Some(0.1),
                order: Order::Uniform,
                seed,
                max_oracle_calls: Some(k),
                gap_every: 1000,
                tolerance: 0.0,
                threads: 1,
                ..bcfw().record()
            };
            let solution = train(&problem, &settings.settings().unwrap()).unwrap();
            assert_eq!(solution.totals.visits, k);
            let (support, few) = problem.support(&solution.weights);
            let tokens = k as usize * longest;
            assert!(support.len() <= tokens, "{} inputs after {k} visits", support.len());
            let parts = few[..support.len() * 3].iter().filter(|b| **b != 0.0).count();
            assert!(parts <= 2 * tokens, "{parts} coefficients after {k} visits");
        }
    }
}

#[test]
fn classes_that_no_line_separates_are_learned_by_mapped_inputs() {
    let data = rows(3, false, same);
    let all: Vec<Input> = data.iter().map(|(row, _)| row.pairs().collect()).collect();
    let kernel = Kernel::Rbf { gamma: 2.0 };
    let map = KernelMap::fit(&all, kernel, 1e-13, usize::MAX).unwrap();
    let mapped = multiclass(rows(3, false, |x| map.map(x)), map.features());
    let problem = Kernelised::new(multiclass(data, ATTRIBUTES), kernel, MEGABYTE).unwrap();
    same_optimum(&mapped, &problem, 0.01, 1e-5);
}

#[test]
fn kernels_without_meaning_are_refused() {
    let none: [Input; 0] = [];
    assert_eq!(KernelMap::fit(none, SQUARE, 0.0, 5).unwrap().features(), 0);
    let wrong = KernelMap::fit([vec![(0, 1.0)]], Kernel::Rbf { gamma: 0.0 }, 0.0, 5);
    assert_eq!(wrong.unwrap_err(), KernelError::Gamma(0.0));
    let large = KernelMap::fit([vec![(0, 1.0)], vec![(0, 1e200)]], Kernel::Linear, 0.0, 5);
    assert!(matches!(large, Err(KernelError::Value { example: 1, .. })));
    // Equal inputs are one, and one that is left out is nearly spanned by the others.
    let twice = [vec![(0, 1.0)], vec![(0, 1.0)], vec![(0, 2.0)]];
    assert_eq!(KernelMap::fit(twice, Kernel::Linear, 0.0, 5).unwrap().features(), 1);
}
