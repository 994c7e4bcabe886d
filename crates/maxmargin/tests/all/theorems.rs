//! The theorems of the papers, held against whole runs on small random problems whose constants and optima are
//! known.
//!
//! Lacoste-Julien et al. (2013) and their first version (2012), Osokin et al. (2016). The curvature is C = sup
//! 2/γ²·(…), as in 2013; the constant of 2012 is half of that. Expectations are means over seeds: the bounds
//! leave so much room that thirty of them are enough.

use crate::common::dense::{Dense, Recipe};
use crate::common::problems::{Enumerated, many_blocks, random_blocks};
use crate::common::{bcfw, cases, minus, norm_sq, qp, watch};
use maxmargin::observe::Record;
use maxmargin::{
    Caching, Direction, Order, Problem, Quality, SettingsRecord, Solver, Status, Step,
    forward_problem,
};
use proptest::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

const SEEDS: u64 = 30;
const PASSES: u64 = 40;

/// What the theorems speak of, by enumeration.
struct Constants {
    n: f64,
    /// max ‖ψᵢ(y)‖.
    radius: f64,
    /// C_f^(i) = cᵢ²/(λC²) · max ‖ψᵢ(y) − ψᵢ(y′)‖².
    curvatures: Vec<f64>,
    /// C_f over all blocks together, from above: (Σᵢ √C_f^(i))².
    batch: f64,
    /// h₀ = D(α*) − D(α⁰).
    start: f64,
    optimum: f64,
}

impl Constants {
    fn of(problem: &Enumerated, lambda: f64) -> Self {
        let curvature = |i: usize| {
            let corners = &problem.blocks[i].corners;
            let pairs = corners.iter().flat_map(|a| corners.iter().map(move |b| (a, b)));
            let longest = pairs.map(|(a, b)| norm_sq(&minus(&a.0, &b.0))).fold(0.0, f64::max);
            problem.share(i) * problem.share(i) / lambda * longest
        };
        let curvatures: Vec<f64> = (0..problem.blocks.len()).map(curvature).collect();
        let corners = problem.blocks.iter().flat_map(|block| &block.corners);
        let radius = corners.map(|(psi, _)| norm_sq(psi)).fold(0.0, f64::max).sqrt();
        let roots: f64 = curvatures.iter().map(|c| c.sqrt()).sum();
        let optimum = qp::solve(problem, lambda).above;
        let n = curvatures.len() as f64;
        Self { n, radius, batch: roots * roots, curvatures, start: optimum, optimum }
    }

    /// C_f^⊗.
    fn product(&self) -> f64 {
        self.curvatures.iter().sum()
    }
}

/// The rows of a run that checks its gap after every pass.
fn rows(problem: &Enumerated, record: SettingsRecord) -> Vec<Record> {
    let settings =
        SettingsRecord { tolerance: 0.0, gap_every: 1, max_passes: PASSES, threads: 1, ..record };
    let (_, rows) = watch(problem, &settings.settings().unwrap());
    rows.0.into_iter().map(|(record, _)| record).collect()
}

/// Means over seeds, pass by pass: the dual of the iterate and its gap.
fn means(problem: &Enumerated, record: &SettingsRecord) -> Vec<(f64, f64)> {
    let mut sums = vec![(0.0, 0.0); PASSES as usize];
    for seed in 1..=SEEDS {
        for (sum, row) in
            sums.iter_mut().zip(rows(problem, SettingsRecord { seed, ..record.clone() }))
        {
            sum.0 += row.dual / SEEDS as f64;
            sum.1 += row.gap.unwrap() / SEEDS as f64;
        }
    }
    sums
}

fn uniform(lambda: f64, step: Step) -> SettingsRecord {
    SettingsRecord { lambda: Some(lambda), order: Order::Uniform, step, ..bcfw().record() }
}

const ROOM: f64 = 1e-7;

