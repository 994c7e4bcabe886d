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
use maxmargin::{Caching, Direction, Order, SettingsRecord, Solver, Step};
use proptest::prelude::*;

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
    let (cache, factor, nu) = (Caching::Off, 0.25, 0.01);
    Recipe { lambda, order, direction, cache, factor, nu, seed, gap_every: 1_000_000 }
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
