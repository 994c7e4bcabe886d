//! The result of a run depends only on the problem and the settings, on every machine and with any number
//! of threads.

use crate::checkpoints::every_baseline;
use crate::common::bits::{bits, fingerprint, random_chain, tokens};
use crate::common::problems::{ViaPsi, Watched};
use crate::common::{audit_of, bcfw, in_batches, reference};
use maxmargin::ProblemExt as _;
use maxmargin::inference::Inference;
use maxmargin::model::chain::Chain;
use maxmargin::model::factor_graph::{self, FactorGraph, Graphs};
use maxmargin::problem::{Abilities, Batched};
use maxmargin::{
    Average, Bounded, Bounds, Caching, Direction, DualPoint, GridSettings, GridStart, Order,
    PackedVec, Path, PathSettings, Problem, Rng, Settings, SettingsRecord, Solver, SparseVec, Step,
    Trainer, audit, forward_problem, lambda_grid, regularization_path, train,
};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

fn every_method() -> Vec<Settings> {
    let base = Settings { tolerance: 0.0, max_passes: 7, gap_every: 3, ..bcfw() };
    let mut all = Vec::new();
    for step in [Step::LineSearch, Step::Fixed] {
        all.push(
            SettingsRecord { solver: Solver::FrankWolfe, step, ..base.record() }
                .settings()
                .unwrap(),
        );
        for order in [Order::Uniform, Order::Permutation, Order::Cyclic] {
            for average in [Average::None, Average::Uniform, Average::Weighted] {
                all.push(
                    SettingsRecord { order, average, step, ..base.record() }.settings().unwrap(),
                );
            }
        }
    }
    for (direction, cache) in [
        (Direction::Pairwise, Caching::Off),
        (Direction::Best, Caching::On),
        (Direction::Corrective, Caching::On),
        (Direction::Corrective, Caching::Exhaust),
        (Direction::Staged, Caching::Off),
        (Direction::Staged, Caching::On),
    ] {
        for order in [Order::Gap, Order::MaxGap] {
            all.push(
                SettingsRecord { order, direction, cache, ..base.record() }.settings().unwrap(),
            );
        }
    }
    for (solver, average) in [
        (Solver::Subgradient, Average::None),
        (Solver::Subgradient, Average::Half),
        (Solver::AdaGrad, Average::Weighted),
        (Solver::Perceptron, Average::None),
        (Solver::NSlack, Average::None),
        (Solver::OneSlack, Average::None),
    ] {
        all.push(SettingsRecord { solver, average, ..base.record() }.settings().unwrap());
    }
    all.extend(in_batches(&base));
    let (order, direction) = (Order::Lazy, Direction::Corrective);
    all.push(SettingsRecord { order, direction, ..base.record() }.settings().unwrap());
    all
}

/// A problem whose first example takes long. Work on all examples is then handed out, however short the rest of it.
struct SlowToBegin<P>(P);

impl<P: Problem> Problem for SlowToBegin<P> {
    type Output = P::Output;
    type Workspace = P::Workspace;

    forward_problem!(self.0, workspace, except[oracle]);

    fn oracle(&self, i: usize, w: &[f64], workspace: &mut P::Workspace, y: &mut P::Output) {
        let begin = Instant::now();
        while i == 0 && begin.elapsed() < Duration::from_micros(20) {
            std::hint::spin_loop();
        }
        self.0.oracle(i, w, workspace, y);
    }
}

fn check_threads<P: Problem>(problem: P, methods: Vec<Settings>) {
    let slow = SlowToBegin(problem);
    let problem = &slow.0;
    for settings in methods {
        let with = |threads| Settings { threads, ..settings.clone() };
        let one = train(problem, &with(1)).unwrap();
        for threads in [1, 2, 3, 0] {
            let found = train(&slow, &with(threads)).unwrap();
            assert_eq!(fingerprint(&one), fingerprint(&found), "{threads} threads");
        }
        let alone = audit_of(problem, &one);
        for threads in [2, 3] {
            let (w, dual) = (&one.weights, &one.dual);
            let audit = audit(problem, one.lambda, w, dual, 1e-12, threads).unwrap();
            assert_eq!(bits(&audit.block_gaps), bits(&alone.block_gaps));
            assert_eq!(audit, alone);
        }
    }
}