proptest! {
    #![proptest_config(cases(12))]

    /// App. A of 2013: C_f ≤ 4R²/λ and C_f^⊗ ≤ 4R²/(λn), with equal weights; h₀ ≤ the gap of the start ≤ L_max.
    #[test]
    fn curvatures_are_bounded_by_the_radius(problem in many_blocks(), lambda in 0.02..2.0f64) {
        let mut problem = problem;
        problem.blocks.iter_mut().for_each(|block| block.weight = 1.0);
        let constants = Constants::of(&problem, lambda);
        let by_radius = 4.0 * constants.radius * constants.radius / lambda;
        prop_assert!(constants.batch <= by_radius * (1.0 + ROOM));
        prop_assert!(constants.product() <= by_radius / constants.n * (1.0 + ROOM));
        prop_assert!(constants.start <= problem.start_gap() + ROOM);
    }

    /// Theorem 1 of 2013, by the rate of Frank-Wolfe: h_k ≤ 2C_f/(k + 2), and one of the first K iterates has a
    /// gap of at most 6/(K + 1)·(C_f + h₀).
    #[test]
    fn batch_steps_keep_to_their_rate(problem in many_blocks(), lambda in 0.05..1.0f64, fixed: bool) {
        let step = if fixed { Step::Fixed } else { Step::LineSearch };
        let constants = Constants::of(&problem, lambda);
        let record = SettingsRecord {
            lambda: Some(lambda), solver: Solver::FrankWolfe, step, ..SettingsRecord::default()
        };
        let mut best = f64::INFINITY;
        // A row of this solver has the gap at the point from which its step starts, and the dual after it.
        for row in rows(&problem, record) {
            let k = row.visits as f64 / constants.n;
            let bound = 2.0 * constants.batch / (k + 2.0);
            let left = constants.optimum - row.dual;
            prop_assert!(left <= bound + ROOM, "after {k} steps {left} > {bound}");
            best = best.min(row.gap.unwrap());
            let bound = 6.0 / (k + 1.0) * (constants.batch + constants.start);
            prop_assert!(best <= bound + ROOM, "after {k} steps a gap of {best} > {bound}");
        }
    }

    /// Theorem 2 of 2013 (Theorems 7 and 9 of 2012): E h_k ≤ 2n/(k + 2n)·(C_f^⊗ + h₀), and one of the first K
    /// iterates has an expected gap of at most 6n/(K + 1)·(C_f^⊗ + h₀).
    #[test]
    fn block_steps_keep_to_their_rate(problem in many_blocks(), lambda in 0.05..1.0f64, fixed: bool) {
        let step = if fixed { Step::Fixed } else { Step::LineSearch };
        let constants = Constants::of(&problem, lambda);
        let (n, size) = (constants.n, constants.product() + constants.start);
        let mut best = f64::INFINITY;
        for (pass, (dual, gap)) in means(&problem, &uniform(lambda, step)).into_iter().enumerate() {
            let k = (pass + 1) as f64 * n;
            let left = constants.optimum - dual;
            let bound = 2.0 * n / (k + 2.0 * n) * size;
            prop_assert!(left <= bound + ROOM, "after {k} visits {left} > {bound}");
            best = best.min(gap);
            let bound = 6.0 * n / (k + 1.0) * size;
            prop_assert!(best <= bound + ROOM, "after {k} visits a gap of {best} > {bound}");
        }
    }

    /// Theorem 10 of 2012 (Theorem 3 of 2013): after k₀ = 2n·log(h₀/C_f^⊗) visits the start is forgotten, E h_k ≤
    /// 2n·C_f^⊗/(k − k₀ + 2n).
    #[test]
    fn a_line_search_forgets_the_start(problem in many_blocks(), lambda in 0.5..20.0f64) {
        let constants = Constants::of(&problem, lambda);
        let (n, curvature) = (constants.n, constants.product());
        let forgotten = (2.0 * n * (constants.start / curvature).ln()).max(0.0).ceil();
        for (pass, (dual, _)) in means(&problem, &uniform(lambda, Step::LineSearch)).into_iter().enumerate() {
            let k = (pass + 1) as f64 * n;
            let left = constants.optimum - dual;
            if k >= forgotten {
                let bound = 2.0 * n * curvature / (k - forgotten + 2.0 * n);
                prop_assert!(left <= bound + ROOM, "after {k} visits {left} > {bound}, k₀ is {forgotten}");
            }
        }
    }

    /// Theorem 3 of 2016: with a cache and ν̃ = ν/n, E h_k ≤ 2n/(ν̃k + 2n)·(C_f^⊗/ν̃ + h₀).
    #[test]
    fn cached_steps_keep_to_their_rate(
        problem in many_blocks(), lambda in 0.05..1.0f64, nu in 0.1..1.0f64, factor in 0.0..0.5f64
    ) {
        let constants = Constants::of(&problem, lambda);
        let record = SettingsRecord {
            cache: Caching::On, cache_nu: nu, cache_factor: factor, ..uniform(lambda, Step::LineSearch)
        };
        let (n, nu) = (constants.n, nu / constants.n);
        for (pass, (dual, _)) in means(&problem, &record).into_iter().enumerate() {
            let k = (pass + 1) as f64 * n;
            let bound = 2.0 * n / (nu * k + 2.0 * n) * (constants.product() / nu + constants.start);
            prop_assert!(constants.optimum - dual <= bound + ROOM);
        }
    }
}

