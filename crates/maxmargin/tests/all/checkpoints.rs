//! A run that is stopped and resumed, at any point and any number of times, ends with the same bits as a
//! run that was never stopped.

use crate::common::bits::{fingerprint, random_chain, timeless, timeless_rows, tokens};
use crate::common::chains::any_chain;
use crate::common::problems::{Enumerated, ViaPsi, Watched, any_polytope, bounded};
use crate::common::{Rows, bcfw, cases, in_batches, watch};
use maxmargin::observe::{Control, Event, JsonLines, Totals};
use maxmargin::{
    Average, Bounded, Bounds, Caching, Checkpoint, CheckpointEvery, Direction, DualPoint,
    Interrupt, Order, Problem, Rng, Settings, SettingsRecord, Solution, Solver, Status, Step,
    TrainError, Trainer, train,
};
use proptest::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

/// Every combination of settings, except for the solver `auto`.
pub(crate) fn every_method() -> Vec<Settings> {
    let base = Settings { tolerance: 0.0, max_passes: 8, gap_every: 3, ..bcfw() };
    let mut all = Vec::new();
    let averages = [Average::None, Average::Uniform, Average::Weighted];
    for step in [Step::LineSearch, Step::Fixed] {
        all.push(
            SettingsRecord { solver: Solver::FrankWolfe, step, ..base.record() }
                .settings()
                .unwrap(),
        );
    }
    for order in Order::NAMES.iter().map(|name| name.parse().unwrap()) {
        for average in averages {
            for direction in Direction::NAMES.iter().map(|name| name.parse().unwrap()) {
                for (cache, cache_bytes) in [
                    (Caching::Off, 1 << 30),
                    (Caching::On, 1 << 30),
                    (Caching::On, 30_000),
                    (Caching::Exhaust, 1 << 30),
                ] {
                    let with = SettingsRecord { order, average, direction, cache, ..base.record() }
                        .settings()
                        .unwrap();
                    all.push(SettingsRecord { cache_bytes, ..with.record() }.settings().unwrap());
                }
            }
            let step = Step::Fixed;
            all.push(SettingsRecord { order, average, step, ..base.record() }.settings().unwrap());
            all.push(
                SettingsRecord { order, average, step, cache: Caching::On, ..base.record() }
                    .settings()
                    .unwrap(),
            );
        }
    }
    for order in [Order::Cyclic, Order::Uniform, Order::Gap] {
        all.push(SettingsRecord { order, gap_steps: true, ..base.record() }.settings().unwrap());
    }
    all.extend(in_batches(&base));
    all
}

/// The methods that the papers compare with.
pub(crate) fn every_baseline() -> Vec<Settings> {
    let base = Settings { tolerance: 0.0, max_passes: 8, gap_every: 3, ..bcfw() };
    let mut all = Vec::new();
    for solver in [Solver::NSlack, Solver::OneSlack] {
        all.push(SettingsRecord { solver, ..base.record() }.settings().unwrap());
    }
    for order in [Order::Permutation, Order::Cyclic] {
        let base = SettingsRecord { order, ..base.record() }.settings().unwrap();
        for solver in [Solver::Subgradient, Solver::AdaGrad] {
            for average in [Average::None, Average::Uniform, Average::Weighted, Average::Half] {
                all.push(SettingsRecord { solver, average, ..base.record() }.settings().unwrap());
            }
        }
        for solver in [Solver::Perceptron, Solver::ExponentiatedGradient] {
            all.push(SettingsRecord { solver, ..base.record() }.settings().unwrap());
        }
    }
    all
}