/// Enough examples for three threads to have work.
#[test]
fn threads_do_not_change_runs() {
    check_threads(random_chain(150, 4, 2), every_method());
    check_threads(ViaPsi(random_chain(100, 3, 3)), every_method());
    check_threads(tokens(&random_chain(60, 4, 4)), every_method());
    let solver = Solver::ExponentiatedGradient;
    let gradient =
        Settings { method: solver.into(), tolerance: 0.0, max_passes: 7, ..Settings::default() };
    check_threads(random_chain(150, 4, 2), vec![gradient]);
}

/// So many examples that joint steps are shared out.
#[test]
fn threads_do_not_change_joint_steps() {
    let base = Settings { tolerance: 0.0, max_passes: 4, gap_every: 3, ..bcfw() };
    let record = |solver, cache, batch| SettingsRecord {
        solver,
        order: Order::Gap,
        direction: Direction::Corrective,
        cache,
        batch,
        ..base.record()
    };
    let methods = [
        record(Solver::BlockCoordinate, Caching::Exhaust, Some(0)),
        record(Solver::BlockCoordinate, Caching::Exhaust, Some(1)),
        SettingsRecord { solver: Solver::NSlack, ..base.record() },
    ];
    let methods = methods.map(|record| record.settings().unwrap());
    check_threads(random_chain(600, 4, 2), methods.to_vec());
    check_threads(ViaPsi(random_chain(300, 4, 3)), methods.to_vec());
    let (order, direction) = (Order::Lazy, Direction::Corrective);
    let simplices = SettingsRecord { order, direction, ..base.record() }.settings().unwrap();
    check_threads(tokens(&random_chain(1500, 4, 4)), vec![simplices]);
}

/// A problem that answers what was announced beforehand, and counts the calls that were not announced.
struct Announcing<P> {
    inner: P,
    single: AtomicUsize,
}

struct AnnouncedAnswers<P: Problem> {
    inner: P::Workspace,
    answers: VecDeque<(usize, Vec<u64>, P::Output)>,
}

impl<P: Problem> Problem for Announcing<P> {
    type Output = P::Output;
    type Workspace = AnnouncedAnswers<P>;

    forward_problem!(self.inner, workspace.inner, except [
        workspace, // with answers
        oracle,    // looks there first
        abilities, // its own
    ]);

    fn workspace(&self) -> AnnouncedAnswers<P> {
        AnnouncedAnswers { inner: self.inner.workspace(), answers: VecDeque::new() }
    }
    fn oracle(&self, i: usize, w: &[f64], workspace: &mut AnnouncedAnswers<P>, y: &mut P::Output) {
        match workspace.answers.pop_front() {
            Some((example, at, answer)) => {
                assert_eq!((example, at), (i, bits(w)), "what was announced is what is asked for");
                *y = answer;
            }
            None => {
                self.single.fetch_add(1, Ordering::Relaxed);
                self.inner.oracle(i, w, &mut workspace.inner, y);
            }
        }
    }
    fn abilities(&self) -> Abilities<'_, AnnouncedAnswers<P>, P::Output> {
        Abilities { batched: Some(self), is_trusted: true, ..Abilities::none() }
    }
}

impl<P: Problem> Batched for Announcing<P> {
    fn announce(&self, examples: Range<usize>, w: &[f64], workspace: &mut AnnouncedAnswers<P>) {
        assert!(workspace.answers.is_empty(), "all announced answers were asked for");
        for i in examples {
            let mut y = P::Output::default();
            self.inner.oracle(i, w, &mut workspace.inner, &mut y);
            workspace.answers.push_back((i, bits(w), y));
        }
    }
}

#[test]
fn announced_oracle_calls_do_not_change_runs() {
    let plain = ViaPsi(random_chain(100, 3, 3));
    for settings in every_method() {
        let is_batch = settings.method.solver() == Solver::FrankWolfe;
        let expected = train(&plain, &Settings { threads: 1, ..settings.clone() }).unwrap();
        for threads in [1, 3] {
            let problem = Announcing { inner: plain.clone(), single: AtomicUsize::new(0) };
            let found = train(&problem, &Settings { threads, ..settings.clone() }).unwrap();
            assert_eq!(fingerprint(&found), fingerprint(&expected), "{settings:?}");
            let single = problem.single.into_inner();
            assert!(!is_batch || single == 0, "{single} calls were not announced");
        }
    }
}