/// Plain runs without a cache, for the reference.
fn recipe(lambda: f64, order: Order, direction: Direction, seed: u64) -> Recipe {
    let (cache, factor, nu, corners) = (Caching::Off, 0.25, 0.01, 10);
    Recipe { lambda, order, direction, cache, factor, nu, corners, seed, gap_every: 1_000_000 }
}

/// χ(v) = √n‖v‖₂/‖v‖₁ ∈ [1, √n]: how far v is from uniform.
fn spread(v: &[f64]) -> f64 {
    let sum: f64 = v.iter().map(|x| x.abs()).sum();
    (v.len() as f64).sqrt() * norm_sq(v).sqrt() / sum
}

proptest! {
    #![proptest_config(cases(8))]

    /// Theorem 2 of 2016: where blocks are drawn by their *exact* gaps, E h_k ≤ 2n/(k + 2n)·(C_f^⊗χ^⊗ + h₀), with
    /// χ^⊗ = max_k E χ(C)/χ(g)³. Steps are those of the reference, which draws by gaps that it has just computed.
    #[test]
    fn gap_sampling_keeps_to_its_rate(problem in many_blocks(), lambda in 0.05..1.0f64) {
        let constants = Constants::of(&problem, lambda);
        let (n, visits) = (constants.n, 60usize);
        let (mut left, mut chi) = (vec![0.0; visits + 1], vec![0.0; visits + 1]);
        for seed in 1..=SEEDS {
            let recipe = recipe(lambda, Order::Gap, Direction::FrankWolfe, seed);
            let mut run = Dense::new(&problem, recipe);
            for k in 0..=visits {
                let all = run.exact_pass();
                left[k] += (constants.optimum - run.dual()) / SEEDS as f64;
                let gaps: Vec<f64> = run.gaps.iter().map(|gap| gap.max(0.0)).collect();
                chi[k] += spread(&constants.curvatures) / spread(&gaps).powi(3) / SEEDS as f64;
                // A run that is done, or meets a tie, stays where it is. That only adds to what is left.
                if all > 1e-9 {
                    run.visit();
                }
            }
        }
        let most = chi.iter().copied().filter(|x| x.is_finite()).fold(0.0, f64::max);
        let size = constants.product() * most + constants.start;
        for (k, left) in left.iter().enumerate() {
            let bound = 2.0 * n / (k as f64 + 2.0 * n) * size;
            prop_assert!(*left <= bound + ROOM, "after {k} visits {left} > {bound}");
        }
    }

    /// Lemma 8 of 2016, from which Theorem 4 follows: where no block would drop a corner, a pairwise step of a
    /// uniform block gains at least γ/n·g^PFW − γ²/(2n)·C^⊗ on average, for every γ ∈ [0, 1].
    #[test]
    fn pairwise_steps_gain_what_the_lemma_says(problem in many_blocks(), lambda in 0.2..4.0f64, seed in 0u64..100) {
        let constants = Constants::of(&problem, lambda);
        let (n, curvature) = (constants.n, constants.product());
        let recipe = recipe(lambda, Order::Uniform, Direction::Pairwise, seed);
        let mut run = Dense::new(&problem, recipe);
        for _ in 0..60 {
            let (pairwise_gap, gains) = run.pairwise_outlook();
            if let Some(gains) = gains {
                let mean = gains / n;
                for gamma in [0.05, 0.2, 0.5, 1.0, (pairwise_gap / curvature).min(1.0)] {
                    let least = gamma / n * pairwise_gap - gamma * gamma / (2.0 * n) * curvature;
                    prop_assert!(mean >= least - ROOM, "{mean} < {least} at γ = {gamma}");
                }
                prop_assert!(pairwise_gap >= run.exact_gaps().iter().sum::<f64>() - ROOM);
            }
            if run.visit().is_none() {
                break;
            }
        }
    }
}