/// The solution, the rows, and the checkpoints of all passes of a run.
pub(crate) fn keeping<P: Problem>(
    problem: &P,
    settings: &Settings,
) -> (Solution, Rows, Vec<Vec<u8>>) {
    let (mut rows, mut kept) = (Rows::default(), Vec::new());
    let mut keep = |checkpoint: &Checkpoint<'_>| {
        kept.push(checkpoint.to_bytes("note"));
        Ok(())
    };
    let solution = Trainer::new(settings.clone())
        .observe(&mut rows)
        .checkpoint(CheckpointEvery::Passes(1), &mut keep)
        .train(problem)
        .unwrap();
    (solution, rows, kept)
}

/// Resumes from a checkpoint.
fn resume<P: Problem>(problem: &P, settings: &Settings, bytes: &[u8]) -> (Solution, Rows) {
    let mut rows = Rows::default();
    let trainer = Trainer::new(settings.clone()).observe(&mut rows);
    let checkpoint = Checkpoint::from_bytes(bytes).unwrap();
    assert_eq!(checkpoint.note(), "note");
    let solution = trainer.resume(checkpoint).train(problem).unwrap();
    (solution, rows)
}

#[track_caller]
fn assert_same(a: &Solution, b: &Solution) {
    assert_eq!(fingerprint(a), fingerprint(b));
    assert_eq!((a.status, &a.choice, a.validation), (b.status, &b.choice, b.validation));
    assert_eq!(timeless(&a.totals), timeless(&b.totals));
}

/// A run that is stopped after the numbers of oracle calls in `most`, and resumed each time on another
/// number of threads, until it ends.
fn piecewise<P: Problem>(
    problem: &P,
    settings: &Settings,
    mut most: impl FnMut() -> u64,
) -> Solution {
    let mut bytes: Option<Vec<u8>> = None;
    for threads in (1..=3).cycle() {
        let done = bytes.as_ref().map_or(0, |b| {
            let checkpoint = Checkpoint::from_bytes(b).unwrap();
            checkpoint.totals().oracle_calls
        });
        let max_oracle_calls = Some(done + most());
        let limited = Settings { max_oracle_calls, threads, ..settings.clone() };
        let mut next = Vec::new();
        let mut keep = |checkpoint: &Checkpoint<'_>| {
            next = checkpoint.to_bytes("");
            Ok(())
        };
        let mut trainer =
            Trainer::new(limited).checkpoint(CheckpointEvery::Seconds(1e9), &mut keep);
        if let Some(bytes) = &bytes {
            trainer = trainer.resume(Checkpoint::from_bytes(bytes).unwrap());
        }
        let solution = trainer.train(problem).unwrap();
        if solution.status != Status::MaxOracleCalls {
            return solution;
        }
        bytes = Some(next);
    }
    unreachable!()
}

fn check_all<P: Problem>(problem: &P, methods: Vec<Settings>) {
    let mut rng = Rng::new(5);
    for settings in methods {
        let (whole, rows) = watch(problem, &settings);
        let (kept, kept_rows, checkpoints) = keeping(problem, &settings);
        assert_same(&kept, &whole);
        assert_eq!(timeless_rows(&kept_rows), timeless_rows(&rows), "{settings:?}");
        assert_eq!(checkpoints.len(), rows.0.len());

        let last = checkpoints.len() - 1;
        for at in [rng.below(last), rng.below(last), last] {
            let threads = 1 + rng.below(3);
            let settings = Settings { threads, ..settings.clone() };
            let (resumed, rest) = resume(problem, &settings, &checkpoints[at]);
            assert_same(&resumed, &whole);
            // The checkpoint was made before its pass was reported.
            assert_eq!(timeless_rows(&rest), timeless_rows(&rows)[at..], "{settings:?}");
        }
        let n = problem.examples();
        let resumed = piecewise(problem, &settings, || 1 + rng.below(3 * n) as u64);
        assert_same(&resumed, &whole);
    }
}

#[test]
fn every_resumed_baseline_continues_as_if_never_stopped() {
    check_all(&random_chain(40, 4, 2), every_baseline());
    let chain = random_chain(20, 4, 2);
    let d = chain.dim();
    let bounds = Bounds::none(d).with(0..d, -0.03, 0.05).unwrap();
    check_all(&Bounded::new(chain, bounds), every_baseline());
}