/// Random rings of three states, with hints.
fn rings(count: usize, seed: u64, inference: Inference) -> FactorGraph {
    let (mut rng, mut data) = (Rng::new(seed), Graphs::new());
    for _ in 0..count {
        let length = 3 + rng.below(3) as u32;
        for _ in 0..length {
            let truth = rng.below(3) as u32;
            let v = data.push_variable(3, truth).unwrap();
            let hint = if rng.below(4) > 0 { truth } else { rng.below(3) as u32 };
            data.push_factor(0, &[v], [(hint, rng.unit_f64()), (3, 1.0)]).unwrap();
        }
        for v in 0..length {
            data.push_factor(1, &[v, (v + 1) % length], [(0, 1.0)]).unwrap();
        }
        data.end_graph(1.0).unwrap();
    }
    let (shape, loss) = (data.shape().unwrap(), factor_graph::StateLoss::default());
    FactorGraph::new(shape, data, loss, inference).unwrap()
}

#[test]
fn threads_do_not_change_relaxations_and_heuristics() {
    let methods = || every_method().into_iter().step_by(4).collect();
    check_threads(rings(70, 2, Inference::Lp), methods());
    check_threads(rings(70, 3, Inference::MaxProduct), methods());
}

/// Enough features that threads share sums over them as well.
#[test]
fn threads_do_not_change_runs_with_many_features() {
    let problem = random_chain(70, 130, 2);
    assert!(problem.dim() > 1 << 15);
    let base = Settings { tolerance: 0.0, max_passes: 3, gap_every: 2, ..bcfw() };
    let batch = SettingsRecord { solver: Solver::FrankWolfe, ..base.record() }.settings().unwrap();
    check_threads(problem, vec![base, batch]);
}

/// The results of exact and heuristic paths and of grids also depend only on the problem and the seed.
#[test]
fn threads_do_not_change_paths() {
    let problem = random_chain(120, 4, 2);
    let training = |threads| {
        let (order, direction) = (Order::Gap, Direction::Corrective);
        SettingsRecord { order, direction, threads, max_passes: 100_000, ..bcfw().record() }
            .settings()
            .unwrap()
    };
    let timeless = |mut path: Path| {
        path.audit_seconds = 0.0;
        path.breakpoints.iter_mut().for_each(|b| b.seconds = 0.0);
        path
    };
    for heuristic in [false, true] {
        let path = |threads| {
            let training = training(threads);
            let (epsilon, lambda_min) = (0.2, 0.1);
            let settings =
                PathSettings { epsilon, lambda_min, heuristic, training, ..Default::default() };
            timeless(regularization_path(&problem, &settings).unwrap())
        };
        assert_eq!(path(1), path(3));
    }
    let grid = |threads| {
        let (start, training) = (GridStart::WarmPrimal, training(threads));
        let settings = GridSettings { start, training, lambda_min: 0.1, ..Default::default() };
        timeless(lambda_grid(&problem, &settings).unwrap())
    };
    assert_eq!(grid(1), grid(3));
}

/// The orders that draw nothing by chance.
const WITHOUT_CHANCE: [Order; 1] = [Order::Cyclic];

#[test]
fn seeds_change_random_runs() {
    let problem = random_chain(40, 4, 5);
    for settings in every_method() {
        let run =
            |seed| fingerprint(&train(&problem, &Settings { seed, ..settings.clone() }).unwrap());
        let record = settings.record();
        // The first stage of `staged` is in permuted order, whatever comes after it.
        let draws = !WITHOUT_CHANCE.contains(&record.order);
        let permutes = draws || record.direction == Direction::Staged;
        let chance = !record.solver.is_batch() && permutes;
        assert_eq!(run(1), run(1));
        assert_eq!(run(1) != run(2), chance, "is the order one of `WITHOUT_CHANCE`? {settings:?}");
    }
}

/// The order of the first visits and the final gap of a fixed run. These numbers are a promise: if
/// they change, published seeds change their meaning.
#[test]
fn runs_are_pinned() {
    let pinned = [
        (Order::Uniform, PINNED_UNIFORM, 4603351980195447253u64),
        (Order::Permutation, PINNED_PERMUTATION, 4603194293993300300),
        (Order::Cyclic, PINNED_CYCLIC, 4600566742016393354),
    ];
    for (order, blocks, gap) in pinned {
        assert_eq!(pinned_run(order), (blocks.to_vec(), gap), "order {order}");
    }
}

const PINNED_UNIFORM: [usize; 10] = [5, 5, 0, 5, 1, 4, 6, 3, 0, 0];
const PINNED_PERMUTATION: [usize; 10] = [3, 1, 6, 2, 0, 4, 5, 1, 4, 6];
const PINNED_CYCLIC: [usize; 10] = [0, 1, 2, 3, 4, 5, 6, 0, 1, 2];