/// A fixed problem on which the optimum has mass on several corners of each block.
fn fixed_problem(blocks: usize, corners: usize, dim: usize) -> Enumerated {
    random_blocks(11, blocks, corners, dim)
}

/// The slope of log h against log k between two passes.
fn slope(left: &[f64], from: usize, to: usize) -> f64 {
    (left[to] / left[from]).ln() / ((to + 1) as f64 / (from + 1) as f64).ln()
}

/// Frank-Wolfe steps have the rate 1/k, and on these problems not much more.
#[test]
fn the_rate_of_frank_wolfe_steps_is_seen() {
    let (problem, lambda) = (fixed_problem(6, 8, 12), 0.3);
    let optimum = Constants::of(&problem, lambda).optimum;
    for order in [Order::Uniform, Order::Permutation] {
        let record = SettingsRecord { order, ..uniform(lambda, Step::LineSearch) };
        let means = means(&problem, &record);
        let left: Vec<f64> = means.iter().map(|(dual, _)| optimum - dual).collect();
        let slope = slope(&left, 4, PASSES as usize - 1);
        assert!((-2.5..-0.8).contains(&slope), "{order}: slope {slope}, {left:?}");
    }
}

/// Pairwise steps converge at a linear rate: each further ten passes divide what is left by about the same.
#[test]
fn the_linear_rate_of_pairwise_steps_is_seen() {
    let (problem, lambda) = (fixed_problem(6, 8, 12), 1.0);
    for direction in [Direction::Pairwise, Direction::Away] {
        let record = SettingsRecord { direction, ..uniform(lambda, Step::LineSearch) };
        let means = means(&problem, &record);
        let gap = |pass: usize| means[pass - 1].1.ln();
        let (early, late) = (gap(20) - gap(10), gap(40) - gap(30));
        assert!(gap(40) < gap(10) - 4.0, "{direction}: from {} to {}", gap(10), gap(40));
        assert!(late < 0.6 * early, "{direction}: {early} at first, {late} later");
    }
    // Frank-Wolfe steps slow down.
    let means = means(&problem, &uniform(lambda, Step::LineSearch));
    let gap = |pass: usize| means[pass - 1].1.ln();
    assert!(gap(40) - gap(30) > 0.5 * (gap(20) - gap(10)), "plain steps do not slow down");
}

/// At the start w = 0, and the gap is the mean of the largest losses.
#[test]
fn the_start_has_the_gap_of_its_losses() {
    let problem = fixed_problem(5, 4, 3);
    let run = Dense::new(&problem, recipe(1.0, Order::Cyclic, Direction::FrankWolfe, 1));
    assert!(norm_sq(&run.weights()) == 0.0 && run.dual() == 0.0);
    let start: f64 = run.exact_gaps().iter().sum();
    assert!((start - problem.start_gap()).abs() < 1e-12);
}