#[test]
fn every_resumed_method_continues_as_if_never_stopped() {
    check_all(&random_chain(40, 4, 2), every_method());
    check_all(&tokens(&random_chain(15, 4, 2)), every_method());
}

#[test]
fn resumed_problems_in_feature_space_continue_as_if_never_stopped() {
    let few = every_method().into_iter().step_by(7).collect();
    check_all(&ViaPsi(random_chain(40, 3, 3)), few);
}

#[test]
fn resumed_problems_with_bounds_continue_as_if_never_stopped() {
    let chain = random_chain(40, 3, 3);
    let d = chain.dim();
    let bounds = Bounds::none(d).with(0..d, -0.02, 0.03).unwrap();
    let few = every_method().into_iter().step_by(7).collect();
    check_all(&bounded(chain, bounds), few);
}

/// Checkpoints contain fractional corners and certificates that are not exact.
#[test]
fn resumed_relaxations_continue_as_if_never_stopped() {
    check_all(&maxmargin::doc::rings(), every_method().into_iter().step_by(5).collect());
}

/// A checkpoint contains the choice of `auto`, which depends on the clock.
#[test]
fn resumed_auto_runs_continue_as_if_never_stopped() {
    check_auto(&random_chain(70, 4, 2));
    check_auto(&tokens(&random_chain(30, 4, 2)));
}

fn check_auto<P: Problem>(problem: &P) {
    for average in [Average::None, Average::Weighted] {
        let settings =
            SettingsRecord { tolerance: 0.0, max_passes: 25, average, ..SettingsRecord::default() }
                .settings()
                .unwrap();
        let (whole, rows, checkpoints) = keeping(problem, &settings);
        assert!(whole.choice.is_some());
        for (at, bytes) in checkpoints.iter().enumerate() {
            let (resumed, rest) = resume(problem, &settings, bytes);
            assert_same(&resumed, &whole);
            assert_eq!(timeless_rows(&rest), timeless_rows(&rows)[at..]);
        }
    }
}

#[test]
fn an_interrupted_run_continues_within_its_pass() {
    for settings in every_method().into_iter().step_by(5) {
        let settings = Settings { threads: 1, ..settings };
        let whole = train(&random_chain(30, 3, 1), &settings).unwrap();
        for call in [0, 1, 29, 30, 31, 77, 140] {
            let (interrupt, calls) = (Interrupt::new(), AtomicU64::new(0));
            let raise = |_: usize| {
                if calls.fetch_add(1, Ordering::Relaxed) + 1 == call {
                    interrupt.raise();
                }
            };
            if call == 0 {
                interrupt.raise();
            }
            let problem = Watched { inner: random_chain(30, 3, 1), on_oracle: raise, bounds: None };
            let mut bytes = Vec::new();
            let mut keep = |checkpoint: &Checkpoint<'_>| {
                bytes = checkpoint.to_bytes("note");
                Ok(())
            };
            let stopped = Trainer::new(settings.clone())
                .interrupt(interrupt.clone())
                .checkpoint(CheckpointEvery::Passes(1000), &mut keep)
                .train(&problem)
                .unwrap();
            assert_eq!(stopped.status, Status::Interrupted);
            assert_same(&resume(&problem.inner, &settings, &bytes).0, &whole);
        }
    }
}