/// The first ten blocks visited with seed 1, and the bits of the gap after six passes.
fn pinned_run(order: Order) -> (Vec<usize>, u64) {
    let log = Mutex::new(Vec::new());
    let on_oracle = |i: usize| log.lock().unwrap().push(i);
    let problem = Watched { inner: random_chain(7, 3, 1), on_oracle, bounds: None };
    let settings = SettingsRecord {
        order,
        lambda: Some(0.125),
        tolerance: 0.0,
        max_passes: 6,
        gap_every: 6,
        seed: 1,
        threads: 1,
        ..bcfw().record()
    }
    .settings()
    .unwrap();
    let solution = train(&problem, &settings).unwrap();
    let calls = log.into_inner().unwrap();
    assert_eq!(calls[..42], reference::visits(order, 7, 1, 42));
    assert_eq!(calls[42..], [0, 1, 2, 3, 4, 5, 6], "the gap pass");
    (calls[..10].to_vec(), solution.certificate.gap.to_bits())
}

/// An oracle that uses several threads itself, as a user's oracle may.
struct ParallelInside(Chain);

impl Problem for ParallelInside {
    type Output = Vec<u32>;
    type Workspace = <Chain as Problem>::Workspace;

    fn examples(&self) -> usize {
        self.0.examples()
    }
    fn dim(&self) -> usize {
        self.0.dim()
    }
    fn workspace(&self) -> Self::Workspace {
        self.0.workspace()
    }
    fn oracle(&self, i: usize, w: &[f64], workspace: &mut Self::Workspace, y: &mut Vec<u32>) {
        let nap = || std::thread::sleep(Duration::from_micros(50));
        rayon::join(nap, nap);
        self.0.prepare(i, w, workspace);
        self.0.oracle(i, w, workspace, y);
    }
    fn decode(&self, i: usize, w: &[f64], workspace: &mut Self::Workspace, y: &mut Vec<u32>) {
        self.0.prepare(i, w, workspace);
        self.0.decode(i, w, workspace, y);
    }
    fn loss(&self, i: usize, y: &Vec<u32>) -> f64 {
        self.0.loss(i, y)
    }
    fn psi(&self, i: usize, y: &Vec<u32>, psi: &mut SparseVec) {
        self.0.psi(i, y, psi);
    }
}

/// While such an oracle waits for its other threads, its thread may receive another block.
#[test]
fn an_oracle_may_be_parallel_inside() {
    let (done, wait) = mpsc::channel();
    std::thread::spawn(move || {
        let problem = ParallelInside(random_chain(200, 3, 4));
        let settings = SettingsRecord {
            solver: Solver::FrankWolfe,
            max_passes: 10,
            tolerance: 0.0,
            threads: 4,
            ..bcfw().record()
        }
        .settings()
        .unwrap();
        let many = train(&problem, &settings).unwrap();
        let one = train(&ViaPsi(problem.0), &Settings { threads: 1, ..settings }).unwrap();
        done.send(fingerprint(&many) == fingerprint(&one)).unwrap();
    });
    let same = wait.recv_timeout(Duration::from_secs(10)).expect("a deadlock, or a panic");
    assert!(same);
}

/// The engine packs the points of blocks where they are large together. A run has the same bits whether it starts at
/// packed or at plain points.
#[test]
fn packed_points_do_not_change_runs() {
    fn check<P: Problem>(problem: &P, methods: impl Iterator<Item = Settings>) {
        for settings in methods {
            let run = |start: DualPoint| {
                let trainer = Trainer::new(settings.clone()).start_from(start);
                fingerprint(&trainer.train(problem).unwrap())
            };
            let plain = DualPoint::at_truth(problem);
            let mut packed = plain.clone();
            for block in &mut packed.blocks {
                block.parts = PackedVec::from(block.parts.unpacked());
            }
            assert_eq!(run(packed), run(plain), "{settings:?}");
        }
    }
    let chain = random_chain(30, 3, 3);
    // The sweeps of the baselines cannot start from a dual point.
    let starts_from_points = |settings: &Settings| {
        matches!(
            settings.record().solver,
            Solver::FrankWolfe | Solver::BlockCoordinate | Solver::NSlack | Solver::OneSlack
        )
    };
    let methods = || every_method().into_iter().chain(every_baseline()).filter(starts_from_points);
    check(&tokens(&random_chain(15, 4, 2)), methods().step_by(3));
    let (d, few) = (chain.dim(), methods().step_by(7));
    let bounds = Bounds::none(d).with(0..d, -0.02, 0.03).unwrap();
    check(&Bounded::new(chain.clone(), bounds), few);
    check(&chain, methods().step_by(3));
}