proptest! {
    #![proptest_config(cases(24))]

    /// A run that is asked for its constants measures those that enumeration finds, as far as it has seen the
    /// corners, and goes the same way.
    #[test]
    fn a_diagnosis_measures_the_constants(problem in many_blocks(), lambda in 0.05..1.0f64) {
        let constants = Constants::of(&problem, lambda);
        let plain = SettingsRecord { max_passes: 20, tolerance: 0.0, ..uniform(lambda, Step::LineSearch) };
        let diagnosed = SettingsRecord { diagnose: true, ..plain.clone() };
        let (plain, _) = watch(&problem, &plain.settings().unwrap());
        let (solution, rows) = watch(&problem, &diagnosed.settings().unwrap());
        prop_assert_eq!(&plain.weights, &solution.weights);
        prop_assert_eq!(plain.totals.oracle_calls, solution.totals.oracle_calls);
        prop_assert!(plain.theory.is_none());

        let theory = solution.theory.unwrap();
        let largest = problem.blocks.iter().flat_map(|block| &block.corners).map(|c| c.1);
        prop_assert!((theory.largest_loss - largest.fold(0.0, f64::max)).abs() < 1e-12);
        prop_assert!((theory.start_gap - problem.start_gap()).abs() < 1e-12);
        prop_assert!(theory.radius <= constants.radius * (1.0 + 1e-12) && theory.radius > 0.0);
        prop_assert!(theory.start_gap >= constants.start - ROOM);
        let most = 4.0 * theory.radius * theory.radius / lambda;
        prop_assert!(theory.curvature <= most * (1.0 + 1e-12));
        prop_assert!(theory.block_curvature <= theory.curvature * (1.0 + 1e-12));
        let mut best = f64::INFINITY;
        for (record, _) in rows.0.iter().filter(|(record, _)| record.gap.is_some()) {
            best = best.min(record.gap.unwrap());
            prop_assert!(record.bound.unwrap() >= best);
            prop_assert!(record.pairwise_gap.is_none());
        }
    }

    /// The pairwise gap of the trace is that of the definition, and no less than the gap.
    #[test]
    fn the_pairwise_gap_is_reported(problem in many_blocks(), lambda in 0.05..1.0f64, seed in 0u64..100) {
        let recipe = Recipe { gap_every: 1, ..recipe(lambda, Order::Cyclic, Direction::Pairwise, seed) };
        let mut expected = Vec::new();
        let mut run = Dense::new(&problem, recipe);
        let n = problem.blocks.len() as u64;
        run.run(4, 0.0, false, |run| {
            if run.calls == 2 * n * (expected.len() as u64 + 1) {
                expected.push(run.pairwise_outlook().0);
            }
        });
        let (direction, order) = (Direction::Pairwise, Order::Cyclic);
        let record = SettingsRecord { direction, order, diagnose: true, seed, ..uniform(lambda, Step::LineSearch) };
        let rows = rows(&problem, record);
        for (row, expected) in rows.iter().zip(expected) {
            let found = row.pairwise_gap.unwrap();
            prop_assert!((found - expected).abs() < 1e-8 * (1.0 + expected), "{found} for {expected}");
            prop_assert!(found >= row.gap.unwrap() && row.bound.is_none());
        }
    }
}

/// Every order reaches the optimum, whatever it draws blocks by.
#[test]
fn orders_by_curvature_reach_the_optimum() {
    let mut problem = fixed_problem(6, 5, 4);
    // A block that nothing distinguishes from the truth but its losses, and one that is ten times as long.
    problem.blocks[1].corners.iter_mut().for_each(|(psi, _)| psi.fill(0.0));
    problem.blocks[2]
        .corners
        .iter_mut()
        .for_each(|(psi, _)| psi.iter_mut().for_each(|x| *x *= 10.0));
    let optimum = Constants::of(&problem, 0.3).optimum;
    for order in [Order::Curvature, Order::GapCurvature] {
        for direction in [Direction::FrankWolfe, Direction::Pairwise] {
            for batch in [1, 3] {
                let record = SettingsRecord {
                    order,
                    direction,
                    batch: Some(batch),
                    tolerance: 1e-3,
                    max_passes: 100_000,
                    threads: 1,
                    ..uniform(0.3, Step::LineSearch)
                };
                let (solution, _) = watch(&problem, &record.settings().unwrap());
                assert_eq!(solution.status, Status::Converged, "{order}, {direction}");
                assert!(
                    (solution.certificate.primal - optimum).abs() <= 1e-3 + 1e-9,
                    "{order}, {direction}"
                );
            }
        }
    }
}

/// What is left after each of so many visits, on average over the seeds, by an oracle of accuracy ν.
fn left_with_accuracy(
    problem: &Enumerated,
    constants: &Constants,
    lambda: f64,
    nu: f64,
    visits: usize,
) -> Vec<f64> {
    let mut left = vec![0.0; visits + 1];
    for seed in 1..=SEEDS {
        let mut run =
            Dense::new(problem, recipe(lambda, Order::Uniform, Direction::FrankWolfe, seed));
        run.accuracy = nu;
        for left in &mut left {
            *left += (constants.optimum - run.dual()) / SEEDS as f64;
            // At a tie a run stays where it is, which only adds to what is left.
            run.visit();
        }
    }
    left
}