#[test]
fn a_run_stopped_by_an_observer_can_continue() {
    let problem = random_chain(30, 3, 1);
    for settings in every_method().into_iter().step_by(3) {
        let whole = train(&problem, &settings).unwrap();
        for pass in [1, 3, 4] {
            let mut stop = |event: Event<'_>| match event {
                Event::Pass { record, .. } if record.pass == pass => Control::Stop,
                _ => Control::Continue,
            };
            let mut bytes = Vec::new();
            let mut keep = |checkpoint: &Checkpoint<'_>| {
                bytes = checkpoint.to_bytes("note");
                Ok(())
            };
            let trainer = Trainer::new(settings.clone()).observe(&mut stop);
            let stopped = trainer
                .checkpoint(CheckpointEvery::Passes(1000), &mut keep)
                .train(&problem)
                .unwrap();
            assert_eq!((stopped.status, stopped.totals.passes), (Status::Stopped, pass));
            assert_same(&resume(&problem, &settings, &bytes).0, &whole);
        }
    }
}

/// A run that has reached a limit can continue as if the limit had never existed.
#[test]
fn limits_may_change() {
    let problem = random_chain(40, 3, 4);
    for settings in every_method().into_iter().step_by(3) {
        let whole = train(&problem, &settings).unwrap();
        for max_passes in [1, 2, 3, 7] {
            let short = Settings { max_passes, ..settings.clone() };
            let (_, _, checkpoints) = keeping(&problem, &short);
            let last = checkpoints.last().unwrap();
            assert_same(&resume(&problem, &settings, last).0, &whole);
            // With the same limit it ends immediately, with the same result.
            assert_same(&resume(&problem, &short, last).0, &train(&problem, &short).unwrap());
        }
    }
    // So can a run that has converged, unless the tolerance influences when it checks the gap.
    let settings = Settings { lambda: Some(0.1), max_passes: 60, tolerance: 0.1, ..bcfw() };
    for average in [Average::None, Average::Weighted] {
        let loose = SettingsRecord { average, ..settings.record() }.settings().unwrap();
        let tight = Settings { tolerance: 0.0, ..loose.clone() };
        let (converged, _, checkpoints) = keeping(&problem, &loose);
        assert_eq!(converged.status, Status::Converged);
        let last = checkpoints.last().unwrap();
        assert_same(&resume(&problem, &loose, last).0, &converged);
        assert_same(&resume(&problem, &tight, last).0, &train(&problem, &tight).unwrap());
    }
}

#[test]
fn time_continues_and_writing_does_not_count() {
    let problem = random_chain(30, 3, 1);
    let settings = Settings { tolerance: 0.0, max_passes: 6, ..bcfw() };
    let mut kept = Vec::new();
    let mut keep = |checkpoint: &Checkpoint<'_>| {
        std::thread::sleep(std::time::Duration::from_millis(40));
        kept.push(checkpoint.to_bytes("note"));
        Ok(())
    };
    let begin = std::time::Instant::now();
    let trainer = Trainer::new(settings.clone());
    let whole =
        trainer.checkpoint(CheckpointEvery::Seconds(0.0), &mut keep).train(&problem).unwrap();
    assert_eq!(kept.len(), 6, "with no seconds in between, at every pass");
    let all = begin.elapsed().as_secs_f64();
    assert!(whole.totals.seconds <= all - 6.0 * 0.04, "{} of {all}", whole.totals.seconds);

    let at = |bytes: &[u8]| -> Totals { *Checkpoint::from_bytes(bytes).unwrap().totals() };
    let seconds: Vec<f64> = kept.iter().map(|bytes| at(bytes).seconds).collect();
    assert!(seconds.windows(2).all(|pair| pair[0] <= pair[1]), "{seconds:?}");
    let (resumed, rows) = resume(&problem, &settings, &kept[3]);
    assert!(resumed.totals.seconds >= seconds[3]);
    assert!(resumed.totals.oracle_seconds >= at(&kept[3]).oracle_seconds);
    assert!(rows.0.iter().all(|(row, _)| row.seconds >= seconds[3]));
    // A resumed run does not get a new time budget.
    let spent = Settings { max_seconds: Some(seconds[3]), ..settings };
    let (ended, _) = resume(&problem, &spent, &kept[3]);
    assert_eq!((ended.status, ended.totals.passes), (Status::MaxSeconds, 4));
}