proptest! {
    #![proptest_config(cases(8))]

    /// App. C of 2013: oracles of multiplicative accuracy ν, E h_k ≤ 2n/(νk + 2n)·(C_f^⊗/ν + h₀).
    #[test]
    fn oracles_of_less_accuracy_keep_to_their_rate(problem in many_blocks(), lambda in 0.05..1.0f64, nu in 0.1..1.0f64) {
        let constants = Constants::of(&problem, lambda);
        let n = constants.n;
        for (k, left) in left_with_accuracy(&problem, &constants, lambda, nu, 80).into_iter().enumerate() {
            let bound = 2.0 * n / (nu * k as f64 + 2.0 * n) * (constants.product() / nu + constants.start);
            prop_assert!(left <= bound + ROOM, "after {k} visits {left} > {bound}");
        }
    }

    /// Theorem 7 of 2012: oracles that miss the best corner of block i by at most γ_k·C_f^(i)/2 in visit k, with γ_k =
    /// 2n/(k + 2n), E h_k ≤ 2n/(k + 2n)·(2C_f^⊗ + h₀). The engine knows nothing of that and takes what it gets.
    #[test]
    fn oracles_that_miss_a_little_keep_to_their_rate(problem in many_blocks(), lambda in 0.05..1.0f64) {
        let constants = Constants::of(&problem, lambda);
        let (n, mut duals) = (constants.n, vec![0.0; PASSES as usize]);
        for seed in 1..=SEEDS {
            let spoiled = Spoiled {
                inner: problem.clone(), curvatures: constants.curvatures.clone(), visits: AtomicU64::new(0),
            };
            let record = SettingsRecord {
                seed, tolerance: 0.0, gap_every: 1_000_000, max_passes: PASSES, threads: 1,
                ..uniform(lambda, Step::LineSearch)
            };
            let (_, rows) = watch(&spoiled, &record.settings().unwrap());
            for (sum, (row, _)) in duals.iter_mut().zip(&rows.0) {
                *sum += row.dual / SEEDS as f64;
            }
        }
        for (pass, dual) in duals.into_iter().enumerate() {
            let k = (pass + 1) as f64 * n;
            let bound = 2.0 * n / (k + 2.0 * n) * (2.0 * constants.product() + constants.start);
            let left = constants.optimum - dual;
            prop_assert!(left <= bound + ROOM, "after {k} visits {left} > {bound}");
        }
    }
}

/// A problem whose oracle misses the best corner, by as much as the schedule of its visits allows.
struct Spoiled {
    inner: Enumerated,
    curvatures: Vec<f64>,
    visits: AtomicU64,
}

impl Problem for Spoiled {
    type Output = usize;
    type Workspace = ();

    forward_problem!(self.inner, workspace, except [oracle, quality]);

    fn oracle(&self, i: usize, w: &[f64], (): &mut (), y: &mut usize) {
        let (n, k) =
            (self.curvatures.len() as f64, self.visits.fetch_add(1, Ordering::Relaxed) as f64);
        let miss = n / (k + 2.0 * n) * self.curvatures[i] / self.inner.share(i);
        let value = |y: usize| self.inner.augmented(i, y, w);
        let all = 0..self.inner.blocks[i].corners.len();
        let best = all.clone().map(value).fold(f64::NEG_INFINITY, f64::max);
        let allowed = all.filter(|&y| value(y) >= best - miss);
        *y = allowed.min_by(|&a, &b| value(a).total_cmp(&value(b))).unwrap();
    }
    fn quality(&self) -> Quality {
        Quality::Heuristic
    }
}

/// Where the oracle is less accurate, runs are slower, and by no more than 1/ν² as the theorem says.
#[test]
fn the_price_of_accuracy_is_seen() {
    let (problem, lambda) = (fixed_problem(6, 8, 12), 0.3);
    let constants = Constants::of(&problem, lambda);
    let visits_to = |nu: f64| {
        let left = left_with_accuracy(&problem, &constants, lambda, nu, 3000);
        left.iter().position(|left| *left <= 0.02).unwrap() as f64
    };
    let [exact, half, quarter] = [1.0, 0.5, 0.25].map(visits_to);
    assert!(exact < half && half < quarter, "{exact}, {half}, {quarter}");
    assert!(half <= 4.0 * exact && quarter <= 16.0 * exact, "{exact}, {half}, {quarter}");
}