#[test]
fn observers_are_told_that_a_run_is_resumed() {
    let problem = random_chain(30, 3, 1);
    let settings = Settings { tolerance: 0.0, max_passes: 6, ..Settings::default() };
    let (_, _, checkpoints) = keeping(&problem, &settings);
    let mut lines = JsonLines::new(Vec::new());
    let checkpoint = Checkpoint::from_bytes(&checkpoints[3]).unwrap();
    Trainer::new(settings).observe(&mut lines).resume(checkpoint).train(&problem).unwrap();
    let text = String::from_utf8(lines.finish().unwrap()).unwrap();
    let events: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&str> = events.iter().map(|e| e["event"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["start", "choice", "pass", "pass", "pass", "end"]);
    assert_eq!((&events[0]["resumed"], &events[2]["pass"]), (&4.into(), &4.into()));
}

#[test]
fn an_error_of_the_sink_ends_the_run() {
    let problem = random_chain(30, 3, 1);
    for settings in every_method().into_iter().step_by(11) {
        let mut calls = 0;
        let mut fail = |_: &Checkpoint<'_>| {
            calls += 1;
            if calls < 3 { Ok(()) } else { Err(std::io::Error::other("no space left")) }
        };
        let trainer = Trainer::new(settings);
        let error = trainer.checkpoint(CheckpointEvery::Passes(1), &mut fail).train(&problem);
        let why = "no space left".to_owned();
        assert_eq!(error.unwrap_err(), TrainError::Checkpoint { why });
    }
}

/// A resumed run ignores the point to start from.
#[test]
fn a_resumed_run_ignores_its_start() {
    let problem = random_chain(30, 3, 1);
    let settings = Settings { tolerance: 0.0, max_passes: 6, ..bcfw() };
    let start = train(&problem, &Settings { max_passes: 2, ..settings.clone() }).unwrap().dual;
    let mut kept = Vec::new();
    let mut keep = |checkpoint: &Checkpoint<'_>| {
        kept.push(checkpoint.to_bytes(""));
        Ok(())
    };
    let whole = Trainer::new(settings.clone())
        .start_from(start)
        .checkpoint(CheckpointEvery::Passes(2), &mut keep)
        .train(&problem)
        .unwrap();
    for start in [None, Some(DualPoint::at_truth(&problem))] {
        let mut trainer =
            Trainer::new(settings.clone()).resume(Checkpoint::from_bytes(&kept[0]).unwrap());
        if let Some(start) = start {
            trainer = trainer.start_from(start);
        }
        assert_same(&trainer.train(&problem).unwrap(), &whole);
    }
}

fn any_method() -> impl Strategy<Value = Settings> {
    (any::<prop::sample::Index>(), 1u64..5, 0.01..1.0f64, any::<u64>()).prop_map(
        |(at, gap_every, lambda, seed)| {
            let all = every_method();
            let settings = all[at.index(all.len())].clone();
            Settings { gap_every, seed, lambda: Some(lambda), ..settings }
        },
    )
}

fn stopped_anywhere<P: Problem>(problem: &P, settings: &Settings, stops: &[u64]) {
    let whole = train(problem, settings).unwrap();
    let mut stops = stops.iter().copied().cycle();
    assert_same(&piecewise(problem, settings, || stops.next().unwrap()), &whole);
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn any_problem_may_be_stopped_anywhere(
        problem in any_polytope(),
        settings in any_method(),
        stops in prop::collection::vec(1u64..20, 1..4),
    ) {
        let problem: Enumerated = problem;
        stopped_anywhere(&problem, &settings, &stops);
    }

    #[test]
    fn any_chain_may_be_stopped_anywhere(
        case in any_chain(),
        settings in any_method(),
        stops in prop::collection::vec(1u64..20, 1..4),
    ) {
        stopped_anywhere(&case.build(), &settings, &stops);
    }
}
